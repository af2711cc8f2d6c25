/* SPDX-License-Identifier: Apache-2.0 */
/* Products of fixed-point operands: the sums of integers are exact, and become integers of the result by
 *
 *     y = saturate(rint((sum · sx · sw + (qb + ob) · sb) / sy) - oy)
 *
 * in double, in this order, ties to even; sum is that of (qx + ox)(qw + ow). Every backend computes by this formula. */
#ifndef KERNEL_FIXED_PRODUCT_H
#define KERNEL_FIXED_PRODUCT_H

#include "kernel/buffer.h"

/* How sums become the elements of a result, whose last axis has the channels. */
struct fixed_product {
    double x_scale;
    const struct quant *weights; /* channel c has encoding c % count, or the only one */
    const struct quant *result;  /* likewise */
    const double *bias;          /* (qb + ob) · sb per channel; NULL: none */
    uint64_t channels;
};

/* Whether a product (Conv, FullyConnected, MatMul) is computed so: the first two operands and the result are
 * fixed-point, with encodings of the whole tensor or of the output's channels, the operands of at most 16 bits. Data is
 * not read. */
bool fixed_product_is(const struct node *n, const struct buffer *in, const struct buffer *out);
/* The formula's constants. The bias, where there is one, has data; arrays are in the arena. */
struct fixed_product fixed_product_read(const struct node *n, const struct buffer *in, const struct buffer *out,
                                        struct arena *arena);
/* An operand as integers q + o in float32, which has them all. */
struct buffer fixed_product_operand(const struct buffer *b, struct arena *arena);
/* The encoding of the weights of a channel. */
const struct encoding *fixed_product_weight(const struct fixed_product *p, uint64_t channel);
/* An element of the result, before it is saturated. */
double fixed_product_element(const struct fixed_product *p, uint64_t channel, double sum);
/* All elements of the result, from as many sums. */
void fixed_product_narrow(const struct fixed_product *p, const double *sums, struct buffer *out);

#endif
