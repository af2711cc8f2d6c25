/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/crc32c.h"

#include <isa-l/crc.h>

uint32_t crc32c_add(uint32_t crc, const void *bytes, uint64_t size)
{
    enum { PIECE = 1 << 30 };                              /* the library counts in int */
    unsigned char *at = (unsigned char *)(uintptr_t)bytes; /* and does not write to what it is given */
    crc = ~crc;
    while (size > 0) {
        int piece = (int)min_u64(size, PIECE);
        crc = crc32_iscsi(at, piece, crc);
        at += piece;
        size -= (uint64_t)piece;
    }
    return ~crc;
}

uint32_t crc32c_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
