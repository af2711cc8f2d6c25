/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding patches of an image, and patches put back to one: ExtractPatches, Col2Im. Channels are last. */
#include "op/families.h"
#include "op/infer.h"
#include "op/window.h"

static odlc_status infer_col2im(const struct infer *c)
{
    const struct type *x = infer_in(c, 0), *known = infer_known_output(c);
    struct window w;
    if (!known)
        return infer_error(c, "the size of the output is not known");
    if (x->dtype == DT_STRING || x->dtype == DT_BOOL)
        return infer_error(c, "elements of type %s cannot be added", dtype_info(x->dtype)->name);
    const char *wrong = window_read_col2im(&w, c->node, &x->shape, &known->shape);
    if (wrong)
        return infer_error(c, "%s (input %s, image %s)", wrong, shape_text(c->diags->arena, &x->shape),
                           shape_text(c->diags->arena, &known->shape));
    c->out[0] = (struct type){x->dtype, known->shape};
    return ODLC_OK;
}

/* ---- ExtractPatches ---- */

static odlc_status infer_extract(const struct infer *c)
{
    struct window w;
    const struct type *x = infer_in(c, 0);
    int64_t depth = 0;
    const char *wrong = window_read_patches(&w, c->node, &x->shape);
    if (!wrong && (ckd_mul(&depth, w.axis[1].filter, w.axis[2].filter) || ckd_mul(&depth, depth, w.channels)))
        wrong = "size is out of range";
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &x->shape));
    c->out[0] = (struct type){x->dtype, SHAPE(w.batch, w.axis[1].out, w.axis[2].out, depth)};
    return ODLC_OK;
}

/* ---- rows ---- */

static const struct param_def params_extract[] = {
    {PARAM_NAMED(size), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(stride), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(rate), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(padding), DT_UINT32, PARAM_REQUIRED, false, false, 0},
};

static const struct param_def params_col2im[] = {
    {PARAM_NAMED(kernel_size), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(stride), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(pad_amount), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(dilation), DT_UINT32, PARAM_OPTIONAL, true, false, 0},
};

#define PATCH_ROW(name_, params_, infer_)                                                                         \
    {                                                                                                             \
        .id = OP_##name_, .name = #name_, .dlc_type = #name_, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, \
        .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_, .images = true       \
    }

const struct op op_rows_patch[] = {
    PATCH_ROW(Col2Im, params_col2im, infer_col2im),
    PATCH_ROW(ExtractPatches, params_extract, infer_extract),
};
const size_t op_rows_patch_count = COUNT_OF(op_rows_patch);
