/* The positions of maxima: the Indices of ONNX MaxPool, and MaxUnpool, which puts values back to them. The container's
 * pools tell no positions: the elements under each window are laid out along an axis, whose Argmax is looked up in a
 * table of positions. */
#include "converters/onnx/lower_shape.h"
#include "converters/onnx/max_indices.h"
#include "converters/onnx/rows.h"
#include "converters/lowering/steps.h"

/* ---- windows without padding ---- */

/* More windows than this are in no table. */
#define WINDOWS_MAX ((int64_t)1 << 24)

bool windows_see_input(const struct spatial *s, const int64_t *out)
{
    for (uint32_t i = 0; i < s->axes; i++) {
        if (out[i] > WINDOWS_MAX)
            return false;
        for (int64_t o = 0; o < out[i]; o++) {
            int64_t start = o * s->stride[i] - s->pad[i][0], d = s->dilation[i];
            int64_t first = start < 0 ? (-start + d - 1) / d : 0;
            if (first >= s->kernel[i] || start + first * d >= s->in[i])
                return false;
        }
    }
    return true;
}

int64_t window_position(const struct spatial *s, uint32_t axis, int64_t out, int64_t k)
{
    int64_t start = out * s->stride[axis] - s->pad[axis][0], d = s->dilation[axis];
    int64_t first = start < 0 ? (-start + d - 1) / d : 0, last = (s->in[axis] - 1 - start) / d;
    return start + max_i64(min_i64(k, last), first) * d;
}

/* ---- Indices ---- */

/* For every window and element of it the position within a channel. */
static odlc_status position_table(const struct lower *l, const struct spatial *s, const int64_t *out, bool column_major,
                                  int64_t **table)
{
    int64_t count = 1, taps = 1, step[SPATIAL_MAX] = {1, 1, 1};
    bool fits = true;
    for (uint32_t i = 0; i < s->axes; i++) {
        fits = fits && !ckd_mul(&count, count, out[i]) && !ckd_mul(&taps, taps, s->kernel[i]);
        for (uint32_t k = 0; k < s->axes; k++)
            step[i] *= (column_major ? k < i : k > i) ? s->in[k] : 1;
    }
    if (!fits || ckd_mul(&count, count, taps))
        return lower_unsupported(l, "kernel_shape", NULL, "the windows have too many elements");
    TRY(lower_table(l, (uint64_t)count, sizeof **table, table));
    for (int64_t at = 0; at < count; at++) {
        int64_t window = at / taps, tap = at % taps;
        for (uint32_t i = s->axes; i-- > 0; window /= out[i], tap /= s->kernel[i])
            (*table)[at] += window_position(s, i, window % out[i], tap % s->kernel[i]) * step[i];
    }
    return ODLC_OK;
}

/* [batch, channels, out…, elements of the window] */
static tensor_id window_elements(struct steps *s, const struct spatial *w, const int64_t *out, tensor_id x)
{
    struct lower *l = s->l;
    const struct shape in = build_type(l->b, x)->shape;
    struct shape apart = {.rank = 2, .dims = {in.dims[0], in.dims[1]}}, joined = apart;
    struct perm perm = perm_identity(2 + 2 * w->axes);
    int64_t taps = 1;
    for (uint32_t i = 0; i < w->axes && s->status == ODLC_OK; i++) {
        int64_t count, *positions;
        if (ckd_mul(&count, out[i], w->kernel[i]))
            s->status = lower_unsupported(l, "kernel_shape", NULL, "the windows of axis %u have too many elements", i);
        else
            s->status = lower_table(l, (uint64_t)count, sizeof *positions, &positions);
        if (s->status != ODLC_OK)
            return NO_TENSOR;
        for (int64_t at = 0; at < count; at++)
            positions[at] = window_position(w, i, at / w->kernel[i], at % w->kernel[i]);
        s->status = lower_pick(l, x, i + 2, positions, count, step_name(l, "windows"), &x);
        apart.dims[apart.rank++] = out[i];
        apart.dims[apart.rank++] = w->kernel[i];
        joined.dims[joined.rank++] = out[i];
        perm.axis[2 + i] = (uint8_t)(2 + 2 * i);
        perm.axis[2 + w->axes + i] = (uint8_t)(3 + 2 * i);
        taps *= w->kernel[i];
    }
    joined.dims[joined.rank++] = taps;
    x = step_reshape(s, x, &apart);
    x = step_transpose(s, x, &perm);
    return step_reshape(s, x, &joined);
}

/* 0, step, 2 · step, … of this shape. */
static odlc_status multiples(const struct lower *l, const struct shape *shape, int64_t step, tensor_id *out)
{
    int64_t *values;
    uint64_t count = shape_count(shape);
    TRY(lower_table(l, count, sizeof *values, &values));
    for (uint64_t i = 0; i < count; i++)
        values[i] = (int64_t)i * step;
    *out = build_const_ints(l->b, step_name(l, "numbers"), DT_INT32, shape, values);
    return ODLC_OK;
}

odlc_status lower_max_indices(struct lower *l, const struct spatial *w, const int64_t *out)
{
    const struct shape in = build_type(l->b, l->in[0])->shape;
    int64_t order, *table;
    tensor_id best, windows, channels;
    TRY(lower_attr_int(l, "storage_order", 0, &order));
    if (shape_count(&in) > INT32_MAX)
        return lower_unsupported(l, NULL, NULL, "positions in %s are beyond 32 bits", shape_text(l->diags->arena, &in));
    if (!windows_see_input(w, out))
        return lower_unsupported(l, "pads", NULL, "Indices of windows that lie in the padding alone are not defined");
    TRY(position_table(l, w, out, order != 0, &table));
    struct steps s = {.l = l};
    tensor_id elements = window_elements(&s, w, out, l->in[0]);
    TRY(s.status);
    const struct shape shape = build_type(l->b, elements)->shape;
    int64_t taps = shape.dims[shape.rank - 1], image = (int64_t)shape_count_range(&in, 2, in.rank);
    struct shape each_window = {.rank = w->axes}, each_channel = {.rank = in.rank, .dims = {in.dims[0], in.dims[1]}};
    for (uint32_t i = 0; i < w->axes; i++) {
        each_window.dims[i] = out[i];
        each_channel.dims[i + 2] = 1;
    }
    struct shape positions = SHAPE((int64_t)shape_count(&each_window) * taps);
    build_op(l->b, "Argmax", step_name(l, "Argmax"));
    build_in(l->b, elements);
    build_int(l->b, "axis", shape.rank - 1);
    build_int(l->b, "keep_dims", 0);
    TRY(build_end(l->b, step_name(l, "Argmax"), &best));
    TRY(multiples(l, &each_window, taps, &windows));
    TRY(multiples(l, &each_channel, image, &channels));
    tensor_id found = build_const_ints(l->b, step_name(l, "positions"), DT_INT32, &positions, table);
    best = step_binary(&s, "ElementWiseAdd", best, windows);
    found = step_gather(&s, found, best, 0);
    found = step_binary(&s, "ElementWiseAdd", found, channels);
    TRY(s.status);
    return build_cast(l->b, found, DT_INT64, lower_out_name(l, 1), &l->out[1]);
}

/* ---- MaxUnpool ---- */

/* Without output_shape: what a pool with these attributes would have come from. */
static odlc_status unpooled_shape(const struct lower *l, const struct spatial *s, struct shape *shape)
{
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t extent = (s->in[i] - 1) * s->stride[i] + s->kernel[i] - s->pad[i][0] - s->pad[i][1];
        if (extent < 1)
            return lower_invalid(l, "pads", NULL, "the padding leaves nothing of the output");
        shape->dims[i + 2] = extent;
    }
    return lower_check_shape(l, "kernel_shape", shape);
}

/* Positions count in the shape that the attributes give; a larger one is filled up with zeros. */
static odlc_status fill_up(struct lower *l, tensor_id in, const struct shape *shape)
{
    const struct shape have = build_type(l->b, in)->shape;
    struct shape pairs = SHAPE(shape->rank, 2);
    int64_t amounts[MAX_RANK][2] = {{0}};
    for (uint32_t i = 0; i < shape->rank; i++) {
        amounts[i][1] = shape->dims[i] - have.dims[i];
        if (amounts[i][1] < 0)
            return lower_invalid(l, "output_shape", NULL, "output_shape %s does not hold the result %s",
                                 shape_text(l->diags->arena, shape), shape_text(l->diags->arena, &have));
    }
    build_op(l->b, "Pad", fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, "scheme", 0);
    build_tensor_ints(l->b, "pad_amount", &pairs, amounts[0]);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_max_unpool(struct lower *l)
{
    struct spatial w;
    struct steps s = {.l = l};
    tensor_id x, indices, sparse;
    const int64_t *dims;
    uint32_t count;
    TRY(spatial_read(l, NULL, &w));
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_need(l, 1, "I", &indices));
    TRY(lower_const_ints(l, 2, "output_shape", &dims, &count));
    const struct type type = *build_type(l->b, x);
    if (!shape_equal(&build_type(l->b, indices)->shape, &type.shape))
        return lower_invalid(l, NULL, NULL, "the shapes of X and I differ");
    struct shape shape = type.shape, wanted;
    TRY(unpooled_shape(l, &w, &shape));
    wanted = shape;
    if (dims)
        TRY(lower_shape_of(l, "output_shape", dims, count, &wanted));
    if (wanted.rank != shape.rank)
        return lower_invalid(l, "output_shape", NULL, "output_shape has %u elements, not %u", count, shape.rank);
    if (shape_count(&shape) > INT32_MAX)
        return lower_unsupported(l, NULL, NULL, "positions in %s are beyond 32 bits",
                                 shape_text(l->diags->arena, &shape));
    bool larger = !shape_equal(&wanted, &shape);
    struct shape flat = SHAPE((int64_t)shape_count(&shape)), list = SHAPE((int64_t)shape_count(&type.shape));
    x = step_reshape(&s, x, &list);
    indices = step_reshape(&s, indices, &list);
    TRY(s.status);
    build_op(l->b, "ScatterElements", fw_node_label(l->node));
    build_in(l->b, lower_splat(l, step_name(l, "zeros"), type.dtype, &flat, 0));
    build_in(l->b, indices);
    build_in(l->b, x);
    build_int(l->b, "axis", 0);
    TRY(build_end(l->b, step_name(l, "scattered"), &sparse));
    if (!larger)
        return build_reshape(l->b, sparse, &shape, lower_out_name(l, 0), &l->out[0]);
    TRY(build_reshape(l->b, sparse, &shape, step_name(l, "unpooled"), &sparse));
    return fill_up(l, sparse, &wanted);
}
