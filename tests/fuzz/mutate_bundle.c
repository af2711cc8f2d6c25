/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations of checkpoints as fuzz_bundle.c takes them. Most inputs get right checksums after they were changed. */
#include <stdlib.h>
#include <string.h>

#include "../tensorflow/bundle_writer.h"
#include "converters/tensorflow/source/crc32c.h"
#include "engine.h"
#include "mend_bundle.h"

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
    enum { SMALLEST = 48 }; /* the footer of an index */
    if (size < SMALLEST)
        return start_over(bytes, max_size, seed);
    size = LLVMFuzzerMutate(bytes, size, max_size);
    if (seed % 8)
        mend_bundle(bytes, size);
    return size;
}
