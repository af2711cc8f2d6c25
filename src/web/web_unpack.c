/* SPDX-License-Identifier: Apache-2.0 */
/* Browsers inflate, but not while somebody waits: see web_inflate in imports.h. */
#include "dlc/unpack.h"

#include "web/imports.h"

bool inflate_all(struct arena *arena, const uint8_t *packed, uint64_t packed_size, uint8_t *out, uint64_t size)
{
    (void)arena;
    return web_inflate(packed, (size_t)packed_size, out, (size_t)size) != 0;
}

/* What a byte that leaves the register makes of it; the polynomial is that of zips, lowest bit first. */
static uint32_t of_byte(uint32_t byte)
{
    for (int bit = 0; bit < 8; bit++)
        byte = byte & 1 ? byte >> 1 ^ 0xEDB88320 : byte >> 1;
    return byte;
}

uint32_t crc_of_more(uint32_t crc, const void *bytes, uint64_t size)
{
    uint32_t table[256];
    const uint8_t *p = bytes;
    for (uint32_t i = 0; i < COUNT_OF(table); i++)
        table[i] = of_byte(i);
    crc = ~crc;
    for (const uint8_t *end = p + size; p < end; p++)
        crc = crc >> 8 ^ table[(crc ^ *p) & 255];
    return ~crc;
}
