/* SPDX-License-Identifier: Apache-2.0 */
/* The sliding windows of convolutions and pools: tensors are [batch, spatial axes…, channels], params say stride,
 * padding and dilation per spatial axis. One geometry serves 1 to 3 spatial axes: missing ones come first and have the
 * extent 1. */
#ifndef OP_WINDOW_H
#define OP_WINDOW_H

#include "op/params.h"

#define WINDOW_AXES 3

struct window_axis {
    int64_t in, out; /* extents; `out` belongs to the caller */
    int64_t filter, stride, dilation, pad_before, pad_after;
};

struct window {
    uint32_t rank; /* spatial axes of the op */
    int64_t batch, channels;
    struct window_axis axis[WINDOW_AXES];
};

/* Reads the params stride, pad_amount and dilation of n, which slides a filter of these extents (one per spatial axis)
 * over x. Gives NULL, or what is wrong. */
const char *window_read(struct window *w, const struct node *n, const struct shape *x, const int64_t *filter);

/* Sets every axis' `out` to the number of window positions. In `ceil` mode a position that the padded extent holds only
 * in part counts too, unless it starts behind the input. */
const char *window_count(struct window *w, bool ceil);

/* Takes `out` from a shape that is known already; checks that it has the geometry's rank and batch. */
const char *window_take(struct window *w, const struct shape *out);

/* The shape that these windows give, with so many channels. */
struct shape window_shape(const struct window *w, int64_t channels);

/* Elements of the filter per channel. */
int64_t window_taps(const struct window *w);

/* ---- the windows of operators: NULL, or what is wrong ---- */
/* Of a pool over x; `out` is not set yet. */
const char *window_read_pool(struct window *w, const struct node *n, const struct shape *x);
/* Of Col2Im over the output image y, [batch, height, width, channels], whose patches x holds; `out` counts them. */
const char *window_read_col2im(struct window *w, const struct node *n, const struct shape *x, const struct shape *y);
/* Of ExtractPatches over x; `out` counts the patches. */
const char *window_read_patches(struct window *w, const struct node *n, const struct shape *x);

/* The taps [*first, *last) of an axis' filter that fall on the input when the window is at position `at`. */
static inline void window_clip(const struct window_axis *a, int64_t at, int64_t *first, int64_t *last)
{
    int64_t start = at * a->stride - a->pad_before;
    *first = start < 0 ? min_i64(ceil_div(-start, a->dilation), a->filter) : 0;
    *last = start < a->in ? min_i64(ceil_div(a->in - start, a->dilation), a->filter) : 0;
    if (*last < *first)
        *last = *first;
}

#endif
