/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of user-defined ops for those who execute graphs without a run object. */
#ifndef API_OPENED_PACKAGES_H
#define API_OPENED_PACKAGES_H

#include "runtime/backend.h"

/* Loads the packages of these registration libraries; they are released with the arena. All errors are reported. Fails
 * as package_load. */
odlc_status packages_open(struct arena *arena, struct diags *diags, const char *const *paths, size_t count,
                          const struct package_set **out) MUST_USE;

#endif
