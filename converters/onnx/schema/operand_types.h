/* SPDX-License-Identifier: Apache-2.0 */
/* What ONNX's specification says of the element types of operands. */
#ifndef CONVERTERS_ONNX_SCHEMA_OPERAND_TYPES_H
#define CONVERTERS_ONNX_SCHEMA_OPERAND_TYPES_H

#include "converters/frontend/frontend.h"

/* What is known of such an operator, for fw_op.types; NULL: nothing. */
const void *onnx_types_of(const struct fw_op *op);
/* The types of a node's inputs and outputs that are DT_NONE, as far as the definition of the node's operator tells
 * them: operand_types of struct frontend. */
void onnx_operand_types(const struct fw_node *n, uint8_t *in, uint8_t *out);

#endif
