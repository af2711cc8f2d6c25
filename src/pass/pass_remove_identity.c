/* SPDX-License-Identifier: Apache-2.0 */
/* Drops nodes that give back what they take: a Cast to the same dtype, a Reshape to the same shape, a Transpose that
 * moves nothing, a Concat of one input, a choice that is always the first operand. They come from models and from other
 * passes (a Cast between int64 and int32 after narrow_types, a Reshape between rank 0 and one element of rank 1 after
 * promote_scalars). */
#include "op/op.h"
#include "op/params.h"
#include "pass/alias.h"
#include "pass/search.h"

pass_fn pass_remove_identity;

/* Whether a condition is a constant without a false element. */
static bool always_true(struct arena *scratch, const struct tensor *condition)
{
    if (condition->kind != TENSOR_STATIC)
        return false;
    struct arena_mark mark = arena_mark(scratch);
    const bool *values = view_load(scratch, condition->view, condition->type->dtype);
    uint64_t i = 0, count = shape_count(&condition->type->shape);
    while (i < count && values[i])
        i++;
    arena_rewind(scratch, mark);
    return i == count;
}

static bool same_type(const struct tensor *a, const struct tensor *b)
{
    return a->type->dtype == b->type->dtype && shape_equal(&a->type->shape, &b->type->shape);
}

/* Whether the node gives back its input i. */
static bool gives_back(struct arena *scratch, const struct graph *g, const struct node *n, uint32_t i)
{
    if (!same_type(node_input(g, n, i), node_output(g, n, 0)))
        return false;
    if (node_is(n, OP_ElementWiseSelect))
        return always_true(scratch, node_input(g, n, 0));
    if (!node_is(n, OP_Transpose))
        return true;
    struct perm perm = node_perm(n);
    return perm_is_identity(&perm);
}

/* The index of the only input that such a node could give back, or -1. */
static int candidate(const struct node *n)
{
    if (!n->op)
        return -1;
    if (node_is(n, OP_ElementWiseSelect))
        return 1;
    return n->op->may_copy && n->n_inputs == 1 ? 0 : -1;
}

odlc_status pass_remove_identity(struct pass_context *c, struct graph *g)
{
    if (!graph_census(c, g)->copies && !graph_may_have(c, g, OP_ElementWiseSelect))
        return ODLC_OK;
    struct aliases aliases = aliases_start(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        const struct node *n = graph_node(g, id);
        aliases_apply(&aliases, id);
        int input = candidate(n);
        if (input >= 0 && gives_back(c->scratch, g, n, (uint32_t)input) &&
            aliases_replace(&aliases, n->outputs[0], n->inputs[input]))
            graph_remove_node(g, id);
    }
    aliases_finish(&aliases);
    return ODLC_OK;
}
