/* SPDX-License-Identifier: Apache-2.0 */
/* Casts as frameworks mean them, also to types that the container does not have. */
#ifndef CONVERTERS_LOWERING_CASTS_H
#define CONVERTERS_LOWERING_CASTS_H

#include "converters/lowering/emit.h"

/* x, which is no string, as elements of another type. bfloat16 is rounded to, although float32 stands for it in the
 * container; 2-bit integers wrap, although 8-bit ones stand for them. Casts to small floats fail: no container has
 * them. */
tensor_id emit_cast_exactly(struct emit *s, tensor_id x, enum dtype to);
/* x rounded to the nearest value of a float8 (dtype_is_float8), ties to even, although float32 stands for it in
 * the container. What is beyond the largest value becomes that, with its sign, where it saturates; else an infinity, or
 * NaN where the type has none. */
tensor_id emit_cast_to_float8(struct emit *s, tensor_id x, enum dtype to, bool saturates);

/* Output 0: x as elements of the type that the attribute names; saturates: of float8. ODLC_ERR_UNSUPPORTED: nothing in
 * a container can stand for the type or the cast. */
odlc_status lower_cast_to(struct lower *l, tensor_id x, const char *attribute, enum dtype to, bool saturates) MUST_USE;

#endif
