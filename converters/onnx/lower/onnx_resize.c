/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Resize, Upsample, DepthToSpace, SpaceToDepth.
 *
 * The container's Resize changes the spatial axes of an image in the usual ways. Everything else that ONNX can ask for
 * — other axes, antialiasing, cropping, … — is separable all the same: along one axis it picks elements (Gather) or
 * multiplies by a matrix of weights (MatMul), both known at conversion. */
#include <math.h>
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/onnx_spatial.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/resample_matmul.h"
#include "converters/lowering/resize_params.h"

struct resize {
    tensor_id x;
    uint32_t rank;
    struct resample how;
    struct resample_axis axis[MAX_RANK];
    double extrapolation; /* of POSITION_CROP, outside the input */
};

/* ---- attributes ---- */

static const struct choice interpolations[] = {{"nearest", INTERPOLATE_NEAREST},
                                               {"linear", INTERPOLATE_LINEAR},
                                               {"bilinear", INTERPOLATE_LINEAR},
                                               {"cubic", INTERPOLATE_CUBIC}};

static const struct choice positions[] = {{"half_pixel", POSITION_HALF_PIXEL},
                                          {"pytorch_half_pixel", POSITION_PYTORCH_HALF_PIXEL},
                                          {"align_corners", POSITION_ALIGN_CORNERS},
                                          {"asymmetric", POSITION_ASYMMETRIC},
                                          {"half_pixel_symmetric", POSITION_HALF_PIXEL_SYMMETRIC},
                                          {"tf_crop_and_resize", POSITION_CROP},
                                          {"tf_half_pixel_for_nn", POSITION_TF_HALF_PIXEL}}; /* ends with Resize-11 */

static const struct choice nearest_modes[] = {{"round_prefer_floor", NEAREST_PREFER_FLOOR},
                                              {"round_prefer_ceil", NEAREST_PREFER_CEIL},
                                              {"floor", NEAREST_FLOOR},
                                              {"ceil", NEAREST_CEIL}};

/* Upsample and Resize-10 know no more than the mode. */
static odlc_status read_how(const struct lower *l, bool is_old, struct resize *r)
{
    int interpolation, position = POSITION_ASYMMETRIC, nearest = NEAREST_SIMPLE;
    int64_t exclude_outside, antialias;
    double cubic_coeff;
    TRY(lower_choose(l, "mode", "nearest", interpolations, COUNT_OF(interpolations), &interpolation));
    if (!is_old) {
        size_t known = COUNT_OF(positions) - (l->version > 12);
        TRY(lower_choose(l, "coordinate_transformation_mode", "half_pixel", positions, known, &position));
        TRY(lower_choose(l, "nearest_mode", "round_prefer_floor", nearest_modes, COUNT_OF(nearest_modes), &nearest));
    }
    TRY(lower_attr_int(l, "exclude_outside", 0, &exclude_outside));
    TRY(lower_attr_int(l, "antialias", 0, &antialias));
    TRY(lower_attr_float(l, "cubic_coeff_a", -0.75, &cubic_coeff));
    TRY(lower_attr_float(l, "extrapolation_value", 0, &r->extrapolation));
    r->how = (struct resample){.position = (enum resample_position)position,
                               .interpolation = (enum resample_interpolation)interpolation,
                               .nearest = (enum resample_nearest)nearest,
                               .cubic_coeff = (float)cubic_coeff,
                               .exclude_outside = exclude_outside != 0,
                               .antialias = antialias != 0 && interpolation != INTERPOLATE_NEAREST};
    return ODLC_OK;
}

/* ---- sizes ---- */

/* The axes that scales, sizes and roi are about: all, or those of the attribute `axes`. */
static odlc_status read_axes(const struct lower *l, uint32_t rank, uint32_t axes[MAX_RANK], uint32_t *count)
{
    const int64_t *list;
    TRY(lower_attr_ints(l, "axes", &list, count));
    if (list)
        return lower_axes(l, "axes", list, *count, rank, axes);
    *count = rank;
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = i;
    return ODLC_OK;
}

static odlc_status take_scales(const struct lower *l, struct resize *r, const uint32_t *axes, uint32_t n_axes,
                               const double *scales, uint32_t count)
{
    if (count != n_axes)
        return lower_invalid(l, "scales", NULL, "%u scales for %u axes", count, n_axes);
    for (uint32_t i = 0; i < n_axes; i++) {
        struct resample_axis *a = &r->axis[axes[i]];
        double extent = floor((double)((float)a->in * (float)scales[i]));
        if (!(scales[i] > 0) || !(extent >= 1) || !(extent < INT32_MAX))
            return lower_invalid(l, "scales", NULL, "%lld elements cannot be scaled by %g", (long long)a->in,
                                 scales[i]);
        a->scale = (float)scales[i];
        a->out = (int64_t)extent;
    }
    return ODLC_OK;
}

/* One scale for all the axes: the largest that stays within, or the smallest that reaches, the sizes asked for. */
static odlc_status keep_aspect_ratio(const struct lower *l, struct resize *r, const uint32_t *axes, uint32_t n_axes)
{
    static const struct choice policies[] = {{"stretch", 0}, {"not_larger", -1}, {"not_smaller", 1}};
    int policy;
    TRY(lower_choose(l, "keep_aspect_ratio_policy", "stretch", policies, COUNT_OF(policies), &policy));
    if (policy == 0 || n_axes == 0)
        return ODLC_OK;
    float scale = r->axis[axes[0]].scale;
    for (uint32_t i = 1; i < n_axes; i++) {
        float other = r->axis[axes[i]].scale;
        scale = policy < 0 ? fminf(scale, other) : fmaxf(scale, other);
    }
    for (uint32_t i = 0; i < n_axes; i++) {
        struct resample_axis *a = &r->axis[axes[i]];
        double extent = floor((double)(scale * (float)a->in) + 0.5);
        if (!(extent >= 1) || !(extent < INT32_MAX))
            return lower_invalid(l, "sizes", NULL, "the sizes leave nothing of the input");
        a->scale = scale;
        a->out = (int64_t)extent;
    }
    return ODLC_OK;
}

static odlc_status take_sizes(const struct lower *l, struct resize *r, const uint32_t *axes, uint32_t n_axes,
                              const int64_t *sizes, uint32_t count)
{
    if (count != n_axes)
        return lower_invalid(l, "sizes", NULL, "%u sizes for %u axes", count, n_axes);
    for (uint32_t i = 0; i < n_axes; i++) {
        struct resample_axis *a = &r->axis[axes[i]];
        if (sizes[i] < 1 || sizes[i] > INT32_MAX)
            return lower_invalid(l, "sizes", NULL, "the size %lld is out of range", (long long)sizes[i]);
        a->out = sizes[i];
        a->scale = (float)a->out / (float)a->in;
    }
    return keep_aspect_ratio(l, r, axes, n_axes);
}

static odlc_status take_roi(const struct lower *l, struct resize *r, const uint32_t *axes, uint32_t n_axes)
{
    const double *roi;
    uint32_t count;
    if (r->how.position != POSITION_CROP)
        return ODLC_OK;
    TRY(lower_const_floats(l, 1, "roi", &roi, &count));
    if (count != 2 * n_axes)
        return lower_invalid(l, "roi", NULL, "%u numbers in roi for %u axes", count, n_axes);
    for (uint32_t i = 0; i < n_axes; i++) {
        r->axis[axes[i]].start = (float)roi[i];
        r->axis[axes[i]].end = (float)roi[n_axes + i];
    }
    return ODLC_OK;
}

static odlc_status read_input(struct lower *l, struct resize *r)
{
    TRY(lower_need(l, 0, "X", &r->x));
    const struct shape *in = &build_type(l->b, r->x)->shape;
    r->rank = in->rank;
    for (uint32_t i = 0; i < r->rank; i++) {
        if (in->dims[i] < 1 || in->dims[i] > INT32_MAX)
            return lower_invalid(l, NULL, NULL, "the input %s cannot be resized", shape_text(l->diags->arena, in));
        r->axis[i] = (struct resample_axis){.in = in->dims[i], .out = in->dims[i], .scale = 1, .end = 1};
    }
    return ODLC_OK;
}

/* ---- the container's own Resize ---- */

static bool is_kept(const struct resample_axis *a)
{
    return a->out == a->in && a->scale == 1 && a->start == 0 && a->end == 1;
}

/* The rule of ONNX Resize-10 and Upsample is one of the container's where all axes that change do so in one direction.
 */
static void prefer_known_rounding(struct resize *r)
{
    bool enlarges = false, reduces = false;
    if (r->how.nearest != NEAREST_SIMPLE)
        return;
    for (uint32_t i = 0; i < r->rank; i++) {
        enlarges |= r->axis[i].scale > 1;
        reduces |= r->axis[i].scale < 1;
    }
    if (!enlarges || !reduces)
        r->how.nearest = reduces ? NEAREST_CEIL : NEAREST_FLOOR;
}

/* Both round half a pixel down, from half a pixel further on: the container has one of them. */
static void prefer_known_half_pixel(struct resize *r)
{
    if (r->how.position != POSITION_TF_HALF_PIXEL || r->how.interpolation != INTERPOLATE_NEAREST ||
        r->how.nearest != NEAREST_FLOOR)
        return;
    for (uint32_t i = 0; i < r->rank; i++)
        if (!resample_fits_extents(&r->axis[i]))
            return;
    r->how.position = POSITION_HALF_PIXEL;
    r->how.nearest = NEAREST_PREFER_CEIL;
}

static bool is_native(const struct lower *l, const struct resize *r)
{
    enum dtype dtype = build_type(l->b, r->x)->dtype;
    bool nearest = r->how.interpolation == INTERPOLATE_NEAREST;
    bool shape_fits = r->rank >= 3 && r->rank <= SPATIAL_MAX + 2 && is_kept(&r->axis[0]) && is_kept(&r->axis[1]);
    bool mode_fits =
        r->how.position <= POSITION_ASYMMETRIC && !r->how.antialias && (!nearest || r->how.nearest <= NEAREST_CEIL);
    for (uint32_t i = 2; i < r->rank; i++) {
        const struct resample_axis *a = &r->axis[i];
        /* Where no scale is stored, the extents must say it; so they must for corners to be aligned. */
        if (r->rank == 5)
            shape_fits = shape_fits && resample_fits_extents(a);
        if (r->how.position == POSITION_ALIGN_CORNERS)
            shape_fits = shape_fits && resample_length(a) == (float)a->out;
    }
    return shape_fits && mode_fits && (nearest || dtype_is_float(dtype));
}

static odlc_status native_resize(struct lower *l, const struct resize *r)
{
    tensor_id image;
    TRY(image_enter(l, NULL, &image));
    struct type type = *build_type(l->b, image);
    uint32_t first = type.shape.rank - r->rank;
    for (uint32_t i = 2; i < r->rank; i++)
        type.shape.dims[first + i - 1] = r->axis[i].out;
    const float scales[] = {r->rank == 3 ? 1 : r->axis[2].scale, r->axis[r->rank - 1].scale};
    image_op(l, OP_Resize, image);
    lower_resize_params(l->b, &r->how, type.shape.rank == 4 ? scales : NULL);
    return image_leave_typed(l, &type);
}

/* ---- tables ---- */

/* Resizes one axis: nearest neighbours are picked, others weighed. */
static odlc_status apply_taps(struct lower *l, const struct resize *r, uint32_t axis, bool nearest, const char *name,
                              tensor_id *t)
{
    struct resample_taps taps = resample_taps(l->arena, &r->how, &r->axis[axis]);
    if (nearest)
        return lower_gather_positions(l, *t, axis, taps.index, r->axis[axis].out, name, t);
    return lower_resample_matmul(l, *t, axis, &taps, r->axis[axis].out, name, t);
}

/* Adds the extrapolation value where a crop reaches outside along some axis; the tables gave 0 there. */
static odlc_status extrapolate(struct lower *l, const struct resize *r, tensor_id *t)
{
    struct shape shape = build_type(l->b, *t)->shape;
    size_t count = shape_count(&shape);
    double *values;
    TRY(lower_table(l, count, sizeof *values, &values));
    for (uint32_t i = 0; i < r->rank; i++) {
        if (is_kept(&r->axis[i]))
            continue;
        struct resample_taps taps = resample_taps(l->arena, &r->how, &r->axis[i]);
        uint64_t inner = shape_count_range(&shape, i + 1, shape.rank);
        for (size_t at = 0; at < count; at++) {
            double inside = 0;
            for (int64_t k = 0; k < taps.width; k++)
                inside += taps.weight[(int64_t)(at / inner % (uint64_t)shape.dims[i]) * taps.width + k];
            if (inside == 0)
                values[at] = r->extrapolation;
        }
    }
    struct view view = view_of(values, DT_FLOAT64, &shape);
    tensor_id outside = graph_add_constant(l->b->graph, step_name(l, "outside"), build_type(l->b, *t)->dtype, &view);
    return build_binary(l->b, OP_ElementWiseAdd, *t, outside, lower_out_name(l, 0), t);
}

static odlc_status table_resize(struct lower *l, const struct resize *r)
{
    bool crop = r->how.position == POSITION_CROP, nearest = r->how.interpolation == INTERPOLATE_NEAREST && !crop;
    bool fills = crop && r->extrapolation != 0;
    enum dtype dtype = build_type(l->b, r->x)->dtype;
    if (!nearest && !dtype_is_float(dtype))
        return lower_unsupported(l, "mode", "cast the input to float", "elements of type %s cannot be interpolated so",
                                 dtype_info(dtype)->name);
    tensor_id t = r->x;
    uint32_t left = 0;
    for (uint32_t i = 0; i < r->rank; i++)
        left += !is_kept(&r->axis[i]);
    for (uint32_t i = 0; i < r->rank; i++) {
        const struct resample_axis *a = &r->axis[i];
        if (is_kept(a))
            continue;
        if (!resample_matmul_fits(a->in, a->out))
            return lower_unsupported(l, "mode", NULL, "a table of %lld times %lld weights is too large",
                                     (long long)a->out, (long long)a->in);
        const char *name = --left || fills ? step_name(l, "axis") : lower_out_name(l, 0);
        TRY(apply_taps(l, r, i, nearest, name, &t));
    }
    if (fills)
        TRY(extrapolate(l, r, &t));
    l->out[0] = t;
    return ODLC_OK;
}

/* ---- integers ---- */

/* Integers are interpolated as floats, and what is behind the point is dropped: so ONNX's reference and ONNX Runtime
 * do, but for antialiasing, which the latter rounds. */
static bool drops_fractions(const struct lower *l, const struct resize *r)
{
    enum dtype dtype = build_type(l->b, r->x)->dtype;
    return r->how.interpolation == INTERPOLATE_LINEAR && !r->how.antialias && dtype_is_int(dtype) &&
           dtype_size(dtype) <= sizeof(float);
}

/* The node anew, by the same function, on floats. */
static odlc_status resize_integers(struct lower *l, lower_fn *fn, const struct resize *r)
{
    struct emit s = {.l = l};
    tensor_id y, x = emit_cast(&s, r->x, DT_FLOAT32);
    TRY(s.status);
    TRY(lower_anew(l, fn, l->version, x, &y));
    return emit_give(&s, 0, emit_cast(&s, y, build_type(l->b, r->x)->dtype));
}

/* ---- the choice ---- */

/* fn: the row's function. */
static odlc_status end_resize(struct lower *l, lower_fn *fn, struct resize *r)
{
    bool kept = true;
    for (uint32_t i = 0; i < r->rank; i++)
        kept = kept && is_kept(&r->axis[i]);
    if (kept) {
        l->out[0] = r->x;
        return ODLC_OK;
    }
    if (drops_fractions(l, r))
        return resize_integers(l, fn, r);
    prefer_known_rounding(r);
    prefer_known_half_pixel(r);
    return is_native(l, r) ? native_resize(l, r) : table_resize(l, r);
}

/* ---- rows ---- */

odlc_status lower_resize(struct lower *l)
{
    struct resize r;
    uint32_t axes[MAX_RANK], n_axes, n_scales, n_sizes;
    const double *scales;
    const int64_t *sizes;
    TRY(read_input(l, &r));
    TRY(read_how(l, false, &r));
    TRY(read_axes(l, r.rank, axes, &n_axes));
    TRY(lower_const_floats(l, 2, "scales", &scales, &n_scales));
    TRY(lower_const_ints(l, 3, "sizes", &sizes, &n_sizes));
    if (n_sizes)
        TRY(take_sizes(l, &r, axes, n_axes, sizes, n_sizes));
    else
        TRY(take_scales(l, &r, axes, n_axes, scales, n_scales));
    TRY(take_roi(l, &r, axes, n_axes));
    return end_resize(l, lower_resize, &r);
}

/* Before opset 7 images have two scales. */
static odlc_status image_scales(const struct lower *l, const double **out, uint32_t *count)
{
    double *scales = arena_array(l->arena, double, 4);
    if (build_rank(l->b, l->in[0]) != 4)
        return lower_invalid(l, NULL, NULL, "the input %s is not an image [N,C,H,W]",
                             shape_text(l->diags->arena, &build_type(l->b, l->in[0])->shape));
    if (!lower_has_attr(l, "height_scale") || !lower_has_attr(l, "width_scale"))
        return lower_invalid(l, "height_scale", NULL, "height_scale or width_scale is missing");
    scales[0] = scales[1] = 1;
    TRY(lower_attr_float(l, "height_scale", 1, &scales[2]));
    TRY(lower_attr_float(l, "width_scale", 1, &scales[3]));
    *out = scales;
    *count = 4;
    return ODLC_OK;
}

static odlc_status upsample_scales(const struct lower *l, const double **out, uint32_t *count)
{
    const float *list;
    if (!l->variant || strcmp(l->variant, LISTS_ARE_ATTRIBUTES) != 0)
        return lower_const_floats(l, 1, "scales", out, count);
    if (l->version < 7)
        return image_scales(l, out, count);
    TRY(lower_attr_floats(l, "scales", &list, count));
    double *wide = arena_array(l->arena, double, *count);
    for (uint32_t i = 0; i < *count; i++)
        wide[i] = (double)list[i];
    *out = wide;
    return ODLC_OK;
}

/* Upsample and Resize-10: scales as attributes (before version 9) or as input 1. */
odlc_status lower_upsample(struct lower *l)
{
    struct resize r;
    uint32_t axes[MAX_RANK], n_axes, count;
    const double *scales;
    TRY(read_input(l, &r));
    TRY(read_how(l, true, &r));
    TRY(read_axes(l, r.rank, axes, &n_axes));
    TRY(upsample_scales(l, &scales, &count));
    for (uint32_t i = 0; i < count; i++)
        if (scales[i] < 1 && strcmp(l->node->op->type, "Upsample") == 0)
            return lower_invalid(l, "scales", NULL, "an Upsample does not reduce, but a scale is %g", scales[i]);
    TRY(take_scales(l, &r, axes, n_axes, scales, count));
    return end_resize(l, lower_upsample, &r);
}

/* DepthToSpace and SpaceToDepth, which the container has under the same names. */
odlc_status lower_blocks(struct lower *l)
{
    static const struct choice modes[] = {{"DCR", 0}, {"CRD", 1}};
    tensor_id x, image;
    int64_t block;
    int mode;
    TRY(lower_choose(l, "mode", "DCR", modes, COUNT_OF(modes), &mode));
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_attr_int(l, "blocksize", 0, &block));
    if (build_rank(l->b, x) != 4)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 axes",
                             shape_text(l->diags->arena, &build_type(l->b, x)->shape));
    if (block < 1)
        return lower_invalid(l, "blocksize", NULL, "blocksize is %lld", (long long)block);
    int64_t size[] = {block, block};
    TRY(image_enter(l, NULL, &image));
    image_op(l, l->op, image);
    build_ints(l->b, PARAM_block_size, size, COUNT_OF(size));
    build_int(l->b, PARAM_mode, mode);
    return image_leave(l);
}
