/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that the quantizing operators share: integers between scales. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_QUANTIZED_H
#define CONVERTERS_ONNX_LOWER_ONNX_QUANTIZED_H

#include "converters/lowering/casts.h"

/* Which elements share a scale: all, those of one index of the axis, or of one block along the axis. */
struct granularity {
    uint32_t axis;
    int64_t block; /* 0: no blocks */
};

/* Whether tensors can be quantized to the type: an integer type of 2 to 16 bits. */
bool is_quantized_type(enum dtype dtype);
/* Whether a constant is zero everywhere, as NO_TENSOR is. */
bool is_zero(const struct build *b, tensor_id t);

/* A scale or zero point, whose shape was checked, so that it broadcasts to x. */
tensor_id emit_align(struct emit *s, tensor_id t, const struct shape *x, const struct granularity *g);
/* t - zero (NO_TENSOR: t) as int32, where zero broadcasts to t. */
tensor_id emit_center(struct emit *s, tensor_id t, tensor_id zero);
/* A float rounded to the nearest integer, ties to even, plus zero (or NO_TENSOR), saturated to the integer type. */
tensor_id emit_saturate(struct emit *s, tensor_id x, tensor_id zero, enum dtype to);

#endif
