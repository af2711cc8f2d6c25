/* SPDX-License-Identifier: Apache-2.0 */
/* The orders that tensors should best be stored in, found before axes are tracked. */
#ifndef PASS_PREFERRED_LAYOUT_H
#define PASS_PREFERRED_LAYOUT_H

#include "op/layout.h"

struct preferred_layout {
    struct perm order; /* rank 0: no matter which */
    bool spatial;      /* it is channels-last, and the axes have kept their meaning up to the op that wants it */
};

/* Per tensor: the order that the channels-last op wants which the tensor flows into; or, where an op that keeps the
 * order of axes joins it with a channels-last tensor, that order. */
const struct preferred_layout *find_preferred_layouts(struct arena *scratch, const struct graph *g);

#endif
