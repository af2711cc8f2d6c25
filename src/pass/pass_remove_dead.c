/* SPDX-License-Identifier: Apache-2.0 */
/* Drops nodes none of whose outputs is needed. One walk from the last node to the first suffices: the order is
 * topological, so a node's readers have been seen before it. Graph inputs always stay. */
#include "pass/pass.h"

pass_fn pass_remove_dead;

odlc_status pass_remove_dead(struct pass_context *c, struct graph *g)
{
    if (c->options->keep_disconnected || c->swept == g->changes + 1)
        return ODLC_OK;
    bool *needed = arena_array(c->scratch, bool, g->tensors.count);
    for (size_t i = 0; i < g->outputs.count; i++)
        needed[g->outputs.data[i]] = true;
    for (size_t i = g->order.count; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.data[i]);
        bool live = false;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            live |= n->outputs[k] != NO_TENSOR && needed[n->outputs[k]];
        if (!live) {
            graph_remove_node(g, g->order.data[i]);
            continue;
        }
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                needed[n->inputs[k]] = true;
    }
    c->swept = g->changes + 1;
    return ODLC_OK;
}
