/* SPDX-License-Identifier: Apache-2.0 */
/* A Transpose of a Transpose is one Transpose of the first one's input, and nothing at all when the two cancel. One
 * walk in execution order suffices: the first of each pair has been merged with what is before it already. Transposes
 * left without readers go with remove_dead. */
#include "op/params.h"
#include "pass/alias.h"
#include "pass/search.h"

pass_fn pass_merge_transposes;

odlc_status pass_merge_transposes(struct pass_context *c, struct graph *g)
{
    if (!graph_may_have(c, g, OP_Transpose))
        return ODLC_OK;
    struct aliases aliases = aliases_start(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        struct node *n = graph_node(g, id);
        aliases_apply(&aliases, id);
        if (!node_is(n, OP_Transpose))
            continue;
        node_id before = graph_tensor(g, n->inputs[0])->producer;
        if (before == NO_NODE || !node_is(graph_node(g, before), OP_Transpose))
            continue;
        const struct node *first = graph_node(g, before);
        struct perm a = node_perm(first), b = node_perm(n), both = perm_compose(&a, &b);
        if (perm_is_identity(&both) && aliases_replace(&aliases, n->outputs[0], first->inputs[0])) {
            graph_remove_node(g, id);
            continue;
        }
        graph_replace_input(g, id, 0, first->inputs[0]);
        node_set_perm(g, n, &both);
    }
    aliases_finish(&aliases);
    return ODLC_OK;
}
