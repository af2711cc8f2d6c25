/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass asks before it prepares to walk. */
#ifndef PASS_SEARCH_H
#define PASS_SEARCH_H

#include "ir/graph.h"
#include "op/op_id.h"

/* Whether the graph has a node of that native operator. */
bool graph_has_op(const struct graph *g, enum op_id id);

#endif
