/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Slice, Pad and CenterCropPad. A Pad with negative amounts is a slice and a pad of what is left; where a mode
 * repeats the tensor (wrap, or a reflection wider than it) its elements are picked by position. */
#include <string.h>

#include "converters/lowering/pads.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- Slice ---- */

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return max_i64(low, min_i64(value, high));
}

/* By the specification negative ends count from the back, then everything is clamped to the axis. The largest int32 and
 * int64 stand for the end of an axis of unknown size: backward that is its first element, as ONNX Runtime has it. */
static void slice_axis(struct slices *s, uint32_t axis, int64_t start, int64_t end, int64_t step, int64_t dim)
{
    bool down = step < 0;
    if (down && (end == INT32_MAX || end == INT64_MAX))
        end = INT64_MIN;
    start = clamp(start < 0 ? start + dim : start, 0, down ? dim - 1 : dim);
    end = clamp(end < 0 ? end + dim : end, down ? -1 : 0, dim);
    slices_set(s, axis, start, end, step, dim);
}

odlc_status lower_slice(struct lower *l)
{
    tensor_id in;
    const int64_t *starts, *ends, *axes_list, *steps = NULL;
    uint32_t count, n_ends, n_axes, n_steps = 0, axes[MAX_RANK];
    TRY(lower_need(l, 0, "data", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    TRY(lower_ints(l, 1, "starts", &starts, &count));
    TRY(lower_ints(l, 2, "ends", &ends, &n_ends));
    TRY(lower_ints(l, 3, "axes", &axes_list, &n_axes));
    TRY(lower_ints(l, 4, "steps", &steps, &n_steps));
    if (!starts || count != n_ends || (axes_list && count != n_axes) || (steps && count != n_steps))
        return lower_invalid(l, "starts", NULL, "starts, ends, axes and steps differ in length");
    if (!axes_list && count > shape.rank)
        return lower_invalid(l, "starts", NULL, "%u starts for a tensor of rank %u", count, shape.rank);
    if (axes_list)
        TRY(lower_axes(l, "axes", axes_list, count, shape.rank, axes));
    struct slices s = slices_whole(&shape);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis = axes_list ? axes[i] : i;
        if (steps && steps[i] == 0)
            return lower_invalid(l, "steps", NULL, "the step of axis %u is 0", axis);
        slice_axis(&s, axis, starts[i], ends[i], steps ? steps[i] : 1, shape.dims[axis]);
    }
    return lower_slices(l, in, &s, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Pad ---- */

static odlc_status pad_mode(const struct lower *l, enum pad_mode *out)
{
    static const struct choice modes[] = {
        {"constant", MODE_CONSTANT}, {"reflect", MODE_REFLECT}, {"edge", MODE_EDGE}, {"wrap", MODE_WRAP}};
    int mode;
    TRY(lower_choose(l, "mode", "constant", modes, COUNT_OF(modes), &mode));
    *out = (enum pad_mode)mode;
    return ODLC_OK;
}

/* Amounts before and after each axis of the tensor. */
static odlc_status pad_amounts(const struct lower *l, uint32_t rank, int64_t before[MAX_RANK], int64_t after[MAX_RANK])
{
    const int64_t *pads, *axes_list = NULL;
    uint32_t count, n_axes = rank, axes[MAX_RANK];
    TRY(lower_ints(l, 1, l->version < 2 ? "paddings" : "pads", &pads, &count));
    if (l->version >= 18)
        TRY(lower_const_ints(l, 3, "axes", &axes_list, &n_axes));
    if (!axes_list)
        n_axes = rank;
    if (!pads || count != 2 * (uint64_t)n_axes)
        return lower_invalid(l, "pads", NULL, "%u pads for %u axes", count, n_axes);
    if (axes_list)
        TRY(lower_axes(l, "axes", axes_list, n_axes, rank, axes));
    memset(before, 0, MAX_RANK * sizeof *before);
    memset(after, 0, MAX_RANK * sizeof *after);
    for (uint32_t i = 0; i < n_axes; i++) {
        before[axes_list ? axes[i] : i] = pads[i];
        after[axes_list ? axes[i] : i] = pads[n_axes + i];
    }
    return ODLC_OK;
}

/* Negative amounts cut off; what remains of the amounts is positive. */
static odlc_status crop(const struct lower *l, tensor_id *in, int64_t before[MAX_RANK], int64_t after[MAX_RANK])
{
    const struct shape shape = build_type(l->b, *in)->shape;
    struct slices s = slices_whole(&shape);
    for (uint32_t i = 0; i < shape.rank; i++) {
        int64_t dim = shape.dims[i], from = before[i] < 0 ? before[i] : 0, to = after[i] < 0 ? after[i] : 0;
        if (from < -dim || to < -dim - from)
            return lower_invalid(l, "pads", NULL, "axis %u of %s loses more than it has", i,
                                 shape_text(l->diags->arena, &shape));
        s.row[i][0] = -from;
        s.row[i][1] = dim + to;
        before[i] -= from;
        after[i] -= to;
    }
    return lower_slices(l, *in, &s, step_name(l, "cropped"), in);
}

/* The amounts that are left over, when what they are filled with is known. */
static odlc_status pad_rest(struct lower *l, tensor_id in, struct pads *p)
{
    enum dtype dtype = build_type(l->b, in)->dtype;
    bool rest = false;
    for (uint32_t i = 0; i < build_rank(l->b, in); i++)
        rest |= p->before[i] || p->after[i];
    if (rest && p->mode == MODE_CONSTANT)
        TRY(lower_pad_value(l, 2, "constant_value", dtype, p));
    if (rest && p->mode == MODE_CONSTANT && l->variant)
        TRY(lower_attr_float(l, "value", 0, dtype_is_float(dtype) ? &p->value.f : &(double){0}));
    return lower_padded(l, in, p, lower_out_name(l, 0), &l->out[0]);
}

/* What is too much at an axis is cut off, what lacks is added as zeros, one more at the end than at the start where the
 * number is odd. */
odlc_status lower_center_crop_pad(struct lower *l)
{
    tensor_id in;
    const int64_t *dims, *axes_list;
    struct pads p = {.mode = MODE_CONSTANT};
    uint32_t count, n_axes, axes[MAX_RANK];
    TRY(lower_need(l, 0, "input_data", &in));
    TRY(lower_const_ints(l, 1, "shape", &dims, &count));
    TRY(lower_attr_ints(l, "axes", &axes_list, &n_axes));
    struct shape shape = build_type(l->b, in)->shape;
    if (lower_in(l, 1) == NO_TENSOR || count != (axes_list ? n_axes : shape.rank))
        return lower_invalid(l, "shape", NULL, "%u dims for %u axes", count, axes_list ? n_axes : shape.rank);
    TRY(lower_axes(l, "axes", axes_list, axes_list ? n_axes : 0, shape.rank, axes));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis = axes_list ? axes[i] : i;
        int64_t dim = shape.dims[axis];
        shape.dims[axis] = dims[i];
        TRY(lower_check_shape(l, "shape", &shape));
        int64_t more = dims[i] - dim;
        p.before[axis] = more / 2;
        p.after[axis] = more - more / 2;
    }
    TRY(crop(l, &in, p.before, p.after));
    return pad_rest(l, in, &p);
}

odlc_status lower_pad(struct lower *l)
{
    tensor_id in;
    struct pads p;
    TRY(lower_need(l, 0, "data", &in));
    TRY(pad_mode(l, &p.mode));
    TRY(pad_amounts(l, build_rank(l->b, in), p.before, p.after));
    TRY(crop(l, &in, p.before, p.after));
    return pad_rest(l, in, &p);
}
