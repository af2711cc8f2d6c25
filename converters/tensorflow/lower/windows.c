/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/windows.h"

#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

odlc_status tf_channels_first(const struct lower *l, bool *out)
{
    enum { LAST, FIRST, BLOCKS };
    static const struct choice formats[] = {{"NHWC", LAST},   {"NDHWC", LAST},         {"NCHW", FIRST},
                                            {"NCDHW", FIRST}, {"NCHW_VECT_C", BLOCKS}, {"NHWC_VECT_W", BLOCKS}};
    int format;
    TRY(lower_choose(l, "data_format", "NHWC", formats, COUNT_OF(formats), &format));
    if (format == BLOCKS)
        return lower_unsupported(l, "data_format", "export the model with NHWC or NCHW",
                                 "channels in blocks, a format of one family of GPUs, are not supported");
    *out = format == FIRST;
    return ODLC_OK;
}

odlc_status tf_windows_start(const struct lower *l, tensor_id x, uint32_t axes, struct tf_windows *w)
{
    const struct shape *in = &build_type(l->b, x)->shape;
    *w = (struct tf_windows){.s = {.axes = axes, .auto_pad = PAD_VALID}};
    TRY(tf_channels_first(l, &w->channels_first));
    if (in->rank != axes + 2)
        return lower_invalid(l, NULL, NULL, "%s does not have batch, channels and %u spatial axes",
                             shape_text(l->diags->arena, in), axes);
    tf_spatial_extents(w, in->dims, w->s.in);
    for (uint32_t i = 0; i < axes; i++) {
        if (w->s.in[i] > SPATIAL_VALUE_MAX)
            return lower_unsupported(l, NULL, NULL, "the input is too large");
        w->s.kernel[i] = w->s.stride[i] = w->s.dilation[i] = 1;
    }
    return ODLC_OK;
}

odlc_status tf_windows_list(const struct lower *l, const struct tf_windows *w, const char *name, const int64_t *values,
                            uint32_t count, int64_t out[SPATIAL_MAX])
{
    uint32_t rank = w->s.axes + 2, channels = w->channels_first ? 1 : rank - 1;
    if (!values)
        TRY(lower_attr_ints(l, name, &values, &count));
    if (!values)
        return ODLC_OK;
    if (count != rank)
        return lower_invalid(l, name, NULL, "%s has %u elements instead of %u", name, count, rank);
    if (values[0] != 1 || values[channels] != 1)
        return lower_unsupported(l, name, NULL, "%s has %lld for the %s: windows over those are not supported", name,
                                 (long long)(values[0] != 1 ? values[0] : values[channels]),
                                 values[0] != 1 ? "batch" : "channels");
    tf_spatial_extents(w, values, out);
    for (uint32_t i = 0; i < w->s.axes; i++)
        if (out[i] < 1 || out[i] > SPATIAL_VALUE_MAX)
            return lower_invalid(l, name, NULL, "%s has %lld, which is out of range", name, (long long)out[i]);
    return ODLC_OK;
}

/* explicit_paddings: a pair for each axis of the tensor. */
static odlc_status read_amounts(const struct lower *l, struct tf_windows *w)
{
    static const char name[] = "explicit_paddings";
    uint32_t rank = w->s.axes + 2, channels = w->channels_first ? 1 : rank - 1, count;
    const int64_t *pairs;
    TRY(lower_attr_ints(l, name, &pairs, &count));
    if (count != 2 * rank)
        return lower_invalid(l, name, NULL, "%s has %u elements instead of %u", name, count, 2 * rank);
    if (pairs[0] || pairs[1] || pairs[2 * channels] || pairs[2 * channels + 1])
        return lower_invalid(l, name, NULL, "%s pads the batch or the channels", name);
    for (uint32_t i = 0; i < w->s.axes; i++)
        for (uint32_t end = 0; end < 2; end++) {
            int64_t amount = pairs[2 * (i + (w->channels_first ? 2 : 1)) + end];
            if (amount < 0 || amount > SPATIAL_VALUE_MAX)
                return lower_invalid(l, name, NULL, "%s has %lld, which is out of range", name, (long long)amount);
            w->s.pad[i][end] = amount;
        }
    return ODLC_OK;
}

odlc_status tf_windows_attrs(const struct lower *l, struct tf_windows *w)
{
    static const struct choice paddings[] = {{"SAME", PAD_SAME_UPPER}, {"VALID", PAD_VALID}, {"EXPLICIT", PAD_NOTSET}};
    int padding;
    TRY(tf_windows_list(l, w, "strides", NULL, 0, w->s.stride));
    TRY(tf_windows_list(l, w, "dilations", NULL, 0, w->s.dilation));
    TRY(lower_choose(l, "padding", "", paddings, COUNT_OF(paddings), &padding));
    w->s.auto_pad = (enum auto_pad)padding;
    return padding == PAD_NOTSET ? read_amounts(l, w) : ODLC_OK;
}

odlc_status tf_windows_count(const struct lower *l, struct tf_windows *w, int64_t out[SPATIAL_MAX])
{
    struct spatial *s = &w->s;
    spatial_auto_pad(s);
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t free = s->in[i] + s->pad[i][0] + s->pad[i][1] - spatial_reach(s, i);
        if (free < 0)
            return lower_invalid(l, NULL, NULL, "a window over %lld elements is larger than the input with %lld",
                                 (long long)spatial_reach(s, i), (long long)s->in[i]);
        out[i] = free / s->stride[i] + 1;
    }
    return ODLC_OK;
}

void tf_spatial_extents(const struct tf_windows *w, const int64_t *dims, int64_t out[SPATIAL_MAX])
{
    memcpy(out, dims + (w->channels_first ? 2 : 1), w->s.axes * sizeof *out);
}

int64_t tf_channels(const struct lower *l, const struct tf_windows *w, tensor_id x)
{
    return build_type(l->b, x)->shape.dims[w->channels_first ? 1 : w->s.axes + 1];
}

/* ---- images ---- */

odlc_status tf_image(const struct lower *l, bool channels_first, tensor_id x, tensor_id *image)
{
    *image = x;
    return channels_first ? build_to_channels_last(l->b, x, image) : ODLC_OK;
}

odlc_status tf_end_image(struct lower *l, bool channels_first)
{
    tensor_id y;
    if (!channels_first)
        return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
    TRY(build_end(l->b, step_name(l, "nhwc"), &y));
    return build_to_channels_first(l->b, y, lower_out_name(l, 0), &l->out[0]);
}

odlc_status tf_give_image(struct lower *l, bool channels_first, tensor_id y)
{
    struct emit s = {.l = l};
    return channels_first ? build_to_channels_first(l->b, y, lower_out_name(l, 0), &l->out[0]) : emit_give(&s, 0, y);
}
