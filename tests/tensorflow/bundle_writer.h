/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the checkpoint reader: writes tensor bundles with code of its own (but for snappy), whole ones and ones
 * that are broken at one place and have the right checksums everywhere. Text is in the arena that is handed over. */
#ifndef TESTS_TENSORFLOW_BUNDLE_WRITER_H
#define TESTS_TENSORFLOW_BUNDLE_WRITER_H

#include <snappy-c.h>
#include <string.h>

#include "base/reader.h"
#include "base/vec.h"

static inline uint32_t plain_crc32c(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static inline uint32_t masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static inline void put(struct arena *arena, text *t, const void *bytes, size_t size)
{
    text_add_bytes(arena, t, bytes, size);
}

static inline void put_le(struct arena *arena, text *t, unsigned bytes, uint64_t value)
{
    uint8_t le[8];
    store_le(le, bytes, value);
    put(arena, t, le, bytes);
}

static inline void put_varint(struct arena *arena, text *t, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_le(arena, t, 1, (value & 0x7f) | 0x80);
    put_le(arena, t, 1, value);
}

/* ---- messages ---- */

static inline void put_int(struct arena *arena, text *t, uint32_t field, int64_t value)
{
    put_varint(arena, t, field << 3);
    put_varint(arena, t, (uint64_t)value);
}

static inline void put_fixed32(struct arena *arena, text *t, uint32_t field, uint32_t value)
{
    put_varint(arena, t, field << 3 | 5);
    put_le(arena, t, 4, value);
}

static inline void put_message(struct arena *arena, text *t, uint32_t field, text message)
{
    put_varint(arena, t, field << 3 | 2);
    put_varint(arena, t, message.count);
    put(arena, t, message.count ? message.data : "", message.count);
}

/* A BundleEntryProto's first fields. */
static inline text entry_head(struct arena *arena, int type, const int64_t *dims, size_t rank)
{
    text e = {0}, shape = {0};
    for (size_t i = 0; i < rank; i++) {
        text dim = {0};
        put_int(arena, &dim, 1, dims[i]);
        put_message(arena, &shape, 2, dim);
    }
    put_int(arena, &e, 1, type);
    put_message(arena, &e, 2, shape);
    return e;
}

static inline text entry_of(struct arena *arena, int type, const int64_t *dims, size_t rank, int64_t shard,
                            int64_t offset, int64_t size, uint32_t crc)
{
    text e = entry_head(arena, type, dims, rank);
    put_int(arena, &e, 3, shard);
    put_int(arena, &e, 4, offset);
    put_int(arena, &e, 5, size);
    put_fixed32(arena, &e, 6, crc);
    return e;
}

static inline text header_of(struct arena *arena, int64_t n_shards, int64_t endianness, int64_t min_consumer)
{
    text header = {0}, version = {0};
    put_int(arena, &header, 1, n_shards);
    put_int(arena, &header, 2, endianness);
    put_int(arena, &version, 1, 1);
    put_int(arena, &version, 2, min_consumer);
    put_message(arena, &header, 3, version);
    return header;
}

/* ---- the table ---- */

struct block {
    text bytes, restarts, last_key;
    size_t n, n_restarts;
};

/* Without regard to order: what is broken is written like what is not. Every 16th key is whole. */
static inline void block_add(struct arena *arena, struct block *b, const void *key, size_t key_size, const void *value,
                             size_t value_size)
{
    size_t shared = 0;
    if (b->n++ % 16 == 0) {
        put_le(arena, &b->restarts, 4, b->bytes.count);
        b->n_restarts++;
    } else {
        while (shared < key_size && shared < b->last_key.count &&
               ((const char *)key)[shared] == b->last_key.data[shared])
            shared++;
    }
    put_varint(arena, &b->bytes, shared);
    put_varint(arena, &b->bytes, key_size - shared);
    put_varint(arena, &b->bytes, value_size);
    put(arena, &b->bytes, (const char *)key + shared, key_size - shared);
    put(arena, &b->bytes, value, value_size);
    b->last_key.count = 0;
    put(arena, &b->last_key, key, key_size);
}

struct place {
    uint64_t offset, size;
};

/* Bytes as a block of the file, with the trailer. */
static inline struct place put_block(struct arena *arena, text *file, const void *bytes, size_t size, int compression)
{
    struct place at = {file->count, size};
    put(arena, file, bytes, size);
    put_le(arena, file, 1, (uint64_t)compression);
    put_le(arena, file, 4, masked(plain_crc32c(0, file->data + at.offset, size + 1)));
    return at;
}

static inline struct place end_block(struct arena *arena, text *file, struct block *b, bool compressed)
{
    put(arena, &b->bytes, b->n_restarts ? b->restarts.data : "\0\0\0", b->n_restarts ? b->restarts.count : 4);
    put_le(arena, &b->bytes, 4, b->n_restarts ? b->n_restarts : 1);
    if (!compressed)
        return put_block(arena, file, b->bytes.data, b->bytes.count, 0);
    size_t size = snappy_max_compressed_length(b->bytes.count);
    char *packed = arena_alloc(arena, size);
    snappy_compress(b->bytes.data, b->bytes.count, packed, &size);
    return put_block(arena, file, packed, size, 1);
}

static inline void block_add_place(struct arena *arena, struct block *index, const void *key, size_t key_size,
                                   struct place at)
{
    text handle = {0};
    put_varint(arena, &handle, at.offset);
    put_varint(arena, &handle, at.size);
    block_add(arena, index, key, key_size, handle.data, handle.count);
}

static inline void put_footer(struct arena *arena, text *file, struct place meta, struct place index)
{
    text handles = {0};
    put_varint(arena, &handles, meta.offset);
    put_varint(arena, &handles, meta.size);
    put_varint(arena, &handles, index.offset);
    put_varint(arena, &handles, index.size);
    while (handles.count < 40)
        put_le(arena, &handles, 1, 0);
    put(arena, file, handles.data, handles.count);
    put_le(arena, file, 8, UINT64_C(0xdb4775248b80fb57));
}

/* A table being written. */
struct table_writer {
    struct arena *arena;
    bool compressed;
    size_t per_block; /* entries in a block; 0: all */
    text file;
    struct block block, index;
};

static inline void table_end_block(struct table_writer *w)
{
    struct place at = end_block(w->arena, &w->file, &w->block, w->compressed);
    block_add_place(w->arena, &w->index, w->block.last_key.data, w->block.last_key.count, at);
    w->block = (struct block){0};
}

static inline void table_add(struct table_writer *w, const void *key, size_t key_size, text value)
{
    block_add(w->arena, &w->block, key, key_size, value.count ? value.data : "", value.count);
    if (w->block.n == w->per_block)
        table_end_block(w);
}

static inline text table_end(struct table_writer *w)
{
    struct block meta = {0};
    if (w->block.n > 0)
        table_end_block(w);
    struct place meta_at = end_block(w->arena, &w->file, &meta, w->compressed);
    put_footer(w->arena, &w->file, meta_at, end_block(w->arena, &w->file, &w->index, w->compressed));
    return w->file;
}

#endif
