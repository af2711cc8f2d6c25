/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate_flatbuffer.h"

#include <string.h>

#include "base/reader.h"
#include "base/vec.h"

/* What can be changed: a number, or a reference to a string, vector or table. */
struct site {
    size_t at;
    struct fb_field field;
    size_t vtable_slot; /* where the vtable says where the field is; 0 for elements of vectors */
};

typedef VEC(struct site) site_list;

enum { MAX_SITES = 2048, MAX_DEPTH = 40 };

uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

uint32_t random_below(uint32_t *state, uint32_t limit)
{
    return next_random(state) % limit;
}

/* ---- finding what can be changed ---- */

static bool inside(const struct flat *f, uint64_t at, uint64_t size)
{
    return at <= f->size && size <= f->size - at;
}

static uint64_t target_of(const struct flat *f, uint64_t at)
{
    uint64_t target = inside(f, at, 4) ? at + load_le(f->data + at, 4) : UINT64_MAX;
    return inside(f, target, 4) ? target : UINT64_MAX;
}

static void find_in_table(struct arena *arena, const struct flat *f, uint64_t table, const struct fb_type *type,
                          unsigned depth, site_list *sites);

static void add_site(struct arena *arena, const struct flat *f, uint64_t at, const struct fb_field *field,
                     uint64_t vtable_slot, unsigned depth, site_list *sites)
{
    static const struct fb_field string = {FB_STRING, NULL}, word = {FB_32, NULL};
    vec_push(arena, sites, (struct site){at, *field, vtable_slot});
    if (field->kind < FB_STRING)
        return;
    uint64_t target = target_of(f, at);
    if (target == UINT64_MAX)
        return;
    if (field->kind == FB_TABLE)
        find_in_table(arena, f, target, field->type, depth + 1, sites);
    if (field->kind != FB_TABLES && field->kind != FB_STRINGS && field->kind != FB_WORDS)
        return;
    const struct fb_field table = {FB_TABLE, field->type};
    const struct fb_field *element = field->kind == FB_TABLES ? &table : field->kind == FB_STRINGS ? &string : &word;
    uint64_t count = load_le(f->data + target, 4);
    for (uint64_t i = 0; i < count && inside(f, target + 4 + 4 * i, 4) && sites->count < MAX_SITES; i++)
        add_site(arena, f, target + 4 + 4 * i, element, 0, depth, sites);
}

static void find_in_table(struct arena *arena, const struct flat *f, uint64_t table, const struct fb_type *type,
                          unsigned depth, site_list *sites)
{
    int64_t vtable = (int64_t)table - (int32_t)load_le(f->data + table, 4);
    if (depth > MAX_DEPTH || vtable < 0 || !inside(f, (uint64_t)vtable, 4))
        return;
    uint64_t size = load_le(f->data + vtable, 2);
    for (uint64_t slot = 0; slot < type->n_fields && sites->count < MAX_SITES; slot++) {
        uint64_t place = (uint64_t)vtable + 4 + 2 * slot;
        if (4 + 2 * slot + 2 > size || !inside(f, place, 2))
            return;
        uint64_t at = load_le(f->data + place, 2);
        if (at && type->fields[slot].kind != FB_IGNORED && inside(f, table + at, 8))
            add_site(arena, f, table + at, &type->fields[slot], place, depth, sites);
    }
}

/* ---- changing it ---- */

static const struct site *another_of_kind(const struct flat *f, const site_list *sites, const struct site *like)
{
    for (int tries = 0; tries < 16; tries++) {
        const struct site *other = &sites->data[random_below(f->random, (uint32_t)sites->count)];
        if (other->field.kind == like->field.kind && other->field.type == like->field.type)
            return other;
    }
    return like;
}

static void change_number(struct flat *f, const site_list *sites, const struct site *site)
{
    static const int64_t special[] = {0,       1,          2,          3,           4,          5,          8,
                                      0x7F,    0xFF,       0xFFFF,     0x10000,     0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                      0x0508,  0x0232,     0x0032,     0x0608,      0x0308,     0x0408,     -1,
                                      1 << 24, 0x7F800000, 0x7FC00000, 0x100000000, INT64_MAX,  INT64_MIN};
    uint32_t size = site->field.kind == FB_8 ? 1 : site->field.kind == FB_64 ? 8 : 4;
    uint64_t value = load_le(f->data + site->at, size);
    switch (random_below(f->random, 4)) {
    case 0:
        value = (uint64_t)special[random_below(f->random, COUNT_OF(special))];
        break;
    case 1:
        value += random_below(f->random, 9) - 4;
        break;
    case 2:
        value = load_le(f->data + another_of_kind(f, sites, site)->at, size);
        break;
    default:
        value ^= 1ull << random_below(f->random, 8 * size);
    }
    store_le(f->data + site->at, size, value);
}

/* Appends bytes, at a multiple of 4; 0 when there is no room. */
static size_t append(struct flat *f, const void *bytes, size_t size)
{
    size_t at = align_up(f->size, 4);
    if (at > f->room || size > f->room - at)
        return 0;
    memset(f->data + f->size, 0, at - f->size);
    memcpy(f->data + at, bytes, size);
    f->size = at + size;
    return at;
}

static void lead_to(const struct flat *f, const struct site *site, size_t target)
{
    if (target)
        store_le(f->data + site->at, 4, target - site->at);
}

static void new_text(struct flat *f, const struct site *site, const char *const *words, size_t n_words)
{
    char copy[68] = {0};
    if (!n_words)
        return;
    const char *word = words[random_below(f->random, (uint32_t)n_words)];
    size_t length = strnlen(word, 60);
    memcpy(copy + 4, word, length);
    store_le((uint8_t *)copy, 4, length);
    lead_to(f, site, append(f, copy, 4 + length + 1));
}

/* A new vector in place of another one: of some of its elements, or with more that repeat them. Only numbers may be
 * copied as they are: references count from their own place. */
static void new_vector(struct flat *f, const struct site *site)
{
    uint8_t copy[4 + 4 * 40] = {0};
    uint64_t from = target_of(f, site->at), count = random_below(f->random, random_below(f->random, 8) ? 10 : 40);
    uint64_t had = from == UINT64_MAX ? 0 : load_le(f->data + from, 4);
    bool words = site->field.kind == FB_WORDS || site->field.kind == FB_BYTES;
    size_t at = align_up(f->size, 4);
    store_le(copy, 4, site->field.kind == FB_BYTES ? 4 * count : count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t element = from + 4 + 4 * (had ? random_below(f->random, (uint32_t)min_u64(had, 1000)) : 0);
        if (had && inside(f, element, 4)) {
            uint64_t value = load_le(f->data + element, 4);
            store_le(copy + 4 + 4 * i, 4, words ? value : element + value - (at + 4 + 4 * i));
        }
    }
    lead_to(f, site, append(f, copy, 4 + 4 * count));
}

static void change_length(const struct flat *f, const struct site *site)
{
    uint64_t target = target_of(f, site->at), length;
    if (target == UINT64_MAX)
        return;
    length = load_le(f->data + target, 4);
    switch (random_below(f->random, 4)) {
    case 0:
        length = 0;
        break;
    case 1:
        length /= 2;
        break;
    case 2:
        length += random_below(f->random, 3) - 1;
        break;
    default:
        length = (f->size - target) / (site->field.kind == FB_BYTES || site->field.kind == FB_STRING ? 1 : 4);
    }
    store_le(f->data + target, 4, length);
}

static void change_bytes(const struct flat *f, const struct site *site)
{
    uint64_t target = target_of(f, site->at), length = target == UINT64_MAX ? 0 : load_le(f->data + target, 4);
    if (length && inside(f, target + 4, length))
        f->data[target + 4 + random_below(f->random, (uint32_t)length)] ^= (uint8_t)(1 << random_below(f->random, 8));
}

static void change_reference(struct flat *f, const site_list *sites, const struct site *site, const char *const *words,
                             size_t n_words)
{
    bool is_bytes = site->field.kind == FB_STRING || site->field.kind == FB_BYTES;
    uint64_t target = target_of(f, another_of_kind(f, sites, site)->at);
    switch (random_below(f->random, 6)) {
    case 0:
        if (site->field.kind == FB_STRING)
            new_text(f, site, words, n_words);
        else if (site->field.kind != FB_TABLE)
            new_vector(f, site);
        break;
    case 1:
        if (is_bytes)
            change_bytes(f, site);
        else if (site->field.kind != FB_TABLE)
            change_length(f, site);
        break;
    case 2: /* the field is gone, from all tables of this vtable */
        if (site->vtable_slot && random_below(f->random, 4) == 0)
            store_le(f->data + site->vtable_slot, 2, 0);
        break;
    default:
        if (target != UINT64_MAX && target > site->at)
            lead_to(f, site, target);
    }
}

void mutate_flatbuffer(struct arena *arena, struct flat *flat, const struct fb_type *root, const char *const *words,
                       size_t n_words)
{
    site_list sites = {0};
    uint64_t table = target_of(flat, 0);
    if (table != UINT64_MAX)
        find_in_table(arena, flat, table, root, 0, &sites);
    for (uint32_t n = sites.count ? 1 + random_below(flat->random, 4) : 0; n > 0; n--) {
        const struct site *site = &sites.data[random_below(flat->random, (uint32_t)sites.count)];
        if (site->field.kind < FB_STRING)
            change_number(flat, &sites, site);
        else
            change_reference(flat, &sites, site, words, n_words);
    }
}

struct flat flatbuffer_vector(const struct flat *flat, unsigned slot)
{
    uint64_t table = target_of(flat, 0);
    if (table == UINT64_MAX)
        return (struct flat){0};
    int64_t vtable = (int64_t)table - (int32_t)load_le(flat->data + table, 4);
    if (vtable < 0 || !inside(flat, (uint64_t)vtable + 4 + 2 * slot, 2))
        return (struct flat){0};
    uint64_t at = load_le(flat->data + vtable + 4 + 2 * slot, 2), vector = target_of(flat, table + at);
    if (!at || vector == UINT64_MAX || !inside(flat, vector + 4, load_le(flat->data + vector, 4)))
        return (struct flat){0};
    uint64_t size = load_le(flat->data + vector, 4);
    return (struct flat){flat->data + vector + 4, size, size, flat->random};
}
