/* SPDX-License-Identifier: Apache-2.0 */
/* Where the axes of tensors come from, found node by node as the graph grows. */
#ifndef CONVERTERS_DRIVER_LAYOUT_ORIGIN_H
#define CONVERTERS_DRIVER_LAYOUT_ORIGIN_H

#include "ir/graph.h"

/* Axis i of a tensor is axis moved.axis[i] of another one, which is channels-last (`last`) or of which nothing is
 * known.
 */
struct layout_origin {
    struct perm moved;
    bool last;
};

struct layout_origins {
    struct arena *arena;
    const struct graph *graph;
    VEC(struct layout_origin) known; /* per tensor of the graph, as far as they were asked for */
    size_t n_followed;               /* nodes of the graph that these were found for */
};

/* The origin of a tensor of the graph as it is now. */
struct layout_origin find_layout_origin(struct layout_origins *origins, tensor_id id);

#endif
