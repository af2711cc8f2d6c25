/* SPDX-License-Identifier: Apache-2.0 */
/* What ONNX's specification says of the attributes of operators of the default domain. */
#ifndef CONVERTERS_ONNX_SCHEMA_ONNX_SCHEMA_DEFAULTS_H
#define CONVERTERS_ONNX_SCHEMA_ONNX_SCHEMA_DEFAULTS_H

#include "ir/graph.h"

/* The default of an attribute at that opset version; false when the specification gives the attribute none. Integers
 * come as DT_INT64, floats as DT_FLOAT32, lists as tensors of rank 1. */
bool onnx_schema_default(const char *op_type, int64_t version, const char *attr, struct param *out);
/* Whether the attribute is an integer that is 0 or 1 by the specification. */
bool onnx_is_flag(const char *op_type, int64_t version, const char *attr);

#endif
