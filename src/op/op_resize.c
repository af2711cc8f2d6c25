/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing and rearranging images, channels last: Resize, ResizeBilinear, ResizeNearestNeighbor, DepthToSpace,
 * SpaceToDepth. */
#include <math.h>

#include "op/axes.h"
#include "op/blocks.h"
#include "op/families.h"
#include "op/infer.h"

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

/* ---- depth and space ---- */

enum { MODE_DCR, MODE_CRD };

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

const char *blocks_read_deep(struct blocks *b, const struct node *n, const struct shape *x)
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

const char *blocks_read_wide(struct blocks *b, const struct node *n, const struct shape *x)
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
    const char *wrong = blocks_read_deep(&b, c->node, &infer_in(c, 0)->shape);
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &infer_in(c, 0)->shape));
    c->out[0] = (struct type){infer_in(c, 0)->dtype, wide_shape(&b)};
    return ODLC_OK;
}

static odlc_status infer_space_to_depth(const struct infer *c)
{
    struct blocks b;
    const char *wrong = blocks_read_wide(&b, c->node, &infer_in(c, 0)->shape);
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &infer_in(c, 0)->shape));
    c->out[0] = (struct type){infer_in(c, 0)->dtype, deep_shape(&b)};
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

#define RESIZE_ROW(name_, params_, infer_)                                                                        \
    {                                                                                                             \
        .id = OP_##name_, .name = #name_, .dlc_type = #name_, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, \
        .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_, .images = true       \
    }

const struct op op_rows_resize[] = {
    RESIZE_ROW(DepthToSpace, params_blocks, infer_depth_to_space),
    RESIZE_ROW(Resize, params_resize, infer_resize),
    RESIZE_ROW(ResizeBilinear, params_flags, infer_resize),
    RESIZE_ROW(ResizeNearestNeighbor, params_flags, infer_resize),
    RESIZE_ROW(SpaceToDepth, params_blocks, infer_space_to_depth),
};
const size_t op_rows_resize_count = COUNT_OF(op_rows_resize);
