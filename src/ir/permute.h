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
/* The registers that it works in, each set wider than the one before. */
enum permute_kernel { PERMUTE_SCALAR, PERMUTE_VECTOR, PERMUTE_AVX2, PERMUTE_AVX512, PERMUTE_WIDEST = PERMUTE_AVX512 };
/* permute_box with none wider than that: what the processor has not is not used either. */
void permute_box_by(const struct box *box, uint8_t *out, const uint8_t *source, enum permute_kernel widest);

#endif
