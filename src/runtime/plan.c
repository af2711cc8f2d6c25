/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plan.h"

#include "runtime/pool.h"

/* Results start on cache lines. */
#define ALIGNMENT 64

struct planner {
    const struct backend_scope *scope;
    const struct division *claims;
    struct plan *plan;
    bool *kept;          /* per tensor: wanted */
    const bool *visible; /* per tensor: observed */
    uint32_t *valid;     /* per tensor: a bit for each space that has its value */
};

uint64_t tensor_bytes(const struct type *type)
{
    uint64_t element = type->dtype == DT_STRING ? sizeof(const char *) : dtype_size(type->dtype);
    return shape_count(&type->shape) * element;
}

uint64_t plan_bytes(const struct plan *plan, const struct graph *g, tensor_id id)
{
    const struct type type = {(enum dtype)plan->dtypes[id], graph_tensor(g, id)->type->shape};
    return tensor_bytes(&type);
}

uint32_t plan_space_of(const struct division *claims, uint32_t backend)
{
    return claims->backends[backend].backend->memory ? 1 + backend : HOST_SPACE;
}

/* ---- steps ---- */

/* Wanted or observed. */
static bool is_seen(const struct planner *p, tensor_id t)
{
    return p->kept[t] || (p->visible && p->visible[t]);
}

/* Inner tensors are those that nodes of the group alone read, and nobody sees. One that nobody reads at all still needs
 * a place to be written to. */
static bool is_output(const struct planner *p, tensor_id t, const bool *in_group, const struct uses *uses)
{
    if (is_seen(p, t) || uses->count[t] == 0)
        return true;
    for (uint32_t i = uses->first[t]; i < uses->first[t + 1]; i++)
        if (!in_group[uses->nodes[i]])
            return true;
    return false;
}

struct io_lists {
    VEC(tensor_id) inputs, outputs;
    VEC(uint32_t) places;
};

/* Side tables that are zero between groups. */
struct membership {
    bool *in_group;  /* per node */
    uint32_t *index; /* per tensor: 1 + its index among the group's inputs, or outputs */
};

static uint32_t input_place(const struct planner *p, const struct membership *m, struct io_lists *io, tensor_id id)
{
    if (id == NO_TENSOR)
        return PLACE_ABSENT;
    const struct tensor *t = graph_tensor(p->scope->graph, id);
    if (t->kind == TENSOR_STATIC)
        return PLACE_CONSTANT;
    if (t->producer != NO_NODE && m->in_group[t->producer])
        return PLACE_INNER; /* or an output: known when all outputs are */
    if (!m->index[id]) {
        vec_push(p->scope->arena, &io->inputs, id);
        m->index[id] = (uint32_t)io->inputs.count;
    }
    return m->index[id] - 1;
}

static uint32_t output_place(const struct planner *p, const struct membership *m, const struct uses *uses,
                             struct io_lists *io, tensor_id id)
{
    if (id == NO_TENSOR)
        return PLACE_ABSENT;
    if (!is_output(p, id, m->in_group, uses))
        return PLACE_INNER;
    vec_push(p->scope->arena, &io->outputs, id);
    m->index[id] = (uint32_t)io->outputs.count;
    return m->index[id] - 1;
}

/* Places of outputs stand behind those of inputs, and so do inputs that are outputs of the group itself. */
static void number_outputs(const struct planner *p, const struct membership *m, const struct group *group,
                           struct io_lists *io)
{
    uint32_t *place = io->places.data;
    for (size_t i = 0; i < group->nodes.count; i++) {
        const struct node *n = graph_node(p->scope->graph, group->nodes.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++, place++)
            if (*place == PLACE_INNER && m->index[n->inputs[k]])
                *place = (uint32_t)io->inputs.count + m->index[n->inputs[k]] - 1;
        for (uint32_t k = 0; k < n->n_outputs; k++, place++)
            if (*place < PLACE_INNER)
                *place += (uint32_t)io->inputs.count;
    }
}

static void forget_group(const struct membership *m, const struct group *group, const struct io_lists *io)
{
    for (size_t i = 0; i < group->nodes.count; i++)
        m->in_group[group->nodes.data[i]] = false;
    for (size_t i = 0; i < io->inputs.count; i++)
        m->index[io->inputs.data[i]] = 0;
    for (size_t i = 0; i < io->outputs.count; i++)
        m->index[io->outputs.data[i]] = 0;
}

static struct step_io io_of(const struct planner *p, const struct group *group, const struct uses *uses,
                            const struct membership *m)
{
    struct io_lists io = {0};
    for (size_t i = 0; i < group->nodes.count; i++)
        m->in_group[group->nodes.data[i]] = true;
    for (size_t i = 0; i < group->nodes.count; i++) {
        const struct node *n = graph_node(p->scope->graph, group->nodes.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            vec_push(p->scope->arena, &io.places, input_place(p, m, &io, n->inputs[k]));
        for (uint32_t k = 0; k < n->n_outputs; k++)
            vec_push(p->scope->arena, &io.places, output_place(p, m, uses, &io, n->outputs[k]));
    }
    number_outputs(p, m, group, &io);
    forget_group(m, group, &io);
    return (struct step_io){.inputs = io.inputs.data,
                            .outputs = io.outputs.data,
                            .n_inputs = (uint32_t)io.inputs.count,
                            .n_outputs = (uint32_t)io.outputs.count,
                            .places = io.places.data};
}

static void add_copy(struct planner *p, enum step_kind kind, uint32_t backend, tensor_id t)
{
    vec_push(p->scope->arena, &p->plan->steps, (struct plan_step){.kind = kind, .backend = backend, .tensor = t});
    p->valid[t] |= 1U << (kind == STEP_UPLOAD ? plan_space_of(p->claims, backend) : HOST_SPACE);
}

/* Brings a tensor to a space; from one backend's memory to another's by way of the host's. */
static void bring(struct planner *p, tensor_id t, uint32_t space)
{
    if (p->valid[t] & 1U << space)
        return;
    if (!(p->valid[t] & 1U << HOST_SPACE))
        add_copy(p, STEP_DOWNLOAD, (uint32_t)__builtin_ctz(p->valid[t]) - 1, t);
    if (space != HOST_SPACE)
        add_copy(p, STEP_UPLOAD, space - 1, t);
}

static void add_group(struct planner *p, const struct claimed *claim, struct step_io io)
{
    uint32_t space = plan_space_of(p->claims, claim->backend);
    for (uint32_t i = 0; i < io.n_inputs; i++)
        bring(p, io.inputs[i], space);
    struct plan_step step = {.kind = STEP_GROUP, .backend = claim->backend, .group = &claim->group, .io = io};
    vec_push(p->scope->arena, &p->plan->steps, step);
    for (uint32_t i = 0; i < io.n_outputs; i++)
        p->valid[io.outputs[i]] = 1U << space;
    for (uint32_t i = 0; i < io.n_outputs; i++)
        if (is_seen(p, io.outputs[i]))
            bring(p, io.outputs[i], HOST_SPACE);
}

static void make_steps(struct planner *p, const struct uses *uses)
{
    const struct graph *g = p->scope->graph;
    struct arena *scratch = p->scope->scratch;
    const struct membership m = {.in_group = arena_array(scratch, bool, g->nodes.count),
                                 .index = arena_array(scratch, uint32_t, g->tensors.count)};
    for (size_t c = 0; c < p->claims->list.count; c++) {
        const struct claimed *claim = &p->claims->list.data[c];
        add_group(p, claim, io_of(p, &claim->group, uses, &m));
    }
}

/* ---- types ---- */

/* What the backends of the groups that touch each tensor say: widths, the least and the most, and who they are, a bit
 * for each. */
struct touching {
    enum width *least, *most;
    uint32_t *backends;
};

static void touch(const struct touching *w, const struct division *claims, uint32_t backend, const tensor_id *tensors,
                  uint32_t count)
{
    const enum width width = claims->backends[backend].backend->width;
    for (uint32_t i = 0; i < count; i++) {
        const tensor_id t = tensors[i];
        if (t == NO_TENSOR)
            continue;
        w->least[t] = width < w->least[t] ? width : w->least[t];
        w->most[t] = width > w->most[t] ? width : w->most[t];
        w->backends[t] |= 1U << backend;
    }
}

/* The type in which all that touch an inner tensor keep its elements. */
static enum dtype inner_type(const struct planner *p, const struct touching *w, tensor_id t)
{
    const enum dtype dtype = graph_tensor(p->scope->graph, t)->type->dtype;
    const uint32_t backends = w->backends[t];
    const bool is_one = backends != 0 && (backends & (backends - 1)) == 0;
    const struct opened *opened = is_one ? &p->claims->backends[__builtin_ctz(backends)] : NULL;
    if (opened && opened->backend->inner_type)
        return opened->backend->inner_type(opened->state, dtype);
    const bool is_wide = dtype == DT_FLOAT16 && w->least[t] >= WIDTH_ANY && w->most[t] == WIDTH_FLOAT32;
    return is_wide ? DT_FLOAT32 : dtype;
}

static void find_types(const struct planner *p)
{
    const struct graph *g = p->scope->graph;
    const size_t n_tensors = g->tensors.count;
    const struct touching w = {arena_array(p->scope->scratch, enum width, n_tensors),
                               arena_array(p->scope->scratch, enum width, n_tensors),
                               arena_array(p->scope->scratch, uint32_t, n_tensors)};
    for (size_t t = 0; t < n_tensors; t++)
        w.least[t] = WIDTH_FLOAT32;
    for (size_t c = 0; c < p->claims->list.count; c++) {
        const struct claimed *claim = &p->claims->list.data[c];
        for (size_t i = 0; i < claim->group.nodes.count; i++) {
            const struct node *n = graph_node(g, claim->group.nodes.data[i]);
            touch(&w, p->claims, claim->backend, n->inputs, n->n_inputs);
            touch(&w, p->claims, claim->backend, n->outputs, n->n_outputs);
        }
    }
    for (tensor_id t = 0; t < n_tensors; t++) {
        const struct tensor *tensor = graph_tensor(g, t);
        const bool is_inner = tensor->producer != NO_NODE && !is_seen(p, t);
        p->plan->dtypes[t] = (uint8_t)(is_inner ? inner_type(p, &w, t) : tensor->type->dtype);
    }
}

/* ---- places ---- */

/* What a step touches in a space: the tensors that it reads there, and those that it writes. */
struct touched {
    const tensor_id *read, *written;
    uint32_t n_read, n_written;
};

static struct touched touched_by(const struct planner *p, const struct plan_step *step, uint32_t space)
{
    uint32_t own = plan_space_of(p->claims, step->backend);
    if (step->kind == STEP_GROUP)
        return own == space ? (struct touched){step->io.inputs, step->io.outputs, step->io.n_inputs, step->io.n_outputs}
                            : (struct touched){0};
    if (space != own && space != HOST_SPACE)
        return (struct touched){0};
    bool writes = (step->kind == STEP_UPLOAD) == (space == own);
    return writes ? (struct touched){.written = &step->tensor, .n_written = 1}
                  : (struct touched){.read = &step->tensor, .n_read = 1};
}

struct layout {
    const struct planner *p;
    uint32_t space;
    uint64_t alignment;
    tensor_id *owner; /* per tensor with a place: whose place it is; NO_TENSOR: there is none */
    size_t *last_use; /* per owner: the step after which its place is free; SIZE_MAX: never */
    uint32_t *parts;  /* per owner */
    struct pool pool;
};

/* The tensor in whose place the step may put its output: one that has a place, of the same size; or NO_TENSOR. */
static tensor_id shared_input(const struct layout *l, const struct plan_step *step, enum sharing sharing)
{
    const struct step_io *io = &step->io;
    const struct graph *g = l->p->scope->graph;
    if (l->p->scope->has_own_places || step->kind != STEP_GROUP || step->group->sharing != sharing ||
        io->n_outputs != 1 || io->n_inputs == 0 || l->owner[io->inputs[0]] == NO_TENSOR ||
        plan_bytes(l->p->plan, g, io->inputs[0]) != plan_bytes(l->p->plan, g, io->outputs[0]))
        return NO_TENSOR;
    return io->inputs[0];
}

static void find_owners(struct layout *l, struct plan_step *step, const struct touched *touched)
{
    for (uint32_t i = 0; i < touched->n_written; i++) {
        const tensor_id shared = shared_input(l, step, SHARING_ELEMENTS);
        l->owner[touched->written[i]] = shared == NO_TENSOR ? touched->written[i] : l->owner[shared];
        step->is_idle |= shared != NO_TENSOR;
    }
}

static void find_last_uses(struct layout *l)
{
    const struct planner *p = l->p;
    const size_t n_tensors = p->scope->graph->tensors.count;
    for (size_t t = 0; t < n_tensors; t++)
        l->owner[t] = NO_TENSOR;
    for (size_t s = 0; s < p->plan->steps.count; s++) {
        struct touched touched = touched_by(p, &p->plan->steps.data[s], l->space);
        find_owners(l, &p->plan->steps.data[s], &touched);
        for (uint32_t i = 0; i < touched.n_written; i++)
            l->last_use[l->owner[touched.written[i]]] = s;
        for (uint32_t i = 0; i < touched.n_read; i++)
            if (l->owner[touched.read[i]] != NO_TENSOR)
                l->last_use[l->owner[touched.read[i]]] = s;
    }
    for (size_t t = 0; l->space == HOST_SPACE && t < n_tensors; t++)
        if (p->kept[t] && l->owner[t] != NO_TENSOR)
            l->last_use[l->owner[t]] = SIZE_MAX;
}

/* Whether step s is the last that needs the place of its input, and reads it as that input alone. */
static bool ends_in(const struct layout *l, const struct step_io *io, tensor_id input, size_t s)
{
    for (uint32_t i = 0; i < io->n_inputs; i++)
        if (io->inputs[i] != input && l->owner[io->inputs[i]] == l->owner[input])
            return false;
    return l->last_use[l->owner[input]] == s;
}

/* Gives the place of an input that dies in step s to the step's output. */
static bool take_over(struct layout *l, const struct plan_step *step, tensor_id out, size_t s)
{
    const tensor_id shared = shared_input(l, step, SHARING_PLACE);
    if (shared == NO_TENSOR || !ends_in(l, &step->io, shared, s))
        return false;
    l->parts[out] = l->parts[l->owner[shared]];
    l->last_use[l->owner[shared]] = SIZE_MAX;
    return true;
}

static odlc_status place_written(struct layout *l, const struct plan_step *step, const struct touched *touched,
                                 size_t s)
{
    const struct backend_scope *scope = l->p->scope;
    uint64_t *offsets = l->p->plan->spaces[l->space].offsets;
    for (uint32_t i = 0; i < touched->n_written; i++) {
        tensor_id t = touched->written[i];
        const struct tensor *tensor = graph_tensor(scope->graph, t);
        uint64_t size = align_up(max_i64(1, (int64_t)plan_bytes(l->p->plan, scope->graph, t)), l->alignment), end;
        if (ckd_add(&end, l->pool.size, size) || end > SIZE_MAX / 2)
            return diag_error(scope->diags, ODLC_ERR_LIMIT, AT(.attribute = tensor->name), "run-memory",
                              "the tensors that are alive at once do not fit in the address space");
        if (l->owner[t] == t && !take_over(l, step, t, s))
            l->parts[t] = pool_take(&l->pool, size);
        offsets[t] = pool_offset(&l->pool, l->parts[l->owner[t]]);
    }
    return ODLC_OK;
}

/* Frees the places of those tensors that step s was the last to touch. */
static void release_dead(struct layout *l, const tensor_id *tensors, uint32_t count, size_t s)
{
    for (uint32_t i = 0; i < count; i++) {
        const tensor_id owner = l->owner[tensors[i]];
        if (owner == NO_TENSOR || l->last_use[owner] != s || l->p->scope->has_own_places)
            continue;
        pool_give(&l->pool, l->parts[owner]);
        l->last_use[owner] = SIZE_MAX;
    }
}

/* Places that are all or nothing have the size of the largest tensor that lies there. */
static void find_sizes(const struct layout *l, struct plan_space *out)
{
    const struct graph *g = l->p->scope->graph;
    out->sizes = arena_array(l->p->scope->arena, uint64_t, g->tensors.count);
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (out->offsets[t] != PLAN_NOWHERE)
            out->sizes[t] =
                l->pool.is_whole ? pool_size(&l->pool, l->parts[l->owner[t]]) : plan_bytes(l->p->plan, g, t);
}

static odlc_status lay_out(const struct planner *p, uint32_t space)
{
    const struct backend_scope *scope = p->scope;
    size_t n_tensors = scope->graph->tensors.count;
    const struct memory *memory = space == HOST_SPACE ? NULL : p->claims->backends[space - 1].backend->memory;
    struct layout l = {.p = p,
                       .space = space,
                       .alignment = memory ? memory->alignment : ALIGNMENT,
                       .owner = arena_array(scope->scratch, tensor_id, n_tensors),
                       .last_use = arena_array(scope->scratch, size_t, n_tensors),
                       .parts = arena_array(scope->scratch, uint32_t, n_tensors)};
    struct plan_space *out = &p->plan->spaces[space];
    out->offsets = arena_array(scope->arena, uint64_t, n_tensors);
    pool_init(&l.pool, scope->scratch);
    l.pool.is_whole = memory && memory->is_apart;
    for (size_t t = 0; t < n_tensors; t++)
        out->offsets[t] = PLAN_NOWHERE;
    find_last_uses(&l);
    for (size_t s = 0; s < p->plan->steps.count; s++) {
        struct touched touched = touched_by(p, &p->plan->steps.data[s], space);
        TRY(place_written(&l, &p->plan->steps.data[s], &touched, s));
        release_dead(&l, touched.read, touched.n_read, s);
        release_dead(&l, touched.written, touched.n_written, s);
    }
    out->size = l.pool.size;
    find_sizes(&l, out);
    return ODLC_OK;
}

/* ---- the whole ---- */

static odlc_status lay_out_all(const struct planner *p)
{
    struct plan *plan = p->plan;
    plan->n_spaces = 1 + p->claims->n_backends;
    plan->spaces = arena_array(p->scope->arena, struct plan_space, plan->n_spaces);
    TRY(lay_out(p, HOST_SPACE));
    for (uint32_t b = 0; b < p->claims->n_backends; b++)
        if (p->claims->backends[b].backend->memory)
            TRY(lay_out(p, 1 + b));
    return ODLC_OK;
}

odlc_status plan_make(const struct backend_scope *scope, const struct division *claims, const struct uses *uses,
                      const tensor_id *wanted, size_t n_wanted, const bool *observed, struct plan *out)
{
    const size_t n_tensors = scope->graph->tensors.count;
    struct arena_mark mark = arena_mark(scope->scratch);
    struct plan plan = {.dtypes = arena_array(scope->arena, uint8_t, n_tensors)};
    struct planner p = {.scope = scope,
                        .claims = claims,
                        .plan = &plan,
                        .kept = arena_array(scope->scratch, bool, n_tensors),
                        .visible = observed,
                        .valid = arena_array(scope->scratch, uint32_t, n_tensors)};
    for (size_t t = 0; t < n_tensors; t++)
        p.valid[t] = 1U << HOST_SPACE; /* inputs; what steps compute is put right there */
    for (size_t i = 0; i < n_wanted; i++)
        p.kept[wanted[i]] = true;
    find_types(&p);
    make_steps(&p, uses);
    odlc_status status = lay_out_all(&p);
    arena_rewind(scope->scratch, mark);
    TRY(status);
    *out = plan;
    return ODLC_OK;
}
