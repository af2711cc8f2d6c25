/* SPDX-License-Identifier: Apache-2.0 */
/* Determinants and systems of linear equations: elimination with the largest pivot of each column, a matrix of one row
 * and column less at each step. */
#ifndef CONVERTERS_LOWERING_ELIMINATION_H
#define CONVERTERS_LOWERING_ELIMINATION_H

#include "converters/lowering/emit.h"

/* Input 0, as [batch, n, n] of float32 or float64. ODLC_ERR_INVALID: the input is not made of square matrices of
 * floats; ODLC_ERR_UNSUPPORTED: they are too large. */
odlc_status lower_square_matrices(struct emit *s, int64_t *n, tensor_id *x) MUST_USE;
/* What the matrices [batch, n, n] have to be multiplied with to give [batch, n, columns]. */
tensor_id emit_solution(struct emit *s, tensor_id matrices, tensor_id right);
tensor_id emit_inverse(struct emit *s, tensor_id matrices);

/* Output 0: the determinants of the matrices in input 0; their inverses. */
odlc_status lower_det(struct lower *l) MUST_USE;
/* The signs of the determinants, and the logarithms of their sizes, which may be beyond what floats hold; of a singular
 * matrix, 0 and -infinity. */
struct log_det {
    tensor_id sign, logarithm; /* as the matrices without their last two axes, and of their type */
};
odlc_status lower_log_det(struct lower *l, struct log_det *out) MUST_USE;
odlc_status lower_inverse(struct lower *l) MUST_USE;

#endif
