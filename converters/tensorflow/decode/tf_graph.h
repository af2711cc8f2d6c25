/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graphs and functions: GraphDef and FunctionDef. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TF_GRAPH_H
#define CONVERTERS_TENSORFLOW_DECODE_TF_GRAPH_H

#include "converters/tensorflow/decode/tf_model.h"

/* Fills body and functions from the GraphDef that is between two places of the file. */
odlc_status tf_decode_graph(struct tf_model *m, uint64_t from, uint64_t to) MUST_USE;
/* Fills the function's arguments, results and body, once. */
odlc_status tf_decode_function(struct tf_model *m, struct tf_function *f) MUST_USE;
/* Type and shape of an argument, as far as the function says them. */
odlc_status tf_describe_argument(struct tf_model *m, const struct tf_function *function, uint32_t arg,
                                 struct fw_value *out) MUST_USE;

#endif
