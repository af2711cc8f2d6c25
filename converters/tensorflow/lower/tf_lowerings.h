/* SPDX-License-Identifier: Apache-2.0 */
/* The lowering functions of TensorFlow's operators, as tf_rows.def lists them. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_TF_LOWERINGS_H
#define CONVERTERS_TENSORFLOW_LOWER_TF_LOWERINGS_H

#include "converters/lowering/lower_table.h"

#define TF_ROW(op, fn, arg) lower_fn fn;
#include "converters/tensorflow/lower/tf_rows.def"
#undef TF_ROW

#endif
