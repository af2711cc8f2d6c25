/* SPDX-License-Identifier: Apache-2.0 */
/* Small parts of graphs that several passes look for or make. */
#ifndef PASS_PARTS_H
#define PASS_PARTS_H

#include "ir/graph.h"

/* The value of a constant of one float, whatever its rank; false for other tensors. */
bool part_number(const struct graph *g, tensor_id id, double *value);

/* A constant that is made of another one, whose name goes to it when nothing reads the other one any more
 * (restore_names). */
tensor_id part_constant(struct graph *g, tensor_id from, const struct view *view);

/* A tensor for the values of `like` in another shape, with the encoding that they have. */
tensor_id part_reshaped(struct graph *g, tensor_id like, const char *name, const struct shape *shape);

/* A Reshape of `in` to the shape of `out`, which no node computes yet; not in the order. `source` is for diagnostics.
 */
node_id part_reshape(struct graph *g, const char *name, const char *source, tensor_id in, tensor_id out);

#endif
