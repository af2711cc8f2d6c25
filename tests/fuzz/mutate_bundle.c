/* Mutations of checkpoints as fuzz_bundle.c takes them. Most inputs get right checksums after they were changed,
 * because without them nothing but checksums is ever reached. */
#include <stdlib.h>
#include <string.h>

#include "../tensorflow/bundle_writer.h"
#include "converters/tensorflow/crc32c.h"
#include "converters/wire.h"
#include "engine.h"

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

/* What mutations start from: a tensor of each kind, in one block or several, compressed or not. */
static text make_bundle(struct arena *arena, unsigned seed)
{
    static const char slice_keys[2][9] = {"\0v\0\1\1\1\x80\x82", "\0v\0\1\1\1\x82\x82"};
    static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8}, lengths[] = {2, 0, 0, 0}, string[] = "\2....ab";
    struct table_writer w = {.arena = arena, .compressed = seed & 1, .per_block = seed % 5};
    text input = {0}, shard = {0}, whole = entry_head(arena, 3, (int64_t[]){4}, 1);
    table_add(&w, "", 0, header_of(arena, 1, 0, 0));
    for (size_t i = 0; i < 2; i++) {
        text slice = {0}, extent = {0};
        put_int(arena, &extent, 1, (int64_t)(2 * i));
        put_int(arena, &extent, 2, 2);
        put_message(arena, &slice, 1, extent);
        put_message(arena, &whole, 7, slice);
        table_add(&w, slice_keys[i], 8,
                  entry_of(arena, 3, (int64_t[]){2}, 1, 0, 0, 8, crc32c_mask(crc32c_add(0, data, 8))));
    }
    put(arena, &shard, data, 8);
    put(arena, &shard, string, 7);
    uint32_t crc = crc32c_add(0, lengths, 4);
    store_le((uint8_t *)shard.data + 9, 4, crc32c_mask(crc));
    crc = crc32c_add(crc32c_add(crc, shard.data + 9, 4), shard.data + 13, 2);
    table_add(&w, "s", 1, entry_of(arena, 7, NULL, 0, 0, 8, 7, crc32c_mask(crc)));
    table_add(&w, "v", 1, whole);
    table_add(&w, "w", 1, entry_of(arena, 10, (int64_t[]){3, 1}, 2, 0, 5, 3, crc32c_mask(crc32c_add(0, data + 5, 3))));
    put(arena, &shard, data, 1); /* as many bytes as the slices have, which are of the same ones */
    text index = table_end(&w);
    put_le(arena, &input, 4, index.count);
    put(arena, &input, index.data, index.count);
    put(arena, &input, shard.data, shard.count);
    return input;
}

static size_t start_over(uint8_t *bytes, size_t max_size, unsigned seed)
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    text input = make_bundle(arena, seed);
    size_t size = input.count < max_size ? input.count : max_size;
    memcpy(bytes, input.data, size);
    arena_destroy(arena);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    if (size < FOOTER)
        return start_over(bytes, max_size, seed);
    size = LLVMFuzzerMutate(bytes, size, max_size);
    if (seed % 8 && size >= 4) {
        size_t index = (size_t)min_u64(load_le(bytes, 4), size - 4);
        mend(bytes + 4, index, bytes + 4 + index, size - 4 - index);
    }
    return size;
}
