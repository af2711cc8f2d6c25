/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX pools: MaxPool, AveragePool, LpPool and their global variants.
 *
 * The container's pools know neither dilation nor ONNX's rules for windows that reach over the end of the input. Both
 * are expressed with what they do know:
 *   - ceil_mode: the padding at the end is made just large enough for the last window, as it is for every pool;
 *   - dilation: the elements under each window are laid out one after the other with Gather, and pooled without
 * overlap;
 *   - an average that counts the model's padding but not what ceil_mode adds: the model's padding becomes a Pad. */
#include <float.h>
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_max_indices.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/onnx_spatial.h"
#include "converters/lowering/emit.h"

enum pool_kind { POOL_MAX, POOL_AVERAGE, POOL_LP };

struct pool {
    enum pool_kind kind;
    struct spatial s;
    int64_t out[SPATIAL_MAX];
    int64_t model_end[SPATIAL_MAX]; /* the model's padding at the end, before it is fitted to the windows */
    bool count_padding;
    double p;
};

/* ---- geometry ---- */

/* Strides beyond the kernel can ask for less than no padding. By the operator's formula windows then start inside of
 * the input; most runtimes start them at its edge. */
static odlc_status check_auto_pad(const struct lower *l, const struct spatial *s)
{
    bool upper = s->auto_pad == PAD_SAME_UPPER;
    for (uint32_t i = 0; (upper || s->auto_pad == PAD_SAME_LOWER) && i < s->axes; i++) {
        int64_t out = ceil_div(s->in[i], s->stride[i]);
        int64_t total = (out - 1) * s->stride[i] + spatial_reach(s, i) - s->in[i];
        /* One element less at the end changes nothing. */
        if (total < (upper ? -1 : 0))
            return lower_unsupported(l, "auto_pad", "give the padding as pads",
                                     "the padding of axis %u would be negative, which runtimes read differently", i);
    }
    return ODLC_OK;
}

/* Whether a window reaches over the padding that the model asks for. */
static bool reaches_over(const struct pool *p)
{
    for (uint32_t i = 0; i < p->s.axes; i++)
        if (p->s.pad[i][1] > p->model_end[i])
            return true;
    return false;
}

/* Extents of the output, and padding at the end that gives exactly them when sizes are rounded down. */
static odlc_status fit_windows(const struct lower *l, struct pool *p, bool ceil)
{
    struct spatial *s = &p->s;
    bool rounds_up = ceil && s->auto_pad <= PAD_VALID;
    TRY(check_auto_pad(l, s));
    spatial_auto_pad(s);
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t free = s->in[i] + s->pad[i][0] + s->pad[i][1] - spatial_reach(s, i);
        p->model_end[i] = s->pad[i][1];
        /* Rounded up, a part of a window makes one. */
        if (free < 0 && (!rounds_up || free <= -s->stride[i]))
            return lower_invalid(l, "kernel_shape", NULL, "the kernel is larger than the padded input");
        p->out[i] = (free + (rounds_up ? s->stride[i] - 1 : 0)) / s->stride[i] + 1;
        if (rounds_up && (p->out[i] - 1) * s->stride[i] >= s->in[i] + s->pad[i][0])
            p->out[i]--; /* a window of padding alone */
    }
    spatial_fit_end(s, p->out);
    if (reaches_over(p))
        s->auto_pad = PAD_NOTSET; /* VALID has no padding */
    return ODLC_OK;
}

static bool is_dilated(const struct spatial *s)
{
    for (uint32_t i = 0; i < s->axes; i++)
        if (s->dilation[i] != 1 && s->kernel[i] != 1)
            return true;
    return false;
}

/* ---- padding and dilation in front of the pool ---- */

/* What padding holds, so that it never changes the result: less than everything for a maximum, else 0. */
static odlc_status neutral_value(const struct lower *l, enum pool_kind kind, enum dtype dtype, struct param *out)
{
    *out = (struct param){
        .usage = 1, .name = "pad_constant_value", .dtype = dtype_is_float(dtype) ? DT_FLOAT32 : DT_INT32};
    if (kind != POOL_MAX || dtype == DT_UINT8)
        return ODLC_OK;
    if (dtype == DT_INT8)
        out->i = INT8_MIN;
    else if (dtype == DT_FLOAT16)
        out->f = -65504;
    else if (dtype_is_float(dtype))
        out->f = -(double)FLT_MAX;
    else
        return lower_unsupported(l, NULL, NULL, "elements of type %s cannot be padded", dtype_info(dtype)->name);
    return ODLC_OK;
}

/* Pads the image's spatial axes by before and after. */
static odlc_status pad_image(struct lower *l, enum pool_kind kind, uint32_t axes, int64_t (*amounts)[2],
                             tensor_id *image)
{
    struct param value;
    struct shape pairs = SHAPE(axes + 2, 2);
    int64_t all[SPATIAL_MAX + 2][2] = {{0}};
    bool any = false;
    for (uint32_t i = 0; i < axes; i++) {
        all[i + 1][0] = amounts[i][0];
        all[i + 1][1] = amounts[i][1];
        any |= amounts[i][0] || amounts[i][1];
    }
    if (!any)
        return ODLC_OK;
    TRY(neutral_value(l, kind, build_type(l->b, *image)->dtype, &value));
    build_op(l->b, OP_Pad, step_name(l, "pad"));
    build_in(l->b, *image);
    build_int(l->b, PARAM_scheme, 0);
    build_tensor_ints(l->b, PARAM_pad_amount, &pairs, all[0]);
    if (value.f != 0 || value.i != 0)
        build_param(l->b, &value); /* absent means zero */
    return build_end(l->b, step_name(l, "pad"), image);
}

/* The padding becomes elements; windows that follow ceil_mode over its end still reach into the pool's own padding. */
static odlc_status make_padding_elements(struct lower *l, struct pool *p, tensor_id *image)
{
    int64_t amounts[SPATIAL_MAX][2];
    for (uint32_t i = 0; i < p->s.axes; i++) {
        amounts[i][0] = p->s.pad[i][0];
        amounts[i][1] = min_i64(p->s.pad[i][1], p->model_end[i]);
        p->s.in[i] += amounts[i][0] + amounts[i][1];
        p->s.pad[i][0] = 0;
        p->s.pad[i][1] -= amounts[i][1];
    }
    return pad_image(l, p->kind, p->s.axes, amounts, image);
}

/* For each output element of a dilated average: kernel elements ÷ elements that count, along one axis. */
static void average_shares(const struct pool *p, uint32_t axis, double *share)
{
    const struct spatial *s = &p->s;
    int64_t first = p->count_padding ? -s->pad[axis][0] : 0;
    int64_t end = s->in[axis] + (p->count_padding ? p->model_end[axis] : 0);
    for (int64_t o = 0, d = s->dilation[axis]; o < p->out[axis]; o++) {
        int64_t start = o * s->stride[axis] - s->pad[axis][0];
        /* elements of the window before the first and before the last one that counts */
        int64_t before = start < first ? ceil_div(first - start, d) : 0,
                upto = start < end ? ceil_div(end - start, d) : 0;
        int64_t count = max_i64(min_i64(upto, s->kernel[axis]) - before, 0);
        share[o] = count ? (double)s->kernel[axis] / (double)count : 0;
    }
}

/* The factor that turns averages over whole windows into averages over the elements that count; *out is not set when it
 * is 1. */
static odlc_status average_correction(struct lower *l, const struct pool *p, enum dtype dtype, tensor_id *out)
{
    struct shape shape = {.rank = p->s.axes + 1};
    double *share[SPATIAL_MAX];
    bool needed = false;
    for (uint32_t i = 0; i < p->s.axes; i++) {
        shape.dims[i] = p->out[i];
        TRY(lower_table(l, (uint64_t)p->out[i], sizeof *share[i], &share[i]));
        average_shares(p, i, share[i]);
        for (int64_t o = 0; o < p->out[i]; o++)
            needed |= share[i][o] != 1;
    }
    shape.dims[p->s.axes] = 1;
    if (!needed)
        return ODLC_OK;
    size_t count = shape_count(&shape);
    double *factor;
    TRY(lower_table(l, count, sizeof *factor, &factor));
    for (size_t at = 0; at < count; at++) {
        size_t rest = at;
        factor[at] = 1;
        for (uint32_t i = p->s.axes; i-- > 0; rest /= (size_t)p->out[i])
            factor[at] *= share[i][rest % (size_t)p->out[i]];
    }
    struct view view = view_of(factor, DT_FLOAT64, &shape);
    *out = graph_add_constant(l->b->graph, step_name(l, "shares"), dtype, &view);
    return ODLC_OK;
}

/* Lays the elements of all windows out side by side: afterwards stride = kernel, without dilation or padding. */
static odlc_status spread_windows(struct lower *l, struct pool *p, tensor_id *image)
{
    struct spatial *s = &p->s;
    bool clamped = p->kind == POOL_MAX && windows_see_input(s, p->out);
    if (!clamped)
        TRY(pad_image(l, p->kind, s->axes, s->pad, image));
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t count, *positions;
        if (ckd_mul(&count, p->out[i], s->kernel[i]))
            return lower_unsupported(l, "dilations", NULL, "the windows of axis %u have too many elements", i);
        TRY(lower_table(l, (uint64_t)count, sizeof *positions, &positions));
        for (int64_t at = 0; at < count; at++)
            positions[at] = clamped ? window_position(s, i, at / s->kernel[i], at % s->kernel[i])
                                    : at / s->kernel[i] * s->stride[i] + at % s->kernel[i] * s->dilation[i];
        TRY(lower_gather_positions(l, *image, i + 1, positions, count, step_name(l, "windows"), image));
        s->in[i] = count;
        s->stride[i] = s->kernel[i];
        s->dilation[i] = 1;
        s->pad[i][0] = s->pad[i][1] = 0;
    }
    return ODLC_OK;
}

/* ---- the pool ---- */

static odlc_status end_max(struct lower *l, struct pool *p, tensor_id image)
{
    if (is_dilated(&p->s))
        TRY(spread_windows(l, p, &image));
    image_op(l, p->s.axes == 3 ? OP_PoolMax3d : OP_PoolMax2d, image);
    spatial_pool_params(l->b, &p->s, false);
    return image_leave(l);
}

static enum op_id average_op(const struct pool *p)
{
    return p->s.axes == 3 ? OP_PoolAvg3d : OP_PoolAvg2d;
}

/* An average that is not the node's last step. */
static odlc_status average_step(struct lower *l, const struct pool *p, bool count_padding, tensor_id in, tensor_id *out)
{
    build_op(l->b, average_op(p), step_name(l, "average"));
    build_in(l->b, in);
    spatial_pool_params(l->b, &p->s, count_padding);
    return build_end(l->b, step_name(l, "average"), out);
}

static odlc_status end_average(struct lower *l, struct pool *p, tensor_id image)
{
    tensor_id correction = NO_TENSOR;
    if (is_dilated(&p->s)) {
        TRY(average_correction(l, p, build_type(l->b, image)->dtype, &correction));
        TRY(spread_windows(l, p, &image));
    } else if (p->count_padding && reaches_over(p)) {
        TRY(make_padding_elements(l, p, &image));
        p->count_padding = false;
    }
    if (correction == NO_TENSOR) {
        image_op(l, average_op(p), image);
        spatial_pool_params(l->b, &p->s, p->count_padding);
        return image_leave(l);
    }
    TRY(average_step(l, p, false, image, &image));
    image_op(l, OP_ElementWiseMultiply, image);
    build_in(l->b, correction);
    return image_leave(l);
}

/* (Σ |x|^p)^(1/p), for p other than 2 by way of the average: every window counts all its elements, padding included. */
static odlc_status end_lp(struct lower *l, struct pool *p, tensor_id image)
{
    if (is_dilated(&p->s))
        TRY(spread_windows(l, p, &image));
    if (p->p == 2 && p->s.axes == 2) {
        image_op(l, OP_L2Pool2d, image);
        spatial_pool_params(l->b, &p->s, false);
        return image_leave(l);
    }
    double count = 1;
    for (uint32_t i = 0; i < p->s.axes; i++)
        count *= (double)p->s.kernel[i];
    struct emit s = {.l = l};
    tensor_id power = emit_unary(&s, OP_ElementWiseAbs, image);
    power = emit_binary(&s, OP_ElementWisePower, power, emit_scalar(&s, image, p->p));
    TRY(s.status);
    TRY(average_step(l, p, true, power, &power));
    tensor_id sum = emit_binary(&s, OP_ElementWiseMultiply, power, emit_scalar(&s, image, count));
    tensor_id exponent = emit_scalar(&s, image, 1 / p->p);
    TRY(s.status);
    image_op(l, OP_ElementWisePower, sum);
    build_in(l->b, exponent);
    return image_leave(l);
}

static odlc_status end_pool(struct lower *l, struct pool *p)
{
    static odlc_status (*const ends[])(struct lower *, struct pool *, tensor_id) = {
        [POOL_MAX] = end_max, [POOL_AVERAGE] = end_average, [POOL_LP] = end_lp};
    tensor_id image;
    TRY(image_enter(l, &p->s, &image));
    if (build_rank(l->b, l->in[0]) == 3) {
        p->out[1] = p->out[0];
        p->model_end[1] = p->model_end[0];
        p->out[0] = 1;
        p->model_end[0] = 0;
    }
    return ends[p->kind](l, p, image);
}

/* ---- rows ---- */

static odlc_status read_p(const struct lower *l, double *p)
{
    int64_t exponent;
    if (l->version < 2) {
        TRY(lower_attr_float(l, "p", 2, p));
        return *p >= 1 ? ODLC_OK : lower_invalid(l, "p", NULL, "p is %g", *p);
    }
    TRY(lower_attr_int(l, "p", 2, &exponent));
    if (exponent < 1)
        return lower_invalid(l, "p", NULL, "p is %lld", (long long)exponent);
    *p = (double)exponent;
    return ODLC_OK;
}

static odlc_status read_pool(struct lower *l, struct pool *p)
{
    int64_t ceil;
    TRY(spatial_read(l, NULL, &p->s));
    TRY(lower_attr_int(l, "ceil_mode", 0, &ceil));
    return fit_windows(l, p, ceil != 0);
}

static odlc_status lower_pool(struct lower *l, struct pool *p)
{
    TRY(read_pool(l, p));
    return end_pool(l, p);
}

odlc_status lower_max_pool(struct lower *l)
{
    struct pool p = {.kind = POOL_MAX};
    TRY(read_pool(l, &p));
    if (lower_out_name(l, 1))
        TRY(lower_pool_indices(l, &p.s, p.out));
    return end_pool(l, &p);
}

odlc_status lower_average_pool(struct lower *l)
{
    struct pool p = {.kind = POOL_AVERAGE};
    int64_t count_padding;
    TRY(lower_attr_int(l, "count_include_pad", 0, &count_padding));
    p.count_padding = count_padding != 0;
    return lower_pool(l, &p);
}

odlc_status lower_lp_pool(struct lower *l)
{
    struct pool p = {.kind = POOL_LP};
    TRY(read_p(l, &p.p));
    return lower_pool(l, &p);
}

/* One window that is the image, and steps over all of it. */
odlc_status lower_global_pool(struct lower *l)
{
    tensor_id x;
    struct pool p = {.kind = strcmp(l->variant, "max") == 0  ? POOL_MAX
                             : strcmp(l->variant, "lp") == 0 ? POOL_LP
                                                             : POOL_AVERAGE};
    TRY(lower_need(l, 0, "X", &x));
    const struct shape *in = &build_type(l->b, x)->shape;
    if (in->rank < 3 || in->rank > SPATIAL_MAX + 2)
        return lower_unsupported(l, NULL, NULL, "the input %s does not have 1 to %d spatial axes",
                                 shape_text(l->diags->arena, in), SPATIAL_MAX);
    if (p.kind == POOL_LP)
        TRY(read_p(l, &p.p));
    p.s = (struct spatial){.axes = in->rank - 2, .auto_pad = PAD_VALID};
    for (uint32_t i = 0; i < p.s.axes; i++) {
        p.s.in[i] = p.s.kernel[i] = p.s.stride[i] = in->dims[i + 2];
        p.s.dilation[i] = p.out[i] = 1;
    }
    return end_pool(l, &p);
}
