/* Where the axes of tensors come from, found node by node as the graph grows. */
#include "converters/driver/driver.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/preferred_layout.h"

static struct layout_origin own_order(const struct graph *g, tensor_id id, bool last)
{
    return (struct layout_origin){.moved = perm_identity(graph_tensor(g, id)->type->shape.rank), .last = last};
}

/* Layout Transposes stand between orders that are known. */
static struct layout_origin of_transpose(const struct conversion *c, const struct node *n)
{
    const struct perm perm = node_perm(n), back = perm_inverse(&perm);
    struct layout_origin in = c->origins.data[n->inputs[0]];
    if (n->layout_only && is_channels_last(&perm))
        return own_order(c->graph, n->outputs[0], true);
    if (n->layout_only && is_channels_last(&back))
        return (struct layout_origin){.moved = perm, .last = true};
    in.moved = perm_compose(&in.moved, &perm);
    return in;
}

/* Ops that keep the axes, and UDOs, take the order of the first input of that rank; the container's ops on images are
 * channels-last. */
static struct layout_origin of_output(const struct conversion *c, const struct node *n, tensor_id out)
{
    const uint32_t rank = graph_tensor(c->graph, out)->type->shape.rank;
    if (node_is(n, OP_Transpose))
        return of_transpose(c, n);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        bool keeps = n->op->package || carries_axes(n->op, i);
        if (keeps && n->inputs[i] != NO_TENSOR && c->origins.data[n->inputs[i]].moved.rank == rank &&
            graph_tensor(c->graph, n->inputs[i])->kind != TENSOR_STATIC)
            return c->origins.data[n->inputs[i]];
    }
    return own_order(c->graph, out, !n->op->permute && !n->op->package && !node_is(n, OP_Reshape));
}

struct layout_origin tensor_layout_origin(struct conversion *c, tensor_id id)
{
    const struct graph *g = c->graph;
    for (size_t i = c->origins.count; i < g->tensors.count; i++)
        vec_push(c->model_arena, &c->origins, own_order(g, (tensor_id)i, false));
    for (; c->n_followed < g->order.count; c->n_followed++) {
        const struct node *n = graph_node(g, g->order.data[c->n_followed]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                c->origins.data[n->outputs[k]] = of_output(c, n, n->outputs[k]);
    }
    return c->origins.data[id];
}
