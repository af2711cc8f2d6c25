/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a model: element type, shape, and a view of the elements wherever the model keeps them. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_TENSOR_H
#define CONVERTERS_ONNX_DECODE_ONNX_TENSOR_H

#include "converters/onnx/decode/onnx_decode.h"

/* The tensor in a field; *out gets the name and a view; place says where the tensor is. On failure the
 * error was reported, and *out has the name alone. ODLC_ERR_INVALID: elements, type and shape do not fit each other;
 * ODLC_ERR_UNSUPPORTED: the type, or how the elements are stored; else the statuses of external_bytes. */
odlc_status decode_tensor(struct decode *d, const struct wire_field *tensor, const struct odlc_diag *place,
                          struct fw_tensor *out) MUST_USE;

#endif
