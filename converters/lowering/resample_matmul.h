/* SPDX-License-Identifier: Apache-2.0 */
/* Axes resized by tables of weights, where the container's Resize cannot say how. */
#ifndef CONVERTERS_LOWERING_RESAMPLE_MATMUL_H
#define CONVERTERS_LOWERING_RESAMPLE_MATMUL_H

#include "converters/lowering/lower.h"
#include "kernel/resample.h"

/* Whether a table of weights for so many elements is small enough for a container. */
bool resample_matmul_fits(int64_t in, int64_t out);
/* Each of `out` elements along an axis of x, a float tensor, is the weighted sum that the taps say. */
odlc_status lower_resample_matmul(struct lower *l, tensor_id x, uint32_t axis, const struct resample_taps *taps,
                                  int64_t out, const char *out_name, tensor_id *result) MUST_USE;
/* Output 0: both axes of images [batch, height, width, channels], each of them of `out` elements. ODLC_ERR_UNSUPPORTED:
 * a table of weights is too large. */
odlc_status lower_resample_image(struct lower *l, tensor_id x, const struct resample_taps taps[2],
                                 const int64_t out[2]) MUST_USE;
/* Taps of so many weights of 0 for each of `out` elements. */
odlc_status lower_start_taps(const struct lower *l, int64_t width, int64_t out, struct resample_taps *taps) MUST_USE;

#endif
