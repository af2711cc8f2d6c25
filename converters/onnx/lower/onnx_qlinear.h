/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of operators on integers with scales: between reals and integers. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_QLINEAR_H
#define CONVERTERS_ONNX_LOWER_ONNX_QLINEAR_H

#include "converters/lowering/lower.h"

/* Integers with their scale and zero point (NO_TENSOR: 0): one for all, or one per index of the axis. */
struct qlinear_operand {
    tensor_id x, scale, zero;
    int64_t axis;
};

/* The reals, as DequantizeLinear gives them. */
odlc_status qlinear_real(struct lower *l, const struct qlinear_operand *q, tensor_id *out) MUST_USE;
/* The same for the inputs `at`: a tensor, called `what` in errors, its scale and its zero point. */
odlc_status qlinear_operand(struct lower *l, const uint32_t at[3], const char *what, tensor_id *out) MUST_USE;
/* How an operator of floats is lowered on these tensors, with the node's attributes. */
odlc_status qlinear_step(struct lower *l, lower_fn *fn, const tensor_id *in, uint32_t n_in, tensor_id *out) MUST_USE;
/* The same, for output 0. */
odlc_status qlinear_end(struct lower *l, lower_fn *fn, const tensor_id *in, uint32_t n_in) MUST_USE;
/* Output 0: the reals quantized by the inputs `scale` and `zero`; where the latter is absent, to the type `like` with
 * the zero point 0. */
odlc_status qlinear_give(struct lower *l, tensor_id real, uint32_t scale, uint32_t zero, enum dtype like) MUST_USE;

#endif
