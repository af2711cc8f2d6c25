/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in the container's order of axes. */
#ifndef CONVERTERS_LOWERING_WEIGHTS_H
#define CONVERTERS_LOWERING_WEIGHTS_H

#include "converters/lowering/lower.h"

/* `in`, which comes from input i of the node, permuted. Constants become permuted views that keep the model's name,
 * followed by `suffix`; a layer that asks for the same weights in the same order gets the same tensor. Others get a
 * Transpose. */
odlc_status lower_weights(struct lower *l, uint32_t i, tensor_id in, const struct perm *perm, const char *suffix,
                          tensor_id *out) MUST_USE;

/* Rows begin … end - 1 of a tensor, which are indices of its first axis. Those of a constant are a view of its bytes
 * called `name`. */
odlc_status lower_weight_rows(struct lower *l, tensor_id in, int64_t begin, int64_t end, const char *name,
                              tensor_id *out) MUST_USE;

/* Input i as the bias of `count` elements, in *out, and the bias's name for the param bias_op_name; NO_TENSOR, and "",
 * when the input is absent. ODLC_ERR_INVALID: the input has another number of elements. */
odlc_status lower_bias(struct lower *l, uint32_t i, int64_t count, tensor_id *out, const char **name) MUST_USE;

#endif
