/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of the backend's own as steps. */
#ifndef BACKEND_CPU_CPU_LOOP_H
#define BACKEND_CPU_CPU_LOOP_H

#include "backend/cpu/cpu_step.h"
#include "backend/cpu/cpu_threads.h"

/* The operands of a step's node, absent ones without data. */
struct loop_operands {
    struct buffer *in, *out;
};
struct loop_operands loop_operands(const struct cpu_step *step, const struct backend_scope *scope,
                                   const struct buffer *in, const struct buffer *out);

/* The row's prepare for loops that prepare nothing, with constants as float32, or as they are stored. */
odlc_status loop_prepare(struct cpu_making *m, cpu_loop_fn *loop);
odlc_status loop_prepare_plain(struct cpu_making *m, cpu_loop_fn *loop);

/* The param `axes`, but for axes of one element, as a stretch [*first, *end) of neighbours. False: they are none. */
bool axes_stretch(const struct node *n, const struct shape *x, uint32_t *first, uint32_t *end);

#endif
