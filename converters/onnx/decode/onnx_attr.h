/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of nodes, and of functions. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_ATTR_H
#define CONVERTERS_ONNX_DECODE_ONNX_ATTR_H

#include "converters/onnx/decode/onnx_opsets.h"

/* The attributes in the fields of that number; node is for diagnostics. */
const struct fw_attr *decode_attrs(struct decode *d, const struct sections *s, uint32_t number, const char *node,
                                   const struct opsets *opsets);
/* An error for attributes of a node that have one name. */
void check_attr_names(struct decode *d, const struct fw_node *n);

#endif
