/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding windows, as convolutions and pools of all frameworks have them. */
#ifndef CONVERTERS_LOWERING_SPATIAL_H
#define CONVERTERS_LOWERING_SPATIAL_H

#include "converters/lowering/lower.h"

/* Larger values cannot be right, and their sums and products stay within int64. */
#define SPATIAL_VALUE_MAX ((int64_t)1 << 30)
#define SPATIAL_MAX 3

enum auto_pad { PAD_NOTSET, PAD_VALID, PAD_SAME_LOWER, PAD_SAME_UPPER };

struct spatial {
    uint32_t axes;
    enum auto_pad auto_pad;
    int64_t in[SPATIAL_MAX];
    int64_t kernel[SPATIAL_MAX], stride[SPATIAL_MAX], dilation[SPATIAL_MAX];
    int64_t pad[SPATIAL_MAX][2];         /* before, after; those of auto_pad once spatial_auto_pad has run */
    int64_t output_padding[SPATIAL_MAX]; /* of transposed convolutions; 0 for others */
};

/* Puts an axis of extent 1 before the others. */
void spatial_prepend(struct spatial *s);

/* The part of an axis that one window spans. */
int64_t spatial_reach(const struct spatial *s, uint32_t axis);

/* Turns auto_pad into amounts for windows that slide over the input: nothing for VALID, as many windows as strides fit
 * for SAME. */
void spatial_auto_pad(struct spatial *s);

/* Makes the padding at the end of each axis what the last of `out` windows reaches: no other element of it is seen.
 * Sizes that are rounded down stay the same by it, and so does the padding of auto_pad. */
void spatial_fit_end(struct spatial *s, const int64_t *out);

/* The container's number for how the padding came about (padding_size_strategy). */
int64_t spatial_strategy(const struct spatial *s);

/* Sets the params stride and pad_amount (and dilation) of the node being built. */
void spatial_stride_params(struct build *b, const struct spatial *s);
void spatial_dilation_param(struct build *b, const struct spatial *s);
/* The same for the pool being built, and its params filter_size and count_pad_for_edges. */
void spatial_pool_params(struct build *b, const struct spatial *s, bool count_padding);

#endif
