/* SPDX-License-Identifier: Apache-2.0 */
/* The table of TensorFlow operators: tf_rows.def is its only list. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_TF_TABLE_H
#define CONVERTERS_TENSORFLOW_LOWER_TF_TABLE_H

#include "converters/lowering/lower_table.h"

extern const struct lower_table tensorflow_table;

/* Why no row converts an operator (tf_refusals.def); NULL: the list has no such operator. */
const char *tensorflow_refusal(const char *domain, const char *op);
/* Whether some input of the operator may hold strings. */
bool tensorflow_takes_strings(const char *domain, const char *op);

#endif
