/* Lowering one operator to several: the steps in between.
 *
 * A sticky status makes formulas short: after the first failure every step does nothing and gives NO_TENSOR. The last
 * node, which carries the model's name of the output, is built by one of steps_end_*. C does not say which argument of
 * a call comes first: two steps in one argument list would make the order of nodes the compiler's choice. */
#ifndef CONVERTERS_LOWERING_STEPS_H
#define CONVERTERS_LOWERING_STEPS_H

#include "converters/lower.h"

struct steps {
    struct lower *l;
    odlc_status status;
};

tensor_id step_unary(struct steps *s, enum op_id op, tensor_id x);
tensor_id step_binary(struct steps *s, enum op_id op, tensor_id x, tensor_id y);
/* condition ? yes : no */
tensor_id step_select(struct steps *s, tensor_id condition, tensor_id yes, tensor_id no);
/* A reduction along the listed axes. */
tensor_id step_reduce(struct steps *s, enum op_id op, tensor_id x, const int64_t *axes, uint32_t count, bool keep);
/* A matrix product of the last two axes, the operands transposed as told. */
tensor_id step_matmul(struct steps *s, tensor_id x, tensor_id y, bool transpose_x, bool transpose_y);
tensor_id step_softmax(struct steps *s, tensor_id x, uint32_t axis);
/* alpha · (eˣ − 1) below 0; min(max(alpha · x + beta, 0), 1) */
tensor_id step_elu(struct steps *s, tensor_id x, double alpha);
tensor_id step_hard_sigmoid(struct steps *s, tensor_id x, double alpha, double beta);
tensor_id step_clamp(struct steps *s, tensor_id x, double min, double max);
tensor_id step_cast(struct steps *s, tensor_id x, enum dtype to);

/* ---- shapes and positions; axes are in [0, rank) ---- */
tensor_id step_reshape(struct steps *s, tensor_id x, const struct shape *shape);
tensor_id step_transpose(struct steps *s, tensor_id x, const struct perm *perm);
/* x broadcast to the shape by numpy's rules. */
tensor_id step_broadcast(struct steps *s, tensor_id x, const struct shape *shape);
tensor_id step_concat(struct steps *s, const tensor_id *parts, uint32_t count, uint32_t axis);
/* The elements at begin, begin + 1, … end - 1 of an axis. */
tensor_id step_slice(struct steps *s, tensor_id x, uint32_t axis, int64_t begin, int64_t end);
/* The elements at one position of an axis, without that axis. */
tensor_id step_element(struct steps *s, tensor_id x, uint32_t axis, int64_t at);
/* Tensors of one shape along a new axis. */
tensor_id step_stack(struct steps *s, const tensor_id *parts, uint32_t count, uint32_t axis);
/* The elements of an axis at the positions that an integer tensor holds, which must be inside of it. */
tensor_id step_gather(struct steps *s, tensor_id x, tensor_id positions, uint32_t axis);

/* ---- constants ---- */
/* A rank 0 constant of the dtype of `like`. */
tensor_id step_scalar(struct steps *s, tensor_id like, double value);
/* A constant of any numeric dtype; values has shape_count(shape) elements and is kept. */
tensor_id step_constant(struct steps *s, enum dtype dtype, const struct shape *shape, const double *values);

/* ---- the end: see above; of several outputs, or where the last step is not known beforehand: x becomes output i,
 * under the model's name where this operator made x ---- */
odlc_status steps_give(struct steps *s, uint32_t i, tensor_id x) MUST_USE;

/* The last node, op(x) or op(x, y), becomes output 0 of the operator. */
odlc_status steps_end_unary(struct steps *s, enum op_id op, tensor_id x) MUST_USE;
odlc_status steps_end_binary(struct steps *s, enum op_id op, tensor_id x, tensor_id y) MUST_USE;
odlc_status steps_end_select(struct steps *s, tensor_id condition, tensor_id yes, tensor_id no) MUST_USE;

#endif
