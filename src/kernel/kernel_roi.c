/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of an image, channels last, brought to one size each: RoiAlign (the mean of interpolated samples),
 * RoiPooling (the largest element) and CropAndResize (an interpolated sample). Regions of the first two are
 * [x1, y1, x2, y2] on the original image, which is img_size_ratio times as large. */
#include <math.h>
#include <string.h>

#include "kernel/kernels.h"
#include "op/params.h"

enum { HEIGHT, WIDTH };

/* One call of a kernel; images are in the region's batch element. */
struct regions {
    int64_t in[2], out[2], channels, batch;
    float ratio[2]; /* height, width; not of CropAndResize */
    uint64_t count;
    const double *x, *boxes;
    const int64_t *batch_indices;
    double *y;
};

static odlc_status read_operands(const struct kernel *k, struct regions *r)
{
    const struct shape *in = &k->in[0].shape, *out = &k->out[0].shape;
    if (k->in[0].dtype != DT_FLOAT64 || k->in[1].dtype != DT_FLOAT64 || k->in[2].dtype != DT_INT64)
        return ODLC_ERR_UNSUPPORTED;
    *r = (struct regions){.in = {in->dims[1], in->dims[2]},
                          .out = {out->dims[1], out->dims[2]},
                          .channels = in->dims[3],
                          .batch = in->dims[0],
                          .count = (uint64_t)k->in[1].shape.dims[0],
                          .x = k->in[0].data,
                          .boxes = k->in[1].data,
                          .batch_indices = k->in[2].data,
                          .y = k->out[0].data};
    return ODLC_OK;
}

static odlc_status read_regions(const struct kernel *k, struct regions *r)
{
    const struct packed_param *ratio = node_param(k->node, PARAM_img_size_ratio);
    TRY(read_operands(k, r));
    if (!ratio || shape_count(ratio->shape) != 2 || !(ratio->floats[0] > 0) || !(ratio->floats[1] > 0))
        return ODLC_ERR_INVALID;
    for (int axis = 0; axis < 2; axis++)
        r->ratio[axis] = (float)ratio->floats[axis];
    return ODLC_OK;
}

/* The image that region i lies on, or NULL when the batch has no such image. */
static const double *region_image(const struct regions *r, uint64_t i)
{
    int64_t at = r->batch_indices[i];
    return at >= 0 && at < r->batch ? r->x + at * r->in[HEIGHT] * r->in[WIDTH] * r->channels : NULL;
}

/* ---- RoiAlign ---- */

/* The samples of one axis of a region: per output element `samples` pairs of neighbours. Arithmetic is in single
 * precision, as the runtimes do it. */
struct lattice {
    float start, bin;
    int64_t samples;
};

static struct lattice region_axis(const struct regions *r, uint64_t i, int axis, int64_t samples, bool aligned)
{
    int first = axis == WIDTH ? 0 : 1;
    float shift = aligned ? 0.5f : 0;
    float start = (float)r->boxes[4 * i + (uint64_t)first] / r->ratio[axis] - shift;
    float size = (float)r->boxes[4 * i + (uint64_t)first + 2] / r->ratio[axis] - shift - start;
    if (!aligned)
        size = fmaxf(size, 1);
    struct lattice l = {.start = start, .bin = size / (float)r->out[axis], .samples = samples};
    if (samples <= 0)
        l.samples = l.bin > 0 && l.bin < 1e6f ? (int64_t)ceilf(l.bin) : 0;
    return l;
}

static float sample_place(const struct lattice *l, int64_t out, int64_t sample)
{
    return l->start + (float)out * l->bin + ((float)sample + 0.5f) * l->bin / (float)l->samples;
}

/* The first sample at `from` or behind it; samples where there is none. Places never go back from one to the next. */
static int64_t first_sample(const struct lattice *l, int64_t out, float from, bool behind)
{
    int64_t low = 0, high = l->samples;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        float x = sample_place(l, out, middle);
        if (behind ? x > from : x >= from)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The samples that are inside the image, *from up to *to: a box may be far larger, and all its samples are too many. */
static void samples_inside(const struct lattice *l, int64_t count, int64_t out, int64_t *from, int64_t *to)
{
    bool forward = l->bin >= 0;
    *from = forward ? first_sample(l, out, -1, false) : 0;
    *to = forward ? first_sample(l, out, (float)count, true) : l->samples;
}

/* The two neighbours of a sample and the share of the second. False outside the image, where samples are 0. */
static bool sample_at(const struct lattice *l, int64_t count, int64_t out, int64_t sample, int64_t at[2], double *share)
{
    float x = sample_place(l, out, sample);
    if (!(x >= -1 && x <= (float)count))
        return false;
    x = fmaxf(x, 0);
    at[0] = min_i64((int64_t)x, count - 1);
    at[1] = min_i64(at[0] + 1, count - 1);
    *share = at[0] == at[1] ? 0 : (double)(x - (float)at[0]);
    return true;
}

static void align_bin(const struct regions *r, const struct lattice axes[2], int64_t row, int64_t column,
                      const double *image, double *y)
{
    int64_t h[2], w[2], top, bottom, left, end;
    double share_h, share_w;
    memset(y, 0, (size_t)r->channels * sizeof *y);
    samples_inside(&axes[HEIGHT], r->in[HEIGHT], row, &top, &bottom);
    samples_inside(&axes[WIDTH], r->in[WIDTH], column, &left, &end);
    for (int64_t i = top; i < bottom; i++)
        for (int64_t j = left; j < end; j++) {
            if (!sample_at(&axes[HEIGHT], r->in[HEIGHT], row, i, h, &share_h) ||
                !sample_at(&axes[WIDTH], r->in[WIDTH], column, j, w, &share_w))
                continue;
            for (int corner = 0; corner < 4; corner++) {
                int down = corner >> 1, right = corner & 1;
                double weight = (down ? share_h : 1 - share_h) * (right ? share_w : 1 - share_w);
                const double *pixel = image + (h[down] * r->in[WIDTH] + w[right]) * r->channels;
                for (int64_t c = 0; c < r->channels; c++)
                    y[c] += weight * pixel[c];
            }
        }
    int64_t count = max_i64(axes[HEIGHT].samples * axes[WIDTH].samples, 1);
    for (int64_t c = 0; c < r->channels; c++)
        y[c] /= (double)count;
}

odlc_status kernel_roi_align(const struct kernel *k)
{
    struct regions r;
    TRY(read_regions(k, &r));
    bool aligned = node_int(k->node, PARAM_aligned, 0) != 0;
    double *y = r.y;
    for (uint64_t i = 0; i < r.count; i++) {
        const double *image = region_image(&r, i);
        if (!image)
            return ODLC_ERR_INVALID;
        struct lattice axes[2] = {
            region_axis(&r, i, HEIGHT, node_int(k->node, PARAM_num_samples_y, -1), aligned),
            region_axis(&r, i, WIDTH, node_int(k->node, PARAM_num_samples_x, -1), aligned),
        };
        for (int64_t row = 0; row < r.out[HEIGHT]; row++)
            for (int64_t column = 0; column < r.out[WIDTH]; column++, y += r.channels)
                align_bin(&r, axes, row, column, image, y);
    }
    return ODLC_OK;
}

/* ---- RoiPooling ---- */

/* Rounded, half away from zero, and kept where sums of two stay exact. */
static int64_t whole(float x)
{
    return (int64_t)roundf(fminf(fmaxf(x, -1e9f), 1e9f));
}

/* The elements [*first, *last) of one axis that bin `out` covers: both ends of a region belong to it. */
static void pooled_part(const struct regions *r, uint64_t i, int axis, int64_t out, int64_t *first, int64_t *last)
{
    const double *box = r->boxes + 4 * i + (axis == WIDTH ? 0 : 1);
    int64_t start = whole((float)box[0] / r->ratio[axis]), end = whole((float)box[2] / r->ratio[axis]);
    float bin = (float)max_i64(end - start + 1, 1) / (float)r->out[axis];
    *first = (int64_t)floorf((float)out * bin) + start;
    *last = (int64_t)ceilf((float)(out + 1) * bin) + start;
    *first = min_i64(max_i64(*first, 0), r->in[axis]);
    *last = min_i64(max_i64(*last, 0), r->in[axis]);
}

/* A bin without elements gives 0. */
static void pool_bin(const struct regions *r, const int64_t first[2], const int64_t last[2], const double *image,
                     double *y)
{
    bool empty = first[HEIGHT] >= last[HEIGHT] || first[WIDTH] >= last[WIDTH];
    for (int64_t c = 0; c < r->channels; c++)
        y[c] = empty ? 0 : -INFINITY;
    for (int64_t h = first[HEIGHT]; h < last[HEIGHT]; h++)
        for (int64_t w = first[WIDTH]; w < last[WIDTH]; w++)
            for (int64_t c = 0; c < r->channels; c++)
                y[c] = fmax(y[c], image[(h * r->in[WIDTH] + w) * r->channels + c]);
}

odlc_status kernel_roi_pooling(const struct kernel *k)
{
    struct regions r;
    TRY(read_regions(k, &r));
    double *y = r.y;
    int64_t first[2], last[2];
    for (uint64_t i = 0; i < r.count; i++) {
        const double *image = region_image(&r, i);
        if (!image)
            return ODLC_ERR_INVALID;
        for (int64_t row = 0; row < r.out[HEIGHT]; row++)
            for (int64_t column = 0; column < r.out[WIDTH]; column++, y += r.channels) {
                pooled_part(&r, i, HEIGHT, row, &first[HEIGHT], &last[HEIGHT]);
                pooled_part(&r, i, WIDTH, column, &first[WIDTH], &last[WIDTH]);
                pool_bin(&r, first, last, image, y);
            }
    }
    return ODLC_OK;
}

/* ---- CropAndResize ---- */

/* Where output element `out` of an axis lies on the image: the corners of a region, [y1, x1, y2, x2] as parts of the
 * image, are the first and the last element; a single one is its middle. In single precision, as the runtimes do it. */
static float crop_position(const struct regions *r, uint64_t i, int axis, int64_t out)
{
    const double *box = r->boxes + 4 * i;
    float start = (float)box[axis], end = (float)box[axis + 2], last = (float)(r->in[axis] - 1);
    if (r->out[axis] == 1)
        return 0.5f * (start + end) * last;
    float step = (end - start) * last / (float)(r->out[axis] - 1);
    return start * last + (float)out * step;
}

static void crop_pixel(const struct regions *r, const float at[2], bool nearest, const double *image, double *y)
{
    int64_t first[2], second[2];
    double share[2];
    for (int axis = 0; axis < 2; axis++) {
        first[axis] = (int64_t)(nearest ? roundf(at[axis]) : floorf(at[axis]));
        second[axis] = nearest ? first[axis] : (int64_t)ceilf(at[axis]);
        share[axis] = nearest ? 0 : (double)(at[axis] - floorf(at[axis]));
    }
    for (int64_t c = 0; c < r->channels; c++) {
        double rows[2];
        for (int i = 0; i < 2; i++) {
            const double *row = image + (i ? second[HEIGHT] : first[HEIGHT]) * r->in[WIDTH] * r->channels + c;
            double left = row[first[WIDTH] * r->channels], right = row[second[WIDTH] * r->channels];
            rows[i] = left + (right - left) * share[WIDTH];
        }
        y[c] = rows[0] + (rows[1] - rows[0]) * share[HEIGHT];
    }
}

odlc_status kernel_crop_and_resize(const struct kernel *k)
{
    struct regions r;
    TRY(read_operands(k, &r));
    bool nearest = node_int(k->node, PARAM_interpolation_mode, 0) == 1;
    double outside = node_float(k->node, PARAM_extrapolation_value, 0), *y = r.y;
    for (uint64_t i = 0; i < r.count; i++) {
        const double *image = region_image(&r, i);
        if (!image)
            return ODLC_ERR_INVALID;
        for (int64_t row = 0; row < r.out[HEIGHT]; row++)
            for (int64_t column = 0; column < r.out[WIDTH]; column++, y += r.channels) {
                const float at[2] = {crop_position(&r, i, HEIGHT, row), crop_position(&r, i, WIDTH, column)};
                bool on_image =
                    at[0] >= 0 && at[0] <= (float)(r.in[HEIGHT] - 1) && at[1] >= 0 && at[1] <= (float)(r.in[WIDTH] - 1);
                for (int64_t c = 0; !on_image && c < r.channels; c++)
                    y[c] = outside;
                if (on_image)
                    crop_pixel(&r, at, nearest, image, y);
            }
    }
    return ODLC_OK;
}
