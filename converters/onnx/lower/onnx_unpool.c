/* SPDX-License-Identifier: Apache-2.0 */
/* The positions of maxima: the Indices of ONNX MaxPool, and MaxUnpool, which puts values back to them. */
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_max_indices.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/onnx_spatial.h"
#include "converters/lowering/emit.h"

/* ---- Indices ---- */

/* Steps in the whole of the input; within a channel rows first, or columns. */
static struct max_strides index_strides(const struct shape *in, const struct spatial *s, bool column_major)
{
    int64_t image = (int64_t)shape_count_range(in, 2, in->rank);
    struct max_strides strides = {.batch = image * in->dims[1], .channel = image, .spatial = {1, 1, 1}};
    for (uint32_t i = 0; i < s->axes; i++)
        for (uint32_t k = 0; k < s->axes; k++)
            strides.spatial[i] *= (column_major ? k < i : k > i) ? s->in[k] : 1;
    return strides;
}

odlc_status lower_pool_indices(struct lower *l, const struct spatial *s, const int64_t *out)
{
    const struct shape in = build_type(l->b, l->in[0])->shape;
    int64_t order;
    tensor_id found;
    TRY(lower_attr_int(l, "storage_order", 0, &order));
    if (shape_count(&in) > INT32_MAX)
        return lower_unsupported(l, NULL, NULL, "positions in %s are beyond 32 bits", shape_text(l->diags->arena, &in));
    if (!windows_see_input(s, out))
        return lower_unsupported(l, "pads", NULL, "Indices of windows that lie in the padding alone are not defined");
    const struct max_strides strides = index_strides(&in, s, order != 0);
    TRY(lower_max_indices(l, l->in[0], s, out, &strides, "kernel_shape", &found));
    return build_cast(l->b, found, DT_INT64, lower_out_name(l, 1), &l->out[1]);
}

/* ---- MaxUnpool ---- */

/* Without output_shape: what a pool with these attributes would have come from. */
static odlc_status unpooled_shape(const struct lower *l, const struct spatial *s, struct shape *shape)
{
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t extent = (s->in[i] - 1) * s->stride[i] + s->kernel[i] - s->pad[i][0] - s->pad[i][1];
        if (extent < 1)
            return lower_invalid(l, "pads", NULL, "the padding leaves nothing of the output");
        shape->dims[i + 2] = extent;
    }
    return lower_check_shape(l, "kernel_shape", shape);
}

/* Positions count in the shape that the attributes give; a larger one is filled up with zeros. */
static odlc_status fill_up(struct lower *l, tensor_id in, const struct shape *shape)
{
    const struct shape have = build_type(l->b, in)->shape;
    struct shape pairs = SHAPE(shape->rank, 2);
    int64_t amounts[MAX_RANK][2] = {{0}};
    for (uint32_t i = 0; i < shape->rank; i++) {
        amounts[i][1] = shape->dims[i] - have.dims[i];
        if (amounts[i][1] < 0)
            return lower_invalid(l, "output_shape", NULL, "output_shape %s does not hold the result %s",
                                 shape_text(l->diags->arena, shape), shape_text(l->diags->arena, &have));
    }
    build_op(l->b, OP_Pad, fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, PARAM_scheme, 0);
    build_tensor_ints(l->b, PARAM_pad_amount, &pairs, amounts[0]);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_max_unpool(struct lower *l)
{
    struct spatial w;
    struct emit s = {.l = l};
    tensor_id x, indices, sparse;
    const int64_t *dims;
    uint32_t count;
    TRY(spatial_read(l, NULL, &w));
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_need(l, 1, "I", &indices));
    TRY(lower_const_ints(l, 2, "output_shape", &dims, &count));
    const struct type type = *build_type(l->b, x);
    if (!shape_equal(&build_type(l->b, indices)->shape, &type.shape))
        return lower_invalid(l, NULL, NULL, "the shapes of X and I differ");
    struct shape shape = type.shape, wanted;
    TRY(unpooled_shape(l, &w, &shape));
    wanted = shape;
    if (dims)
        TRY(lower_shape_of(l, "output_shape", dims, count, &wanted));
    if (wanted.rank != shape.rank)
        return lower_invalid(l, "output_shape", NULL, "output_shape has %u elements, not %u", count, shape.rank);
    if (shape_count(&shape) > INT32_MAX)
        return lower_unsupported(l, NULL, NULL, "positions in %s are beyond 32 bits",
                                 shape_text(l->diags->arena, &shape));
    bool larger = !shape_equal(&wanted, &shape);
    struct shape flat = SHAPE((int64_t)shape_count(&shape)), list = SHAPE((int64_t)shape_count(&type.shape));
    x = emit_reshape(&s, x, &list);
    indices = emit_reshape(&s, indices, &list);
    TRY(s.status);
    build_op(l->b, OP_ScatterElements, fw_node_label(l->node));
    build_in(l->b, lower_splat(l, step_name(l, "zeros"), type.dtype, &flat, 0));
    build_in(l->b, indices);
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, 0);
    TRY(build_end(l->b, step_name(l, "scattered"), &sparse));
    if (!larger)
        return build_reshape(l->b, sparse, &shape, lower_out_name(l, 0), &l->out[0]);
    TRY(build_reshape(l->b, sparse, &shape, step_name(l, "unpooled"), &sparse));
    return fill_up(l, sparse, &wanted);
}
