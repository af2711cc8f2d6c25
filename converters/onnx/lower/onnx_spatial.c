/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/lower/onnx_spatial.h"

#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"

static odlc_status read_list(const struct lower *l, const char *name, uint32_t count, int64_t low, const int64_t **out)
{
    uint32_t given;
    TRY(lower_attr_ints(l, name, out, &given));
    if (!*out)
        return ODLC_OK;
    if (given != count)
        return lower_invalid(l, name, NULL, "%s has %u elements instead of %u", name, given, count);
    for (uint32_t i = 0; i < count; i++) {
        if ((*out)[i] < low && low == 0)
            return lower_unsupported(l, name, "cut the input off with Slice", "negative padding is not supported");
        if ((*out)[i] < low || (*out)[i] > SPATIAL_VALUE_MAX)
            return lower_invalid(l, name, NULL, "%s has %lld, which is out of range", name, (long long)(*out)[i]);
    }
    return ODLC_OK;
}

static odlc_status read_auto_pad(const struct lower *l, enum auto_pad *out)
{
    static const char *const names[] = {[PAD_NOTSET] = "NOTSET",
                                        [PAD_VALID] = "VALID",
                                        [PAD_SAME_LOWER] = "SAME_LOWER",
                                        [PAD_SAME_UPPER] = "SAME_UPPER"};
    const char *name;
    TRY(lower_attr_string(l, "auto_pad", "NOTSET", &name));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum auto_pad)i;
            return ODLC_OK;
        }
    return lower_invalid(l, "auto_pad", NULL, "unknown auto_pad %s", name);
}

static odlc_status read_kernel(const struct lower *l, const struct shape *weights, struct spatial *s)
{
    const int64_t *kernel;
    TRY(read_list(l, "kernel_shape", s->axes, 1, &kernel));
    if (!kernel && !weights)
        return lower_invalid(l, "kernel_shape", NULL, "kernel_shape is missing");
    for (uint32_t i = 0; i < s->axes; i++) {
        s->kernel[i] = weights ? weights->dims[i + 2] : kernel[i];
        if (kernel && kernel[i] != s->kernel[i])
            return lower_invalid(l, "kernel_shape", NULL, "kernel_shape has %lld where the weights are %s",
                                 (long long)kernel[i], shape_text(l->diags->arena, weights));
        if (s->kernel[i] < 1 || s->kernel[i] > SPATIAL_VALUE_MAX)
            return lower_invalid(l, NULL, NULL, "a kernel of %lld elements is not possible", (long long)s->kernel[i]);
    }
    return ODLC_OK;
}

odlc_status spatial_read(const struct lower *l, const struct shape *weights, struct spatial *s)
{
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    const struct shape *in = &build_type(l->b, x)->shape;
    if (in->rank < 3 || in->rank > SPATIAL_MAX + 2)
        return lower_unsupported(l, NULL, NULL, "the input %s does not have 1 to %d spatial axes",
                                 shape_text(l->diags->arena, in), SPATIAL_MAX);
    if (weights && weights->rank != in->rank)
        return lower_invalid(l, NULL, NULL, "the weights %s do not fit the input %s",
                             shape_text(l->diags->arena, weights), shape_text(l->diags->arena, in));
    *s = (struct spatial){.axes = in->rank - 2};
    const int64_t *strides, *dilations, *pads = NULL;
    TRY(read_kernel(l, weights, s));
    TRY(read_list(l, "strides", s->axes, 1, &strides));
    TRY(read_list(l, "dilations", s->axes, 1, &dilations));
    TRY(read_auto_pad(l, &s->auto_pad));
    if (s->auto_pad == PAD_NOTSET)
        TRY(read_list(l, "pads", 2 * s->axes, 0, &pads));
    for (uint32_t i = 0; i < s->axes; i++) {
        if (in->dims[i + 2] > SPATIAL_VALUE_MAX)
            return lower_unsupported(l, NULL, NULL, "the input is too large");
        s->in[i] = in->dims[i + 2];
        s->stride[i] = strides ? strides[i] : 1;
        s->dilation[i] = dilations ? dilations[i] : 1;
        s->pad[i][0] = pads ? pads[i] : 0;
        s->pad[i][1] = pads ? pads[s->axes + i] : 0;
    }
    return ODLC_OK;
}

/* ---- images ---- */

static bool is_line(const struct lower *l)
{
    return build_rank(l->b, l->in[0]) == 3;
}

static const char *line_name(const struct lower *l, const char *suffix)
{
    return arena_printf(l->arena, "%s%s", fw_node_label(l->node), suffix);
}

odlc_status image_enter(struct lower *l, struct spatial *s, tensor_id *image)
{
    tensor_id x = l->in[0];
    if (is_line(l)) {
        const int64_t *dims = build_type(l->b, x)->shape.dims;
        struct shape shape = SHAPE(dims[0], dims[1], 1, dims[2]);
        TRY(build_reshape(l->b, x, &shape, line_name(l, "_reshape_to_2d"), &x));
        graph_tensor(l->b->graph, x)->axis_format = AXIS_FORMAT_NCHW;
        if (s)
            spatial_prepend(s);
    }
    return build_to_channels_last(l->b, x, image);
}

const char *image_op_name(const struct lower *l)
{
    return is_line(l) ? line_name(l, "_2d") : fw_node_label(l->node);
}

void image_op(struct lower *l, enum op_id op, tensor_id image)
{
    build_op(l->b, op, image_op_name(l));
    build_in(l->b, image);
}

/* [N, 1, H, W, C] → [N, H, W, C] where the model has no depth. */
static odlc_status drop_depth(struct lower *l, tensor_id *y)
{
    const struct shape *in = &build_type(l->b, *y)->shape;
    if (in->rank != 5 || build_rank(l->b, l->in[0]) == 5)
        return ODLC_OK;
    struct shape image = SHAPE(in->dims[0], in->dims[2], in->dims[3], in->dims[4]);
    return build_reshape(l->b, *y, &image, step_name(l, "2d"), y);
}

odlc_status image_leave_typed(struct lower *l, const struct type *type)
{
    tensor_id y;
    bool line = is_line(l);
    const char *image_name = line ? line_name(l, "_intermediate") : step_name(l, "nhwc");
    const char *name = line ? line_name(l, "_intermediate.nchw") : lower_out_name(l, 0);
    if (type)
        TRY(build_end_typed(l->b, &image_name, type, 1, &y));
    else
        TRY(build_end(l->b, image_name, &y));
    TRY(drop_depth(l, &y));
    TRY(build_to_channels_first(l->b, y, name, &y));
    l->out[0] = y;
    if (!line)
        return ODLC_OK;
    const int64_t *dims = build_type(l->b, y)->shape.dims;
    int64_t shape[] = {dims[0], dims[1], dims[3]};
    build_op(l->b, OP_Reshape, line_name(l, "_intermediate"));
    build_in(l->b, y);
    build_ints(l->b, PARAM_shape, shape, COUNT_OF(shape));
    TRY(build_end(l->b, lower_out_name(l, 0), &l->out[0]));
    graph_tensor(l->b->graph, l->out[0])->axis_format = AXIS_FORMAT_NCF;
    return ODLC_OK;
}

odlc_status image_leave(struct lower *l)
{
    return image_leave_typed(l, NULL);
}
