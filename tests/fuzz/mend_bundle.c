/* SPDX-License-Identifier: Apache-2.0 */
#include "mend_bundle.h"

#include "base/reader.h"
#include "converters/tensorflow/source/crc32c.h"
#include "converters/frontend/wire.h"

enum { FOOTER = 48, TRAILER = 5 };

/* The place of a block, as the next two numbers say; false when it is none. */
static bool next_block(struct reader *r, size_t index, uint64_t *at, uint64_t *block)
{
    *at = read_varint(r);
    *block = read_varint(r);
    return !r->failed && *at <= index && *block <= index && *at + *block + TRAILER <= index;
}

static void mend_block(uint8_t *table, uint64_t at, uint64_t size)
{
    store_le(table + at + size + 1, 4, crc32c_mask(crc32c_add(0, table + at, size + 1)));
}

/* The data's checksum goes into an entry of a tensor that is not of strings. */
static void mend_entry(uint8_t *entry, size_t size, const uint8_t *shard, size_t shard_size)
{
    uint64_t offset = 0, length = 0;
    uint8_t *crc = NULL;
    for (struct reader r = reader_of(entry, size); r.pos < r.size && !r.failed;) {
        uint64_t tag = read_varint(&r), value = 0;
        if ((tag & 7) == WIRE_VARINT)
            value = read_varint(&r);
        else if ((tag & 7) == WIRE_BYTES)
            read_bytes(&r, read_varint(&r));
        else
            crc = (uint8_t *)(uintptr_t)read_bytes(&r, 4);
        offset = tag >> 3 == 4 ? value : offset;
        length = tag >> 3 == 5 ? value : length;
    }
    if (crc && offset <= shard_size && length <= shard_size - offset)
        store_le(crc, 4, crc32c_mask(crc32c_add(0, shard + offset, length)));
}

/* Goes over the entries of a block that is not compressed, as far as they can be read. */
static void mend_data(uint8_t *table, uint64_t at, uint64_t size, const uint8_t *shard, size_t shard_size)
{
    for (struct reader r = reader_of(table + at, size); r.pos < r.size && !r.failed;) {
        read_varint(&r);
        uint64_t key = read_varint(&r), value = read_varint(&r);
        read_bytes(&r, key);
        const uint8_t *entry = read_bytes(&r, value);
        if (entry)
            mend_entry((uint8_t *)(uintptr_t)entry, value, shard, shard_size);
    }
}

static void mend(uint8_t *table, size_t index, const uint8_t *shard, size_t shard_size)
{
    uint64_t at, size, block_at, block_size;
    if (index < FOOTER)
        return;
    struct reader footer = reader_of(table + index - FOOTER, FOOTER - 8);
    next_block(&footer, index - FOOTER, &at, &size);
    if (!next_block(&footer, index - FOOTER, &at, &size))
        return;
    for (struct reader r = reader_of(table + at, size); r.pos < r.size && !r.failed;) {
        read_varint(&r);
        uint64_t key = read_varint(&r), value = read_varint(&r);
        read_bytes(&r, key);
        const uint8_t *bytes = read_bytes(&r, value);
        struct reader place = reader_of(bytes, bytes ? value : 0);
        if (!bytes || !next_block(&place, index - FOOTER, &block_at, &block_size))
            continue;
        if (table[block_at + block_size] == 0)
            mend_data(table, block_at, block_size, shard, shard_size);
        mend_block(table, block_at, block_size);
    }
    mend_block(table, at, size);
}

void mend_bundle(uint8_t *bytes, size_t size)
{
    if (size < 4)
        return;
    size_t index = (size_t)min_u64(load_le(bytes, 4), size - 4);
    mend(bytes + 4, index, bytes + 4 + index, size - 4 - index);
}
