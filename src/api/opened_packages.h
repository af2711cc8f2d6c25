/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of user-defined ops for those who execute graphs without a run object. */
#ifndef API_OPENED_PACKAGES_H
#define API_OPENED_PACKAGES_H

#include "runtime/backend.h"

struct package_names {
    const char *const *registrations; /* libraries */
    size_t n_registrations;
    const char *const *named; /* LIBRARY:PROVIDER, or with a target behind it */
    size_t n_named;
};

/* Loads these packages; they are released with the arena. All errors are reported. Fails as package_load and
 * package_split. */
odlc_status packages_open(struct arena *arena, struct diags *diags, const struct package_names *names,
                          const struct package_set **out) MUST_USE;

#endif
