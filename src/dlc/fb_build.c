/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/fb_build.h"

#include <string.h>

#include "base/reader.h"

enum { PIECE = 256 * 1024 }; /* for the sink */

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

/* ---- the bytes ---- */

/* Room for size bytes more behind padding, such that the byte `ahead` bytes from their start is aligned; *at becomes
 * their position. The caller fills them; NULL when they are only counted. */
static inline uint8_t *extend(struct fb_build *b, uint32_t alignment, uint32_t ahead, size_t size, uint32_t *at)
{
    const uint64_t end = b->settled + b->out.count;
    const uint32_t short_by = -(uint32_t)(end + ahead) & (alignment - 1);
    *at = (uint32_t)end + short_by;
    if (b->counts) {
        b->settled += short_by + size;
        return NULL;
    }
    while (b->out.capacity - b->out.count < short_by + size)
        b->out.data = vec_grow(b->arena, b->out.data, &b->out.capacity, 1);
    uint8_t *bytes = b->out.data + b->out.count;
    b->out.count += short_by + size;
    for (uint32_t i = 0; i < short_by; i++)
        *bytes++ = 0;
    return bytes;
}

static void append(struct fb_build *b, const void *bytes, size_t size)
{
    uint32_t at;
    uint8_t *to = extend(b, 1, 0, size, &at);
    if (to && size)
        memcpy(to, bytes, size);
}

static inline void append_u32(struct fb_build *b, uint32_t value)
{
    uint32_t at;
    uint8_t *to = extend(b, 1, 0, 4, &at);
    if (to)
        store_le(to, 4, value);
}

static uint32_t position(const struct fb_build *b)
{
    return (uint32_t)fb_size(b);
}

/* A byte that is not settled. Positions wrap when the buffer has become too large; places in out do not. */
static uint8_t *byte_at(const struct fb_build *b, uint32_t pos)
{
    return b->out.data + (uint32_t)(pos - (uint32_t)b->settled);
}

uint64_t fb_size(const struct fb_build *b)
{
    return b->settled + b->out.count;
}

uint32_t fb_start_stream(struct fb_build *b, struct arena *arena, fb_sink_fn *sink, void *user,
                         const char identifier[4])
{
    *b = (struct fb_build){.arena = arena, .sink = sink, .user = user, .counts = !sink};
    append_u32(b, 0);
    append(b, identifier, 4);
    return 0;
}

uint32_t fb_start(struct fb_build *b, struct arena *arena, const char identifier[4])
{
    *b = (struct fb_build){.arena = arena};
    append_u32(b, 0);
    append(b, identifier, 4);
    return 0;
}

odlc_status fb_flush(struct fb_build *b)
{
    if (b->counts)
        return ODLC_OK;
    if (b->status == ODLC_OK)
        b->status = b->sink(b->user, b->out.data, b->out.count);
    b->settled += b->out.count;
    b->out.count = 0;
    return b->status;
}

void fb_settle(struct fb_build *b)
{
    if (b->out.count >= PIECE)
        b->status = fb_flush(b);
}

void fb_link(struct fb_build *b, uint32_t reference, uint64_t target)
{
    if (reference != FB_NOWHERE && !b->counts)
        store_le(byte_at(b, reference), 4, target - reference);
}

void fb_set_u64(struct fb_build *b, uint32_t field, uint64_t value)
{
    if (!b->counts)
        store_le(byte_at(b, field), 8, value);
}

/* ---- tables ---- */

/* Places fields by falling size behind the vtable distance, so that 8-byte ones are aligned when the table starts at 4
 * mod 8. */
static void place_fields(const struct fb_slot *slots, unsigned count, struct fb_vtable *vtable)
{
    static const uint8_t sizes[] = {8, 4, 1};
    uint32_t at = 4;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        for (unsigned i = 0; i < count; i++) {
            if (slots[i].size != sizes[s])
                continue;
            vtable->fields[slots[i].slot] = (uint16_t)at;
            at += sizes[s];
        }
    }
    vtable->size = (uint16_t)(4 + 2 * (count ? slots[count - 1].slot + 1 : 0));
    vtable->table_size = (uint16_t)align_up(at, 4);
}

static uint32_t put_vtable(struct fb_build *b, const struct fb_vtable *vtable)
{
    uint32_t at;
    uint8_t bytes[4 + 2 * FB_MAX_SLOTS], *to = extend(b, 2, 0, vtable->size, &at);
    store_le(bytes, 2, vtable->size);
    store_le(bytes + 2, 2, vtable->table_size);
    for (uint32_t i = 0; i < FB_MAX_SLOTS; i++)
        store_le(bytes + 4 + 2 * i, 2, vtable->fields[i]);
    if (to)
        memcpy(to, bytes, vtable->size);
    return at;
}

static bool look_alike(const struct fb_vtable *a, const struct fb_vtable *b)
{
    return a->size == b->size && a->table_size == b->table_size && memcmp(a->fields, b->fields, sizeof a->fields) == 0;
}

/* Another key can give the same bytes: a lone field of 1 or of 4 bytes. */
static uint32_t add_vtable(struct fb_build *b, uint32_t key, const struct fb_slot *slots, unsigned count)
{
    struct fb_vtable vtable = {.key = key, .at = FB_NOWHERE};
    place_fields(slots, count, &vtable);
    for (size_t i = 0; i < b->vtables.count && vtable.at == FB_NOWHERE; i++)
        if (look_alike(&b->vtables.data[i], &vtable))
            vtable.at = b->vtables.data[i].at;
    if (vtable.at == FB_NOWHERE)
        vtable.at = put_vtable(b, &vtable);
    vec_push(b->arena, &b->vtables, vtable);
    return (uint32_t)b->vtables.count - 1;
}

/* The index of the vtable for these slots: an earlier one, or a new one. There are a few dozen at most. */
static uint32_t share_vtable(struct fb_build *b, const struct fb_slot *slots, unsigned count)
{
    uint32_t key = 0, hash;
    for (unsigned i = 0; i < count; i++)
        key |= slots[i].key;
    hash = key * 0x9E3779B1u >> 26;
    if (b->recent[hash] && b->vtables.data[b->recent[hash] - 1].key == key)
        return b->recent[hash] - 1;
    uint32_t i = 0;
    while (i < b->vtables.count && b->vtables.data[i].key != key)
        i++;
    if (i == b->vtables.count)
        i = add_vtable(b, key, slots, count);
    b->recent[hash] = (uint16_t)(i + 1);
    return i;
}

static void fill_table(uint8_t *bytes, const struct fb_vtable *vtable, uint32_t at, const struct fb_slot *slots,
                       unsigned count)
{
    store_le(bytes + vtable->table_size - 4, 4, 0); /* the fields leave no gap but at the end */
    store_le(bytes, 4, at - vtable->at);
    for (unsigned i = 0; i < count; i++) {
        uint8_t *field = bytes + vtable->fields[slots[i].slot];
        if (slots[i].size == 4)
            store_le(field, 4, slots[i].value);
        else if (slots[i].size == 8)
            store_le(field, 8, slots[i].value);
        else
            *field = (uint8_t)slots[i].value;
    }
}

struct fb_made fb_put_table(struct fb_build *b, uint32_t reference, const struct fb_slot *slots, unsigned count)
{
    uint32_t shared = share_vtable(b, slots, count), at;
    const struct fb_vtable *vtable = &b->vtables.data[shared];
    uint8_t *bytes = extend(b, 8, 4, vtable->table_size, &at);
    fb_link(b, reference, at);
    if (bytes)
        fill_table(bytes, vtable, at, slots, count);
    return (struct fb_made){at, shared};
}

uint32_t fb_slot_ref(const struct fb_build *b, struct fb_made table, unsigned slot)
{
    return table.at + b->vtables.data[table.vtable].fields[slot];
}

void fb_keep(struct fb_build *b, const struct fb_made *tables, unsigned n_tables, size_t n_vtables, struct fb_kept *out)
{
    uint32_t size = position(b) - tables[0].at;
    out->size = 0;
    if (size > FB_KEPT_BYTES || n_tables > FB_KEPT_TABLES || b->vtables.count != n_vtables)
        return;
    out->size = size;
    out->at = tables[0].at;
    for (unsigned i = 0; i < FB_KEPT_TABLES; i++)
        out->tables[i] = tables[i < n_tables ? i : 0].at - out->at;
    if (!b->counts)
        memcpy(out->bytes, byte_at(b, out->at), size);
}

uint32_t fb_put_kept(struct fb_build *b, uint32_t reference, const struct fb_kept *kept)
{
    uint32_t at;
    uint8_t *bytes = extend(b, 8, 4, kept->size, &at);
    fb_link(b, reference, at);
    if (bytes)
        memcpy(bytes, kept->bytes, kept->size);
    for (unsigned i = 0; bytes && i < FB_KEPT_TABLES; i++) {
        uint32_t table = kept->tables[i];
        store_le(bytes + table, 4, load_le(kept->bytes + table, 4) + (at - kept->at));
    }
    return at;
}

/* ---- strings and vectors ---- */

/* A vector's count, and room for so many bytes behind it: the elements, which the caller fills; NULL when they are only
 * counted. *at becomes the vector's position. */
static inline uint8_t *start_vector(struct fb_build *b, uint32_t reference, uint32_t count, size_t size, uint32_t *at)
{
    uint8_t *bytes = extend(b, 4, 0, 4 + size, at);
    if (!bytes)
        return NULL;
    store_le(bytes, 4, count);
    fb_link(b, reference, *at);
    return bytes + 4;
}

uint32_t fb_put_string(struct fb_build *b, uint32_t reference, const char *string)
{
    uint32_t at;
    size_t length = strlen(string);
    uint8_t *bytes = start_vector(b, reference, (uint32_t)length, length + 1, &at);
    if (bytes)
        memcpy(bytes, string, length + 1);
    return at;
}

uint32_t fb_put_references(struct fb_build *b, uint32_t reference, uint32_t count)
{
    uint32_t at;
    uint8_t *bytes = start_vector(b, reference, count, 4 * (size_t)count, &at);
    if (bytes && count)
        memset(bytes, 0, 4 * (size_t)count);
    return at + 4;
}

uint32_t fb_put_targets(struct fb_build *b, uint32_t reference, const uint32_t *targets, uint32_t count)
{
    uint32_t at;
    (void)start_vector(b, reference, count, 0, &at);
    for (uint32_t i = 0; i < count; i++) {
        fb_settle(b);
        append_u32(b, targets[i] - position(b));
    }
    return at;
}

uint32_t fb_put_open_references(struct fb_build *b, uint32_t reference, uint32_t count)
{
    uint32_t at;
    (void)start_vector(b, reference, count, 0, &at);
    for (uint32_t i = 0; i < count; i++) {
        fb_settle(b);
        append_u32(b, 0);
    }
    return at + 4;
}

odlc_status fb_fill_references(struct fb_build *b, uint32_t first, const uint32_t *targets, uint32_t count)
{
    TRY(fb_flush(b));
    for (uint32_t i = 0; i < count && !b->counts; i++) {
        append_u32(b, targets[i] - (first + 4 * i));
        if (b->out.count < PIECE && i + 1 < count)
            continue;
        const uint32_t end = first + 4 * (i + 1);
        b->status = b->fill(b->user, end - b->out.count, b->out.data, b->out.count);
        b->out.count = 0;
        TRY(b->status);
    }
    return ODLC_OK;
}

void fb_put_strings(struct fb_build *b, uint32_t reference, const char *const *strings, uint32_t count)
{
    uint32_t first = fb_put_references(b, reference, count);
    for (uint32_t i = 0; i < count; i++)
        fb_put_string(b, first + 4 * i, strings[i]);
}

void fb_put_words(struct fb_build *b, uint32_t reference, const uint32_t *words, uint32_t count)
{
    uint32_t at;
    uint8_t *bytes = start_vector(b, reference, count, 4 * (size_t)count, &at);
    for (uint32_t i = 0; bytes && i < count; i++)
        store_le(bytes + 4 * (size_t)i, 4, words[i]);
}

void fb_put_bytes(struct fb_build *b, uint32_t reference, const uint8_t *bytes, uint32_t size)
{
    uint32_t at;
    (void)extend(b, 8, 4, 0, &at);
    uint8_t *to = start_vector(b, reference, size, size, &at);
    if (to && size)
        memcpy(to, bytes, size);
}

odlc_status fb_begin_bytes(struct fb_build *b, uint32_t reference, uint64_t size)
{
    uint32_t at;
    (void)extend(b, 8, 4, 0, &at);
    (void)start_vector(b, reference, (uint32_t)size, 0, &at);
    return fb_flush(b);
}

void fb_end_bytes(struct fb_build *b, uint64_t size)
{
    b->settled += size;
}
