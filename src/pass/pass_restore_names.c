/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor that a pass or a lowering derived from another (permuted weights, a folded bias) asked for that one's name
 * and got a numbered one, because the original still stood in the graph. Where nothing uses the original any more, the
 * name goes to the tensor that took its place: people look for their weights under the names that the model gave them.
 */
#include <string.h>

#include "pass/pass.h"

pass_fn pass_restore_names;

static bool *find_used(struct arena *scratch, const struct graph *g)
{
    bool *used = arena_array(scratch, bool, g->tensors.count);
    for (size_t i = 0; i < g->inputs.count; i++)
        used[g->inputs.data[i]] = true;
    for (size_t i = 0; i < g->outputs.count; i++)
        used[g->outputs.data[i]] = true;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                used[n->inputs[k]] = true;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                used[n->outputs[k]] = true;
    }
    return used;
}

/* Whether some tensor does not have the name that it asked for. */
static bool lacks_name(const struct graph *g)
{
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (graph_tensor(g, id)->wanted)
            return true;
    return false;
}

odlc_status pass_restore_names(struct pass_context *c, struct graph *g)
{
    if (!lacks_name(g))
        return ODLC_OK;
    const bool *used = find_used(c->scratch, g);
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        if (!used[id] || !t->wanted || t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT)
            continue;
        tensor_id holder = graph_find_tensor(g, t->wanted);
        if (holder != NO_TENSOR && used[holder])
            continue;
        graph_rename_tensor(g, id, t->wanted);
    }
    return ODLC_OK;
}
