/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing a tensor by an equal one while a pass walks the nodes in execution order. */
#ifndef PASS_ALIAS_H
#define PASS_ALIAS_H

#include "pass/pass.h"

struct aliases {
    struct graph *g;
    tensor_id *to; /* per tensor: what stands for it now */
    size_t count;
};

/* Every tensor stands for itself. Tensors that are added later have no alias. */
struct aliases aliases_start(struct arena *scratch, struct graph *g);
/* From now on `with` stands for `id`. When id is a graph output, `with` becomes that output and takes its name; false,
 * and nothing changed, when it cannot (it is an input, a constant or an output itself). An encoding that is given for
 * id goes to `with`, unless that has one. */
bool aliases_replace(struct aliases *a, tensor_id id, tensor_id with);
/* Rewrites the inputs of a node, which has not been removed. */
void aliases_apply(const struct aliases *a, node_id id);
/* Rewrites the graph's outputs, at the end. */
void aliases_finish(const struct aliases *a);

#endif
