/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering one operator to several: the steps in between.
 *
 * A sticky status makes formulas short: after the first failure every step does nothing and gives NO_TENSOR. The last
 * node, which carries the model's name of the output, is built by one of emit_end_*. C does not say which argument of
 * a call comes first: two steps in one argument list would make the order of nodes the compiler's choice. */
#ifndef CONVERTERS_LOWERING_EMIT_H
#define CONVERTERS_LOWERING_EMIT_H

#include "converters/lowering/lower.h"

struct emit {
    struct lower *l;
    odlc_status status;
};

tensor_id emit_unary(struct emit *s, enum op_id op, tensor_id x);
tensor_id emit_binary(struct emit *s, enum op_id op, tensor_id x, tensor_id y);
/* condition ? yes : no */
tensor_id emit_select(struct emit *s, tensor_id condition, tensor_id yes, tensor_id no);
/* A reduction along the listed axes. */
tensor_id emit_reduce(struct emit *s, enum op_id op, tensor_id x, const int64_t *axes, uint32_t count, bool keep);
/* A matrix product of the last two axes, the operands transposed as told. */
tensor_id emit_matmul(struct emit *s, tensor_id x, tensor_id y, bool transpose_x, bool transpose_y);
tensor_id emit_softmax(struct emit *s, tensor_id x, uint32_t axis);
/* alpha · (eˣ − 1) below 0; min(max(alpha · x + beta, 0), 1) */
tensor_id emit_elu(struct emit *s, tensor_id x, double alpha);
tensor_id emit_hard_sigmoid(struct emit *s, tensor_id x, double alpha, double beta);
tensor_id emit_clamp(struct emit *s, tensor_id x, double min, double max);
tensor_id emit_cast(struct emit *s, tensor_id x, enum dtype to);

/* ---- shapes and positions; axes are in [0, rank) ---- */
tensor_id emit_reshape(struct emit *s, tensor_id x, const struct shape *shape);
tensor_id emit_transpose(struct emit *s, tensor_id x, const struct perm *perm);
/* x broadcast to the shape by numpy's rules. */
tensor_id emit_broadcast(struct emit *s, tensor_id x, const struct shape *shape);
tensor_id emit_concat(struct emit *s, const tensor_id *parts, uint32_t count, uint32_t axis);
/* The elements at begin, begin + 1, … end - 1 of an axis. */
tensor_id emit_slice(struct emit *s, tensor_id x, uint32_t axis, int64_t begin, int64_t end);
/* The elements at one position of an axis, without that axis. */
tensor_id emit_element(struct emit *s, tensor_id x, uint32_t axis, int64_t at);
/* Tensors of one shape along a new axis. */
tensor_id emit_stack(struct emit *s, const tensor_id *parts, uint32_t count, uint32_t axis);
/* The elements of an axis at the positions that an integer tensor holds, which must be inside of it. */
tensor_id emit_gather(struct emit *s, tensor_id x, tensor_id positions, uint32_t axis);

/* ---- constants ---- */
/* A rank 0 constant of the dtype of `like`. */
tensor_id emit_scalar(struct emit *s, tensor_id like, double value);
/* A constant of any numeric dtype; values has shape_count(shape) elements and is kept. */
tensor_id emit_constant(struct emit *s, enum dtype dtype, const struct shape *shape, const double *values);

/* ---- the end: see above; of several outputs, or where the last step is not known beforehand: x becomes output i,
 * under the model's name where this operator made x ---- */
odlc_status emit_give(struct emit *s, uint32_t i, tensor_id x) MUST_USE;

/* The last node, op(x) or op(x, y), becomes output 0 of the operator. */
odlc_status emit_end_unary(struct emit *s, enum op_id op, tensor_id x) MUST_USE;
odlc_status emit_end_binary(struct emit *s, enum op_id op, tensor_id x, tensor_id y) MUST_USE;
odlc_status emit_end_select(struct emit *s, tensor_id condition, tensor_id yes, tensor_id no) MUST_USE;

#endif
