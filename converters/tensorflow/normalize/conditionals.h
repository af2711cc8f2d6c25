/* SPDX-License-Identifier: Apache-2.0 */
/* Conditionals of TensorFlow 1: each Merge of the two sides of a conditional gets what decides between them as one more
 * input, and which side each value is of as an attribute. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_CONDITIONALS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_CONDITIONALS_H

#include "converters/tensorflow/normalize/walk.h"

extern const struct stage select_from_merges;

#endif
