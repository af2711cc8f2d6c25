/* SPDX-License-Identifier: Apache-2.0 */
/* GridSample, as shape rule and kernel read the operator (op_sample.c). */
#ifndef OP_SAMPLER_H
#define OP_SAMPLER_H

#include "op/axes.h"

/* Values of the param `padding_mode`. */
enum sample_padding { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION };

struct sampler {
    uint32_t axes;
    int64_t in[SPATIAL_MAX], channels;
    bool align_corners, nearest;
    int64_t padding;
};

/* Gives NULL, or what is wrong. */
const char *sampler_read(struct sampler *s, const struct node *n, const struct shape *x, const struct shape *grid);

#endif
