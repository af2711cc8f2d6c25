/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point tensors of operators that compute on reals: steps compute in float32, from dequantized operands to
 * quantized results, with the roundings of the reference. */
#ifndef BACKEND_CPU_CPU_FIXED_H
#define BACKEND_CPU_CPU_FIXED_H

#include "kernel/buffer.h"

/* Integers of 8 or 16 bits. */
bool fixed_is_stored(enum dtype dtype);
/* Likewise, with one encoding. */
bool fixed_is_taken(enum dtype dtype, const struct quant *quant);

/* The elements of a buffer whose type is taken; both ways share the threads. */
void fixed_widen(const struct buffer *from, float *to);
void fixed_narrow(const float *from, const struct buffer *to);

#endif
