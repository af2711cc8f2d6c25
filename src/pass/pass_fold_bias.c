/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the addition or subtraction of a constant per channel, and the multiplication or division by one, into the
 * convolution or fully connected layer before them, also where a Reshape that keeps the channels stands between. Only
 * when nothing else reads the layer's output. */
#include <float.h>
#include <math.h>

#include "op/op.h"
#include "op/params.h"
#include "pass/affine.h"
#include "pass/search.h"

pass_fn pass_fold_bias;

/* The layer whose result x is, perhaps in another shape with the same last axis. */
static struct node *layer_of(const struct graph *g, const struct uses *uses, tensor_id x)
{
    const struct node *before = graph_producer(g, x);
    if (!before || !node_is(before, OP_Reshape) || before->n_inputs != 1 || uses->count[x] != 1)
        return affine_layer(g, uses, x);
    const struct shape *from = &node_input(g, before, 0)->type->shape, *to = &graph_tensor(g, x)->type->shape;
    const bool keeps = from->rank > 0 && to->rank > 0 && from->dims[from->rank - 1] == to->dims[to->rank - 1];
    return keeps ? affine_layer(g, uses, before->inputs[0]) : NULL;
}

/* Whether input i of n is a constant with one value, or one for each channel of the layer's result, which n leaves in
 * its shape. */
static bool is_per_channel(const struct graph *g, const struct node *layer, const struct node *n, uint32_t i)
{
    const struct tensor *c = node_input(g, n, i), *y = node_input(g, n, 1 - i), *out = node_output(g, n, 0);
    const struct shape *shape = &c->type->shape;
    uint64_t count = shape_count(shape), channels = affine_channels(g, layer);
    bool last = shape->rank > 0 && count == channels && (uint64_t)shape->dims[shape->rank - 1] == channels;
    bool counts = y->type->shape.rank > 0 && (uint64_t)y->type->shape.dims[y->type->shape.rank - 1] == channels;
    return c->kind == TENSOR_STATIC && dtype_is_float(c->type->dtype) && counts && (last || count == 1) &&
           !dtype_is_fixed(y->type->dtype) && shape_equal(&out->type->shape, &y->type->shape) &&
           out->type->dtype == y->type->dtype;
}

/* What the values of n's constant c add or multiply with, one for each channel, in the graph's arena. */
static const double *per_channel(struct graph *g, const struct node *n, const struct tensor *c, uint64_t channels)
{
    const double *values = view_load(g->arena, c->view, DT_FLOAT64);
    uint64_t count = shape_count(&c->type->shape);
    double *all = arena_array(g->arena, double, channels);
    for (uint64_t i = 0; i < channels; i++) {
        const double value = values[count == 1 ? 0 : i];
        all[i] = node_is(n, OP_ElementWiseSubtract) ? -value : node_is(n, OP_ElementWiseDivide) ? 1 / value : value;
    }
    return all;
}

/* Whether all are numbers of float32: no quotient by 0, which a factor of weights cannot stand for. */
static bool all_finite(const double *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs(values[i]) <= (double)FLT_MAX))
            return false;
    return true;
}

/* The layer's bias is the constant that n adds, as which it is known on. */
static void take_as_bias(struct graph *g, struct node *layer, const struct node *n, const struct tensor *constant,
                         struct affine *affine)
{
    affine->bias_name = tensor_wanted_name(constant);
    if (op_param_place(layer->op, PARAM_bias_op_name) >= 0)
        node_set_string(g, layer, PARAM_bias_op_name, n->name);
}

/* Folds the node if its input i is a constant and the other one comes from a layer. */
static bool fold(struct pass_context *c, struct graph *g, const struct uses *uses, node_id id, uint32_t i)
{
    const struct node *n = graph_node(g, id);
    const bool product = node_is(n, OP_ElementWiseMultiply) || node_is(n, OP_ElementWiseDivide);
    const tensor_id x = n->inputs[1 - i];
    struct node *layer = layer_of(g, uses, x);
    if (!layer || !is_per_channel(g, layer, n, i) ||
        (product && (c->options->no_batchnorm_folding || !affine_scalable(c, g, layer))))
        return false;
    const struct tensor *constant = node_input(g, n, i);
    const uint64_t channels = affine_channels(g, layer);
    const double *values = per_channel(g, n, constant, channels);
    if (!all_finite(values, channels))
        return false;
    struct affine affine = {.factor = product ? values : NULL, .shift = product ? NULL : values};
    if (node_is(n, OP_ElementWiseAdd) && layer_has_no_bias(g, layer))
        take_as_bias(g, layer, n, constant, &affine);
    affine_fold(c, g, layer, &affine, id, x);
    return true;
}

odlc_status pass_fold_bias(struct pass_context *c, struct graph *g)
{
    if (!graph_census(c, g)->layers)
        return ODLC_OK;
    struct uses uses = graph_uses(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        const struct node *n = graph_node(g, id);
        const bool turns = node_is(n, OP_ElementWiseAdd) || node_is(n, OP_ElementWiseMultiply);
        const bool is_inverse = node_is(n, OP_ElementWiseSubtract) || node_is(n, OP_ElementWiseDivide);
        /* What a quantizer divides by its step has an encoding, which would go. */
        const bool fits = turns || (is_inverse && !node_input(g, n, 0)->quant);
        if (fits && n->n_inputs == 2 && !fold(c, g, &uses, id, 1) && turns)
            (void)fold(c, g, &uses, id, 0);
    }
    return ODLC_OK;
}
