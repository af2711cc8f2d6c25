/* SPDX-License-Identifier: Apache-2.0 */
/* The params of StridedSlice and Pad, as shape rules and kernels read them (op_slice.c). */
#ifndef OP_RANGES_H
#define OP_RANGES_H

#include "op/params.h"

/* Values of Pad's param `scheme`. */
enum pad_scheme { PAD_CONSTANT, PAD_SYMMETRIC, PAD_REFLECT, PAD_EDGE };

/* One axis of the input: `count` elements from `begin`, `stride` apart. */
struct range {
    int64_t begin, stride, count;
    bool shrink; /* the axis has no place in the result */
    bool added;  /* an axis of 1 that the input does not have */
};

/* All rows of StridedSlice's ranges: as many as the input has axes plus those that are added; *count gets their number.
 * False when they do not fit the input. */
bool ranges_read(const struct node *n, const struct shape *in, struct range out[2 * MAX_RANK], uint32_t *count);

#endif
