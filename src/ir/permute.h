/* SPDX-License-Identifier: Apache-2.0 */
/* Moving the elements of a box into another order of axes. */
#ifndef IR_PERMUTE_H
#define IR_PERMUTE_H

#include "ir/shape.h"

/* A box of elements in the order of the result; no extent is 0. */
struct box {
    uint32_t rank;             /* at least 1 */
    uint32_t size;             /* bytes of an element: 1, 2, 4 or 8 */
    int64_t extent[MAX_RANK];  /* of the result's axes */
    int64_t strides[MAX_RANK]; /* of the result's axes in the source, in elements */
};

/* Writes the box densely. The source's first element is at `source`; neither side need be aligned. */
void permute_box(const struct box *box, uint8_t *out, const uint8_t *source);
/* permute_box without vectors: the reference of its test. */
void permute_box_scalar(const struct box *box, uint8_t *out, const uint8_t *source);

#endif
