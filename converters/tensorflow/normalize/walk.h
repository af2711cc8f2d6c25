/* SPDX-License-Identifier: Apache-2.0 */
/* The last stage, prune: from the outputs back, with a stack of its own. What they need is visited once, and stands in
 * topological order; the rest (training, saving, summaries, control inputs) is never looked at. The stages before it
 * are asked for each value and node that is needed, in their order. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_WALK_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_WALK_H

#include "converters/tensorflow/normalize/flat_graph.h"

/* What a stage does while the walk goes; any of it may be NULL. */
struct stage {
    /* Goes on from a value to what it stands for. `reader` names who asks; by is its node, or NULL. */
    odlc_status (*see_through)(struct normalize *nz, struct source *s, const char *reader, const struct tf_node *by);
    /* Whether a control input ("^name") of the node is an operand of it. */
    bool (*reads_control)(const struct normalize *nz, const struct frame *frame, uint32_t node, const char *control);
    /* Makes what stands for a node whose operands are known; *made false: that is left to others. */
    odlc_status (*make)(struct walk *w, struct visit *v, bool *made);
};

/* ---- for who begins a graph ---- */

/* Visits all that the value needs. */
odlc_status walk_need(struct walk *w, struct source *s, const char *reader) MUST_USE;
/* The value that the text names becomes an output of a graph inside of a node. */
odlc_status walk_output(struct walk *w, struct frame *frame, const char *text, const char *reader) MUST_USE;
/* The value becomes an input of a graph inside of a node. */
void walk_inner_input(struct walk *w, const struct source *s);

/* ---- for stages ---- */

/* Takes in what a node holds and says beside its operands: functions (branches, bodies of loops) become graphs in
 * v->attrs, unless a UDO claims the node; a data format is one of the model. */
odlc_status walk_prepare(struct walk *w, struct visit *v) MUST_USE;
/* The node stays as it is; a reference to a tensor is the tensor. */
void walk_keep(struct walk *w, const struct visit *v);

#endif
