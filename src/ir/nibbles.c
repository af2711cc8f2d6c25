/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/nibbles.h"

#include <string.h>

/* Elements that are packed without a gap. */
static uint64_t run_of(const struct shape *shape, bool by_row)
{
    return by_row && shape->rank ? (uint64_t)shape->dims[shape->rank - 1] : shape_count(shape);
}

uint64_t nibbles_size(const struct shape *shape, bool by_row)
{
    const uint64_t run = run_of(shape, by_row);
    return run ? shape_count(shape) / run * (run / 2 + run % 2) : 0;
}

void nibbles_pack(uint8_t *to, const uint8_t *from, const struct shape *shape, bool by_row)
{
    const uint64_t run = run_of(shape, by_row), count = shape_count(shape), bytes = run / 2 + run % 2;
    memset(to, 0, nibbles_size(shape, by_row));
    for (uint64_t i = 0; i < count; i++)
        to[i / run * bytes + i % run / 2] |= (uint8_t)((from[i] & 15) << i % run % 2 * 4);
}

static uint8_t nibble(uint8_t byte, uint64_t index, bool is_signed)
{
    const uint8_t value = byte >> index % 2 * 4 & 15;
    return is_signed && value > 7 ? value | 0xf0 : value;
}

void nibbles_unpack(uint8_t *to, const uint8_t *from, const struct shape *shape, bool by_row, bool is_signed)
{
    const uint64_t run = run_of(shape, by_row), count = shape_count(shape), bytes = run / 2 + run % 2;
    for (uint64_t i = 0; i < count; i++)
        to[i] = nibble(from[i / run * bytes + i % run / 2], i % run, is_signed);
}

int nibbles_read(const struct file *file, uint64_t offset, const struct shape *shape, bool by_row, bool is_signed,
                 uint64_t first, uint64_t count, uint8_t *to)
{
    enum { PIECE = 4096 }; /* bytes */
    uint8_t packed[PIECE];
    const uint64_t run = run_of(shape, by_row), bytes = run / 2 + run % 2;
    for (uint64_t i = first, n; i < first + count; i += n, to += n) {
        const uint64_t place = i % run, skipped = place % 2;
        n = min_u64(min_u64(run - place, first + count - i), 2 * PIECE - skipped);
        const uint64_t at = offset + i / run * bytes + place / 2;
        const int error = file_read_at(file, at, packed, (size_t)((skipped + n + 1) / 2));
        if (error)
            return error;
        for (uint64_t k = 0; k < n; k++)
            to[k] = nibble(packed[(skipped + k) / 2], skipped + k, is_signed);
    }
    return 0;
}
