/* SPDX-License-Identifier: Apache-2.0 */
/* Params that name axes, and the axis rules that several families share. */
#ifndef OP_AXES_H
#define OP_AXES_H

#include "op/params.h"

#define SPATIAL_MAX 3 /* spatial axes of an operator at most */

/* ---- reading ---- */
/* The param `axis`, which must be one of rank axes; `absent` when the node has none. */
bool node_axis(const struct node *n, int64_t absent, uint32_t rank, uint32_t *out);
/* The axes in the tensor param `axes` as a mask. False when there is none, one is listed twice or is not below rank. */
bool node_axes(const struct node *n, uint32_t rank, uint32_t *mask);
/* The axes that a reduction takes away, as a mask; false for other nodes, and those that keep all axes. */
bool node_drops_axes(const struct node *n, uint32_t rank, uint32_t *mask);
/* The same of a node that may have `axis` (absent: 0) in place of `axes`. */
bool node_axes_or_axis(const struct node *n, uint32_t rank, uint32_t *mask);
/* The param `perm`. False when the param is not a permutation of rank axes. */
bool node_valid_perm(const struct node *n, uint32_t rank, struct perm *out);

/* in with the axes of the mask set to 1 (keep) or dropped. */
struct shape reduced_shape(const struct shape *in, uint32_t axes, bool keep);
/* The permutation in which the axes outside the mask (of the node's own axes) come when all axes come in perm. */
struct perm perm_without(const struct perm *perm, uint32_t axes);
/* Rewrites the tensor param `axes` to the stored axes, in the listed order. */
void permute_axes_param(struct graph *g, struct node *n, const struct perm *perm);

/* ---- axis rules (permute_fn, op/op.h) ---- */
/* Of ops that treat every element alike: params stay, the permutation passes through. */
bool permute_any(struct graph *g, struct node *n, const struct perm *perm, struct perm *out);
/* Of ops that do the same at every place along all axes but the param `axis`. */
bool permute_axis(struct graph *g, struct node *n, const struct perm *perm, struct perm *out);

/* ---- cut rules (cut_fn, op/op.h) ---- */
/* Of ops whose operands are broadcast to the output. */
bool cut_broadcast(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis);
/* Of ops that leave alone all axes whose extent they keep. */
bool cut_same(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis);
/* Of ops that do the same at every place along all axes but the param `axis`, whose absence means the last one. */
bool cut_but_axis(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis);

#endif
