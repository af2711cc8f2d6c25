/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/sorted_table.h"

#include <inttypes.h>
#include <snappy-c.h>

#include "converters/tensorflow/source/crc32c.h"
#include "converters/frontend/wire.h"

#define MAGIC UINT64_C(0xdb4775248b80fb57)
enum { FOOTER_SIZE = 48, TRAILER_SIZE = 5, UNCOMPRESSED = 0, SNAPPY = 1 };

/* Keys are kept whole. Writers store every 16th key without leaving anything out, so that whole keys are at most 16
 * times what is stored of them, and compression makes that little smaller. A table whose keys are so many times the
 * file was made to fill the memory. */
enum { MAX_KEY_GROWTH = 64 };

struct handle {
    uint64_t offset, size; /* without the trailer */
};

struct table_job {
    struct arena *arena;
    struct diags *diags;
    const struct file *file;
    uint64_t key_bytes; /* of all keys, whole */
};

typedef VEC(struct table_entry) entry_list;

static odlc_status bad_table(const struct table_job *j, uint64_t offset, const char *what)
{
    return diag_error(j->diags, ODLC_ERR_INVALID,
                      AT(.file = j->file->path, .offset = offset, .has_offset = 1,
                         .hint = "the checkpoint's index is damaged or truncated: copy or save it again"),
                      "checkpoint-index", "%s", what);
}

/* ---- blocks ---- */

static struct handle read_handle(struct reader *r)
{
    struct handle h = {0};
    h.offset = read_varint(r);
    h.size = read_varint(r);
    return h;
}

static odlc_status uncompress(struct table_job *j, const struct handle *h, const char *bytes, struct reader *out)
{
    /* A copy is stored in at least 3 bytes for at most 64, or 2 bytes for at most 11. */
    size_t limit = (size_t)h->size / 3 * 64 + 64, size;
    if (snappy_uncompressed_length(bytes, (size_t)h->size, &size) != SNAPPY_OK || size > limit)
        return bad_table(j, h->offset, "a compressed block of the index is broken");
    char *plain = arena_alloc(j->arena, size);
    if (snappy_uncompress(bytes, (size_t)h->size, plain, &size) != SNAPPY_OK)
        return bad_table(j, h->offset, "a compressed block of the index is broken");
    *out = reader_of(plain, size);
    return ODLC_OK;
}

static odlc_status read_block(struct table_job *j, const struct handle *h, struct reader *out)
{
    uint64_t room = j->file->size - FOOTER_SIZE, end;
    if (ckd_add(&end, h->offset, h->size) || ckd_add(&end, end, TRAILER_SIZE) || end > room)
        return bad_table(j, h->offset, "a block of the index lies beyond the end of the file");
    const uint8_t *bytes = j->file->data + h->offset;
    uint8_t compression = bytes[h->size];
    uint32_t stored = (uint32_t)load_le(bytes + h->size + 1, 4);
    if (crc32c_mask(crc32c_add(0, bytes, h->size + 1)) != stored)
        return bad_table(j, h->offset, "a block of the index does not have the checksum that is stored with it");
    if (compression == SNAPPY)
        TRY(uncompress(j, h, (const char *)bytes, out));
    else if (compression == UNCOMPRESSED)
        *out = reader_of(bytes, h->size);
    else
        return bad_table(j, h->offset + h->size, "a block of the index is compressed in an unknown way");
    return ODLC_OK;
}

/* ---- entries ---- */

static int compare_bytes(const void *a, size_t a_size, const void *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* The entry at the reader's place, after `previous` in the same block (NULL: it is the first). */
static odlc_status read_entry(struct table_job *j, const struct handle *h, struct reader *r,
                              const struct table_entry *previous, struct table_entry *out)
{
    uint64_t shared = read_varint(r), rest = read_varint(r), value_size = read_varint(r);
    const uint8_t *key_rest = read_bytes(r, rest), *value = read_bytes(r, value_size);
    if (r->failed || shared > (previous ? previous->key_size : 0))
        return bad_table(j, h->offset, "an entry of the index runs past its block, or shares more than there is");
    j->key_bytes += shared + rest;
    if (j->key_bytes > MAX_KEY_GROWTH * j->file->size)
        return bad_table(
            j, h->offset,
            arena_printf(j->diags->arena, "the keys of the index have more than %d times its bytes", MAX_KEY_GROWTH));
    char *key = arena_alloc(j->arena, (size_t)(shared + rest) + 1);
    if (shared)
        memcpy(key, previous->key, shared);
    memcpy(key + shared, key_rest, rest);
    *out = (struct table_entry){.key = key, .key_size = shared + rest, .value = value, .value_size = value_size};
    return ODLC_OK;
}

/* Adds the entries of a block, which ends with the places where keys are whole, and their number. */
static odlc_status read_entries(struct table_job *j, const struct handle *h, entry_list *list)
{
    struct reader block;
    TRY(read_block(j, h, &block));
    uint64_t restarts = block.size >= 4 ? load_le(block.data + block.size - 4, 4) : 0;
    if (restarts == 0 || restarts > block.size / 4 - 1)
        return bad_table(j, h->offset, "a block of the index has no valid list of restarts");
    block.size -= 4 * (restarts + 1);
    for (size_t first = list->count; block.pos < block.size;) {
        struct table_entry entry, *last = list->count > 0 ? &list->data[list->count - 1] : NULL;
        TRY(read_entry(j, h, &block, list->count > first ? last : NULL, &entry));
        if (last && compare_bytes(last->key, last->key_size, entry.key, entry.key_size) >= 0)
            return bad_table(j, h->offset, "the keys of the index are not sorted, or one occurs twice");
        vec_push(j->arena, list, entry);
    }
    return ODLC_OK;
}

/* ---- the table ---- */

static odlc_status read_footer(struct table_job *j, struct handle *index)
{
    uint64_t size = j->file->size;
    if (size < FOOTER_SIZE || load_le(j->file->data + size - 8, 8) != MAGIC)
        return diag_error(
            j->diags, ODLC_ERR_INVALID,
            AT(.file = j->file->path, .hint = "a checkpoint is PREFIX.index and PREFIX.data-00000-of-00001, in full"),
            "checkpoint-index", "this is not the index of a checkpoint, or it is truncated");
    struct reader footer = reader_of(j->file->data + size - FOOTER_SIZE, FOOTER_SIZE - 8);
    read_handle(&footer); /* of a block about blocks, which is empty */
    *index = read_handle(&footer);
    return footer.failed ? bad_table(j, size - FOOTER_SIZE, "the footer of the index is broken") : ODLC_OK;
}

odlc_status table_read(struct arena *arena, struct diags *diags, const struct file *file, struct table *out)
{
    struct table_job j = {.arena = arena, .diags = diags, .file = file};
    struct handle index;
    entry_list blocks = {0}, entries = {0};
    uint64_t end = 0; /* of the blocks so far */
    TRY(read_footer(&j, &index));
    TRY(read_entries(&j, &index, &blocks));
    for (size_t i = 0; i < blocks.count; i++) {
        struct reader r = reader_of(blocks.data[i].value, blocks.data[i].value_size);
        struct handle h = read_handle(&r);
        if (r.failed)
            return bad_table(&j, index.offset, "the place of a block of the index is broken");
        if (h.offset < end)
            return bad_table(&j, h.offset, "blocks of the index overlap or are out of order");
        TRY(read_entries(&j, &h, &entries));
        end = h.offset + h.size + TRAILER_SIZE;
    }
    *out = (struct table){.entries = entries.data, .count = entries.count};
    return ODLC_OK;
}

const struct table_entry *table_find(const struct table *table, const void *key, size_t size)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct table_entry *entry = &table->entries[middle];
        int order = compare_bytes(entry->key, entry->key_size, key, size);
        if (order == 0)
            return entry;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
