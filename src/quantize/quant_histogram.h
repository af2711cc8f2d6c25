/* SPDX-License-Identifier: Apache-2.0 */
/* How often values come: counts in bins whose width is a power of two and whose edges are its multiples, so zero is
 * one. The width is the least with which the bins have the range of all values and zero. It grows by joining pairs of
 * bins, exactly: the counts of some values are the same in whatever order and parts these were added. */
#ifndef QUANTIZE_QUANT_HISTOGRAM_H
#define QUANTIZE_QUANT_HISTOGRAM_H

#include "base/base.h"

#define HISTOGRAM_BINS 2048

struct histogram {
    int exponent;                    /* a bin is 2^exponent wide */
    int64_t first;                   /* bin i has the values of [first + i, first + i + 1) · 2^exponent but zeros */
    uint64_t zeros;                  /* which every encoding has, so nothing is lost of them */
    uint64_t counts[HISTOGRAM_BINS]; /* beyond the range: zeros */
};

/* Without values. */
void histogram_clear(struct histogram *h);
/* The range is that of the values added so far and of these, which are finite, and of zero. */
void histogram_add(struct histogram *h, const float *values, size_t count, double min, double max);
/* The range is that of both and of zero. */
void histogram_join(struct histogram *h, const struct histogram *other, double min, double max);
/* The number of bins for a range: all behind them are empty. */
size_t histogram_extent(const struct histogram *h, double max);
/* All values. */
uint64_t histogram_total(const struct histogram *h);

#endif
