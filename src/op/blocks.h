/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of an image as channels, which shape rules and kernels of DepthToSpace and SpaceToDepth read (op_resize.c). */
#ifndef OP_BLOCKS_H
#define OP_BLOCKS_H

#include "op/params.h"

/* The geometry is that of the deep side, [batch, height, width, depth · rows · columns]. */
struct blocks {
    int64_t batch, height, width, depth; /* depth of the wide side */
    int64_t rows, columns;               /* of a block */
    bool block_first; /* DCR: within a pixel of the deep side, the position in the block comes first */
};

/* Of an input that is the deep side, or the wide one. Gives NULL, or what is wrong. */
const char *blocks_read_deep(struct blocks *b, const struct node *n, const struct shape *x);
const char *blocks_read_wide(struct blocks *b, const struct node *n, const struct shape *x);

#endif
