/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a graph's values and nodes. */
#ifndef CONVERTERS_ONNX_DECODE_CHECK_NAMES_H
#define CONVERTERS_ONNX_DECODE_CHECK_NAMES_H

#include "converters/onnx/decode/onnx_decode.h"

/* Puts nodes in topological order; an error for a value that is defined twice, or read and never
 * defined.
 */
void check_names(struct decode *d, struct fw_graph *graph);

#endif
