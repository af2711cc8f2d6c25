/* The table of TensorFlow operators. rows.def is its only list: it declares the lowering functions, too. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_TF_ROWS_H
#define CONVERTERS_TENSORFLOW_LOWER_TF_ROWS_H

#include "converters/lowering/lower.h"

extern const struct lower_row tensorflow_rows[];
extern const size_t tensorflow_row_count;

/* Why no row converts an operator (refusals.def); NULL when it says nothing of it. */
const char *tensorflow_refusal(const char *domain, const char *op);
/* Whether some input of the operator may hold strings. */
bool tensorflow_takes_strings(const char *domain, const char *op);

#define TF_ROW(op, fn, arg) lower_fn fn;
#include "converters/tensorflow/lower/tf_rows.def"
#undef TF_ROW

#endif
