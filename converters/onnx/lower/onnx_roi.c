/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX RoiAlign and MaxRoiPool. The container has the mean of a region's samples and the largest element of a region.
 * The largest sample, which by ONNX's definition is the largest weighted corner of the cells that the samples lie in,
 * is expressed by sampling those corners. */
#include <math.h>
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/sample.h"
#include "converters/onnx/lower/onnx_spatial.h"

/* Regions whose samples differ in number are sampled one after the other, by about 40 nodes each. */
enum { RUNS_MAX = 100 };

struct roi {
    tensor_id x, boxes, batch; /* boxes are x1, y1, x2, y2 */
    int64_t count, out[2];     /* height, width */
    double scale;
};

/* ---- what both operators share ---- */

static odlc_status check_roi(const struct lower *l, const struct roi *r, const struct type *boxes, int64_t columns)
{
    enum dtype x = build_type(l->b, r->x)->dtype;
    const struct shape *rois = &boxes->shape;
    if (!dtype_is_float(x) || !dtype_is_float(boxes->dtype))
        return lower_invalid(l, NULL, NULL, "regions %s of an input %s: both must be floating point",
                             dtype_info(boxes->dtype)->name, dtype_info(x)->name);
    const struct shape *in = &build_type(l->b, r->x)->shape;
    if (in->rank != 4 || in->dims[2] < 1 || in->dims[3] < 1)
        return lower_invalid(l, NULL, NULL, "the input %s is not an image", shape_text(l->diags->arena, in));
    if (rois->rank != 2 || rois->dims[1] != columns)
        return lower_invalid(l, NULL, NULL, "rois is %s, not a list of %lld numbers each",
                             shape_text(l->diags->arena, rois), (long long)columns);
    if (r->out[0] < 1 || r->out[1] < 1 || r->out[0] > INT16_MAX || r->out[1] > INT16_MAX)
        return lower_invalid(l, NULL, NULL, "a result of %lld by %lld elements is not possible", (long long)r->out[0],
                             (long long)r->out[1]);
    if (!(r->scale > 0) || !isfinite(r->scale))
        return lower_invalid(l, "spatial_scale", NULL, "spatial_scale is %g", r->scale);
    return ODLC_OK;
}

/* Starts the op. It divides by its ratio where ONNX multiplies, which is the same for powers of two alone: other scales
 * are multiplied with before. */
static odlc_status start_native(struct lower *l, const struct roi *r, enum op_id op)
{
    struct emit s = {.l = l};
    tensor_id image, boxes = r->boxes;
    int exponent;
    bool exact = frexp(r->scale, &exponent) == 0.5;
    if (!exact) {
        tensor_id scale = emit_scalar(&s, boxes, r->scale);
        boxes = emit_binary(&s, OP_ElementWiseMultiply, boxes, scale);
        TRY(s.status);
    }
    double *ratio = arena_array(l->arena, double, 2);
    ratio[0] = ratio[1] = exact ? 1 / r->scale : 1;
    struct param param = {.usage = 1,
                          .is_tensor = true,
                          .name = "img_size_ratio",
                          .dtype = DT_FLOAT32,
                          .shape = SHAPE(2),
                          .floats = ratio};
    TRY(image_enter(l, NULL, &image));
    image_op(l, op, image);
    build_in(l->b, boxes);
    build_in(l->b, r->batch);
    build_param(l->b, &param);
    return ODLC_OK;
}

static odlc_status end_native(struct lower *l, const struct roi *r)
{
    const struct type *x = build_type(l->b, r->x);
    struct type type = {x->dtype, SHAPE(r->count, r->out[0], r->out[1], x->shape.dims[1])};
    return image_leave_typed(l, &type);
}

/* ---- MaxRoiPool ---- */

/* rois are [batch index, x1, y1, x2, y2]. */
odlc_status lower_max_roi_pool(struct lower *l)
{
    struct roi r = {.scale = 1};
    struct emit s = {.l = l};
    const int64_t *pooled;
    uint32_t count;
    tensor_id rois;
    TRY(lower_need(l, 0, "X", &r.x));
    TRY(lower_need(l, 1, "rois", &rois));
    TRY(lower_attr_ints(l, "pooled_shape", &pooled, &count));
    TRY(lower_attr_float(l, "spatial_scale", 1, &r.scale));
    if (count != 2)
        return lower_invalid(l, "pooled_shape", NULL, "pooled_shape has %u elements, not 2", count);
    r.out[0] = pooled[0];
    r.out[1] = pooled[1];
    const struct type boxes = *build_type(l->b, rois);
    TRY(check_roi(l, &r, &boxes, 5));
    r.count = boxes.shape.dims[0];
    struct shape list = SHAPE(r.count);
    r.boxes = emit_slice(&s, rois, 1, 1, 5);
    r.batch = emit_slice(&s, rois, 1, 0, 1);
    r.batch = emit_reshape(&s, r.batch, &list);
    r.batch = emit_cast(&s, r.batch, DT_INT32);
    TRY(s.status);
    TRY(start_native(l, &r, OP_RoiPooling));
    return end_native(l, &r);
}

/* ---- RoiAlign: the largest sample ---- */

struct align {
    struct roi roi;
    bool half_pixel, largest;
    int64_t ratio; /* samples per element of the result along each axis; 0: as many as it covers elements */
};

/* [1, rows, columns, 2]: for each sample the number of its element, or its place in it, as the corner's (x, y). */
static odlc_status sample_numbers(struct lower *l, const struct align *a, const int64_t samples[2], bool within,
                                  enum dtype dtype, tensor_id *out)
{
    struct shape shape = SHAPE(1, a->roi.out[0] * samples[0], a->roi.out[1] * samples[1], 2);
    double *values;
    TRY(lower_check_shape(l, "sampling_ratio", &shape));
    TRY(lower_table(l, shape_count(&shape), sizeof *values, &values));
    for (int64_t row = 0; row < shape.dims[1]; row++)
        for (int64_t column = 0; column < shape.dims[2]; column++) {
            double *at = values + 2 * (row * shape.dims[2] + column);
            int64_t bin_column = column / samples[1], bin_row = row / samples[0];
            at[0] = within ? (double)(column % samples[1]) + 0.5 : (double)bin_column;
            at[1] = within ? (double)(row % samples[0]) + 0.5 : (double)bin_row;
        }
    struct emit s = {.l = l};
    *out = emit_constant(&s, dtype, &shape, values);
    return s.status;
}

/* A pair of numbers for (x, y), given as (height, width). */
static tensor_id corner_pair(struct emit *s, enum dtype dtype, const int64_t pair[2], double addend)
{
    struct shape shape = SHAPE(2);
    double *values = arena_array(s->l->arena, double, 2);
    values[0] = (double)pair[1] + addend;
    values[1] = (double)pair[0] + addend;
    return emit_constant(s, dtype, &shape, values);
}

/* The samples' positions in pixels, [regions, rows, columns, 2], computed in ONNX's order of rounding. */
static tensor_id sample_positions(struct emit *s, const struct align *a, tensor_id boxes, const int64_t samples[2])
{
    struct lower *l = s->l;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    enum dtype dtype = build_type(l->b, boxes)->dtype;
    tensor_id number = NO_TENSOR, place = NO_TENSOR;
    struct shape spread = SHAPE(build_type(l->b, boxes)->shape.dims[0], 1, 1, 2);
    if (a->roi.scale != 1) {
        tensor_id scale = emit_scalar(s, boxes, a->roi.scale);
        boxes = emit_binary(s, OP_ElementWiseMultiply, boxes, scale);
    }
    if (a->half_pixel) {
        tensor_id half = emit_scalar(s, boxes, 0.5);
        boxes = emit_binary(s, OP_ElementWiseSubtract, boxes, half);
    }
    tensor_id start = emit_slice(s, boxes, 1, 0, 2), end = emit_slice(s, boxes, 1, 2, 4);
    tensor_id size = emit_binary(s, OP_ElementWiseSubtract, end, start);
    if (!a->half_pixel) {
        tensor_id one = emit_scalar(s, size, 1);
        size = emit_binary(s, OP_ElementWiseMaximum, size, one);
    }
    tensor_id out = corner_pair(s, dtype, a->roi.out, 0), per_bin = corner_pair(s, dtype, samples, 0);
    tensor_id bin = emit_binary(s, OP_ElementWiseDivide, size, out);
    bin = emit_reshape(s, bin, &spread);
    start = emit_reshape(s, start, &spread);
    if (s->status == ODLC_OK)
        s->status = sample_numbers(l, a, samples, false, dtype, &number);
    if (s->status == ODLC_OK)
        s->status = sample_numbers(l, a, samples, true, dtype, &place);
    tensor_id first = emit_binary(s, OP_ElementWiseMultiply, number, bin);
    first = emit_binary(s, OP_ElementWiseAdd, start, first);
    tensor_id within = emit_binary(s, OP_ElementWiseMultiply, place, bin);
    within = emit_binary(s, OP_ElementWiseDivide, within, per_bin);
    return emit_binary(s, OP_ElementWiseAdd, first, within);
}

/* 1 for samples on the image or at most one pixel before it, 0 for others: [regions, rows, columns, 1]. */
static tensor_id on_image(struct emit *s, tensor_id positions, const int64_t in[2])
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    static const int64_t last = 3;
    enum dtype dtype = build_type(s->l->b, positions)->dtype;
    tensor_id first = emit_scalar(s, positions, -1), end = corner_pair(s, dtype, in, 0);
    tensor_id after = emit_binary(s, OP_ElementWiseGreaterEqual, positions, first);
    tensor_id before = emit_binary(s, OP_ElementWiseLessEqual, positions, end);
    tensor_id inside = emit_binary(s, OP_ElementWiseAnd, after, before);
    tensor_id one = emit_scalar(s, positions, 1), zero = emit_scalar(s, positions, 0);
    tensor_id both = emit_select(s, inside, one, zero);
    return emit_reduce(s, OP_ReduceMin, both, &last, 1, true);
}

/* [regions, a, b, …] → [1, regions · a, b, …]: regions of one image are sampled without copies of it. */
static tensor_id one_image(struct emit *s, tensor_id t)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct shape shape = build_type(s->l->b, t)->shape;
    shape.dims[1] *= shape.dims[0];
    shape.dims[0] = 1;
    return emit_reshape(s, t, &shape);
}

static tensor_id emit_pool(struct emit *s, tensor_id image, const int64_t count[2])
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    build_op(s->l->b, OP_PoolMax2d, step_name(s->l, "PoolMax2d"));
    build_in(s->l->b, image);
    sample_pool_params(s->l->b, 2, count);
    s->status = build_end(s->l->b, step_name(s->l, "PoolMax2d"), &out);
    return out;
}

/* The result of the regions [begin, end), which have so many samples each, channels last. */
static tensor_id largest_samples(struct emit *s, const struct align *a, tensor_id image, int64_t begin, int64_t end,
                                 const int64_t samples[2])
{
    static const double weight[2][4] = {{-1, 1}, {1, 0}};
    static const int64_t cell[] = {2, 2};
    static const struct sampling nearest = {.mode = SAMPLE_NEAREST, .padding = SAMPLE_BORDER};
    const struct neighbours corners = {.count = 2, .terms = 2, .weight = weight};
    const struct shape shape = build_type(s->l->b, image)->shape;
    enum dtype dtype = build_type(s->l->b, a->roi.boxes)->dtype;
    const int64_t in[] = {shape.dims[1], shape.dims[2]};
    tensor_id boxes = emit_slice(s, a->roi.boxes, 0, begin, end);
    tensor_id positions = sample_positions(s, a, boxes, samples), inside = on_image(s, positions, in);
    tensor_id zero = emit_scalar(s, boxes, 0), last = corner_pair(s, dtype, in, -1);
    positions = emit_binary(s, OP_ElementWiseMaximum, positions, zero);
    positions = emit_binary(s, OP_ElementWiseMinimum, positions, last);
    bool single = shape.dims[0] == 1;
    if (single) {
        positions = one_image(s, positions);
        inside = one_image(s, inside);
    } else {
        tensor_id batch = emit_slice(s, a->roi.batch, 0, begin, end);
        image = emit_gather(s, image, batch, 0);
    }
    tensor_id whole = emit_unary(s, OP_ElementWiseFloor, positions);
    tensor_id fraction = emit_binary(s, OP_ElementWiseSubtract, positions, whole);
    tensor_id found = emit_neighbours(s, image, whole, fraction, &corners, &nearest);
    /* The four corners of each sample first, then the samples of each element. */
    tensor_id largest = emit_pool(s, found, cell);
    inside = emit_cast(s, inside, build_type(s->l->b, a->roi.x)->dtype);
    largest = emit_binary(s, OP_ElementWiseMultiply, largest, inside);
    largest = emit_pool(s, largest, samples);
    struct shape result = SHAPE(end - begin, a->roi.out[0], a->roi.out[1], shape.dims[3]);
    return single ? emit_reshape(s, largest, &result) : largest;
}

/* The number of samples along each axis, where it depends on the region. */
static void adaptive_samples(const struct align *a, const double box[4], int64_t samples[2])
{
    float shift = a->half_pixel ? 0.5f : 0, scale = (float)a->roi.scale;
    for (int axis = 0; axis < 2; axis++) {
        float start = (float)box[1 - axis] * scale - shift, end = (float)box[3 - axis] * scale - shift;
        float size = a->half_pixel ? end - start : fmaxf(end - start, 1);
        float count = ceilf(size / (float)a->roi.out[axis]);
        samples[axis] = count > 0 && count < INT16_MAX ? (int64_t)count : 0;
    }
}

/* The regions of one number of samples each are sampled together. */
static odlc_status adaptive_runs(struct lower *l, const struct align *a, tensor_id image, tensor_id *out)
{
    uint32_t count;
    const double *boxes;
    tensor_id parts[RUNS_MAX];
    uint32_t n_parts = 0;
    struct emit s = {.l = l};
    const struct type type = *build_type(l->b, image);
    TRY(lower_const_floats(l, 1, "rois", &boxes, &count));
    for (int64_t begin = 0, end; begin < a->roi.count; begin = end) {
        int64_t samples[2], next[2];
        adaptive_samples(a, boxes + 4 * begin, samples);
        for (end = begin + 1; end < a->roi.count; end++) {
            adaptive_samples(a, boxes + 4 * end, next);
            if (memcmp(samples, next, sizeof next) != 0)
                break;
        }
        if (n_parts == RUNS_MAX)
            return lower_unsupported(l, "sampling_ratio", "set sampling_ratio",
                                     "more than %d runs of regions that differ in size", RUNS_MAX);
        struct shape none = SHAPE(end - begin, a->roi.out[0], a->roi.out[1], type.shape.dims[3]);
        parts[n_parts++] = samples[0] && samples[1] ? largest_samples(&s, a, image, begin, end, samples)
                                                    : lower_splat(l, step_name(l, "empty"), type.dtype, &none, 0);
    }
    *out = emit_concat(&s, parts, n_parts, 0);
    return s.status;
}

static odlc_status align_largest(struct lower *l, const struct align *a)
{
    tensor_id image, out;
    struct emit s = {.l = l};
    if (a->roi.count < 1)
        return lower_unsupported(l, NULL, NULL, "there are no regions");
    TRY(image_enter(l, NULL, &image));
    if (a->ratio > 0) {
        const int64_t samples[] = {a->ratio, a->ratio};
        out = largest_samples(&s, a, image, 0, a->roi.count, samples);
        TRY(s.status);
    } else {
        TRY(adaptive_runs(l, a, image, &out));
    }
    return build_to_channels_first(l->b, out, lower_out_name(l, 0), &l->out[0]);
}

/* ---- RoiAlign ---- */

static odlc_status read_align(struct lower *l, struct align *a)
{
    static const struct choice modes[] = {{"avg", false}, {"max", true}};
    static const struct choice transformations[] = {{"half_pixel", true}, {"output_half_pixel", false}};
    int largest, half_pixel;
    *a = (struct align){.roi.scale = 1};
    TRY(lower_need(l, 0, "X", &a->roi.x));
    TRY(lower_need(l, 1, "rois", &a->roi.boxes));
    TRY(lower_need(l, 2, "batch_indices", &a->roi.batch));
    TRY(lower_choose(l, "mode", "avg", modes, COUNT_OF(modes), &largest));
    /* Before version 16 the input was never shifted. */
    const char *absent = l->version < 16 ? "output_half_pixel" : "half_pixel";
    TRY(lower_choose(l, "coordinate_transformation_mode", absent, transformations, COUNT_OF(transformations),
                     &half_pixel));
    a->largest = largest;
    a->half_pixel = half_pixel;
    TRY(lower_attr_int(l, "output_height", 1, &a->roi.out[0]));
    TRY(lower_attr_int(l, "output_width", 1, &a->roi.out[1]));
    TRY(lower_attr_int(l, "sampling_ratio", 0, &a->ratio));
    TRY(lower_attr_float(l, "spatial_scale", 1, &a->roi.scale));
    const struct type *rois = build_type(l->b, a->roi.boxes);
    TRY(check_roi(l, &a->roi, rois, 4));
    a->roi.count = rois->shape.dims[0];
    struct shape list = SHAPE(a->roi.count);
    if (!dtype_is_int(build_type(l->b, a->roi.batch)->dtype))
        return lower_invalid(l, NULL, NULL, "batch_indices are %s, which are no integers",
                             dtype_info(build_type(l->b, a->roi.batch)->dtype)->name);
    if (!shape_equal(&build_type(l->b, a->roi.batch)->shape, &list))
        return lower_invalid(l, NULL, NULL, "batch_indices does not have one element per region");
    if (a->ratio < 0 || a->ratio > INT16_MAX)
        return lower_invalid(l, "sampling_ratio", NULL, "sampling_ratio is %lld", (long long)a->ratio);
    return ODLC_OK;
}

odlc_status lower_roi_align(struct lower *l)
{
    struct align a;
    TRY(read_align(l, &a));
    if (a.largest)
        return align_largest(l, &a);
    TRY(start_native(l, &a.roi, OP_RoiAlign));
    build_int(l->b, PARAM_num_samples_y, a.ratio > 0 ? a.ratio : -1);
    build_int(l->b, PARAM_num_samples_x, a.ratio > 0 ? a.ratio : -1);
    build_int(l->b, PARAM_aligned, a.half_pixel);
    return end_native(l, &a.roi);
}
