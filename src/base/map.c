#include "base/map.h"

#include <string.h>
#include <sys/random.h>

#include "base/reader.h"

struct map_slot {
    const char *key; /* NULL: free */
    uint64_t hash;
    uint32_t value;
};

static inline uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

/* SipHash-1-3: one round a word, three at the end. */
static uint64_t siphash(const uint64_t key[2], const char *text)
{
    size_t length = strlen(text);
    const uint8_t *p = (const uint8_t *)text;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    size_t left = length;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word = load_le(p, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    uint64_t last = load_le(p, (unsigned)left) | (uint64_t)length << 56;
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void map_init(struct map *map, struct arena *arena)
{
    *map = (struct map){.arena = arena};
    /* Without entropy the map still works; only the protection against crafted keys is weaker. */
    if (getrandom(map->key, sizeof map->key, GRND_NONBLOCK) != (ssize_t)sizeof map->key)
        map->key[0] = (uintptr_t)map;
}

/* The slot that holds key, or the free one where it belongs. */
static struct map_slot *find_slot(const struct map *map, const char *key, uint64_t hash)
{
    size_t mask = map->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &map->slots[i];
        if (!slot->key || (slot->hash == hash && strcmp(slot->key, key) == 0))
            return slot;
    }
}

static void grow(struct map *map)
{
    struct map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 16;
    map->slots = arena_array(map->arena, struct map_slot, map->capacity);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key)
            *find_slot(map, old.slots[i].key, old.slots[i].hash) = old.slots[i];
}

uint32_t map_get(const struct map *map, const char *key)
{
    if (!map->count)
        return MAP_NONE;
    const struct map_slot *slot = find_slot(map, key, siphash(map->key, key));
    return slot->key ? slot->value : MAP_NONE;
}

static struct map_slot *slot_for(struct map *map, const char *key)
{
    if ((map->count + 1) * 4 > map->capacity * 3)
        grow(map);
    uint64_t hash = siphash(map->key, key);
    struct map_slot *slot = find_slot(map, key, hash);
    if (!slot->key) {
        *slot = (struct map_slot){.key = key, .hash = hash, .value = MAP_NONE};
        map->count++;
    }
    return slot;
}

void map_put(struct map *map, const char *key, uint32_t value)
{
    slot_for(map, key)->value = value;
}

uint32_t map_add(struct map *map, const char *key, uint32_t value)
{
    struct map_slot *slot = slot_for(map, key);
    uint32_t had = slot->value;
    if (had == MAP_NONE)
        slot->value = value;
    return had;
}
