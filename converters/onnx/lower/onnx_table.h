/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ONNX operators, which onnx_rows.def lists. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_TABLE_H
#define CONVERTERS_ONNX_LOWER_ONNX_TABLE_H

#include "converters/lowering/lower_table.h"

extern const struct lower_table onnx_table;

/* Why no row converts an operator of the specification (onnx_refusals.def); NULL: the list has no such operator. */
const char *onnx_refusal(const char *domain, const char *op);
/* Whether some input of the operator may hold strings. */
bool onnx_takes_strings(const char *domain, const char *op);

#endif
