/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of a MatMul have as many axes as each other: the one with fewer gets axes of 1 in front of its own,
 * which is how it was to be read. */
#include "op/op.h"
#include "pass/parts.h"
#include "pass/search.h"

pass_fn pass_align_matmul_ranks;

/* The index of the operand with fewer axes, or -1. */
static int shorter_operand(const struct graph *g, const struct node *n)
{
    if (!node_is(n, OP_MatMul))
        return -1;
    uint32_t a = node_input(g, n, 0)->type->shape.rank, b = node_input(g, n, 1)->type->shape.rank;
    return a == b ? -1 : a > b;
}

static struct shape widened(const struct shape *shape, uint32_t rank)
{
    struct shape wide = {.rank = rank};
    for (uint32_t i = 0; i < rank; i++)
        wide.dims[i] = i < rank - shape->rank ? 1 : shape->dims[i - (rank - shape->rank)];
    return wide;
}

/* The same for what a view still has to do: its first axes stay the first ones. */
static struct view widened_view(struct arena *arena, const struct view *view, uint32_t rank)
{
    struct view wide = *view;
    uint32_t more = rank - view->shape.rank;
    wide.shape = widened(&view->shape, rank);
    wide.perm = perm_identity(rank);
    for (uint32_t i = more; i < rank; i++)
        wide.perm.axis[i] = (uint8_t)(view->perm.axis[i - more] + more);
    if (view->scale_axis != SCALE_WHOLE)
        wide.scale_axis = view->scale_axis + more;
    if (view->given && view->given->per_axis) {
        struct quant *given = arena_memdup(arena, view->given, sizeof *given);
        given->axis += more;
        wide.given = given;
    }
    return wide;
}

/* Gives the node its operand with that many axes; a Reshape, where one is needed, goes into the order. */
static void align(struct graph *g, node_id id, uint32_t operand, uint32_t rank)
{
    const struct node n = *graph_node(g, id);
    tensor_id in = n.inputs[operand];
    const struct tensor t = *graph_tensor(g, in);
    if (t.kind == TENSOR_STATIC) {
        struct view view = widened_view(g->arena, t.view, rank);
        graph_replace_input(g, id, operand, part_constant(g, in, &view));
        return;
    }
    const struct shape shape = widened(&t.type->shape, rank);
    const char *name = arena_printf(g->arena, "%s_pre_reshape", n.name);
    tensor_id wide = part_reshaped(g, in, name, &shape);
    vec_push(g->arena, &g->order, part_reshape(g, name, n.source, in, wide));
    graph_replace_input(g, id, operand, wide);
}

odlc_status pass_align_matmul_ranks(struct pass_context *c, struct graph *g)
{
    size_t count = g->order.count;
    if (!graph_may_have(c, g, OP_MatMul))
        return ODLC_OK;
    const node_id *before = arena_memdup(c->scratch, g->order.data, count * sizeof *before);
    g->order.count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct node *n = graph_node(g, before[i]);
        int shorter = shorter_operand(g, n);
        if (shorter >= 0)
            align(g, before[i], (uint32_t)shorter, node_input(g, n, !shorter)->type->shape.rank);
        vec_push(g->arena, &g->order, before[i]);
    }
    return ODLC_OK;
}
