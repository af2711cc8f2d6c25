/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/ordered_code.h"

static void add_byte(struct arena *arena, text *out, unsigned byte)
{
    text_add_bytes(arena, out, &(char){(char)byte}, 1);
}

/* The number of bytes, and these, the most significant first. */
void ordered_add_count(struct arena *arena, text *out, uint64_t value)
{
    unsigned length = 0;
    while (length < 8 && value >> (8 * length))
        length++;
    add_byte(arena, out, length);
    while (length-- > 0)
        add_byte(arena, out, (unsigned)(value >> (8 * length)) & 0xff);
}

/* Two's complement in as few bytes as hold the sign and 7 bits a byte, the most significant first. As many bits at the
 * top as there are bytes are flipped, in which the length can be told: they are copies of the sign. */
void ordered_add_int(struct arena *arena, text *out, int64_t value)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? ~value : value);
    unsigned bits = 0;
    while (bits < 64 && magnitude >> bits)
        bits++;
    unsigned length = bits / 7 + 1;
    for (unsigned i = 0; i < length; i++) {
        unsigned shift = 8 * (length - 1 - i), flipped = length > 8 * i ? length - 8 * i : 0;
        /* cppcheck-suppress shiftTooManyBitsSigned ; it is at most 56, and the sign is kept */
        unsigned byte = shift < 64 ? (unsigned)(value >> shift) & 0xff : value < 0 ? 0xff : 0;
        add_byte(arena, out, byte ^ (flipped >= 8 ? 0xff : 0xff00u >> flipped & 0xff));
    }
}

/* The bytes 00 and FF are followed by one that tells them from the end, 00 01. */
void ordered_add_string(struct arena *arena, text *out, const char *string)
{
    for (; *string; string++) {
        add_byte(arena, out, (unsigned char)*string);
        if ((unsigned char)*string == 0xff)
            add_byte(arena, out, 0);
    }
    add_byte(arena, out, 0);
    add_byte(arena, out, 1);
}
