/* SPDX-License-Identifier: Apache-2.0 */
/* Operands and attributes of ONNX's operators, by its specification and, of other domains, by ONNX Runtime. */
#ifndef CONVERTERS_ONNX_SCHEMA_SIGNATURES_H
#define CONVERTERS_ONNX_SCHEMA_SIGNATURES_H

#include "converters/frontend/signature.h"

/* NULL: nothing is known of that operator at that version. */
const struct signature *onnx_signature(const char *domain, const char *op, int64_t version);

#endif
