/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of floats as fixed-point ones, by the integers that the model has for them. Those that a graph gets so are
 * called as the float ones asked to be. */
#ifndef PASS_FIXED_CONSTANT_H
#define PASS_FIXED_CONSTANT_H

#include "ir/graph.h"

/* The integers of a constant that is still to be scaled; NO_TENSOR for other constants. */
tensor_id fixed_constant(struct graph *g, tensor_id constant);

/* ---- biases ---- */

/* Whether the constant is one zero for all elements. */
bool is_zeros(const struct tensor *t);
/* Those zeros, which are the same at any scale. */
tensor_id fixed_zeros(struct graph *g, tensor_id bias);
/* A bias of floats, as integers of 32 bits by a scale of its own: it is as exact as floats are. NO_TENSOR: it is not
 * finite. */
tensor_id fixed_bias(struct graph *g, tensor_id bias, struct arena *scratch);
/* A bias of integers whose channels have scales of their own, by one scale: encodings of channels take seven times the
 * room of what they are for, and the vendor's containers have one for a bias. The scale is a power of two, by which
 * reals that scales of that kind give stay exact; others are off by at most 2⁻³² of the largest. Another constant stays
 * what it is. */
tensor_id joined_bias(struct graph *g, tensor_id bias, struct arena *scratch);

#endif
