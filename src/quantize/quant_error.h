/* SPDX-License-Identifier: Apache-2.0 */
/* How far values are from those that they stand for. Sums are streamed: their memory does not grow with the values. */
#ifndef QUANTIZE_QUANT_ERROR_H
#define QUANTIZE_QUANT_ERROR_H

#include "base/base.h"
#include "ir/encoding.h"

/* Of values x, as they should be, and y. A pair whose x is not finite counts as `odd` alone, and so does one whose y is
 * not. */
struct quant_error {
    uint64_t count, odd;
    double signal, noise; /* sums of x² and (x − y)² */
    double dot, power;    /* sums of x·y and y² */
    double most;          /* the largest |x − y| */
};

void quant_error_add(struct quant_error *e, const float *x, const float *y, uint64_t count);
/* 10·log10(signal / noise), in decibels: infinity where nothing differs, minus infinity where all x are zero and some y
 * are not. */
double quant_error_sqnr(const struct quant_error *e);
/* Of the angle between the vectors: 1 where both are zero, 0 where one is. */
double quant_error_cosine(const struct quant_error *e);

/* The values x of a tensor beside the integers that its encoding has for them. Bins are of equal width; the middle ones
 * are the encoding's range, the first and the last have also all that is further out. */
enum { QUANT_BINS = 64, QUANT_BINS_BESIDE = 8 };

struct quant_spread {
    const struct encoding *encoding;
    double lowest, highest; /* the encoding's integers plus its offset: reals in steps */
    uint64_t count;         /* of finite values */
    double min, max;        /* of them */
    uint64_t below, above;  /* of them, those that saturate */
    double low, high;       /* the first bin's lower end, and the last one's upper end */
    uint64_t bins[QUANT_BINS];
    struct quant_error rounding; /* of y = the values after the encoding alone */
};

void quant_spread_start(struct quant_spread *s, const struct encoding *encoding, bool is_signed);
void quant_spread_add(struct quant_spread *s, const float *x, uint64_t count);
/* The integer of a real of the encoding's, counted from the lowest one. */
double quant_spread_level(const struct quant_spread *s, double real);

#endif
