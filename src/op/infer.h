/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules: the types of a node's outputs follow from input types, constant inputs and params. */
#ifndef OP_INFER_H
#define OP_INFER_H

#include "base/diag.h"
#include "op/op.h"

struct infer {
    const struct graph *graph;
    const struct node *node;
    struct type *out; /* node->n_outputs entries to fill */
    struct diags *diags;
};

/* What messages call an op: by the model's operator while that is lowered, else by its own name. */
const char *op_subject(const struct diags *diags, const struct op *op);
/* Reports that the node's operands or params do not fit: ODLC_ERR_INVALID. */
odlc_status infer_error(const struct infer *c, const char *format, ...) PRINTF_LIKE(2, 3);
/* Type of input i; the caller knows that the input is there. */
const struct type *infer_in(const struct infer *c, uint32_t i);
/* The type of output 0 that the node already has, or NULL: of ops whose output's size is no param, but said by the
 * output alone. */
const struct type *infer_known_output(const struct infer *c);

/* ---- rules that several families share ---- */
/* Fails unless every input that is there is of a floating-point (or quantized) type. */
odlc_status need_real(const struct infer *c) MUST_USE;
/* Fails unless the inputs that are there are all of such types or all integers: what kernels of products combine. */
odlc_status need_alike(const struct infer *c) MUST_USE;
/* Whether elements of both types can come into one tensor: those of one type, or, by way of their reals, fixed-point
 * ones with each other and with floats. */
bool can_stand_together(enum dtype a, enum dtype b);
/* out[0] = in[0] … */
infer_fn infer_same;
/* … where all inputs must be of floating-point (or quantized) types … */
infer_fn infer_real;
/* … or all of them integers. */
infer_fn infer_numeric;

#endif
