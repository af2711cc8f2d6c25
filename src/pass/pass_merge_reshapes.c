/* SPDX-License-Identifier: Apache-2.0 */
/* A Reshape that alone reads another one's result is one Reshape with it, called as the first one, and nothing at all
 * when it gives back the shape that there was. One walk in execution order suffices: the first of each pair has been
 * merged with what is before it already. */
#include "op/params.h"
#include "pass/alias.h"
#include "pass/search.h"

pass_fn pass_merge_reshapes;

/* The Reshape whose result nothing but `second` reads, or NO_NODE. */
static node_id reshape_before(const struct graph *g, const struct uses *uses, const struct node *second)
{
    tensor_id between = second->inputs[0];
    node_id id = graph_tensor(g, between)->producer;
    bool alone = id != NO_NODE && uses->count[between] == 1 && graph_tensor(g, between)->kind == TENSOR_NATIVE;
    return alone && node_is(graph_node(g, id), OP_Reshape) ? id : NO_NODE;
}

static void merge(struct graph *g, struct aliases *aliases, node_id first, node_id second)
{
    tensor_id in = graph_node(g, first)->inputs[0], out = graph_node(g, second)->outputs[0];
    const struct shape *shape = &graph_tensor(g, out)->type->shape;
    bool same = shape_equal(&graph_tensor(g, in)->type->shape, shape);
    graph_remove_node(g, second);
    if (same && aliases_replace(aliases, out, in)) {
        graph_remove_node(g, first);
        return;
    }
    const struct shape to = *shape, rank1 = SHAPE(to.rank);
    graph_replace_output(g, first, 0, out);
    node_set_ints(g, graph_node(g, first), PARAM_shape, &rank1, to.dims);
}

odlc_status pass_merge_reshapes(struct pass_context *c, struct graph *g)
{
    if (!graph_may_have(c, g, OP_Reshape))
        return ODLC_OK;
    struct uses uses = graph_uses(c->scratch, g);
    struct aliases aliases = aliases_start(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        aliases_apply(&aliases, id);
        const struct node *n = graph_node(g, id);
        node_id before = node_is(n, OP_Reshape) ? reshape_before(g, &uses, n) : NO_NODE;
        if (before != NO_NODE)
            merge(g, &aliases, before, id);
    }
    aliases_finish(&aliases);
    return ODLC_OK;
}
