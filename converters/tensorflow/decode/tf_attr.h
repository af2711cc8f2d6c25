/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of nodes and of definitions of operators. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TF_ATTR_H
#define CONVERTERS_TENSORFLOW_DECODE_TF_ATTR_H

#include "converters/tensorflow/decode/tf_model.h"

/* The attributes of a node. `given` are the attributes of the function call that the node is inside of
 * (count n_given): its own may refer to them by name; *varies says that they do. Elements and texts are kept. */
odlc_status tf_decode_attrs(struct tf_model *m, const struct tf_node *n, const struct fw_attr *given, size_t n_given,
                            const struct fw_attr **out, uint32_t *count, bool *varies) MUST_USE;
/* The attributes of an operator's definition that have defaults. */
odlc_status tf_decode_defaults(struct tf_model *m, const struct wire_field *op_def, const char *op,
                               const struct fw_attr **out, uint32_t *count) MUST_USE;
/* The shapes of the attribute _output_shapes: those of the outputs from `first` on go to v[0 … count). */
odlc_status tf_decode_output_shapes(struct tf_model *m, const struct tf_node *n, size_t first, struct fw_value *v,
                                    size_t count) MUST_USE;

#endif
