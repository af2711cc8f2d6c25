/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of reals that integers of quantized types stand for, as operators have them: inputs 1 and 2, a mode and an
 * axis. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_QUANTIZED_RANGES_H
#define CONVERTERS_TENSORFLOW_LOWER_QUANTIZED_RANGES_H

#include "converters/lowering/emit.h"

enum range_mode { MIN_COMBINED, MIN_FIRST, SCALED };

struct quantized_ranges {
    int mode;
    bool narrow, per_axis;
    uint32_t axis, count; /* one, or one per index of the axis */
    const double *min, *max;
    double lowest, highest; /* of the integers */
};

/* The ranges of x, whose integers are of that type. ODLC_ERR_INVALID: an attribute or an input has none of the values
 * that it may have; ODLC_ERR_UNSUPPORTED: a range is not known. */
odlc_status read_quantized_ranges(const struct lower *l, tensor_id x, enum dtype integer,
                                  struct quantized_ranges *out) MUST_USE;
/* A float32 constant with a number per range, which broadcasts to x. */
tensor_id per_quantized_range(struct emit *s, const struct quantized_ranges *r, tensor_id x, const double *values);

#endif
