/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/types.h"

#include "base/hash.h"

void type_set_init(struct type_set *set, struct arena *arena)
{
    *set = (struct type_set){.arena = arena};
}

static bool same(const struct type *type, enum dtype dtype, const struct shape *shape)
{
    return type->dtype == dtype && shape_equal(&type->shape, shape);
}

static uint64_t hash_of(const struct type_set *set, enum dtype dtype, const struct shape *shape)
{
    int64_t words[MAX_RANK + 1] = {(int64_t)dtype};
    for (uint32_t i = 0; i < shape->rank; i++)
        words[i + 1] = shape->dims[i];
    return hash_bytes(arena_hash_key(set->arena), words, (shape->rank + 1) * sizeof *words);
}

/* The slot that holds the type, or the free one where it belongs. */
static const struct type **find_slot(const struct type_set *set, enum dtype dtype, const struct shape *shape)
{
    size_t mask = set->capacity - 1;
    for (size_t i = hash_of(set, dtype, shape) & mask;; i = (i + 1) & mask)
        if (!set->slots[i] || same(set->slots[i], dtype, shape))
            return &set->slots[i];
}

static void grow(struct type_set *set)
{
    const struct type_set old = *set;
    set->capacity = old.capacity ? old.capacity * 2 : 16;
    set->slots = arena_array(set->arena, const struct type *, set->capacity);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i])
            *find_slot(set, old.slots[i]->dtype, &old.slots[i]->shape) = old.slots[i];
    arena_release(set->arena, old.slots, old.capacity * sizeof *old.slots);
}

const struct type *type_set_get(struct type_set *set, enum dtype dtype, const struct shape *shape)
{
    if (set->last && same(set->last, dtype, shape))
        return set->last;
    if ((set->count + 1) * 4 > set->capacity * 3)
        grow(set);
    const struct type **slot = find_slot(set, dtype, shape);
    if (!*slot) {
        struct type *type = arena_new(set->arena, struct type);
        *type = (struct type){.dtype = dtype, .shape = *shape};
        *slot = type;
        set->count++;
    }
    set->last = *slot;
    return *slot;
}

bool type_set_any(const struct type_set *set, bool (*is)(const struct type *type))
{
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i] && is(set->slots[i]))
            return true;
    return false;
}
