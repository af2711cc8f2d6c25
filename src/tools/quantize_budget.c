/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/quantize_budget.h"

#include <string.h>

#include "op/op.h"

static bool is_layer(const struct node *n)
{
    return n->op->layer != NO_LAYER || node_is(n, OP_MatMul);
}

/* Before those that hurt less; of one SQNR in the graph's order. */
static void insert(struct quantize_choice *c, const char *name, double sqnr)
{
    size_t at = c->count++;
    for (; at > 0 && c->alone[at - 1] > sqnr; at--) {
        c->names[at] = c->names[at - 1];
        c->alone[at] = c->alone[at - 1];
    }
    c->names[at] = name;
    c->alone[at] = sqnr;
}

static odlc_status rank(struct arena *arena, const struct graph *g, const struct quantize_budget *budget,
                        struct quantize_choice *c)
{
    VEC(const char *) layers = {0};
    for (size_t i = 0; i < g->order.count; i++)
        if (is_layer(graph_node(g, g->order.data[i])))
            vec_push(arena, &layers, arena_strdup(arena, graph_node(g, g->order.data[i])->name));
    c->names = arena_array(arena, const char *, layers.count);
    c->alone = arena_array(arena, double, layers.count);
    const char **others = arena_array(arena, const char *, layers.count);
    for (size_t i = 0; i < layers.count; i++) {
        double sqnr;
        size_t count = 0;
        for (size_t k = 0; k < layers.count; k++)
            if (k != i)
                others[count++] = layers.data[k];
        TRY(budget->measure(budget->user, others, count, &sqnr));
        insert(c, layers.data[i], sqnr);
    }
    return ODLC_OK;
}

odlc_status quantize_choose(struct arena *arena, struct diags *diags, const struct graph *g,
                            const struct quantize_budget *budget, struct quantize_choice *out)
{
    struct quantize_choice c = {0};
    TRY(budget->measure(budget->user, NULL, 0, &c.before));
    double sqnr = c.before;
    if (!budget->has_least || sqnr < budget->least)
        TRY(rank(arena, g, budget, &c));
    const size_t all = c.count;
    c.count = budget->has_least ? 0 : min_u64(budget->count, all);
    while (budget->has_least && sqnr < budget->least && c.count < all)
        TRY(budget->measure(budget->user, c.names, ++c.count, &sqnr));
    if (budget->has_least && sqnr < budget->least)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED,
                          AT(.hint = "--act_bitwidth 16 makes what is computed between layers more precise"),
                          "quantize-budget", "%g dB are not reached: with all %zu layers in float there are %.2f dB",
                          budget->least, all, sqnr);
    *out = c;
    return ODLC_OK;
}
