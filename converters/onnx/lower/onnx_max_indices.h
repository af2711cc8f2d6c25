/* SPDX-License-Identifier: Apache-2.0 */
/* The Indices of MaxPool. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_MAX_INDICES_H
#define CONVERTERS_ONNX_LOWER_ONNX_MAX_INDICES_H

#include "converters/lowering/max_indices.h"

/* Output 1 of MaxPool: the position of each maximum, the first of equals, in the whole of input 0. The geometry is that
 * of the model's axes. */
odlc_status lower_pool_indices(struct lower *l, const struct spatial *s, const int64_t *out) MUST_USE;

#endif
