/* The elements that the windows of a maximum see, and their positions. */
#ifndef CONVERTERS_ONNX_MAX_INDICES_H
#define CONVERTERS_ONNX_MAX_INDICES_H

#include "converters/onnx/spatial.h"

/* Whether each window, of out[i] along axis i, has an element of the input. */
bool windows_see_input(const struct spatial *s, const int64_t *out);
/* The position of element k of a window along an axis; in place of one in the padding, that of the window's nearest
 * element on the input, which changes no maximum. windows_see_input holds. */
int64_t window_position(const struct spatial *s, uint32_t axis, int64_t out, int64_t k);
/* Output 1 of MaxPool: the position of each maximum, the first of equals, in the whole of input 0. The geometry is that
 * of the model's axes. */
odlc_status lower_max_indices(struct lower *l, const struct spatial *s, const int64_t *out) MUST_USE;

#endif
