/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise loops over operands that are broadcast to the result's shape, shared by the threads. */
#ifndef BACKEND_CPU_CPU_WALK_H
#define BACKEND_CPU_CPU_WALK_H

#include "backend/cpu/cpu_loop.h"
#include "kernel/nd_iterate.h"

/* Makes the step's loop: fn is called for all runs of the node's first output, which is operand 0 of the spans, and of
 * its inputs. Operands are float32, or as they are stored. */
odlc_status cpu_walk(struct cpu_making *m, span_fn *fn, const void *user) MUST_USE;
odlc_status cpu_walk_plain(struct cpu_making *m, span_fn *fn, const void *user) MUST_USE;

/* A span function of elements a and b that is vectorized for operands of one element, too. */
#define LOOP_BINARY(name, out_type, in_type, expr)                            \
    static CLONED void name(const struct span *s, const void *user)           \
    {                                                                         \
        out_type *restrict out = s->data[0];                                  \
        const in_type *restrict x = s->data[1], *restrict y = s->data[2];     \
        const int64_t x_step = s->step[1], y_step = s->step[2], n = s->count; \
        (void)user;                                                           \
        if (x_step == 1 && y_step == 1)                                       \
            for (int64_t i = 0; i < n; i++) {                                 \
                const in_type a = x[i], b = y[i];                             \
                out[i] = (expr);                                              \
            }                                                                 \
        else if (x_step == 1 && y_step == 0)                                  \
            for (int64_t i = 0; i < n; i++) {                                 \
                const in_type a = x[i], b = y[0];                             \
                out[i] = (expr);                                              \
            }                                                                 \
        else if (x_step == 0 && y_step == 1)                                  \
            for (int64_t i = 0; i < n; i++) {                                 \
                const in_type a = x[0], b = y[i];                             \
                out[i] = (expr);                                              \
            }                                                                 \
        else                                                                  \
            for (int64_t i = 0; i < n; i++) {                                 \
                const in_type a = x[i * x_step], b = y[i * y_step];           \
                out[i] = (expr);                                              \
            }                                                                 \
    }

#endif
