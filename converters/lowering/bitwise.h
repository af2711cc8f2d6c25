/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on the bits of integers. */
#ifndef CONVERTERS_LOWERING_BITWISE_H
#define CONVERTERS_LOWERING_BITWISE_H

#include "converters/lowering/lower.h"

/* Functions of rows: of inputs 0 and 1, which broadcast; lower_bitwise_not of input 0. ODLC_ERR_INVALID: operands
 * without bits, of two types, or whose shapes do not broadcast. */
lower_fn lower_bitwise_and, lower_bitwise_or, lower_bitwise_xor, lower_bitwise_not;

/* Output 0: the bits of `number`, moved by `by` places. A count that is negative or not below the number of bits moves
 * all bits out. */
odlc_status lower_shift(struct lower *l, tensor_id number, tensor_id by, bool left) MUST_USE;
/* Output 0: input 0, x, whose bits are read as another type of that size, which `attribute` names. ODLC_ERR_INVALID:
 * the types differ in size. */
odlc_status lower_bit_cast_to(struct lower *l, tensor_id x, const char *attribute, enum dtype to) MUST_USE;

#endif
