/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that rearrange elements: Transpose, DepthToSpace, SpaceToDepth, ChannelShuffle. */
#ifndef OP_REARRANGE_H
#define OP_REARRANGE_H

#include "op/blocks.h"

/* The input's elements in the shape `parts`, transposed, are the result's elements. */
struct rearrangement {
    struct shape parts;
    struct perm perm;
};

/* Of a node whose input has the shape x. Gives NULL, or what is wrong. */
const char *rearrangement_read(struct rearrangement *r, const struct node *n, const struct shape *x);

/* DepthToSpace, or SpaceToDepth, of images with channels last, as the operators have them, or second. */
struct rearrangement rearrangement_of_blocks(const struct blocks *b, bool to_space, bool channels_last);
/* ChannelShuffle of groups along an axis, whose extent is a multiple of their number; x has less than MAX_RANK axes. */
struct rearrangement rearrangement_of_groups(const struct shape *x, uint32_t axis, int64_t groups);

/* The one form of all rearrangements that do the same: parts that stay neighbours are one part, and those of one
 * element are gone; all parts must have elements. */
struct rearrangement rearrangement_joined(const struct rearrangement *r);
bool rearrangement_equal(const struct rearrangement *a, const struct rearrangement *b);

#endif
