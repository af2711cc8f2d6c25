/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with a list of outputs. A node lists those up to the highest that something reads. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_LISTS_H
#define CONVERTERS_TENSORFLOW_LOWER_LISTS_H

#include "converters/lowering/lower.h"

/* Fails when the node is said to have more outputs than the operator gives it. */
odlc_status tf_check_outputs(const struct lower *l, int64_t count) MUST_USE;

#endif
