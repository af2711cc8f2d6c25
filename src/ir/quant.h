/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings of tensors: made, given, compared. */
#ifndef IR_QUANT_H
#define IR_QUANT_H

#include "ir/graph.h"

/* The fixed-point type whose elements are those of an integer type; DT_NONE for types that have none. */
enum dtype quant_dtype(enum dtype integer);
/* Encodings of the fixed-point type `dtype` from `count` scales and zero points (NULL: zeros), copied into the arena:
 * one, or one per index of `axis`. NULL when a scale is not positive and finite, or a zero point is no value of the
 * type. */
const struct quant *quant_create(struct arena *arena, enum dtype dtype, const double *scale, const double *zero,
                                 uint32_t count, bool per_axis, uint32_t axis);
/* The encodings of integers that are still to be scaled, in the order of axes in which the view gives them; NULL for
 * other data. */
const struct quant *quant_of_view(struct arena *arena, const struct view *view);
/* The encodings that are given for a constant of floats, in the order of axes in which the view gives it; NULL: none.
 */
const struct quant *quant_given(struct arena *arena, const struct view *view);
/* What is given for a tensor, for who quantizes the container: it is stored with the tensor, whatever its type, and
 * numbers do not depend on it. */
void quant_override(struct graph *g, tensor_id id, const struct quant *quant);
/* Both absent, or the same reals for all integers. */
bool quant_equal(const struct quant *a, const struct quant *b);

#endif
