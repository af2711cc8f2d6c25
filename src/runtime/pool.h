/* SPDX-License-Identifier: Apache-2.0 */
/* Places in one block of memory, given and taken back while a plan is laid out. Every call takes constant time: a plan
 * may have a million tensors alive at once. */
#ifndef RUNTIME_POOL_H
#define RUNTIME_POOL_H

#include "base/vec.h"

/* A part of the block, in use or free. Parts are named by their index. */
struct pool_part {
    uint64_t offset, size;
    uint32_t before, after;  /* neighbours in memory; POOL_NONE at the ends */
    uint32_t previous, next; /* in the list of free parts of like size */
    bool is_free;
};

#define POOL_NONE UINT32_MAX

struct pool {
    struct arena *arena;
    bool is_whole; /* parts stay as they are when they are given back: they are never cut or joined */
    VEC(struct pool_part) parts;
    uint32_t last;           /* the part at the end of the block */
    uint32_t spare;          /* parts that are no longer part of the block, joined by `next` */
    uint32_t free_lists[64]; /* by the logarithm of the size */
    uint64_t filled;         /* a bit for each list that is not empty */
    uint64_t size;           /* of the block that holds all places, bytes */
};

void pool_init(struct pool *pool, struct arena *arena);
/* A place of `size` bytes, which is not 0: in a free part that is large enough, or at the end. */
uint32_t pool_take(struct pool *pool, uint64_t size);
/* The place may be given to others again. */
void pool_give(struct pool *pool, uint32_t part);

static inline uint64_t pool_offset(const struct pool *pool, uint32_t part)
{
    return pool->parts.data[part].offset;
}

/* What is there now, which may be more than was asked for. */
static inline uint64_t pool_size(const struct pool *pool, uint32_t part)
{
    return pool->parts.data[part].size;
}

#endif
