/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a matrix of 8-bit integers and a constant one. */
#ifndef BACKEND_CPU_CPU_DENSE_FIXED_H
#define BACKEND_CPU_CPU_DENSE_FIXED_H

#include "backend/cpu/cpu_step.h"
#include "op/product.h"

/* The step's node as one product without batches, whose right operand is constant and whose left one is dense. */
odlc_status dense_prepare_fixed(struct cpu_making *m, const struct product *p) MUST_USE;
/* The same of Int_32 operands. */
odlc_status dense_prepare_ints(struct cpu_making *m, const struct product *p) MUST_USE;

/* The same of two operands that are computed. */
odlc_status dense_prepare_computed(struct cpu_making *m, const struct product *p) MUST_USE;

/* One operand: its batch axes, then rows and columns. Axes of one element get the stride that a dense tensor would
 * have: the library recognises layouts by their strides. steps NULL: all of it is dense. */
struct dnnl_axes dense_operand(const struct product *p, const int64_t *steps, int64_t rows, int64_t columns,
                               int64_t row, int64_t column);

#endif
