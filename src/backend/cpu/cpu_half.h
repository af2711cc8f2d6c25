/* SPDX-License-Identifier: Apache-2.0 */
/* float16 tensors: steps compute in float32, from widened operands to rounded results. */
#ifndef BACKEND_CPU_CPU_HALF_H
#define BACKEND_CPU_CPU_HALF_H

#include <stddef.h>
#include <stdint.h>

/* count elements; both ways share the threads. Rounds to nearest, ties to even. */
void half_widen(const uint16_t *from, float *to, size_t count);
void half_narrow(const float *from, uint16_t *to, size_t count);

#endif
