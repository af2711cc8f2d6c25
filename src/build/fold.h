/* SPDX-License-Identifier: Apache-2.0 */
/* Folding: a node whose inputs are all constants becomes constants. */
#ifndef BUILD_FOLD_H
#define BUILD_FOLD_H

#include "base/diag.h"
#include "ir/graph.h"

/* Replaces the node's outputs by constants when all its inputs are constants and it has a kernel. *folded says whether.
 * View-only cases (Transpose, Reshape, Cast of a constant) move no bytes. The node must not be in graph->order yet, or
 * is removed. */
odlc_status fold_node(struct graph *g, node_id id, struct diags *diags, bool *folded) MUST_USE;

#endif
