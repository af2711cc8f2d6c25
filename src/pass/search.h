/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass asks before it prepares to walk. Nodes are counted once for all passes of a run, which has each ask at no
 * cost; those that have gone since stay counted, so that the answer may be yes where there is none any more. */
#ifndef PASS_SEARCH_H
#define PASS_SEARCH_H

#include "pass/pass.h"

/* Whether the graph has a node of that native operator, or had one since the passes began. */
bool graph_may_have(struct pass_context *c, const struct graph *g, enum op_id id);
/* All operators that it has or had. Valid until nodes are added. */
const struct op_census *graph_census(struct pass_context *c, const struct graph *g);

#endif
