/* The lowering functions of TensorFlow operators: tf_rows.def, which is the only list of them, declares them, too. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_TF_ROWS_H
#define CONVERTERS_TENSORFLOW_LOWER_TF_ROWS_H

#include "converters/lowering/lower.h"

#define TF_ROW(op, fn, arg) lower_fn fn;
#include "converters/tensorflow/lower/tf_rows.def"
#undef TF_ROW

#endif
