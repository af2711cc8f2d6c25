/* SPDX-License-Identifier: Apache-2.0 */
/* Ensembles of decision trees: read from nodes of ai.onnx.ml (forest_read.c), and lowered (onnx_trees.c). */
#ifndef CONVERTERS_ONNX_LOWER_FOREST_H
#define CONVERTERS_ONNX_LOWER_FOREST_H

#include "converters/lowering/lower.h"

/* How a branch compares a feature with its split: a feature for which that holds takes the yes side. */
enum branch {
    BRANCH_LEQ,
    BRANCH_LT,
    BRANCH_GTE,
    BRANCH_GT,
    BRANCH_EQ,
    BRANCH_NEQ,
    N_BRANCHES,
    BY_MEMBERSHIP = N_BRANCHES,
    LEAF
};
enum aggregate { AGGREGATE_AVERAGE, AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX };

/* Branches and leaves of all trees; arrays have an entry each, in the arena of the graph. */
struct forest {
    uint32_t n_nodes, n_trees;
    uint8_t *kind;     /* enum branch */
    double *feature;   /* whole numbers, 0 for leaves */
    double *split;     /* float32's */
    double *yes, *no;  /* the nodes that follow; a leaf is followed by itself */
    double *missing;   /* 1: a NaN takes the yes side whatever it is compared with */
    uint32_t *roots;   /* n_trees entries */
    uint32_t n_levels; /* branches on the longest way down */
    int64_t n_targets; /* scores that leaves have a weight of */
    double *weights;   /* [n_nodes, n_targets]; NaN: the leaf has none */
    bool any_negative; /* weights */
    bool all_of_first; /* no leaf has a weight of another target than the first */
};

/* A forest of TreeEnsembleRegressor, or TreeEnsembleClassifier: `prefix` is "target" or "class", the name of the lists
 * of weights. `features` are what a branch may look at. */
odlc_status forest_read(struct lower *l, const char *prefix, int64_t n_targets, int64_t features,
                        struct forest *f) MUST_USE;
/* A forest of TreeEnsemble. */
odlc_status forest_read_ensemble(struct lower *l, int64_t n_targets, int64_t features, struct forest *f) MUST_USE;
/* The numbers of a list of floats, or of the tensor that stands for the list in the attribute "<name>_as_tensor"; NULL:
 * neither is there. */
odlc_status forest_numbers(const struct lower *l, const char *name, const double **out, uint32_t *count) MUST_USE;

#endif
