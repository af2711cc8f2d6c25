/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of backends: which there are in this build, and in which order they are asked. */
#ifndef API_BACKENDS_H
#define API_BACKENDS_H

#include "runtime/backend.h"

/* The backends that are asked when the caller names none; NULL at the end. */
extern const struct backend *const default_backends[];

/* All that this build has; NULL at the end. */
extern const struct backend *const all_backends[];

#endif
