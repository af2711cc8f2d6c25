/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/lower/sample.h"

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_spatial.h"

struct normalizer sample_normalizer(int64_t extent, bool align_corners)
{
    double length = (double)extent;
    if (!align_corners)
        return (struct normalizer){2 / length, 1 / length - 1};
    /* All normalized coordinates are the one element there is. */
    if (extent == 1)
        return (struct normalizer){0, 0};
    return (struct normalizer){2 / (length - 1), -1};
}

void sample_params(struct build *b, const struct sampling *how)
{
    build_int(b, PARAM_mode, how->mode);
    build_int(b, PARAM_padding_mode, how->padding);
    build_int(b, PARAM_align_corners, how->align_corners);
}

tensor_id emit_grid_sample(struct emit *s, tensor_id image, tensor_id grid, const struct sampling *how)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, "GridSample");
    build_op(s->l->b, OP_GridSample, name);
    build_in(s->l->b, image);
    build_in(s->l->b, grid);
    sample_params(s->l->b, how);
    s->status = build_end(s->l->b, name, &out);
    return s->status == ODLC_OK ? out : NO_TENSOR;
}

/* [batch, a, b, …] with an axis of 1 behind each spatial axis; the coordinates stay, or are dropped. */
static struct shape spaced_shape(const struct shape *positions, bool coordinates)
{
    struct shape shape = {.rank = 1, .dims = {positions->dims[0]}};
    for (uint32_t i = 1; i + 1 < positions->rank; i++) {
        shape.dims[shape.rank++] = positions->dims[i];
        shape.dims[shape.rank++] = 1;
    }
    if (coordinates)
        shape.dims[shape.rank++] = positions->dims[positions->rank - 1];
    return shape;
}

/* [batch, a · count, b · count, …, last] */
static struct shape joined_shape(const struct shape *positions, int64_t count, int64_t last)
{
    struct shape shape = *positions;
    for (uint32_t i = 1; i + 1 < shape.rank; i++)
        shape.dims[i] *= count;
    shape.dims[shape.rank - 1] = last;
    return shape;
}

/* The neighbours' normalized positions. */
static tensor_id neighbour_grid(struct emit *s, const struct shape *image, tensor_id whole, const struct neighbours *n,
                                const struct sampling *how)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct type type = *build_type(s->l->b, whole);
    uint32_t axes = image->rank - 2;
    struct shape spaced = spaced_shape(&type.shape, true), shifts = {.rank = spaced.rank}, vector = SHAPE(axes);
    for (uint32_t i = 0; i < shifts.rank; i++)
        shifts.dims[i] = i + 1 == shifts.rank ? axes : i > 0 && i % 2 == 0 ? n->count : 1;
    double *scale = arena_array(s->l->arena, double, axes);
    double *shift = arena_array(s->l->arena, double, shape_count(&shifts));
    for (uint32_t c = 0; c < axes; c++) {
        uint32_t axis = axes - 1 - c;
        struct normalizer norm = sample_normalizer(image->dims[axis + 1], how->align_corners);
        scale[c] = norm.scale;
        uint64_t inner = shape_count_range(&shifts, 2 * axis + 3, shifts.rank);
        for (uint64_t at = c; at < shape_count(&shifts); at += axes) {
            int64_t k = (int64_t)(at / inner) % n->count;
            shift[at] = (double)(k + n->first) * norm.scale + norm.offset;
        }
    }
    tensor_id positions = emit_reshape(s, whole, &spaced);
    tensor_id scales = emit_constant(s, type.dtype, &vector, scale);
    positions = emit_binary(s, OP_ElementWiseMultiply, positions, scales);
    tensor_id shift_by = emit_constant(s, type.dtype, &shifts, shift);
    positions = emit_binary(s, OP_ElementWiseAdd, positions, shift_by);
    struct shape joined = joined_shape(&type.shape, n->count, axes);
    return emit_reshape(s, positions, &joined);
}

/* The weights along one spatial axis: [batch, a, 1, b, 1, …] with the neighbours behind that axis. */
static tensor_id axis_weights(struct emit *s, uint32_t axis, tensor_id fraction, const struct neighbours *n)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct type type = *build_type(s->l->b, fraction);
    struct shape spaced = spaced_shape(&type.shape, false), along = {.rank = spaced.rank};
    uint32_t last = type.shape.rank - 1, coordinate = last - 2 - axis;
    for (uint32_t i = 0; i < along.rank; i++)
        along.dims[i] = i == 2 * axis + 2 ? n->count : 1;
    tensor_id t = emit_slice(s, fraction, last, coordinate, coordinate + 1), sum = NO_TENSOR;
    t = emit_reshape(s, t, &spaced);
    for (uint32_t term = 0; term < n->terms; term++) {
        double *values = arena_array(s->l->arena, double, (size_t)n->count);
        for (int64_t k = 0; k < n->count; k++)
            values[k] = n->weight[k][term];
        tensor_id coefficient = emit_constant(s, type.dtype, &along, values);
        if (term == 0) {
            sum = coefficient;
            continue;
        }
        sum = emit_binary(s, OP_ElementWiseMultiply, sum, t);
        sum = emit_binary(s, OP_ElementWiseAdd, sum, coefficient);
    }
    return sum;
}

tensor_id emit_neighbours(struct emit *s, tensor_id image, tensor_id whole, tensor_id fraction,
                          const struct neighbours *n, const struct sampling *how)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct type type = *build_type(s->l->b, image);
    const struct shape positions = build_type(s->l->b, whole)->shape;
    tensor_id grid = neighbour_grid(s, &type.shape, whole, n, how);
    tensor_id found = emit_grid_sample(s, image, grid, how);
    tensor_id weights = axis_weights(s, 0, fraction, n);
    for (uint32_t i = 1; i < type.shape.rank - 2; i++) {
        tensor_id more = axis_weights(s, i, fraction, n);
        weights = emit_binary(s, OP_ElementWiseMultiply, weights, more);
    }
    struct shape joined = joined_shape(&positions, n->count, 1);
    weights = emit_reshape(s, weights, &joined);
    weights = emit_cast(s, weights, type.dtype);
    return emit_binary(s, OP_ElementWiseMultiply, found, weights);
}

void sample_pool_params(struct build *b, uint32_t axes, const int64_t *count)
{
    static const int64_t none[SPATIAL_MAX][2];
    struct shape pairs = SHAPE(axes, 2);
    build_ints(b, PARAM_filter_size, count, axes);
    build_ints(b, PARAM_stride, count, axes);
    build_tensor_ints(b, PARAM_pad_amount, &pairs, none[0]);
}
