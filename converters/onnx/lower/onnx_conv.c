/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Conv and ConvTranspose. */
#include "converters/onnx/lower/onnx_conv.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/conv.h"
#include "converters/lowering/weights.h"

odlc_status conv_read_operands(struct lower *l, struct conv_operands *c)
{
    TRY(lower_need(l, 0, "X", &c->x));
    TRY(lower_need(l, 1, "W", &c->weights));
    TRY(spatial_read(l, &build_type(l->b, c->weights)->shape, &c->s));
    TRY(lower_attr_int(l, "group", 1, &c->group));
    c->channels = build_type(l->b, c->x)->shape.dims[1];
    if (c->group < 1 || c->group > c->channels || c->channels % c->group != 0)
        return lower_invalid(l, "group", NULL, "%lld channels cannot be divided into %lld groups",
                             (long long)c->channels, (long long)c->group);
    return ODLC_OK;
}

/* [a, b, kernel…] → [kernel…, x, y], a line of weights made an image first; which of a, b comes first is the op's. */
static odlc_status permuted_weights(struct lower *l, const struct conv_operands *c, bool swap, tensor_id *out)
{
    tensor_id w = c->weights;
    if (build_rank(l->b, w) == 3) {
        const int64_t *dims = build_type(l->b, w)->shape.dims;
        struct shape image = SHAPE(dims[0], dims[1], 1, dims[2]);
        TRY(build_reshape(l->b, w, &image, step_name(l, "weights_2d"), &w));
    }
    uint32_t rank = build_rank(l->b, w);
    struct perm perm = {.rank = rank};
    for (uint32_t i = 0; i < rank - 2; i++)
        perm.axis[i] = (uint8_t)(i + 2);
    perm.axis[rank - 2] = swap ? 1 : 0;
    perm.axis[rank - 1] = swap ? 0 : 1;
    return lower_weights(l, 1, w, &perm, "", out);
}

odlc_status conv_check_weights(const struct lower *l, const struct conv_operands *c)
{
    const struct shape *w = &build_type(l->b, c->weights)->shape;
    if (c->channels / c->group != w->dims[1] || w->dims[0] % c->group != 0)
        return lower_invalid(l, NULL, NULL, "the weights %s do not fit %lld channels in %lld groups",
                             shape_text(l->diags->arena, w), (long long)c->channels, (long long)c->group);
    return ODLC_OK;
}

odlc_status conv_image(struct lower *l, const struct conv_operands *c, uint32_t bias_input, tensor_id image)
{
    struct conv_layer layer = {.image = image, .s = c->s, .group = c->group};
    int64_t out_channels = build_type(l->b, c->weights)->shape.dims[0];
    TRY(permuted_weights(l, c, true, &layer.weights));
    TRY(lower_bias(l, bias_input, out_channels, &layer.bias, &layer.bias_name));
    conv_start(l->b, &layer, image_op_name(l));
    return image_leave(l);
}

odlc_status lower_conv(struct lower *l)
{
    struct conv_operands c;
    tensor_id x;
    TRY(conv_read_operands(l, &c));
    TRY(conv_check_weights(l, &c));
    spatial_auto_pad(&c.s);
    TRY(image_enter(l, &c.s, &x));
    return conv_image(l, &c, 2, x);
}

/* ---- ConvTranspose ---- */

/* Amounts to cut off the full result so that it has the extent `out`; more than the full result is asked for at its
 * end. */
static void cut_to(struct spatial *s, uint32_t axis, int64_t full, int64_t out)
{
    int64_t total = full + s->output_padding[axis] - out;
    if (total < 0) {
        s->output_padding[axis] -= total;
        total = 0;
    }
    int64_t less = total / 2, more = total - less;
    s->pad[axis][0] = s->auto_pad == PAD_SAME_UPPER ? less : more;
    s->pad[axis][1] = total - s->pad[axis][0];
}

/* Turns output_shape and auto_pad into amounts. */
static odlc_status transpose_padding(const struct lower *l, struct spatial *s)
{
    const int64_t *shape, *more;
    uint32_t n_shape, n_more;
    TRY(lower_attr_ints(l, "output_shape", &shape, &n_shape));
    TRY(lower_attr_ints(l, "output_padding", &more, &n_more));
    /* Some exporters list batch and channels, too. */
    if (shape && n_shape == s->axes + 2)
        shape += 2;
    else if (shape && n_shape != s->axes)
        return lower_invalid(l, "output_shape", NULL, "output_shape has %u elements instead of %u", n_shape, s->axes);
    if (more && n_more != s->axes)
        return lower_invalid(l, "output_padding", NULL, "output_padding has %u elements instead of %u", n_more,
                             s->axes);
    bool same = s->auto_pad == PAD_SAME_LOWER || s->auto_pad == PAD_SAME_UPPER;
    for (uint32_t i = 0; i < s->axes; i++) {
        if (more && (more[i] < 0 || more[i] > INT32_MAX))
            return lower_invalid(l, "output_padding", NULL, "output_padding is out of range");
        if (shape && (shape[i] < 1 || shape[i] > INT32_MAX))
            return lower_invalid(l, "output_shape", NULL, "output_shape is out of range");
        s->output_padding[i] = more ? more[i] : 0;
        int64_t full = (s->in[i] - 1) * s->stride[i] + spatial_reach(s, i);
        int64_t wanted = shape ? shape[i] : s->in[i] * s->stride[i];
        /* By the operator's formula there would be zeros before the result, in no runtime there are. */
        if (same && full + s->output_padding[i] < wanted)
            return lower_unsupported(l, "auto_pad", "give the padding as pads and output_padding",
                                     "the padding of axis %u would be negative, which runtimes read differently", i);
        if (shape || same)
            cut_to(s, i, full, wanted);
        if (s->pad[i][0] + s->pad[i][1] >= full + s->output_padding[i])
            return lower_invalid(l, "pads", NULL, "the padding leaves nothing of the output");
    }
    return ODLC_OK;
}

odlc_status lower_conv_transpose(struct lower *l)
{
    struct conv_operands c;
    struct conv_layer layer;
    int64_t out_channels;
    TRY(conv_read_operands(l, &c));
    const struct shape *w = &build_type(l->b, c.weights)->shape;
    if (w->dims[0] != c.channels || ckd_mul(&out_channels, w->dims[1], c.group))
        return lower_invalid(l, NULL, NULL, "the weights %s do not fit %lld channels", shape_text(l->diags->arena, w),
                             (long long)c.channels);
    TRY(transpose_padding(l, &c.s));
    TRY(image_enter(l, &c.s, &layer.image));
    TRY(permuted_weights(l, &c, false, &layer.weights));
    TRY(lower_bias(l, 2, out_channels, &layer.bias, &layer.bias_name));
    layer.s = c.s;
    layer.group = c.group;
    TRY(conv_transpose_start(l, &layer, image_op_name(l)));
    return image_leave(l);
}
