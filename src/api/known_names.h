/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_KNOWN_NAMES_H
#define API_KNOWN_NAMES_H

#include "base/arena.h"

/* The hint of an unknown name: the nearest one, or some of those that exist. */
const char *known_names_hint(struct arena *arena, const char *name, const char *const *known, size_t count);

#endif
