/* SPDX-License-Identifier: Apache-2.0 */
/* Layers whose constants can be scaled, channel by channel, and the layers that alone read their results. */
#ifndef QUANTIZE_QUANT_SCALABLE_H
#define QUANTIZE_QUANT_SCALABLE_H

#include "quantize/quant_layer.h"

struct scalable {
    struct linear_layer layer;
    node_id id;
    tensor_id bias;  /* NO_TENSOR: there is none */
    uint64_t inputs; /* channels that the layer reads */
};

/* Whether the node is such a layer: no range of its constants is given, and nothing else reads them. */
bool quant_scalable_find(const struct quantizer *q, node_id id, struct scalable *out);

/* Whether a node between two layers lets through what is done to its operand. */
typedef bool quant_lets_fn(const struct graph *g, const struct node *n);
/* The layer that alone reads the result, behind nodes that let through; ranges of all between the two are open. */
bool quant_scalable_next(const struct quantizer *q, const struct scalable *from, quant_lets_fn *lets,
                         struct scalable *next);

static inline uint64_t quant_scalable_channels(const struct scalable *s)
{
    return s->layer.groups * s->layer.width;
}

/* The inputs of a group that are channels, and not taps of these. */
static inline uint64_t quant_scalable_depth(const struct scalable *s)
{
    return s->layer.has_window ? (uint64_t)s->layer.conv.in_depth : s->layer.depth;
}

#endif
