#include "runtime/plan.h"

#include "runtime/pool.h"

/* Results start on cache lines. */
#define ALIGNMENT 64

struct planner {
    struct arena *arena;
    const struct graph *g;
    bool *used;
    size_t *last_use; /* per tensor: the step after which it is dead */
    uint64_t *offsets;
    uint32_t *parts; /* per tensor with an offset: its place in the pool */
    VEC(node_id) steps;
    struct pool pool;
};

uint64_t tensor_bytes(const struct type *type)
{
    uint64_t element = type->dtype == DT_STRING ? sizeof(const char *) : dtype_size(type->dtype);
    return shape_count(&type->shape) * element;
}

/* Backwards from the wanted tensors: a node is a step when one of its outputs is used. */
static void collect_steps(struct planner *p)
{
    const struct graph *g = p->g;
    bool *is_step = arena_array(p->arena, bool, g->nodes.count);
    for (size_t i = g->order.count; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.data[i]);
        bool needed = false;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            needed |= n->outputs[k] != NO_TENSOR && p->used[n->outputs[k]];
        if (!needed)
            continue;
        is_step[g->order.data[i]] = true;
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                p->used[n->inputs[k]] = true;
    }
    for (size_t i = 0; i < g->order.count; i++)
        if (is_step[g->order.data[i]])
            vec_push(p->arena, &p->steps, g->order.data[i]);
}

static void find_last_uses(struct planner *p, const tensor_id *wanted, size_t n_wanted)
{
    for (size_t s = 0; s < p->steps.count; s++) {
        const struct node *n = graph_node(p->g, p->steps.data[s]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                p->last_use[n->outputs[k]] = s;
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                p->last_use[n->inputs[k]] = s;
    }
    for (size_t i = 0; i < n_wanted; i++)
        p->last_use[wanted[i]] = SIZE_MAX;
}

static odlc_status place_outputs(struct planner *p, struct diags *diags, const struct node *n)
{
    for (uint32_t k = 0; k < n->n_outputs; k++) {
        if (n->outputs[k] == NO_TENSOR)
            continue;
        tensor_id t = n->outputs[k];
        uint64_t size = align_up(max_i64(1, (int64_t)tensor_bytes(graph_tensor(p->g, t)->type)), ALIGNMENT), end;
        if (ckd_add(&end, p->pool.size, size) || end > SIZE_MAX / 2)
            return diag_error(diags, ODLC_ERR_LIMIT, AT(.node = n->name), "run-memory",
                              "the tensors that are alive at once do not fit in the address space");
        p->parts[t] = pool_take(&p->pool, size);
        p->offsets[t] = pool_offset(&p->pool, p->parts[t]);
        p->used[t] = true;
    }
    return ODLC_OK;
}

/* Frees what step s was the last to touch. A tensor that is read twice by the step is freed once. */
static void release_dead(struct planner *p, const struct node *n, size_t s)
{
    for (uint32_t k = 0; k < n->n_inputs + n->n_outputs; k++) {
        tensor_id t = k < n->n_inputs ? n->inputs[k] : n->outputs[k - n->n_inputs];
        if (t == NO_TENSOR || p->last_use[t] != s || p->offsets[t] == PLAN_NOWHERE)
            continue;
        pool_give(&p->pool, p->parts[t]);
        p->last_use[t] = SIZE_MAX;
    }
}

odlc_status plan_make(struct arena *arena, struct diags *diags, const struct graph *g, const tensor_id *wanted,
                      size_t n_wanted, struct plan *out)
{
    struct planner p = {.arena = arena,
                        .g = g,
                        .used = arena_array(arena, bool, g->tensors.count),
                        .last_use = arena_array(arena, size_t, g->tensors.count),
                        .offsets = arena_array(arena, uint64_t, g->tensors.count),
                        .parts = arena_array(arena, uint32_t, g->tensors.count)};
    pool_init(&p.pool, arena);
    for (size_t t = 0; t < g->tensors.count; t++)
        p.offsets[t] = PLAN_NOWHERE;
    for (size_t i = 0; i < n_wanted; i++)
        p.used[wanted[i]] = true;
    collect_steps(&p);
    find_last_uses(&p, wanted, n_wanted);
    for (size_t s = 0; s < p.steps.count; s++) {
        const struct node *n = graph_node(g, p.steps.data[s]);
        TRY(place_outputs(&p, diags, n));
        release_dead(&p, n, s);
    }
    *out = (struct plan){.steps = p.steps.data,
                         .n_steps = p.steps.count,
                         .used = p.used,
                         .offsets = p.offsets,
                         .pool_size = p.pool.size};
    return ODLC_OK;
}
