/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes at random: operators with indices, along one axis, and with blocks and patches of images. */
#include <math.h>

#include "op/params.h"
#include "tests/backend/random_moves.h"

/* Indices in [-dim, dim) for each of some axes in turn: constants, since others would have to be drawn in their range.
 */
static tensor_id indices_of(struct making *m, const struct shape *shape, const int64_t *dims, uint32_t n_dims)
{
    const uint64_t count = shape_count(shape);
    int64_t *indices = arena_array(m->arena, int64_t, count);
    for (uint64_t i = 0; i < count; i++)
        indices[i] = draw(m, -dims[i % n_dims], dims[i % n_dims] - 1);
    return build_const_ints(&m->build, "indices", DT_INT32, shape, indices);
}

static void start_indexed(struct making *m, enum op_id op, tensor_id x, tensor_id at, const struct shape *updates)
{
    const bool scatters = op == OP_ScatterElements || op == OP_ScatterNd;
    const tensor_id changed = scatters ? real(m, *updates) : NO_TENSOR;
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, at);
    if (scatters) {
        build_in(&m->build, changed);
        build_int(&m->build, PARAM_reduction, draw(m, 0, op == OP_ScatterNd ? 2 : 3));
    }
}

/* Indices are not larger than the data along other axes. */
static odlc_status make_by_elements(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_shape(m, (uint32_t)draw(m, 1, 4), 7);
    const uint32_t axis = (uint32_t)draw(m, 0, shape.rank - 1);
    struct shape of = shape;
    for (uint32_t i = 0; i < shape.rank; i++)
        of.dims[i] = i == axis ? draw(m, 1, 9) : draw(m, 1, shape.dims[i]);
    const tensor_id x = real(m, shape), at = indices_of(m, &of, &shape.dims[axis], 1);
    start_indexed(m, op, x, at, &of);
    build_int(&m->build, PARAM_axis, axis);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_by_slices(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_shape(m, (uint32_t)draw(m, 1, 4), 6);
    const uint32_t batch = op == OP_GatherNd && shape.rank > 1 ? (uint32_t)draw(m, 0, 1) : 0;
    const uint32_t depth = (uint32_t)draw(m, 1, shape.rank - batch);
    struct shape of = {.rank = batch + 2, .dims = {shape.dims[0]}}, updates = {.rank = batch + 1};
    of.dims[batch] = draw(m, 1, 9);
    of.dims[batch + 1] = depth;
    for (uint32_t i = 0; i <= batch; i++)
        updates.dims[i] = of.dims[i];
    for (uint32_t i = batch + depth; i < shape.rank; i++)
        updates.dims[updates.rank++] = shape.dims[i];
    const tensor_id x = real(m, shape), at = indices_of(m, &of, shape.dims + batch, depth);
    start_indexed(m, op, x, at, &updates);
    if (op == OP_GatherNd)
        build_int(&m->build, PARAM_batch_dims, batch);
    return build_end(&m->build, NULL, out);
}

odlc_status make_indexed(struct making *m, enum op_id op, tensor_id *out)
{
    if (op == OP_Gather)
        return make_gather(m, op, out);
    const bool by_axis = op == OP_GatherElements || op == OP_ScatterElements;
    return by_axis ? make_by_elements(m, op, out) : make_by_slices(m, op, out);
}

/* Some indices are no class. */
odlc_status make_one_hot(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_shape(m, (uint32_t)draw(m, 1, 3), 7);
    const struct type type = {DT_INT32, shape};
    const int64_t depth = draw(m, 1, 9);
    const tensor_id at = graph_add_tensor(m->graph, "indices", TENSOR_INPUT, &type);
    start(m, op);
    build_in(&m->build, at);
    build_int(&m->build, PARAM_depth, depth);
    build_int(&m->build, PARAM_axis, draw(m, 0, shape.rank));
    if (toss(m)) {
        build_float(&m->build, PARAM_on_value, draw_real(m));
        build_float(&m->build, PARAM_off_value, draw_real(m));
    }
    return build_end(&m->build, NULL, out);
}

/* ---- along one axis ---- */

odlc_status make_along(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_long_shape(m);
    const tensor_id x = real(m, shape);
    start(m, op);
    build_in(&m->build, x);
    build_int(&m->build, PARAM_axis, draw(m, 0, shape.rank - 1));
    if (op == OP_CumulativeSum) {
        build_int(&m->build, PARAM_exclusive, draw(m, 0, 1));
        build_int(&m->build, PARAM_reverse, draw(m, 0, 1));
    }
    return build_end(&m->build, NULL, out);
}

odlc_status make_top_k(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_long_shape(m);
    const tensor_id x = real(m, shape);
    tensor_id outs[2];
    start(m, op);
    build_in(&m->build, x);
    build_int(&m->build, PARAM_k, draw(m, 1, shape.dims[shape.rank - 1]));
    build_int(&m->build, PARAM_largest, draw(m, 0, 1));
    TRY(build_end_n(&m->build, (const char *[]){"", ""}, 2, outs));
    *out = outs[draw(m, 0, 1)];
    return ODLC_OK;
}

odlc_status make_lrn(struct making *m, enum op_id op, tensor_id *out)
{
    const tensor_id x = real(m, draw_image(m, 2, draw(m, 1, 20)));
    start(m, op);
    build_in(&m->build, x);
    build_int(&m->build, PARAM_radius, draw(m, 0, 4));
    build_float(&m->build, PARAM_alpha, 0.001 + 0.1 * draw(m, 0, 9));
    build_float(&m->build, PARAM_beta, 0.25 * draw(m, 1, 4));
    build_float(&m->build, PARAM_bias, draw(m, 1, 3));
    return build_end(&m->build, NULL, out);
}

/* ---- images ---- */

odlc_status make_batches(struct making *m, enum op_id op, tensor_id *out)
{
    const bool to_batch = op == OP_SpaceToBatch;
    struct shape shape = draw_image(m, 2, draw(m, 1, 5));
    int64_t block[2], border[4];
    for (uint32_t i = 0; i < 2; i++) {
        block[i] = draw(m, 1, 3);
        border[2 * i] = draw(m, 0, 2);
        const int64_t wide = (to_batch ? shape.dims[i + 1] : 0) + border[2 * i];
        border[2 * i + 1] = to_batch ? (block[i] - wide % block[i]) % block[i] : draw(m, 0, 1);
    }
    if (!to_batch)
        shape.dims[0] *= block[0] * block[1];
    const tensor_id x = real(m, shape);
    start(m, op);
    build_in(&m->build, x);
    give(m, PARAM_block_size, block, 2, false);
    give(m, to_batch ? PARAM_pad_amount : PARAM_crops, border, 4, true);
    return build_end(&m->build, NULL, out);
}

odlc_status make_patches(struct making *m, enum op_id op, tensor_id *out)
{
    static const enum param_id params[] = {PARAM_size, PARAM_stride, PARAM_rate};
    const tensor_id x = real(m, draw_image(m, 2, draw(m, 1, 5)));
    start(m, op);
    build_in(&m->build, x);
    for (size_t i = 0; i < COUNT_OF(params); i++) {
        const int64_t values[] = {draw(m, 1, 3), draw(m, 1, 3)};
        give(m, params[i], values, 2, false);
    }
    build_int(&m->build, PARAM_padding, draw(m, 0, 1));
    return build_end(&m->build, NULL, out);
}

/* Strides may leave pixels without a window, and pads windows without pixels. */
odlc_status make_image(struct making *m, enum op_id op, tensor_id *out)
{
    const struct slide s = draw_slide(m, 2);
    const struct shape image = draw_image(m, 2, draw(m, 1, 4));
    int64_t patches = 1;
    for (int i = 0; i < 2; i++) {
        const int64_t covered = s.dilation[i] * (s.filter[i] - 1) + 1;
        const int64_t left = image.dims[i + 1] + s.pads[2 * i] + s.pads[2 * i + 1] - covered;
        patches *= left < 0 ? 0 : left / s.stride[i] + 1;
    }
    if (patches == 0)
        return ODLC_ERR_INVALID;
    const tensor_id x = real(m, SHAPE(image.dims[0], image.dims[3] * s.filter[0] * s.filter[1], patches));
    const struct type known = {DT_FLOAT32, image};
    start(m, op);
    build_in(&m->build, x);
    give(m, PARAM_kernel_size, s.filter, 2, false);
    give(m, PARAM_stride, s.stride, 2, false);
    give(m, PARAM_pad_amount, s.pads, 4, true);
    give(m, PARAM_dilation, s.dilation, 2, false);
    return build_end_typed(&m->build, NULL, &known, 1, out);
}

odlc_status make_grid(struct making *m, enum op_id op, tensor_id *out)
{
    const uint32_t axes = (uint32_t)draw(m, 2, 3);
    const struct shape shape = draw_image(m, axes, draw(m, 1, 4));
    struct shape grid = draw_image(m, axes, axes);
    grid.dims[0] = shape.dims[0];
    const tensor_id x = real(m, shape), at = real(m, grid);
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, at);
    build_int(&m->build, PARAM_align_corners, draw(m, 0, 1));
    build_int(&m->build, PARAM_mode, draw(m, 0, 1));
    build_int(&m->build, PARAM_padding_mode, draw(m, 0, 2));
    return build_end(&m->build, NULL, out);
}

/* The corners of regions lie in the image, or some way outside, in parts of its size. */
static tensor_id draw_regions(struct making *m, int64_t count, const double size[2])
{
    const struct shape shape = SHAPE(count, 4);
    float *corners = arena_array(m->arena, float, (size_t)count * 4);
    for (int64_t i = 0; i < 4 * count; i++)
        corners[i] = (float)((0.5 + 0.75 * draw_real(m)) * size[i % 2]);
    const struct view view = view_of(corners, DT_FLOAT32, &shape);
    return graph_add_constant(m->graph, "regions", DT_FLOAT32, &view);
}

odlc_status make_regions(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_image(m, 2, draw(m, 1, 4));
    const int64_t count = draw(m, 1, 4), size[] = {draw(m, 1, 4), draw(m, 1, 4)};
    const bool crops = op == OP_CropAndResize;
    const double ratio = crops ? 1 : 0.25 + fabs(draw_real(m));
    const double extent[] = {crops ? 1 : ratio * (double)shape.dims[2], crops ? 1 : ratio * (double)shape.dims[1]};
    int64_t images[4];
    for (int64_t i = 0; i < count; i++)
        images[i] = draw(m, 0, shape.dims[0] - 1);
    const struct shape of = SHAPE(count);
    const tensor_id x = real(m, shape), boxes = draw_regions(m, count, extent);
    const tensor_id batch = build_const_ints(&m->build, "images", DT_INT32, &of, images);
    const struct type known = {DT_FLOAT32, SHAPE(count, size[0], size[1], shape.dims[3])};
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, boxes);
    build_in(&m->build, batch);
    if (crops) {
        give(m, PARAM_resize_dims, size, 2, false);
        build_int(&m->build, PARAM_interpolation_mode, draw(m, 0, 1));
        build_float(&m->build, PARAM_extrapolation_value, draw_real(m));
        return build_end(&m->build, NULL, out);
    }
    double *ratios = arena_array(m->arena, double, 2);
    ratios[0] = ratios[1] = ratio;
    const struct param param = {.usage = 1,
                                .is_tensor = true,
                                .name = "img_size_ratio",
                                .dtype = DT_FLOAT32,
                                .shape = SHAPE(2),
                                .floats = ratios};
    build_param(&m->build, &param);
    if (op == OP_RoiAlign) {
        build_int(&m->build, PARAM_num_samples_y, draw(m, -1, 3));
        build_int(&m->build, PARAM_num_samples_x, draw(m, -1, 3));
        build_int(&m->build, PARAM_aligned, draw(m, 0, 1));
    }
    return build_end_typed(&m->build, NULL, &known, 1, out);
}
