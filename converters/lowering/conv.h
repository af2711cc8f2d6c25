/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of channels-last images, as the container has them. */
#ifndef CONVERTERS_LOWERING_CONV_H
#define CONVERTERS_LOWERING_CONV_H

#include "converters/lowering/spatial.h"

struct conv_layer {
    tensor_id image, weights; /* weights: [kernel…, channels in, channels out], of the op that is started */
    tensor_id bias;           /* NO_TENSOR: none */
    const char *bias_name;    /* for the param bias_op_name: where the bias comes from; "": not from the model */
    struct spatial s;
    int64_t group;
};

/* Starts a Conv2d or Conv3d; where each channel is a group, a DepthWiseConv2d, whose weights have the same order. */
void conv_start(struct build *b, const struct conv_layer *c, const char *name);
/* Starts a TransposeConv2d or TransposeConv3d. An image whose kernel is dilated becomes a volume of depth 1, and the
 * result has one axis too many. */
odlc_status conv_transpose_start(struct lower *l, struct conv_layer *c, const char *name) MUST_USE;

#endif
