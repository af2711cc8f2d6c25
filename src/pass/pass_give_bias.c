/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of newer releases give each convolution a bias, of zeros where the model has none. Fully connected layers
 * stay without one there, too. */
#include "pass/affine.h"

pass_fn pass_give_bias;

static bool lacks_bias(const struct graph *g, const struct node *n)
{
    bool convolution = n->op->layer == LAYER_CONVOLUTION || n->op->layer == LAYER_TRANSPOSED;
    return convolution && n->n_inputs == 3 && layer_has_no_bias(g, n);
}

odlc_status pass_give_bias(struct pass_context *c, struct graph *g)
{
    if (c->options->target_release < RELEASE_NEWER)
        return ODLC_OK;
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        const struct node *n = graph_node(g, id);
        if (!lacks_bias(g, n))
            continue;
        const struct type *result = node_output(g, n, 0)->type;
        const struct shape shape = SHAPE(result->shape.dims[result->shape.rank - 1]);
        struct view zeros = dtype_is_float(result->dtype) ? view_splat_float(g->arena, result->dtype, &shape, 0)
                                                          : view_splat_int(g->arena, result->dtype, &shape, 0);
        graph_replace_input(g, id, 2, graph_add_constant(g, layer_bias_name(g, n), result->dtype, &zeros));
    }
    return ODLC_OK;
}
