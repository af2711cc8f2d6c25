/* SPDX-License-Identifier: Apache-2.0 */
/* Values of params and defaults: exact conversion to the declared type. */
#ifndef UDO_PARAM_VALUE_H
#define UDO_PARAM_VALUE_H

#include "ir/graph.h"

/* Gives the value the dtype `to`, elements included. Integers must be held exactly; floats are rounded to nearest even.
 * False, with *why set ("1.5 does not fit INT_32") and the value unchanged: the dtype cannot hold the value. */
bool value_convert(struct arena *arena, struct param *value, enum dtype to, const char **why);

/* Makes a one-element tensor of a scalar. */
void value_to_tensor(struct arena *arena, struct param *value);
/* Makes a scalar of a one-element tensor; false, with the value unchanged, for any other count. */
bool value_to_scalar(struct param *value);
/* Puts the elements of a tensor into another order of axes; value->shape.rank == perm->rank. */
void value_permute(struct arena *arena, struct param *value, const struct perm *perm);

/* The value as constant data of its dtype; scalars have shape [1]. */
struct view value_view(struct arena *arena, const struct param *value);

bool value_equal(const struct param *a, const struct param *b);

/* The type of an operand whose definition says `first` and `several`, where the model has `model` (DT_NONE: unknown):
 * of several, the model's own, else the first, which is a quantized one only where no other suits. */
enum dtype udo_pick_dtype(enum dtype first, uint64_t several, enum dtype model);

/* Whether processors may take as `declared` what the framework computes in `model`: the same type, where 64 bits count
 * as 32, or a real number in one of fewer bits, which quantization makes of it. */
bool udo_type_suits(enum dtype declared, enum dtype model);

/* A type as configs spell it ("FLOAT_32"), or our own name for types they have no word for. */
const char *udo_type_name(enum dtype dtype);

#endif
