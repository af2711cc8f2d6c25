/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse tensors of a model. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_SPARSE_H
#define CONVERTERS_ONNX_DECODE_ONNX_SPARSE_H

#include "converters/onnx/decode/onnx_decode.h"

/* A sparse tensor with all zeros (empty strings) written out, under the name of its values. Statuses of
 * decode_tensor; ODLC_ERR_LIMIT: the zeros take too much memory. */
odlc_status decode_sparse(struct decode *d, const struct wire_field *sparse, const struct odlc_diag *place,
                          struct fw_tensor *out) MUST_USE;

#endif
