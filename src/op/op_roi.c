/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of an image, channels last, brought to one size each: RoiAlign, RoiPooling and CropAndResize. The size of the
 * first two's result is no param: the output has the size. */
#include "op/families.h"
#include "op/infer.h"
#include "op/params.h"

static odlc_status check_regions(const struct infer *c)
{
    const struct type *x = infer_in(c, 0), *boxes = infer_in(c, 1), *batch = infer_in(c, 2);
    if (x->shape.rank != 4 || boxes->shape.rank != 2 || boxes->shape.dims[1] != 4 || batch->shape.rank != 1 ||
        batch->shape.dims[0] != boxes->shape.dims[0])
        return infer_error(c, "regions %s and their batch indices %s do not fit the input %s",
                           shape_text(c->diags->arena, &boxes->shape), shape_text(c->diags->arena, &batch->shape),
                           shape_text(c->diags->arena, &x->shape));
    for (uint32_t i = 1; i < 3; i++)
        if (x->shape.dims[i] < 1 || x->shape.dims[i] > INT32_MAX)
            return infer_error(c, "an extent of %s is out of range", shape_text(c->diags->arena, &x->shape));
    bool real = dtype_is_float(x->dtype) || dtype_is_fixed(x->dtype);
    if (!real || !(dtype_is_float(boxes->dtype) || dtype_is_fixed(boxes->dtype)) || !dtype_is_int(batch->dtype))
        return infer_error(c, "the types %s, %s, %s do not fit", dtype_info(x->dtype)->name,
                           dtype_info(boxes->dtype)->name, dtype_info(batch->dtype)->name);
    return ODLC_OK;
}

static odlc_status infer_regions(const struct infer *c)
{
    const struct type *x = infer_in(c, 0), *boxes = infer_in(c, 1), *known = infer_known_output(c);
    TRY(check_regions(c));
    if (!known || known->shape.rank != 4)
        return infer_error(c, "the size of the output is not known");
    c->out[0] = (struct type){
        x->dtype, SHAPE(boxes->shape.dims[0], known->shape.dims[1], known->shape.dims[2], x->shape.dims[3])};
    return ODLC_OK;
}

/* Of CropAndResize, which has the size as a param. */
static odlc_status infer_crops(const struct infer *c)
{
    const struct type *x = infer_in(c, 0);
    uint32_t count;
    const int64_t *size = node_ints(c->node, PARAM_resize_dims, &count);
    int64_t mode = node_int(c->node, PARAM_interpolation_mode, 0);
    TRY(check_regions(c));
    if (!size || count != 2 || size[0] < 1 || size[1] < 1 || size[0] > INT32_MAX || size[1] > INT32_MAX)
        return infer_error(c, "resize_dims is out of range");
    if (mode != 0 && mode != 1)
        return infer_error(c, "interpolation_mode is neither 0 (bilinear) nor 1 (nearest neighbour)");
    c->out[0] = (struct type){x->dtype, SHAPE(infer_in(c, 1)->shape.dims[0], size[0], size[1], x->shape.dims[3])};
    return ODLC_OK;
}

/* ---- CropAndResize ---- */

/* Where params do not say how many samples a bin takes, the boxes do, which can ask for any number. */
static uint64_t work_roi_align(const struct graph *g, const struct node *n)
{
    int64_t rows = node_int(n, PARAM_num_samples_y, -1), columns = node_int(n, PARAM_num_samples_x, -1);
    if (rows <= 0 || columns <= 0)
        return UINT64_MAX;
    return sat_mul(shape_count(&node_output(g, n, 0)->type->shape), (uint64_t)rows * (uint64_t)columns);
}

/* Each bin may be the whole image. */
static uint64_t work_roi_pooling(const struct graph *g, const struct node *n)
{
    return sat_mul(shape_count(&node_output(g, n, 0)->type->shape),
                   shape_count_range(&node_input(g, n, 0)->type->shape, 1, 3));
}

/* ---- rows ---- */

/* clang-format off */
#define RATIO {PARAM_NAMED(img_size_ratio), DT_FLOAT32, PARAM_REQUIRED, true, false, 0}
/* clang-format on */

static const struct param_def params_roi_align[] = {
    RATIO,
    {PARAM_NAMED(num_samples_y), DT_INT32, PARAM_DEFAULT, false, false, -1},
    {PARAM_NAMED(num_samples_x), DT_INT32, PARAM_DEFAULT, false, false, -1},
    {PARAM_NAMED(aligned), DT_BOOL, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(allow_invalid_roi), DT_BOOL, PARAM_OPTIONAL, false, false, 0},
};
static const struct param_def params_roi_pooling[] = {RATIO};

static const struct param_def params_crop_and_resize[] = {
    {PARAM_NAMED(resize_dims), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(interpolation_mode), DT_UINT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(extrapolation_value), DT_FLOAT32, PARAM_DEFAULT, false, false, 0},
};

#define ROI_ROW(name_, params_, infer_, work_)                                                                    \
    {                                                                                                             \
        .id = OP_##name_, .name = #name_, .dlc_type = #name_, .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, \
        .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_, .work = work_,       \
        .images = true                                                                                            \
    }

const struct op op_rows_roi[] = {
    ROI_ROW(CropAndResize, params_crop_and_resize, infer_crops, NULL),
    ROI_ROW(RoiAlign, params_roi_align, infer_regions, work_roi_align),
    ROI_ROW(RoiPooling, params_roi_pooling, infer_regions, work_roi_pooling),
};
const size_t op_rows_roi_count = COUNT_OF(op_rows_roi);
