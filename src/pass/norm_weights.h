/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of norms: constants that differ along the axes over which statistics are taken. */
#ifndef PASS_NORM_WEIGHTS_H
#define PASS_NORM_WEIGHTS_H

#include "ir/graph.h"

/* Whether the tensor is a constant of x's dtype that varies along these axes of x (a mask) and along no other, when it
 * is broadcast to x. */
bool norm_weight_fits(const struct graph *g, tensor_id weight, tensor_id x, uint32_t axes);
/* The constant in the shape of these axes: itself, or another one that is made of it. */
tensor_id norm_weight(struct graph *g, tensor_id weight, tensor_id x, uint32_t axes);
/* A constant of x's dtype in the shape of these axes of x, all of whose elements are the value. */
tensor_id norm_constant(struct graph *g, const char *name, tensor_id x, uint32_t axes, float value);
/* A bias of zeros for weights that norm_weight gave. */
tensor_id norm_no_bias(struct graph *g, tensor_id weight);
/* The param `axes` of a norm. */
void norm_set_axes(struct graph *g, struct node *n, uint32_t axes);

#endif
