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

void nibbles_unpack(uint8_t *to, const uint8_t *from, const struct shape *shape, bool by_row, bool is_signed)
{
    const uint64_t run = run_of(shape, by_row), count = shape_count(shape), bytes = run / 2 + run % 2;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t value = from[i / run * bytes + i % run / 2] >> i % run % 2 * 4 & 15;
        to[i] = is_signed && value > 7 ? value | 0xf0 : value;
    }
}
