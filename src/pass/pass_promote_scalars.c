/* SPDX-License-Identifier: Apache-2.0 */
/* The container's tensors have at least one axis: a rank 0 tensor becomes one of shape [1]. What the ops mean does not
 * change, because all of them broadcast; only a Reshape names the shape it makes. */
#include "op/params.h"
#include "pass/pass.h"

pass_fn pass_promote_scalars;

static bool is_scalar(const struct type *type)
{
    return type->shape.rank == 0;
}

odlc_status pass_promote_scalars(struct pass_context *c, struct graph *g)
{
    (void)c;
    const struct shape one = SHAPE(1);
    if (!type_set_any(&g->types, is_scalar))
        return ODLC_OK;
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        if (t->type->shape.rank != 0)
            continue;
        graph_set_shape(g, id, &one);
        if (t->kind == TENSOR_STATIC && !view_reshape(t->view, &one))
            return ODLC_ERR_INTERNAL;
    }
    for (size_t i = 0; i < g->order.count; i++) {
        struct node *n = graph_node(g, g->order.data[i]);
        const struct packed_param *shape = node_is(n, OP_Reshape) ? node_param(n, PARAM_shape) : NULL;
        if (shape && shape->shape->dims[0] == 0)
            node_set_ints(g, n, PARAM_shape, &one, one.dims);
    }
    return ODLC_OK;
}
