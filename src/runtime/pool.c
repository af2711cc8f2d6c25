/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/pool.h"

/* Free parts of one list that are looked at for the best one. */
#define LOOKED_AT 32

void pool_init(struct pool *pool, struct arena *arena)
{
    *pool = (struct pool){.arena = arena, .last = POOL_NONE, .spare = POOL_NONE};
    for (size_t i = 0; i < COUNT_OF(pool->free_lists); i++)
        pool->free_lists[i] = POOL_NONE;
}

static struct pool_part *part_at(const struct pool *pool, uint32_t part)
{
    return &pool->parts.data[part];
}

/* Sizes from 2^list on, below 2^(list + 1). */
static uint32_t list_of(uint64_t size)
{
    return 63 - (uint32_t)__builtin_clzll(size);
}

static void link_free(struct pool *pool, uint32_t index)
{
    struct pool_part *part = part_at(pool, index);
    uint32_t list = list_of(part->size), head = pool->free_lists[list];
    part->is_free = true;
    part->previous = POOL_NONE;
    part->next = head;
    if (head != POOL_NONE)
        part_at(pool, head)->previous = index;
    pool->free_lists[list] = index;
    pool->filled |= 1ull << list;
}

static void unlink_free(struct pool *pool, uint32_t index)
{
    struct pool_part *part = part_at(pool, index);
    uint32_t list = list_of(part->size);
    if (part->previous == POOL_NONE)
        pool->free_lists[list] = part->next;
    else
        part_at(pool, part->previous)->next = part->next;
    if (part->next != POOL_NONE)
        part_at(pool, part->next)->previous = part->previous;
    if (pool->free_lists[list] == POOL_NONE)
        pool->filled &= ~(1ull << list);
    part->is_free = false;
}

/* A part behind `before`; the caller links what follows it. */
static uint32_t add_part(struct pool *pool, uint64_t offset, uint64_t size, uint32_t before)
{
    uint32_t index = pool->spare;
    if (index == POOL_NONE) {
        index = (uint32_t)pool->parts.count;
        vec_push(pool->arena, &pool->parts, (struct pool_part){0});
    } else {
        pool->spare = part_at(pool, index)->next;
    }
    *part_at(pool, index) = (struct pool_part){
        .offset = offset, .size = size, .before = before, .after = POOL_NONE, .previous = POOL_NONE, .next = POOL_NONE};
    if (before != POOL_NONE)
        part_at(pool, before)->after = index;
    return index;
}

/* The smallest of the first parts of a list that are large enough. */
static uint32_t best_of_list(const struct pool *pool, uint32_t list, uint64_t size)
{
    uint32_t best = POOL_NONE, part = pool->free_lists[list];
    for (unsigned i = 0; i < LOOKED_AT && part != POOL_NONE; i++, part = part_at(pool, part)->next)
        if (part_at(pool, part)->size >= size &&
            (best == POOL_NONE || part_at(pool, part)->size < part_at(pool, best)->size))
            best = part;
    return best;
}

static uint32_t find_free(const struct pool *pool, uint64_t size)
{
    uint32_t list = list_of(size), best = best_of_list(pool, list, size);
    uint64_t larger = list < 63 ? pool->filled & ~0ull << (list + 1) : 0;
    if (best == POOL_NONE && larger)
        best = best_of_list(pool, (uint32_t)__builtin_ctzll(larger), size);
    return best;
}

/* Cuts what is not needed off the end of a part, as a free one. */
static void split(struct pool *pool, uint32_t index, uint64_t size)
{
    struct pool_part *part = part_at(pool, index);
    uint64_t rest = part->size - size;
    uint32_t after = part->after;
    if (!rest)
        return;
    part->size = size;
    uint32_t remainder = add_part(pool, part->offset + size, rest, index);
    part_at(pool, remainder)->after = after;
    if (after == POOL_NONE)
        pool->last = remainder;
    else
        part_at(pool, after)->before = remainder;
    link_free(pool, remainder);
}

/* At the end of the block, where a free part that is too small becomes larger. */
static uint32_t extend(struct pool *pool, uint64_t size)
{
    uint32_t index = pool->last;
    if (index != POOL_NONE && part_at(pool, index)->is_free && part_at(pool, index)->size < size) {
        unlink_free(pool, index);
        part_at(pool, index)->size = size;
    } else {
        index = add_part(pool, pool->size, size, index);
        pool->last = index;
    }
    pool->size = part_at(pool, index)->offset + size;
    return index;
}

uint32_t pool_take(struct pool *pool, uint64_t size)
{
    uint32_t index = find_free(pool, size);
    if (index == POOL_NONE)
        return extend(pool, size);
    unlink_free(pool, index);
    if (!pool->is_whole)
        split(pool, index, size);
    return index;
}

/* The free part `index` becomes a part of the free one before it. */
static uint32_t join(struct pool *pool, uint32_t before, uint32_t index)
{
    struct pool_part *part = part_at(pool, index), *first = part_at(pool, before);
    unlink_free(pool, before);
    unlink_free(pool, index);
    first->size += part->size;
    first->after = part->after;
    if (part->after == POOL_NONE)
        pool->last = before;
    else
        part_at(pool, part->after)->before = before;
    part->next = pool->spare;
    pool->spare = index;
    link_free(pool, before);
    return before;
}

void pool_give(struct pool *pool, uint32_t index)
{
    link_free(pool, index);
    if (pool->is_whole)
        return;
    uint32_t before = part_at(pool, index)->before, after = part_at(pool, index)->after;
    if (after != POOL_NONE && part_at(pool, after)->is_free)
        index = join(pool, index, after);
    if (before != POOL_NONE && part_at(pool, before)->is_free)
        join(pool, before, index);
}
