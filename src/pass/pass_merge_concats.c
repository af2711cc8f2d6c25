/* SPDX-License-Identifier: Apache-2.0 */
/* A Concat whose result nothing but another Concat along the same axis reads is part of that one. The last one of
 * several takes in all before it at once. */
#include "op/axes.h"
#include "op/op.h"
#include "pass/pass.h"
#include "pass/search.h"

pass_fn pass_merge_concats;

struct merging {
    struct graph *g;
    struct arena *scratch;
    struct uses uses;
    VEC(tensor_id) ahead; /* what is still to be looked at, the next one last */
    VEC(tensor_id) parts;
};

/* The Concat along that axis whose result is joined here alone, or NO_NODE. */
static node_id concat_before(const struct merging *m, tensor_id id, uint32_t axis)
{
    const struct tensor *t = graph_tensor(m->g, id);
    uint32_t own;
    if (t->kind != TENSOR_NATIVE || t->producer == NO_NODE || t->quant || m->uses.count[id] != 1)
        return NO_NODE;
    const struct node *n = graph_node(m->g, t->producer);
    const int64_t last = (int64_t)t->type->shape.rank - 1;
    return node_is(n, OP_Concat) && node_axis(n, last, t->type->shape.rank, &own) && own == axis ? t->producer
                                                                                                 : NO_NODE;
}

static void look_at_inputs(struct merging *m, const struct node *n)
{
    for (uint32_t i = n->n_inputs; i-- > 0;)
        vec_push(m->scratch, &m->ahead, n->inputs[i]);
}

/* Takes the Concats before n away; returns whether there were any. m->parts gets all that they and n join. */
static bool take_in(struct merging *m, const struct node *n, uint32_t axis)
{
    bool found = false;
    m->parts.count = 0;
    look_at_inputs(m, n);
    while (m->ahead.count) {
        const tensor_id id = m->ahead.data[--m->ahead.count];
        const node_id before = concat_before(m, id, axis);
        if (before == NO_NODE) {
            vec_push(m->scratch, &m->parts, id);
            continue;
        }
        found = true;
        look_at_inputs(m, graph_node(m->g, before));
        graph_remove_node(m->g, before);
    }
    return found;
}

/* The node that takes the place of `id`. */
static node_id merge(struct merging *m, node_id id)
{
    const struct node *n = graph_node(m->g, id);
    const uint32_t rank = node_output(m->g, n, 0)->type->shape.rank;
    uint32_t axis;
    if (!node_is(n, OP_Concat) || !node_axis(n, (int64_t)rank - 1, rank, &axis) || !take_in(m, n, axis))
        return id;
    const struct node last = *n;
    graph_remove_node(m->g, id);
    const node_id whole = graph_add_node(m->g, last.op, last.op->n_params, last.name, m->parts.data,
                                         (uint32_t)m->parts.count, last.outputs, 1);
    graph_node(m->g, whole)->source = last.source;
    node_set_int(graph_node(m->g, whole), PARAM_axis, axis);
    return whole;
}

odlc_status pass_merge_concats(struct pass_context *c, struct graph *g)
{
    if (!graph_may_have(c, g, OP_Concat))
        return ODLC_OK;
    struct merging m = {.g = g, .scratch = c->scratch, .uses = graph_uses(c->scratch, g)};
    for (size_t i = g->order.count; i-- > 0;)
        if (graph_node(g, g->order.data[i])->op)
            g->order.data[i] = merge(&m, g->order.data[i]);
    graph_compact(g);
    return ODLC_OK;
}
