/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of functions of one operand, as graphs that were differentiated have them: g, the gradient of the result,
 * becomes that of the operand. Those of later operators take the operand x, others the function's result y. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* Both operands, which have one shape. */
static odlc_status operands(const struct lower *l, const char *names[2], tensor_id *first, tensor_id *second)
{
    TRY(lower_need(l, 0, names[0], first));
    TRY(lower_need(l, 1, names[1], second));
    const struct shape *a = &build_type(l->b, *first)->shape, *b = &build_type(l->b, *second)->shape;
    if (!shape_equal(a, b))
        return lower_invalid(l, NULL, NULL, "the operands %s and %s differ in shape", shape_text(l->diags->arena, a),
                             shape_text(l->diags->arena, b));
    return ODLC_OK;
}

static odlc_status gradients_and_features(const struct lower *l, tensor_id *g, tensor_id *x)
{
    return operands(l, (const char *[]){"gradients", "features"}, g, x);
}

static odlc_status result_and_gradients(const struct lower *l, tensor_id *y, tensor_id *g)
{
    return operands(l, (const char *[]){"y", "dy"}, y, g);
}

static tensor_id is_positive(struct emit *s, tensor_id x)
{
    return emit_binary(s, OP_ElementWiseGreater, x, emit_scalar(s, x, 0));
}

/* g · 1 where the condition holds, and g · 0, which is none of a gradient that is not finite. */
static odlc_status end_counted(struct emit *s, tensor_id g, tensor_id condition)
{
    TRY(s->status);
    tensor_id factor = emit_cast(s, condition, build_type(s->l->b, g)->dtype);
    return emit_end_binary(s, OP_ElementWiseMultiply, g, factor);
}

odlc_status tf_relu_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id g, x;
    TRY(gradients_and_features(l, &g, &x));
    return end_counted(&s, g, is_positive(&s, x));
}

odlc_status tf_relu6_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id g, x;
    TRY(gradients_and_features(l, &g, &x));
    tensor_id above = is_positive(&s, x), below = emit_binary(&s, OP_ElementWiseLess, x, emit_scalar(&s, x, 6));
    return end_counted(&s, g, emit_binary(&s, OP_ElementWiseAnd, above, below));
}

odlc_status tf_leaky_relu_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id g, x;
    double alpha;
    TRY(gradients_and_features(l, &g, &x));
    TRY(lower_attr_float(l, "alpha", (double)0.2f, &alpha));
    tensor_id above = is_positive(&s, x);
    return emit_end_select(&s, above, g, emit_binary(&s, OP_ElementWiseMultiply, g, emit_scalar(&s, g, alpha)));
}

/* Elu and Selu are scale · alpha · (eˣ − 1) below 0, of which result + scale · alpha is the slope. */
static odlc_status exponential_grad(struct lower *l, double scale, double scale_alpha)
{
    struct emit s = {.l = l};
    tensor_id g, y;
    TRY(operands(l, (const char *[]){"gradients", "outputs"}, &g, &y));
    tensor_id below = emit_binary(&s, OP_ElementWiseLess, y, emit_scalar(&s, y, 0));
    tensor_id slope = emit_binary(&s, OP_ElementWiseAdd, y, emit_scalar(&s, y, scale_alpha));
    tensor_id steep = emit_binary(&s, OP_ElementWiseMultiply, slope, g);
    return emit_end_select(&s, below, steep, emit_binary(&s, OP_ElementWiseMultiply, g, emit_scalar(&s, g, scale)));
}

odlc_status tf_elu_grad(struct lower *l)
{
    return exponential_grad(l, 1, 1);
}

odlc_status tf_selu_grad(struct lower *l)
{
    return exponential_grad(l, 1.0507009873554805, 1.7580993408473769);
}

/* g / (1 + e⁻ˣ) */
odlc_status tf_softplus_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id g, x;
    TRY(gradients_and_features(l, &g, &x));
    tensor_id power = emit_unary(&s, OP_ElementWiseExp, emit_unary(&s, OP_ElementWiseNeg, x));
    tensor_id divisor = emit_binary(&s, OP_ElementWiseAdd, power, emit_scalar(&s, x, 1));
    return emit_end_binary(&s, OP_ElementWiseDivide, g, divisor);
}

/* g / (1 + |x|)² */
odlc_status tf_softsign_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id g, x;
    TRY(gradients_and_features(l, &g, &x));
    tensor_id size = emit_unary(&s, OP_ElementWiseAbs, x);
    tensor_id divisor = emit_binary(&s, OP_ElementWiseAdd, size, emit_scalar(&s, x, 1));
    return emit_end_binary(&s, OP_ElementWiseDivide, g, emit_binary(&s, OP_ElementWiseMultiply, divisor, divisor));
}

/* g · (1 − y²) */
odlc_status tf_tanh_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id y, g;
    TRY(result_and_gradients(l, &y, &g));
    tensor_id one = emit_scalar(&s, y, 1), square = emit_binary(&s, OP_ElementWiseMultiply, y, y);
    return emit_end_binary(&s, OP_ElementWiseMultiply, g, emit_binary(&s, OP_ElementWiseSubtract, one, square));
}

/* g · y · (1 − y) */
odlc_status tf_sigmoid_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id y, g;
    TRY(result_and_gradients(l, &y, &g));
    tensor_id rest = emit_binary(&s, OP_ElementWiseSubtract, emit_scalar(&s, y, 1), y);
    return emit_end_binary(&s, OP_ElementWiseMultiply, emit_binary(&s, OP_ElementWiseMultiply, g, y), rest);
}

/* A gradient of 0 stays one, whatever the slope is. */
static odlc_status end_unless_zero(struct emit *s, tensor_id g, tensor_id product)
{
    tensor_id zero = emit_scalar(s, g, 0);
    return emit_end_select(s, emit_binary(s, OP_ElementWiseEqual, g, zero), zero, product);
}

/* g / 2y */
odlc_status tf_sqrt_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id y, g;
    TRY(result_and_gradients(l, &y, &g));
    tensor_id half = emit_binary(&s, OP_ElementWiseMultiply, g, emit_scalar(&s, g, 0.5));
    return end_unless_zero(&s, g, emit_binary(&s, OP_ElementWiseDivide, half, y));
}

/* −g · y³ / 2 */
odlc_status tf_rsqrt_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id y, g;
    TRY(result_and_gradients(l, &y, &g));
    tensor_id half = emit_binary(&s, OP_ElementWiseMultiply, g, emit_scalar(&s, g, -0.5));
    tensor_id cube = emit_binary(&s, OP_ElementWiseMultiply, emit_binary(&s, OP_ElementWiseMultiply, y, y), y);
    return end_unless_zero(&s, g, emit_binary(&s, OP_ElementWiseMultiply, half, cube));
}

/* −g · y² */
odlc_status tf_reciprocal_grad(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id y, g;
    TRY(result_and_gradients(l, &y, &g));
    tensor_id square = emit_binary(&s, OP_ElementWiseMultiply, y, y);
    return end_unless_zero(&s, g,
                           emit_binary(&s, OP_ElementWiseMultiply, emit_unary(&s, OP_ElementWiseNeg, g), square));
}

/* The sum of a gradient over all axes but that of channels, the last one or the second. */
odlc_status tf_bias_add_grad(struct lower *l)
{
    static const struct choice formats[] = {{"NHWC", 0}, {"NCHW", 1}, {"NDHWC", 0}, {"NCDHW", 1}};
    struct emit s = {.l = l};
    int64_t axes[MAX_RANK];
    tensor_id g;
    int first;
    uint32_t count = 0;
    TRY(lower_need(l, 0, "out_backprop", &g));
    TRY(lower_choose(l, "data_format", "NHWC", formats, COUNT_OF(formats), &first));
    uint32_t rank = build_rank(l->b, g);
    if (rank < 2)
        return lower_invalid(l, NULL, NULL, "an input of rank %u has no axis of channels and one more", rank);
    for (uint32_t i = 0; i < rank; i++)
        if (i != (first ? 1 : rank - 1))
            axes[count++] = i;
    return emit_give(&s, 0, emit_reduce(&s, OP_ReduceSum, g, axes, count, false));
}
