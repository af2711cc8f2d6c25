/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of operators that a saved model brings. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_OP_LIST_H
#define CONVERTERS_TENSORFLOW_DECODE_OP_LIST_H

#include "converters/tensorflow/decode/tf_model.h"

/* Takes in the definitions in an OpList. */
odlc_status tf_decode_op_list(struct tf_model *m, const struct wire_field *list) MUST_USE;
/* What the model's definition of an operator that is not TensorFlow's own says beside its outputs. */
odlc_status tf_describe_op(struct tf_model *m, struct fw_op *op) MUST_USE;
/* TensorFlow's definition of the operator, or else the model's; NULL: there is none. */
const struct tf_op_def *tf_op_of(const struct tf_model *m, const char *op);

#endif
