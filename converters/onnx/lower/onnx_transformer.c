/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators of transformers beside attention: TensorScatter, CausalConvWithState. */
#include <string.h>

#include "converters/onnx/lower/cache.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/weights.h"

/* ---- TensorScatter ---- */

struct cache_update {
    struct emit s;
    tensor_id begin; /* [batch], or NO_TENSOR: 0 */
    tensor_id cache, update;
    struct shape cache_shape, shape; /* of the update */
    uint32_t axis;
    bool circular;
};

static odlc_status check_update(struct cache_update *u)
{
    struct lower *l = u->s.l;
    u->cache_shape = build_type(l->b, u->cache)->shape;
    u->shape = build_type(l->b, u->update)->shape;
    struct shape same = u->shape;
    if (same.rank == u->cache_shape.rank)
        same.dims[u->axis] = u->cache_shape.dims[u->axis];
    if (!shape_equal(&same, &u->cache_shape) || u->shape.dims[u->axis] > u->cache_shape.dims[u->axis])
        return lower_invalid(l, NULL, NULL, "an update %s does not fit a cache %s",
                             shape_text(l->diags->arena, &u->shape), shape_text(l->diags->arena, &u->cache_shape));
    return ODLC_OK;
}

/* Positions along the axis, [batch, 1 …, length]: those that the update starts at, and on from there. */
static odlc_status written_positions(struct cache_update *u, tensor_id *out)
{
    struct lower *l = u->s.l;
    int64_t length = u->shape.dims[u->axis], *steps;
    tensor_id begin = u->begin;
    TRY(lower_table(l, (uint64_t)length, sizeof *steps, &steps));
    for (int64_t i = 0; i < length; i++)
        steps[i] = i;
    struct shape line = SHAPE(length), per_sample = {.rank = u->axis + 1, .dims = {u->shape.dims[0]}};
    *out = build_const_ints(l->b, step_name(l, "steps"), DT_INT64, &line, steps);
    if (begin == NO_TENSOR)
        return ODLC_OK;
    const struct type *type = build_type(l->b, begin);
    if (!dtype_is_int(type->dtype) || type->shape.rank != 1 || type->shape.dims[0] != u->shape.dims[0])
        return lower_invalid(l, NULL, NULL, "write_indices %s are not one per sample",
                             shape_text(l->diags->arena, &type->shape));
    for (uint32_t i = 1; i <= u->axis; i++)
        per_sample.dims[i] = 1;
    begin = emit_cast(&u->s, emit_reshape(&u->s, begin, &per_sample), DT_INT64);
    *out = emit_binary(&u->s, OP_ElementWiseAdd, *out, begin);
    if (u->circular) {
        tensor_id wrap = emit_scalar(&u->s, *out, (double)u->cache_shape.dims[u->axis]);
        *out = emit_binary(&u->s, OP_ElementWiseMod, *out, wrap);
    }
    return u->s.status;
}

/* The coordinates of all that precedes the axis: [batch, …, length, axis]. */
static odlc_status prefix_coordinates(struct cache_update *u, const struct shape *grid, tensor_id *out)
{
    struct lower *l = u->s.l;
    struct shape shape = *grid;
    int64_t *table, *at;
    shape.dims[shape.rank - 1] = u->axis;
    TRY(lower_table(l, shape_count(&shape), sizeof *table, &table));
    at = table;
    uint64_t length = (uint64_t)u->shape.dims[u->axis], lines = shape_count_range(&u->shape, 0, u->axis);
    for (uint64_t line = 0; line < lines; line++)
        for (uint64_t i = 0; i < length; i++, at += u->axis) {
            uint64_t rest = line;
            for (uint32_t axis = u->axis; axis-- > 0; rest /= (uint64_t)u->shape.dims[axis])
                at[axis] = (int64_t)(rest % (uint64_t)u->shape.dims[axis]);
        }
    *out = build_const_ints(l->b, step_name(l, "prefix"), DT_INT64, &shape, table);
    return ODLC_OK;
}

/* Where write_indices are known, they must lead into the cache; the op checks those of the running model. */
static odlc_status check_written(struct cache_update *u, tensor_id positions)
{
    uint64_t count;
    const int64_t *at = build_const_as_ints(u->s.l->b, positions, &count);
    for (uint64_t i = 0; at && i < count; i++)
        if (at[i] < 0 || at[i] >= u->cache_shape.dims[u->axis])
            return lower_invalid(u->s.l, NULL, NULL, "position %lld is outside the cache %s", (long long)at[i],
                                 shape_text(u->s.l->diags->arena, &u->cache_shape));
    return ODLC_OK;
}

static odlc_status write_update(struct cache_update *u, tensor_id *out)
{
    struct lower *l = u->s.l;
    tensor_id coordinates[2], positions;
    TRY(check_update(u));
    TRY(written_positions(u, &positions));
    TRY(check_written(u, positions));
    if (u->axis + 2 > MAX_RANK)
        return lower_unsupported(l, "axis", NULL, "the coordinates would have more than %d axes", MAX_RANK);
    struct shape grid = {.rank = u->axis + 2};
    for (uint32_t i = 0; i <= u->axis; i++)
        grid.dims[i] = u->shape.dims[i];
    grid.dims[u->axis + 1] = 1;
    TRY(prefix_coordinates(u, &grid, &coordinates[0]));
    struct shape lines = grid;
    lines.rank = u->axis + 1;
    coordinates[1] = emit_reshape(&u->s, emit_broadcast(&u->s, positions, &lines), &grid);
    tensor_id indices = emit_concat(&u->s, coordinates, 2, u->axis + 1);
    TRY(u->s.status);
    build_op(l->b, OP_ScatterNd, step_name(l, "ScatterNd"));
    build_in(l->b, u->cache);
    build_in(l->b, indices);
    build_in(l->b, u->update);
    return build_end(l->b, step_name(l, "ScatterNd"), out);
}

odlc_status cache_write(struct lower *l, tensor_id cache, tensor_id update, tensor_id begin, uint32_t axis,
                        tensor_id *out)
{
    struct cache_update u = {.s.l = l, .cache = cache, .update = update, .begin = begin, .axis = axis};
    return write_update(&u, out);
}

odlc_status lower_tensor_scatter(struct lower *l)
{
    struct cache_update u = {.s.l = l, .begin = lower_in(l, 2)};
    tensor_id y;
    int64_t axis;
    const char *mode;
    TRY(lower_need(l, 0, "past_cache", &u.cache));
    TRY(lower_need(l, 1, "update", &u.update));
    TRY(lower_attr_int(l, "axis", -2, &axis));
    TRY(lower_attr_string(l, "mode", "linear", &mode));
    u.circular = strcmp(mode, "circular") == 0;
    if (!u.circular && strcmp(mode, "linear") != 0)
        return lower_invalid(l, "mode", NULL, "the mode %s is not known", mode);
    TRY(lower_axis(l, "axis", axis, build_rank(l->b, u.cache), &u.axis));
    if (u.axis == 0)
        return lower_invalid(l, "axis", NULL, "the axis of the batch cannot be the sequence");
    TRY(write_update(&u, &y));
    return emit_give(&u.s, 0, y);
}

/* ---- CausalConvWithState ---- */

/* A line of [batch, channels, length + kernel - 1] becomes an image of height 1. */
static odlc_status convolve(struct lower *l, tensor_id line, int64_t kernel, tensor_id *out)
{
    static const int64_t one[] = {1, 1}, none[4] = {0};
    const struct shape in = build_type(l->b, line)->shape, pairs = SHAPE(2, 2);
    struct shape image = SHAPE(in.dims[0], in.dims[1], 1, in.dims[2]), weight_image = SHAPE(in.dims[1], 1, 1, kernel);
    struct shape result = SHAPE(in.dims[0], in.dims[1], in.dims[2] - kernel + 1);
    const struct perm depth_last = PERM(2, 3, 1, 0);
    tensor_id x, weights, bias;
    const char *bias_name;
    TRY(build_reshape(l->b, line, &image, step_name(l, "image"), &x));
    TRY(build_to_channels_last(l->b, x, &x));
    TRY(build_reshape(l->b, l->in[1], &weight_image, step_name(l, "weights_2d"), &weights));
    TRY(lower_weights(l, 1, weights, &depth_last, "", &weights));
    TRY(lower_bias(l, 2, in.dims[1], &bias, &bias_name));
    build_op(l->b, OP_DepthWiseConv2d, step_name(l, "convolution"));
    build_in(l->b, x);
    build_in(l->b, weights);
    build_in(l->b, bias);
    build_ints(l->b, PARAM_stride, one, 2);
    build_ints(l->b, PARAM_dilation, one, 2);
    build_tensor_ints(l->b, PARAM_pad_amount, &pairs, none);
    build_string(l->b, PARAM_bias_op_name, bias_name);
    TRY(build_end(l->b, step_name(l, "convolution"), &x));
    TRY(build_to_channels_first(l->b, x, step_name(l, "convolution.nchw"), &x));
    return build_reshape(l->b, x, &result, step_name(l, "line"), out);
}

/* The input after the state, or after zeros: a convolution without padding of it sees nothing later. */
static odlc_status with_state(struct emit *s, tensor_id x, int64_t state, tensor_id *out)
{
    struct lower *l = s->l;
    tensor_id past = lower_in(l, 3);
    struct shape shape = build_type(l->b, x)->shape;
    shape.dims[2] = state;
    if (past != NO_TENSOR && !shape_equal(&build_type(l->b, past)->shape, &shape))
        return lower_invalid(l, NULL, NULL, "the state is %s instead of %s",
                             shape_text(l->diags->arena, &build_type(l->b, past)->shape),
                             shape_text(l->diags->arena, &shape));
    if (past == NO_TENSOR)
        past = emit_broadcast(s, emit_scalar(s, x, 0), &shape);
    *out = state ? emit_concat(s, (const tensor_id[]){past, x}, 2, 2) : x;
    return s->status;
}

odlc_status lower_causal_conv(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, w, line, y;
    const char *activation;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_need(l, 1, "weight", &w));
    TRY(lower_attr_string(l, "activation", "none", &activation));
    bool swish = strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0;
    if (!swish && strcmp(activation, "none") != 0)
        return lower_invalid(l, "activation", NULL, "the activation %s is not known", activation);
    const struct shape *in = &build_type(l->b, x)->shape, *weights = &build_type(l->b, w)->shape;
    if (in->rank != 3 || weights->rank != 3 || weights->dims[0] != in->dims[1] || weights->dims[1] != 1 ||
        weights->dims[2] < 1 || in->dims[2] < 1)
        return lower_invalid(l, NULL, NULL, "weights %s do not fit an input %s", shape_text(l->diags->arena, weights),
                             shape_text(l->diags->arena, in));
    int64_t kernel = weights->dims[2], length = in->dims[2];
    TRY(with_state(&s, x, kernel - 1, &line));
    TRY(convolve(l, line, kernel, &y));
    if (swish) { /* in float32, whatever the operands are */
        tensor_id wide = emit_cast(&s, y, DT_FLOAT32);
        y = emit_binary(&s, OP_ElementWiseMultiply, wide, emit_unary(&s, OP_Sigmoid, wide));
    }
    TRY(emit_give(&s, 0, emit_cast(&s, y, build_type(l->b, x)->dtype)));
    return emit_give(&s, 1, emit_slice(&s, line, 2, length, length + kernel - 1));
}
