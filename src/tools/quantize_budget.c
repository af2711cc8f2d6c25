/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/quantize_budget.h"

#include <string.h>

#include "op/op.h"

const char *quantize_step_text(enum quantize_step step)
{
    static const char *const texts[] = {"as it was", "16 bits", "16 bits, weights too", "float"};
    return texts[step];
}

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
    c->steps = arena_array(arena, enum quantize_step, layers.count);
    struct quantize_mix others = {.floats.names = arena_array(arena, const char *, layers.count)};
    for (size_t i = 0; i < layers.count; i++) {
        double sqnr;
        others.floats.count = 0;
        for (size_t k = 0; k < layers.count; k++)
            if (k != i)
                others.floats.names[others.floats.count++] = layers.data[k];
        TRY(budget->measure(budget->user, &others, &sqnr));
        insert(c, layers.data[i], sqnr);
    }
    c->mix.wide.names = arena_array(arena, const char *, c->count);
    c->mix.wide_weights.names = arena_array(arena, const char *, c->count);
    c->mix.floats.names = arena_array(arena, const char *, c->count);
    return ODLC_OK;
}

/* The `count` layers that hurt most are at one step, the others at another. */
static void mix(struct quantize_choice *c, size_t count, enum quantize_step step, enum quantize_step others)
{
    c->mix.wide.count = c->mix.wide_weights.count = c->mix.floats.count = 0;
    for (size_t i = 0; i < c->count; i++) {
        c->steps[i] = i < count ? step : others;
        if (c->steps[i] == STEP_FLOAT)
            c->mix.floats.names[c->mix.floats.count++] = c->names[i];
        if (c->steps[i] == STEP_ACT || c->steps[i] == STEP_ALL)
            c->mix.wide.names[c->mix.wide.count++] = c->names[i];
        if (c->steps[i] == STEP_ALL)
            c->mix.wide_weights.names[c->mix.wide_weights.count++] = c->names[i];
    }
}

static odlc_status spend(const struct quantize_budget *budget, struct quantize_choice *c)
{
    for (size_t s = 0; s < budget->n_steps; s++)
        for (size_t count = 1; count <= c->count && c->after < budget->least; count++) {
            mix(c, count, budget->steps[s], s ? budget->steps[s - 1] : STEP_NONE);
            TRY(budget->measure(budget->user, &c->mix, &c->after));
        }
    return ODLC_OK;
}

odlc_status quantize_choose(struct arena *arena, struct diags *diags, const struct graph *g,
                            const struct quantize_budget *budget, struct quantize_choice *out)
{
    struct quantize_choice c = {0};
    TRY(budget->measure(budget->user, &c.mix, &c.before));
    c.after = c.before;
    if (!budget->has_least || c.before < budget->least)
        TRY(rank(arena, g, budget, &c));
    if (budget->has_least)
        TRY(spend(budget, &c));
    else
        mix(&c, budget->count, budget->steps[0], STEP_NONE);
    if (budget->has_least && c.after < budget->least)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED,
                          AT(.hint = "--act_bitwidth 16 makes what is computed between layers more precise"),
                          "quantize-budget", "%g dB are not reached: with all %zu layers at %s there are %.2f dB",
                          budget->least, c.count, quantize_step_text(budget->steps[budget->n_steps - 1]), c.after);
    *out = c;
    return ODLC_OK;
}
