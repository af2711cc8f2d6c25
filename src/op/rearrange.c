/* SPDX-License-Identifier: Apache-2.0 */
#include "op/rearrange.h"

#include <string.h>

#include "op/axes.h"
#include "op/op.h"

/* The orders of an image's parts: batch, height, width, depth, and rows and columns of a block. */
static const char *parts_of(const struct blocks *b, bool deep, bool channels_last)
{
    if (!deep)
        return channels_last ? "bhrwcd" : "bdhrwc";
    if (channels_last)
        return b->block_first ? "bhwrcd" : "bhwdrc";
    return b->block_first ? "brcdhw" : "bdrchw";
}

static int64_t part_extent(const struct blocks *b, char part)
{
    switch (part) {
    case 'b':
        return b->batch;
    case 'h':
        return b->height;
    case 'w':
        return b->width;
    case 'd':
        return b->depth;
    case 'r':
        return b->rows;
    default:
        return b->columns;
    }
}

struct rearrangement rearrangement_of_blocks(const struct blocks *b, bool to_space, bool channels_last)
{
    const char *from = parts_of(b, to_space, channels_last), *to = parts_of(b, !to_space, channels_last);
    struct rearrangement r = {0};
    r.parts.rank = r.perm.rank = (uint32_t)strlen(from);
    for (uint32_t i = 0; from[i]; i++) {
        r.parts.dims[i] = part_extent(b, from[i]);
        r.perm.axis[i] = (uint8_t)(strchr(from, to[i]) - from);
    }
    return r;
}

struct rearrangement rearrangement_of_groups(const struct shape *x, uint32_t axis, int64_t groups)
{
    struct rearrangement r = {.parts = {.rank = x->rank + 1}, .perm = perm_identity(x->rank + 1)};
    for (uint32_t i = 0; i < x->rank; i++)
        r.parts.dims[i < axis ? i : i + 1] = x->dims[i];
    r.parts.dims[axis] = groups;
    r.parts.dims[axis + 1] = x->dims[axis] / groups;
    r.perm.axis[axis] = (uint8_t)(axis + 1);
    r.perm.axis[axis + 1] = (uint8_t)axis;
    return r;
}

static const char *read_groups(struct rearrangement *r, const struct node *n, const struct shape *x)
{
    const int64_t groups = node_int(n, PARAM_num_groups, 0);
    uint32_t axis;
    if (x->rank >= MAX_RANK)
        return "the input has too many axes";
    if (!node_axis(n, (int64_t)x->rank - 1, x->rank, &axis))
        return "the axis is none of the input's";
    if (groups < 1 || x->dims[axis] % groups != 0)
        return "the channels are no multiple of num_groups";
    *r = rearrangement_of_groups(x, axis, groups);
    return NULL;
}

static const char *read_perm(struct rearrangement *r, const struct node *n, const struct shape *x)
{
    r->parts = *x;
    return node_valid_perm(n, x->rank, &r->perm) ? NULL : "perm is not a permutation of the axes";
}

const char *rearrangement_read(struct rearrangement *r, const struct node *n, const struct shape *x)
{
    struct blocks b;
    if (n->op->id == OP_Transpose)
        return read_perm(r, n, x);
    if (n->op->id == OP_ChannelShuffle)
        return read_groups(r, n, x);
    const bool deep = n->op->id == OP_DepthToSpace;
    const char *wrong = deep ? blocks_read_deep(&b, n, x) : blocks_read_wide(&b, n, x);
    if (!wrong)
        *r = rearrangement_of_blocks(&b, deep, true);
    return wrong;
}

/* Whether part i + 1 of the result is what stands behind part i of the input, too. */
static bool stays_behind(const struct rearrangement *r, uint32_t i)
{
    return r->perm.axis[i + 1] == r->perm.axis[i] + 1;
}

/* Without part `axis` of the input, which is part i of the result. */
static void drop(struct rearrangement *r, uint32_t axis, uint32_t i)
{
    for (uint32_t k = axis; k + 1 < r->parts.rank; k++)
        r->parts.dims[k] = r->parts.dims[k + 1];
    r->parts.dims[--r->parts.rank] = 0;
    for (uint32_t k = i; k + 1 < r->perm.rank; k++)
        r->perm.axis[k] = r->perm.axis[k + 1];
    r->perm.axis[--r->perm.rank] = 0;
    for (uint32_t k = 0; k < r->perm.rank; k++)
        r->perm.axis[k] -= r->perm.axis[k] > axis;
}

struct rearrangement rearrangement_joined(const struct rearrangement *r)
{
    struct rearrangement joined = *r;
    for (uint32_t i = joined.perm.rank; i-- > 0;)
        if (joined.parts.dims[joined.perm.axis[i]] == 1)
            drop(&joined, joined.perm.axis[i], i);
    for (uint32_t i = joined.perm.rank; i-- > 1;)
        if (stays_behind(&joined, i - 1)) {
            joined.parts.dims[joined.perm.axis[i - 1]] *= joined.parts.dims[joined.perm.axis[i]];
            drop(&joined, joined.perm.axis[i], i);
        }
    return joined;
}

bool rearrangement_equal(const struct rearrangement *a, const struct rearrangement *b)
{
    return shape_equal(&a->parts, &b->parts) && perm_equal(&a->perm, &b->perm);
}
