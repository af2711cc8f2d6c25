/* SPDX-License-Identifier: Apache-2.0 */
/* What other rooms need to work for a container of the public API. */
#ifndef API_CONTAINER_WORK_H
#define API_CONTAINER_WORK_H

#include "base/progress.h"
#include "opendlc/container.h"

/* Where it says what is wrong. Their arena is the container's: who adds to them catches its exhaustion. */
struct diags *container_diags(odlc_container *container);
/* The path or name that was last given to odlc_container_open or its kin; NULL: none was. */
const char *container_given_path(const odlc_container *container);
/* What opening found, and behind that what the last verification did; NULL behind the end. */
const struct odlc_diag *container_finding(const odlc_container *container, size_t index);
/* How the name of a tensor is spelled otherwise, as opendlc/run.h says. */
const char *container_other_spelling(struct arena *arena, const char *name);
/* Who is told how far work is. */
const struct progress *container_progress(const odlc_container *container);

#endif
