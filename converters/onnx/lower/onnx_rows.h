/* SPDX-License-Identifier: Apache-2.0 */
/* The lowering functions of ONNX operators: onnx_rows.def, which is the only list of them, declares them, too. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_ROWS_H
#define CONVERTERS_ONNX_LOWER_ONNX_ROWS_H

#include "converters/lowering/lower.h"

#define ONNX_ROW(domain, op, lo, hi, fn, arg) lower_fn fn;
#include "converters/onnx/lower/onnx_rows.def"
#undef ONNX_ROW

#endif
