/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/conv.h"

#include "converters/lowering/shapes.h"

static void start(struct build *b, const struct conv_layer *c, enum op_id op, const char *name)
{
    build_op(b, op, name);
    build_in(b, c->image);
    build_in(b, c->weights);
    build_in(b, c->bias);
    spatial_stride_params(b, &c->s);
    build_string(b, PARAM_bias_op_name, c->bias_name);
    build_int(b, PARAM_padding_size_strategy, spatial_strategy(&c->s));
}

void conv_start(struct build *b, const struct conv_layer *c, const char *name)
{
    const struct type *image = build_type(b, c->image);
    bool real = dtype_is_float(image->dtype); /* integers have no depthwise op */
    bool depthwise = real && c->s.axes == 2 && c->group == image->shape.dims[3] && c->group > 1;
    start(b, c, depthwise ? OP_DepthWiseConv2d : c->s.axes == 2 ? OP_Conv2d : OP_Conv3d, name);
    spatial_dilation_param(b, &c->s);
    if (!depthwise)
        build_int(b, PARAM_group, c->group);
}

static odlc_status add_axis(struct lower *l, uint32_t at, const char *name, tensor_id *tensor)
{
    const struct shape *in = &build_type(l->b, *tensor)->shape;
    struct shape shape = {.rank = in->rank + 1};
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = i == at ? 1 : in->dims[i - (i > at)];
    return build_reshape(l->b, *tensor, &shape, step_name(l, name), tensor);
}

/* The 2-D op has no dilation, the 3-D one has: an image is a volume of depth 1. */
static odlc_status as_volume(struct lower *l, struct conv_layer *c)
{
    if (c->s.axes != 2 || (c->s.dilation[0] == 1 && c->s.dilation[1] == 1))
        return ODLC_OK;
    spatial_prepend(&c->s);
    TRY(add_axis(l, 1, "3d", &c->image));
    return add_axis(l, 0, "weights_3d", &c->weights);
}

odlc_status conv_transpose_start(struct lower *l, struct conv_layer *c, const char *name)
{
    TRY(as_volume(l, c));
    start(l->b, c, c->s.axes == 3 ? OP_TransposeConv3d : OP_TransposeConv2d, name);
    if (c->s.axes == 3)
        spatial_dilation_param(l->b, &c->s);
    build_int(l->b, PARAM_group, c->group);
    build_ints(l->b, PARAM_output_padding, c->s.output_padding, c->s.axes);
    return ODLC_OK;
}
