/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products of the elements up to each one along an axis. */
#ifndef CONVERTERS_LOWERING_CUMULATIVE_H
#define CONVERTERS_LOWERING_CUMULATIVE_H

#include "converters/lowering/lower.h"

struct cumulative {
    tensor_id x;
    uint32_t axis;
    bool exclusive; /* of the element itself */
    bool reverse;   /* from the end on */
};

/* Output 0: the sums, or the products. A product takes a node for each element of the axis, and ODLC_ERR_UNSUPPORTED
 * says that those are too many. */
odlc_status lower_cumulative_sum(struct lower *l, const struct cumulative *n) MUST_USE;
odlc_status lower_cumulative_product(struct lower *l, const struct cumulative *n) MUST_USE;

#endif
