/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's element types (TensorProto.DataType): the number, the name, and how a tensor's lists hold the elements. */
#ifndef CONVERTERS_ONNX_SCHEMA_ONNX_TYPES_H
#define CONVERTERS_ONNX_SCHEMA_ONNX_TYPES_H

#include "ir/dtype.h"

struct onnx_type {
    int32_t code;
    const char *name;
    enum dtype dtype; /* DT_NONE: not supported */
    uint32_t field;   /* TensorProto's list for elements that are not raw; 0: string_data */
    int64_t min, max; /* what an element of an integer list may be */
};

/* The type of that number, or NULL. */
const struct onnx_type *onnx_find_type(int64_t code);

/* The element type of that number. *name becomes ONNX's name of the type, or NULL for a number without a type.
 * ODLC_ERR_INVALID: there is no such type; ODLC_ERR_UNSUPPORTED: the IR has none like it. */
odlc_status onnx_dtype(int64_t code, enum dtype *out, const char **name) MUST_USE;

#endif
