/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that end in  W∗x + b  with constant W and b, for passes that put into these what is done to the result. */
#ifndef PASS_AFFINE_H
#define PASS_AFFINE_H

#include "pass/pass.h"

bool layer_has_no_bias(const struct graph *g, const struct node *layer);
/* The name of a bias that the model has none for; in the graph's arena. */
const char *layer_bias_name(const struct graph *g, const struct node *layer);

/* The layer whose result x is, if it has constant floats for weights and bias, or no bias, and nothing else reads x;
 * else NULL. */
struct node *affine_layer(const struct graph *g, const struct uses *uses, tensor_id x);
/* The channels of its result, which are the last axis: as many elements as a bias has. */
uint64_t affine_channels(const struct graph *g, const struct node *layer);
/* Whether each output channel's weights can be multiplied by a factor of their own. */
bool affine_scalable(const struct pass_context *c, const struct graph *g, const struct node *layer);

/* An affine change of each channel of a layer's result: factor · (W∗x + b) + shift. */
struct affine {
    const double *factor, *shift; /* NULL: 1 and 0; factor lives in the graph's arena */
    const char *bias_name; /* of the new bias; NULL: that of the old one, or where there is none layer_bias_name */
};
/* Puts the change into the layer. The node `replaced`, which did it to x, is removed: who computes x, the layer or a
 * Reshape behind it, gives that node's result from now on. The
 * weights are not touched: their view gets a pending factor per channel, applied when the bytes are streamed out. With
 * --qdq encodings, the scales of integers that are still to be scaled are multiplied by it, so that their encodings
 * stay right; a bias that is changed has none, nor have weights one of whose factors is not positive, which is
 * reported. */
void affine_fold(struct pass_context *c, struct graph *g, struct node *layer, const struct affine *a, node_id replaced,
                 tensor_id x);

#endif
