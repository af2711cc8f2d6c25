/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and local functions: from ONNX's messages to the framework graph. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_GRAPH_H
#define CONVERTERS_ONNX_DECODE_ONNX_GRAPH_H

#include "converters/onnx/decode/onnx_opsets.h"

/* A local function: its body is kept as the model has it, names unresolved. */
struct function {
    const char *domain, *name, *overload;
    const fw_name *inputs, *outputs;
    size_t n_inputs, n_outputs;
    const fw_name *attributes; /* names of those without a default value */
    size_t n_attributes;
    const struct fw_attr *defaults; /* attributes with a default value */
    size_t n_defaults;
    const struct fw_node *nodes;
    size_t n_nodes;
    const struct fw_value *values; /* value_info */
    size_t n_values;
    bool active; /* its expansion is under way */
};

/* Decodes the graph in a field. Problems are errors in d. */
void decode_graph(struct decode *d, const struct wire_field *graph, const struct opsets *opsets, struct fw_graph *out);
/* The local functions of the model, in d->memory. */
struct function *decode_functions(struct decode *d, const struct sections *model);

#endif
