/* The table of ONNX operators. rows.def is its only list: it declares the lowering functions, too. */
#ifndef CONVERTERS_ONNX_ROWS_H
#define CONVERTERS_ONNX_ROWS_H

#include "converters/lower.h"

extern const struct lower_row onnx_rows[];
extern const size_t onnx_row_count;

#define ONNX_ROW(domain, op, lo, hi, fn, arg) lower_fn fn;
#include "converters/onnx/rows.def"
#undef ONNX_ROW

#endif
