/* SPDX-License-Identifier: Apache-2.0 */
/* Folding of large constants: a node is computed in parts along an axis, or as a whole where it has few enough
 * elements, and what it gives is put into a file (base/spill.h). */
#ifndef BUILD_FOLD_PARTS_H
#define BUILD_FOLD_PARTS_H

#include "base/diag.h"
#include "ir/graph.h"

/* How a node is computed: parts of `step` indices of an axis of its outputs. */
struct cut {
    uint32_t axis;
    int64_t step, extent;
    const uint32_t *in_axes; /* of each input; NOT_CUT: each part takes all of it */
    struct node node;        /* does the same as the node on parts */
};

/* The first axis along which the operands and results of a part, at 8 bytes an element, take at most so many bytes; of
 * a node with numbers alone, whose inputs are constants. False when there is none. */
bool cut_node(struct graph *g, const struct node *n, uint64_t most, struct cut *out);
/* Computes a node that was cut, into views of the graph's spill, one for each output. */
odlc_status fold_cut(struct graph *g, const struct node *n, const struct cut *cut, struct diags *diags,
                     struct view *views) MUST_USE;
/* A reduction along all axes as two: `first`, whose result is a new tensor of the graph, leaves an axis for which
 * cut_node may cut, and `last` reduces along that. False when the reduction is along one axis. */
bool split_reduction(struct graph *g, const struct node *n, struct node *first, struct node *last);
/* A node that does something along several axes by itself as two: `first`, whose result is a new tensor of the graph,
 * does so along all but one of them, and `last` along that: cut_node may cut both. */
bool split_axes(struct graph *g, const struct node *n, struct node *first, struct node *last);
/* Puts the value of a constant into the graph's spill: nothing is pending on *out. */
odlc_status spill_constant(struct graph *g, const struct tensor *t, struct diags *diags, struct view *out) MUST_USE;

#endif
