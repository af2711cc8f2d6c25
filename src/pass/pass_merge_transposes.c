/* A Transpose of a Transpose is one Transpose of the first one's input, and nothing at all when the two cancel. One
 * walk in execution order suffices: the first of each pair has been merged with what is before it already. Transposes
 * left without readers go with remove_dead. */
#include <string.h>

#include "pass/alias.h"

pass_fn pass_merge_transposes;

static bool is_transpose(const struct node *n)
{
    return n->op && !n->op->package && strcmp(n->op->name, "Transpose") == 0;
}

static struct perm perm_of(const struct node *n)
{
    struct perm perm;
    const int64_t *axes = node_ints(n, "perm", &perm.rank);
    for (uint32_t i = 0; i < perm.rank; i++)
        perm.axis[i] = (uint8_t)axes[i];
    return perm;
}

odlc_status pass_merge_transposes(struct pass_context *c, struct graph *g, bool *progress)
{
    struct aliases aliases = aliases_start(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        struct node *n = graph_node(g, g->order.data[i]);
        aliases_apply(&aliases, n);
        if (!is_transpose(n))
            continue;
        node_id before = graph_tensor(g, n->inputs[0])->producer;
        if (before == NO_NODE || !is_transpose(graph_node(g, before)))
            continue;
        const struct node *first = graph_node(g, before);
        struct perm a = perm_of(first), b = perm_of(n), both = perm_compose(&a, &b);
        *progress = true;
        if (perm_is_identity(&both) && aliases_replace(&aliases, n->outputs[0], first->inputs[0])) {
            graph_remove_node(g, g->order.data[i]);
            continue;
        }
        int64_t axes[MAX_RANK];
        struct shape rank1 = SHAPE(both.rank);
        for (uint32_t k = 0; k < both.rank; k++)
            axes[k] = both.axis[k];
        n->inputs[0] = first->inputs[0];
        node_set_ints(g, n, "perm", &rank1, axes);
    }
    return ODLC_OK;
}
