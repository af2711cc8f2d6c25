/* SPDX-License-Identifier: Apache-2.0 */
/* The normalization that is written as x · rsqrt(max(Σ x², ε)). */
#ifndef CONVERTERS_TENSORFLOW_LOWER_L2_NORM_H
#define CONVERTERS_TENSORFLOW_LOWER_L2_NORM_H

#include "converters/lowering/lower.h"

/* Gives output 0 of a product where it is such a normalization; *done says whether. */
odlc_status give_l2_norm(struct lower *l, bool *done) MUST_USE;

#endif
