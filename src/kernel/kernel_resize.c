/* Resizing and rearranging images, channels last. */
#include <assert.h>
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/move.h"
#include "kernel/resample.h"
#include "op/axes.h"
#include "op/blocks.h"

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

/* Where one output position of an image takes its values from: the taps of each spatial axis meet. */
struct resize {
    uint32_t axes;
    int64_t in[SPATIAL_MAX], channels;
    struct resample_taps taps[SPATIAL_MAX];
};

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

static odlc_status resize(const struct kernel *k, const struct resample *how, const double *scale)
{
    const struct shape *in = &k->in[0].shape, *out = &k->out[0].shape;
    bool nearest = how->interpolation == INTERPOLATE_NEAREST;
    if (k->in[0].dtype != k->out[0].dtype || (!nearest && k->in[0].dtype != DT_FLOAT64))
        return ODLC_ERR_UNSUPPORTED;
    if (in->rank < 3 || in->rank > SPATIAL_MAX + 2 || out->rank != in->rank || in->dims[0] != out->dims[0] ||
        in->dims[in->rank - 1] != out->dims[in->rank - 1])
        return ODLC_ERR_INVALID;
    if (shape_count(out) == 0)
        return ODLC_OK;
    if (shape_count(in) == 0)
        return ODLC_ERR_INVALID;
    struct resize r = {.axes = in->rank - 2, .channels = in->dims[in->rank - 1]};
    int64_t extent[SPATIAL_MAX] = {1, 1, 1}, at[SPATIAL_MAX];
    for (uint32_t i = 0; i < r.axes; i++) {
        struct resample_axis axis = {.in = in->dims[i + 1], .out = out->dims[i + 1]};
        axis.scale = scale && scale[i] > 0 ? (float)scale[i] : (float)axis.out / (float)axis.in;
        r.in[i] = axis.in;
        extent[i] = axis.out;
        r.taps[i] = resample_taps(k->scratch, how, &axis);
    }
    size_t in_image = shape_count_range(in, 1, in->rank);
    const double *x = k->in[0].data;
    double *y = k->out[0].data;
    for (int64_t b = 0; b < in->dims[0]; b++, x += in_image)
        for (at[0] = 0; at[0] < extent[0]; at[0]++)
            for (at[1] = 0; at[1] < extent[1]; at[1]++)
                for (at[2] = 0; at[2] < extent[2]; at[2]++, y += r.channels) {
                    if (nearest) {
                        resize_nearest(&r, at, x, y);
                        continue;
                    }
                    memset(y, 0, (size_t)r.channels * sizeof *y);
                    resize_floats(&r, 0, at, 1, 0, x, y);
                }
    return ODLC_OK;
}

odlc_status kernel_resize(const struct kernel *k)
{
    struct resample how;
    if (!read_resize(&how, k->node))
        return ODLC_ERR_INVALID;
    double scale[2] = {node_float(k->node, PARAM_scale_height, 0), node_float(k->node, PARAM_scale_width, 0)};
    return resize(k, &how, k->in[0].shape.rank == 4 ? scale : NULL);
}

odlc_status kernel_resize_bilinear(const struct kernel *k)
{
    struct resample how = flagged(k->node, INTERPOLATE_LINEAR);
    return resize(k, &how, NULL);
}

odlc_status kernel_resize_nearest(const struct kernel *k)
{
    struct resample how = flagged(k->node, INTERPOLATE_NEAREST);
    return resize(k, &how, NULL);
}

/* ---- depth and space ---- */

/* The nest over both sides: `to` steps through the wide one, `from` through the deep one. */
static struct move block_moves(const struct blocks *b)
{
    int64_t area = b->rows * b->columns, deep = b->depth * area, row = b->width * b->columns * b->depth;
    int64_t in_block = b->block_first ? b->depth : 1, in_depth = b->block_first ? 1 : area;
    return (struct move){.rank = 6,
                         .axis = {{b->batch, b->height * b->rows * row, b->height * b->width * deep},
                                  {b->height, b->rows * row, b->width * deep},
                                  {b->rows, row, b->columns * in_block},
                                  {b->width, b->columns * b->depth, deep},
                                  {b->columns, b->depth, in_block},
                                  {b->depth, 1, in_depth}}};
}

odlc_status kernel_depth_to_space(const struct kernel *k)
{
    struct blocks b;
    if (blocks_read_deep(&b, k->node, &k->in[0].shape) || shape_count(&k->out[0].shape) != shape_count(&k->in[0].shape))
        return ODLC_ERR_INVALID;
    struct move m = block_moves(&b);
    move_elements(&m, element_size(k->in[0].dtype), k->out[0].data, k->in[0].data);
    return ODLC_OK;
}

odlc_status kernel_space_to_depth(const struct kernel *k)
{
    struct blocks b;
    if (blocks_read_wide(&b, k->node, &k->in[0].shape) || shape_count(&k->out[0].shape) != shape_count(&k->in[0].shape))
        return ODLC_ERR_INVALID;
    struct move m = block_moves(&b);
    for (uint32_t i = 0; i < m.rank; i++)
        m.axis[i] = (struct move_axis){m.axis[i].count, m.axis[i].from, m.axis[i].to};
    move_elements(&m, element_size(k->in[0].dtype), k->out[0].data, k->in[0].data);
    return ODLC_OK;
}
