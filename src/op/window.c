/* SPDX-License-Identifier: Apache-2.0 */
#include "op/window.h"

#include "op/op.h"

/* More than any extent that fits in memory; sums of products of two of these stay within int64. */
#define EXTENT_MAX ((int64_t)1 << 30)

/* Element i of an integer tensor param of `count` elements within [low, EXTENT_MAX]. */
static const char *read_extents(const struct node *n, enum param_id param, uint32_t count, int64_t low,
                                const int64_t **out)
{
    uint32_t given;
    *out = node_ints(n, param, &given);
    if (!*out)
        return NULL;
    if (given != count)
        return "a param has the wrong number of elements";
    for (uint32_t i = 0; i < count; i++)
        if ((*out)[i] < low || (*out)[i] > EXTENT_MAX)
            return "a param is out of range";
    return NULL;
}

const char *window_read(struct window *w, const struct node *n, const struct shape *x, const int64_t *filter)
{
    if (x->rank < 3 || x->rank > WINDOW_AXES + 2)
        return "the input's rank does not fit";
    *w = (struct window){.rank = x->rank - 2, .batch = x->dims[0], .channels = x->dims[x->rank - 1]};
    const int64_t *stride, *pad, *dilation;
    const char *wrong = read_extents(n, PARAM_stride, w->rank, 1, &stride);
    if (!wrong)
        wrong = read_extents(n, PARAM_pad_amount, 2 * w->rank, 0, &pad);
    if (!wrong)
        wrong = read_extents(n, PARAM_dilation, w->rank, 1, &dilation);
    if (wrong)
        return wrong;
    if (!stride || !pad)
        return "stride or pad_amount is missing";
    for (uint32_t i = 0; i < WINDOW_AXES - w->rank; i++)
        w->axis[i] = (struct window_axis){.in = 1, .out = 1, .filter = 1, .stride = 1, .dilation = 1};
    for (uint32_t i = 0; i < w->rank; i++) {
        if (filter[i] < 1 || filter[i] > EXTENT_MAX || x->dims[i + 1] > EXTENT_MAX)
            return "an extent is out of range";
        w->axis[WINDOW_AXES - w->rank + i] = (struct window_axis){.in = x->dims[i + 1],
                                                                  .filter = filter[i],
                                                                  .stride = stride[i],
                                                                  .dilation = dilation ? dilation[i] : 1,
                                                                  .pad_before = pad[2 * i],
                                                                  .pad_after = pad[2 * i + 1]};
    }
    return NULL;
}

const char *window_count(struct window *w, bool ceil)
{
    for (int i = 0; i < WINDOW_AXES; i++) {
        struct window_axis *a = &w->axis[i];
        int64_t reach = (a->filter - 1) * a->dilation + 1, free = a->in + a->pad_before + a->pad_after - reach;
        if (free < 0)
            return "the filter is larger than the padded input";
        a->out = (free + (ceil ? a->stride - 1 : 0)) / a->stride + 1;
        if (ceil && (a->out - 1) * a->stride >= a->in + a->pad_before)
            a->out--;
    }
    return NULL;
}

const char *window_take(struct window *w, const struct shape *out)
{
    if (out->rank != w->rank + 2 || out->dims[0] != w->batch)
        return "the output's shape does not fit the input's";
    for (uint32_t i = 0; i < w->rank; i++) {
        if (out->dims[i + 1] > EXTENT_MAX)
            return "an extent is out of range";
        w->axis[WINDOW_AXES - w->rank + i].out = out->dims[i + 1];
    }
    return NULL;
}

struct shape window_shape(const struct window *w, int64_t channels)
{
    struct shape shape = {.rank = w->rank + 2};
    shape.dims[0] = w->batch;
    for (uint32_t i = 0; i < w->rank; i++)
        shape.dims[i + 1] = w->axis[WINDOW_AXES - w->rank + i].out;
    shape.dims[w->rank + 1] = channels;
    return shape;
}

int64_t window_taps(const struct window *w)
{
    return w->axis[0].filter * w->axis[1].filter * w->axis[2].filter;
}

const char *window_read_pool(struct window *w, const struct node *n, const struct shape *x)
{
    uint32_t axes = n->op->spatial_axes, count;
    const int64_t *filter = node_ints(n, PARAM_filter_size, &count);
    if (x->rank != axes + 2)
        return "the input has the wrong rank";
    if (!filter || count != axes)
        return "filter_size has the wrong number of elements";
    return window_read(w, n, x, filter);
}

const char *window_read_col2im(struct window *w, const struct node *n, const struct shape *x, const struct shape *y)
{
    uint32_t count;
    const int64_t *kernel = node_ints(n, PARAM_kernel_size, &count);
    if (!kernel || count != 2 || x->rank != 3 || y->rank != 4 || y->dims[0] != x->dims[0])
        return "the input, the output and kernel_size do not fit";
    const char *wrong = window_read(w, n, y, kernel);
    if (!wrong)
        wrong = window_count(w, false);
    if (wrong)
        return wrong;
    int64_t patches = w->axis[1].out * w->axis[2].out, taps, rows;
    if (ckd_mul(&taps, kernel[0], kernel[1]) || ckd_mul(&rows, taps, w->channels) || rows != x->dims[1] ||
        patches != x->dims[2])
        return "the patches do not fit the image";
    return NULL;
}

enum { PADDING_VALID, PADDING_SAME };

/* An axis of the geometry by the param `padding`; an amount more at the end than before where it is odd. */
static const char *extract_axis(struct window_axis *a, bool same)
{
    int64_t reach = (a->filter - 1) * a->dilation + 1;
    if (!same && reach > a->in)
        return "the patches are larger than the image";
    a->out = same ? ceil_div(a->in, a->stride) : (a->in - reach) / a->stride + 1;
    int64_t padding = same ? max_i64((a->out - 1) * a->stride + reach - a->in, 0) : 0;
    a->pad_before = padding / 2;
    a->pad_after = padding - a->pad_before;
    return NULL;
}

const char *window_read_patches(struct window *w, const struct node *n, const struct shape *x)
{
    static const enum param_id params[] = {PARAM_size, PARAM_stride, PARAM_rate};
    const int64_t *lists[COUNT_OF(params)];
    int64_t padding = node_int(n, PARAM_padding, -1);
    if (x->rank != 4)
        return "the input does not have 4 axes";
    if (padding != PADDING_VALID && padding != PADDING_SAME)
        return "padding is neither 0 (valid) nor 1 (same)";
    *w = (struct window){.rank = 2, .batch = x->dims[0], .channels = x->dims[3]};
    for (size_t i = 0; i < COUNT_OF(params); i++) {
        uint32_t count;
        lists[i] = node_ints(n, params[i], &count);
        if (!lists[i] || count != 2)
            return "a param has the wrong number of elements";
        for (uint32_t k = 0; k < 2; k++)
            if (lists[i][k] < 1 || lists[i][k] > INT32_MAX / 2)
                return "a param is out of range";
    }
    for (int i = 0; i < 2; i++) {
        struct window_axis *a = &w->axis[i + 1];
        if (x->dims[i + 1] > INT32_MAX / 2)
            return "an extent is out of range";
        *a = (struct window_axis){
            .in = x->dims[i + 1], .filter = lists[0][i], .stride = lists[1][i], .dilation = lists[2][i]};
        const char *wrong = extract_axis(a, padding == PADDING_SAME);
        if (wrong)
            return wrong;
    }
    return NULL;
}
