/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of a graph. */
#ifndef OP_VALIDATE_H
#define OP_VALIDATE_H

#include "base/diag.h"
#include "ir/graph.h"

/* Every operand exists and is defined before its use, outputs are produced once and by the node that says so, arity and
 * required params match the row, and the types are those that the row infers. A violation is a defect of OpenDLC: the
 * diagnostic names `after`, the step that left it. */
odlc_status graph_validate(const struct graph *g, struct arena *scratch, struct diags *diags,
                           const char *after) MUST_USE;

#endif
