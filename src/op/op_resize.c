/* Resizing and rearranging images, channels last: Resize, ResizeBilinear, ResizeNearestNeighbor, DepthToSpace,
 * SpaceToDepth. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "op/families.h"
#include "kernel/move.h"
#include "kernel/resample.h"
#include "op/rules.h"

#define SPATIAL_MAX 3

/* ---- Resize ---- */

/* in · scale, forgiving a scale that was rounded to single precision. */
static int64_t scaled_extent(int64_t in, double scale)
{
    double exact = (double)in * scale, nearest = nearbyint(exact);
    return (int64_t)(fabs(exact - nearest) <= 1e-6 * nearest ? nearest : floor(exact));
}

static odlc_status infer_resize(const struct infer *c)
{
    const struct type *x = infer_in(c, 0), *known = infer_known_output(c);
    uint32_t rank = x->shape.rank;
    if (rank < 3 || rank > SPATIAL_MAX + 2)
        return infer_error(c, "the input %s has the wrong rank", shape_text(c->diags->arena, &x->shape));
    c->out[0] = *x;
    if (known) {
        for (uint32_t i = 1; known->shape.rank == rank && i < rank - 1; i++)
            c->out[0].shape.dims[i] = known->shape.dims[i];
        return ODLC_OK;
    }
    double scale[2] = {node_float(c->node, PARAM_scale_height, 0), node_float(c->node, PARAM_scale_width, 0)};
    if (rank != 4 || !(scale[0] > 0) || !(scale[1] > 0))
        return infer_error(c, "the size of the output is not known");
    for (uint32_t i = 0; i < 2; i++) {
        double extent = (double)x->shape.dims[i + 1] * scale[i];
        if (!(extent < INT32_MAX))
            return infer_error(c, "the output is too large");
        c->out[0].shape.dims[i + 1] = scaled_extent(x->shape.dims[i + 1], scale[i]);
    }
    return ODLC_OK;
}

/* Files of TensorFlow's habits say only align_corners and half_pixel_centers. */
static enum resample_position flagged_position(const struct node *n)
{
    if (node_int(n, PARAM_align_corners, 0))
        return POSITION_ALIGN_CORNERS;
    return node_int(n, PARAM_half_pixel_centers, 0) ? POSITION_HALF_PIXEL : POSITION_ASYMMETRIC;
}

static bool read_resize(struct resample *r, const struct node *n)
{
    int64_t position = node_int(n, PARAM_transformation_mode, flagged_position(n));
    int64_t interpolation = node_int(n, PARAM_interpolation_mode, INTERPOLATE_NEAREST);
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

static odlc_status kernel_resize(const struct kernel *k)
{
    struct resample how;
    if (!read_resize(&how, k->node))
        return ODLC_ERR_INVALID;
    double scale[2] = {node_float(k->node, PARAM_scale_height, 0), node_float(k->node, PARAM_scale_width, 0)};
    return resize(k, &how, k->in[0].shape.rank == 4 ? scale : NULL);
}

static odlc_status kernel_resize_bilinear(const struct kernel *k)
{
    struct resample how = {.position = flagged_position(k->node), .interpolation = INTERPOLATE_LINEAR};
    return resize(k, &how, NULL);
}

static odlc_status kernel_resize_nearest(const struct kernel *k)
{
    struct resample how = resample_flagged_nearest(node_int(k->node, PARAM_align_corners, 0) != 0,
                                                   node_int(k->node, PARAM_half_pixel_centers, 0) != 0);
    return resize(k, &how, NULL);
}

/* ---- depth and space ---- */

enum { MODE_DCR, MODE_CRD };

/* The geometry is that of the deep side, [batch, height, width, depth · rows · columns]. */
struct blocks {
    int64_t batch, height, width, depth; /* depth of the wide side */
    int64_t rows, columns;               /* of a block */
    bool block_first; /* DCR: within a pixel of the deep side, the position in the block comes first */
};

static const char *read_block_size(struct blocks *b, const struct node *n, const struct shape *x)
{
    uint32_t count;
    const int64_t *size = node_ints(n, PARAM_block_size, &count);
    int64_t mode = node_int(n, PARAM_mode, MODE_DCR);
    if (x->rank != 4)
        return "the input does not have 4 axes";
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dims[i] > INT32_MAX)
            return "an extent is out of range";
    if (!size || count != 2 || size[0] < 1 || size[1] < 1 || size[0] > INT16_MAX || size[1] > INT16_MAX)
        return "block_size is out of range";
    if (mode != MODE_DCR && mode != MODE_CRD)
        return "mode is neither 0 (DCR) nor 1 (CRD)";
    *b = (struct blocks){.batch = x->dims[0], .rows = size[0], .columns = size[1], .block_first = mode == MODE_DCR};
    return NULL;
}

static const char *read_deep(struct blocks *b, const struct node *n, const struct shape *x)
{
    const char *wrong = read_block_size(b, n, x);
    if (wrong)
        return wrong;
    if (x->dims[3] % (b->rows * b->columns) != 0)
        return "the depth is not a multiple of the block";
    b->height = x->dims[1];
    b->width = x->dims[2];
    b->depth = x->dims[3] / (b->rows * b->columns);
    return NULL;
}

static const char *read_wide(struct blocks *b, const struct node *n, const struct shape *x)
{
    const char *wrong = read_block_size(b, n, x);
    if (wrong)
        return wrong;
    if (x->dims[1] % b->rows != 0 || x->dims[2] % b->columns != 0)
        return "height or width is not a multiple of the block";
    b->height = x->dims[1] / b->rows;
    b->width = x->dims[2] / b->columns;
    b->depth = x->dims[3];
    return NULL;
}

static struct shape deep_shape(const struct blocks *b)
{
    return SHAPE(b->batch, b->height, b->width, b->depth * b->rows * b->columns);
}

static struct shape wide_shape(const struct blocks *b)
{
    return SHAPE(b->batch, b->height * b->rows, b->width * b->columns, b->depth);
}

static odlc_status infer_depth_to_space(const struct infer *c)
{
    struct blocks b;
    const char *wrong = read_deep(&b, c->node, &infer_in(c, 0)->shape);
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &infer_in(c, 0)->shape));
    c->out[0] = (struct type){infer_in(c, 0)->dtype, wide_shape(&b)};
    return ODLC_OK;
}

static odlc_status infer_space_to_depth(const struct infer *c)
{
    struct blocks b;
    const char *wrong = read_wide(&b, c->node, &infer_in(c, 0)->shape);
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &infer_in(c, 0)->shape));
    c->out[0] = (struct type){infer_in(c, 0)->dtype, deep_shape(&b)};
    return ODLC_OK;
}

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

static odlc_status kernel_depth_to_space(const struct kernel *k)
{
    struct blocks b;
    if (read_deep(&b, k->node, &k->in[0].shape) || shape_count(&k->out[0].shape) != shape_count(&k->in[0].shape))
        return ODLC_ERR_INVALID;
    struct move m = block_moves(&b);
    move_elements(&m, element_size(k->in[0].dtype), k->out[0].data, k->in[0].data);
    return ODLC_OK;
}

static odlc_status kernel_space_to_depth(const struct kernel *k)
{
    struct blocks b;
    if (read_wide(&b, k->node, &k->in[0].shape) || shape_count(&k->out[0].shape) != shape_count(&k->in[0].shape))
        return ODLC_ERR_INVALID;
    struct move m = block_moves(&b);
    for (uint32_t i = 0; i < m.rank; i++)
        m.axis[i] = (struct move_axis){m.axis[i].count, m.axis[i].from, m.axis[i].to};
    move_elements(&m, element_size(k->in[0].dtype), k->out[0].data, k->in[0].data);
    return ODLC_OK;
}

/* ---- rows ---- */

/* clang-format off */
#define FLAGS                                                   \
    {PARAM_NAMED(align_corners), DT_BOOL, PARAM_DEFAULT, false, false, 0}, \
    {PARAM_NAMED(half_pixel_centers), DT_BOOL, PARAM_DEFAULT, false, false, 0}
/* clang-format on */

static const struct param_def params_resize[] = {
    FLAGS,
    {PARAM_NAMED(interpolation_mode), DT_UINT32, PARAM_OPTIONAL, false, true, 0},
    {PARAM_NAMED(transformation_mode), DT_UINT32, PARAM_OPTIONAL, false, true, 0},
    {PARAM_NAMED(scale_height), DT_FLOAT32, PARAM_OPTIONAL, false, true, 0},
    {PARAM_NAMED(scale_width), DT_FLOAT32, PARAM_OPTIONAL, false, true, 0},
    {PARAM_NAMED(exclude_outside), DT_BOOL, PARAM_OPTIONAL, false, false, 0},
    {PARAM_NAMED(nearest_mode), DT_UINT32, PARAM_OPTIONAL, false, false, 0},
    {PARAM_NAMED(cubic_coeff), DT_FLOAT32, PARAM_OPTIONAL, false, false, 0},
};

static const struct param_def params_flags[] = {FLAGS};

static const struct param_def params_blocks[] = {
    {PARAM_NAMED(block_size), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(mode), DT_UINT32, PARAM_DEFAULT, false, false, 0},
};

#define RESIZE_ROW(name_, params_, infer_, compute_, kernel_)                                                     \
    {                                                                                                             \
        .id = OP_##name_, .name = #name_, .dlc_type = #name_, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, \
        .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_, .compute = compute_, \
        .kernel = kernel_                                                                                         \
    }

const struct op op_rows_resize[] = {
    RESIZE_ROW(DepthToSpace, params_blocks, infer_depth_to_space, COMPUTE_MOVE, kernel_depth_to_space),
    RESIZE_ROW(Resize, params_resize, infer_resize, COMPUTE_WIDE, kernel_resize),
    RESIZE_ROW(ResizeBilinear, params_flags, infer_resize, COMPUTE_WIDE, kernel_resize_bilinear),
    RESIZE_ROW(ResizeNearestNeighbor, params_flags, infer_resize, COMPUTE_WIDE, kernel_resize_nearest),
    RESIZE_ROW(SpaceToDepth, params_blocks, infer_space_to_depth, COMPUTE_MOVE, kernel_space_to_depth),
};
const size_t op_rows_resize_count = COUNT_OF(op_rows_resize);
