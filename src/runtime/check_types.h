/* Whether nodes can be executed on the types that are stored for them. Kernels trust the types of their operands; those
 * of a container are what its writer says, so they are compared with what the ops' rules say before anything runs. */
#ifndef RUNTIME_CHECK_TYPES_H
#define RUNTIME_CHECK_TYPES_H

#include "runtime/claim.h"

/* Reports every node whose stored types cannot be (ODLC_ERR_INVALID). Nodes without a kernel are passed over. */
odlc_status plan_check(struct arena *scratch, struct diags *diags, const struct graph *g,
                       const struct needed *needed) MUST_USE;

#endif
