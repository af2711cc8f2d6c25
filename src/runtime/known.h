/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed from constants alone is computed once, when an execution is prepared, for all backends. */
#ifndef RUNTIME_KNOWN_H
#define RUNTIME_KNOWN_H

#include "runtime/claim.h"

/* In the arena. */
struct known {
    const struct graph *g;
    VEC(tensor_id) results; /* computed from constants alone, and read by other nodes */
    VEC(node_id) left;      /* the needed nodes that are computed in each run, in execution order */
};

/* Looks at what the wanted tensors depend on. Tensors that are wanted or observed (per tensor, or NULL), those that
 * nodes of packages read, and strings, are computed in each run, and so is what depends on them. */
struct known known_find(struct arena *arena, struct arena *scratch, const struct graph *g, const tensor_id *wanted,
                        size_t n_wanted, const bool *observed);
/* The graph with the same ids in which the results are constants of these values (per tensor), and the nodes behind
 * them not in the order. It lives in the arena; k->g and the values must outlive it. */
const struct graph *known_graph(struct arena *arena, const struct known *k, const struct buffer *values);

#endif
