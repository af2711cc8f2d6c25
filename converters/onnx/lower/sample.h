/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling images at computed positions: what the lowering of GridSample, DeformConv and RoiAlign shares. Images are
 * channels last; positions list their coordinates from the innermost axis to the outermost, as the op GridSample wants
 * them. */
#ifndef CONVERTERS_ONNX_LOWER_SAMPLE_H
#define CONVERTERS_ONNX_LOWER_SAMPLE_H

#include "converters/lowering/emit.h"

/* Values of the op's params mode and padding_mode. */
enum { SAMPLE_LINEAR, SAMPLE_NEAREST };
enum { SAMPLE_ZEROS, SAMPLE_BORDER, SAMPLE_REFLECTION };

struct sampling {
    int mode, padding;
    bool align_corners;
};

/* A normalized coordinate is pixel · scale + offset. */
struct normalizer {
    double scale, offset;
};
struct normalizer sample_normalizer(int64_t extent, bool align_corners);

/* image at normalized positions [batch, spatial axes…, coordinates] → [batch, spatial axes…, channels]. */
tensor_id emit_grid_sample(struct emit *s, tensor_id image, tensor_id grid, const struct sampling *how);
/* Sets the params of the GridSample being built. */
void sample_params(struct build *b, const struct sampling *how);

/* The elements from which a position takes its value, along each axis: `count` neighbours, the first at `first` from
 * the position's whole part. Neighbour k weighs ((w[k][0] · t + w[k][1]) · t + …), t being the position's fraction. */
struct neighbours {
    int64_t count, first;
    uint32_t terms; /* coefficients per neighbour */
    const double (*weight)[4];
};

/* All neighbours of all positions, each multiplied with its weight: [batch, position · neighbour for each spatial
 * axis…, channels]. whole and fraction are [batch, spatial axes…, coordinates], in pixels. */
tensor_id emit_neighbours(struct emit *s, tensor_id image, tensor_id whole, tensor_id fraction,
                          const struct neighbours *n, const struct sampling *how);

/* Pools every `count` elements of each spatial axis to one: sets the params of the pool being built. */
void sample_pool_params(struct build *b, uint32_t axes, const int64_t *count);

#endif
