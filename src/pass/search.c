/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/search.h"

bool graph_has_op(const struct graph *g, enum op_id id)
{
    for (size_t i = 0; i < g->order.count; i++)
        if (node_is(graph_node(g, g->order.data[i]), id))
            return true;
    return false;
}
