/* Type and axis rules that several families share. */
#ifndef OP_RULES_H
#define OP_RULES_H

#include "op/op.h"

/* Fails unless every input that is there is of a floating-point (or quantized) type. */
odlc_status need_real(const struct infer *c) MUST_USE;
/* Fails unless the inputs that are there are all of such types or all integers: what kernels of products combine. */
odlc_status need_alike(const struct infer *c) MUST_USE;
/* Whether elements of both types can come into one tensor: those of one type, or, by way of their reals, fixed-point
 * ones with each other and with floats. */
bool can_stand_together(enum dtype a, enum dtype b);
/* out[0] = in[0]; all inputs must be of floating-point (or quantized) types … */
infer_fn infer_real;
/* … or all of them integers. */
infer_fn infer_numeric;
/* The type of output 0 that the node already has, or NULL: of ops whose output's size is no param, but said by the
 * output alone. */
const struct type *infer_known_output(const struct infer *c);

/* The axes in the tensor param `axes` as a mask. False when there is none, one is listed twice or is not below rank. */
bool node_axes(const struct node *n, uint32_t rank, uint32_t *mask);
/* in with the axes of the mask set to 1 (keep) or dropped. */
struct shape reduced_shape(const struct shape *in, uint32_t axes, bool keep);
/* The permutation in which the axes outside the mask (of the node's own axes) come when all axes come in perm. */
struct perm perm_without(const struct perm *perm, uint32_t axes);
/* Rewrites the tensor param `axes` to the stored axes, in the listed order. */
void permute_axes_param(struct graph *g, struct node *n, const struct perm *perm);

#endif
