/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers. A container has none, but of some results it does not matter which they are: a dropout that keeps
 * everything rounds keep_prob + uniform numbers below 1 down, which gives 1. So a range stands for them until the
 * operators that follow make one number of all its values. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_RANDOM_H
#define CONVERTERS_TENSORFLOW_LOWER_RANDOM_H

#include "converters/lowering/lower.h"

/* Whether an input is no tensor: for rows with the arg TAKES_VALUES that take ranges. */
bool takes_random(const struct lower *l);

/* The operators on such inputs; they fail for values of other kinds. The result is the range of op(x, y), where the
 * other operand is known at conversion. */
odlc_status random_binary(struct lower *l, enum op_id op) MUST_USE;
/* The result is a constant, or an error where both outcomes are possible. */
odlc_status random_floor(struct lower *l) MUST_USE;
odlc_status random_greater_equal(struct lower *l) MUST_USE;

#endif
