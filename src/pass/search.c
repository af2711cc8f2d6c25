/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/search.h"

#include "op/op.h"

/* Nodes are only ever added: those that were counted before stay counted. */
const struct op_census *graph_census(struct pass_context *c, const struct graph *g)
{
    struct op_census *census = &c->census;
    if (census->graph != g)
        *census = (struct op_census){.graph = g};
    for (; census->counted < g->nodes.count; census->counted++) {
        const struct op *op = graph_node(g, (node_id)census->counted)->op;
        if (!op)
            continue;
        census->has[op->id] = true;
        census->layers |= op->layer != NO_LAYER;
        census->copies |= op->may_copy;
    }
    return census;
}

bool graph_may_have(struct pass_context *c, const struct graph *g, enum op_id id)
{
    return graph_census(c, g)->has[id];
}
