/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 8-bit fixed-point operands: the library multiplies signed weights and sums in int32, the formula's rest
 * is requantize's (cpu_requantize.h).
 *
 * With weights q' of eight signed bits and real zero points z (qw + ow = q' + z), a sum is
 * Σ (qx + ox) q' + z · Σ (qx + ox). The last sum is that of one more channel, whose weights are ones; where all z are
 * 0, there is none. */
#ifndef BACKEND_CPU_CPU_FIXED_PRODUCT_H
#define BACKEND_CPU_CPU_FIXED_PRODUCT_H

#include "backend/cpu/cpu_call.h"
#include "backend/cpu/cpu_requantize.h"

/* Whether a node with such operands is computed by the formula. */
bool cpu_is_fixed_product(const struct graph *g, const struct node *n);
/* Whether the processor has instructions for sums of products of 8-bit integers, which the library uses. */
bool cpu_has_byte_products(void);
/* Why such a node is not taken; NULL: it is, or is none. A sum has `depth` summands. */
const char *cpu_refuse_fixed_product(const struct graph *g, const struct node *n, int64_t depth);
/* Whether an integer other than 0 is the zero of the input, or of a channel of weights as signed integers. */
bool cpu_has_zero_points(const struct graph *g, const struct node *n);

struct fixed_weights {
    const int8_t *q;     /* in the container's order */
    const int32_t *zero; /* per channel; NULL: all are 0 */
};

/* A fixed-point product while it is prepared. */
struct fixed_making {
    struct fixed_product product;
    struct fixed_weights weights;
    dnnl_data_type_t x_type;
    int32_t x_zero;           /* ox, negated: the integer that is zero */
    int64_t groups, channels; /* of each group */
    int64_t pitch;            /* channels, and perhaps the one of ones */
};

/* Reads operands whose weights have the channels of all groups along one axis: the last, or the first. */
struct fixed_making fixed_product_make(const struct cpu_making *m, int64_t groups);
/* The same of weights that are computed, whose zero points are the library's business: `q` and `zero` are NULL. */
struct fixed_making fixed_product_of_computed(const struct cpu_making *m);
/* How its sums become integers. */
struct requantize fixed_product_requantize(const struct cpu_making *m, const struct fixed_making *f);
/* Makes the loop behind the calls, which turns `rows` rows of sums into the result. */
void fixed_product_finish(const struct cpu_making *m, const struct fixed_making *f, const int32_t *constant,
                          int64_t rows);

#endif
