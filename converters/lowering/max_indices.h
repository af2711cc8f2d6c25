/* SPDX-License-Identifier: Apache-2.0 */
/* The elements that the windows of a maximum see, and their positions. */
#ifndef CONVERTERS_LOWERING_MAX_INDICES_H
#define CONVERTERS_LOWERING_MAX_INDICES_H

#include "converters/lowering/spatial.h"

/* Whether each window, of out[i] along axis i, has an element of the input. */
bool windows_see_input(const struct spatial *s, const int64_t *out);
/* The position of element k of a window along an axis; in place of one in the padding, that of the window's nearest
 * element on the input, which changes no maximum. windows_see_input holds. */
int64_t window_position(const struct spatial *s, uint32_t axis, int64_t out, int64_t k);

/* How the position of an element is counted: the sum of these for each step along an axis. */
struct max_strides {
    int64_t batch, channel, spatial[SPATIAL_MAX];
};
/* The position of the maximum of each window of x [batch, channels, spatial axes…], the first of equals, as int32, in
 * *found. windows_see_input holds. ODLC_ERR_UNSUPPORTED: the windows are too large, which the attribute `kernel` says.
 */
odlc_status lower_max_indices(struct lower *l, tensor_id x, const struct spatial *s, const int64_t *out,
                              const struct max_strides *strides, const char *kernel, tensor_id *found) MUST_USE;

#endif
