/* Sums, differences and products of two 8-bit tensors that give one: each element in one go, with the roundings of the
 * reference, which computes in float32 of dequantized operands. */
#ifndef BACKEND_CPU_CPU_BYTES_H
#define BACKEND_CPU_CPU_BYTES_H

#include "backend/cpu/cpu_step.h"

/* Whether a node that is taken is one of them: its operands are computed, of the result's shape. */
bool bytes_is(const struct graph *g, const struct node *n);
odlc_status bytes_prepare(struct cpu_making *m) MUST_USE;

#endif
