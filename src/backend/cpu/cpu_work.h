/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads are worth their meeting at the end of a step. */
#ifndef BACKEND_CPU_CPU_WORK_H
#define BACKEND_CPU_CPU_WORK_H

#include "runtime/backend.h"

/* Of the scope's threads, so many that each has enough to do: what waits for them takes as long as a small step.
 * Depends on the group's operators and shapes alone, so results are the same for the same number of threads. */
uint32_t work_threads(const struct backend_scope *scope, const struct group *group);

#endif
