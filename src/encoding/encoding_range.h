/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings of ranges, as the public texts of quantizers for these containers and files that they wrote have them. */
#ifndef ENCODING_ENCODING_RANGE_H
#define ENCODING_ENCODING_RANGE_H

#include "ir/graph.h"

#define ENCODING_LEAST_RANGE 1e-4 /* a smaller range grows to it */

/* Unsigned integers of `bits`, 2 to 31, for reals of [min, max], which is widened to have zero: scale is the range by
 * its steps, offset the nearest whole number of steps to the least real, halves away from zero, and min and max are
 * what the least and the greatest integer stand for. */
struct encoding encoding_of_range(uint32_t bits, double min, double max);
/* Signed integers of `bits`, 2 to 32, around zero, of the same number on both sides: the greatest magnitude is theirs.
 */
struct encoding encoding_around_zero(uint32_t bits, double min, double max);
/* Unsigned integers of `bits`, 2 to 31, of which the middle one is zero and the greatest stands for `most`. */
struct encoding encoding_about_the_middle(uint32_t bits, double most);
/* Unsigned integers of `bits`, 2 to 31, with that scale and offset. */
struct encoding encoding_of_scale(uint32_t bits, double scale, int32_t offset);

#endif
