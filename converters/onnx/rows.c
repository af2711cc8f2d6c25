#include "converters/onnx/rows.h"

const struct lower_row onnx_rows[] = {
#define ONNX_ROW(domain, op, lo, hi, fn, arg) {domain, op, lo, hi, fn, arg},
#include "converters/onnx/rows.def"
#undef ONNX_ROW
};
const size_t onnx_row_count = COUNT_OF(onnx_rows);
