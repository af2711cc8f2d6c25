/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a model's local functions. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_FUNCTIONS_H
#define CONVERTERS_ONNX_DECODE_ONNX_FUNCTIONS_H

#include "converters/frontend/frontend.h"
#include "converters/onnx/decode/onnx_graph.h"

/* Replaces calls of local functions by their bodies, everywhere in the graph. */
void inline_functions(struct decode *d, struct function *functions, size_t count, const struct fw_load_options *options,
                      struct fw_graph *graph);

#endif
