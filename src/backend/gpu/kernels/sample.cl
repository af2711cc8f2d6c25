/* SPDX-License-Identifier: Apache-2.0 */
/* Images that are read between their pixels: at positions of a grid, and in regions. Positions are computed in single
 * precision, each operation rounded, as in the reference: at ties that decides. */
#pragma OPENCL FP_CONTRACT OFF

/* As struct gpu_sampler. */
typedef struct {
    int axes, in[3], channels, positions, align_corners, nearest, padding;
} sampler;

#define BORDER 1
#define REFLECTION 2

/* Devices may round quotients in some other way; one more step makes them the nearest ones. */
static inline float quotient(float a, float b)
{
    const float q = a / b, better = q + fma(-q, b, a) / b;
    return isfinite(better) ? better : q;
}

/* Mirrored at both ends until it is between them. */
static inline float reflect(float x, float low, float high)
{
    const float span = high - low, past = x < low ? low - x : x - high;
    if (past <= 0)
        return x;
    if (!(span > 0))
        return low;
    const float rest = fmod(past, span);
    const bool at_start = (fmod(floor(quotient(past, span)), 2.0f) == 0) == (x < low);
    return at_start ? low + rest : high - rest;
}

/* The neighbours of a position along an axis, -1 outside of it, and their weights. */
static inline void axis_taps(const sampler *s, int axis, float n, int index[2], float weight[2])
{
    const int count = s->in[axis];
    const float length = count, last = count - 1;
    float x = s->align_corners ? (n + 1) / 2 * last : ((n + 1) * length - 1) / 2;
    if (s->nearest)
        x = rint(x);
    if (s->padding == REFLECTION)
        x = s->align_corners ? reflect(x, 0, last) : reflect(x, -0.5f, length - 0.5f);
    if (s->padding == BORDER || s->padding == REFLECTION)
        x = fmin(fmax(x, 0.0f), last);
    index[0] = index[1] = -1;
    weight[0] = weight[1] = 0;
    if (!(x > -1 && x < length))
        return;
    const float low = floor(x);
    weight[1] = s->nearest ? 0 : x - low;
    weight[0] = 1 - weight[1];
    for (int k = 0; k < 2; k++)
        index[k] = (int)low + k >= 0 && (int)low + k < count ? (int)low + k : -1;
}

/* Coordinates are listed from the innermost axis to the outermost. */
#ifdef KERNEL_grid
kernel void grid(global const X *x, global const Y *at, global O *out, int count, sampler s)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int place = i / s.channels, channel = i - place * s.channels, batch = place / s.positions;
    int index[3][2];
    float weight[3][2];
    for (int axis = 0; axis < s.axes; axis++)
        axis_taps(&s, axis, LOAD(Y, at, (place + 1) * s.axes - 1 - axis), index[axis], weight[axis]);
    real sum = 0;
    for (int corner = 0; corner < (s.nearest ? 1 : 1 << s.axes); corner++) {
        int from = batch;
        real share = 1;
        bool inside = true;
        for (int axis = 0; axis < s.axes; axis++) {
            const int k = corner >> axis & 1;
            inside = inside && index[axis][k] >= 0 && weight[axis][k] != 0;
            from = from * s.in[axis] + index[axis][k];
            share *= weight[axis][k];
        }
        if (inside && s.nearest)
            sum = LOAD(X, x, from * s.channels + channel);
        else if (inside)
            sum += share * LOAD(X, x, from * s.channels + channel);
    }
    STORE(O, out, i, sum);
}
#endif

/* ---- regions ---- */

/* As struct gpu_regions; axis 0 is the height. */
typedef struct {
    int in[2], out[2], channels, batch;
    float ratio[2];
} regions;

/* Element i of the result: its region, its place there along both axes, its channel, and the first element of the image
 * that the region lies on. A region on no image is reported. */
typedef struct {
    int region, out[2], channel, image;
} spot;

static inline spot spot_of(const regions *r, int i, global const Z *images, global int *fault, int step)
{
    const int pixel = i / r->channels, row = pixel / r->out[1];
    spot s = {row / r->out[0], {row % r->out[0], pixel - row * r->out[1]}, i - pixel * r->channels, 0};
    const long image = images[s.region];
    if (image < 0 || image >= r->batch)
        *fault = step;
    else
        s.image = (int)image * r->in[0] * r->in[1] * r->channels;
    return s;
}

/* The samples of an axis of a region. */
typedef struct {
    float start, bin;
    int samples;
} lattice;

static inline lattice region_axis(const regions *r, global const Y *boxes, int region, int axis, int samples, int aligned)
{
    const int first = 4 * region + (axis == 1 ? 0 : 1);
    const float shift = aligned ? 0.5f : 0;
    const float start = quotient(LOAD(Y, boxes, first), r->ratio[axis]) - shift;
    float size = quotient(LOAD(Y, boxes, first + 2), r->ratio[axis]) - shift - start;
    if (!aligned)
        size = fmax(size, 1.0f);
    const float bin = quotient(size, r->out[axis]);
    const int needed = bin > 0 && bin < 1e6f ? (int)ceil(bin) : 0;
    const lattice l = {start, bin, samples > 0 ? samples : needed};
    return l;
}

static inline float sample_place(const lattice *l, int out, int sample)
{
    return l->start + (float)out * l->bin + quotient(((float)sample + 0.5f) * l->bin, l->samples);
}

/* The first sample at `from` or behind it; places never go back from one to the next. */
static inline int first_sample(const lattice *l, int out, float from, bool behind)
{
    int low = 0, high = l->samples;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const float x = sample_place(l, out, middle);
        if (behind ? x > from : x >= from)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static inline void samples_inside(const lattice *l, int count, int out, int *from, int *to)
{
    *from = l->bin >= 0 ? first_sample(l, out, -1, false) : 0;
    *to = l->bin >= 0 ? first_sample(l, out, count, true) : l->samples;
}

/* The neighbours of a sample and the share of the second; false outside of the image. */
static inline bool sample_at(const lattice *l, int count, int out, int sample, int at[2], float *share)
{
    float x = sample_place(l, out, sample);
    if (!(x >= -1 && x <= (float)count))
        return false;
    x = fmax(x, 0.0f);
    at[0] = min((int)x, count - 1);
    at[1] = min(at[0] + 1, count - 1);
    *share = at[0] == at[1] ? 0 : x - (float)at[0];
    return true;
}

#ifdef KERNEL_align
kernel void align(global const X *x, global const Y *boxes, global const Z *images, global O *out, int count, regions r,
                  global int *fault, int step, int samples_y, int samples_x, int aligned)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const spot s = spot_of(&r, i, images, fault, step);
    const lattice axes[2] = {region_axis(&r, boxes, s.region, 0, samples_y, aligned),
                             region_axis(&r, boxes, s.region, 1, samples_x, aligned)};
    int from[2], to[2], h[2], w[2];
    float share_h, share_w;
    for (int axis = 0; axis < 2; axis++)
        samples_inside(&axes[axis], r.in[axis], s.out[axis], &from[axis], &to[axis]);
    real sum = 0;
    for (int p = from[0]; p < to[0]; p++)
        for (int q = from[1]; q < to[1]; q++) {
            if (!sample_at(&axes[0], r.in[0], s.out[0], p, h, &share_h) ||
                !sample_at(&axes[1], r.in[1], s.out[1], q, w, &share_w))
                continue;
            for (int corner = 0; corner < 4; corner++) {
                const int down = corner >> 1, right = corner & 1;
                const real weight = (down ? share_h : 1 - share_h) * (right ? share_w : 1 - share_w);
                sum += weight * LOAD(X, x, s.image + (h[down] * r.in[1] + w[right]) * r.channels + s.channel);
            }
        }
    const long samples = (long)axes[0].samples * axes[1].samples;
    STORE(O, out, i, sum / (real)max(samples, 1L));
}
#endif

/* Rounded, half away from zero, and kept where sums of two stay exact. */
static inline int whole(float x)
{
    return (int)round(fmin(fmax(x, -1e9f), 1e9f));
}

/* The maximum of a bin, whose region has both of its ends; 0 of none. */
#ifdef KERNEL_pool
kernel void pool(global const X *x, global const Y *boxes, global const Z *images, global O *out, int count, regions r,
                 global int *fault, int step)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const spot s = spot_of(&r, i, images, fault, step);
    int first[2], last[2];
    for (int axis = 0; axis < 2; axis++) {
        const int box = 4 * s.region + (axis == 1 ? 0 : 1);
        const int start = whole(quotient(LOAD(Y, boxes, box), r.ratio[axis]));
        const int end = whole(quotient(LOAD(Y, boxes, box + 2), r.ratio[axis]));
        const float bin = quotient((float)max((long)end - start + 1, 1L), r.out[axis]);
        const long begin = (long)floor(s.out[axis] * bin) + start, behind = (long)ceil((s.out[axis] + 1) * bin) + start;
        first[axis] = (int)clamp(begin, 0L, (long)r.in[axis]);
        last[axis] = (int)clamp(behind, 0L, (long)r.in[axis]);
    }
    real most = first[0] < last[0] && first[1] < last[1] ? -(real)INFINITY : 0;
    for (int h = first[0]; h < last[0]; h++)
        for (int w = first[1]; w < last[1]; w++)
            most = fmax(most, LOAD(X, x, s.image + (h * r.in[1] + w) * r.channels + s.channel));
    STORE(O, out, i, most);
}
#endif

/* Regions are [y1, x1, y2, x2], parts of the image, whose corners are the result's. */
#ifdef KERNEL_crop
kernel void crop(global const X *x, global const Y *boxes, global const Z *images, global O *out, int count, regions r,
                 global int *fault, int step, int nearest, number outside)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const spot s = spot_of(&r, i, images, fault, step);
    int first[2], second[2];
    float share[2];
    bool inside = true;
    for (int axis = 0; axis < 2; axis++) {
        const float start = LOAD(Y, boxes, 4 * s.region + axis), end = LOAD(Y, boxes, 4 * s.region + axis + 2);
        const float last = r.in[axis] - 1;
        const float at = r.out[axis] == 1
                             ? 0.5f * (start + end) * last
                             : start * last + (float)s.out[axis] * quotient((end - start) * last, r.out[axis] - 1);
        inside = inside && at >= 0 && at <= last;
        first[axis] = inside ? (int)(nearest ? round(at) : floor(at)) : 0;
        second[axis] = inside && !nearest ? (int)ceil(at) : first[axis];
        share[axis] = nearest ? 0 : at - floor(at);
    }
    real rows[2];
    for (int k = 0; k < 2; k++) {
        const int row = s.image + (k ? second[0] : first[0]) * r.in[1] * r.channels + s.channel;
        const real left = LOAD(X, x, row + first[1] * r.channels), right = LOAD(X, x, row + second[1] * r.channels);
        rows[k] = left + (right - left) * share[1];
    }
    STORE(O, out, i, inside ? rows[0] + (rows[1] - rows[0]) * share[0] : TO_REAL(outside));
}
#endif
