/* Whether the steps of a plan can be executed. Kernels trust the types of their operands; those of a container are what
 * its writer says, so they are compared with what the ops' rules say before anything runs. */
#ifndef RUNTIME_CHECK_H
#define RUNTIME_CHECK_H

#include "runtime/plan.h"

/* Reports every step that has no kernel (ODLC_ERR_UNSUPPORTED) or whose stored types cannot be (ODLC_ERR_INVALID). */
odlc_status plan_check(struct arena *scratch, struct diags *diags, const struct graph *g,
                       const struct plan *plan) MUST_USE;

#endif
