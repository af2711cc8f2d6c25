/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_scalable.h"

#include "op/op.h"

/* Whether nothing from outside is said of the tensor's range. */
static bool is_open(const struct quantizer *q, tensor_id id)
{
    return !q->items[id].given;
}

bool quant_scalable_find(const struct quantizer *q, node_id id, struct scalable *out)
{
    const struct node *n = graph_node(q->g, id);
    struct scalable s = {.id = id, .bias = n->n_inputs > 2 ? n->inputs[2] : NO_TENSOR};
    if (!quant_layer_find(q, n, &s.layer) || node_is(n, OP_MatMul) || !is_open(q, s.layer.weights))
        return false;
    s.inputs = s.layer.has_window ? (uint64_t)s.layer.conv.window.channels : s.layer.depth;
    *out = s;
    return s.bias == NO_TENSOR ||
           (graph_tensor(q->g, s.bias)->kind == TENSOR_STATIC && q->items[s.bias].role == ROLE_BIAS &&
            q->uses.count[s.bias] == 1 && is_open(q, s.bias));
}

bool quant_scalable_next(const struct quantizer *q, const struct scalable *from, quant_lets_fn *lets,
                         struct scalable *next)
{
    const struct node *n = from->layer.node;
    for (;;) {
        const tensor_id id = n->outputs[0];
        if (q->uses.count[id] != 1 || graph_tensor(q->g, id)->kind == TENSOR_OUTPUT || !is_open(q, id))
            return false;
        const node_id reader = q->uses.nodes[q->uses.first[id]];
        n = graph_node(q->g, reader);
        if (n->inputs[0] != id)
            return false;
        if (!lets(q->g, n))
            return quant_scalable_find(q, reader, next) && next->inputs == quant_scalable_channels(from);
    }
}
