/* SPDX-License-Identifier: Apache-2.0 */
/* Whether nodes can be executed on the types that are stored for them. Kernels trust the types of their operands, but
 * the types of a container are the word of its writer: they are compared with the ops' shape rules before anything
 * runs. */
#ifndef RUNTIME_CHECK_TYPES_H
#define RUNTIME_CHECK_TYPES_H

#include "runtime/claim.h"

/* Reports every node whose stored types cannot be (ODLC_ERR_INVALID). Nodes without a kernel are passed over. */
odlc_status plan_check(struct arena *scratch, struct diags *diags, const struct graph *g,
                       const struct needed *needed) MUST_USE;

#endif
