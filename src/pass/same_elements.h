/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing constants by their elements where they lie, whatever the order of axes in which they are stored. */
#ifndef PASS_SAME_ELEMENTS_H
#define PASS_SAME_ELEMENTS_H

#include "ir/view.h"

/* Whether two views of numbers in bytes, not splats, have the same dtype, the same shape and the same elements in each
 * place, before they are scaled. Reads them in tiles, and takes no memory. */
bool same_elements(const struct view *a, const struct view *b);
/* A number that depends on the dtype and on some of the elements, by their places: equal for views that are the same.
 */
uint64_t sample_elements(const struct view *view);

#endif
