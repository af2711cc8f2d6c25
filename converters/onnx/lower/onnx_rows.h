/* The table of ONNX operators. rows.def is its only list: it declares the lowering functions, too. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_ROWS_H
#define CONVERTERS_ONNX_LOWER_ONNX_ROWS_H

#include "converters/lowering/lower.h"

extern const struct lower_row onnx_rows[];
extern const size_t onnx_row_count;

/* Why no row converts an operator of the specification (refusals.def); NULL when it says nothing of it. */
const char *onnx_refusal(const char *domain, const char *op);
/* Whether some input of the operator may hold strings. */
bool onnx_takes_strings(const char *domain, const char *op);

#define ONNX_ROW(domain, op, lo, hi, fn, arg) lower_fn fn;
#include "converters/onnx/lower/onnx_rows.def"
#undef ONNX_ROW

#endif
