/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements, on complex numbers: once on the real parts, once on the imaginary ones. */
#ifndef CONVERTERS_DRIVER_LOWER_PARTS_H
#define CONVERTERS_DRIVER_LOWER_PARTS_H

#include "converters/lowering/lower.h"

/* The status is that of the first part that fails. */
odlc_status lower_parts(struct lower *l, lower_fn *fn) MUST_USE;

#endif
