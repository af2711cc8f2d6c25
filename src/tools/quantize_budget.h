/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers get more bits, or stay float: those that hurt results most when they are fixed-point. */
#ifndef TOOLS_QUANTIZE_BUDGET_H
#define TOOLS_QUANTIZE_BUDGET_H

#include "ir/graph.h"

/* What can become of a layer. */
enum quantize_step {
    STEP_NONE, /* what the options say */
    STEP_ACT,  /* it reads and gives 16 bits */
    STEP_ALL,  /* … and its weights have 16 bits */
    STEP_FLOAT
};

struct quantize_names {
    const char **names;
    size_t count;
};

/* Nodes by what becomes of them. */
struct quantize_mix {
    struct quantize_names wide, wide_weights, floats;
};

struct quantize_trial {
    const struct quantize_mix *mix;
    size_t number, most; /* of how many at most; 0: that is not known yet */
};

struct quantize_budget {
    bool has_least;
    double least; /* SQNR of the worst graph output that is to be reached, decibels; one layer less does not */
    size_t count; /* without it: so many layers, by the first step */

    /* Tried one after the other: the next begins where all layers are at the one before. */
    const enum quantize_step *steps;
    size_t n_steps;

    /* Quantizes with that mix: the SQNR of the worst graph output over the calibration inputs. */
    void *user;
    odlc_status (*measure)(void *user, const struct quantize_trial *trial, double *sqnr);
};

struct quantize_choice {
    const char **names;        /* of all layers, if any was to be found: the one that hurts most first … */
    double *alone;             /* … with the SQNR with all others in float … */
    enum quantize_step *steps; /* … and what is chosen */
    bool *is_weighted;         /* … and whether it has constant weights */
    size_t count;
    struct quantize_mix mix;
    size_t trials, most_trials;
    double before; /* the SQNR with nothing chosen */
    double after;  /* with what is chosen, if there is a least one */
};

/* Takes the layers of a graph of floats; what is chosen is the arena's. ODLC_ERR_UNSUPPORTED: the least SQNR is not
 * reached even with all of them at the last step; and as measure fails. */
odlc_status quantize_choose(struct arena *arena, struct diags *diags, const struct graph *g,
                            const struct quantize_budget *budget, struct quantize_choice *out) MUST_USE;
/* "16 bits", "float", …, as what is chosen is told. */
const char *quantize_step_text(enum quantize_step step);

#endif
