#include "dlc/fb_build.h"

#include <string.h>

#include "base/reader.h"

enum { MAX_SLOTS = 16 };

uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void append(struct fb_build *b, const void *bytes, size_t size)
{
    while (b->out.capacity - b->out.count < size)
        b->out.data = vec_grow(b->arena, b->out.data, &b->out.capacity, 1);
    if (size)
        memcpy(b->out.data + b->out.count, bytes, size);
    b->out.count += size;
}

static void append_le(struct fb_build *b, uint64_t value, unsigned bytes)
{
    uint8_t raw[8];
    store_le(raw, bytes, value);
    append(b, raw, bytes);
}

/* Pads until the byte `ahead` bytes from here is aligned. */
static void align(struct fb_build *b, uint32_t alignment, uint32_t ahead)
{
    static const uint8_t zeros[8];
    size_t at = b->out.count + ahead;
    append(b, zeros, (size_t)(align_up(at, alignment) - at));
}

static uint32_t position(const struct fb_build *b)
{
    return (uint32_t)b->out.count;
}

bool fb_fits(const struct fb_build *b)
{
    return b->out.count <= INT32_MAX;
}

uint32_t fb_start(struct fb_build *b, struct arena *arena, const char identifier[4])
{
    *b = (struct fb_build){.arena = arena};
    append_le(b, 0, 4);
    append(b, identifier, 4);
    return 0;
}

void fb_link(struct fb_build *b, uint32_t reference, uint64_t target)
{
    store_le(b->out.data + reference, 4, target - reference);
}

/* The position of a vtable with these bytes: an earlier one, or a new one. */
static uint32_t share_vtable(struct fb_build *b, const uint8_t *vtable, uint32_t size)
{
    for (size_t i = 0; i < b->vtables.count; i++) {
        const uint8_t *earlier = b->out.data + b->vtables.data[i];
        if (load_le(earlier, 2) == size && memcmp(earlier, vtable, size) == 0)
            return b->vtables.data[i];
    }
    align(b, 2, 0);
    uint32_t at = position(b);
    vec_push(b->arena, &b->vtables, at);
    append(b, vtable, size);
    return at;
}

/* Places fields by falling size behind the vtable distance, so that 8-byte ones are aligned when the table starts at 4
 * mod 8. Gives the place of each field; returns the table's size. */
static uint32_t place_fields(const struct fb_slot *slots, unsigned count, uint8_t *vtable)
{
    static const uint8_t sizes[] = {8, 4, 1};
    uint32_t at = 4;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        for (unsigned i = 0; i < count; i++) {
            if (slots[i].size != sizes[s])
                continue;
            store_le(vtable + 4 + 2 * slots[i].slot, 2, at);
            at += sizes[s];
        }
    }
    return (uint32_t)align_up(at, 4);
}

uint32_t fb_put_table(struct fb_build *b, uint32_t reference, const struct fb_slot *slots, unsigned count)
{
    uint8_t vtable[4 + 2 * MAX_SLOTS] = {0};
    uint32_t used = 0;
    for (unsigned i = 0; i < count; i++)
        used = slots[i].slot >= used ? slots[i].slot + 1u : used;
    uint32_t table_size = place_fields(slots, count, vtable), vtable_size = 4 + 2 * used;
    store_le(vtable, 2, vtable_size);
    store_le(vtable + 2, 2, table_size);
    uint32_t shared = share_vtable(b, vtable, vtable_size);
    align(b, 8, 4);
    uint32_t table = position(b);
    fb_link(b, reference, table);
    append_le(b, table - shared, 4);
    for (uint32_t i = 4; i < table_size; i += 4)
        append_le(b, 0, 4);
    for (unsigned i = 0; i < count; i++)
        store_le(b->out.data + fb_slot_ref(b, table, slots[i].slot), slots[i].size, slots[i].value);
    return table;
}

uint32_t fb_slot_ref(const struct fb_build *b, uint32_t table, unsigned slot)
{
    const uint8_t *vtable = b->out.data + (table - (uint32_t)load_le(b->out.data + table, 4));
    return table + (uint32_t)load_le(vtable + 4 + 2 * slot, 2);
}

void fb_put_string(struct fb_build *b, uint32_t reference, const char *string)
{
    size_t length = strlen(string);
    align(b, 4, 0);
    fb_link(b, reference, position(b));
    append_le(b, length, 4);
    append(b, string, length + 1);
}

uint32_t fb_put_references(struct fb_build *b, uint32_t reference, uint32_t count)
{
    align(b, 4, 0);
    fb_link(b, reference, position(b));
    append_le(b, count, 4);
    uint32_t first = position(b);
    for (uint32_t i = 0; i < count; i++)
        append_le(b, 0, 4);
    return first;
}

void fb_put_strings(struct fb_build *b, uint32_t reference, const char *const *strings, uint32_t count)
{
    uint32_t first = fb_put_references(b, reference, count);
    for (uint32_t i = 0; i < count; i++)
        fb_put_string(b, first + 4 * i, strings[i]);
}

void fb_put_words(struct fb_build *b, uint32_t reference, const uint32_t *words, uint32_t count)
{
    align(b, 4, 0);
    fb_link(b, reference, position(b));
    append_le(b, count, 4);
    for (uint32_t i = 0; i < count; i++)
        append_le(b, words[i], 4);
}

void fb_put_bytes(struct fb_build *b, uint32_t reference, const uint8_t *bytes, uint32_t size)
{
    align(b, 8, 4);
    fb_link(b, reference, position(b));
    append_le(b, size, 4);
    append(b, bytes, size);
}
