/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, differences and products of 8-bit tensors, or of one and a constant row, that give one: each element in one go,
 * with the roundings of the reference, which computes in float32 of dequantized operands. */
#ifndef BACKEND_CPU_CPU_BYTES_H
#define BACKEND_CPU_CPU_BYTES_H

#include "backend/cpu/cpu_step.h"

/* Whether a node that is taken is one of them: its operands are of the result's shape, or the second is a
 * constant for each element of the last axis. */
bool bytes_is(const struct graph *g, const struct node *n);
odlc_status bytes_prepare(struct cpu_making *m) MUST_USE;

#endif
