/* SPDX-License-Identifier: Apache-2.0 */
/* The container's pools tell no positions: the elements under each window are laid out along an axis, whose Argmax is
 * looked up in a table of positions. */
#include "converters/lowering/max_indices.h"

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

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
            int64_t first = start < 0 ? ceil_div(-start, d) : 0;
            if (first >= s->kernel[i] || start + first * d >= s->in[i])
                return false;
        }
    }
    return true;
}

int64_t window_position(const struct spatial *s, uint32_t axis, int64_t out, int64_t k)
{
    int64_t start = out * s->stride[axis] - s->pad[axis][0], d = s->dilation[axis];
    int64_t first = start < 0 ? ceil_div(-start, d) : 0, last = (s->in[axis] - 1 - start) / d;
    return start + max_i64(min_i64(k, last), first) * d;
}

/* ---- Indices ---- */

/* For every window and element of it the position within a channel. */
static odlc_status position_table(const struct lower *l, const struct spatial *s, const int64_t *out,
                                  const int64_t *step, const char *kernel, int64_t **table)
{
    int64_t count = 1, taps = 1;
    bool fits = true;
    for (uint32_t i = 0; i < s->axes; i++)
        fits = fits && !ckd_mul(&count, count, out[i]) && !ckd_mul(&taps, taps, s->kernel[i]);
    if (!fits || ckd_mul(&count, count, taps))
        return lower_unsupported(l, kernel, NULL, "the windows have too many elements");
    TRY(lower_table(l, (uint64_t)count, sizeof **table, table));
    for (int64_t at = 0; at < count; at++) {
        int64_t window = at / taps, tap = at % taps;
        for (uint32_t i = s->axes; i-- > 0; window /= out[i], tap /= s->kernel[i])
            (*table)[at] += window_position(s, i, window % out[i], tap % s->kernel[i]) * step[i];
    }
    return ODLC_OK;
}

/* [batch, channels, out…, elements of the window] */
static tensor_id window_elements(struct emit *s, const struct spatial *w, const int64_t *out, const char *kernel,
                                 tensor_id x)
{
    struct lower *l = s->l;
    const struct shape in = build_type(l->b, x)->shape;
    struct shape apart = {.rank = 2, .dims = {in.dims[0], in.dims[1]}}, joined = apart;
    struct perm perm = perm_identity(2 + 2 * w->axes);
    int64_t taps = 1;
    for (uint32_t i = 0; i < w->axes && s->status == ODLC_OK; i++) {
        int64_t count, *positions;
        if (ckd_mul(&count, out[i], w->kernel[i]))
            s->status = lower_unsupported(l, kernel, NULL, "the windows of axis %u have too many elements", i);
        else
            s->status = lower_table(l, (uint64_t)count, sizeof *positions, &positions);
        if (s->status != ODLC_OK)
            return NO_TENSOR;
        for (int64_t at = 0; at < count; at++)
            positions[at] = window_position(w, i, at / w->kernel[i], at % w->kernel[i]);
        s->status = lower_gather_positions(l, x, i + 2, positions, count, step_name(l, "windows"), &x);
        apart.dims[apart.rank++] = out[i];
        apart.dims[apart.rank++] = w->kernel[i];
        joined.dims[joined.rank++] = out[i];
        perm.axis[2 + i] = (uint8_t)(2 + 2 * i);
        perm.axis[2 + w->axes + i] = (uint8_t)(3 + 2 * i);
        taps *= w->kernel[i];
    }
    joined.dims[joined.rank++] = taps;
    x = emit_reshape(s, x, &apart);
    x = emit_transpose(s, x, &perm);
    return emit_reshape(s, x, &joined);
}

/* Multiples of `step` in the order of their elements, `outer` more for each step along the first axis. */
static odlc_status multiples(const struct lower *l, const struct shape *shape, int64_t outer, int64_t step,
                             tensor_id *out)
{
    int64_t *values;
    uint64_t count = shape_count(shape), inner = shape_count_range(shape, 1, shape->rank);
    TRY(lower_table(l, count, sizeof *values, &values));
    for (uint64_t i = 0; i < count; i++)
        values[i] = (int64_t)(i / inner) * outer + (int64_t)(i % inner) * step;
    *out = build_const_ints(l->b, step_name(l, "numbers"), DT_INT32, shape, values);
    return ODLC_OK;
}

odlc_status lower_max_indices(struct lower *l, tensor_id x, const struct spatial *w, const int64_t *out,
                              const struct max_strides *strides, const char *kernel, tensor_id *found)
{
    const struct shape in = build_type(l->b, x)->shape;
    int64_t *table;
    tensor_id best, windows, channels;
    TRY(position_table(l, w, out, strides->spatial, kernel, &table));
    struct emit s = {.l = l};
    tensor_id elements = window_elements(&s, w, out, kernel, x);
    TRY(s.status);
    const struct shape shape = build_type(l->b, elements)->shape;
    int64_t taps = shape.dims[shape.rank - 1];
    struct shape each_window = {.rank = w->axes}, each_channel = {.rank = in.rank, .dims = {in.dims[0], in.dims[1]}};
    for (uint32_t i = 0; i < w->axes; i++) {
        each_window.dims[i] = out[i];
        each_channel.dims[i + 2] = 1;
    }
    int64_t row = (int64_t)shape_count_range(&each_window, 1, each_window.rank) * taps;
    struct shape positions = SHAPE((int64_t)shape_count(&each_window) * taps);
    build_op(l->b, OP_Argmax, step_name(l, "Argmax"));
    build_in(l->b, elements);
    build_int(l->b, PARAM_axis, shape.rank - 1);
    build_int(l->b, PARAM_keep_dims, 0);
    TRY(build_end(l->b, step_name(l, "Argmax"), &best));
    TRY(multiples(l, &each_window, row, taps, &windows));
    TRY(multiples(l, &each_channel, strides->batch, strides->channel, &channels));
    tensor_id places = build_const_ints(l->b, step_name(l, "positions"), DT_INT32, &positions, table);
    best = emit_binary(&s, OP_ElementWiseAdd, best, windows);
    places = emit_gather(&s, places, best, 0);
    *found = emit_binary(&s, OP_ElementWiseAdd, places, channels);
    return s.status;
}
