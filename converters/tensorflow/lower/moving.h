/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of tensors whose place is computed: a list of integers of which some are known, and a Gather where they are
 * not.
 */
#ifndef CONVERTERS_TENSORFLOW_LOWER_MOVING_H
#define CONVERTERS_TENSORFLOW_LOWER_MOVING_H

#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"

/* Input i, a list of integers. Those that are not known are 0 in values. */
struct partly {
    tensor_id list;
    uint32_t input, count;
    const char *what;
    int64_t *values;
    bool *known;
};
/* ODLC_ERR_INVALID: the input is no list of integers; ODLC_ERR_UNSUPPORTED: elements are sizes with filler. */
odlc_status read_partly(const struct lower *l, uint32_t i, const char *what, struct partly *out) MUST_USE;
/* The error for an element that must be known: the hint says what to freeze. Gives ODLC_ERR_UNSUPPORTED. */
odlc_status lower_partly_unknown(const struct lower *l, const struct partly *p) MUST_USE;

/* `size` elements of an axis, from the one that an entry of the list says. It may count from the back. */
struct move {
    uint32_t axis, entry;
    int64_t size;
    bool both_ends;
};
struct moves {
    struct move list[MAX_RANK];
    uint32_t count;
};
/* The slices of `in`, called out_name where nothing moves; and of them, along axes that these leave whole, what the
 * moves take. */
tensor_id emit_moving_slices(struct emit *s, tensor_id in, const struct slices *slices, const struct partly *begin,
                             const struct moves *moves, const char *out_name);

/* The numbers 0 … count - 1 as int32. */
tensor_id emit_positions(struct emit *s, int64_t count);

#endif
