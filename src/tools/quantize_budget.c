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

static bool has_weights(const struct graph *g, const struct node *n)
{
    const struct tensor *t = node_input(g, n, 1);
    return t && t->kind == TENSOR_STATIC;
}

static odlc_status measure(const struct quantize_budget *budget, struct quantize_choice *c,
                           const struct quantize_mix *mix, double *sqnr)
{
    const struct quantize_trial trial = {.mix = mix, .number = c->trials++, .most = c->most_trials};
    return budget->measure(budget->user, &trial, sqnr);
}

/* Before those that hurt less; of one SQNR in the graph's order. */
static void insert(struct quantize_choice *c, const char *name, bool is_weighted, double sqnr)
{
    size_t at = c->count++;
    for (; at > 0 && c->alone[at - 1] > sqnr; at--) {
        c->names[at] = c->names[at - 1];
        c->is_weighted[at] = c->is_weighted[at - 1];
        c->alone[at] = c->alone[at - 1];
    }
    c->names[at] = name;
    c->is_weighted[at] = is_weighted;
    c->alone[at] = sqnr;
}

/* That many trials: one as it is, one a layer, those of doubled numbers at each step, and of halves at the last. */
static size_t most_trials(const struct quantize_budget *budget, size_t layers)
{
    size_t doublings = 1;
    for (size_t count = 1; count < layers; count *= 2)
        doublings++;
    return 1 + layers + (budget->has_least ? (budget->n_steps + 1) * doublings : 0);
}

static odlc_status rank(struct arena *arena, const struct graph *g, const struct quantize_budget *budget,
                        struct quantize_choice *c)
{
    VEC(const struct node *) layers = {0};
    for (size_t i = 0; i < g->order.count; i++)
        if (is_layer(graph_node(g, g->order.data[i])))
            vec_push(arena, &layers, graph_node(g, g->order.data[i]));
    c->most_trials = most_trials(budget, layers.count);
    c->names = arena_array(arena, const char *, layers.count);
    c->is_weighted = arena_array(arena, bool, layers.count);
    c->alone = arena_array(arena, double, layers.count);
    c->steps = arena_array(arena, enum quantize_step, layers.count);
    struct quantize_mix others = {.floats.names = arena_array(arena, const char *, layers.count)};
    for (size_t i = 0; i < layers.count; i++) {
        double sqnr;
        others.floats.count = 0;
        for (size_t k = 0; k < layers.count; k++)
            if (k != i)
                others.floats.names[others.floats.count++] = layers.data[k]->name;
        TRY(measure(budget, c, &others, &sqnr));
        insert(c, layers.data[i]->name, has_weights(g, layers.data[i]), sqnr);
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
        if (c->steps[i] == STEP_ALL && c->is_weighted[i])
            c->mix.wide_weights.names[c->mix.wide_weights.count++] = c->names[i];
    }
}

static odlc_status try_step(const struct quantize_budget *budget, struct quantize_choice *c, size_t count, size_t s,
                            double *sqnr)
{
    mix(c, count, budget->steps[s], s ? budget->steps[s - 1] : STEP_NONE);
    return measure(budget, c, &c->mix, sqnr);
}

/* `few` are too few, `enough` are not: by halves, a number that is enough while one less is not. */
static odlc_status find_fewest(const struct quantize_budget *budget, struct quantize_choice *c, size_t few,
                               size_t enough, size_t s)
{
    while (enough - few > 1) {
        const size_t middle = few + (enough - few) / 2;
        double sqnr;
        TRY(try_step(budget, c, middle, s, &sqnr));
        if (sqnr < budget->least) {
            few = middle;
            continue;
        }
        enough = middle;
        c->after = sqnr;
    }
    mix(c, enough, budget->steps[s], s ? budget->steps[s - 1] : STEP_NONE);
    return ODLC_OK;
}

/* 1, 2, 4, … of the layers, and all of them, until that is enough. */
static odlc_status spend_on_step(const struct quantize_budget *budget, struct quantize_choice *c, size_t s)
{
    size_t few = 0, count = 1;
    while (few < c->count) {
        TRY(try_step(budget, c, count, s, &c->after));
        if (c->after >= budget->least)
            return find_fewest(budget, c, few, count, s);
        few = count;
        count = count * 2 < c->count ? count * 2 : c->count;
    }
    return ODLC_OK;
}

/* More layers may give less: before that is an error, each number of them is tried. */
static odlc_status spend_on_any(const struct quantize_budget *budget, struct quantize_choice *c)
{
    c->most_trials = c->trials + c->count;
    for (size_t count = 1; count <= c->count && c->after < budget->least; count++)
        TRY(try_step(budget, c, count, budget->n_steps - 1, &c->after));
    return ODLC_OK;
}

static odlc_status spend(const struct quantize_budget *budget, struct quantize_choice *c)
{
    for (size_t s = 0; s < budget->n_steps && c->after < budget->least; s++)
        TRY(spend_on_step(budget, c, s));
    return c->after < budget->least ? spend_on_any(budget, c) : ODLC_OK;
}

odlc_status quantize_choose(struct arena *arena, struct diags *diags, const struct graph *g,
                            const struct quantize_budget *budget, struct quantize_choice *out)
{
    struct quantize_choice c = {0};
    TRY(measure(budget, &c, &c.mix, &c.before));
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
