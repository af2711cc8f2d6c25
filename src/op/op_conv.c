/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions: Conv2d, Conv3d, DepthWiseConv2d, TransposeConv2d, TransposeConv3d. Channels-last activations, weights
 * [filter…, channels in, channels out]. */
#include "op/conv_geometry.h"
#include "op/families.h"
#include "op/infer.h"

static const char *read_shared(struct conv *c, const struct node *n, const struct shape *x, const struct shape *w)
{
    uint32_t axes = n->op->spatial_axes;
    if (x->rank != axes + 2 || w->rank != axes + 2)
        return "the input or the weights have the wrong rank";
    const char *wrong = window_read(&c->window, n, x, w->dims);
    if (wrong)
        return wrong;
    c->group = node_int(n, PARAM_group, 1);
    return c->group < 1 || c->group > INT32_MAX ? "group is out of range" : NULL;
}

static const char *check_bias(const struct conv *c, const struct shape *bias)
{
    bool fits = !bias || shape_count(bias) == (uint64_t)(c->group * c->out_depth);
    return fits ? NULL : "the bias does not have one element per output channel";
}

const char *conv_read(struct conv *c, const struct node *n, const struct shape *x, const struct shape *w,
                      const struct shape *bias)
{
    const char *wrong = read_shared(c, n, x, w);
    if (wrong)
        return wrong;
    int64_t in = w->dims[w->rank - 2], out = w->dims[w->rank - 1];
    if (c->window.channels % c->group != 0 || c->window.channels / c->group != in)
        return "the weights do not fit the input's channels and the groups";
    if (out % c->group != 0)
        return "the output channels cannot be divided among the groups";
    c->in_depth = in;
    c->out_depth = out / c->group;
    return check_bias(c, bias);
}

const char *conv_read_depthwise(struct conv *c, const struct node *n, const struct shape *x, const struct shape *w,
                                const struct shape *bias)
{
    const char *wrong = read_shared(c, n, x, w);
    if (wrong)
        return wrong;
    int64_t channels = c->window.channels, out = w->dims[w->rank - 1];
    if (w->dims[w->rank - 2] != 1 || channels < 1 || out % channels != 0)
        return "the weights do not fit the input's channels";
    c->group = channels;
    c->in_depth = 1;
    c->out_depth = out / channels;
    return check_bias(c, bias);
}

const char *conv_read_transpose(struct conv *c, const struct node *n, const struct shape *x, const struct shape *w,
                                const struct shape *bias)
{
    const char *wrong = read_shared(c, n, x, w);
    if (wrong)
        return wrong;
    int64_t in = w->dims[w->rank - 2], out = w->dims[w->rank - 1];
    if (in != c->window.channels || in % c->group != 0)
        return "the weights do not fit the input's channels and the groups";
    if (ckd_mul(&out, out, c->group))
        return "group is out of range";
    c->in_depth = in / c->group;
    c->out_depth = out / c->group;
    return check_bias(c, bias);
}

static odlc_status read_operands(const struct infer *c, conv_read_fn *read, struct conv *conv)
{
    const struct tensor *bias = node_input(c->graph, c->node, 2);
    const struct type *x = infer_in(c, 0), *w = infer_in(c, 1);
    const char *wrong = read(conv, c->node, &x->shape, &w->shape, bias ? &bias->type->shape : NULL);
    if (wrong)
        return infer_error(c, "%s (input %s, weights %s)", wrong, shape_text(c->diags->arena, &x->shape),
                           shape_text(c->diags->arena, &w->shape));
    return ODLC_OK;
}

static odlc_status infer_with(const struct infer *c, conv_read_fn *read)
{
    struct conv conv;
    TRY(read_operands(c, read, &conv));
    const char *wrong = window_count(&conv.window, false);
    if (wrong)
        return infer_error(c, "%s", wrong);
    c->out[0] = (struct type){infer_in(c, 0)->dtype, window_shape(&conv.window, conv.group * conv.out_depth)};
    return ODLC_OK;
}

/* Integers are convolved, too: where sums must be exact. */
static odlc_status infer_conv(const struct infer *c)
{
    TRY(need_alike(c));
    return infer_with(c, conv_read);
}

static odlc_status infer_depthwise(const struct infer *c)
{
    TRY(need_real(c));
    return infer_with(c, conv_read_depthwise);
}

/* out = (in - 1) · stride + (filter - 1) · dilation + 1 - pads + output_padding */
static odlc_status infer_transpose(const struct infer *c)
{
    struct conv conv;
    TRY(need_real(c));
    TRY(read_operands(c, conv_read_transpose, &conv));
    struct window *w = &conv.window;
    uint32_t count;
    const int64_t *more = node_ints(c->node, PARAM_output_padding, &count);
    if (more && count != w->rank)
        return infer_error(c, "output_padding has the wrong number of elements");
    for (uint32_t i = 0; i < w->rank; i++) {
        struct window_axis *a = &w->axis[WINDOW_AXES - w->rank + i];
        if (more && (more[i] < 0 || more[i] > INT32_MAX))
            return infer_error(c, "output_padding is out of range");
        a->out = (a->in - 1) * a->stride + (a->filter - 1) * a->dilation + 1 - a->pad_before - a->pad_after +
                 (more ? more[i] : 0);
        if (a->out < 1)
            return infer_error(c, "pad_amount leaves nothing of the output");
    }
    c->out[0] = (struct type){infer_in(c, 0)->dtype, window_shape(w, conv.group * conv.out_depth)};
    return ODLC_OK;
}

/* Output elements × filter elements × input channels per group. */
static uint64_t macs_conv(const struct graph *g, const struct node *n)
{
    const struct shape *w = &node_input(g, n, 1)->type->shape;
    return w->rank ? sat_mul(shape_count(&node_output(g, n, 0)->type->shape), shape_count_range(w, 0, w->rank - 1)) : 0;
}

/* Every input element meets every filter element of its channel's group, whatever the stride: what is really computed,
 * instead of the zeros that the picture of a convolution over a stretched input would count as well. */
static uint64_t macs_transpose(const struct graph *g, const struct node *n)
{
    const struct shape *w = &node_input(g, n, 1)->type->shape;
    if (w->rank < 2)
        return 0;
    uint64_t per_element = sat_mul(shape_count_range(w, 0, w->rank - 2), (uint64_t)w->dims[w->rank - 1]);
    return sat_mul(shape_count(&node_input(g, n, 0)->type->shape), per_element);
}

/* clang-format off */
#define WINDOW_PARAMS                                      \
    {PARAM_NAMED(stride), DT_UINT32, PARAM_REQUIRED, true, false, 0}, \
    {PARAM_NAMED(pad_amount), DT_UINT32, PARAM_REQUIRED, true, false, 0}
#define GROUP {PARAM_NAMED(group), DT_UINT32, PARAM_DEFAULT, false, false, 1}
#define DILATION {PARAM_NAMED(dilation), DT_UINT32, PARAM_OPTIONAL, true, false, 0}
#define OUTPUT_PADDING {PARAM_NAMED(output_padding), DT_UINT32, PARAM_OPTIONAL, true, false, 0}
/* What converters note for later tools. */
#define NOTES                                                            \
    {PARAM_NAMED(bias_op_name), DT_STRING, PARAM_OPTIONAL, false, true, 0},         \
    {PARAM_NAMED(padding_size_strategy), DT_UINT8, PARAM_OPTIONAL, false, true, 0}
/* A batch normalization that was folded leaves its own: equalization and bias correction ask how outputs are spread. */
#define NORM_NOTES                                                             \
    {PARAM_NAMED(beta), DT_FLOAT32, PARAM_OPTIONAL, true, true, 0, true},      \
    {PARAM_NAMED(gamma), DT_FLOAT32, PARAM_OPTIONAL, true, true, 0, true}
/* clang-format on */

static const struct param_def params_conv[] = {WINDOW_PARAMS, GROUP, DILATION, NOTES, NORM_NOTES};
static const struct param_def params_depthwise[] = {WINDOW_PARAMS, DILATION, NOTES, NORM_NOTES};
static const struct param_def params_conv_3d[] = {WINDOW_PARAMS, GROUP, DILATION, NOTES};
static const struct param_def params_transpose[] = {WINDOW_PARAMS, GROUP, OUTPUT_PADDING, NOTES};
static const struct param_def params_transpose_3d[] = {WINDOW_PARAMS, GROUP, DILATION, OUTPUT_PADDING, NOTES};

#define CONV_ROW(name_, kind_, axes_, channels_, params_, infer_, macs_)                                             \
    {                                                                                                                \
        .id = OP_##name_, .name = #name_, .dlc_type = #name_, .min_inputs = 2, .max_inputs = 3, .min_outputs = 1,    \
        .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_, .macs = macs_,          \
        .layer = kind_, .channel_axis = channels_, .spatial_axes = axes_, .weights = 1 << 1 | 1 << 2, .images = true \
    }

const struct op op_rows_conv[] = {
    CONV_ROW(Conv2d, LAYER_CONVOLUTION, 2, 3, params_conv, infer_conv, macs_conv),
    CONV_ROW(Conv3d, LAYER_CONVOLUTION, 3, -1, params_conv_3d, infer_conv, macs_conv),
    CONV_ROW(DepthWiseConv2d, LAYER_CONVOLUTION, 2, 3, params_depthwise, infer_depthwise, macs_conv),
    CONV_ROW(TransposeConv2d, LAYER_TRANSPOSED, 2, 3, params_transpose, infer_transpose, macs_transpose),
    CONV_ROW(TransposeConv3d, LAYER_TRANSPOSED, 3, -1, params_transpose_3d, infer_transpose, macs_transpose),
};
const size_t op_rows_conv_count = COUNT_OF(op_rows_conv);
