/* SPDX-License-Identifier: Apache-2.0 */
/* Where values are stored while track_axes walks the nodes: the tensors of a graph, each with the order of its axes,
 * and the Transposes between two orders of one value. */
#ifndef PASS_TRACK_H
#define PASS_TRACK_H

#include "pass/pass.h"
#include "pass/preferred_layout.h"

/* A tensor T of the graph before is stored as S with S.axis[i] = T.axis[perm.axis[i]]. */
struct location {
    tensor_id stored;
    struct perm perm;
};

/* All of it lives in the pass's scratch arena. */
struct track {
    struct pass_context *c;
    struct graph *g;
    struct build b;
    struct location *at;                      /* per tensor of the old graph */
    const struct preferred_layout *preferred; /* per tensor of the old graph */
    struct uses uses;                         /* of the old graph */
    struct map copies; /* a stored tensor and a permutation → the tensor that is the one permuted by the other */
};

/* The tensor that is `stored` permuted by perm, if there is one already; else NO_TENSOR. */
tensor_id track_find_copy(const struct track *t, tensor_id stored, const struct perm *perm);
void track_remember_copy(struct track *t, tensor_id stored, const struct perm *perm, tensor_id tensor);

/* Notes a Transpose of `stored` that the layout costs, the first one that `reader` wants (NO_NODE: a graph output). */
void track_note_permute(struct track *t, node_id reader, tensor_id stored, bool to_first);

/* The tensor with axis[i] = id.axis[to[i]], where there is none by a new Transpose. Fails as build_transpose does. */
odlc_status track_bring(struct track *t, tensor_id id, const struct perm *to, node_id reader, tensor_id *out) MUST_USE;
/* The tensor in the order of the model. */
odlc_status track_bring_own_order(struct track *t, tensor_id id, node_id reader, tensor_id *out) MUST_USE;

/* The tensor itself is stored in the order of perm from now on: its shape and axis format follow. */
void track_store(struct track *t, tensor_id id, const struct perm *perm);

#endif
