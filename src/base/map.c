/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <string.h>

#include "base/hash.h"
#include "base/pages.h"

/* Slots are sorted by hash: an entry stands at the place that its hash has in the table, or behind it where the slots
 * in between are taken by entries of smaller (or equal) hashes. So the table grows in place, in one walk over it, and a
 * search ends at the first greater hash. A few slots behind the last place take what would not fit there. */
struct map_slot {
    const char *key; /* NULL: free */
    uint32_t hash;
    uint32_t value;
};

enum { FIRST_CAPACITY = 16, DOUBLING_ENDS = 4096, LONGEST_TAIL = 256, POPULATED = 4096 /* slots */ };

void map_init(struct map *map, struct arena *arena)
{
    *map = (struct map){.arena = arena};
}

/* The number of slots for a capacity. */
static size_t slots_for(size_t capacity)
{
    return capacity + 8 + (size_t)min_u64(capacity / 8, LONGEST_TAIL);
}

static size_t place_of(const struct map *map, uint32_t hash)
{
    return (size_t)((uint64_t)hash * map->capacity >> 32);
}

static uint32_t hash_of(const struct map *map, const char *key)
{
    return (uint32_t)hash_bytes(arena_hash_key(map->arena), key, strlen(key));
}

/* The slot that holds key, or the one where it belongs: free, or of the first entry that has to move on. */
static struct map_slot *find_slot(const struct map *map, const char *key, uint32_t hash, bool *found)
{
    struct map_slot *slot = &map->slots[place_of(map, hash)];
    while (slot->key && slot->hash < hash)
        slot++;
    for (; slot->key && slot->hash == hash; slot++)
        if ((*found = strcmp(slot->key, key) == 0))
            return slot;
    *found = false;
    return slot;
}

/* Moves the entries, in their order, to the end of the slots; returns the first one's index. */
static size_t pack(struct map *map, size_t n_slots, size_t n_old)
{
    size_t to = n_slots;
    for (size_t i = n_old; i-- > 0;) {
        if (!map->slots[i].key)
            continue;
        map->slots[--to] = map->slots[i];
        if (to != i)
            map->slots[i].key = NULL;
    }
    return to;
}

/* Moves packed entries to their places; false when the last ones do not fit. */
static bool spread(struct map *map, size_t n_slots, size_t first)
{
    size_t next = 0;
    for (size_t i = first; i < n_slots; i++) {
        const struct map_slot entry = map->slots[i];
        size_t place = place_of(map, entry.hash);
        place = place < next ? next : place;
        if (place > i)
            return false;
        map->slots[i].key = NULL;
        map->slots[place] = entry;
        next = place + 1;
    }
    return !map->slots[n_slots - 1].key;
}

static void grow(struct map *map, size_t capacity)
{
    for (bool fits = false; !fits; capacity += capacity / 4) {
        size_t n_old = map->n_slots, n_slots = slots_for(capacity);
        map->slots = arena_grow(map->arena, map->slots, n_old * sizeof *map->slots, n_slots * sizeof *map->slots);
        if (n_slots - n_old >= POPULATED) /* entries come to all pages, and free slots are looked at before */
            pages_populate(map->slots + n_old, (n_slots - n_old) * sizeof *map->slots);
        map->n_slots = n_slots;
        map->capacity = capacity;
        fits = spread(map, n_slots, pack(map, n_slots, n_old));
    }
}

void map_reserve(struct map *map, size_t count)
{
    size_t capacity = count + count / 4 + 1;
    if (capacity > map->capacity)
        grow(map, capacity < FIRST_CAPACITY ? FIRST_CAPACITY : capacity);
}

void map_release(struct map *map)
{
    arena_release(map->arena, map->slots, map->n_slots * sizeof *map->slots);
    map_init(map, map->arena);
}

uint32_t map_get(const struct map *map, const char *key)
{
    if (!map->count)
        return MAP_NONE;
    bool found;
    const struct map_slot *slot = find_slot(map, key, hash_of(map, key), &found);
    return found ? slot->value : MAP_NONE;
}

/* Room for one more entry: the last slot is free, and one in five of the others. */
static void make_room(struct map *map)
{
    size_t capacity = map->capacity;
    if (!capacity)
        grow(map, FIRST_CAPACITY);
    else if ((map->count + 1) * 5 > capacity * 4 || map->slots[map->n_slots - 1].key)
        grow(map, capacity < DOUBLING_ENDS ? capacity * 2 : capacity + capacity / 4);
}

uint32_t map_fetch(const struct map *map, const char *bytes, size_t length)
{
    const uint32_t hash = (uint32_t)hash_bytes(arena_hash_key(map->arena), bytes, length);
    if (map->capacity)
        __builtin_prefetch(&map->slots[place_of(map, hash)], 1);
    return hash;
}

void map_expect(struct map *map, const char *key)
{
    if (!key) {
        memset(map->expected, 0, sizeof map->expected);
        return;
    }
    map->expected[1] = map->expected[0];
    map->expected[0] = (struct map_expected){key, map_fetch(map, key, strlen(key))};
}

/* An expectation is met once. */
static uint32_t expected_hash_of(struct map *map, const char *key)
{
    for (size_t i = 0; i < COUNT_OF(map->expected); i++) {
        if (map->expected[i].key == key) {
            map->expected[i].key = NULL;
            return map->expected[i].hash;
        }
    }
    return hash_of(map, key);
}

static struct map_slot *slot_for(struct map *map, const char *key, uint32_t hash)
{
    bool found;
    make_room(map);
    struct map_slot *slot = find_slot(map, key, hash, &found), *end = slot;
    if (found)
        return slot;
    while (end->key)
        end++;
    memmove(slot + 1, slot, (size_t)(end - slot) * sizeof *slot);
    *slot = (struct map_slot){.key = key, .hash = hash, .value = MAP_NONE};
    map->count++;
    return slot;
}

void map_put(struct map *map, const char *key, uint32_t value)
{
    slot_for(map, key, hash_of(map, key))->value = value;
}

uint32_t map_add(struct map *map, const char *key, uint32_t value)
{
    return map_add_fetched(map, key, expected_hash_of(map, key), value);
}

uint32_t map_add_fetched(struct map *map, const char *key, uint32_t hash, uint32_t value)
{
    struct map_slot *slot = slot_for(map, key, hash);
    uint32_t had = slot->value;
    if (had == MAP_NONE)
        slot->value = value;
    return had;
}
