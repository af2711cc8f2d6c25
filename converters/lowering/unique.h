/* SPDX-License-Identifier: Apache-2.0 */
/* The different elements, or slices, of a constant. */
#ifndef CONVERTERS_LOWERING_UNIQUE_H
#define CONVERTERS_LOWERING_UNIQUE_H

#include "converters/lowering/lower.h"

struct unique {
    int64_t count;    /* of different slices */
    int64_t *places;  /* where each of them stands first */
    int64_t *counts;  /* how often each of them occurs */
    int64_t all;      /* slices along the axis */
    int64_t *inverse; /* for each slice, the number of its equal in `places` */
};

/* The slices of a constant, which holds no strings, along an axis: in ascending order, or in that of their first
 * occurrence. ODLC_ERR_UNSUPPORTED: the constant holds a NaN. */
odlc_status lower_unique_slices(struct lower *l, tensor_id data, uint32_t axis, bool sorted,
                                struct unique *out) MUST_USE;

#endif
