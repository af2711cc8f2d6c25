/* SPDX-License-Identifier: Apache-2.0 */
/* Which input elements, with which weights, make an output element of a Resize along one axis. Shared by the kernel and
 * by front ends, which write out as tables what the Resize op cannot say. */
#ifndef KERNEL_RESAMPLE_H
#define KERNEL_RESAMPLE_H

#include "base/arena.h"

/* Values of Resize's transformation_mode in the master list, and three that only ONNX has. */
enum resample_position {
    POSITION_HALF_PIXEL,
    POSITION_PYTORCH_HALF_PIXEL,
    POSITION_ALIGN_CORNERS,
    POSITION_ASYMMETRIC,
    POSITION_HALF_PIXEL_SYMMETRIC,
    POSITION_TF_HALF_PIXEL, /* tf_half_pixel_for_nn: half a pixel, for rounding down */
    POSITION_CROP           /* tf_crop_and_resize: start and end select the part of the axis, as fractions */
};

/* Values of interpolation_mode. */
enum resample_interpolation { INTERPOLATE_NEAREST, INTERPOLATE_LINEAR, INTERPOLATE_CUBIC };

/* Values of nearest_mode, and the rule of ONNX Resize-10 and Upsample, which say none (as ONNX Runtime does it). */
enum resample_nearest { NEAREST_PREFER_FLOOR, NEAREST_PREFER_CEIL, NEAREST_FLOOR, NEAREST_CEIL, NEAREST_SIMPLE };

struct resample {
    enum resample_position position;
    enum resample_interpolation interpolation;
    enum resample_nearest nearest;
    float cubic_coeff;
    bool exclude_outside; /* cubic weights outside the input are dropped and the others scaled up */
    bool antialias;       /* filters are stretched by the factor of reduction */
};

struct resample_axis {
    int64_t in, out;
    float scale;      /* out / in, before rounding */
    float start, end; /* POSITION_CROP */
};

/* What the flags of ResizeBilinear and ResizeNearestNeighbor mean. Nearest neighbours are rounded down without any
 * flag, else to the nearest, halves up. */
struct resample resample_flagged(enum resample_interpolation interpolation, bool align_corners,
                                 bool half_pixel_centers);

/* Whether the scale is out / in. Then nearest neighbours are found in whole numbers, else in single precision. */
bool resample_fits_extents(const struct resample_axis *axis);

/* The length of the scaled axis, which is not a whole number where `out` was rounded down: corners align with its end.
 */
float resample_length(const struct resample_axis *axis);

/* Per output element `width` pairs of input index (always within the input) and weight; they add up to 1 (to 0 where a
 * crop reaches outside). */
struct resample_taps {
    int64_t width;
    int64_t *index;
    double *weight;
};

/* in and out are at least 1, the scale is positive. */
struct resample_taps resample_taps(struct arena *arena, const struct resample *r, const struct resample_axis *axis);

#endif
