/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two graphs say the same: what a container keeps of a graph, compared field by field. */
#ifndef FUZZ_SAME_GRAPH_H
#define FUZZ_SAME_GRAPH_H

#include "op/op.h"

/* NULL when they do; otherwise what differs, in the arena. Names tell tensors and params apart, so the order of
 * constants, of params in a row, and of the graph's inputs and outputs do not matter; absent operands at the end of a
 * list, and tensors that nothing uses, do not either. */
const char *graph_difference(struct arena *arena, const struct graph *a, const struct graph *b);

#endif
