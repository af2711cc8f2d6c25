/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering of ONNX convolutions shares. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_CONV_H
#define CONVERTERS_ONNX_LOWER_ONNX_CONV_H

#include "converters/onnx/lower/onnx_spatial.h"

struct conv_operands {
    tensor_id x, weights;
    struct spatial s;
    int64_t group, channels;
};

/* Reads X and W, inputs 0 and 1, and the attributes. */
odlc_status conv_read_operands(struct lower *l, struct conv_operands *c) MUST_USE;
/* ODLC_ERR_INVALID unless the weights [channels out, channels in per group, kernel…] fit the input and the groups. */
odlc_status conv_check_weights(const struct lower *l, const struct conv_operands *c) MUST_USE;
/* The convolution of a channels-last image, with the windows of c->s, as output 0 of the ONNX node. */
odlc_status conv_image(struct lower *l, const struct conv_operands *c, uint32_t bias_input, tensor_id image) MUST_USE;

#endif
