/* Functions of one operand of 8-bit integers, whose result is one as well: tables of all that they can give. */
#ifndef BACKEND_CPU_CPU_TABLE_H
#define BACKEND_CPU_CPU_TABLE_H

#include "backend/cpu/cpu_step.h"
#include "kernel/nd_iterate.h"

/* Whether a node that is taken has its only input, which is computed, and its result in 8 bits. */
bool table_is(const struct graph *g, const struct node *n);
/* Makes the loop of such a node, whose function of float32 elements fn is. */
odlc_status table_prepare(struct cpu_making *m, span_fn *fn, const void *user) MUST_USE;

#endif
