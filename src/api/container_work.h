/* SPDX-License-Identifier: Apache-2.0 */
/* What other rooms need to work for a container of the public API. */
#ifndef API_CONTAINER_WORK_H
#define API_CONTAINER_WORK_H

#include "base/progress.h"
#include "opendlc/container.h"

/* Where it says what is wrong. Their arena is the container's: who adds to them catches its exhaustion. */
struct diags *container_diags(odlc_container *container);
/* Who is told how far work is. */
const struct progress *container_progress(const odlc_container *container);

#endif
