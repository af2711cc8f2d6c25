/* SPDX-License-Identifier: Apache-2.0 */
/* A backend against the reference: nodes at random of every operator of its table, on their own and with element-wise
 * ones behind them, in float32, float16 and fixed point.
 *
 * float32 results differ by at most 1e-5 of the largest, those between fused ops included. float16 has 2e-3, its
 * rounding, and 1e-2 where fused ops round once in the place of several times. Integers do not differ. */
#ifndef TESTS_BACKEND_RANDOM_CHECK_H
#define TESTS_BACKEND_RANDOM_CHECK_H

#include "runtime/executor.h"
#include "tests/backend/random_ops.h"

struct random_check {
    const struct backend *backend;
    const enum op_id *ops;
    size_t n_ops;
    uint64_t usual, longer; /* nodes an operator; the latter with ODLC_LONG=1 */
    /* Which types reals become, a bit for each of enum reals; others stay float32. */
    uint32_t (*types)(enum op_id op);
    /* The options of the execution with that seed, beside its backends. */
    void (*choose)(struct executor_options *options, enum op_id op, uint64_t seed);
    /* How far reals may be apart with these options, beyond what their own type allows: because inner tensors have
     * another one. */
    double (*inner_tolerance)(const struct executor_options *options);
};

/* How far results of that type may be apart: relative to the largest, of integers in steps. */
double random_tolerance(const struct graph *g, enum dtype dtype);

/* Prints a line an operator; the status of the program. Arguments: a number of nodes, the first seed, and an
 * operator if not all are to be tried. */
int random_check(const struct random_check *check, int argc, char **argv);

#endif
