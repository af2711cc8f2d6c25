/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators that resize images, take regions of them and change their contrast. */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/resample_matmul.h"
#include "converters/lowering/resize_params.h"
#include "converters/tensorflow/lower/quantized_tensor.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* ---- resizing ----
 *
 * Bilinear and nearest-neighbour resizing are the container's Resize. Where that op, which computes positions in
 * another order, would take other elements, and for what it does not know, the elements and weights of each axis are
 * written out: a Gather, or a MatMul with a table. */

struct resize {
    tensor_id x;
    int64_t in[2], out[2]; /* height, width */
    bool align_corners, half_pixel_centers;
};

static odlc_status read_resize(struct lower *l, struct resize *r)
{
    const int64_t *size;
    uint32_t count;
    TRY(lower_need(l, 0, "images", &r->x));
    TRY(lower_const_ints(l, 1, "size", &size, &count));
    TRY(lower_attr_bool(l, "align_corners", false, &r->align_corners));
    TRY(lower_attr_bool(l, "half_pixel_centers", false, &r->half_pixel_centers));
    const struct shape *in = &build_type(l->b, r->x)->shape;
    if (in->rank != 4)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 axes", shape_text(l->diags->arena, in));
    if (count != 2)
        return lower_invalid(l, NULL, NULL, "size has %u elements instead of 2", count);
    if (r->align_corners && r->half_pixel_centers)
        return lower_invalid(l, "half_pixel_centers", NULL, "align_corners and half_pixel_centers exclude each other");
    for (uint32_t i = 0; i < 2; i++) {
        r->in[i] = in->dims[i + 1];
        r->out[i] = size[i];
        if (r->in[i] < 1 || r->in[i] > INT32_MAX || size[i] < 1 || size[i] > INT32_MAX)
            return lower_invalid(l, NULL, NULL, "%lld elements cannot be resized to %lld", (long long)r->in[i],
                                 (long long)size[i]);
    }
    return ODLC_OK;
}

/* Elements of the input for each of the output, in single precision as TensorFlow computes it. */
static float axis_scale(const struct resize *r, uint32_t axis)
{
    if (r->align_corners && r->out[axis] > 1)
        return (float)(r->in[axis] - 1) / (float)(r->out[axis] - 1);
    return (float)r->in[axis] / (float)r->out[axis];
}

static float resize_factor(const struct resize *r, uint32_t axis)
{
    return (float)r->out[axis] / (float)r->in[axis];
}

/* Whether the container's op takes the same elements along an axis, and gives them the same weights: a difference that
 * single precision does not see next to 1 is none. */
static bool op_agrees(const struct lower *l, const struct resize *r, const struct resample *how, uint32_t axis,
                      const struct resample_taps *wanted)
{
    const struct resample_axis a = {.in = r->in[axis], .out = r->out[axis], .scale = resize_factor(r, axis)};
    struct resample_taps taps = resample_taps(l->arena, how, &a);
    assert(taps.width == wanted->width);
    for (int64_t i = 0; i < taps.width * a.out; i++)
        if (fabs(taps.weight[i] - wanted->weight[i]) > (double)FLT_EPSILON / 2 ||
            (wanted->weight[i] != 0 && taps.index[i] != wanted->index[i]))
            return false;
    return true;
}

static bool nothing_changes(const struct resize *r)
{
    return r->in[0] == r->out[0] && r->in[1] == r->out[1];
}

/* The container's Resize. */
static odlc_status native_resize(struct lower *l, const struct resize *r, tensor_id x, const struct resample *how)
{
    struct type type = *build_type(l->b, x);
    const char *name = lower_out_name(l, 0);
    const float scales[] = {resize_factor(r, 0), resize_factor(r, 1)};
    type.shape.dims[1] = r->out[0];
    type.shape.dims[2] = r->out[1];
    build_op(l->b, OP_Resize, fw_node_label(l->node));
    build_in(l->b, x);
    lower_resize_params(l->b, how, scales);
    return build_end_typed(l->b, &name, &type, 1, &l->out[0]);
}

/* All but nearest neighbours come as float32. */
static odlc_status as_float(struct lower *l, struct resize *r)
{
    return build_cast(l->b, r->x, DT_FLOAT32, step_name(l, "float"), &r->x);
}

odlc_status tf_resize_bilinear(struct lower *l)
{
    struct resize r;
    TRY(read_resize(l, &r));
    TRY(as_float(l, &r));
    if (nothing_changes(&r)) {
        l->out[0] = r.x;
        return ODLC_OK;
    }
    const struct resample how = resample_flagged(INTERPOLATE_LINEAR, r.align_corners, r.half_pixel_centers);
    return native_resize(l, &r, r.x, &how);
}

/* ---- nearest neighbours ---- */

static int64_t nearest_element(const struct resize *r, uint32_t axis, int64_t out)
{
    float scale = axis_scale(r, axis);
    float at = r->half_pixel_centers ? floorf(((float)out + 0.5f) * scale)
               : r->align_corners    ? roundf((float)out * scale)
                                     : floorf((float)out * scale);
    return max_i64(min_i64((int64_t)at, r->in[axis] - 1), 0);
}

odlc_status tf_resize_nearest(struct lower *l)
{
    struct resize r;
    struct resample_taps taps[2];
    bool native = true;
    TRY(read_resize(l, &r));
    if (nothing_changes(&r)) {
        l->out[0] = r.x;
        return ODLC_OK;
    }
    const struct resample how = resample_flagged(INTERPOLATE_NEAREST, r.align_corners, r.half_pixel_centers);
    for (uint32_t i = 0; i < 2; i++) {
        TRY(lower_start_taps(l, 1, r.out[i], &taps[i]));
        for (int64_t o = 0; o < r.out[i]; o++) {
            taps[i].index[o] = nearest_element(&r, i, o);
            taps[i].weight[o] = 1;
        }
        native = native && op_agrees(l, &r, &how, i, &taps[i]);
    }
    if (native)
        return native_resize(l, &r, r.x, &how);
    TRY(lower_gather_positions(l, r.x, 1, taps[0].index, r.out[0], step_name(l, "height"), &r.x));
    return lower_gather_positions(l, r.x, 2, taps[1].index, r.out[1], lower_out_name(l, 0), &l->out[0]);
}

/* ---- bytes ---- */

/* TensorFlow weighs bytes in parts of 128, in integers: half a part counts at the end alone. */
enum { BYTE_PARTS = 128 };

/* For each position of an axis of the result: the elements on both sides of it, and how far it is behind the first one,
 * in parts. */
struct sides {
    int64_t *before, *after;
    double *parts;
};

static struct sides sides_of(const struct lower *l, const struct resize *r, uint32_t axis)
{
    const float scale = axis_scale(r, axis), half = r->half_pixel_centers ? 0.5f : 0;
    struct sides s = {arena_array(l->arena, int64_t, r->out[axis]), arena_array(l->arena, int64_t, r->out[axis]),
                      arena_array(l->arena, double, r->out[axis])};
    for (int64_t o = 0; o < r->out[axis]; o++) {
        const float at = ((float)o + half) * scale - half, whole = floorf(at);
        s.after[o] = min_i64((int64_t)ceilf(at), r->in[axis] - 1);
        s.before[o] = min_i64(max_i64((int64_t)whole, 0), s.after[o]);
        s.parts[o] = (double)(int64_t)((at - whole) * BYTE_PARTS);
    }
    return s;
}

/* Both sides of each position along the axis: the first one, and what lies between the two. */
static odlc_status take_sides(struct emit *s, const struct resize *r, tensor_id x, uint32_t axis, tensor_id out[3])
{
    struct lower *l = s->l;
    const struct sides sides = sides_of(l, r, axis - 1);
    const int64_t count = r->out[axis - 1];
    const struct shape along = axis == 1 ? SHAPE(count, 1, 1) : SHAPE(count, 1);
    tensor_id after;
    TRY(s->status);
    TRY(lower_gather_positions(l, x, axis, sides.before, count, step_name(l, "before"), &out[0]));
    TRY(lower_gather_positions(l, x, axis, sides.after, count, step_name(l, "after"), &after));
    out[1] = emit_binary(s, OP_ElementWiseSubtract, after, out[0]);
    out[2] = emit_constant(s, DT_INT32, &along, sides.parts);
    return s->status;
}

odlc_status tf_quantized_resize_bilinear(struct lower *l)
{
    static const enum dtype quint8[] = {DT_UINT8, DT_NONE};
    struct emit s = {.l = l};
    struct quantized q;
    struct resize r;
    tensor_id part[3], x, parts;
    TRY(read_quantized(l, (struct quantized_places){0, 2, 3}, "images", quint8, &q));
    TRY(read_resize(l, &r));
    if (nothing_changes(&r))
        return give_quantized(&s, q.x, q.min, q.max);
    x = emit_cast(&s, q.x, DT_INT32);
    TRY(take_sides(&s, &r, x, 2, part));
    parts = emit_scalar(&s, part[0], BYTE_PARTS);
    x = emit_binary(&s, OP_ElementWiseMultiply, part[0], parts);
    x = emit_binary(&s, OP_ElementWiseAdd, x, emit_binary(&s, OP_ElementWiseMultiply, part[1], part[2]));
    TRY(take_sides(&s, &r, x, 1, part));
    x = emit_binary(&s, OP_ElementWiseDivide, part[1], parts);
    x = emit_binary(&s, OP_ElementWiseAdd, part[0], emit_binary(&s, OP_ElementWiseMultiply, x, part[2]));
    x = emit_binary(&s, OP_ElementWiseAdd, x, emit_scalar(&s, x, BYTE_PARTS / 2.0));
    x = emit_binary(&s, OP_ElementWiseDivide, x, parts);
    return give_quantized(&s, emit_cast(&s, x, q.integer), q.min, q.max);
}

/* ---- cubic ---- */

/* TensorFlow looks the filter up in a table of so many steps from one element to the next. */
enum { CUBIC_STEPS = 1024 };

static double cubic_coefficient(const struct resize *r)
{
    return r->half_pixel_centers ? -0.5 : -0.75;
}

/* The filter at a distance below 1, and at one that is 1 more; a is its coefficient. */
static double cubic_inner(double a, double x)
{
    return ((a + 2) * x - (a + 3)) * x * x + 1;
}

static double cubic_outer(double a, double x)
{
    x += 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* The four weights at a position between two elements; with half-pixel centres those outside of the image are left out
 * and the rest is scaled up, else the border is repeated. */
static void cubic_element(const struct resize *r, uint32_t axis, int64_t out, int64_t *index, double *weight)
{
    float scale = axis_scale(r, axis), half = r->half_pixel_centers ? 0.5f : 0;
    float at = r->half_pixel_centers ? ((float)out + half) * scale - half : (float)out * scale;
    int64_t first = (int64_t)floorf(at), last = r->in[axis] - 1;
    double step = (double)lrintf((at - (float)first) * CUBIC_STEPS) / CUBIC_STEPS, sum = 0;
    double a = cubic_coefficient(r);
    const double weights[4] = {cubic_outer(a, step), cubic_inner(a, step), cubic_inner(a, 1 - step),
                               cubic_outer(a, 1 - step)};
    for (int64_t i = 0; i < 4; i++) {
        int64_t place = first - 1 + i;
        bool outside = place < 0 || place > last;
        index[i] = max_i64(min_i64(place, last), 0);
        weight[i] = r->half_pixel_centers && outside ? 0 : weights[i];
        sum += weight[i];
    }
    for (int64_t i = 0; r->half_pixel_centers && fabs(sum) >= 1000 * (double)FLT_MIN && i < 4; i++)
        weight[i] /= sum;
}

odlc_status tf_resize_bicubic(struct lower *l)
{
    struct resize r;
    struct resample_taps taps[2];
    bool native = true;
    TRY(read_resize(l, &r));
    TRY(as_float(l, &r));
    if (nothing_changes(&r)) {
        l->out[0] = r.x;
        return ODLC_OK;
    }
    struct resample how = resample_flagged(INTERPOLATE_CUBIC, r.align_corners, r.half_pixel_centers);
    how.cubic_coeff = (float)cubic_coefficient(&r);
    how.exclude_outside = r.half_pixel_centers;
    for (uint32_t i = 0; i < 2; i++) {
        TRY(lower_start_taps(l, 4, r.out[i], &taps[i]));
        for (int64_t o = 0; o < r.out[i]; o++)
            cubic_element(&r, i, o, taps[i].index + 4 * o, taps[i].weight + 4 * o);
        native = native && op_agrees(l, &r, &how, i, &taps[i]);
    }
    if (native)
        return native_resize(l, &r, r.x, &how);
    return lower_resample_image(l, r.x, taps, r.out);
}

/* ---- areas ---- */

/* The mean of the part of the axis that an output element covers. */
static void area_element(const struct resize *r, uint32_t axis, int64_t out, int64_t width, int64_t *index,
                         double *weight)
{
    float scale = axis_scale(r, axis);
    if (scale == 0) { /* one element, all of it */
        weight[0] = 1;
        return;
    }
    float begin = (float)out * scale, end = (float)(out + 1) * scale;
    int64_t first = (int64_t)floorf(begin), last = (int64_t)ceilf(end);
    for (int64_t i = first; i < last && i - first < width; i++) {
        float share = (float)i < begin       ? fminf((float)(i + 1) > end ? scale : (float)(i + 1) - begin, scale)
                      : (float)(i + 1) > end ? end - (float)i
                                             : 1;
        index[i - first] = max_i64(min_i64(i, r->in[axis] - 1), 0);
        weight[i - first] = (double)share / (double)scale;
    }
}

odlc_status tf_resize_area(struct lower *l)
{
    struct resize r;
    struct resample_taps taps[2];
    TRY(read_resize(l, &r));
    TRY(as_float(l, &r));
    for (uint32_t i = 0; i < 2; i++) {
        int64_t width = (int64_t)ceilf(axis_scale(&r, i)) + 2;
        TRY(lower_start_taps(l, width, r.out[i], &taps[i]));
        for (int64_t o = 0; o < r.out[i]; o++)
            area_element(&r, i, o, width, taps[i].index + width * o, taps[i].weight + width * o);
    }
    return lower_resample_image(l, r.x, taps, r.out);
}

/* ---- regions ---- */

odlc_status tf_crop_and_resize(struct lower *l)
{
    static const struct choice methods[] = {{"bilinear", 0}, {"nearest", 1}};
    tensor_id x, boxes, batch;
    const int64_t *size;
    uint32_t count;
    int method;
    double outside;
    TRY(lower_need(l, 0, "image", &x));
    TRY(lower_need(l, 1, "boxes", &boxes));
    TRY(lower_need(l, 2, "box_ind", &batch));
    TRY(lower_const_ints(l, 3, "crop_size", &size, &count));
    TRY(lower_choose(l, "method", "bilinear", methods, COUNT_OF(methods), &method));
    TRY(lower_attr_float(l, "extrapolation_value", 0, &outside));
    if (count != 2)
        return lower_invalid(l, NULL, NULL, "crop_size has %u elements instead of 2", count);
    TRY(build_cast(l->b, x, DT_FLOAT32, step_name(l, "float"), &x));
    build_op(l->b, OP_CropAndResize, fw_node_label(l->node));
    build_in(l->b, x);
    build_in(l->b, boxes);
    build_in(l->b, batch);
    build_ints(l->b, PARAM_resize_dims, size, 2);
    build_int(l->b, PARAM_interpolation_mode, method);
    build_float(l->b, PARAM_extrapolation_value, outside);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* ---- contrast ---- */

/* Distances from the mean of each channel of an image, multiplied. */
odlc_status tf_adjust_contrast(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, factor;
    TRY(lower_need(l, 0, "images", &x));
    TRY(lower_need(l, 1, "contrast_factor", &factor));
    const struct type type = *build_type(l->b, x);
    uint32_t rank = type.shape.rank;
    if (rank < 3)
        return lower_invalid(l, NULL, NULL, "an input of rank %u has no height, width and channels", rank);
    const int64_t axes[] = {rank - 3, rank - 2};
    x = emit_cast(&s, x, DT_FLOAT32);
    tensor_id mean = emit_reduce(&s, OP_ReduceMean, x, axes, 2, true);
    tensor_id distance = emit_binary(&s, OP_ElementWiseSubtract, x, mean);
    distance = emit_binary(&s, OP_ElementWiseMultiply, distance, factor);
    x = emit_binary(&s, OP_ElementWiseAdd, distance, mean);
    return emit_give(&s, 0, emit_cast(&s, x, type.dtype));
}
