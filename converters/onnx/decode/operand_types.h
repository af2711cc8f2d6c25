#ifndef CONVERTERS_ONNX_DECODE_OPERAND_TYPES_H
#define CONVERTERS_ONNX_DECODE_OPERAND_TYPES_H

#include "converters/driver/driver.h"

/* What the definition of the node's operator says of the types of inputs and outputs, where they are not known: see
 * struct frontend. */
void onnx_operand_types(const struct fw_node *n, uint8_t *in, uint8_t *out);

#endif
