/* SPDX-License-Identifier: Apache-2.0 */
/* The costs of a container's ops: parameters, multiply-accumulates, memory. */
#ifndef API_COST_H
#define API_COST_H

#include "dlc/record.h"
#include "opendlc/container.h"

/* Temporary memory is the arena's. Fills the cost fields of graph->ops (which `ops` names writably) and of
 * the graph, for graph `index` of the file. A v4 graph that cannot be interpreted leaves graph->counted 0 and a
 * warning. */
void count_graph(struct arena *arena, struct diags *diags, const struct dlc_file *dlc, uint32_t index,
                 struct odlc_graph *graph, struct odlc_op *ops);

#endif
