/* ONNX Slice, Pad and CenterCropPad. A Pad with negative amounts is a slice and a pad of what is left; where a mode
 * repeats the tensor (wrap, or a reflection wider than it) its elements are picked by position. */
#include <string.h>

#include "converters/onnx/lower_shape.h"
#include "converters/onnx/rows.h"

/* ---- slices ---- */

/* ---- Slice ---- */

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return max_i64(low, min_i64(value, high));
}

/* One row by the specification: negative ends count from the back, then everything is clamped to the axis. */
static void slice_row(int64_t start, int64_t end, int64_t step, int64_t dim, int64_t row[3])
{
    bool down = step < 0;
    start = clamp(start < 0 ? start + dim : start, 0, down ? dim - 1 : dim);
    end = clamp(end < 0 ? end + dim : end, down ? -1 : 0, dim);
    row[0] = start;
    row[1] = end;
    row[2] = clamp(step, -max_i64(dim, 1), max_i64(dim, 1));
    if (dim == 0 || (down ? start <= end : start >= end)) { /* nothing: one way to say it */
        row[0] = row[1] = 0;
        row[2] = 1;
    }
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
        slice_row(starts[i], ends[i], steps ? steps[i] : 1, shape.dims[axis], s.row[axis]);
    }
    return lower_slices(l, in, &s, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Pad ---- */

enum pad_mode { MODE_CONSTANT, MODE_REFLECT, MODE_EDGE, MODE_WRAP };

/* Values of the param `scheme`; wrap has none. */
static const int64_t pad_schemes[] = {[MODE_CONSTANT] = 0, [MODE_REFLECT] = 2, [MODE_EDGE] = 3};

static odlc_status pad_mode(const struct lower *l, enum pad_mode *out)
{
    static const char *const names[] = {
        [MODE_CONSTANT] = "constant", [MODE_REFLECT] = "reflect", [MODE_EDGE] = "edge", [MODE_WRAP] = "wrap"};
    const char *mode;
    TRY(lower_attr_string(l, "mode", "constant", &mode));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(mode, names[i]) == 0) {
            *out = (enum pad_mode)i;
            return ODLC_OK;
        }
    return lower_invalid(l, "mode", NULL, "unknown mode %s", mode);
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

/* Where the element `at` places from the start of an axis comes from, when the axis goes on for ever in this mode. */
static int64_t repeated(enum pad_mode mode, int64_t at, int64_t dim)
{
    int64_t period = mode == MODE_WRAP ? dim : max_i64(2 * (dim - 1), 1);
    int64_t within = (at % period + period) % period;
    return within < dim ? within : period - within;
}

static odlc_status pad_by_position(const struct lower *l, tensor_id *in, enum pad_mode mode, uint32_t axis,
                                   int64_t before, int64_t after)
{
    int64_t dim = build_type(l->b, *in)->shape.dims[axis];
    struct shape total = build_type(l->b, *in)->shape;
    if (dim == 0 || ckd_add(&total.dims[axis], dim, before) || ckd_add(&total.dims[axis], total.dims[axis], after))
        return lower_invalid(l, "pads", NULL, "axis %u of %lld elements cannot be padded by %lld and %lld", axis,
                             (long long)dim, (long long)before, (long long)after);
    TRY(lower_check_shape(l, "pads", &total));
    int64_t *positions;
    TRY(lower_table(l, (uint64_t)total.dims[axis], sizeof *positions, &positions));
    for (int64_t i = 0; i < total.dims[axis]; i++)
        positions[i] = repeated(mode, i - before, dim);
    return lower_pick(l, *in, axis, positions, total.dims[axis], step_name(l, "padded"), in);
}

/* The constant as a param: float32 for float tensors, else int32. */
static odlc_status pad_value(const struct lower *l, enum dtype dtype, struct param *out)
{
    bool is_attribute = l->version < 11;
    uint32_t count = 1;
    *out = (struct param){.usage = 1, .name = "pad_constant_value"};
    if (dtype == DT_STRING)
        return lower_unsupported(l, NULL, NULL, "strings cannot be padded with a constant");
    if (dtype_is_float(dtype)) {
        const double *value = &out->f;
        if (is_attribute)
            TRY(lower_attr_float(l, "value", 0, &out->f));
        else
            TRY(lower_const_floats(l, 2, "constant_value", &value, &count));
        out->dtype = DT_FLOAT32;
        out->f = count ? value[0] : 0;
    } else {
        const int64_t *value = NULL;
        if (!is_attribute)
            TRY(lower_const_ints(l, 2, "constant_value", &value, &count));
        out->dtype = DT_INT32;
        out->i = value && count ? value[0] : 0;
    }
    if (count > 1)
        return lower_invalid(l, "constant_value", NULL, "constant_value has %u elements", count);
    if (out->i < INT32_MIN || out->i > INT32_MAX)
        return lower_unsupported(l, "constant_value", NULL, "the constant %lld does not fit int32", (long long)out->i);
    return ODLC_OK;
}

static odlc_status emit_pad(struct lower *l, tensor_id in, enum pad_mode mode, const int64_t *before,
                            const int64_t *after)
{
    struct type type = *build_type(l->b, in);
    struct param value;
    if (mode == MODE_CONSTANT)
        TRY(pad_value(l, type.dtype, &value));
    int64_t amounts[MAX_RANK][2];
    for (uint32_t i = 0; i < type.shape.rank; i++) {
        amounts[i][0] = before[i];
        amounts[i][1] = after[i];
    }
    struct shape shape = SHAPE(type.shape.rank, 2);
    build_op(l->b, "Pad", fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, "scheme", pad_schemes[mode]);
    build_tensor_ints(l->b, "pad_amount", &shape, amounts[0]);
    if (mode == MODE_CONSTANT && (value.f != 0 || value.i != 0))
        build_param(l->b, &value); /* absent means zero */
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* What is too much at an axis is cut off, what lacks is added as zeros, one more at the end than at the start where the
 * number is odd. */
odlc_status lower_center_crop_pad(struct lower *l)
{
    tensor_id in;
    const int64_t *dims, *axes_list;
    int64_t before[MAX_RANK] = {0}, after[MAX_RANK] = {0};
    uint32_t count, n_axes, axes[MAX_RANK];
    bool rest = false;
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
        before[axis] = more / 2;
        after[axis] = more - more / 2;
        rest |= more > 0;
    }
    TRY(crop(l, &in, before, after));
    if (rest)
        return emit_pad(l, in, MODE_CONSTANT, before, after);
    l->out[0] = in;
    return ODLC_OK;
}

odlc_status lower_pad(struct lower *l)
{
    tensor_id in;
    enum pad_mode mode;
    int64_t before[MAX_RANK], after[MAX_RANK];
    bool rest = false;
    TRY(lower_need(l, 0, "data", &in));
    TRY(pad_mode(l, &mode));
    uint32_t rank = build_rank(l->b, in);
    TRY(pad_amounts(l, rank, before, after));
    TRY(crop(l, &in, before, after));
    for (uint32_t i = 0; i < rank; i++) {
        int64_t reach = build_type(l->b, in)->shape.dims[i] - 1, most = max_i64(before[i], after[i]);
        if (most && (mode == MODE_WRAP || (mode == MODE_REFLECT && most > reach))) {
            TRY(pad_by_position(l, &in, mode, i, before[i], after[i]));
            before[i] = after[i] = 0;
        }
        rest |= before[i] || after[i];
    }
    if (rest)
        return emit_pad(l, in, mode, before, after);
    l->out[0] = in;
    return ODLC_OK;
}
