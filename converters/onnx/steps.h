/* Lowering one operator to several: the steps in between.
 *
 * A sticky status makes formulas short: after the first failure every step does nothing and gives NO_TENSOR. The last
 * node, which carries the model's name of the output, is built by one of steps_end_*. C does not say which argument of
 * a call comes first: two steps in one argument list would make the order of nodes the compiler's choice. */
#ifndef CONVERTERS_ONNX_STEPS_H
#define CONVERTERS_ONNX_STEPS_H

#include "converters/lower.h"

struct steps {
    struct lower *l;
    odlc_status status;
};

tensor_id step_unary(struct steps *s, const char *op, tensor_id x);
tensor_id step_binary(struct steps *s, const char *op, tensor_id x, tensor_id y);
/* condition ? yes : no */
tensor_id step_select(struct steps *s, tensor_id condition, tensor_id yes, tensor_id no);
/* A reduction along the listed axes. */
tensor_id step_reduce(struct steps *s, const char *op, tensor_id x, const int64_t *axes, uint32_t count, bool keep);
/* A rank 0 constant of the dtype of `like`. */
tensor_id step_scalar(struct steps *s, tensor_id like, double value);

/* The last node, op(x) or op(x, y), becomes output 0 of the operator. */
odlc_status steps_end_unary(struct steps *s, const char *op, tensor_id x) MUST_USE;
odlc_status steps_end_binary(struct steps *s, const char *op, tensor_id x, tensor_id y) MUST_USE;
odlc_status steps_end_select(struct steps *s, tensor_id condition, tensor_id yes, tensor_id no) MUST_USE;

#endif
