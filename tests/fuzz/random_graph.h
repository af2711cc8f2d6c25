/* SPDX-License-Identifier: Apache-2.0 */
/* A graph that a container can hold, made of bytes: any operators of the table and user-defined ones, any types,
 * encodings, names and params. What it computes is of no concern. */
#ifndef FUZZ_RANDOM_GRAPH_H
#define FUZZ_RANDOM_GRAPH_H

#include "op/op.h"

/* The same bytes give the same graph; those that are missing count as zeros. */
struct graph *random_graph(struct arena *arena, const uint8_t *bytes, size_t size);

#endif
