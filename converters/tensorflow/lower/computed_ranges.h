/* SPDX-License-Identifier: Apache-2.0 */
/* QuantizeV2 and Dequantize of one range that the graph computes, as in graphs that were quantized and never
 * calibrated. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_COMPUTED_RANGES_H
#define CONVERTERS_TENSORFLOW_LOWER_COMPUTED_RANGES_H

#include "converters/lowering/lower.h"

/* Whether inputs 1 and 2 are there, and not both known, in a mode that has a form for this: MIN_FIRST, and for
 * Dequantize MIN_COMBINED, too; without an axis. */
bool has_computed_range(const struct lower *l);
/* Outputs of the two operators. Statuses as in quantized_tensor.h. */
odlc_status quantize_by_computed(struct lower *l, enum dtype integer) MUST_USE;
odlc_status dequantize_by_computed(struct lower *l) MUST_USE;

#endif
