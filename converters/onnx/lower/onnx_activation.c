/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX activation functions. */
#include <float.h>
#include <math.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

/* ---- Clip ---- */

/* The bounds as constants where they are given; absent ones stay open. False when one is not known at conversion. */
static odlc_status constant_bound(struct lower *l, uint32_t i, const char *name, double *bound, bool *known)
{
    tensor_id id = lower_in(l, i);
    if (id == NO_TENSOR)
        return ODLC_OK;
    uint64_t count = shape_count(&build_type(l->b, id)->shape);
    if (count != 1)
        return lower_invalid(l, NULL, NULL, "input %u (%s) is not one value", i, name);
    const double *value = build_const_as_floats(l->b, id, &count);
    *known = *known && value;
    if (value)
        *bound = value[0];
    return ODLC_OK;
}

static odlc_status relu_min_max(struct lower *l, tensor_id x, double min, double max)
{
    build_op(l->b, OP_ReluMinMax, fw_node_label(l->node));
    build_in(l->b, x);
    build_float(l->b, PARAM_min_value, min);
    build_float(l->b, PARAM_max_value, max);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* Bounds that are computed in the graph, or integers, which a float param need not hold. */
static odlc_status clip_by_operands(struct lower *l, tensor_id x)
{
    struct emit s = {.l = l};
    tensor_id min = lower_in(l, 1), max = lower_in(l, 2);
    if (min != NO_TENSOR && max == NO_TENSOR)
        return emit_end_binary(&s, OP_ElementWiseMaximum, x, min);
    if (min != NO_TENSOR)
        x = emit_binary(&s, OP_ElementWiseMaximum, x, min);
    if (max != NO_TENSOR)
        return emit_end_binary(&s, OP_ElementWiseMinimum, x, max);
    l->out[0] = x;
    return s.status;
}

odlc_status lower_clip(struct lower *l)
{
    tensor_id x;
    double min = -FLT_MAX, max = FLT_MAX;
    TRY(lower_need(l, 0, "input", &x));
    if (l->version < 11) {
        TRY(lower_attr_float(l, "min", min, &min));
        TRY(lower_attr_float(l, "max", max, &max));
        return relu_min_max(l, x, min, max);
    }
    bool known = true;
    TRY(constant_bound(l, 1, "min", &min, &known));
    TRY(constant_bound(l, 2, "max", &max, &known));
    bool is_open = lower_in(l, 1) == NO_TENSOR && lower_in(l, 2) == NO_TENSOR;
    if (known && !is_open && dtype_is_float(build_type(l->b, x)->dtype))
        return relu_min_max(l, x, min, max);
    return clip_by_operands(l, x);
}

/* ---- Neuron ops with params ---- */

odlc_status lower_elu(struct lower *l)
{
    tensor_id x;
    double alpha;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_float(l, "alpha", 1, &alpha));
    build_op(l->b, OP_Elu, fw_node_label(l->node));
    build_in(l->b, x);
    build_float(l->b, PARAM_alpha, alpha);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_hard_sigmoid(struct lower *l)
{
    tensor_id x;
    double alpha, beta;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_float(l, "alpha", (double)0.2f, &alpha));
    TRY(lower_attr_float(l, "beta", 0.5, &beta));
    build_op(l->b, OP_HardSigmoid, fw_node_label(l->node));
    build_in(l->b, x);
    build_float(l->b, PARAM_alpha, alpha);
    build_float(l->b, PARAM_beta, beta);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Prelu ---- */

odlc_status lower_leaky_relu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double alpha;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_float(l, "alpha", (double)0.01f, &alpha));
    return emit_end_binary(&s, OP_Prelu, x, emit_scalar(&s, x, alpha));
}

/* Before opset 7 a slope with more than one element counts channels, which are axis 1. */
odlc_status lower_prelu(struct lower *l)
{
    tensor_id x, slope;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_need(l, 1, "slope", &slope));
    struct shape shape = build_type(l->b, slope)->shape;
    if (l->version < 7 && shape.rank == 1 && shape.dims[0] != 1) {
        while (shape.rank + 1 < build_rank(l->b, x))
            shape.dims[shape.rank++] = 1;
        TRY(build_reshape(l->b, slope, &shape, step_name(l, "slope"), &slope));
    }
    return emit_end_binary(&(struct emit){.l = l}, OP_Prelu, x, slope);
}

/* ---- formulas ---- */

/* gamma · Elu(x) */
odlc_status lower_selu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double alpha, gamma;
    TRY(lower_need(l, 0, "X", &x));
    bool exact = l->version >= 6;
    TRY(lower_attr_float(l, "alpha", exact ? 1.67326319217681884765625 : (double)1.6732f, &alpha));
    TRY(lower_attr_float(l, "gamma", exact ? 1.05070102214813232421875 : (double)1.0507f, &gamma));
    tensor_id elu = emit_elu(&s, x, alpha);
    return emit_end_binary(&s, OP_ElementWiseMultiply, elu, emit_scalar(&s, x, gamma));
}

/* alpha · Elu(x / alpha) */
odlc_status lower_celu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double alpha;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_float(l, "alpha", 1, &alpha));
    if (alpha == 0)
        return lower_invalid(l, "alpha", NULL, "alpha is 0");
    tensor_id factor = emit_scalar(&s, x, alpha);
    tensor_id elu = emit_elu(&s, emit_binary(&s, OP_ElementWiseDivide, x, factor), 1);
    return emit_end_binary(&s, OP_ElementWiseMultiply, elu, factor);
}

/* x > alpha ? x : 0 */
odlc_status lower_thresholded_relu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double alpha;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_float(l, "alpha", 1, &alpha));
    tensor_id above = emit_binary(&s, OP_ElementWiseGreater, x, emit_scalar(&s, x, alpha));
    return emit_end_select(&s, above, x, emit_scalar(&s, x, 0));
}

/* x > threshold ? 1 : 0, in the type of x. Integers are compared with the whole number below the threshold. */
odlc_status lower_binarizer(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double threshold;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_float(l, "threshold", 0, &threshold));
    enum dtype dtype = build_type(l->b, x)->dtype;
    if (!dtype_is_float(dtype) && !(fabs(threshold) <= INT32_MAX))
        return lower_unsupported(l, "threshold", NULL, "no int32 is near %g", threshold);
    tensor_id limit = emit_scalar(&s, x, dtype_is_float(dtype) ? threshold : floor(threshold));
    return emit_give(&s, 0, emit_cast(&s, emit_binary(&s, OP_ElementWiseGreater, x, limit), dtype));
}

/* x > lambd ? x − bias : x < −lambd ? x + bias : 0 */
odlc_status lower_shrink(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double bias, lambd;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_attr_float(l, "bias", 0, &bias));
    TRY(lower_attr_float(l, "lambd", 0.5, &lambd));
    tensor_id shift = emit_scalar(&s, x, bias);
    tensor_id below = emit_binary(&s, OP_ElementWiseLess, x, emit_scalar(&s, x, -lambd));
    tensor_id above = emit_binary(&s, OP_ElementWiseGreater, x, emit_scalar(&s, x, lambd));
    tensor_id raised = emit_binary(&s, OP_ElementWiseAdd, x, shift),
              lowered = emit_binary(&s, OP_ElementWiseSubtract, x, shift);
    tensor_id rest = emit_select(&s, below, raised, emit_scalar(&s, x, 0));
    return emit_end_select(&s, above, lowered, rest);
}

/* x · tanh(softplus x) */
odlc_status lower_mish(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    tensor_id gate = emit_unary(&s, OP_Tanh, emit_unary(&s, OP_ElementWiseSoftplus, x));
    return emit_end_binary(&s, OP_ElementWiseMultiply, x, gate);
}
