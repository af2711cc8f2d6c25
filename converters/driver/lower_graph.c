/* The model's graph becomes an IR graph: inputs, initializers, then node after node in order. A node that fails spoils
 * what depends on it and nothing else, so that one run reports all that is wrong.
 *
 * A graph inside a node (a branch, a loop's body) is lowered where the node stands, once for each time that it runs, in
 * a scope of its own: what it defines is known there alone, what it does not define is looked up around it. */
#include <string.h>

#include "converters/frontend/bindings.h"
#include "converters/driver/driver.h"

enum { TOLD_EVERY = 1024 }; /* nodes between two reports of progress */

/* What all graphs at work share. */
struct lowering {
    struct conversion *c;
    struct build b;
    struct bindings names;          /* definitions of all scopes at work */
    VEC(struct lower_value) values; /* what each stands for */
    uint32_t n_contradictions;      /* values inside of the model whose declared dimensions are not the computed ones */
    const char *contradicting, *contradiction; /* the first one's node, and what is said of it */
};

struct scope {
    struct conversion *c;
    struct lowering *all;
    struct scope *outer;     /* of the graph around; NULL for the model's own */
    const char *prefix;      /* of names, or NULL */
    size_t first_definition; /* its own are from here on */
    const struct fw_graph *graph;
    bool knows_declared;              /* one of those below is filled, which happens when it is asked for */
    const struct fw_value **declared; /* of the model's own graph, per name: what it says of its values */
    struct map declared_index;        /* of other graphs: name → declared_values */
    VEC(const struct fw_value *) declared_values;
};

/* ---- values ---- */

static void define(struct scope *s, fw_name name, struct lower_value value)
{
    struct lowering *all = s->all;
    uint32_t known = bindings_find(&all->names, name);
    if (known != NOT_BOUND && known >= s->first_definition) {
        all->values.data[known] = value;
        return;
    }
    bindings_add(&all->names, name);
    vec_push(s->c->model_arena, &all->values, value);
}

static void define_tensor(struct scope *s, fw_name name, tensor_id id)
{
    define(s, name, (struct lower_value){.kind = VALUE_TENSOR, .tensor = id});
}

/* NULL when nothing defines the name. It stays until the next definition. */
static const struct lower_value *find_value(const struct scope *s, fw_name name)
{
    uint32_t known = bindings_find(&s->all->names, name);
    return known == NOT_BOUND ? NULL : &s->all->values.data[known];
}

static const char *kind_text(const struct lower_value *value)
{
    switch (value->kind) {
    case VALUE_SEQUENCE:
        return "a sequence";
    case VALUE_RANDOM:
        return "made of random numbers";
    case VALUE_DEAD:
        return "of a branch that is not taken";
    default:
        return "an empty optional";
    }
}

/* ---- inputs and constants ---- */

/* A graph may speak of a value twice, and then says more in one place. */
static bool says_less(const struct fw_value *v, const struct fw_value *known)
{
    return known && known->has_shape && !v->has_shape;
}

static void note_declared(struct scope *s, const struct fw_value *v)
{
    if (!s->outer) {
        if (!says_less(v, s->declared[v->id]))
            s->declared[v->id] = v;
        return;
    }
    uint32_t known = map_get(&s->declared_index, v->name);
    if (known != MAP_NONE && says_less(v, s->declared_values.data[known]))
        return;
    map_put(&s->declared_index, v->name, (uint32_t)s->declared_values.count);
    vec_push(s->c->model_arena, &s->declared_values, v);
}

static void know_declared(struct scope *s)
{
    s->knows_declared = true;
    if (s->outer)
        map_init(&s->declared_index, s->c->model_arena);
    else
        s->declared = arena_array(s->c->model_arena, const struct fw_value *, s->c->model->n_names);
    for (size_t i = 0; i < s->graph->values.count; i++)
        note_declared(s, &s->graph->values.data[i]);
    for (size_t i = 0; i < s->graph->outputs.count; i++)
        note_declared(s, &s->graph->outputs.data[i]);
}

/* What the scope's graph declares of output k of a node of its own, or NULL. */
static const struct fw_value *find_declared(struct scope *s, const struct fw_node *n, size_t k)
{
    fw_name name = fw_out_id(n, k);
    if (name == FW_NO_NAME)
        return NULL;
    if (!s->knows_declared)
        know_declared(s);
    if (!s->outer)
        return s->declared[name];
    uint32_t at = map_get(&s->declared_index, n->outputs[k]);
    return at == MAP_NONE ? NULL : s->declared_values.data[at];
}

static odlc_status add_inputs(struct scope *s)
{
    struct conversion *c = s->c;
    const struct fw_graph *g = &c->model->graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct fw_value *v = &g->inputs.data[i];
        struct type type = {.dtype = v->dtype, .shape.rank = v->rank};
        if (v->rank > 0)
            memcpy(type.shape.dims, v->dims, v->rank * sizeof *v->dims);
        if (shape_too_large(&type.shape))
            return diag_error(&c->diags, ODLC_ERR_LIMIT, AT(.file = c->model->path), "tensor-too-large",
                              "graph input %s is too large", v->name);
        if (dtype_is_small_float(v->dtype))
            return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED,
                              AT(.file = c->model->path, .hint = "known values of the type are converted to float32"),
                              "input-dtype", "graph input %s is of type %s, which containers do not have", v->name,
                              dtype_info(v->dtype)->name);
        tensor_id id = graph_add_tensor(c->graph, v->name, TENSOR_INPUT, &type);
        vec_push(c->graph->arena, &c->graph->inputs, id);
        define_tensor(s, v->id, id);
    }
    return ODLC_OK;
}

static const char *prefixed(const struct scope *s, const char *name)
{
    return s->prefix && *name ? arena_printf(s->c->arena, "%s/%s", s->prefix, name) : name;
}

static void add_initializers(struct scope *s, const struct fw_graph *g)
{
    for (size_t i = 0; i < g->initializers.count; i++) {
        const struct fw_tensor *t = &g->initializers.data[i];
        tensor_id id = graph_add_constant(s->c->graph, prefixed(s, t->name), t->view.dtype, &t->view);
        define_tensor(s, t->id, id);
    }
}

/* ---- nodes ---- */

static odlc_status report_not_given(struct conversion *c, const char *node, const char *value)
{
    return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path, .node = node), "output-not-given",
                      "%s is used, but its node does not give that output", value);
}

static bool has_trait(const struct fw_node *n, unsigned traits)
{
    const struct lower_row *row = n->op->claimed_by ? NULL : n->op->row;
    return row && (row->kind.traits & traits) != 0;
}

static bool is_dead(const struct fw_node *n, const struct lower_value *values, uint32_t count)
{
    bool dead = false;
    for (uint32_t i = 0; i < count; i++)
        dead |= values[i].kind == VALUE_DEAD;
    return dead && !has_trait(n, TAKES_DEAD);
}

/* Reads the inputs; false when one of them cannot be had. */
static bool resolve_inputs(struct scope *s, const struct fw_node *n, struct lower_value *values, tensor_id *ids,
                           uint32_t *count)
{
    *count = 0;
    for (size_t k = 0; k < n->n_inputs; k++) {
        ids[k] = NO_TENSOR;
        if (fw_in_id(n, k) == FW_NO_NAME)
            continue;
        const struct lower_value *value = find_value(s, fw_in_id(n, k));
        if (value && value->kind == VALUE_ABSENT)
            (void)report_not_given(s->c, n->name, n->inputs[k]);
        if (!value || value->kind == VALUE_ABSENT || value->kind == VALUE_SPOILED)
            return false;
        values[k] = *value;
        ids[k] = value->kind == VALUE_TENSOR ? value->tensor : NO_TENSOR;
        *count = (uint32_t)k + 1;
    }
    return true;
}

static bool has_other_dims(const struct fw_value *v, const struct shape *shape)
{
    bool other = v->has_shape && v->rank != shape->rank;
    for (uint32_t k = 0; v->has_shape && !other && k < v->rank; k++) {
        bool is_number = v->dims[k] != DIM_OPEN && !(v->symbols && v->symbols[k]);
        other = is_number && v->dims[k] != shape->dims[k];
    }
    return other;
}

/* The declared dimensions of an output against the computed ones. What the model says of values inside is often old,
 * and where one is wrong, so are those behind it: they are told once. */
static void compare_dims(struct scope *s, const struct fw_node *n, const struct fw_value *v, const struct shape *shape)
{
    struct conversion *c = s->c;
    const struct fw_value *outputs = s->graph->outputs.data;
    if (!has_other_dims(v, shape))
        return;
    const char *text = arena_printf(c->arena, "the model declares %s as [%s], but %s gives %s", v->name,
                                    fw_dims_text(c->arena, v), n->op->type, shape_text(c->arena, shape));
    if (outputs <= v && v < outputs + s->graph->outputs.count)
        diag_warn(&c->diags, AT(.file = c->model->path, .node = n->name), "declared-dims", "%s", text);
    else if (!s->all->n_contradictions++) {
        s->all->contradicting = n->name;
        s->all->contradiction = text;
    }
}

static void warn_of_contradictions(const struct lowering *all)
{
    struct conversion *c = all->c;
    if (all->n_contradictions == 1)
        diag_warn(&c->diags, AT(.file = c->model->path, .node = all->contradicting), "declared-dims", "%s",
                  all->contradiction);
    if (all->n_contradictions > 1)
        diag_warn(&c->diags, AT(.file = c->model->path, .node = all->contradicting), "declared-dims",
                  "%s: %u values inside of the model are declared otherwise, this one first", all->contradiction,
                  all->n_contradictions);
}

/* The declared element type of an output against the computed one: a difference means that the model or the converter
 * is wrong. */
static odlc_status check_declared(struct scope *s, const struct fw_node *n, size_t k, tensor_id id)
{
    struct conversion *c = s->c;
    const struct fw_value *v = s->outer ? NULL : find_declared(s, n, k);
    const struct tensor *t = graph_tensor(c->graph, id);
    if (v && v->dtype != DT_NONE && v->dtype != t->type->dtype)
        return diag_error(&c->diags, ODLC_ERR_INVALID, AT(.file = c->model->path, .node = n->name), "declared-type",
                          "the model declares %s as %s, but %s gives %s", n->outputs[k], dtype_info(v->dtype)->name,
                          n->op->type, dtype_info(t->type->dtype)->name);
    if (v)
        compare_dims(s, n, v, &t->type->shape);
    return ODLC_OK;
}

/* The IR node that gives the framework node's first output goes by that node's name, unless another part of the
 * lowering has it already. */
static void keep_node_name(struct graph *g, const struct fw_node *n, tensor_id out)
{
    node_id producer = out == NO_TENSOR ? NO_NODE : graph_tensor(g, out)->producer;
    if (producer == NO_NODE)
        return;
    const struct node *node = graph_node(g, producer);
    bool named_after_tensor = strcmp(node->name, graph_tensor(g, out)->name) == 0;
    if (node->source != n->name || node->layout_only || !named_after_tensor)
        return;
    graph_rename_node(g, producer, n->name);
}

/* Operators of tensors get nothing else. */
static odlc_status check_kinds(const struct lower *l)
{
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->values[i].kind > VALUE_TENSOR)
            return lower_unsupported(l, NULL, NULL, "input %u is %s instead of a tensor", i, kind_text(&l->values[i]));
    return ODLC_OK;
}

static odlc_status check_strings(const struct lower *l)
{
    if (l->node->op->takes_strings)
        return ODLC_OK;
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->in[i] != NO_TENSOR && build_type(l->b, l->in[i])->dtype == DT_STRING)
            return lower_invalid(l, NULL, NULL, "input %u holds strings, which the operator does not take", i);
    return ODLC_OK;
}

/* Runtimes read another number than 0 and 1 as either of them. */
static odlc_status check_flags(const struct conversion *c, const struct lower *l)
{
    const struct fw_op *op = l->node->op;
    for (uint32_t i = 0; c->frontend->is_flag && !*op->domain && i < l->node->n_attrs; i++) {
        const struct fw_attr *a = &l->node->attrs[i];
        bool is_other = a->kind == FW_INT && a->i != 0 && a->i != 1;
        if (is_other && c->frontend->is_flag(op->type, op->version, a->name))
            return lower_invalid(l, a->name, "1 says yes, 0 no", "%s is %lld instead of 0 or 1", a->name,
                                 (long long)a->i);
    }
    return ODLC_OK;
}

/* What the model declares of the outputs of a node, which goes by other names in an inner graph. */
static odlc_status run_claimed(struct scope *s, const struct fw_node *n, struct lower *l)
{
    const struct fw_value **declared = arena_array(s->c->scratch, const struct fw_value *, n->n_outputs);
    for (size_t i = 0; i < n->n_outputs; i++)
        declared[i] = find_declared(s, n, i);
    return lower_claimed(s->c, l, n->op->claimed_by, declared);
}

static odlc_status run_row(struct scope *s, const struct fw_node *n, struct lower *l)
{
    const struct lower_row *row = n->op->row;
    bool claimed = n->op->claimed_by != NULL;
    if (!claimed && !row) /* the survey leaves nodes of branches to their lowering: a branch may not be taken */
        return n->op->reported ? ODLC_ERR_UNSUPPORTED : report_missing_op(s->c, l->node);
    if (!has_trait(n, TAKES_VALUES | TAKES_DEAD | HOLDS_BRANCHES))
        TRY(check_kinds(l));
    if (claimed)
        return run_claimed(s, n, l);
    TRY(check_strings(l));
    TRY(check_flags(s->c, l));
    l->op = row->kind.op;
    l->variant = row->kind.variant;
    return row->fn(l);
}

/* The outputs of a node that was lowered. */
static odlc_status define_outputs(struct scope *s, const struct lower *l, const struct fw_node *n)
{
    for (size_t k = 0; k < n->n_outputs; k++) {
        if (fw_out_id(n, k) == FW_NO_NAME)
            continue;
        struct lower_value value = l->results[k];
        if (value.kind == VALUE_ABSENT && l->out[k] != NO_TENSOR)
            value = (struct lower_value){.kind = VALUE_TENSOR, .tensor = l->out[k]};
        if (value.kind == VALUE_TENSOR)
            TRY(check_declared(s, n, k, value.tensor));
        define(s, fw_out_id(n, k), value);
    }
    return ODLC_OK;
}

/* The node under the names that it has in the graph; these are kept, for tensors go by them. */
static const struct fw_node *named_in(const struct scope *s, const struct fw_node *n)
{
    if (!s->prefix)
        return n;
    struct fw_node *copy = arena_new(s->c->scratch, struct fw_node);
    const char **outputs = arena_array(s->c->scratch, const char *, n->n_outputs);
    for (size_t k = 0; k < n->n_outputs; k++)
        outputs[k] = prefixed(s, n->outputs[k]);
    *copy = *n;
    copy->name = prefixed(s, n->name);
    copy->outputs = outputs;
    return copy;
}

static odlc_status define_dead(struct scope *s, const struct fw_node *n)
{
    for (size_t k = 0; k < n->n_outputs; k++)
        if (fw_out_id(n, k) != FW_NO_NAME)
            define(s, fw_out_id(n, k), (struct lower_value){.kind = VALUE_DEAD});
    return ODLC_OK;
}

static odlc_status lower_resolved(struct scope *s, const struct fw_node *n, struct lower *l)
{
    if (is_dead(n, l->values, l->n_in))
        return define_dead(s, n);
    if (n->n_outputs == 0) /* rows set the first output without asking whether there is one */
        return lower_invalid(l, NULL, NULL, "the node has no outputs");
    struct diags *diags = &s->c->diags;
    const char *source = l->b->source, *subject = diags->subject; /* of the node around, for one in a subgraph */
    l->b->source = s->c->at_node = l->node->name;
    diags->subject = n->op->type;
    odlc_status status = run_row(s, n, l);
    l->b->source = source;
    diags->subject = subject;
    TRY(status);
    keep_node_name(s->c->graph, l->node, n->n_outputs ? l->out[0] : NO_TENSOR);
    return define_outputs(s, l, n);
}

static odlc_status lower_node(struct scope *s, struct fw_node *n)
{
    struct conversion *c = s->c;
    const size_t errors = c->diags.errors;
    struct arena_mark mark = arena_mark(c->scratch);
    struct lower_value *values = arena_array(c->scratch, struct lower_value, n->n_inputs);
    tensor_id *in = arena_array(c->scratch, tensor_id, n->n_inputs);
    struct lower l = {.b = &s->all->b,
                      .arena = c->graph->arena,
                      .diags = &c->diags,
                      .path = c->model->path,
                      .node = named_in(s, n),
                      .version = n->op->version,
                      .in = in,
                      .out = arena_array(c->scratch, tensor_id, n->n_outputs),
                      .n_out = n->n_outputs,
                      .values = values,
                      .results = arena_array(c->scratch, struct lower_value, n->n_outputs),
                      .scope = s};
    for (size_t k = 0; k < n->n_outputs; k++) {
        l.out[k] = NO_TENSOR;
        if (fw_out_id(n, k) != FW_NO_NAME)
            define(s, fw_out_id(n, k), (struct lower_value){.kind = VALUE_SPOILED});
    }
    /* What cannot be resolved was reported where it came from. */
    odlc_status status = resolve_inputs(s, n, values, in, &l.n_in) ? lower_resolved(s, n, &l) : ODLC_ERR_INVALID;
    n->refused |= c->diags.errors > errors;
    arena_rewind(c->scratch, mark);
    return status;
}

/* ---- subgraphs ---- */

static odlc_status subgraph_results(struct lower *l, const struct scope *s, const struct fw_graph *g,
                                    struct lower_value *results)
{
    for (size_t i = 0; i < g->outputs.count; i++) {
        const struct lower_value *value = find_value(s, g->outputs.data[i].id);
        if (!value)
            return lower_invalid(l, NULL, NULL, "nothing in its graph gives %s", g->outputs.data[i].name);
        if (value->kind == VALUE_ABSENT)
            return report_not_given(s->c, l->node->name, g->outputs.data[i].name);
        results[i] = *value;
    }
    return ODLC_OK;
}

static odlc_status lower_inner(struct lower *l, struct scope *s, const struct lower_value *values, size_t count,
                               struct lower_value *results)
{
    const struct fw_graph *g = s->graph;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < count; i++)
        define(s, g->inputs.data[i].id, values[i]);
    add_initializers(s, g);
    for (size_t i = 0; i < g->nodes.count; i++) {
        odlc_status lowered = lower_node(s, &g->nodes.data[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    TRY(status);
    return subgraph_results(l, s, g, results);
}

/* Bytes of the names that lowering a graph makes. */
static uint64_t text_of(const struct fw_graph *g, const char *prefix)
{
    uint64_t prefix_size = strlen(prefix), size = 0;
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        size += prefix_size + strlen(n->name);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            size += prefix_size + strlen(n->outputs[k]);
    }
    return size;
}

odlc_status lower_subgraph(struct lower *l, const struct fw_graph *g, const char *prefix,
                           const struct lower_value *values, size_t count, struct lower_value *results)
{
    struct lowering *all = l->scope->all;
    struct conversion *c = all->c;
    struct scope s = {
        .c = c, .all = all, .outer = l->scope, .prefix = prefix, .first_definition = all->names.list.count, .graph = g};
    if (count != g->inputs.count)
        return lower_invalid(l, NULL, NULL, "its graph takes %zu inputs, but gets %zu", g->inputs.count, count);
    c->expanded += g->nodes.count + 1 + text_of(g, prefix) / LOWER_TEXT_PER_NODE;
    if (c->expanded > LOWER_MAX_EXPANSION)
        return diag_error(&c->diags, ODLC_ERR_LIMIT,
                          AT(.file = l->path, .node = l->node->name,
                             .hint = "fewer trips of the loop, or a user-defined op in its place"),
                          "expansion", "the graphs inside of nodes expand to more than %d nodes", LOWER_MAX_EXPANSION);
    odlc_status status = lower_inner(l, &s, values, count, results);
    bindings_leave(&all->names, s.first_definition);
    all->values.count = s.first_definition;
    return status;
}

/* ---- the model's own graph ---- */

static odlc_status add_output(struct scope *s, const struct fw_value *output)
{
    const char *name = output->name;
    struct conversion *c = s->c;
    struct graph *g = c->graph;
    const struct lower_value *value = find_value(s, output->id);
    if (!value)
        return diag_error(&c->diags, ODLC_ERR_INVALID, AT(.file = c->model->path), "undefined-output",
                          "no node gives the graph output %s", name);
    if (value->kind == VALUE_ABSENT)
        return report_not_given(c, NULL, name);
    if (value->kind != VALUE_TENSOR)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path), "output-type",
                          "the graph output %s is %s: a container holds tensors alone", name, kind_text(value));
    tensor_id id = value->tensor, holder = graph_find_tensor(g, name);
    const struct tensor *t = graph_tensor(g, id);
    if (t->type->dtype == DT_STRING)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path), "output-type",
                          "the graph output %s holds strings: a container computes on numbers", name);
    bool same_name = strcmp(t->name, name) == 0;
    if (t->kind == TENSOR_OUTPUT && same_name) /* the model lists it twice */
        return ODLC_OK;
    if (t->kind == TENSOR_INPUT && same_name)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = c->model->path, .hint = "put an Identity between them"), "input-is-output",
                          "%s is a graph input and a graph output under one name, which a container cannot express",
                          name);
    if (t->kind != TENSOR_NATIVE) /* an input, a constant, another output: the result of an Identity, say */
        id = build_copy(g, id, name);
    else if (!same_name && holder == NO_TENSOR)
        graph_rename_tensor(g, id, name);
    graph_tensor(g, id)->kind = TENSOR_OUTPUT;
    vec_push(g->arena, &g->outputs, id);
    return ODLC_OK;
}

odlc_status lower_graph(struct conversion *c)
{
    const struct fw_graph *model = &c->model->graph;
    struct lowering all = {.c = c};
    struct scope s = {.c = c, .all = &all, .graph = model};
    odlc_status status = ODLC_OK;
    build_init(&all.b, c->graph, &c->diags);
    bindings_init(&all.names, c->model_arena, c->model->n_names);
    /* A node of the graph is mostly one of the model with one result, and goes by two names until it has its own. */
    graph_reserve(c->graph, model->nodes.count + model->initializers.count, 2 * model->nodes.count);
    TRY(add_inputs(&s));
    add_initializers(&s, model);
    for (size_t i = 0; i < model->nodes.count; i++) {
        if (i % TOLD_EVERY == 0)
            TRY(progress_report(&c->progress, &c->diags, i, model->nodes.count));
        if (!c->live[i])
            continue;
        odlc_status lowered = lower_node(&s, &model->nodes.data[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    odlc_status finished = udo_finish(&c->udos);
    warn_of_contradictions(&all);
    TRY(status);
    TRY(finished);
    for (size_t i = 0; i < model->outputs.count; i++)
        TRY(add_output(&s, &model->outputs.data[i]));
    return ODLC_OK;
}
