/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/unpack.h"

#include <isa-l/crc.h>
#include <libdeflate.h>

bool inflate_all(struct arena *arena, const uint8_t *packed, uint64_t packed_size, uint8_t *out, uint64_t size)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t inflated = 0;
    if (!d)
        arena_exhausted(arena);
    bool complete = libdeflate_deflate_decompress(d, packed, packed_size, out, size, &inflated) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(d);
    return complete && inflated == size;
}

uint32_t crc_of_more(uint32_t crc, const void *bytes, uint64_t size)
{
    return crc32_gzip_refl(crc, bytes, size);
}
