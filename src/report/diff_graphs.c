/* SPDX-License-Identifier: Apache-2.0 */
/* Containers, their graphs and layers. */
#include <inttypes.h>
#include <string.h>

#include "report/diff.h"

/* Two graphs on their way through the comparison; [0] is of the first container. */
struct graphs {
    const struct odlc_graph *g[2];
    struct diff_pairs ops, tensors;
    const struct odlc_op **owners[2]; /* of each tensor: the layer that it is reported with, or NULL */
};

static const char *const NO_LAYER = NULL;

/* ---- who belongs to whom ---- */

static const char **op_keys(const struct diff *d, const struct odlc_graph *g)
{
    const char **keys = arena_array(d->arena, const char *, g->n_ops);
    for (size_t i = 0; i < g->n_ops; i++)
        keys[i] = d->options->by_id ? arena_printf(d->arena, "%" PRIu32, g->ops[i].id) : g->ops[i].name;
    return keys;
}

static const char **tensor_names(const struct diff *d, const struct odlc_graph *g)
{
    const char **names = arena_array(d->arena, const char *, g->n_tensors);
    for (size_t i = 0; i < g->n_tensors; i++)
        names[i] = g->tensors[i].name;
    return names;
}

/* Operands at the same place of two layers belong together, unless they have partners already. */
static void pair_operands(struct graphs *p, const struct odlc_operand *const operands[2], const size_t counts[2])
{
    for (size_t i = 0; i < counts[0] && i < counts[1]; i++) {
        const struct odlc_tensor *const t[] = {operands[0][i].tensor, operands[1][i].tensor};
        if (!t[0] || !t[1])
            continue;
        size_t first = (size_t)(t[0] - p->g[0]->tensors), second = (size_t)(t[1] - p->g[1]->tensors);
        if (p->tensors.other[0][first] == DIFF_NONE && p->tensors.other[1][second] == DIFF_NONE)
            diff_pair(&p->tensors, first, second);
    }
}

static void pair_by_place(struct graphs *p)
{
    for (size_t i = 0; i < p->ops.n[0]; i++) {
        if (p->ops.other[0][i] == DIFF_NONE)
            continue;
        const struct odlc_op *a = &p->g[0]->ops[i], *b = &p->g[1]->ops[p->ops.other[0][i]];
        pair_operands(p, (const struct odlc_operand *const[]){a->inputs, b->inputs},
                      (const size_t[]){a->n_inputs, b->n_inputs});
        pair_operands(p, (const struct odlc_operand *const[]){a->outputs, b->outputs},
                      (const size_t[]){a->n_outputs, b->n_outputs});
    }
}

static void pair_tensors(struct diff *d, struct graphs *p)
{
    const char *const *const names[] = {tensor_names(d, p->g[0]), tensor_names(d, p->g[1])};
    p->tensors = diff_pairs_create(d->arena, p->g[0]->n_tensors, p->g[1]->n_tensors);
    if (d->options->by_id && !d->versions_differ)
        pair_by_place(p);
    diff_pair_by_key(d->arena, &p->tensors, names);
    if (!d->options->by_id && !d->versions_differ)
        pair_by_place(p);
}

/* The layer that computes a tensor, or the first that reads it. */
static const struct odlc_op **find_owners(struct diff *d, const struct odlc_graph *g)
{
    const struct odlc_op **owners = arena_array(d->arena, const struct odlc_op *, g->n_tensors);
    for (size_t i = 0; i < g->n_ops; i++)
        for (size_t k = 0; k < g->ops[i].n_outputs; k++)
            if (g->ops[i].outputs[k].tensor)
                owners[g->ops[i].outputs[k].tensor - g->tensors] = &g->ops[i];
    for (size_t i = 0; i < g->n_ops; i++)
        for (size_t k = 0; k < g->ops[i].n_inputs; k++) {
            const struct odlc_tensor *t = g->ops[i].inputs[k].tensor;
            if (t && !owners[t - g->tensors])
                owners[t - g->tensors] = &g->ops[i];
        }
    return owners;
}

/* ---- layers ---- */

/* "x, w, -": absent operands are dashes. */
static const char *operand_names(struct diff *d, const struct odlc_operand *operands, size_t count)
{
    text names = {0};
    text_add(d->arena, &names, "%s", "");
    for (size_t i = 0; i < count; i++)
        text_add(d->arena, &names, "%s%s", i ? ", " : "", *operands[i].name ? operands[i].name : "-");
    return names.data;
}

static const char *op_words(struct diff *d, const struct odlc_op *op)
{
    if (!op->package || strcmp(op->package, "qti.aisw") == 0)
        return op->type;
    return arena_printf(d->arena, "%s (package %s)", op->type, op->package);
}

static void compare_params(struct diff *d, const struct odlc_op *first, const struct odlc_op *second);

static void compare_ops(struct diff *d, const struct odlc_op *first, const struct odlc_op *second)
{
    d->layer = first->name;
    if (d->options->by_id)
        diff_compare_text(d, ODLC_DIFF_LAYERS, "name", first->name, second->name);
    if (!d->versions_differ) {
        diff_compare_text(d, ODLC_DIFF_LAYERS, "type", first->type, second->type);
        diff_compare_text(d, ODLC_DIFF_LAYERS, "package", first->package, second->package);
        diff_compare_text(d, ODLC_DIFF_LAYERS, "inputs", operand_names(d, first->inputs, first->n_inputs),
                          operand_names(d, second->inputs, second->n_inputs));
    }
    diff_attributes(d, first, second);
    diff_compare_text(d, ODLC_DIFF_OUTPUTS, "outputs", operand_names(d, first->outputs, first->n_outputs),
                      operand_names(d, second->outputs, second->n_outputs));
    if (!d->versions_differ)
        compare_params(d, first, second);
}

/* A constant that only one side has. */
static void record_absent(struct diff *d, const struct odlc_tensor *t, size_t side)
{
    const char *words = t->dtype;
    if (d->options->selected[ODLC_DIFF_WEIGHTS] && diff_count(d, ODLC_DIFF_WEIGHTS, false))
        diff_record(d, ODLC_DIFF_WEIGHTS, t->name, false, side ? NULL : words, side ? words : NULL);
}

/* Weights that layers of version 3 have of their own. */
static void compare_params(struct diff *d, const struct odlc_op *first, const struct odlc_op *second)
{
    const struct odlc_op *const ops[] = {first, second};
    const char **names[2];
    struct diff_pairs pairs = diff_pairs_create(d->arena, first->n_params, second->n_params);
    for (size_t side = 0; side < 2; side++) {
        names[side] = arena_array(d->arena, const char *, ops[side]->n_params);
        for (size_t i = 0; i < ops[side]->n_params; i++)
            names[side][i] = ops[side]->params[i].name;
    }
    diff_pair_by_key(d->arena, &pairs, (const char *const *const[]){names[0], names[1]});
    for (size_t i = 0; i < pairs.n[0]; i++) {
        if (pairs.other[0][i] == DIFF_NONE)
            record_absent(d, &first->params[i], 0);
        else
            diff_tensors(d, &first->params[i], &second->params[pairs.other[0][i]]);
    }
    for (size_t i = 0; i < pairs.n[1]; i++)
        if (pairs.other[1][i] == DIFF_NONE)
            record_absent(d, &second->params[i], 1);
}

/* Layers of type Input exist in version 3 only; in version 4 a graph input is a tensor. */
static bool is_counterpart_less(const struct diff *d, const struct odlc_op *op)
{
    return d->versions_differ && strcmp(op->type, "Input") == 0;
}

static void record_lonely_op(struct diff *d, const struct odlc_op *op, size_t side)
{
    const char *words = op_words(d, op);
    d->layer = op->name;
    if (d->options->selected[ODLC_DIFF_LAYERS] && !is_counterpart_less(d, op) && diff_count(d, ODLC_DIFF_LAYERS, false))
        diff_record(d, ODLC_DIFF_LAYERS, "layer", false, side ? NULL : words, side ? words : NULL);
}

/* ---- tensors ---- */

static bool has_partner(const struct graphs *p, size_t side, const struct odlc_op *op)
{
    return p->ops.other[side][op - p->g[side]->ops] != DIFF_NONE;
}

/* Tensors of `owner` (NULL: of no layer). What one side lacks is reported where the rest does not tell it: constants
 * of layers that both have, and tensors that no layer uses. */
static void compare_tensors_of(struct diff *d, const struct graphs *p, size_t side, size_t index)
{
    const struct odlc_tensor *t = &p->g[side]->tensors[index];
    const struct odlc_op *owner = p->owners[side][index];
    size_t other = p->tensors.other[side][index];
    d->layer = owner ? owner->name : NO_LAYER;
    if (other != DIFF_NONE && side == 0) {
        diff_tensors(d, t, &p->g[1]->tensors[other]);
    } else if (other == DIFF_NONE && !d->versions_differ) {
        bool constant = strcmp(t->kind, "STATIC") == 0;
        if (constant && (!owner || has_partner(p, side, owner)))
            record_absent(d, t, side);
        else if (!constant && !owner)
            diff_compare_text(d, ODLC_DIFF_TYPES, t->name, side ? NULL : t->kind, side ? t->kind : NULL);
    }
}

/* Indices of a graph's tensors, those of one layer side by side, in the order of layers; those of none come last. */
struct by_owner {
    size_t *start; /* [n_ops + 2]: of each layer's in `order` */
    size_t *order;
};

static struct by_owner sort_by_owner(struct diff *d, const struct odlc_graph *g, const struct odlc_op *const *owners)
{
    struct by_owner sorted = {arena_array(d->arena, size_t, g->n_ops + 3), arena_array(d->arena, size_t, g->n_tensors)};
    for (size_t i = 0; i < g->n_tensors; i++)
        sorted.start[(owners[i] ? (size_t)(owners[i] - g->ops) : g->n_ops) + 2]++;
    for (size_t i = 2; i < g->n_ops + 3; i++)
        sorted.start[i] += sorted.start[i - 1];
    for (size_t i = 0; i < g->n_tensors; i++)
        sorted.order[sorted.start[(owners[i] ? (size_t)(owners[i] - g->ops) : g->n_ops) + 1]++] = i;
    return sorted;
}

static void compare_side(struct diff *d, const struct graphs *p, size_t side)
{
    const struct odlc_graph *g = p->g[side];
    struct by_owner sorted = sort_by_owner(d, g, p->owners[side]);
    for (size_t i = 0; i <= g->n_ops && !d->stopped; i++) {
        struct arena_mark mark = arena_mark(d->arena);
        size_t before = d->list.count;
        if (i < g->n_ops && p->ops.other[side][i] == DIFF_NONE)
            record_lonely_op(d, &g->ops[i], side);
        else if (i < g->n_ops && side == 0)
            compare_ops(d, &g->ops[i], &p->g[1]->ops[p->ops.other[0][i]]);
        for (size_t k = sorted.start[i]; k < sorted.start[i + 1]; k++)
            compare_tensors_of(d, p, side, sorted.order[k]);
        if (d->list.count == before) /* the texts of what is the same */
            arena_rewind(d->arena, mark);
    }
}

static const char *names_of(struct diff *d, const struct odlc_tensor *const *tensors, size_t count)
{
    text names = {0};
    text_add(d->arena, &names, "%s", "");
    for (size_t i = 0; i < count; i++)
        text_add(d->arena, &names, "%s%s", i ? ", " : "", tensors[i]->name);
    return names.data;
}

void diff_graphs(struct diff *d, const struct odlc_graph *first, const struct odlc_graph *second)
{
    struct graphs p = {.g = {first, second},
                       .ops = diff_pairs_create(d->arena, first->n_ops, second->n_ops),
                       .owners = {find_owners(d, first), find_owners(d, second)}};
    diff_pair_by_key(d->arena, &p.ops, (const char *const *const[]){op_keys(d, first), op_keys(d, second)});
    pair_tensors(d, &p);
    d->graph = first->name;
    d->layer = NO_LAYER;
    diff_compare_text(d, ODLC_DIFF_METADATA, "name of the graph", first->name, second->name);
    diff_compare_text(d, ODLC_DIFF_OUTPUTS, "inputs of the graph", names_of(d, first->inputs, first->n_inputs),
                      names_of(d, second->inputs, second->n_inputs));
    diff_compare_text(d, ODLC_DIFF_OUTPUTS, "outputs of the graph", names_of(d, first->outputs, first->n_outputs),
                      names_of(d, second->outputs, second->n_outputs));
    for (size_t side = 0; side < 2; side++)
        compare_side(d, &p, side);
}
