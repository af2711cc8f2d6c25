/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a graph needs when it runs, from its records: for all container versions alike. */
#ifndef API_MEMORY_H
#define API_MEMORY_H

#include "dlc/record.h"
#include "opendlc/container.h"

/* Temporary memory is the arena's. Fills memory, memory_constants, memory_activations and peak. Ops run in
 * stored order; a tensor lives from the op that writes it first to the one that reads it last, outputs of the graph to
 * the end. */
void measure_memory(struct arena *arena, const struct dlc_graph *g, struct odlc_graph *graph);

#endif
