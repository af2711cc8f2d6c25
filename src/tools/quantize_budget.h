/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers stay float: those that hurt results most when they are fixed-point. */
#ifndef TOOLS_QUANTIZE_BUDGET_H
#define TOOLS_QUANTIZE_BUDGET_H

#include "ir/graph.h"

struct quantize_budget {
    bool has_least;
    double least; /* SQNR of the worst graph output that is to be reached, decibels; as few layers as that takes */
    size_t count; /* without it: so many layers */

    /* Quantizes with the nodes of these names in float: the SQNR of the worst graph output over the calibration inputs.
     */
    void *user;
    odlc_status (*measure)(void *user, const char *const *names, size_t count, double *sqnr);
};

struct quantize_choice {
    const char **names; /* the one that hurts most first */
    double *alone;      /* the SQNR with all others in float */
    size_t count;
    double before; /* the SQNR with none */
};

/* Takes the layers of a graph of floats; what is chosen is the arena's. ODLC_ERR_UNSUPPORTED: the least SQNR is not
 * reached even with all of them; and as measure fails. */
odlc_status quantize_choose(struct arena *arena, struct diags *diags, const struct graph *g,
                            const struct quantize_budget *budget, struct quantize_choice *out) MUST_USE;

#endif
