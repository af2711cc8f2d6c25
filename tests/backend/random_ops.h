/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes at random: a graph with one operator of the table, and perhaps element-wise ones behind it. */
#ifndef TESTS_BACKEND_RANDOM_OPS_H
#define TESTS_BACKEND_RANDOM_OPS_H

#include "build/build.h"

/* What the real tensors of a graph become. */
enum reals { REALS_FLOAT32, REALS_FLOAT16, REALS_FIXED, REALS_INTS, REALS_KINDS };

struct making {
    struct arena *arena;
    struct diags diags;
    struct graph *graph;
    struct build build;
    uint64_t seed;
};

/* A number in [low, high]. */
int64_t draw(struct making *m, int64_t low, int64_t high);
bool toss(struct making *m);
/* A number in [-1, 1]. */
double draw_real(struct making *m);

/* A node of the operator on graph inputs and constants; *out gets its result. An error: what was drawn does not go
 * together. */
odlc_status make_node(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
/* Element-wise nodes behind a tensor, which becomes the last one's result. */
odlc_status make_followers(struct making *m, tensor_id *out) MUST_USE;
/* Gives the graph's reals other types: fixed-point ones get encodings at random, some with ties in reach. On their
 * own, products, sums and differences may be of Int_32, and what moves elements may move those of any type. */
void make_types(struct making *m, enum reals reals);

#endif
