/* SPDX-License-Identifier: Apache-2.0 */
/* Operands and attributes of ONNX's operators, by its specification and, of other domains, by ONNX Runtime. */
#ifndef CONVERTERS_ONNX_SCHEMA_SIGNATURES_H
#define CONVERTERS_ONNX_SCHEMA_SIGNATURES_H

#include "converters/frontend/fw_graph.h"
#include "converters/frontend/signature.h"

/* NULL: nothing is known of that operator at that version. */
const struct signature *onnx_signature(const char *domain, const char *op, int64_t version);
/* Whether an attribute of earlier versions that exporters go on writing changes nothing: BatchNormalization's
 * "spatial", since all versions from 9 on normalize by channel. */
bool onnx_leaves_out(const struct fw_op *op, const char *attribute);

#endif
