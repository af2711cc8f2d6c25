/* Layers that end in  W∗x + b  with constant W and b, for passes that put into these what is done to the result. */
#ifndef PASS_AFFINE_H
#define PASS_AFFINE_H

#include "pass/pass.h"

/* The layer whose result x is, if it has constant floats for weights and bias and nothing else reads x; else NULL. */
struct node *affine_layer(const struct graph *g, const struct uses *uses, tensor_id x);
/* Elements of its bias: the channels of its result, which are the last axis. */
uint64_t affine_channels(const struct graph *g, const struct node *layer);
/* Whether each output channel's weights can be multiplied by a factor of their own. */
bool affine_scalable(const struct graph *g, const struct node *layer);

/* Whether the bias is only there because the container's layers have one: it is zeros. */
bool affine_has_no_bias(const struct graph *g, const struct node *layer);

/* What happens to each channel: factor · (W∗x + b) + shift. */
struct affine {
    const double *factor, *shift; /* NULL: 1 and 0; factor lives in the graph's arena */
    const char *bias_name;        /* what the bias is called now; NULL: as before */
};
/* Puts that into the layer, in place of the node that did it and gave the tensor `out`. The weights are not touched:
 * their view gets a pending factor per channel, applied when the bytes are streamed out. */
void affine_fold(struct graph *g, struct node *layer, const struct affine *a, node_id replaced);

#endif
