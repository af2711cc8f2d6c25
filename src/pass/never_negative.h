/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are known not to be negative. */
#ifndef PASS_NEVER_NEGATIVE_H
#define PASS_NEVER_NEGATIVE_H

#include "ir/graph.h"

/* Whether the operator of the node, and what is known of the tensors that it reads (by id), leave no negative number
 * for its results. Of an operator that is not known nothing is known. */
bool gives_no_negative(const struct graph *g, const struct node *n, const bool *known);

#endif
