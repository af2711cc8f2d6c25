/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of four bits, two in a byte: the first in the low nibble. */
#ifndef IR_NIBBLES_H
#define IR_NIBBLES_H

#include "ir/shape.h"

/* The bytes of all elements packed. `by_row`: each row of the last axis starts with a byte of its own. */
uint64_t nibbles_size(const struct shape *shape, bool by_row);
/* From an element a byte. */
void nibbles_pack(uint8_t *to, const uint8_t *from, const struct shape *shape, bool by_row);
/* To an element a byte; signed ones are extended. */
void nibbles_unpack(uint8_t *to, const uint8_t *from, const struct shape *shape, bool by_row, bool is_signed);

#endif
