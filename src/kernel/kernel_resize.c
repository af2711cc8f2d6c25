/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing and rearranging images, channels last. */
#include <assert.h>
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/resize.h"
#include "op/axes.h"

/* ---- Resize ---- */

/* Some ops and files say only align_corners and half_pixel_centers. */
static struct resample flagged(const struct node *n, enum resample_interpolation interpolation)
{
    return resample_flagged(interpolation, node_int(n, PARAM_align_corners, 0) != 0,
                            node_int(n, PARAM_half_pixel_centers, 0) != 0);
}

static bool read_resize(struct resample *r, const struct node *n)
{
    int64_t interpolation = node_int(n, PARAM_interpolation_mode, INTERPOLATE_NEAREST);
    int64_t position = node_int(n, PARAM_transformation_mode, flagged(n, INTERPOLATE_NEAREST).position);
    int64_t nearest = node_int(n, PARAM_nearest_mode, NEAREST_PREFER_FLOOR);
    if (position < 0 || position > POSITION_ASYMMETRIC || interpolation < 0 || interpolation > INTERPOLATE_CUBIC ||
        nearest < 0 || nearest > NEAREST_CEIL)
        return false;
    *r = (struct resample){.position = (enum resample_position)position,
                           .interpolation = (enum resample_interpolation)interpolation,
                           .nearest = (enum resample_nearest)nearest,
                           .cubic_coeff = (float)node_float(n, PARAM_cubic_coeff, -0.75),
                           .exclude_outside = node_int(n, PARAM_exclude_outside, 0) != 0};
    return true;
}

static odlc_status read_how(struct resample *how, const struct node *n)
{
    if (node_is(n, OP_ResizeBilinear))
        *how = flagged(n, INTERPOLATE_LINEAR);
    else if (node_is(n, OP_ResizeNearestNeighbor))
        *how = flagged(n, INTERPOLATE_NEAREST);
    else if (!read_resize(how, n))
        return ODLC_ERR_INVALID;
    return ODLC_OK;
}

odlc_status resize_read(struct arena *arena, const struct node *n, const struct shape *in, const struct shape *out,
                        struct resize *r)
{
    struct resample how;
    const double scale[SPATIAL_MAX] = {node_float(n, PARAM_scale_height, 0), node_float(n, PARAM_scale_width, 0)};
    TRY(read_how(&how, n));
    if (in->rank < 3 || in->rank > SPATIAL_MAX + 2 || out->rank != in->rank || in->dims[0] != out->dims[0] ||
        in->dims[in->rank - 1] != out->dims[in->rank - 1] || shape_count(in) == 0)
        return ODLC_ERR_INVALID;
    *r = (struct resize){.nearest = how.interpolation == INTERPOLATE_NEAREST,
                         .axes = in->rank - 2,
                         .in = {1, 1, 1},
                         .out = {1, 1, 1},
                         .channels = in->dims[in->rank - 1]};
    for (uint32_t i = 0; i < r->axes; i++) {
        struct resample_axis axis = {.in = in->dims[i + 1], .out = out->dims[i + 1]};
        const bool scaled = node_is(n, OP_Resize) && in->rank == 4 && scale[i] > 0;
        axis.scale = scaled ? (float)scale[i] : (float)axis.out / (float)axis.in;
        r->in[i] = axis.in;
        r->out[i] = axis.out;
        r->taps[i] = resample_taps(arena, &how, &axis);
    }
    return ODLC_OK;
}

static void resize_floats(const struct resize *r, uint32_t axis, const int64_t at[SPATIAL_MAX], double weight,
                          int64_t index, const double *x, double *y)
{
    if (axis == r->axes) {
        for (int64_t c = 0; c < r->channels; c++)
            y[c] += weight * x[index * r->channels + c];
        return;
    }
    assert(axis < SPATIAL_MAX);
    const struct resample_taps *t = &r->taps[axis];
    for (int64_t i = at[axis] * t->width; i < (at[axis] + 1) * t->width; i++)
        if (t->weight[i] != 0)
            resize_floats(r, axis + 1, at, weight * t->weight[i], index * r->in[axis] + t->index[i], x, y);
}

/* Nearest neighbours are moved, not computed with: doubles and integers of 8 bytes alike. */
static void resize_nearest(const struct resize *r, const int64_t at[SPATIAL_MAX], const void *x, void *y)
{
    int64_t index = 0;
    size_t size = (size_t)r->channels * sizeof(double);
    for (uint32_t i = 0; i < r->axes; i++)
        index = index * r->in[i] + r->taps[i].index[at[i]];
    memcpy(y, (const char *)x + (size_t)index * size, size);
}

odlc_status kernel_resize(const struct kernel *k)
{
    struct resize r;
    if (shape_count(&k->out[0].shape) == 0)
        return ODLC_OK;
    TRY(resize_read(k->scratch, k->node, &k->in[0].shape, &k->out[0].shape, &r));
    if (k->in[0].dtype != k->out[0].dtype || (!r.nearest && k->in[0].dtype != DT_FLOAT64))
        return ODLC_ERR_UNSUPPORTED;
    const size_t in_image = shape_count_range(&k->in[0].shape, 1, k->in[0].shape.rank);
    const double *x = k->in[0].data;
    double *y = k->out[0].data;
    int64_t at[SPATIAL_MAX];
    for (int64_t b = 0; b < k->in[0].shape.dims[0]; b++, x += in_image)
        for (at[0] = 0; at[0] < r.out[0]; at[0]++)
            for (at[1] = 0; at[1] < r.out[1]; at[1]++)
                for (at[2] = 0; at[2] < r.out[2]; at[2]++, y += r.channels) {
                    if (r.nearest) {
                        resize_nearest(&r, at, x, y);
                        continue;
                    }
                    memset(y, 0, (size_t)r.channels * sizeof *y);
                    resize_floats(&r, 0, at, 1, 0, x, y);
                }
    return ODLC_OK;
}
