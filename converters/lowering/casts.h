/* SPDX-License-Identifier: Apache-2.0 */
/* Casts as frameworks mean them, also to types that the container does not have. */
#ifndef CONVERTERS_LOWERING_CASTS_H
#define CONVERTERS_LOWERING_CASTS_H

#include "converters/lowering/emit.h"

/* x, which is no string, as elements of another type. bfloat16 is rounded to, although float32 stands for it in the
 * container; 2-bit integers wrap, although 8-bit ones stand for them. Casts to small floats fail: no container has
 * them. */
tensor_id emit_cast_exactly(struct emit *s, tensor_id x, enum dtype to);

/* Output 0: x as elements of the type that the attribute names. ODLC_ERR_UNSUPPORTED: the container has no such type or
 * cast. */
odlc_status lower_cast_to(struct lower *l, tensor_id x, const char *attribute, enum dtype to) MUST_USE;

#endif
