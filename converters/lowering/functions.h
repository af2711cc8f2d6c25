/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematical functions that the container has no op for, as formulas of those that it has. They are functions of
 * rows: of input 0, without attributes. */
#ifndef CONVERTERS_LOWERING_FUNCTIONS_H
#define CONVERTERS_LOWERING_FUNCTIONS_H

#include "converters/lowering/lower.h"

lower_fn lower_acos, lower_tan, lower_asinh, lower_acosh, lower_atanh, lower_softsign;
/* The row's op, ElementWiseSubtract or ElementWiseAdd, joins the two exponentials. */
lower_fn lower_sinh_cosh;
lower_fn lower_erf, lower_erfc;

#endif
