/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/lend.h"

/* Of one kind of memory: the first in which something is lent. */
struct lending {
    uint32_t space;
    void **own;       /* per tensor: its place by the plan */
    void **lent;      /* per tensor: the caller's; NULL: none */
    bool *is_settled; /* per tensor: it lies in what is lent, for itself or for a tensor of the same elements */
    bool *is_idle;    /* per step */
    bool *host_reads; /* per tensor: a step reads it in another memory */
    const struct opened *opened;
};

/* ---- where tensors lie ---- */

static bool is_in_space(const struct executor *e, const struct plan_step *step)
{
    return step->kind == STEP_GROUP && plan_space_of(&e->claims, step->backend) == e->lending->space;
}

/* A step whose output is its input, and lies there by the plan, goes on having nothing to do as long as one of both may
 * follow the other. */
static void follow(struct executor *e, tensor_id to, tensor_id from)
{
    struct lending *l = e->lending;
    struct buffer *placed = e->placed[l->space];
    if (l->is_settled[to] || !l->is_settled[from])
        return;
    placed[to].data = placed[from].data;
    l->is_settled[to] = true;
}

static void settle_places(struct executor *e)
{
    struct lending *l = e->lending;
    const size_t n_steps = e->plan.steps.count;
    for (tensor_id t = 0; t < e->scope.graph->tensors.count; t++) {
        e->placed[l->space][t].data = l->lent[t] ? l->lent[t] : l->own[t];
        l->is_settled[t] = l->lent[t] != NULL;
    }
    for (size_t s = n_steps; s-- > 0;) {
        const struct plan_step *step = &e->plan.steps.data[s];
        if (step->is_idle && is_in_space(e, step))
            follow(e, step->io.inputs[0], step->io.outputs[0]);
    }
    for (size_t s = 0; s < n_steps; s++) {
        const struct plan_step *step = &e->plan.steps.data[s];
        if (step->is_idle && is_in_space(e, step))
            follow(e, step->io.outputs[0], step->io.inputs[0]);
    }
}

/* ---- which steps have something to do ---- */

static bool needs_nothing(const struct executor *e, const struct plan_step *step)
{
    const struct lending *l = e->lending;
    const struct buffer *placed = e->placed[l->space];
    if (is_in_space(e, step))
        return step->is_idle && placed[step->io.inputs[0]].data == placed[step->io.outputs[0]].data;
    if (step->kind == STEP_GROUP || plan_space_of(&e->claims, step->backend) != l->space || !l->lent[step->tensor])
        return step->is_idle;
    if (step->kind == STEP_UPLOAD)
        return graph_tensor(e->scope.graph, step->tensor)->kind == TENSOR_INPUT;
    return !l->host_reads[step->tensor];
}

static void settle_steps(struct executor *e)
{
    for (size_t s = 0; s < e->plan.steps.count; s++)
        e->lending->is_idle[s] = needs_nothing(e, &e->plan.steps.data[s]);
}

static void find_readers(struct executor *e)
{
    struct lending *l = e->lending;
    for (size_t s = 0; s < e->plan.steps.count; s++) {
        const struct plan_step *step = &e->plan.steps.data[s];
        if (plan_space_of(&e->claims, step->backend) == l->space)
            continue;
        if (step->kind == STEP_UPLOAD)
            l->host_reads[step->tensor] = true;
        for (uint32_t i = 0; step->kind == STEP_GROUP && i < step->io.n_inputs; i++)
            l->host_reads[step->io.inputs[i]] = true;
    }
}

/* ---- lending ---- */

static uint32_t find_space(const struct executor *e, const struct memory *memory)
{
    for (uint32_t space = 1; space < e->plan.n_spaces; space++)
        if (e->placed[space] && e->claims.backends[space - 1].backend->memory == memory)
            return space;
    return HOST_SPACE;
}

static struct lending *make_lending(struct executor *e, uint32_t space)
{
    struct arena *arena = e->scope.arena;
    const size_t n_tensors = e->scope.graph->tensors.count;
    struct lending *l = arena_new(arena, struct lending);
    *l = (struct lending){.space = space,
                          .own = arena_array(arena, void *, n_tensors),
                          .lent = arena_array(arena, void *, n_tensors),
                          .is_settled = arena_array(arena, bool, n_tensors),
                          .is_idle = arena_array(arena, bool, e->plan.steps.count),
                          .host_reads = arena_array(arena, bool, n_tensors),
                          .opened = &e->claims.backends[space - 1]};
    for (size_t t = 0; t < n_tensors; t++)
        l->own[t] = e->placed[space][t].data;
    return l;
}

bool executor_lend(struct executor *e, const struct memory *memory, tensor_id id, void *handle)
{
    const uint32_t space = find_space(e, memory);
    if (space == HOST_SPACE || (e->lending && e->lending->space != space))
        return false;
    if (!e->lending) {
        e->lending = make_lending(e, space);
        find_readers(e);
    }
    if (!e->lending->own[id])
        return false;
    e->lending->lent[id] = handle;
    settle_places(e);
    settle_steps(e);
    return true;
}

bool lending_is_idle(const struct executor *e, size_t step)
{
    return e->lending ? e->lending->is_idle[step] : e->plan.steps.data[step].is_idle;
}

odlc_status lending_begin(struct executor *e)
{
    const struct lending *l = e->lending;
    const struct graph *g = e->scope.graph;
    for (tensor_id t = 0; l && t < g->tensors.count; t++)
        if (l->lent[t] && l->host_reads[t] && graph_tensor(g, t)->kind == TENSOR_INPUT)
            TRY(l->opened->backend->memory->download(l->opened->state, e->buffers[t].data, l->lent[t],
                                                     tensor_bytes(graph_tensor(g, t)->type)));
    return ODLC_OK;
}

odlc_status lending_end(struct executor *e)
{
    const struct lending *l = e->lending;
    return l ? l->opened->backend->memory->finish(l->opened->state) : ODLC_OK;
}
