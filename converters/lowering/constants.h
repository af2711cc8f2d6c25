/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are known at conversion. */
#ifndef CONVERTERS_LOWERING_CONSTANTS_H
#define CONVERTERS_LOWERING_CONSTANTS_H

#include "converters/lowering/lower.h"

/* Output i is the constant of that view, or of these values. */
void lower_give_view(struct lower *l, uint32_t i, const struct view *view);
void lower_give_ints(struct lower *l, uint32_t i, enum dtype dtype, const struct shape *shape, const int64_t *values);
/* Output i lists the dims [begin, end) of a tensor; output 0 is the number of its elements. Both know which of them an
 * op that finds as much as it finds has a part in. */
void lower_give_dims(struct lower *l, uint32_t i, enum dtype dtype, tensor_id of, uint32_t begin, uint32_t end);
void lower_give_size(struct lower *l, enum dtype dtype, tensor_id of);
/* Output i repeats the one element of `element`, which is never written out. */
void lower_give_filled(struct lower *l, uint32_t i, const struct view *element, const struct shape *shape);

/* Output 0: count numbers of that type from `start` on, `step` apart. */
odlc_status lower_give_steps(struct lower *l, enum dtype dtype, double start, double step, size_t count) MUST_USE;
/* The same for start, limit and delta, whose range has `count` elements, a whole number that may be any.
 * ODLC_ERR_LIMIT: the range is too long; ODLC_ERR_INVALID: the range has no end. */
odlc_status lower_give_float_range(struct lower *l, enum dtype dtype, const double range[3], double count) MUST_USE;
/* Output 0: the whole numbers start, start + delta … before limit. The range of a delta that leads away is empty.
 * Statuses as above. */
odlc_status lower_give_range(struct lower *l, enum dtype dtype, int64_t start, int64_t limit, int64_t delta) MUST_USE;
/* Input i as one number. ODLC_ERR_INVALID: the input has several; else the statuses of lower_const_ints. */
odlc_status lower_one_int(const struct lower *l, uint32_t i, const char *what, int64_t *out) MUST_USE;
odlc_status lower_one_float(const struct lower *l, uint32_t i, const char *what, double *out) MUST_USE;

#endif
