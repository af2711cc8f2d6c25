/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's experimental operators, which old models still have and opset 10 took away: formulas of a few elementwise ops,
 * slices, and constants. The documents of those versions give them; where they give an attribute no default, it has to
 * be there. */
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

static odlc_status need_float(const struct lower *l, const char *name, double *out)
{
    if (!lower_has_attr(l, name))
        return lower_invalid(l, name, NULL, "%s is missing", name);
    return lower_attr_float(l, name, 0, out);
}

/* alpha · x + beta */
odlc_status lower_affine(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double alpha, beta;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_float(l, "alpha", 1, &alpha));
    TRY(lower_attr_float(l, "beta", 0, &beta));
    tensor_id scaled = emit_binary(&s, OP_ElementWiseMultiply, x, emit_scalar(&s, x, alpha));
    return emit_end_binary(&s, OP_ElementWiseAdd, scaled, emit_scalar(&s, x, beta));
}

/* scale · x */
odlc_status lower_scale(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double scale;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_attr_float(l, "scale", 1, &scale));
    return emit_end_binary(&s, OP_ElementWiseMultiply, x, emit_scalar(&s, x, scale));
}

/* alpha · f(beta · x), where the row gives f */
odlc_status lower_scaled_function(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    double alpha, beta;
    TRY(lower_need(l, 0, "X", &x));
    TRY(need_float(l, "alpha", &alpha));
    TRY(need_float(l, "beta", &beta));
    tensor_id scaled = emit_binary(&s, OP_ElementWiseMultiply, x, emit_scalar(&s, x, beta));
    tensor_id value = emit_unary(&s, l->op, scaled);
    return emit_end_binary(&s, OP_ElementWiseMultiply, value, emit_scalar(&s, x, alpha));
}

static odlc_status need_image(const struct lower *l, tensor_id *x, struct shape *shape)
{
    TRY(lower_need(l, 0, "input", x));
    *shape = build_type(l->b, *x)->shape;
    if (shape->rank != 4)
        return lower_invalid(l, NULL, NULL, "the input %s is not an image [N,C,H,W]",
                             shape_text(l->diags->arena, shape));
    return ODLC_OK;
}

/* scale · x + bias of the channel */
odlc_status lower_image_scaler(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    struct shape shape;
    double scale;
    const float *bias;
    uint32_t count;
    TRY(need_image(l, &x, &shape));
    TRY(lower_attr_float(l, "scale", 1, &scale));
    TRY(lower_attr_floats(l, "bias", &bias, &count));
    if (!bias || count != shape.dims[1])
        return lower_invalid(l, "bias", NULL, "%u values of bias for %lld channels", count, (long long)shape.dims[1]);
    double *wide = arena_array(l->arena, double, count);
    for (uint32_t i = 0; i < count; i++)
        wide[i] = (double)bias[i];
    struct shape channels = SHAPE(shape.dims[1], 1, 1);
    tensor_id shift = emit_constant(&s, build_type(l->b, x)->dtype, &channels, wide);
    tensor_id scaled = emit_binary(&s, OP_ElementWiseMultiply, x, emit_scalar(&s, x, scale));
    return emit_end_binary(&s, OP_ElementWiseAdd, scaled, shift);
}

/* What lies within the borders left, top, right, bottom; with a scale, as many rows and columns as that says, from the
 * top left border on. */
odlc_status lower_crop(struct lower *l)
{
    tensor_id x, rows;
    struct shape shape;
    const int64_t *border, *scale;
    uint32_t n_border, n_scale;
    TRY(need_image(l, &x, &shape));
    TRY(lower_attr_ints(l, "border", &border, &n_border));
    TRY(lower_attr_ints(l, "scale", &scale, &n_scale));
    if (!border || n_border != 4)
        return lower_invalid(l, "border", NULL, "border has %u values instead of 4", n_border);
    if (scale && n_scale != 2)
        return lower_invalid(l, "scale", NULL, "scale has %u values instead of 2", n_scale);
    int64_t ends[2]; /* of rows and columns */
    for (uint32_t i = 0; i < 2; i++) {
        int64_t dim = shape.dims[2 + i], begin = border[1 - i];
        bool wraps = scale ? ckd_add(&ends[i], begin, scale[i]) : ckd_sub(&ends[i], dim, border[3 - i]);
        if (wraps || begin < 0 || ends[i] > dim || ends[i] <= begin)
            return lower_invalid(l, "border", NULL, "%s cannot be cropped like this",
                                 shape_text(l->diags->arena, &shape));
    }
    TRY(lower_slice_axis(l, x, 2, border[1], ends[0], step_name(l, "rows"), &rows));
    return lower_slice_axis(l, rows, 3, border[0], ends[1], lower_out_name(l, 0), &l->out[0]);
}

/* The shape that the fillers make: the attribute, or that of the input, or the input's value; with extra axes. */
static odlc_status filled_shape(const struct lower *l, struct shape *out)
{
    const int64_t *dims, *extra;
    uint32_t count, n_extra;
    int64_t from_value;
    tensor_id in = lower_in(l, 0);
    TRY(lower_attr_int(l, "input_as_shape", 0, &from_value));
    TRY(lower_attr_ints(l, "extra_shape", &extra, &n_extra));
    TRY(lower_attr_ints(l, "shape", &dims, &count));
    if (in != NO_TENSOR && dims)
        return lower_invalid(l, "shape", NULL, "the shape is given by input 0 already");
    if (in == NO_TENSOR && (!dims || extra))
        return lower_invalid(l, "shape", NULL, dims ? "extra_shape is for a shape from an input" : "shape is missing");
    if (in != NO_TENSOR && from_value)
        TRY(lower_const_ints(l, 0, "shape", &dims, &count));
    struct shape all = {.rank = count};
    if (in != NO_TENSOR && !from_value)
        all = build_type(l->b, in)->shape;
    else
        TRY(lower_shape_of(l, "shape", dims, count, &all));
    if (n_extra > MAX_RANK - all.rank)
        return lower_unsupported(l, "extra_shape", NULL, "the result has more than %d axes", MAX_RANK);
    for (uint32_t i = 0; i < n_extra; i++)
        all.dims[all.rank++] = extra[i];
    *out = all;
    return lower_check_shape(l, "shape", out);
}

odlc_status lower_given_tensor_fill(struct lower *l)
{
    struct shape shape;
    const float *values;
    uint32_t count;
    TRY(filled_shape(l, &shape));
    TRY(lower_attr_floats(l, "values", &values, &count));
    if (!values || count != shape_count(&shape))
        return lower_invalid(l, "values", NULL, "%u values for the shape %s", count,
                             shape_text(l->diags->arena, &shape));
    struct view view = view_of((const uint8_t *)values, DT_FLOAT32, &shape);
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), DT_FLOAT32, &view);
    return ODLC_OK;
}

odlc_status lower_constant_fill(struct lower *l)
{
    struct shape shape;
    double value;
    int64_t code;
    TRY(filled_shape(l, &shape));
    TRY(lower_attr_float(l, "value", 0, &value));
    TRY(lower_attr_int(l, "dtype", 1, &code));
    if (code != 1)
        return lower_unsupported(l, "dtype", NULL, "elements of another type than float are not supported");
    struct view view = view_splat_float(l->arena, DT_FLOAT32, &shape, value);
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), DT_FLOAT32, &view);
    return ODLC_OK;
}
