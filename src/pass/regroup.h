/* SPDX-License-Identifier: Apache-2.0 */
/* Reshapes of tensors whose axes are stored in another order. */
#ifndef PASS_REGROUP_H
#define PASS_REGROUP_H

#include "ir/shape.h"

/* A tensor of the shape `from` is stored in the order from_order and reshaped to `to`. When the Reshape only splits and
 * merges axes that also lie side by side in memory, it can work on what is stored: returns true, and in *to_order the
 * order in which the result is then stored. Axes of one element can stand anywhere: they stand as in `wish` (or NULL)
 * where that agrees with the rest. */
bool regroup(const struct shape *from, const struct perm *from_order, const struct shape *to, const struct perm *wish,
             struct perm *to_order);

#endif
