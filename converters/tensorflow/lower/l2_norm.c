/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/l2_norm.h"

#include "op/params.h"

/* The node of that op that gives the tensor, or NULL. */
static const struct node *producer(const struct lower *l, tensor_id t, enum op_id op)
{
    const struct node *n = graph_producer(l->b->graph, t);
    return n && node_is(n, op) ? n : NULL;
}

/* The sum of the squares of x along axes that stay, of which `factor` is the reciprocal root where it is not below
 * epsilon; NULL when it is something else. */
static const struct node *find_sum(const struct lower *l, tensor_id x, tensor_id factor, double *epsilon)
{
    const struct node *root = producer(l, factor, OP_ElementWiseRsqrt);
    const struct node *bound = root ? producer(l, root->inputs[0], OP_ElementWiseMaximum) : NULL;
    if (!bound)
        return NULL;
    uint64_t count;
    bool second = build_is_const(l->b, bound->inputs[1]);
    const double *least = build_const_as_floats(l->b, bound->inputs[second], &count);
    const struct node *sum = producer(l, bound->inputs[!second], OP_ReduceSum);
    const struct node *square = sum ? producer(l, sum->inputs[0], OP_ElementWiseMultiply) : NULL;
    if (!least || count != 1 || !(*least > 0) || !square || square->inputs[0] != x || square->inputs[1] != x)
        return NULL;
    *epsilon = *least;
    return node_int(sum, PARAM_keep_dims, 0) ? sum : NULL;
}

odlc_status give_l2_norm(struct lower *l, bool *done)
{
    const struct node *sum = NULL;
    tensor_id x = NO_TENSOR;
    double epsilon = 0;
    for (uint32_t i = 0; l->n_in == 2 && i < 2 && !sum; i++) {
        x = l->in[i];
        sum = find_sum(l, x, l->in[1 - i], &epsilon);
    }
    *done = sum && build_type(l->b, x)->dtype == DT_FLOAT32;
    if (!*done)
        return ODLC_OK;
    const struct packed_param *axes = node_param(sum, PARAM_axes);
    uint32_t count = (uint32_t)axes->shape->dims[0];
    const int64_t *listed = axes->ints;
    build_op(l->b, OP_L2Norm, fw_node_label(l->node));
    build_in(l->b, x);
    if (count == 1)
        build_int(l->b, PARAM_axis, listed[0]);
    else
        build_ints(l->b, PARAM_axes, listed, count);
    build_float(l->b, PARAM_epsilon, epsilon);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}
