/* Random graphs, as lowering builds them: channels-last ops stand between Transposes. A seed always gives the same
 * graph; its constants are constants, which are folded while nodes are added, or graph inputs with the same values, so
 * that every node is there to be executed. */
#ifndef TESTS_PASS_RANDOM_GRAPH_H
#define TESTS_PASS_RANDOM_GRAPH_H

#include "op/build.h"

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
    uint64_t state; /* of the random numbers, to go on with */
};

/* In the arena; fails the test when a node cannot be built. */
struct random_graph random_graph_make(struct arena *arena, struct diags *diags, uint64_t seed,
                                      bool constants_are_inputs);

/* A number in [0, count). */
uint32_t random_below(uint64_t *state, uint32_t count);

#endif
