/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling an image or a volume, channels last, at positions that a tensor holds: GridSample. */
#include "op/families.h"
#include "op/infer.h"
#include "op/sampler.h"

enum { MODE_LINEAR, MODE_NEAREST };
const char *sampler_read(struct sampler *s, const struct node *n, const struct shape *x, const struct shape *grid)
{
    int64_t mode = node_int(n, PARAM_mode, MODE_LINEAR);
    if (x->rank < 4 || x->rank > SPATIAL_MAX + 2)
        return "the input does not have 2 or 3 spatial axes";
    *s = (struct sampler){.axes = x->rank - 2,
                          .channels = x->dims[x->rank - 1],
                          .align_corners = node_int(n, PARAM_align_corners, 0) != 0,
                          .nearest = mode == MODE_NEAREST,
                          .padding = node_int(n, PARAM_padding_mode, PADDING_ZEROS)};
    if (grid->rank != x->rank || grid->dims[grid->rank - 1] != s->axes || grid->dims[0] != x->dims[0])
        return "the grid does not fit the input";
    for (uint32_t i = 0; i < s->axes; i++) {
        s->in[i] = x->dims[i + 1];
        if (s->in[i] < 1 || s->in[i] > INT32_MAX)
            return "an extent is out of range";
    }
    if (mode != MODE_LINEAR && mode != MODE_NEAREST)
        return "mode is neither 0 (bilinear) nor 1 (nearest)";
    if (s->padding < PADDING_ZEROS || s->padding > PADDING_REFLECTION)
        return "padding_mode is out of range";
    return NULL;
}

static odlc_status infer_grid_sample(const struct infer *c)
{
    const struct type *x = infer_in(c, 0), *grid = infer_in(c, 1);
    struct sampler s;
    const char *wrong = sampler_read(&s, c->node, &x->shape, &grid->shape);
    if (!wrong && !dtype_is_float(grid->dtype) && !dtype_is_fixed(grid->dtype))
        wrong = "the grid does not hold real numbers";
    if (!wrong && (x->dtype == DT_STRING || (!s.nearest && !dtype_is_float(x->dtype) && !dtype_is_fixed(x->dtype))))
        wrong = "elements of the input's type cannot be interpolated";
    if (wrong)
        return infer_error(c, "%s (input %s, grid %s)", wrong, shape_text(c->diags->arena, &x->shape),
                           shape_text(c->diags->arena, &grid->shape));
    c->out[0] = (struct type){x->dtype, grid->shape};
    c->out[0].shape.dims[grid->shape.rank - 1] = s.channels;
    return ODLC_OK;
}

static const struct param_def params_grid_sample[] = {
    {PARAM_NAMED(align_corners), DT_BOOL, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(mode), DT_UINT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(padding_mode), DT_UINT32, PARAM_DEFAULT, false, false, 0},
};

const struct op op_rows_sample[] = {
    {.id = OP_GridSample,
     .name = "GridSample",
     .dlc_type = "GridSample",
     .min_inputs = 2,
     .max_inputs = 2,
     .min_outputs = 1,
     .max_outputs = 1,
     .params = params_grid_sample,
     .n_params = COUNT_OF(params_grid_sample),
     .infer = infer_grid_sample,
     .images = true},
};
const size_t op_rows_sample_count = COUNT_OF(op_rows_sample);
