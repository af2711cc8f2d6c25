/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converters/onnx/lower/classic.h"
#include "converters/onnx/lower/forest.h"

enum { MOST_LEVELS = 128 }; /* of branches, some nodes of the graph each */

/* ---- lists of attributes ---- */

odlc_status forest_numbers(const struct lower *l, const char *name, const double **out, uint32_t *count)
{
    const struct fw_attr *list = fw_find_attr(l->node, name);
    const char *tensor_name = arena_printf(l->arena, "%s_as_tensor", name);
    const struct fw_attr *tensor = fw_find_attr(l->node, tensor_name);
    *out = NULL;
    *count = 0;
    if (tensor && tensor->kind == FW_TENSOR)
        return classic_numbers(l, tensor_name, &tensor->tensor->view, out, count);
    if (!list || list->kind != FW_FLOATS || list->count == 0)
        return ODLC_OK;
    const struct view view = view_of(list->floats, DT_FLOAT32, &SHAPE((int64_t)list->count));
    return classic_numbers(l, name, &view, out, count);
}

static odlc_status ints_of(const struct lower *l, const char *name, uint32_t count, const int64_t **out)
{
    uint32_t found;
    TRY(lower_attr_ints(l, name, out, &found));
    if (found != count)
        return lower_invalid(l, name, NULL, "%s has %u entries, not %u", name, found, count);
    return ODLC_OK;
}

/* A flag for each of so many branches; NULL: there is no such list. */
static odlc_status missing_of(const struct lower *l, uint32_t count, const int64_t **out)
{
    static const char name[] = "nodes_missing_value_tracks_true";
    *out = NULL;
    return lower_has_attr(l, name) ? ints_of(l, name, count, out) : ODLC_OK;
}

static odlc_status start_forest(struct lower *l, uint64_t n_nodes, int64_t n_targets, struct forest *f)
{
    if (n_nodes == 0 || n_nodes > INT32_MAX || n_targets < 1 || n_targets > INT32_MAX)
        return lower_invalid(l, NULL, NULL, "%llu nodes of trees for %lld scores", (unsigned long long)n_nodes,
                             (long long)n_targets);
    *f = (struct forest){.n_nodes = (uint32_t)n_nodes, .n_targets = n_targets, .all_of_first = true};
    f->kind = arena_array(l->arena, uint8_t, n_nodes);
    f->feature = arena_array(l->arena, double, n_nodes);
    f->split = arena_array(l->arena, double, n_nodes);
    f->yes = arena_array(l->arena, double, n_nodes);
    f->no = arena_array(l->arena, double, n_nodes);
    f->missing = arena_array(l->arena, double, n_nodes);
    f->roots = arena_array(l->arena, uint32_t, n_nodes);
    TRY(lower_table(l, n_nodes * (uint64_t)n_targets, sizeof *f->weights, &f->weights));
    for (uint64_t i = 0; i < n_nodes * (uint64_t)n_targets; i++)
        f->weights[i] = NAN;
    return ODLC_OK;
}

/* ---- branches ---- */

/* The float32 to compare with. Features that are float32's are split by it as by the number: none lies between the two.
 * Those that were doubles are rounded as numbers are; what was equal stays equal. */
static double split_in_floats(const struct lower *l, enum branch kind, double number)
{
    const float near = (float)number;
    if (build_type(l->b, l->in[0])->dtype == DT_FLOAT64 || (double)near == number || isnan(number))
        return (double)near;
    if (kind == BRANCH_EQ || kind == BRANCH_NEQ)
        return NAN;
    if (kind == BRANCH_LEQ || kind == BRANCH_GT)
        return (double)near > number ? (double)nextafterf(near, -INFINITY) : (double)near;
    return (double)near < number ? (double)nextafterf(near, INFINITY) : (double)near;
}

static odlc_status set_branch(const struct lower *l, struct forest *f, uint32_t i, int64_t feature, int64_t features,
                              double split)
{
    if (feature < 0 || feature >= features)
        return lower_invalid(l, "nodes_featureids", NULL, "a branch looks at feature %lld of %lld", (long long)feature,
                             (long long)features);
    f->feature[i] = (double)feature;
    f->split[i] = split_in_floats(l, (enum branch)f->kind[i], split);
    return ODLC_OK;
}

static void set_leaf(struct forest *f, uint32_t i)
{
    f->kind[i] = LEAF;
    f->yes[i] = f->no[i] = i;
}

static odlc_status set_weight(const struct lower *l, struct forest *f, uint32_t i, int64_t target, double weight)
{
    if (target < 0 || target >= f->n_targets)
        return lower_invalid(l, NULL, NULL, "a leaf has a weight of score %lld of %lld", (long long)target,
                             (long long)f->n_targets);
    double *place = &f->weights[i * f->n_targets + target];
    if (!isnan(*place) || isnan(weight))
        return lower_invalid(l, NULL, NULL, "a leaf has two weights of score %lld, or one that is no number",
                             (long long)target);
    *place = weight;
    f->any_negative |= weight < 0;
    f->all_of_first &= target == 0;
    return ODLC_OK;
}

/* Walks down from all roots at once; a node that several ways lead to is one of a level. There is no way back.
 * *reached: nodes, counted once a level. */
static odlc_status count_levels(const struct lower *l, struct forest *f, size_t *reached)
{
    uint32_t *level = arena_array(l->scratch, uint32_t, f->n_nodes),
             *next = arena_array(l->scratch, uint32_t, f->n_nodes);
    uint32_t *seen = arena_array(l->scratch, uint32_t, f->n_nodes); /* the level behind the last that a node is of */
    size_t count = f->n_trees;
    memset(seen, 0, f->n_nodes * sizeof *seen);
    memcpy(level, f->roots, count * sizeof *level);
    *reached = count;
    for (f->n_levels = 0;; f->n_levels++) {
        size_t n_next = 0;
        for (size_t i = 0; i < count; i++)
            for (int side = 0; side < 2 && f->kind[level[i]] != LEAF; side++) {
                const uint32_t at = (uint32_t)(side ? f->no : f->yes)[level[i]];
                if (seen[at] != f->n_levels + 1)
                    next[n_next++] = at;
                seen[at] = f->n_levels + 1;
            }
        if (n_next == 0)
            return ODLC_OK;
        *reached += n_next;
        if (f->n_levels == MOST_LEVELS)
            return lower_unsupported(l, NULL, NULL, "a tree of more than %d levels of branches", MOST_LEVELS);
        uint32_t *done = level;
        level = next;
        next = done;
        count = n_next;
    }
}

/* ---- TreeEnsembleRegressor, TreeEnsembleClassifier: nodes by the numbers of a tree and of a node in it ---- */

struct place {
    int64_t tree, node;
    uint32_t at;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static odlc_status find_place(const struct lower *l, const struct place *places, uint32_t count, int64_t tree,
                              int64_t node, uint32_t *at)
{
    const struct place wanted = {.tree = tree, .node = node};
    const struct place *found = bsearch(&wanted, places, count, sizeof *places, by_place);
    if (!found)
        return lower_invalid(l, NULL, NULL, "tree %lld has no node %lld", (long long)tree, (long long)node);
    *at = found->at;
    return ODLC_OK;
}

struct lists {
    const int64_t *trees, *nodes, *features, *yes, *no, *missing;
    const double *splits;
    const char *const *modes;
};

static odlc_status read_lists(struct lower *l, struct lists *n, uint32_t *count)
{
    uint32_t n_modes, n_splits;
    TRY(lower_attr_strings(l, "nodes_modes", &n->modes, count));
    n_modes = *count;
    TRY(ints_of(l, "nodes_treeids", n_modes, &n->trees));
    TRY(ints_of(l, "nodes_nodeids", n_modes, &n->nodes));
    TRY(ints_of(l, "nodes_featureids", n_modes, &n->features));
    TRY(ints_of(l, "nodes_truenodeids", n_modes, &n->yes));
    TRY(ints_of(l, "nodes_falsenodeids", n_modes, &n->no));
    TRY(missing_of(l, n_modes, &n->missing));
    TRY(forest_numbers(l, "nodes_values", &n->splits, &n_splits));
    if (n_splits != n_modes)
        return lower_invalid(l, "nodes_values", NULL, "nodes_values has %u entries, not %u", n_splits, n_modes);
    return ODLC_OK;
}

static odlc_status branch_of(const struct lower *l, const char *mode, uint8_t *out)
{
    static const char *const names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(mode, names[i]) == 0) {
            *out = (uint8_t)i;
            return ODLC_OK;
        }
    *out = LEAF;
    if (strcmp(mode, "LEAF") == 0)
        return ODLC_OK;
    return lower_invalid(l, "nodes_modes", NULL, "the mode \"%s\" is not known", mode);
}

/* Nodes, with a place each that is known by now; how many parents a node has. */
static odlc_status link_nodes(struct lower *l, const struct lists *n, const struct place *places, int64_t features,
                              struct forest *f, uint32_t *parents)
{
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        uint32_t sides[2];
        TRY(branch_of(l, n->modes[i], &f->kind[i]));
        if (f->kind[i] == LEAF) {
            set_leaf(f, i);
            continue;
        }
        TRY(set_branch(l, f, i, n->features[i], features, n->splits[i]));
        TRY(find_place(l, places, f->n_nodes, n->trees[i], n->yes[i], &sides[0]));
        TRY(find_place(l, places, f->n_nodes, n->trees[i], n->no[i], &sides[1]));
        f->yes[i] = sides[0];
        f->no[i] = sides[1];
        f->missing[i] = n->missing && n->missing[i] ? 1 : 0;
        parents[sides[0]]++;
        parents[sides[1]]++;
    }
    return ODLC_OK;
}

/* A tree has one root, and no node has two parents. */
static odlc_status find_roots(const struct lower *l, const struct place *places, const uint32_t *parents,
                              struct forest *f)
{
    uint32_t before = 0; /* roots of the trees before */
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        const struct place *p = &places[i];
        const bool last = i + 1 == f->n_nodes || p->tree != p[1].tree;
        if (!last && p->node == p[1].node)
            return lower_invalid(l, "nodes_nodeids", NULL, "tree %lld has two nodes %lld", (long long)p->tree,
                                 (long long)p->node);
        if (parents[p->at] > 1)
            return lower_invalid(l, NULL, NULL, "node %lld of tree %lld has several parents", (long long)p->node,
                                 (long long)p->tree);
        if (parents[p->at] == 0)
            f->roots[f->n_trees++] = p->at;
        if (last && f->n_trees != before + 1)
            return lower_invalid(l, NULL, NULL, "tree %lld has %u roots", (long long)p->tree, f->n_trees - before);
        before = last ? f->n_trees : before;
    }
    return ODLC_OK;
}

/* The lists <prefix>_treeids, <prefix>_nodeids, <prefix>_ids and <prefix>_weights. Weights of branches count for
 * nothing. */
static odlc_status read_weights(struct lower *l, const char *prefix, const struct place *places, struct forest *f)
{
    static const char *const names[] = {"treeids", "nodeids", "ids"};
    const int64_t *ids[3];
    const double *weights;
    uint32_t count, at;
    TRY(forest_numbers(l, arena_printf(l->arena, "%s_weights", prefix), &weights, &count));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        TRY(ints_of(l, arena_printf(l->arena, "%s_%s", prefix, names[i]), count, &ids[i]));
    for (uint32_t i = 0; i < count; i++) {
        TRY(find_place(l, places, f->n_nodes, ids[0][i], ids[1][i], &at));
        if (f->kind[at] == LEAF)
            TRY(set_weight(l, f, at, ids[2][i], weights[i]));
    }
    return ODLC_OK;
}

odlc_status forest_read(struct lower *l, const char *prefix, int64_t n_targets, int64_t features, struct forest *f)
{
    struct lists n;
    uint32_t count;
    size_t reached;
    TRY(read_lists(l, &n, &count));
    TRY(start_forest(l, count, n_targets, f));
    struct place *places = arena_array(l->scratch, struct place, count);
    uint32_t *parents = arena_array(l->scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        places[i] = (struct place){n.trees[i], n.nodes[i], i};
        parents[i] = 0;
    }
    qsort(places, count, sizeof *places, by_place);
    TRY(link_nodes(l, &n, places, features, f, parents));
    TRY(find_roots(l, places, parents, f));
    TRY(read_weights(l, prefix, places, f));
    TRY(count_levels(l, f, &reached));
    if (reached != f->n_nodes)
        return lower_invalid(l, NULL, NULL, "no root leads to %zu of %u nodes", f->n_nodes - reached, f->n_nodes);
    return ODLC_OK;
}

/* ---- TreeEnsemble: branches, behind which the leaves have numbers of their own ---- */

struct ensemble {
    const int64_t *roots, *features, *yes, *no, *yes_is_leaf, *no_is_leaf, *missing, *targets;
    const double *splits, *modes, *weights;
    uint32_t n_roots, n_branches, n_leaves;
    /* Members of the sets that branches ask for, a NaN behind each set. */
    const double *members;
    uint32_t n_members;
};

static odlc_status tensor_of(const struct lower *l, const char *name, const double **out, uint32_t *count)
{
    const struct fw_attr *a = fw_find_attr(l->node, name);
    if (!a || a->kind != FW_TENSOR)
        return lower_invalid(l, name, NULL, "%s is no tensor", name);
    return classic_numbers(l, name, &a->tensor->view, out, count);
}

static odlc_status read_ensemble(struct lower *l, struct ensemble *e)
{
    uint32_t n_modes, n_weights;
    TRY(lower_attr_ints(l, "tree_roots", &e->roots, &e->n_roots));
    TRY(tensor_of(l, "nodes_splits", &e->splits, &e->n_branches));
    TRY(tensor_of(l, "nodes_modes", &e->modes, &n_modes));
    TRY(ints_of(l, "nodes_featureids", e->n_branches, &e->features));
    TRY(ints_of(l, "nodes_truenodeids", e->n_branches, &e->yes));
    TRY(ints_of(l, "nodes_falsenodeids", e->n_branches, &e->no));
    TRY(ints_of(l, "nodes_trueleafs", e->n_branches, &e->yes_is_leaf));
    TRY(ints_of(l, "nodes_falseleafs", e->n_branches, &e->no_is_leaf));
    TRY(missing_of(l, e->n_branches, &e->missing));
    TRY(lower_attr_ints(l, "leaf_targetids", &e->targets, &e->n_leaves));
    TRY(tensor_of(l, "leaf_weights", &e->weights, &n_weights));
    e->n_members = 0;
    if (lower_has_attr(l, "membership_values"))
        TRY(tensor_of(l, "membership_values", &e->members, &e->n_members));
    if (n_modes != e->n_branches || n_weights != e->n_leaves || e->n_roots == 0 || e->n_branches == 0)
        return lower_invalid(l, "tree_roots", NULL,
                             "%u trees of %u branches with %u modes and %u leaves with %u weights", e->n_roots,
                             e->n_branches, n_modes, e->n_leaves, n_weights);
    return ODLC_OK;
}

/* A side of a branch as a node of the forest. */
static odlc_status side_of(const struct lower *l, const struct ensemble *e, int64_t at, bool is_leaf, double *out)
{
    if (at < 0 || at >= (is_leaf ? e->n_leaves : e->n_branches))
        return lower_invalid(l, NULL, NULL, "there is no %s %lld", is_leaf ? "leaf" : "branch", (long long)at);
    *out = (double)(is_leaf ? e->n_branches + at : at);
    return ODLC_OK;
}

/* A root is no side of a branch, and a branch is one of one branch at most; so no way comes back. A leaf may be both
 * sides of a branch: that is a tree of the leaf alone. */
static odlc_status check_ways(const struct lower *l, const struct ensemble *e, const struct forest *f)
{
    uint32_t *parents = arena_array(l->scratch, uint32_t, f->n_nodes);
    memset(parents, 0, f->n_nodes * sizeof *parents);
    for (uint32_t i = 0; i < e->n_branches; i++) {
        parents[(uint32_t)f->yes[i]]++;
        parents[(uint32_t)f->no[i]]++;
    }
    for (uint32_t i = 0; i < e->n_roots; i++)
        parents[f->roots[i]]++;
    for (uint32_t i = 0; i < e->n_branches; i++)
        if (parents[i] > 1)
            return lower_invalid(l, NULL, NULL, "several ways lead to branch %u", i);
    return ODLC_OK;
}

/* A branch by membership becomes one by equality with the first member; the next ones get branches of their own on its
 * no side, behind `end`, the nodes there are. *next is the member to read. */
static void expand_set(const struct lower *l, const struct ensemble *e, struct forest *f, uint32_t at, uint32_t *next,
                       uint32_t *end)
{
    const double no = f->no[at];
    f->kind[at] = BRANCH_EQ;
    f->split[at] = NAN; /* of a set without members that floats can be */
    uint32_t i = at;
    for (; *next < e->n_members && !isnan(e->members[*next]); (*next)++) {
        if (!isnan(f->split[at])) {
            f->no[i] = *end;
            i = (*end)++;
        }
        f->kind[i] = BRANCH_EQ;
        f->feature[i] = f->feature[at];
        f->yes[i] = f->yes[at];
        f->no[i] = no;
        f->missing[i] = f->missing[at];
        f->split[i] = split_in_floats(l, BRANCH_EQ, e->members[*next]);
    }
    *next += *next < e->n_members;
}

static odlc_status read_branches(const struct lower *l, const struct ensemble *e, int64_t features, struct forest *f)
{
    for (uint32_t i = 0; i < e->n_branches; i++) {
        if (!(e->modes[i] >= 0 && e->modes[i] <= N_BRANCHES))
            return lower_invalid(l, "nodes_modes", NULL, "the mode %g is not known", e->modes[i]);
        f->kind[i] = (uint8_t)e->modes[i];
        TRY(set_branch(l, f, i, e->features[i], features, e->splits[i]));
        TRY(side_of(l, e, e->yes[i], e->yes_is_leaf[i] != 0, &f->yes[i]));
        TRY(side_of(l, e, e->no[i], e->no_is_leaf[i] != 0, &f->no[i]));
        f->missing[i] = e->missing && e->missing[i] ? 1 : 0;
    }
    return ODLC_OK;
}

odlc_status forest_read_ensemble(struct lower *l, int64_t n_targets, int64_t features, struct forest *f)
{
    struct ensemble e;
    uint32_t next = 0;
    size_t reached;
    TRY(read_ensemble(l, &e));
    TRY(start_forest(l, (uint64_t)e.n_branches + e.n_leaves + e.n_members, n_targets, f));
    TRY(read_branches(l, &e, features, f));
    for (uint32_t i = 0; i < e.n_leaves; i++) {
        set_leaf(f, e.n_branches + i);
        TRY(set_weight(l, f, e.n_branches + i, e.targets[i], e.weights[i]));
    }
    f->n_trees = e.n_roots;
    if (e.n_roots > e.n_branches)
        return lower_invalid(l, "tree_roots", NULL, "%u trees of %u branches", e.n_roots, e.n_branches);
    for (uint32_t i = 0; i < e.n_roots; i++) {
        double root;
        TRY(side_of(l, &e, e.roots[i], false, &root));
        f->roots[i] = (uint32_t)root;
    }
    TRY(check_ways(l, &e, f));
    f->n_nodes = e.n_branches + e.n_leaves;
    for (uint32_t i = 0; i < e.n_branches; i++)
        if (f->kind[i] == BY_MEMBERSHIP)
            expand_set(l, &e, f, i, &next, &f->n_nodes);
    return count_levels(l, f, &reached);
}
