/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling an image or a volume, channels last, at positions that a tensor holds. */
#include <math.h>
#include <string.h>

#include "kernel/kernels.h"
#include "op/sampler.h"

/* Mirrored at both ends until it is between them. */
static float reflect(float x, float low, float high)
{
    float span = high - low, past = x < low ? low - x : x - high;
    if (past <= 0)
        return x;
    if (!(span > 0))
        return low;
    float rest = fmodf(past, span);
    bool at_start = (fmodf(floorf(past / span), 2) == 0) == (x < low);
    return at_start ? low + rest : high - rest;
}

/* The elements of one axis that a position takes its value from; an index of -1 stands for a zero. */
struct taps {
    int count;
    int64_t index[2];
    double weight[2];
};

/* Positions are computed in single precision, as the runtimes do: at ties its rounding decides. */
static struct taps axis_taps(const struct sampler *s, uint32_t axis, double normalized)
{
    int64_t count = s->in[axis];
    float n = (float)normalized, length = (float)count, last = (float)(count - 1);
    float x = s->align_corners ? (n + 1) / 2 * last : ((n + 1) * length - 1) / 2;
    if (s->nearest)
        x = nearbyintf(x);
    if (s->padding == PADDING_REFLECTION)
        x = s->align_corners ? reflect(x, 0, last) : reflect(x, -0.5f, length - 0.5f);
    if (s->padding != PADDING_ZEROS)
        x = fminf(fmaxf(x, 0), last);
    struct taps t = {.count = s->nearest ? 1 : 2, .index = {-1, -1}};
    if (!(x > -1 && x < length))
        return t;
    float low = floorf(x);
    t.weight[1] = s->nearest ? 0 : (double)(x - low);
    t.weight[0] = 1 - t.weight[1];
    for (int i = 0; i < t.count; i++) {
        int64_t at = (int64_t)low + i;
        t.index[i] = at >= 0 && at < count ? at : -1;
    }
    return t;
}

/* The index, in pixels, of a corner of the cell that the taps span, and its weight; -1 where it is outside. */
static int64_t corner_at(const struct sampler *s, const struct taps *taps, uint32_t corner, double *weight)
{
    int64_t at = 0;
    *weight = 1;
    for (uint32_t i = 0; i < s->axes; i++) {
        uint32_t k = corner >> i & 1;
        if (taps[i].index[k] < 0 || taps[i].weight[k] == 0)
            return -1;
        at = at * s->in[i] + taps[i].index[k];
        *weight *= taps[i].weight[k];
    }
    return at;
}

static void sample_linear(const struct sampler *s, const struct taps *taps, const double *x, double *y)
{
    double weight;
    memset(y, 0, (size_t)s->channels * sizeof *y);
    for (uint32_t corner = 0; corner < 1u << s->axes; corner++) {
        int64_t at = corner_at(s, taps, corner, &weight);
        for (int64_t c = 0; at >= 0 && c < s->channels; c++)
            y[c] += weight * x[at * s->channels + c];
    }
}

/* Nearest elements are moved, not computed with: doubles and integers of 8 bytes alike. */
static void sample_nearest(const struct sampler *s, const struct taps *taps, const double *x, double *y)
{
    double weight;
    size_t size = (size_t)s->channels * sizeof *y;
    int64_t at = corner_at(s, taps, 0, &weight);
    if (at < 0)
        memset(y, 0, size);
    else
        memcpy(y, x + at * s->channels, size);
}

odlc_status kernel_grid_sample(const struct kernel *k)
{
    const struct buffer *x = &k->in[0], *grid = &k->in[1];
    struct sampler s;
    if (sampler_read(&s, k->node, &x->shape, &grid->shape))
        return ODLC_ERR_INVALID;
    if (grid->dtype != DT_FLOAT64 || x->dtype != k->out[0].dtype || (!s.nearest && x->dtype != DT_FLOAT64))
        return ODLC_ERR_UNSUPPORTED;
    uint64_t positions = shape_count_range(&grid->shape, 1, s.axes + 1);
    size_t image = shape_count_range(&x->shape, 1, x->shape.rank);
    const double *from = x->data, *at = grid->data;
    double *to = k->out[0].data;
    for (int64_t b = 0; b < x->shape.dims[0]; b++, from += image)
        for (uint64_t i = 0; i < positions; i++, at += s.axes, to += s.channels) {
            struct taps taps[SPATIAL_MAX];
            /* Coordinates are listed from the innermost axis to the outermost. */
            for (uint32_t axis = 0; axis < s.axes; axis++)
                taps[axis] = axis_taps(&s, axis, at[s.axes - 1 - axis]);
            (s.nearest ? sample_nearest : sample_linear)(&s, taps, from, to);
        }
    return ODLC_OK;
}
