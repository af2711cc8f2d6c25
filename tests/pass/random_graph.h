/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs, as lowering builds them: channels-last ops stand between Transposes. A seed always gives the same
 * graph; its constants are constants, which are folded while nodes are added, or graph inputs with the same values, so
 * that every node is there to be executed. */
#ifndef TESTS_PASS_RANDOM_GRAPH_H
#define TESTS_PASS_RANDOM_GRAPH_H

#include "random_claims.h"

/* The value of a graph input. */
struct feed {
    const char *name;
    struct type type;
    const void *data;
};

struct random_graph {
    struct graph *g;
    const struct feed *feeds;
    size_t n_feeds;
    const double *slacks; /* by how much the numbers of each output may differ: 0 where nothing is quantized */
    uint64_t state;       /* of the random numbers, to go on with */
};

/* What the graph of a seed is made for: it computes the same numbers in all these forms. */
struct random_form {
    bool constants_are_inputs;
    bool with_udos; /* some of its nodes are claimed by UDOs (random_claims.h) */
};

/* In the arena; fails the test when a node cannot be built. */
struct random_graph random_graph_make(struct arena *arena, struct diags *diags, uint64_t seed, struct random_form form);

/* A number in [0, count). */
uint32_t random_below(uint64_t *state, uint32_t count);

#endif
