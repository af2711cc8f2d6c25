/* Says how the axes of convolution weights are to be read (HWIO), and that a rank 4 or 5 tensor which no pass stored in
 * a spatial order has no spatial meaning. The rest follows from the rank when the container is written. */
#include "op/op.h"
#include "pass/pass.h"

pass_fn pass_set_axis_formats;

static bool has_hwio_weights(const struct node *n)
{
    return n->op && n->op->layer != NO_LAYER && n->op->spatial_axes == 2;
}

odlc_status pass_set_axis_formats(struct pass_context *c, struct graph *g)
{
    (void)c;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (has_hwio_weights(n))
            graph_tensor(g, n->inputs[1])->axis_format = AXIS_FORMAT_HWIO;
    }
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        if (!t->axis_format && t->type->shape.rank >= 3)
            t->axis_format = AXIS_FORMAT_NONTRIVIAL;
    }
    return ODLC_OK;
}
