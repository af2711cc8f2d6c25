/* SPDX-License-Identifier: Apache-2.0 */
#include "planted.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "op/axes.h"
#include "op/op.h"
#include "random_graph.h"

#define PARTS_MAX 4

struct writer {
    struct build b;
    uint64_t state;
    int place, fault;
    unsigned n_names;
    tensor_id x;
    tensor_id shown; /* the step that is a graph output, too, or that a node outside reads; or NO_TENSOR */
    uint32_t axes;   /* of a norm or a softmax, a mask */
    bool drops;      /* reductions drop their axes */
    bool wide;       /* the result of a rearrangement is the image with fewer channels */
    bool lone;       /* no reduction can have other axes: the operator may, or shapes would not fit */
};

/* ---- random parts ---- */

static uint32_t below(struct writer *w, uint32_t count)
{
    return random_below(&w->state, count);
}

static double between(struct writer *w, double low, double high)
{
    return low + (high - low) * (double)below(w, 1 << 20) / (1 << 20);
}

static const struct shape *shape_of(const struct writer *w, tensor_id t)
{
    return &build_type(&w->b, t)->shape;
}

/* Whether the fault is at the place that is reached. */
static bool faulty(struct writer *w)
{
    return w->place++ == w->fault;
}

static const char *fresh(struct writer *w, const char *what)
{
    return arena_printf(w->b.graph->arena, "%s%u", what, w->n_names++);
}

/* A number of one element, of any rank that changes no shape. */
static tensor_id any_number(struct writer *w, double value)
{
    struct shape shape = {.rank = below(w, shape_of(w, w->x)->rank < 2 ? shape_of(w, w->x)->rank + 1 : 3)};
    const float element = (float)value;
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = 1;
    return build_const_floats(&w->b, fresh(w, "number"), &shape, &element);
}

/* One that the operator has: with a fault it is another one. */
static tensor_id number(struct writer *w, double value)
{
    return any_number(w, faulty(w) ? value * 1.01 + 0.001 : value);
}

static tensor_id weights(struct writer *w, const struct shape *shape)
{
    const uint64_t count = shape_count(shape);
    float *values = arena_array(w->b.graph->arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)between(w, 0.5, 2);
    return build_const_floats(&w->b, fresh(w, "weights"), shape, values);
}

/* ---- steps ---- */

static tensor_id end(struct writer *w)
{
    tensor_id out;
    odlc_status status = build_end(&w->b, fresh(w, "step"), &out);
    const struct diags *d = w->b.diags;
    ck_assert_msg(status == ODLC_OK, "a plant is refused: %s", d->list.count ? d->list.data[0].message : "");
    return out;
}

/* A step that can be seen from outside. */
static tensor_id end_inner(struct writer *w)
{
    tensor_id out = end(w);
    if (faulty(w))
        w->shown = out;
    return out;
}

static tensor_id unary(struct writer *w, enum op_id op, tensor_id x)
{
    build_op(&w->b, op, fresh(w, "node"));
    build_in(&w->b, x);
    return end_inner(w);
}

static void begin_binary(struct writer *w, enum op_id op, tensor_id x, tensor_id y)
{
    build_op(&w->b, op, fresh(w, "node"));
    build_in(&w->b, x);
    build_in(&w->b, y);
}

static tensor_id binary(struct writer *w, enum op_id op, tensor_id x, tensor_id y)
{
    begin_binary(w, op, x, y);
    return end_inner(w);
}

/* Operands in either order. */
static void begin_symmetric(struct writer *w, enum op_id op, tensor_id x, tensor_id y)
{
    if (below(w, 2))
        begin_binary(w, op, x, y);
    else
        begin_binary(w, op, y, x);
}

static tensor_id symmetric(struct writer *w, enum op_id op, tensor_id x, tensor_id y)
{
    begin_symmetric(w, op, x, y);
    return end_inner(w);
}

/* The result of all parts, in any order; the last step is not an inner one. */
static tensor_id combined(struct writer *w, enum op_id op, tensor_id *parts, uint32_t count)
{
    while (count > 2) {
        uint32_t i = below(w, count), j = below(w, count - 1);
        j += j >= i;
        parts[i] = symmetric(w, op, parts[i], parts[j]);
        parts[j] = parts[--count];
    }
    begin_symmetric(w, op, parts[0], parts[1]);
    return end(w);
}

static tensor_id product(struct writer *w, tensor_id *factors, uint32_t count)
{
    return combined(w, OP_ElementWiseMultiply, factors, count);
}

static tensor_id sum(struct writer *w, tensor_id *terms, uint32_t count)
{
    return combined(w, OP_ElementWiseAdd, terms, count);
}

/* Where the constant may be taken away as well: x + 3 as x - -3. */
static tensor_id shifted(struct writer *w, tensor_id x, double by, bool fixed)
{
    const bool subtracts = below(w, 3) == 0;
    const double value = subtracts ? -by : by;
    const tensor_id constant = fixed ? number(w, value) : any_number(w, value);
    return subtracts ? binary(w, OP_ElementWiseSubtract, x, constant) : symmetric(w, OP_ElementWiseAdd, x, constant);
}

static tensor_id square(struct writer *w, tensor_id x)
{
    return below(w, 2) ? binary(w, OP_ElementWiseMultiply, x, x) : binary(w, OP_ElementWisePower, x, number(w, 2));
}

static tensor_id root(struct writer *w, tensor_id x)
{
    return below(w, 2) ? unary(w, OP_ElementWiseSquareRoot, x) : binary(w, OP_ElementWisePower, x, number(w, 0.5));
}

static tensor_id inverse_root(struct writer *w, tensor_id x)
{
    switch (below(w, 4)) {
    case 0:
        return unary(w, OP_ElementWiseRsqrt, x);
    case 1:
        return unary(w, OP_ElementWiseReciprocal, root(w, x));
    case 2:
        return binary(w, OP_ElementWiseDivide, number(w, 1), root(w, x));
    default:
        return binary(w, OP_ElementWisePower, x, number(w, -0.5));
    }
}

/* x, multiplied by 1 / √n. */
static tensor_id over_root(struct writer *w, tensor_id x, tensor_id n)
{
    if (below(w, 2))
        return binary(w, OP_ElementWiseDivide, x, root(w, n));
    return symmetric(w, OP_ElementWiseMultiply, x, inverse_root(w, n));
}

/* The axes but one, or with one more. */
static uint32_t other_axes(struct writer *w, uint32_t rank)
{
    const uint32_t mask = w->axes ^ 1u << below(w, rank);
    return mask ? mask : w->axes == 1 ? 2 : 1;
}

static tensor_id reduced(struct writer *w, enum op_id op, tensor_id x)
{
    const uint32_t rank = shape_of(w, x)->rank,
                   mask = rank > 1 && !w->lone && faulty(w) ? other_axes(w, rank) : w->axes;
    int64_t axes[MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank; i++)
        if (mask >> i & 1)
            axes[count++] = i;
    build_op(&w->b, op, fresh(w, "node"));
    build_in(&w->b, x);
    build_ints(&w->b, PARAM_axes, axes, count);
    build_int(&w->b, PARAM_keep_dims, !w->drops);
    return end_inner(w);
}

static tensor_id clamped(struct writer *w, tensor_id x, double low, double high)
{
    build_op(&w->b, OP_ReluMinMax, fresh(w, "node"));
    build_in(&w->b, x);
    build_float(&w->b, PARAM_min_value, faulty(w) ? low - 0.5 : low);
    build_float(&w->b, PARAM_max_value, faulty(w) ? high + 0.5 : high);
    return end_inner(w);
}

static tensor_id selected(struct writer *w, tensor_id condition, tensor_id yes, tensor_id no)
{
    build_op(&w->b, OP_ElementWiseSelect, fresh(w, "node"));
    build_in(&w->b, condition);
    build_in(&w->b, yes);
    build_in(&w->b, no);
    return end_inner(w);
}

/* ---- activations ---- */

/* As lowering spells it. */
static tensor_id error_function(struct writer *w, tensor_id x)
{
    const tensor_id zero = any_number(w, 0), one = any_number(w, 1);
    const tensor_id z = binary(w, OP_ElementWiseMultiply, clamped(w, x, -6, 6), number(w, M_SQRT2));
    const tensor_id is_zero = binary(w, OP_ElementWiseEqual, z, zero);
    const tensor_id gelu = unary(w, OP_Gelu, z);
    const tensor_id phi = binary(w, OP_ElementWiseDivide, gelu, selected(w, is_zero, one, z));
    const tensor_id twice = binary(w, OP_ElementWiseMultiply, phi, number(w, 2));
    return selected(w, is_zero, zero, binary(w, OP_ElementWiseSubtract, twice, one));
}

static tensor_id write_gelu(struct writer *w)
{
    const tensor_id x = w->x;
    const tensor_id scaled = below(w, 2) ? binary(w, OP_ElementWiseDivide, x, number(w, M_SQRT2))
                                         : symmetric(w, OP_ElementWiseMultiply, x, number(w, M_SQRT1_2));
    const tensor_id error = error_function(w, scaled);
    if (below(w, 3) == 0) {
        const tensor_id half = symmetric(w, OP_ElementWiseMultiply, error, number(w, 0.5));
        tensor_id factors[] = {x, shifted(w, half, 0.5, true)};
        return product(w, factors, 2);
    }
    tensor_id factors[] = {x, shifted(w, error, 1, true), number(w, 0.5)};
    return product(w, factors, 3);
}

static tensor_id clamped_to_6(struct writer *w, tensor_id x)
{
    return below(w, 2) ? unary(w, OP_Relu6, x) : clamped(w, x, 0, 6);
}

static tensor_id write_hard_swish(struct writer *w)
{
    if (below(w, 3) == 0) {
        build_op(&w->b, OP_HardSigmoid, fresh(w, "node"));
        build_in(&w->b, w->x);
        build_float(&w->b, PARAM_alpha, faulty(w) ? 0.2 : 1.0 / 6);
        build_float(&w->b, PARAM_beta, faulty(w) ? 0.4 : 0.5);
        tensor_id factors[] = {w->x, end_inner(w)};
        return product(w, factors, 2);
    }
    tensor_id factors[] = {w->x, clamped_to_6(w, shifted(w, w->x, 3, true)), number(w, 1.0 / 6)};
    return product(w, factors, 3);
}

static tensor_id write_hard_sigmoid(struct writer *w)
{
    if (below(w, 2)) {
        const tensor_id clamp = clamped_to_6(w, shifted(w, w->x, 3, true));
        begin_binary(w, OP_ElementWiseDivide, clamp, number(w, 6));
        return end(w);
    }
    const tensor_id y = shifted(w, symmetric(w, OP_ElementWiseMultiply, w->x, any_number(w, between(w, 0.1, 0.9))),
                                between(w, 0.1, 0.9), false);
    build_op(&w->b, OP_ReluMinMax, fresh(w, "node"));
    build_in(&w->b, y);
    build_float(&w->b, PARAM_min_value, faulty(w) ? -0.25 : 0);
    build_float(&w->b, PARAM_max_value, faulty(w) ? 1.25 : 1);
    return end(w);
}

/* With a fault the bounds exclude each other, or a step is seen. */
static tensor_id write_clamp(struct writer *w)
{
    static const enum op_id ops[] = {OP_ElementWiseMaximum, OP_ElementWiseMinimum};
    const bool crossed = faulty(w), above_first = below(w, 2);
    const double low = between(w, -1, 0), high = between(w, 0.1, 1), bounds[] = {crossed ? 2 : low, high};
    const tensor_id inner = symmetric(w, ops[!above_first], w->x, any_number(w, bounds[!above_first]));
    begin_symmetric(w, ops[above_first], inner, any_number(w, bounds[above_first]));
    return end(w);
}

static tensor_id write_softplus(struct writer *w)
{
    const tensor_id grown = shifted(w, unary(w, OP_ElementWiseExp, w->x), 1, true);
    build_op(&w->b, OP_ElementWiseLog, fresh(w, "node"));
    build_in(&w->b, grown);
    return end(w);
}

/* ---- Prelu ---- */

/* A constant for each place of the last axis, or one for all. */
static tensor_id slope(struct writer *w, double low, double high)
{
    const struct shape *x = shape_of(w, w->x), all = SHAPE(x->dims[x->rank - 1]), one = SHAPE(1);
    const struct shape *shape = below(w, 2) ? &all : &one;
    const uint64_t count = shape_count(shape);
    float *values = arena_array(w->b.graph->arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)between(w, low, high);
    return build_const_floats(&w->b, fresh(w, "slope"), shape, values);
}

/* The other operand of the product is nearly x. */
static tensor_id nearly_x(struct writer *w)
{
    return faulty(w) ? unary(w, OP_ElementWiseAbs, w->x) : w->x;
}

static tensor_id write_prelu(struct writer *w)
{
    const bool minus = below(w, 2), by_extremes = below(w, 2);
    const tensor_id above =
        by_extremes ? binary(w, OP_ElementWiseMaximum, w->x, number(w, 0)) : unary(w, OP_Relu, w->x);
    const tensor_id below_zero = by_extremes ? binary(w, OP_ElementWiseMinimum, nearly_x(w), number(w, 0))
                                             : unary(w, OP_Relu, unary(w, OP_ElementWiseNeg, nearly_x(w)));
    const tensor_id part = symmetric(w, OP_ElementWiseMultiply, below_zero, slope(w, -2, 2));
    begin_binary(w, minus && !by_extremes ? OP_ElementWiseSubtract : OP_ElementWiseAdd, above, part);
    return end(w);
}

static tensor_id write_larger(struct writer *w)
{
    const double most = faulty(w) ? 3 : 1;
    const tensor_id part = symmetric(w, OP_ElementWiseMultiply, nearly_x(w), slope(w, most - 1, most));
    begin_binary(w, OP_ElementWiseMaximum, w->x, part);
    return end(w);
}

/* ---- softmax ---- */

/* x without what all have, or x. */
static tensor_id lowered(struct writer *w)
{
    w->lone = below(w, 2);
    return w->lone ? w->x : binary(w, OP_ElementWiseSubtract, w->x, reduced(w, OP_ReduceMax, w->x));
}

static tensor_id write_softmax(struct writer *w)
{
    w->axes = 1u << below(w, shape_of(w, w->x)->rank);
    const tensor_id e = unary(w, OP_ElementWiseExp, lowered(w)), n = reduced(w, OP_ReduceSum, e);
    if (below(w, 2))
        begin_binary(w, OP_ElementWiseDivide, e, n);
    else
        begin_symmetric(w, OP_ElementWiseMultiply, e, unary(w, OP_ElementWiseReciprocal, n));
    return end(w);
}

/* The logarithm of a sum as ReduceLogSumExp is lowered, and taken from x. */
static tensor_id by_log_sum(struct writer *w, const tensor_id largest)
{
    const tensor_id k = symmetric(w, OP_ElementWiseMaximum, largest, any_number(w, faulty(w) ? -1 : -(double)FLT_MAX));
    const tensor_id e = unary(w, OP_ElementWiseExp, binary(w, OP_ElementWiseSubtract, w->x, k));
    const tensor_id sum = symmetric(w, OP_ElementWiseAdd, unary(w, OP_ElementWiseLog, reduced(w, OP_ReduceSum, e)), k);
    begin_binary(w, OP_ElementWiseSubtract, w->x, sum);
    return end(w);
}

static tensor_id write_log_softmax(struct writer *w)
{
    w->axes = 1u << below(w, shape_of(w, w->x)->rank);
    if (below(w, 2))
        return by_log_sum(w, reduced(w, OP_ReduceMax, w->x));
    const tensor_id d = lowered(w), n = reduced(w, OP_ReduceSum, unary(w, OP_ElementWiseExp, d));
    begin_binary(w, OP_ElementWiseSubtract, d, unary(w, OP_ElementWiseLog, n));
    return end(w);
}

/* ---- norms ---- */

/* The last axes, one or more. */
static void last_axes(struct writer *w)
{
    const uint32_t rank = shape_of(w, w->x)->rank, count = 1 + below(w, rank);
    w->axes = (1u << rank) - (1u << (rank - count));
}

/* The shape of weights along the axes of the mask, with or without ones before and between. */
static tensor_id weights_along(struct writer *w, uint32_t mask)
{
    const struct shape *x = shape_of(w, w->x);
    struct shape shape = {.rank = 0};
    bool begun = below(w, 2);
    for (uint32_t i = 0; i < x->rank; i++) {
        begun = begun || mask >> i & 1;
        if (begun)
            shape.dims[shape.rank++] = mask >> i & 1 ? x->dims[i] : 1;
    }
    return weights(w, &shape);
}

static tensor_id write_l2_norm(struct writer *w)
{
    tensor_id length;
    last_axes(w);
    w->lone = true;
    const tensor_id squares =
        below(w, 3) ? reduced(w, OP_ReduceSum, square(w, w->x)) : reduced(w, OP_ReduceSumSquare, w->x);
    if (below(w, 3) == 0) {
        const tensor_id most = any_number(w, between(w, 0.25, 9)), over = inverse_root(w, squares);
        begin_symmetric(w, OP_ElementWiseMultiply, w->x, symmetric(w, OP_ElementWiseMinimum, over, most));
        return end(w);
    }
    if (below(w, 2))
        length = root(w, symmetric(w, OP_ElementWiseMaximum, squares, any_number(w, between(w, 0.01, 20))));
    else
        length = symmetric(w, OP_ElementWiseMaximum, root(w, squares), any_number(w, between(w, 0.01, 4)));
    begin_binary(w, OP_ElementWiseDivide, w->x, length);
    return end(w);
}

static tensor_id write_rms_norm(struct writer *w)
{
    last_axes(w);
    w->lone = below(w, 2); /* without weights the operator may have any axes */
    const tensor_id mean = reduced(w, OP_ReduceMean, square(w, w->x));
    const tensor_id inverse = inverse_root(w, shifted(w, mean, between(w, 0.01, 1), false));
    const bool weighs_x = below(w, 2);
    tensor_id factors[] = {w->x, inverse};
    if (!w->lone) /* what is not weighted is an RmsNorm already */
        factors[weighs_x] = symmetric(w, OP_ElementWiseMultiply, factors[weighs_x], weights_along(w, w->axes));
    return product(w, factors, 2);
}

static tensor_id variance(struct writer *w, tensor_id mean, tensor_id centered)
{
    const tensor_id squares =
        centered != NO_TENSOR ? square(w, centered) : symmetric(w, OP_ElementWiseSquaredDifference, w->x, mean);
    return reduced(w, OP_ReduceMean, squares);
}

/* Steps of a norm with weights along some axes: one form or the other. */
static tensor_id weighted_norm(struct writer *w, uint32_t mask)
{
    const tensor_id gamma = weights_along(w, mask), beta = weights_along(w, mask);
    const tensor_id mean = reduced(w, OP_ReduceMean, w->x);
    const tensor_id early = below(w, 2) ? binary(w, OP_ElementWiseSubtract, w->x, mean) : NO_TENSOR;
    const tensor_id shifted_variance = shifted(w, variance(w, mean, early), between(w, 0.01, 1), false);
    if (early == NO_TENSOR && below(w, 2)) {
        const tensor_id factor = symmetric(w, OP_ElementWiseMultiply, inverse_root(w, shifted_variance), gamma);
        const tensor_id moved =
            binary(w, OP_ElementWiseSubtract, beta, symmetric(w, OP_ElementWiseMultiply, mean, factor));
        tensor_id terms[] = {symmetric(w, OP_ElementWiseMultiply, w->x, factor), moved};
        return sum(w, terms, 2);
    }
    const tensor_id centered = early != NO_TENSOR ? early : binary(w, OP_ElementWiseSubtract, w->x, mean);
    tensor_id terms[] = {symmetric(w, OP_ElementWiseMultiply, over_root(w, centered, shifted_variance), gamma), beta};
    return sum(w, terms, 2);
}

static tensor_id write_layer_norm(struct writer *w)
{
    last_axes(w);
    return weighted_norm(w, w->axes);
}

static tensor_id write_instance_norm(struct writer *w)
{
    const uint32_t all = (2u << (shape_of(w, w->x)->rank - 1)) - 2, channels = below(w, 2) ? 2 : all & ~(all >> 1);
    w->axes = all & ~channels;
    return weighted_norm(w, channels);
}

static void begin_reshape(struct writer *w, tensor_id x, const struct shape *shape)
{
    const struct shape rank1 = SHAPE(shape->rank);
    build_op(&w->b, OP_Reshape, fresh(w, "node"));
    build_in(&w->b, x);
    build_tensor_ints(&w->b, PARAM_shape, &rank1, shape->dims);
}

static tensor_id reshaped(struct writer *w, tensor_id x, const struct shape *shape)
{
    begin_reshape(w, x, shape);
    return end_inner(w);
}

/* An InstanceNorm of weights 1 and 0, channels-last as lowering has it. */
static tensor_id instance_norm(struct writer *w, tensor_id x)
{
    const struct shape channels = SHAPE(shape_of(w, x)->dims[1]);
    float *ones = arena_array(w->b.graph->arena, float, 2 * (size_t)channels.dims[0]), *zeros = ones + channels.dims[0];
    tensor_id last, first;
    for (int64_t i = 0; i < channels.dims[0]; i++)
        ones[i] = 1;
    ones[0] += faulty(w);
    zeros[0] = faulty(w);
    ck_assert_int_eq(build_to_channels_last(&w->b, x, &last), ODLC_OK);
    build_op(&w->b, OP_InstanceNorm, fresh(w, "node"));
    build_in(&w->b, last);
    build_in(&w->b, build_const_floats(&w->b, fresh(w, "ones"), &channels, ones));
    build_in(&w->b, build_const_floats(&w->b, fresh(w, "zeros"), &channels, zeros));
    build_float(&w->b, PARAM_epsilon, between(w, 0.01, 1));
    ck_assert_int_eq(build_to_channels_first(&w->b, end_inner(w), fresh(w, "first"), &first), ODLC_OK);
    return first;
}

static tensor_id write_group_norm(struct writer *w)
{
    const struct shape x = *shape_of(w, w->x);
    const int64_t groups = x.dims[1] % 2 ? x.dims[1] : x.dims[1] / 2;
    const struct shape grouped = SHAPE(x.dims[0], groups, (int64_t)shape_count(&x) / x.dims[0] / groups);
    const tensor_id normal = instance_norm(w, reshaped(w, w->x, &grouped));
    const uint32_t n_weights = below(w, 3);
    begin_reshape(w, normal, &x);
    if (n_weights == 0)
        return end(w);
    const tensor_id back = end_inner(w);
    tensor_id parts[] = {back, weights_along(w, 2)};
    if (n_weights == 1)
        return product(w, parts, 2);
    tensor_id terms[] = {symmetric(w, OP_ElementWiseMultiply, parts[0], parts[1]), weights_along(w, 2)};
    return sum(w, terms, 2);
}

/* The sum times a number, along axes that are dropped. */
static tensor_id mean_by_sum(struct writer *w, tensor_id x)
{
    const struct shape kept = reduced_shape(shape_of(w, x), w->axes, false);
    const double count = (double)(shape_count(shape_of(w, x)) / shape_count(&kept));
    return symmetric(w, OP_ElementWiseMultiply, reduced(w, OP_ReduceSum, x), number(w, 1 / count));
}

/* The axes come back as ones, with or without a bound that is none. */
static tensor_id write_largest(struct writer *w)
{
    const struct shape *x = shape_of(w, w->x);
    w->axes = 1 + below(w, (1u << x->rank) - 1);
    w->drops = w->lone = true;
    const struct shape kept = reduced_shape(x, w->axes, true);
    tensor_id largest = reduced(w, OP_ReduceMax, w->x);
    if (below(w, 2))
        largest = symmetric(w, OP_ElementWiseMaximum, largest, any_number(w, faulty(w) ? -1 : -(double)INFINITY));
    begin_reshape(w, largest, &kept);
    return end(w);
}

/* The variance is the mean of squares less the square of the mean. */
static tensor_id write_norm_by_moments(struct writer *w)
{
    last_axes(w);
    w->drops = w->lone = true;
    const struct shape kept = reduced_shape(shape_of(w, w->x), w->axes, true);
    const tensor_id gamma = weights_along(w, w->axes), beta = weights_along(w, w->axes);
    const tensor_id mean = mean_by_sum(w, w->x), squares = mean_by_sum(w, square(w, w->x));
    const tensor_id difference = binary(w, OP_ElementWiseSubtract, squares, square(w, mean));
    const tensor_id clamp = symmetric(w, OP_ElementWiseMaximum, difference, number(w, 0));
    const tensor_id variance = shifted(w, reshaped(w, clamp, &kept), between(w, 0.01, 1), false);
    const tensor_id centered = binary(w, OP_ElementWiseSubtract, w->x, reshaped(w, mean, &kept));
    tensor_id terms[] = {symmetric(w, OP_ElementWiseMultiply, over_root(w, centered, variance), gamma), beta};
    return sum(w, terms, 2);
}

/* ---- padding ---- */

/* x with rows and columns of a number around; with a fault of another number, or channels of them. */
static tensor_id padded(struct writer *w, double value, double other)
{
    const struct shape pairs = SHAPE(4, 2);
    int64_t amounts[8] = {0};
    for (int i = 2; i < 6; i++)
        amounts[i] = below(w, 2);
    amounts[2 + below(w, 4)] = 1;
    build_op(&w->b, OP_Pad, fresh(w, "node"));
    build_in(&w->b, w->x);
    build_int(&w->b, PARAM_scheme, 0);
    build_float(&w->b, PARAM_pad_constant_value, faulty(w) ? other : value);
    amounts[7] = isfinite(value) && faulty(w); /* infinities cannot be told apart */
    build_tensor_ints(&w->b, PARAM_pad_amount, &pairs, amounts);
    return end_inner(w);
}

static void windows(struct writer *w, bool pads)
{
    const struct shape pairs = SHAPE(2, 2);
    const int64_t own[] = {pads && below(w, 2), 0, 0, pads && below(w, 2)},
                  stride[] = {1 + below(w, 2), 1 + below(w, 2)};
    build_ints(&w->b, PARAM_stride, stride, 2);
    build_tensor_ints(&w->b, PARAM_pad_amount, &pairs, own);
}

static tensor_id pooled(struct writer *w, enum op_id op, tensor_id x)
{
    const int64_t filter[] = {2, 2};
    build_op(&w->b, op, fresh(w, "node"));
    build_in(&w->b, x);
    build_ints(&w->b, PARAM_filter_size, filter, 2);
    windows(w, op == OP_PoolAvg2d);
    if (op == OP_PoolAvg2d)
        build_int(&w->b, PARAM_count_pad_for_edges, 1);
    return end(w);
}

static tensor_id write_padded_average(struct writer *w)
{
    return pooled(w, OP_PoolAvg2d, padded(w, 0, 0.5));
}

static tensor_id write_padded_largest(struct writer *w)
{
    return pooled(w, OP_PoolMax2d, padded(w, -INFINITY, 0));
}

static tensor_id write_padded_layer(struct writer *w)
{
    const tensor_id x = padded(w, 0, 0.5);
    const struct shape shape = SHAPE(2, 2, shape_of(w, x)->dims[3], 1 + below(w, 3));
    const tensor_id filter = weights(w, &shape);
    build_op(&w->b, OP_Conv2d, fresh(w, "node"));
    build_in(&w->b, x);
    build_in(&w->b, filter);
    windows(w, true);
    return end(w);
}

/* ---- rearrangements ---- */

/* x in the shape of parts, transposed, in the shape `to`. */
static tensor_id rearranged(struct writer *w, const struct shape *parts, const int64_t *perm, const struct shape *to)
{
    const tensor_id split = reshaped(w, w->x, parts);
    build_op(&w->b, OP_Transpose, fresh(w, "node"));
    build_in(&w->b, split);
    build_ints(&w->b, PARAM_perm, perm, parts->rank);
    begin_reshape(w, end_inner(w), to);
    return end(w);
}

static tensor_id write_shuffle(struct writer *w)
{
    const struct shape x = *shape_of(w, w->x);
    const uint32_t axis = below(w, x.rank);
    const int64_t groups = 2 + 2 * below(w, 2);
    const bool swaps = !faulty(w);
    struct shape parts = {.rank = x.rank + 1};
    int64_t perm[MAX_RANK];
    for (uint32_t i = 0; i < parts.rank; i++) {
        parts.dims[i] = x.dims[i > axis ? i - 1 : i];
        perm[i] = i;
    }
    parts.dims[axis] = groups;
    parts.dims[axis + 1] /= groups;
    perm[axis] += swaps;
    perm[axis + 1] -= swaps;
    return rearranged(w, &parts, perm, &x);
}

enum { BLOCK_PARTS = 6 };

/* Axes as ONNX and TensorFlow define the operators: DCR and CRD, channels second and last. */
static tensor_id write_blocks(struct writer *w, const struct shape *parts, const int64_t defined[BLOCK_PARTS],
                              bool channels_last)
{
    int64_t perm[BLOCK_PARTS], dims[BLOCK_PARTS];
    memcpy(perm, defined, sizeof perm);
    if (faulty(w)) { /* two parts that are none of batch, height or the first channels, the other way round */
        perm[4] = defined[5];
        perm[5] = defined[4];
    }
    for (int i = 0; i < BLOCK_PARTS; i++)
        dims[i] = parts->dims[defined[i]];
    const struct shape wide = channels_last ? SHAPE(dims[0], dims[1] * dims[2], dims[3] * dims[4], dims[5])
                                            : SHAPE(dims[0], dims[1], dims[2] * dims[3], dims[4] * dims[5]);
    const struct shape deep = channels_last ? SHAPE(dims[0], dims[1], dims[2], dims[3] * dims[4] * dims[5])
                                            : SHAPE(dims[0], dims[1] * dims[2] * dims[3], dims[4], dims[5]);
    return rearranged(w, parts, perm, w->wide ? &wide : &deep);
}

static tensor_id write_depth_to_space(struct writer *w)
{
    static const int64_t first[][BLOCK_PARTS] = {{0, 3, 4, 1, 5, 2}, {0, 1, 4, 2, 5, 3}};
    static const int64_t last[][BLOCK_PARTS] = {{0, 1, 3, 2, 4, 5}, {0, 1, 4, 2, 5, 3}};
    const int64_t *x = shape_of(w, w->x)->dims;
    const bool channels_last = below(w, 2), crd = below(w, 2);
    w->wide = true;
    if (channels_last) {
        const struct shape parts =
            crd ? SHAPE(x[0], x[1], x[2], x[3] / 4, 2, 2) : SHAPE(x[0], x[1], x[2], 2, 2, x[3] / 4);
        return write_blocks(w, &parts, last[crd], true);
    }
    const struct shape parts = crd ? SHAPE(x[0], x[1] / 4, 2, 2, x[2], x[3]) : SHAPE(x[0], 2, 2, x[1] / 4, x[2], x[3]);
    return write_blocks(w, &parts, first[crd], false);
}

static tensor_id write_space_to_depth(struct writer *w)
{
    static const int64_t first[][BLOCK_PARTS] = {{0, 3, 5, 1, 2, 4}, {0, 1, 3, 5, 2, 4}};
    static const int64_t last[][BLOCK_PARTS] = {{0, 1, 3, 2, 4, 5}, {0, 1, 3, 5, 2, 4}};
    const int64_t *x = shape_of(w, w->x)->dims, rows = 2 + 2 * below(w, 2), columns = 2 + 2 * below(w, 2);
    const bool channels_last = below(w, 2), crd = below(w, 2);
    const struct shape parts = channels_last ? SHAPE(x[0], x[1] / rows, rows, x[2] / columns, columns, x[3])
                                             : SHAPE(x[0], x[1], x[2] / rows, rows, x[3] / columns, columns);
    return write_blocks(w, &parts, (channels_last ? last : first)[crd], channels_last);
}

/* ---- kinds ---- */

static const struct {
    const char *pass;
    enum op_id op;
    uint32_t min_rank;
    tensor_id (*write)(struct writer *w);
    int64_t multiple; /* of which extents are */
} kinds[] = {
    {"fuse_reduction", OP_ReduceMax, 1, write_largest, 1},
    {"fuse_gelu", OP_Gelu, 1, write_gelu, 1},
    {"fuse_clamp", OP_ReluMinMax, 1, write_clamp, 1},
    {"fuse_hard_swish", OP_HardSwish, 1, write_hard_swish, 1},
    {"fuse_hard_sigmoid", OP_HardSigmoid, 1, write_hard_sigmoid, 1},
    {"fuse_softplus", OP_ElementWiseSoftplus, 1, write_softplus, 1},
    {"fuse_prelu", OP_Prelu, 1, write_prelu, 1},
    {"fuse_prelu", OP_Prelu, 1, write_larger, 1},
    {"fuse_softmax", OP_Softmax, 1, write_softmax, 1},
    {"fuse_softmax", OP_LogSoftmax, 1, write_log_softmax, 1},
    {"fuse_l2_norm", OP_L2Norm, 1, write_l2_norm, 1},
    {"fuse_rms_norm", OP_RmsNorm, 1, write_rms_norm, 1},
    {"fuse_layer_norm", OP_LayerNorm, 1, write_layer_norm, 1},
    {"fuse_layer_norm", OP_LayerNorm, 1, write_norm_by_moments, 1},
    {"fuse_layer_norm", OP_InstanceNorm, 3, write_instance_norm, 1},
    {"fuse_group_norm", OP_GroupNorm, 2, write_group_norm, 1},
    {"fuse_rearrangement", OP_ChannelShuffle, 1, write_shuffle, 4},
    {"fuse_rearrangement", OP_DepthToSpace, 4, write_depth_to_space, 4},
    {"fuse_rearrangement", OP_SpaceToDepth, 4, write_space_to_depth, 4},
    {"fuse_pad", OP_PoolAvg2d, 4, write_padded_average, 1},
    {"fuse_pad", OP_PoolMax2d, 4, write_padded_largest, 1},
    {"fuse_pad", OP_Conv2d, 4, write_padded_layer, 1},
};

size_t plant_kinds(void)
{
    return COUNT_OF(kinds);
}

static void add_output(struct graph *g, tensor_id t)
{
    graph_tensor(g, t)->kind = TENSOR_OUTPUT;
    vec_push(g->arena, &g->outputs, t);
}

struct planted plant(struct arena *arena, struct diags *diags, size_t kind, uint64_t seed, int fault)
{
    struct graph *g = graph_create(arena, "planted");
    struct writer w = {.state = seed, .fault = fault, .shown = NO_TENSOR};
    struct type type = {.dtype = DT_FLOAT32};
    build_init(&w.b, g, diags);
    type.shape.rank = kinds[kind].min_rank + below(&w, 5 - kinds[kind].min_rank);
    for (uint32_t i = 0; i < type.shape.rank; i++)
        type.shape.dims[i] = (2 + below(&w, 4)) * kinds[kind].multiple;
    w.x = graph_add_tensor(g, "x", TENSOR_INPUT, &type);
    vec_push(arena, &g->inputs, w.x);
    const tensor_id result = kinds[kind].write(&w);
    build_op(&w.b, OP_ElementWiseAbs, "last");
    build_in(&w.b, result);
    add_output(g, end(&w));
    const bool is_read = w.shown < result && graph_tensor(g, w.shown)->type->dtype == DT_FLOAT32 && below(&w, 2);
    if (is_read) { /* a node outside shows the step, which is another than the result */
        build_op(&w.b, OP_ElementWiseAbs, "reader");
        build_in(&w.b, w.shown);
        w.shown = end(&w);
    }
    if (w.shown != NO_TENSOR)
        add_output(g, w.shown);
    return (struct planted){kinds[kind].pass, kinds[kind].op, is_read, g, w.place};
}
