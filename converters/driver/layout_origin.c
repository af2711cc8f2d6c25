/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/layout_origin.h"

#include "op/layout.h"
#include "op/op.h"
#include "op/params.h"

static struct layout_origin own_order(const struct graph *g, tensor_id id, bool last)
{
    return (struct layout_origin){.moved = perm_identity(graph_tensor(g, id)->type->shape.rank), .last = last};
}

/* Layout Transposes stand between orders that are known. */
static struct layout_origin of_transpose(const struct layout_origins *o, const struct node *n)
{
    const struct perm perm = node_perm(n), back = perm_inverse(&perm);
    struct layout_origin in = o->known.data[n->inputs[0]];
    if (n->layout_only && is_channels_last(&perm))
        return own_order(o->graph, n->outputs[0], true);
    if (n->layout_only && is_channels_last(&back))
        return (struct layout_origin){.moved = perm, .last = true};
    in.moved = perm_compose(&in.moved, &perm);
    return in;
}

/* Ops that keep the axes, and UDOs, take the order of the first input of that rank; the container's ops on images are
 * channels-last. */
static struct layout_origin of_output(const struct layout_origins *o, const struct node *n, tensor_id out)
{
    const uint32_t rank = graph_tensor(o->graph, out)->type->shape.rank;
    if (node_is(n, OP_Transpose))
        return of_transpose(o, n);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        bool keeps = n->op->package || carries_axes(n->op, i);
        if (keeps && n->inputs[i] != NO_TENSOR && o->known.data[n->inputs[i]].moved.rank == rank &&
            graph_tensor(o->graph, n->inputs[i])->kind != TENSOR_STATIC)
            return o->known.data[n->inputs[i]];
    }
    return own_order(o->graph, out, !n->op->permute && !n->op->package && !node_is(n, OP_Reshape));
}

struct layout_origin find_layout_origin(struct layout_origins *o, tensor_id id)
{
    const struct graph *g = o->graph;
    for (size_t i = o->known.count; i < g->tensors.count; i++)
        vec_push(o->arena, &o->known, own_order(g, (tensor_id)i, false));
    for (; o->n_followed < g->order.count; o->n_followed++) {
        const struct node *n = graph_node(g, g->order.data[o->n_followed]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                o->known.data[n->outputs[k]] = of_output(o, n, n->outputs[k]);
    }
    return o->known.data[id];
}
