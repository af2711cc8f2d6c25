/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "base/reader.h"

static inline uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

/* Up to 7 bytes as a word; loads that overlap instead of one for each byte. */
static inline uint64_t load_tail(const uint8_t *p, size_t count)
{
    if (count >= 4)
        return load_le(p, 4) | load_le(p + count - 4, 4) << (8 * (count - 4));
    if (count == 0)
        return 0;
    return p[0] | (uint64_t)p[count / 2] << (8 * (count / 2)) | (uint64_t)p[count - 1] << (8 * (count - 1));
}

/* One round a word, three at the end. */
uint64_t hash_bytes(const uint64_t key[2], const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    size_t left = size;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word = load_le(p, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    uint64_t last = load_tail(p, left) | (uint64_t)size << 56;
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
