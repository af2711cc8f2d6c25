/* SPDX-License-Identifier: Apache-2.0 */
/* Real values that are stored as fixed-point tensors (src/pass/pass_quantize.c). */
#ifndef CONVERTERS_LOWERING_QUANTIZED_H
#define CONVERTERS_LOWERING_QUANTIZED_H

#include "converters/lowering/lower.h"

/* Output 0: the reals that known integers stand for, as a constant that is still made of the integers. False, and
 * nothing done, where x is not known or the view of x cannot hold scales. */
bool lower_scaled_constant(struct lower *l, tensor_id x, const struct quant *quant);
/* A real tensor, quantized: elements of the fixed-point type that belongs to `integer`. */
odlc_status lower_quantized(struct lower *l, tensor_id real, const struct quant *quant, enum dtype integer,
                            tensor_id *out) MUST_USE;
/* Output 0: the reals of a fixed-point tensor. */
odlc_status lower_dequantized(struct lower *l, tensor_id fixed) MUST_USE;

#endif
