/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded little-endian byte reader with a sticky error: after the first read past the end every read gives 0 and
 * `failed` stays set, so parsers read on and check once. */
#ifndef BASE_READER_H
#define BASE_READER_H

#include <string.h>

#include "base/base.h"

struct reader {
    const uint8_t *data;
    uint64_t size, pos;
    bool failed;
};

static inline struct reader reader_of(const void *data, uint64_t size)
{
    return (struct reader){.data = data, .size = size};
}

/* The next n bytes, or NULL (and failed) when fewer are left. */
static inline const uint8_t *read_bytes(struct reader *r, uint64_t n)
{
    if (r->failed || n > r->size - r->pos) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *p = r->data + r->pos;
    r->pos += n;
    return p;
}

/* Unaligned little-endian loads and stores for bytes that were checked already. Compilers do not see in every loop over
 * the bytes of a number that one instruction loads it. */
static inline uint64_t load_le(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (bytes == 2 || bytes == 4 || bytes == 8) {
        memcpy(&value, p, bytes);
        return value;
    }
#endif
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static inline uint64_t read_le(struct reader *r, unsigned bytes)
{
    const uint8_t *p = read_bytes(r, bytes);
    return p ? load_le(p, bytes) : 0;
}

static inline uint8_t read_u8(struct reader *r)
{
    return (uint8_t)read_le(r, 1);
}

static inline uint16_t read_u16(struct reader *r)
{
    return (uint16_t)read_le(r, 2);
}

static inline uint32_t read_u32(struct reader *r)
{
    return (uint32_t)read_le(r, 4);
}

static inline uint64_t read_u64(struct reader *r)
{
    return read_le(r, 8);
}

static inline void store_le(uint8_t *p, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

#endif
