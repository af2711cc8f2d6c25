/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one operand of 8-bit integers, whose result is one as well: tables of all that they can give. */
#ifndef BACKEND_CPU_CPU_TABLE_H
#define BACKEND_CPU_CPU_TABLE_H

#include "backend/cpu/cpu_step.h"
#include "kernel/nd_iterate.h"

/* Whether a node that is taken has its only input, which is computed, and its result in 8 bits. */
bool table_is(const struct graph *g, const struct node *n);
/* Makes the loop of such a node, whose function of float32 elements fn is. */
odlc_status table_prepare(struct cpu_making *m, span_fn *fn, const void *user) MUST_USE;

/* Rows of bytes from x to y. */
struct byte_rows {
    const uint8_t *x;
    uint8_t *y;
    int64_t rows, length, x_pitch, y_pitch;
};
/* y: what the table has at each element of x. */
void table_look_up(const uint8_t *table, const struct byte_rows *r);
/* The integers of `to`, an 8-bit tensor, for those of `from`. */
const uint8_t *table_of_conversion(struct arena *arena, const struct tensor *from, const struct tensor *to);

#endif
