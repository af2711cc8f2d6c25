/* SPDX-License-Identifier: Apache-2.0 */
/* String → uint32_t, open addressing, SipHash with the arena's key (crafted names cannot collide on purpose).
 * Never iterated, so its order cannot leak into an output. Keys are borrowed: they must outlive the map. An entry takes
 * 20 to 25 bytes. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"

#define MAP_NONE UINT32_MAX

struct map {
    struct arena *arena;
    struct map_slot *slots;
    size_t n_slots, capacity, count;
    struct map_expected {
        const char *key; /* NULL: none */
        uint32_t hash;
    } expected[2]; /* by map_expect, the newest first */
};

void map_init(struct map *map, struct arena *arena);
/* Makes room for so many entries in all, which then come without growing the map. */
void map_reserve(struct map *map, size_t count);
/* Gives the entries' memory back, as far as the arena can; the map is empty then. */
void map_release(struct map *map);
/* The hash of a key that is put or added soon, whose slot is on the way to the processor meanwhile: a table of many
 * entries lies in memory that no cache holds. And map_add for a key of that hash. */
uint32_t map_fetch(const struct map *map, const char *bytes, size_t length);
uint32_t map_add_fetched(struct map *map, const char *key, uint32_t hash, uint32_t value);
/* map_fetch of a key that map_add gets soon, at this address, with one other expected before at most. Until it does,
 * the bytes there must not change; NULL: nothing is expected any more, and bytes may go. */
void map_expect(struct map *map, const char *key);
/* The value of key, or MAP_NONE. */
uint32_t map_get(const struct map *map, const char *key);
/* Sets key to value (which must not be MAP_NONE), replacing an earlier one. */
void map_put(struct map *map, const char *key, uint32_t value);
/* As map_put, but an existing key keeps its value; returns the value the key had, or MAP_NONE when it is new. */
uint32_t map_add(struct map *map, const char *key, uint32_t value);

#endif
