/* SPDX-License-Identifier: Apache-2.0 */
/* Ensembles of decision trees: TreeEnsembleRegressor, TreeEnsembleClassifier, TreeEnsemble.
 *
 * All rows walk down all trees together, a level of branches at a time: `at` [rows, trees] holds the node where each
 * row is in each tree, what a node looks at and is followed by is gathered from tables, and a leaf is followed by
 * itself. Comparisons are those of float32 numbers, which are exact. Sums are: of a weight per tree. */
#include <math.h>
#include <string.h>

#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/classic.h"
#include "converters/onnx/lower/forest.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- the walk ---- */

struct walk {
    struct emit *s;
    const struct forest *f;
    enum dtype result;
    tensor_id x;                               /* [rows, features] */
    tensor_id feature, split, yes, no;         /* tables by node */
    tensor_id is[N_BRANCHES], missing;         /* flags by node; NO_TENSOR where one answer holds for all branches */
    bool has[N_BRANCHES], has_missing, is_one; /* branches there are; of one kind alone */
};

static tensor_id table(const struct walk *w, enum dtype dtype, const double *values)
{
    return emit_constant(w->s, dtype, &SHAPE(w->f->n_nodes), values);
}

static tensor_id flags_of(const struct walk *w, enum branch kind)
{
    double *flags = arena_array(w->s->l->arena, double, w->f->n_nodes);
    for (uint32_t i = 0; i < w->f->n_nodes; i++)
        flags[i] = w->f->kind[i] == kind;
    return table(w, DT_BOOL, flags);
}

static void start_walk(struct walk *w)
{
    const struct forest *f = w->f;
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < f->n_nodes; i++)
        if (f->kind[i] != LEAF) {
            kinds += !w->has[f->kind[i]];
            w->has[f->kind[i]] = true;
            w->has_missing |= f->missing[i] != 0;
        }
    w->is_one = kinds == 1;
    w->feature = table(w, DT_INT32, f->feature);
    w->split = table(w, DT_FLOAT32, f->split);
    w->yes = table(w, DT_INT32, f->yes);
    w->no = table(w, DT_INT32, f->no);
    for (int kind = 0; kind < N_BRANCHES; kind++)
        w->is[kind] = w->has[kind] && !w->is_one ? flags_of(w, (enum branch)kind) : NO_TENSOR;
    w->missing = w->has_missing ? table(w, DT_BOOL, f->missing) : NO_TENSOR;
}

static tensor_id either(struct emit *s, tensor_id a, tensor_id b)
{
    return a == NO_TENSOR ? b : emit_binary(s, OP_ElementWiseOr, a, b);
}

/* Whether each row takes the yes side of the nodes where it is. */
static tensor_id takes_yes(const struct walk *w, tensor_id at, tensor_id value)
{
    static const enum op_id comparisons[N_BRANCHES] = {OP_ElementWiseLessEqual,    OP_ElementWiseLess,
                                                       OP_ElementWiseGreaterEqual, OP_ElementWiseGreater,
                                                       OP_ElementWiseEqual,        OP_ElementWiseNotEqual};
    struct emit *s = w->s;
    tensor_id split = emit_gather(s, w->split, at, 0), yes = NO_TENSOR;
    for (int kind = 0; kind < N_BRANCHES; kind++)
        if (w->has[kind]) {
            tensor_id holds = emit_binary(s, comparisons[kind], value, split);
            if (!w->is_one)
                holds = emit_binary(s, OP_ElementWiseAnd, holds, emit_gather(s, w->is[kind], at, 0));
            yes = either(s, yes, holds);
        }
    if (!w->has_missing)
        return yes;
    tensor_id is_nan = emit_binary(s, OP_ElementWiseNotEqual, value, value);
    is_nan = emit_binary(s, OP_ElementWiseAnd, is_nan, emit_gather(s, w->missing, at, 0));
    return either(s, yes, is_nan);
}

/* The features that the nodes look at: of one list of nodes for all rows, or of the nodes of each row. */
static tensor_id features_at(const struct walk *w, tensor_id at, bool for_all_rows)
{
    struct emit *s = w->s;
    tensor_id feature = emit_gather(s, w->feature, at, 0), out = NO_TENSOR;
    if (for_all_rows || s->status != ODLC_OK)
        return emit_gather(s, w->x, feature, 1);
    const char *name = step_name(s->l, "GatherElements");
    build_op(s->l->b, OP_GatherElements, name);
    build_in(s->l->b, w->x);
    build_in(s->l->b, feature);
    build_int(s->l->b, PARAM_axis, 1);
    s->status = build_end(s->l->b, name, &out);
    return out;
}

/* The leaf of each row in each tree: [rows, trees]. */
static tensor_id walk_down(struct walk *w)
{
    struct emit *s = w->s;
    const struct forest *f = w->f;
    const int64_t rows = build_type(s->l->b, w->x)->shape.dims[0];
    double *roots = arena_array(s->l->arena, double, f->n_trees);
    for (uint32_t i = 0; i < f->n_trees; i++)
        roots[i] = f->roots[i];
    tensor_id at = emit_constant(s, DT_INT32, &SHAPE(f->n_trees), roots);
    if (f->n_levels == 0)
        return emit_broadcast(s, at, &SHAPE(rows, f->n_trees));
    start_walk(w);
    for (uint32_t level = 0; level < f->n_levels && s->status == ODLC_OK; level++) {
        tensor_id value = features_at(w, at, level == 0);
        tensor_id goes = takes_yes(w, at, value);
        tensor_id yes = emit_gather(s, w->yes, at, 0);
        tensor_id no = emit_gather(s, w->no, at, 0);
        at = emit_select(s, goes, yes, no);
    }
    return at;
}

/* ---- scores ---- */

/* Notes the targets that some leaf of the tree, which has that root and number, has no weight of; seen: the last tree
 * that led to a node, counted from 1. */
static void note_lacks(const struct forest *f, uint32_t tree, uint32_t *way, uint32_t *seen, bool *lacks)
{
    size_t count = 1;
    way[0] = f->roots[tree];
    while (count) {
        const uint32_t at = way[--count];
        for (int64_t target = 0; f->kind[at] == LEAF && target < f->n_targets; target++)
            lacks[target] |= isnan(f->weights[at * f->n_targets + target]);
        for (int side = 0; side < 2 && f->kind[at] != LEAF; side++) {
            const uint32_t next = (uint32_t)(side ? f->no : f->yes)[at];
            if (seen[next] != tree + 1)
                way[count++] = next;
            seen[next] = tree + 1;
        }
    }
}

/* ODLC_ERR_UNSUPPORTED where a score may get no weight at all, whose minimum, or sum with a base value, runtimes do not
 * agree on: no tree has a weight of it in every leaf. */
static odlc_status need_weights(const struct lower *l, const struct forest *f)
{
    const size_t n_targets = (size_t)f->n_targets;
    uint32_t *way = arena_array(l->scratch, uint32_t, f->n_nodes),
             *seen = arena_array(l->scratch, uint32_t, f->n_nodes);
    bool *always = arena_array(l->scratch, bool, n_targets);
    bool *lacks = arena_array(l->scratch, bool, n_targets);
    memset(always, 0, n_targets);
    memset(seen, 0, f->n_nodes * sizeof *seen);
    for (uint32_t i = 0; i < f->n_trees; i++) {
        memset(lacks, 0, n_targets);
        note_lacks(f, i, way, seen, lacks);
        for (size_t target = 0; target < n_targets; target++)
            always[target] |= !lacks[target];
    }
    for (size_t target = 0; target < n_targets; target++)
        if (!always[target])
            return lower_unsupported(l, NULL, NULL, "each tree has leaves without a weight of score %zu", target);
    return ODLC_OK;
}

/* Weights of leaves joined over the trees, and base values (NULL: none): [rows, targets]. */
static tensor_id join_weights(struct walk *w, enum aggregate by, const double *base)
{
    struct emit *s = w->s;
    const struct forest *f = w->f;
    const int64_t axis = 1;
    const double none = by == AGGREGATE_MIN ? INFINITY : by == AGGREGATE_MAX ? -INFINITY : 0;
    for (uint64_t i = 0; i < (uint64_t)f->n_nodes * (uint64_t)f->n_targets; i++)
        if (isnan(f->weights[i]))
            f->weights[i] = none;
    tensor_id weights = emit_constant(s, DT_FLOAT32, &SHAPE(f->n_nodes, f->n_targets), f->weights);
    tensor_id scores = emit_gather(s, weights, walk_down(w), 0);
    scores = emit_reduce(s,
                         by == AGGREGATE_MIN   ? OP_ReduceMin
                         : by == AGGREGATE_MAX ? OP_ReduceMax
                                               : OP_ReduceSum,
                         scores, &axis, 1, false);
    if (by == AGGREGATE_AVERAGE && s->status == ODLC_OK)
        scores = emit_binary(s, OP_ElementWiseDivide, scores, emit_scalar(s, scores, f->n_trees));
    if (base)
        scores = emit_binary(s, OP_ElementWiseAdd, scores, emit_constant(s, DT_FLOAT32, &SHAPE(f->n_targets), base));
    return scores;
}

static odlc_status give_regression(struct walk *w, enum aggregate by, const double *base, enum scores_as as)
{
    if (base || by == AGGREGATE_MIN || by == AGGREGATE_MAX)
        TRY(need_weights(w->s->l, w->f));
    tensor_id scores = join_weights(w, by, base);
    scores = classic_transform(w->s, scores, as);
    return emit_give(w->s, 0, emit_cast(w->s, scores, w->result));
}

static odlc_status base_values(const struct lower *l, uint32_t count, const double **out, uint32_t *found)
{
    TRY(forest_numbers(l, "base_values", out, found));
    if (*found && *found != count)
        return lower_invalid(l, "base_values", NULL, "%u base values for %u scores", *found, count);
    return ODLC_OK;
}

odlc_status lower_tree_ensemble_regressor(struct lower *l)
{
    static const struct choice aggregates[] = {
        {"AVERAGE", AGGREGATE_AVERAGE}, {"SUM", AGGREGATE_SUM}, {"MIN", AGGREGATE_MIN}, {"MAX", AGGREGATE_MAX}};
    struct emit s = {.l = l};
    struct forest f;
    struct walk w = {.s = &s, .f = &f, .result = DT_FLOAT32};
    enum scores_as as;
    int64_t n_targets, features;
    int by;
    const double *base;
    uint32_t n_base;
    TRY(lower_attr_int(l, "n_targets", 1, &n_targets));
    TRY(lower_choose(l, "aggregate_function", "SUM", aggregates, COUNT_OF(aggregates), &by));
    TRY(classic_post_transform(l, n_targets, &as));
    TRY(classic_features(&s, &w.x, &features));
    TRY(forest_read(l, "target", n_targets, features, &f));
    TRY(base_values(l, (uint32_t)n_targets, &base, &n_base));
    return give_regression(&w, (enum aggregate)by, base, as);
}

odlc_status lower_tree_ensemble(struct lower *l)
{
    static const enum scores_as transforms[] = {SCORES_PLAIN, SCORES_SOFTMAX, SCORES_LOGISTIC, SCORES_SOFTMAX_ZERO};
    struct emit s = {.l = l};
    struct forest f;
    struct walk w = {.s = &s, .f = &f};
    int64_t n_targets, features, by, transform;
    TRY(lower_attr_int(l, "n_targets", 1, &n_targets));
    TRY(lower_attr_int(l, "aggregate_function", AGGREGATE_SUM, &by));
    TRY(lower_attr_int(l, "post_transform", 0, &transform));
    if (by < AGGREGATE_AVERAGE || by > AGGREGATE_MAX)
        return lower_invalid(l, "aggregate_function", NULL, "the aggregate function %lld is not known", (long long)by);
    if (transform < 0 || transform > 4)
        return lower_invalid(l, "post_transform", NULL, "the transform %lld is not known", (long long)transform);
    if (transform == 4)
        return lower_unsupported(l, "post_transform", NULL, "the container has no op for the probit function");
    if (transform && n_targets == 1)
        return lower_unsupported(l, "post_transform", NULL,
                                 "runtimes do not agree on what a transform of one score per row is");
    TRY(classic_features(&s, &w.x, &features));
    w.result = build_type(l->b, l->in[0])->dtype;
    TRY(forest_read_ensemble(l, n_targets, features, &f));
    return give_regression(&w, (enum aggregate)by, NULL, transforms[transform]);
}

/* ---- TreeEnsembleClassifier ---- */

/* Two classes with weights of the first score alone: that is the second class's. Without negative weights the score is
 * a probability, else a margin. */
static odlc_status give_two_classes(struct walk *w, const double *base, const struct labels *labels)
{
    struct emit *s = w->s;
    const bool margin = w->f->any_negative;
    bool logistic;
    TRY(classic_one_score(s->l, true, &logistic));
    tensor_id score = join_weights(w, AGGREGATE_SUM, base);
    TRY(s->status);
    TRY(classic_give_label_above(s, labels, score, margin ? 0 : 0.5));
    return classic_give_both(s, score, logistic, margin);
}

odlc_status lower_tree_ensemble_classifier(struct lower *l)
{
    struct emit s = {.l = l};
    struct labels labels;
    struct forest f;
    struct walk w = {.s = &s, .f = &f};
    enum scores_as as;
    int64_t features;
    const double *base;
    uint32_t n_base;
    TRY(classic_labels(l, "classlabels_int64s", &labels));
    TRY(classic_features(&s, &w.x, &features));
    TRY(forest_read(l, "class", labels.count, features, &f));
    if (labels.count < 2)
        return lower_unsupported(l, "classlabels_int64s", NULL, "a classifier of one class");
    if (labels.count == 2 && !f.all_of_first)
        return lower_unsupported(l, "class_ids", NULL,
                                 "two classes of which each has weights: runtimes do not agree on the label");
    if (labels.count == 2) { /* the second of each two weights is none */
        for (uint32_t i = 0; i < f.n_nodes; i++)
            f.weights[i] = f.weights[2 * (size_t)i];
        f.n_targets = 1;
    }
    TRY(base_values(l, labels.count == 2 ? 1 : labels.count, &base, &n_base));
    if (labels.count == 2)
        return give_two_classes(&w, base, &labels);
    TRY(classic_post_transform(l, labels.count, &as));
    tensor_id scores = join_weights(&w, AGGREGATE_SUM, base);
    TRY(classic_give_label_of(&s, &labels, scores));
    return emit_give(&s, 1, classic_transform(&s, scores, as));
}
