/* SPDX-License-Identifier: Apache-2.0 */
/* What values the channels of a tensor have: of images along the last axis, of what a matrix reads its rows'
 * elements. */
#ifndef QUANTIZE_QUANT_CHANNELS_H
#define QUANTIZE_QUANT_CHANNELS_H

#include "quantize/quantizer.h"

struct quant_channel {
    double low, high; /* with zero */
    double sum, squares;
    double used; /* values that are not zero */
};

struct quant_channels {
    uint64_t count;
    double rows; /* values of each channel */
    struct quant_channel *of;
};

struct quant_channels *quant_channels_new(struct arena *arena, uint64_t count);
/* Adds `size` values, a multiple of the channels; false where one is not finite: *bad is its index. */
bool quant_channels_add(struct quant_channels *c, const float *values, uint64_t size, size_t *bad);

/* Of a channel, per value: the mean of squares of what is left when the mean is taken away, or is not; and the share of
 * values that are not zero. 0 where there are no values. */
double quant_channel_variance(const struct quant_channels *c, uint64_t channel, bool about_mean);
double quant_channel_used(const struct quant_channels *c, uint64_t channel);

#endif
