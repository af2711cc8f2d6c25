/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over channels-last activations. Padding never takes part in a maximum; an average counts padding only with
 * count_pad_for_edges. */
#include <math.h>

#include "kernel/kernels.h"
#include "op/window.h"

/* How a pool takes in an element and makes its result: the only things in which pools differ. */
struct pool_kind {
    double initial;
    double (*take)(double sum, double x);
    double (*finish)(double sum, double count);
};

static double take_max(double sum, double x)
{
    return x > sum ? x : sum;
}

static double take_sum(double sum, double x)
{
    return sum + x;
}

static double take_square(double sum, double x)
{
    return sum + x * x;
}

static double finish_max(double sum, double count)
{
    (void)count;
    return sum;
}

/* A window that lies in the padding alone has the average 0. */
static double finish_average(double sum, double count)
{
    return count > 0 ? sum / count : 0;
}

static double finish_root(double sum, double count)
{
    (void)count;
    return sqrt(sum);
}

static const struct pool_kind pool_max = {-INFINITY, take_max, finish_max};
static const struct pool_kind pool_average = {0, take_sum, finish_average};
static const struct pool_kind pool_l2 = {0, take_square, finish_root};

/* The elements of an axis that a window at position `at` covers, padding included. */
static int64_t covered(const struct window_axis *a, int64_t at)
{
    int64_t start = at * a->stride - a->pad_before, end = a->in + a->pad_after;
    return max_i64(min_i64(a->filter, end - start), 0);
}

/* Inlined into each kernel below, so that the kind's functions are, too. */
static inline void pool_position(const struct window *w, const struct pool_kind *kind, bool count_padding,
                                 const int64_t at[WINDOW_AXES], const double *x, double *y)
{
    int64_t first[WINDOW_AXES], last[WINDOW_AXES];
    double count = 1;
    for (int i = 0; i < WINDOW_AXES; i++) {
        window_clip(&w->axis[i], at[i], &first[i], &last[i]);
        count *= (double)(count_padding ? covered(&w->axis[i], at[i]) : last[i] - first[i]);
    }
    for (int64_t c = 0; c < w->channels; c++)
        y[c] = kind->initial;
    for (int64_t d = first[0]; d < last[0]; d++)
        for (int64_t h = first[1]; h < last[1]; h++)
            for (int64_t i = first[2]; i < last[2]; i++) {
                int64_t index = at[0] * w->axis[0].stride + d - w->axis[0].pad_before;
                index = index * w->axis[1].in + at[1] * w->axis[1].stride + h - w->axis[1].pad_before;
                index = index * w->axis[2].in + at[2] * w->axis[2].stride + i - w->axis[2].pad_before;
                for (int64_t c = 0; c < w->channels; c++)
                    y[c] = kind->take(y[c], x[index * w->channels + c]);
            }
    for (int64_t c = 0; c < w->channels; c++)
        y[c] = kind->finish(y[c], count);
}

static inline odlc_status pool(const struct kernel *k, const struct pool_kind *kind, bool count_padding)
{
    const struct buffer *x = &k->in[0];
    struct buffer *y = &k->out[0];
    struct window w;
    if (window_read_pool(&w, k->node, &x->shape) || window_take(&w, &y->shape) ||
        y->shape.dims[y->shape.rank - 1] != w.channels)
        return ODLC_ERR_INVALID;
    /* Integers that are pooled have 8 or 16 bits: doubles hold them. */
    struct buffer real_x = buffer_widen(x, DT_FLOAT64, k->scratch), real_y = *y;
    real_y.dtype = DT_FLOAT64;
    if (y->dtype != DT_FLOAT64)
        real_y.data = arena_array(k->scratch, double, shape_count(&y->shape));
    const double *from = real_x.data;
    double *to = real_y.data;
    int64_t at[WINDOW_AXES];
    for (int64_t b = 0; b < w.batch; b++, from += w.axis[0].in * w.axis[1].in * w.axis[2].in * w.channels)
        for (at[0] = 0; at[0] < w.axis[0].out; at[0]++)
            for (at[1] = 0; at[1] < w.axis[1].out; at[1]++)
                for (at[2] = 0; at[2] < w.axis[2].out; at[2]++, to += w.channels)
                    pool_position(&w, kind, count_padding, at, from, to);
    buffer_narrow(&real_y, y);
    return ODLC_OK;
}

odlc_status kernel_pool_max(const struct kernel *k)
{
    return pool(k, &pool_max, false);
}

odlc_status kernel_pool_average(const struct kernel *k)
{
    return pool(k, &pool_average, node_int(k->node, PARAM_count_pad_for_edges, 0) != 0);
}

odlc_status kernel_pool_l2(const struct kernel *k)
{
    return pool(k, &pool_l2, false);
}
