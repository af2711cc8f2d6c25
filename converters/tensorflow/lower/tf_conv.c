/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's convolutions. Weights have the container's order of axes: [kernel…, channels in, channels out]. */
#include <string.h>

#include "converters/lowering/batchnorm.h"
#include "converters/lowering/conv.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/weights.h"
#include "converters/tensorflow/lower/activation.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/windows.h"

/* Args of rows: operators over volumes, and those with a filter for each channel. */
#define VOLUMES "3d"
#define DEPTHWISE "depthwise"

struct tf_conv {
    struct tf_windows w;
    tensor_id x, filter;
    int64_t group, out_channels;
    bool depthwise; /* the filter is [kernel…, channels, outputs of each channel] */
};

/* Reads everything but what follows from the other operand: `x` is input i, the filter input 1. */
static odlc_status read_conv(struct lower *l, uint32_t i, struct tf_conv *c)
{
    uint32_t axes = l->variant && strcmp(l->variant, VOLUMES) == 0 ? 3 : 2;
    *c = (struct tf_conv){.depthwise = l->variant && strcmp(l->variant, DEPTHWISE) == 0};
    TRY(lower_need(l, i, "input", &c->x));
    TRY(lower_need(l, 1, "filter", &c->filter));
    TRY(tf_windows_start(l, c->x, axes, &c->w));
    TRY(tf_windows_attrs(l, &c->w));
    const struct shape *filter = &build_type(l->b, c->filter)->shape;
    if (filter->rank != axes + 2)
        return lower_invalid(l, NULL, NULL, "the filter %s does not have %u axes", shape_text(l->diags->arena, filter),
                             axes + 2);
    for (uint32_t k = 0; k < axes; k++) {
        c->w.s.kernel[k] = filter->dims[k];
        if (filter->dims[k] < 1 || filter->dims[k] > SPATIAL_VALUE_MAX)
            return lower_invalid(l, NULL, NULL, "a filter %s is not possible", shape_text(l->diags->arena, filter));
    }
    return ODLC_OK;
}

static odlc_status misfit(const struct lower *l, const struct tf_conv *c, int64_t channels)
{
    return lower_invalid(l, NULL, NULL, "the filter %s does not fit %lld channels",
                         shape_text(l->diags->arena, &build_type(l->b, c->filter)->shape), (long long)channels);
}

/* A filter for each channel is one whose channels are groups. */
static odlc_status read_groups(const struct lower *l, struct tf_conv *c)
{
    const int64_t *filter = build_type(l->b, c->filter)->shape.dims + c->w.s.axes;
    int64_t channels = tf_channels(l, &c->w, c->x);
    c->out_channels = filter[1];
    if (c->depthwise) {
        c->group = channels;
        bool fits = filter[0] == channels && channels > 0 && !ckd_mul(&c->out_channels, filter[0], filter[1]);
        return fits ? ODLC_OK : misfit(l, c, channels);
    }
    if (filter[0] < 1 || channels < 1 || channels % filter[0] != 0 || filter[1] % (channels / filter[0]) != 0)
        return misfit(l, c, channels);
    c->group = channels / filter[0];
    return ODLC_OK;
}

/* [kernel…, channels, outputs of each] as [kernel…, a, b] with the same elements; a constant keeps its name. */
static odlc_status depthwise_weights(struct lower *l, const struct tf_conv *c, int64_t a, int64_t b, tensor_id *out)
{
    struct shape shape = build_type(l->b, c->filter)->shape;
    shape.dims[shape.rank - 2] = a;
    shape.dims[shape.rank - 1] = b;
    bool constant = build_is_const(l->b, c->filter);
    const char *name = constant ? graph_tensor(l->b->graph, c->filter)->name : step_name(l, "weights");
    return build_reshape(l->b, c->filter, &shape, name, out);
}

/* The layer that the operands make, with the padding's amounts and without a bias. */
static odlc_status conv_layer_of(struct lower *l, struct tf_conv *c, struct conv_layer *layer)
{
    TRY(read_groups(l, c));
    spatial_auto_pad(&c->w.s);
    *layer =
        (struct conv_layer){.weights = c->filter, .bias = NO_TENSOR, .bias_name = "", .s = c->w.s, .group = c->group};
    if (c->depthwise)
        TRY(depthwise_weights(l, c, 1, c->out_channels, &layer->weights));
    return tf_image(l, c->w.channels_first, c->x, &layer->image);
}

odlc_status tf_conv(struct lower *l)
{
    struct tf_conv c;
    struct conv_layer layer;
    TRY(read_conv(l, 0, &c));
    TRY(conv_layer_of(l, &c, &layer));
    conv_start(l->b, &layer, fw_node_label(l->node));
    return tf_end_image(l, c.w.channels_first);
}

/* ---- convolutions with what follows them ---- */

/* Inputs i … i + 3 are scale, offset, mean and variance. */
static odlc_status normalize(struct lower *l, uint32_t i, int64_t channels, tensor_id *y)
{
    struct batchnorm n = {.x = *y};
    struct shape shape = SHAPE(channels);
    TRY(lower_attr_float(l, "epsilon", (double)1e-4f, &n.epsilon));
    for (uint32_t k = 0; k < BN_STATISTICS; k++) {
        TRY(lower_need(l, i + k, "args", &n.given[k]));
        TRY(build_cast(l->b, n.given[k], build_type(l->b, *y)->dtype, step_name(l, "args"), &n.like_x[k]));
        if (!shape_equal(&build_type(l->b, n.given[k])->shape, &shape))
            return lower_invalid(l, NULL, NULL, "input %u does not have %lld elements", i + k, (long long)channels);
    }
    TRY(batchnorm_start(l, &n, *y, step_name(l, "Batchnorm")));
    return build_end(l->b, step_name(l, "Batchnorm"), y);
}

/* What fused_ops lists: a bias or a normalization, then perhaps an activation. */
odlc_status tf_fused_conv(struct lower *l)
{
    struct tf_conv c;
    struct conv_layer layer;
    struct emit s = {.l = l};
    const char *const *fused;
    uint32_t count;
    tensor_id y;
    TRY(lower_attr_strings(l, "fused_ops", &fused, &count));
    bool has_bias = count && strcmp(fused[0], "BiasAdd") == 0;
    bool has_norm = count && strcmp(fused[0], "FusedBatchNorm") == 0;
    TRY(read_conv(l, 0, &c));
    TRY(conv_layer_of(l, &c, &layer));
    if (has_bias)
        TRY(lower_bias(l, 2, c.out_channels, &layer.bias, &layer.bias_name));
    const char *name = step_name(l, "conv");
    conv_start(l->b, &layer, name);
    TRY(build_end(l->b, name, &y));
    if (has_norm)
        TRY(normalize(l, 2, c.out_channels, &y));
    for (uint32_t i = has_bias || has_norm; i < count; i++)
        y = emit_activation(&s, fused[i], y);
    TRY(s.status);
    return tf_give_image(l, c.w.channels_first, y);
}

/* ---- transposed convolutions: gradients of convolutions by their inputs ---- */

/* The amounts that cut the full result to the extents `out`: the padding of the convolution that this reverses, which
 * must have made x of them. */
static odlc_status reverse_padding(const struct lower *l, struct spatial *s, const int64_t out[SPATIAL_MAX])
{
    struct spatial forward = *s;
    for (uint32_t i = 0; i < s->axes; i++)
        if (out[i] < 1 || out[i] > SPATIAL_VALUE_MAX)
            return lower_invalid(l, NULL, NULL, "input_sizes has %lld, which is out of range", (long long)out[i]);
    memcpy(forward.in, out, sizeof forward.in);
    spatial_auto_pad(&forward);
    memcpy(s->pad, forward.pad, sizeof s->pad);
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t free = out[i] + s->pad[i][0] + s->pad[i][1] - spatial_reach(s, i);
        if (free < 0 || free / s->stride[i] + 1 != s->in[i])
            return lower_invalid(l, NULL, NULL, "a convolution does not make %lld elements of the %lld in input_sizes",
                                 (long long)s->in[i], (long long)out[i]);
        s->output_padding[i] = free % s->stride[i];
    }
    return ODLC_OK;
}

/* Input 0, the shape of the result; some give the spatial extents alone, and *channels is 0. */
static odlc_status read_sizes(const struct lower *l, const struct tf_conv *c, int64_t out[SPATIAL_MAX],
                              int64_t *channels)
{
    const int64_t *sizes;
    uint32_t count, rank = c->w.s.axes + 2;
    int64_t batch = build_type(l->b, c->x)->shape.dims[0];
    TRY(lower_const_ints(l, 0, "input_sizes", &sizes, &count));
    *channels = 0;
    if (count == c->w.s.axes) {
        memcpy(out, sizes, count * sizeof *out);
        return ODLC_OK;
    }
    if (count != rank)
        return lower_invalid(l, NULL, NULL, "input_sizes has %u elements instead of %u", count, rank);
    if (sizes[0] != batch)
        return lower_invalid(l, NULL, NULL, "input_sizes has a batch of %lld instead of %lld", (long long)sizes[0],
                             (long long)batch);
    tf_spatial_extents(&c->w, sizes, out);
    *channels = sizes[c->w.channels_first ? 1 : rank - 1];
    return ODLC_OK;
}

/* The filter is that of the convolution, [kernel…, channels of the result per group, channels of x]. */
static odlc_status transposed_weights(struct lower *l, struct tf_conv *c, int64_t result, tensor_id *out)
{
    uint32_t rank = c->w.s.axes + 2;
    const int64_t *filter = build_type(l->b, c->filter)->shape.dims + c->w.s.axes;
    int64_t channels = tf_channels(l, &c->w, c->x), all;
    c->out_channels = result ? result : filter[0];
    bool fits = filter[0] > 0 && c->out_channels > 0 && c->out_channels % filter[0] == 0;
    if (c->depthwise) {
        c->group = filter[0];
        fits = fits && c->out_channels == filter[0] && !ckd_mul(&all, filter[0], filter[1]) && all == channels;
        return fits ? depthwise_weights(l, c, channels, 1, out) : misfit(l, c, channels);
    }
    c->group = fits ? c->out_channels / filter[0] : 1;
    if (!fits || filter[1] != channels || channels % c->group != 0)
        return misfit(l, c, channels);
    struct perm perm = perm_identity(rank);
    perm.axis[rank - 2] = (uint8_t)(rank - 1);
    perm.axis[rank - 1] = (uint8_t)(rank - 2);
    return lower_weights(l, 1, c->filter, &perm, "", out);
}

/* A volume that stands for a dilated image loses its depth of 1. */
static odlc_status end_transposed(struct lower *l, const struct tf_conv *c, bool volume)
{
    tensor_id y;
    if (!volume)
        return tf_end_image(l, c->w.channels_first);
    TRY(build_end(l->b, step_name(l, "3d"), &y));
    const int64_t *dims = build_type(l->b, y)->shape.dims;
    struct shape image = SHAPE(dims[0], dims[2], dims[3], dims[4]);
    const char *name = c->w.channels_first ? step_name(l, "nhwc") : lower_out_name(l, 0);
    TRY(build_reshape(l->b, y, &image, name, &y));
    return tf_give_image(l, c->w.channels_first, y);
}

odlc_status tf_conv_transpose(struct lower *l)
{
    struct tf_conv c;
    struct conv_layer layer = {.bias = NO_TENSOR, .bias_name = ""};
    int64_t out[SPATIAL_MAX] = {0}, channels;
    TRY(read_conv(l, 2, &c));
    TRY(read_sizes(l, &c, out, &channels));
    TRY(transposed_weights(l, &c, channels, &layer.weights));
    TRY(reverse_padding(l, &c.w.s, out));
    TRY(tf_image(l, c.w.channels_first, c.x, &layer.image));
    layer.s = c.w.s;
    layer.group = c.group;
    TRY(conv_transpose_start(l, &layer, fw_node_label(l->node)));
    return end_transposed(l, &c, layer.s.axes != c.w.s.axes);
}
