/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of an image as elements of the batch, which shape rules and kernels of SpaceToBatch and BatchToSpace read
 * (op_batch.c). */
#ifndef OP_BATCHES_H
#define OP_BATCHES_H

#include "op/params.h"

/* The wide side is [batch, in[0], in[1], depth] inside of a border, which makes whole blocks of it. */
struct batches {
    int64_t batch, depth;
    int64_t block[2], in[2], before[2], after[2];
};

/* Of SpaceToBatch, whose input is the wide side, or of BatchToSpace. Gives NULL, or what is wrong. */
const char *batches_read_space(struct batches *b, const struct node *n, const struct shape *x);
const char *batches_read_batch(struct batches *b, const struct node *n, const struct shape *x);
/* Blocks along an axis, 0 or 1, of the image. */
int64_t batches_along(const struct batches *b, int axis);

#endif
