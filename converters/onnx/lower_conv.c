/* ONNX Conv and ConvTranspose. */
#include "converters/onnx/lower_shape.h"
#include "converters/onnx/rows.h"
#include "converters/onnx/spatial.h"
#include "converters/onnx/weights.h"

struct conv_operands {
    tensor_id x, weights;
    struct spatial s;
    int64_t group, channels;
};

static odlc_status read_operands(struct lower *l, struct conv_operands *c)
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

odlc_status lower_conv(struct lower *l)
{
    struct conv_operands c;
    tensor_id x, weights, bias;
    const char *bias_name;
    TRY(read_operands(l, &c));
    const struct shape *w = &build_type(l->b, c.weights)->shape;
    int64_t out_channels = w->dims[0], in_depth = w->dims[1];
    if (c.channels / c.group != in_depth || out_channels % c.group != 0)
        return lower_invalid(l, NULL, NULL, "the weights %s do not fit %lld channels in %lld groups",
                             shape_text(l->diags->arena, w), (long long)c.channels, (long long)c.group);
    spatial_auto_pad(&c.s);
    TRY(image_enter(l, &c.s, &x));
    TRY(permuted_weights(l, &c, true, &weights));
    TRY(lower_bias(l, 2, out_channels, &bias, &bias_name));
    bool depthwise = c.s.axes == 2 && c.group == c.channels && c.group > 1;
    image_op(l, depthwise ? "DepthWiseConv2d" : c.s.axes == 2 ? "Conv2d" : "Conv3d", x);
    build_in(l->b, weights);
    build_in(l->b, bias);
    spatial_stride_params(l->b, &c.s);
    spatial_dilation_param(l->b, &c.s);
    if (!depthwise)
        build_int(l->b, "group", c.group);
    build_string(l->b, "bias_op_name", bias_name);
    build_int(l->b, "padding_size_strategy", spatial_strategy(&c.s));
    return image_leave(l);
}

/* ---- ConvTranspose ---- */

/* Amounts to cut off the full result so that it has the extent `out`; more than the full result is asked for at its end. */
static void cut_to(struct spatial *s, uint32_t axis, int64_t full, int64_t out, int64_t *output_padding)
{
    int64_t total = full + *output_padding - out;
    if (total < 0) {
        *output_padding -= total;
        total = 0;
    }
    int64_t less = total / 2, more = total - less;
    s->pad[axis][0] = s->auto_pad == PAD_SAME_UPPER ? less : more;
    s->pad[axis][1] = total - s->pad[axis][0];
}

/* Turns output_shape and auto_pad into amounts. */
static odlc_status transpose_padding(const struct lower *l, struct spatial *s, int64_t output_padding[SPATIAL_MAX])
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
        return lower_invalid(l, "output_padding", NULL, "output_padding has %u elements instead of %u", n_more, s->axes);
    bool same = s->auto_pad == PAD_SAME_LOWER || s->auto_pad == PAD_SAME_UPPER;
    for (uint32_t i = 0; i < s->axes; i++) {
        output_padding[i] = more ? more[i] : 0;
        if (output_padding[i] < 0 || output_padding[i] > INT32_MAX)
            return lower_invalid(l, "output_padding", NULL, "output_padding is out of range");
        if (shape && (shape[i] < 1 || shape[i] > INT32_MAX))
            return lower_invalid(l, "output_shape", NULL, "output_shape is out of range");
        int64_t full = (s->in[i] - 1) * s->stride[i] + spatial_reach(s, i);
        if (shape || same)
            cut_to(s, i, full, shape ? shape[i] : s->in[i] * s->stride[i], &output_padding[i]);
        if (s->pad[i][0] + s->pad[i][1] >= full + output_padding[i])
            return lower_invalid(l, "pads", NULL, "the padding leaves nothing of the output");
    }
    return ODLC_OK;
}

/* The 2-D op has no dilation, the 3-D one has: an image is a volume of depth 1. */
static odlc_status as_volume(struct lower *l, struct spatial *s, int64_t output_padding[SPATIAL_MAX], tensor_id *x,
                             tensor_id *weights)
{
    tensor_id *tensors[] = {x, weights};
    for (size_t t = 0; t < COUNT_OF(tensors); t++) {
        const struct shape *in = &build_type(l->b, *tensors[t])->shape;
        bool is_weights = tensors[t] == weights;
        struct shape shape = {.rank = 5};
        for (uint32_t i = 0; i < in->rank; i++)
            shape.dims[i + (is_weights || i > 0)] = in->dims[i];
        shape.dims[is_weights ? 0 : 1] = 1;
        TRY(build_reshape(l->b, *tensors[t], &shape, step_name(l, is_weights ? "weights_3d" : "3d"), tensors[t]));
    }
    for (uint32_t i = s->axes; i > 0; i--) {
        s->in[i] = s->in[i - 1];
        s->kernel[i] = s->kernel[i - 1];
        s->stride[i] = s->stride[i - 1];
        s->dilation[i] = s->dilation[i - 1];
        s->pad[i][0] = s->pad[i - 1][0];
        s->pad[i][1] = s->pad[i - 1][1];
        output_padding[i] = output_padding[i - 1];
    }
    s->axes++;
    s->in[0] = s->kernel[0] = s->stride[0] = s->dilation[0] = 1;
    s->pad[0][0] = s->pad[0][1] = output_padding[0] = 0;
    return ODLC_OK;
}

static void transpose_op(struct lower *l, const struct conv_operands *c, const int64_t *output_padding,
                         const char *bias_name)
{
    spatial_stride_params(l->b, &c->s);
    if (c->s.axes == 3)
        spatial_dilation_param(l->b, &c->s);
    build_int(l->b, "group", c->group);
    build_ints(l->b, "output_padding", output_padding, c->s.axes);
    build_string(l->b, "bias_op_name", bias_name);
    build_int(l->b, "padding_size_strategy", spatial_strategy(&c->s));
}

odlc_status lower_conv_transpose(struct lower *l)
{
    struct conv_operands c;
    int64_t output_padding[SPATIAL_MAX];
    tensor_id x, weights, bias;
    const char *bias_name;
    TRY(read_operands(l, &c));
    const struct shape w = build_type(l->b, c.weights)->shape;
    int64_t out_channels;
    if (w.dims[0] != c.channels || ckd_mul(&out_channels, w.dims[1], c.group))
        return lower_invalid(l, NULL, NULL, "the weights %s do not fit %lld channels",
                             shape_text(l->diags->arena, &w), (long long)c.channels);
    TRY(transpose_padding(l, &c.s, output_padding));
    bool line = c.s.axes == 1;
    TRY(image_enter(l, &c.s, &x));
    if (line) {
        output_padding[1] = output_padding[0];
        output_padding[0] = 0;
    }
    TRY(permuted_weights(l, &c, false, &weights));
    TRY(lower_bias(l, 2, out_channels, &bias, &bias_name));
    bool lift = c.s.axes == 2 && (c.s.dilation[0] != 1 || c.s.dilation[1] != 1);
    if (lift)
        TRY(as_volume(l, &c.s, output_padding, &x, &weights));
    image_op(l, c.s.axes == 3 ? "TransposeConv3d" : "TransposeConv2d", x);
    build_in(l->b, weights);
    build_in(l->b, bias);
    transpose_op(l, &c, output_padding, bias_name);
    return lift ? image_leave_flat(l) : image_leave(l);
}
