/* SPDX-License-Identifier: Apache-2.0 */
/* Layers with constant weights as matrix products: a row of the left operand holds the inputs of one position of the
 * result, and the weights are `groups` matrices of depth × width. */
#ifndef QUANTIZE_QUANT_LAYER_H
#define QUANTIZE_QUANT_LAYER_H

#include "op/conv_geometry.h"
#include "quantize/quantizer.h"

struct linear_layer {
    const struct node *node;
    tensor_id input, weights;
    bool has_window;
    struct conv conv;              /* has_window: with the result's extents */
    uint32_t channel_axis;         /* of the weights */
    uint64_t groups, depth, width; /* channels of the result: groups · width */
    uint64_t rows;
    uint64_t depth_stride, width_stride; /* elements of the weights between two inputs, two channels of the result */
};

/* Whether the node is a Conv2d, Conv3d, DepthWiseConv2d, FullyConnected or MatMul of floats with constant weights, that
 * are to be quantized and that nothing else reads. */
bool quant_layer_find(const struct quantizer *q, const struct node *n, struct linear_layer *out);
/* The same, of weights that have their integers. */
bool quant_layer_read(const struct quantizer *q, const struct node *n, struct linear_layer *out);
/* Inputs [first, first + count) of a group in a row, of the values of the layer's input. */
void quant_layer_row(const struct linear_layer *l, const float *x, uint64_t row, uint64_t group, uint64_t first,
                     uint64_t count, double *out);

static inline uint64_t quant_layer_channel(const struct linear_layer *l, uint64_t group, uint64_t column)
{
    return group * l->width + column;
}

/* The place in the weights of what input `k` of a group is multiplied by for a channel of the result. */
static inline uint64_t quant_layer_weight(const struct linear_layer *l, uint64_t channel, uint64_t k)
{
    return channel * l->width_stride + k * l->depth_stride;
}

#endif
