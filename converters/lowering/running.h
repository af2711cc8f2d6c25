/* Sums and products of the elements up to each one along an axis. */
#ifndef CONVERTERS_LOWERING_RUNNING_H
#define CONVERTERS_LOWERING_RUNNING_H

#include "converters/lower.h"

struct running {
    tensor_id x;
    uint32_t axis;
    bool exclusive; /* of the element itself */
    bool reverse;   /* from the end on */
};

/* They give output 0. */
odlc_status lower_running_sum(struct lower *l, const struct running *n) MUST_USE;
odlc_status lower_running_product(struct lower *l, const struct running *n) MUST_USE;

#endif
