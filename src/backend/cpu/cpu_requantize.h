/* SPDX-License-Identifier: Apache-2.0 */
/* From the exact sums of a fixed-point product to integers of the result (kernel/fixed_product.h). */
#ifndef BACKEND_CPU_CPU_REQUANTIZE_H
#define BACKEND_CPU_CPU_REQUANTIZE_H

#include "kernel/fixed_product.h"

/* A row of the result is `groups` times `channels` elements, a row of sums `groups` times `pitch`. */
struct requantize {
    struct fixed_product product;
    size_t size;       /* bytes of an element of the result */
    int64_t low, high; /* its range */
    int64_t groups, channels, pitch;
    int64_t rows; /* that the following have: rows of few channels are rounded together */
    bool quick;   /* the result is one of 8 bits, and no quotient is beyond int32: the following three say what it is */
    const float *factor, *term; /* per channel of the row: sx · sw / sy, and the bias / sy less the offset */
    /* How far from an integer a quotient q = sum · factor + term in float32 may be, so that the formula's is not beyond
     * the middle between two: 1/2 less all roundings. Three are of the product, one of the term, one of the sum, each
     * at most 2^-24 of that; |product| ≤ |q| + |term|, and |q| ≤ 256 where the result is not saturated. */
    const float *sure;
    const double *scale, *bias; /* sw, and the bias */
    /* Added to a sum; NULL: nothing. The second is a factor of the element behind the group's channels. */
    const int32_t *constant, *last_factor;
};

/* `bias` and weights' encodings as in the product; arrays are in the arena. */
struct requantize requantize_make(const struct fixed_product *product, enum dtype dtype, int64_t groups,
                                  struct arena *arena);
/* `rows` rows, which the threads share. */
void requantize(const struct requantize *r, const int32_t *sums, void *result, int64_t rows);

#endif
