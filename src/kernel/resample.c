/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/resample.h"

#include <math.h>

struct resample resample_flagged(enum resample_interpolation interpolation, bool align_corners, bool half_pixel_centers)
{
    struct resample r = {.position = POSITION_ASYMMETRIC, .interpolation = interpolation, .nearest = NEAREST_FLOOR};
    if (align_corners || half_pixel_centers) {
        r.position = align_corners ? POSITION_ALIGN_CORNERS : POSITION_HALF_PIXEL;
        r.nearest = NEAREST_PREFER_CEIL;
    }
    return r;
}

bool resample_fits_extents(const struct resample_axis *a)
{
    return a->scale == (float)a->out / (float)a->in;
}

float resample_length(const struct resample_axis *a)
{
    float length = a->scale * (float)a->in;
    return fabsf(length - (float)a->out) < 1e-3f * (float)a->out ? (float)a->out : length;
}

/* Positions are computed in float, as the runtimes do. */
static float position(const struct resample *r, const struct resample_axis *a, int64_t out)
{
    float o = (float)out, last = (float)(a->in - 1);
    switch (r->position) {
    case POSITION_PYTORCH_HALF_PIXEL:
        return a->out > 1 ? (o + 0.5f) / a->scale - 0.5f : 0;
    case POSITION_ALIGN_CORNERS:
        return a->out > 1 ? o * last / (resample_length(a) - 1) : 0;
    case POSITION_ASYMMETRIC:
        return o / a->scale;
    case POSITION_HALF_PIXEL_SYMMETRIC: {
        float adjustment = (float)a->out / (a->scale * (float)a->in), center = (float)a->in / 2;
        return center * (1 - adjustment) + (o + 0.5f) / a->scale - 0.5f;
    }
    case POSITION_TF_HALF_PIXEL:
        return (o + 0.5f) / a->scale;
    case POSITION_CROP:
        return a->out > 1 ? a->start * last + o * (a->end - a->start) * last / (float)(a->out - 1)
                          : 0.5f * (a->start + a->end) * last;
    case POSITION_HALF_PIXEL:
        break;
    }
    return (o + 0.5f) / a->scale - 0.5f;
}

static int64_t clamp_index(float x, int64_t count)
{
    if (!(x > 0))
        return 0;
    return x < (float)(count - 1) ? (int64_t)x : count - 1;
}

static enum resample_nearest rounding(const struct resample *r, const struct resample_axis *a)
{
    if (r->nearest != NEAREST_SIMPLE)
        return r->nearest;
    return a->scale < 1 ? NEAREST_CEIL : NEAREST_FLOOR;
}

/* ---- positions as fractions: where the scale is that of the extents, rounding must not decide ties ---- */

/* above / below; what position() says of the same element. */
struct fraction {
    int64_t above, below;
};

/* Sums of products of two of them, and twice these, stay within int64. */
#define EXACT_MOST ((int64_t)1 << 29)

static bool has_exact_scale(const struct resample *r, const struct resample_axis *a)
{
    return r->position != POSITION_CROP && a->in <= EXACT_MOST && a->out <= EXACT_MOST && resample_fits_extents(a);
}

static struct fraction exact_position(const struct resample *r, const struct resample_axis *a, int64_t out)
{
    switch (r->position) {
    case POSITION_ALIGN_CORNERS:
        return a->out > 1 ? (struct fraction){out * (a->in - 1), a->out - 1} : (struct fraction){0, 1};
    case POSITION_ASYMMETRIC:
        return (struct fraction){out * a->in, a->out};
    case POSITION_TF_HALF_PIXEL:
        return (struct fraction){(2 * out + 1) * a->in, 2 * a->out};
    case POSITION_PYTORCH_HALF_PIXEL:
        if (a->out == 1)
            return (struct fraction){0, 1};
        break;
    default:
        break;
    }
    return (struct fraction){(2 * out + 1) * a->in - a->out, 2 * a->out};
}

static int64_t divide_down(int64_t above, int64_t below)
{
    return above / below - (above % below < 0);
}

static int64_t divide_up(int64_t above, int64_t below)
{
    return above / below + (above % below > 0);
}

static int64_t exact_nearest(const struct resample *r, const struct resample_axis *a, int64_t out)
{
    const struct fraction x = exact_position(r, a, out);
    int64_t element = 0;
    switch (rounding(r, a)) {
    case NEAREST_PREFER_CEIL:
        element = divide_down(2 * x.above + x.below, 2 * x.below);
        break;
    case NEAREST_FLOOR:
        element = divide_down(x.above, x.below);
        break;
    case NEAREST_CEIL:
        element = divide_up(x.above, x.below);
        break;
    default:
        element = divide_up(2 * x.above - x.below, 2 * x.below);
    }
    return max_i64(min_i64(element, a->in - 1), 0);
}

/* ---- positions as floats ---- */

static int64_t nearest(const struct resample *r, const struct resample_axis *a, float x)
{
    switch (rounding(r, a)) {
    case NEAREST_PREFER_CEIL:
        return clamp_index(roundf(x), a->in);
    case NEAREST_FLOOR:
        return clamp_index(floorf(x), a->in);
    case NEAREST_CEIL:
        return clamp_index(ceilf(x), a->in);
    default:
        return clamp_index(ceilf(x - 0.5f), a->in);
    }
}

/* The filter at a distance from its centre. */
static double filter_weight(const struct resample *r, double distance)
{
    double x = fabs(distance), c = (double)r->cubic_coeff;
    if (r->interpolation == INTERPOLATE_LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1)
        return ((c + 2) * x - (c + 3)) * x * x + 1;
    return x < 2 ? ((c * x - 5 * c) * x + 8 * c) * x - 4 * c : 0;
}

/* How far the filter reaches to each side, and by how much a distance is shortened before it is looked up. */
struct reach {
    double stretch;
    int64_t side;
};

static struct reach filter_reach(const struct resample *r, const struct resample_axis *a)
{
    struct reach reach = {.stretch = r->antialias && a->scale < 1 ? (double)a->scale : 1};
    double side = (r->interpolation == INTERPOLATE_LINEAR ? 1 : 2) / reach.stretch;
    /* Beyond the axis on both sides every tap falls on an end. */
    reach.side = side < (double)(2 * a->in) ? (int64_t)ceil(side) : 2 * a->in;
    return reach;
}

static void filter_taps(const struct resample *r, const struct resample_axis *a, const struct reach *reach, float x,
                        int64_t *index, double *weight)
{
    /* Interpolation between two neighbours stays on the axis; other filters look over its edge, which is all they see
     * from far outside. */
    float over = r->interpolation == INTERPOLATE_LINEAR && !r->antialias ? 0 : (float)(reach->side + 1);
    x = fminf(fmaxf(x, -over), (float)(a->in - 1) + over);
    int64_t width = 2 * reach->side, first = (int64_t)floorf(x) - reach->side + 1;
    double sum = 0;
    for (int64_t i = 0; i < width; i++) {
        int64_t at = first + i;
        bool outside = at < 0 || at >= a->in;
        index[i] = min_i64(max_i64(at, 0), a->in - 1);
        weight[i] = outside && r->exclude_outside ? 0 : filter_weight(r, ((double)x - (double)at) * reach->stretch);
        sum += weight[i];
    }
    for (int64_t i = 0; i < width && sum != 0; i++)
        weight[i] /= sum;
}

struct resample_taps resample_taps(struct arena *arena, const struct resample *r, const struct resample_axis *axis)
{
    bool is_nearest = r->interpolation == INTERPOLATE_NEAREST, is_exact = has_exact_scale(r, axis);
    struct reach reach = filter_reach(r, axis);
    struct resample_taps taps = {.width = is_nearest ? 1 : 2 * reach.side};
    size_t count;
    if (ckd_mul(&count, (size_t)taps.width, (size_t)axis->out))
        arena_exhausted(arena);
    taps.index = arena_array(arena, int64_t, count);
    taps.weight = arena_array(arena, double, count);
    for (int64_t o = 0; o < axis->out; o++) {
        float x = position(r, axis, o);
        int64_t *index = taps.index + o * taps.width;
        double *weight = taps.weight + o * taps.width;
        if (r->position == POSITION_CROP && (x < 0 || x > (float)(axis->in - 1)))
            continue;
        if (is_nearest) {
            *index = is_exact ? exact_nearest(r, axis, o) : nearest(r, axis, x);
            *weight = 1;
        } else {
            filter_taps(r, axis, &reach, x, index, weight);
        }
    }
    return taps;
}
