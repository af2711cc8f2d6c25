/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX normalisations over the last axes: LayerNormalization, RMSNormalization, and what ONNX Runtime joins with them.
 */
#include "converters/onnx/schema/onnx_types.h"
#include "converters/onnx/lower/norm.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

odlc_status norm_need_like(struct lower *l, uint32_t i, const char *what, tensor_id x, tensor_id *out)
{
    TRY(lower_need(l, i, what, out));
    return build_cast(l->b, *out, build_type(l->b, x)->dtype, step_name(l, what), out);
}

/* ---- operands ---- */

/* The result of RMSNormalization is of the type of its scale (`of_scale`): the wider of both is computed in. */
static odlc_status settle_type(struct lower *l, bool of_scale, struct over_axes *n)
{
    tensor_id scale;
    TRY(lower_need(l, 0, "X", &n->x));
    TRY(lower_need(l, 1, "scale", &scale));
    enum dtype x = build_type(l->b, n->x)->dtype, other = build_type(l->b, scale)->dtype;
    n->result = of_scale ? other : x;
    if (n->result == x)
        return ODLC_OK;
    enum dtype wide = x == DT_FLOAT64 || other == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32;
    return build_cast(l->b, n->x, wide, step_name(l, "wide"), &n->x);
}

void norm_over_last(const struct lower *l, uint32_t first, struct over_axes *n)
{
    const struct shape *shape = &build_type(l->b, n->x)->shape;
    for (uint32_t i = first; i < shape->rank; i++) {
        n->axes[n->n_axes++] = i;
        n->weights.dims[n->weights.rank++] = shape->dims[i];
    }
}

static odlc_status read_over_axes(struct lower *l, bool of_scale, struct over_axes *n)
{
    int64_t axis_attr;
    uint32_t first;
    *n = (struct over_axes){.shift = NO_TENSOR};
    TRY(settle_type(l, of_scale, n));
    TRY(norm_need_like(l, 1, "scale", n->x, &n->scale));
    if (lower_in(l, 2) != NO_TENSOR)
        TRY(norm_need_like(l, 2, "bias", n->x, &n->shift));
    TRY(lower_attr_float(l, "epsilon", (double)1e-5f, &n->epsilon));
    TRY(lower_attr_int(l, "axis", -1, &axis_attr));
    TRY(lower_axis(l, "axis", axis_attr, build_rank(l->b, n->x), &first));
    norm_over_last(l, first, n);
    return ODLC_OK;
}

/* The type that statistics are computed and given in. */
static odlc_status stash_type(const struct lower *l, enum dtype *out)
{
    int64_t code;
    const char *name;
    TRY(lower_attr_int(l, "stash_type", 1, &code));
    if (onnx_dtype(code, out, &name) != ODLC_OK || !dtype_is_float(*out))
        return lower_invalid(l, "stash_type", NULL, "%lld is not a floating-point type", (long long)code);
    return ODLC_OK;
}

/* ---- formulas ---- */

/* The weights as the op takes them, where their shape only lacks or has axes of 1; false: they broadcast. */
static odlc_status fit_weights(struct lower *l, const struct over_axes *n, tensor_id *weights, bool *fits)
{
    if (*weights == NO_TENSOR)
        return ODLC_OK;
    struct shape shape = build_type(l->b, *weights)->shape, both;
    *fits = *fits && shape_broadcast(&shape, &n->weights, &both) && shape_count(&shape) == shape_count(&n->weights) &&
            shape_count(&both) == shape_count(&shape);
    return *fits ? build_reshape(l->b, *weights, &n->weights, step_name(l, "weights"), weights) : ODLC_OK;
}

odlc_status norm_by_layer(struct emit *s, const struct over_axes *n, tensor_id *y)
{
    struct lower *l = s->l;
    bool fits = true;
    tensor_id scale = n->scale, shift = n->shift;
    TRY(s->status);
    TRY(fit_weights(l, n, &scale, &fits));
    TRY(fit_weights(l, n, &shift, &fits));
    build_op(l->b, OP_LayerNorm, step_name(l, "normal"));
    build_in(l->b, n->x);
    build_ints(l->b, PARAM_axes, n->axes, n->n_axes);
    build_float(l->b, PARAM_epsilon, n->epsilon);
    if (fits) {
        build_in(l->b, scale);
        if (shift != NO_TENSOR)
            build_in(l->b, shift);
    }
    TRY(build_end(l->b, step_name(l, "normal"), y));
    if (!fits) {
        *y = emit_binary(s, OP_ElementWiseMultiply, *y, scale);
        *y = shift == NO_TENSOR ? *y : emit_binary(s, OP_ElementWiseAdd, *y, shift);
    }
    return s->status;
}

odlc_status norm_give_statistics(struct emit *s, const struct over_axes *n, enum dtype stash)
{
    if (!lower_out_name(s->l, 1) && !lower_out_name(s->l, 2))
        return s->status;
    tensor_id x = emit_cast(s, n->x, stash), mean = emit_reduce(s, OP_ReduceMean, x, n->axes, n->n_axes, true);
    tensor_id distance = emit_binary(s, OP_ElementWiseSubtract, x, mean);
    tensor_id squares = emit_binary(s, OP_ElementWiseMultiply, distance, distance);
    tensor_id variance = emit_reduce(s, OP_ReduceMean, squares, n->axes, n->n_axes, true);
    tensor_id shifted = emit_binary(s, OP_ElementWiseAdd, variance, emit_scalar(s, variance, n->epsilon));
    tensor_id inverse = emit_unary(s, OP_ElementWiseRsqrt, shifted);
    TRY(emit_give(s, 1, mean));
    return emit_give(s, 2, inverse);
}

odlc_status norm_by_root(struct emit *s, const struct over_axes *n, enum dtype stash, uint32_t statistic,
                         tensor_id *out)
{
    tensor_id x = emit_cast(s, n->x, stash), squares = emit_binary(s, OP_ElementWiseMultiply, x, x);
    tensor_id mean = emit_reduce(s, OP_ReduceMean, squares, n->axes, n->n_axes, true);
    tensor_id shifted = emit_binary(s, OP_ElementWiseAdd, mean, emit_scalar(s, mean, n->epsilon));
    tensor_id root = emit_unary(s, OP_ElementWiseSquareRoot, shifted);
    tensor_id y = emit_binary(s, OP_ElementWiseDivide, x, root);
    TRY(s->status);
    y = emit_cast(s, y, build_type(s->l->b, n->x)->dtype);
    *out = emit_binary(s, OP_ElementWiseMultiply, y, n->scale);
    if (statistic && lower_out_name(s->l, statistic))
        TRY(emit_give(s, statistic, emit_unary(s, OP_ElementWiseRsqrt, shifted)));
    return s->status;
}

/* ---- operators ---- */

/* Before opset 17 the operator is ONNX Runtime's, whose result is of the type of the scale. */
odlc_status lower_layer_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    struct over_axes n;
    enum dtype stash;
    tensor_id y;
    TRY(read_over_axes(l, l->version < 17, &n));
    TRY(stash_type(l, &stash));
    TRY(norm_give_statistics(&s, &n, stash));
    TRY(norm_by_layer(&s, &n, &y));
    return emit_give(&s, 0, emit_cast(&s, y, n.result));
}

/* By the steps of its definition, which become one op in containers of releases that have it. */
odlc_status lower_rms_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    struct over_axes n;
    enum dtype stash;
    tensor_id y;
    TRY(read_over_axes(l, true, &n));
    TRY(stash_type(l, &stash));
    TRY(norm_by_root(&s, &n, stash, 1, &y));
    return emit_give(&s, 0, emit_cast(&s, y, n.result));
}
