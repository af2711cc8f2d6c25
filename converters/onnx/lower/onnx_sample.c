/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX GridSample and AffineGrid. The container's GridSample interpolates linearly or takes the nearest element. Cubic
 * interpolation takes the nearest element at every neighbour of a position, and adds them up with their weights. */
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/sample.h"
#include "converters/onnx/lower/onnx_spatial.h"

/* ---- GridSample ---- */

enum { MODE_CUBIC = SAMPLE_NEAREST + 1 };

/* The names of version 16, and those of later ones. */
static odlc_status read_sampling(const struct lower *l, struct sampling *how)
{
    static const struct choice modes[] = {{"bilinear", SAMPLE_LINEAR},
                                          {"linear", SAMPLE_LINEAR},
                                          {"nearest", SAMPLE_NEAREST},
                                          {"bicubic", MODE_CUBIC},
                                          {"cubic", MODE_CUBIC}};
    static const struct choice paddings[] = {
        {"zeros", SAMPLE_ZEROS}, {"border", SAMPLE_BORDER}, {"reflection", SAMPLE_REFLECTION}};
    int64_t align;
    TRY(lower_choose(l, "mode", "linear", modes, COUNT_OF(modes), &how->mode));
    TRY(lower_choose(l, "padding_mode", "zeros", paddings, COUNT_OF(paddings), &how->padding));
    TRY(lower_attr_int(l, "align_corners", 0, &align));
    how->align_corners = align != 0;
    return ODLC_OK;
}

static odlc_status check_operands(const struct lower *l, tensor_id x, tensor_id grid, const struct sampling *how)
{
    const struct type *image = build_type(l->b, x), *positions = build_type(l->b, grid);
    const struct shape *in = &image->shape, *at = &positions->shape;
    if (in->rank < 3 || in->rank > SPATIAL_MAX + 2)
        return lower_unsupported(l, NULL, NULL, "the input %s does not have 1 to %d spatial axes",
                                 shape_text(l->diags->arena, in), SPATIAL_MAX);
    if (at->rank != in->rank || at->dims[at->rank - 1] != (int64_t)in->rank - 2 || at->dims[0] != in->dims[0])
        return lower_invalid(l, NULL, NULL, "the grid %s does not fit the input %s", shape_text(l->diags->arena, at),
                             shape_text(l->diags->arena, in));
    if (how->mode != SAMPLE_NEAREST && !dtype_is_float(image->dtype))
        return lower_unsupported(l, "mode", "cast the input to float", "elements of type %s cannot be interpolated",
                                 dtype_info(image->dtype)->name);
    return ODLC_OK;
}

/* A line is an image of one row: its positions get a second coordinate, which is 0, the middle of the row. */
static tensor_id as_image_grid(struct emit *s, tensor_id grid)
{
    const struct type type = *build_type(s->l->b, grid);
    if (type.shape.rank != 3)
        return grid;
    tensor_id rows = lower_splat(s->l, step_name(s->l, "rows"), type.dtype, &type.shape, 0);
    const tensor_id parts[] = {grid, rows};
    struct shape image = SHAPE(type.shape.dims[0], 1, type.shape.dims[1], 2);
    grid = emit_concat(s, parts, 2, 2);
    return emit_reshape(s, grid, &image);
}

/* A vector of one number per coordinate. */
static tensor_id per_coordinate(struct emit *s, const struct shape *image, enum dtype dtype, double factor,
                                double addend)
{
    struct shape vector = SHAPE(image->rank - 2);
    double *values = arena_array(s->l->arena, double, image->rank - 2);
    for (uint32_t c = 0; c < image->rank - 2; c++)
        values[c] = factor * (double)image->dims[image->rank - 2 - c] + addend;
    return emit_constant(s, dtype, &vector, values);
}

/* Normalized positions in pixels, exactly as the runtimes round them. */
static tensor_id in_pixels(struct emit *s, const struct shape *image, tensor_id grid, bool align_corners)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    enum dtype dtype = build_type(s->l->b, grid)->dtype;
    tensor_id half = per_coordinate(s, image, dtype, 0.5, align_corners ? -0.5 : 0);
    tensor_id one = emit_scalar(s, grid, 1), x = emit_binary(s, OP_ElementWiseAdd, grid, one);
    x = emit_binary(s, OP_ElementWiseMultiply, x, half);
    if (align_corners)
        return x;
    tensor_id corner = emit_scalar(s, grid, 0.5);
    return emit_binary(s, OP_ElementWiseSubtract, x, corner);
}

/* Positions beyond the border are moved onto it before anything is interpolated. ONNX Runtime's own operator (the row
 * says "neighbours") interpolates there between neighbours on the border. */
static tensor_id kept_inside(struct emit *s, const struct shape *image, tensor_id x, bool align_corners)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    enum dtype dtype = build_type(s->l->b, x)->dtype;
    tensor_id first = emit_scalar(s, x, 0), last = per_coordinate(s, image, dtype, 1, -1);
    tensor_id inside = emit_binary(s, OP_ElementWiseMaximum, x, first);
    inside = emit_binary(s, OP_ElementWiseMinimum, inside, last);
    if (align_corners)
        return inside;
    tensor_id low = emit_scalar(s, x, -0.5), high = per_coordinate(s, image, dtype, 1, -0.5);
    tensor_id before = emit_binary(s, OP_ElementWiseLess, x, low);
    tensor_id behind = emit_binary(s, OP_ElementWiseGreater, x, high);
    tensor_id outside = emit_binary(s, OP_ElementWiseOr, before, behind);
    return emit_select(s, outside, inside, x);
}

/* Four neighbours along each axis by Keys' polynomials with the coefficient -0.75. The weights are four times as large,
 * because the sum of all neighbours is taken as their average. */
static odlc_status cubic_sample(struct lower *l, tensor_id image, tensor_id grid, const struct sampling *how)
{
    static const double weight[4][4] = {{-3, 6, -3, 0}, {5, -9, 0, 4}, {-5, 6, 3, 0}, {3, -3, 0, 0}};
    static const int64_t count[] = {4, 4, 4};
    const struct neighbours cubic = {.count = 4, .first = -1, .terms = 4, .weight = weight};
    const struct shape shape = build_type(l->b, image)->shape;
    struct emit s = {.l = l};
    if (build_type(l->b, grid)->dtype != DT_FLOAT64)
        grid = emit_cast(&s, grid, DT_FLOAT32);
    tensor_id x = in_pixels(&s, &shape, grid, how->align_corners);
    if (how->padding == SAMPLE_BORDER && !l->variant)
        x = kept_inside(&s, &shape, x, how->align_corners);
    tensor_id whole = emit_unary(&s, OP_ElementWiseFloor, x);
    tensor_id fraction = emit_binary(&s, OP_ElementWiseSubtract, x, whole);
    /* Only reflection cares about which corners are aligned when whole positions are asked for. */
    struct sampling nearest = {.mode = SAMPLE_NEAREST,
                               .padding = how->padding,
                               .align_corners = how->align_corners && how->padding == SAMPLE_REFLECTION};
    tensor_id found = emit_neighbours(&s, image, whole, fraction, &cubic, &nearest);
    TRY(s.status);
    image_op(l, shape.rank == 5 ? OP_PoolAvg3d : OP_PoolAvg2d, found);
    sample_pool_params(l->b, shape.rank - 2, count);
    return image_leave(l);
}

odlc_status lower_grid_sample(struct lower *l)
{
    struct sampling how;
    struct emit s = {.l = l};
    tensor_id x, grid, image;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_need(l, 1, "grid", &grid));
    TRY(read_sampling(l, &how));
    TRY(check_operands(l, x, grid, &how));
    TRY(image_enter(l, NULL, &image));
    grid = as_image_grid(&s, grid);
    TRY(s.status);
    if (how.mode == MODE_CUBIC)
        return cubic_sample(l, image, grid, &how);
    image_op(l, OP_GridSample, image);
    build_in(l->b, grid);
    sample_params(l->b, &how);
    return image_leave(l);
}

/* ---- AffineGrid ---- */

/* The centre of element i as a part of the axis, from -1 to 1. */
static double centre(int64_t i, int64_t extent, bool align_corners)
{
    struct normalizer norm = sample_normalizer(extent, align_corners);
    return (double)i * norm.scale + norm.offset;
}

/* All positions of the grid in homogeneous coordinates: [1, positions, axes + 1]. */
static odlc_status homogeneous(struct lower *l, const int64_t *extent, uint32_t axes, bool align_corners,
                               enum dtype dtype, tensor_id *out)
{
    double *values;
    struct shape grid = {.rank = axes};
    for (uint32_t i = 0; i < axes; i++)
        grid.dims[i] = extent[i];
    TRY(lower_check_shape(l, "size", &grid));
    uint64_t count = shape_count(&grid);
    TRY(lower_table(l, count, (axes + 1) * sizeof *values, &values));
    for (uint64_t at = 0; at < count; at++) {
        uint64_t rest = at;
        for (uint32_t c = 0; c < axes; c++) {
            uint64_t length = (uint64_t)extent[axes - 1 - c];
            values[at * (axes + 1) + c] = centre((int64_t)(rest % length), (int64_t)length, align_corners);
            rest /= length;
        }
        values[at * (axes + 1) + axes] = 1;
    }
    struct shape shape = SHAPE(1, (int64_t)count, axes + 1);
    struct emit s = {.l = l};
    *out = emit_constant(&s, dtype, &shape, values);
    return s.status;
}

odlc_status lower_affine_grid(struct lower *l)
{
    tensor_id theta, positions;
    const int64_t *size;
    uint32_t count;
    int64_t align;
    TRY(lower_need(l, 0, "theta", &theta));
    TRY(lower_const_ints(l, 1, "size", &size, &count));
    TRY(lower_attr_int(l, "align_corners", 0, &align));
    const struct type type = *build_type(l->b, theta);
    int64_t axes = (int64_t)count - 2;
    if (axes != 2 && axes != 3)
        return lower_invalid(l, "size", NULL, "size has %u elements, not 4 or 5", count);
    if (type.shape.rank != 3 || type.shape.dims[0] != size[0] || type.shape.dims[1] != axes ||
        type.shape.dims[2] != axes + 1)
        return lower_invalid(l, NULL, NULL, "theta %s does not fit a grid of %lld axes and the batch %lld",
                             shape_text(l->diags->arena, &type.shape), (long long)axes, (long long)size[0]);
    TRY(homogeneous(l, size + 2, (uint32_t)axes, align != 0, type.dtype, &positions));
    struct emit s = {.l = l};
    struct shape grid = {.rank = count, .dims = {size[0]}};
    for (uint32_t i = 2; i < count; i++)
        grid.dims[i - 1] = size[i];
    grid.dims[count - 1] = axes;
    tensor_id product = emit_matmul(&s, positions, theta, false, true);
    TRY(s.status);
    return build_reshape(l->b, product, &grid, lower_out_name(l, 0), &l->out[0]);
}
