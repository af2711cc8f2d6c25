/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of four bits, two in a byte: the first in the low nibble. */
#ifndef IR_NIBBLES_H
#define IR_NIBBLES_H

#include "base/file.h"
#include "ir/dtype.h"
#include "ir/shape.h"

/* Whether elements of that type are fixed-point ones of four bits, which containers may hold so. */
static inline bool dtype_is_nibble(enum dtype dtype)
{
    return dtype == DT_SFXP4 || dtype == DT_UFXP4;
}

/* The bytes of all elements packed. `by_row`: each row of the last axis starts with a byte of its own. */
uint64_t nibbles_size(const struct shape *shape, bool by_row);
/* From an element a byte. */
void nibbles_pack(uint8_t *to, const uint8_t *from, const struct shape *shape, bool by_row);
/* To an element a byte; signed ones are extended. */
void nibbles_unpack(uint8_t *to, const uint8_t *from, const struct shape *shape, bool by_row, bool is_signed);
/* nibbles_unpack of elements [first, first + count) alone, of bytes that begin at `offset` of a file. Gives errno, as
 * file_read_at does. */
int nibbles_read(const struct file *file, uint64_t offset, const struct shape *shape, bool by_row, bool is_signed,
                 uint64_t first, uint64_t count, uint8_t *to) MUST_USE;

#endif
