/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of keys and values, which the calls of a model fill one after the other. */
#ifndef CONVERTERS_ONNX_LOWER_CACHE_H
#define CONVERTERS_ONNX_LOWER_CACHE_H

#include "converters/lowering/lower.h"

/* The cache with the update in its place: along the axis from `begin` on, [batch], a number for each sample
 * (NO_TENSOR: 0). ODLC_ERR_INVALID: the update, or a known number, does not fit. */
odlc_status cache_write(struct lower *l, tensor_id cache, tensor_id update, tensor_id begin, uint32_t axis,
                        tensor_id *out) MUST_USE;

#endif
