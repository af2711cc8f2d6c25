/* SPDX-License-Identifier: Apache-2.0 */
#include "op/channels.h"

#include "op/op.h"
#include "op/params.h"

bool node_channel_axis(const struct graph *g, const struct node *n, uint32_t *axis)
{
    const struct tensor *weights = n->op ? node_input(g, n, 1) : NULL;
    const uint32_t rank = weights ? weights->type->shape.rank : 0;
    if (rank == 0)
        return false;
    const bool is_layer = n->op->layer != NO_LAYER && n->op->channel_axis >= 0;
    if (!is_layer && !node_is(n, OP_MatMul))
        return false;
    if (is_layer)
        *axis = (uint32_t)n->op->channel_axis;
    else
        *axis = node_int(n, PARAM_transpose_in1, 0) && rank > 1 ? rank - 2 : rank - 1;
    return *axis < rank;
}

bool find_channel_axis(const struct graph *g, const struct uses *uses, tensor_id id, uint32_t count, uint32_t *axis)
{
    const struct shape *shape = &graph_tensor(g, id)->type->shape;
    for (uint32_t i = uses->first[id]; i < uses->first[id + 1]; i++) {
        const struct node *n = graph_node(g, uses->nodes[i]);
        if (n->n_inputs > 1 && n->inputs[1] == id && node_channel_axis(g, n, axis) && shape->dims[*axis] == count)
            return true;
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] == count) {
            *axis = i;
            found++;
        }
    return found == 1;
}
