/* SPDX-License-Identifier: Apache-2.0 */
/* Products of Int_32 tensors whose values have 8 bits: models with integer operators have them.
 *
 * Weights are constants of eight signed bits. How large the input's values are is known when they are there: less the
 * smallest of them they are bytes, and the sums of products of bytes are corrected by the smallest times the weights
 * under each window. Inputs of more values take the reference's loops, that run. */
#ifndef BACKEND_CPU_CPU_INTS_H
#define BACKEND_CPU_CPU_INTS_H

#include "backend/cpu/cpu_step.h"

/* Whether the node's operands are Int_32. */
bool ints_is(const struct graph *g, const struct node *n);
/* Why such a node is not taken; NULL: it is. A sum has `depth` summands. */
const char *ints_refuse(const struct graph *g, const struct node *n, int64_t depth);
/* The weights as bytes, in the container's order; in the scope's scratch. */
int8_t *ints_weights(const struct cpu_making *m);
/* The step's x, which a loop narrows before the calls, is at CPU_SUMS. The call, of which all other operands are there,
 * gives the sums. */
odlc_status ints_finish(struct cpu_making *m, struct cpu_call *call) MUST_USE;

#endif
