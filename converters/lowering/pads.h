/* SPDX-License-Identifier: Apache-2.0 */
/* Elements around a tensor: a constant, or its own in one of several orders. */
#ifndef CONVERTERS_LOWERING_PADS_H
#define CONVERTERS_LOWERING_PADS_H

#include "converters/lowering/lower.h"

enum pad_mode {
    MODE_CONSTANT,
    MODE_SYMMETRIC, /* mirrored at the edge: the outermost element is repeated */
    MODE_REFLECT,   /* mirrored at the outermost element, which is not repeated */
    MODE_EDGE,
    MODE_WRAP
};

struct pads {
    enum pad_mode mode;
    int64_t before[MAX_RANK], after[MAX_RANK]; /* of each axis; not negative */
    struct param value;                        /* of MODE_CONSTANT */
};

/* Sets p->value, for a tensor of that type, to the number in input i, or to 0 when the input is absent.
 * ODLC_ERR_UNSUPPORTED: the number is not known at conversion, or none that the container has; ODLC_ERR_INVALID: the
 * input has several. */
odlc_status lower_pad_value(const struct lower *l, uint32_t i, const char *what, enum dtype dtype,
                            struct pads *p) MUST_USE;
/* `in` with the elements around; `in` itself when there are to be none. ODLC_ERR_INVALID: an axis is too short to be
 * mirrored so far. */
odlc_status lower_padded(const struct lower *l, tensor_id in, const struct pads *p, const char *out_name,
                         tensor_id *out) MUST_USE;

#endif
