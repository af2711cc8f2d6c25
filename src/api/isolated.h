/* SPDX-License-Identifier: Apache-2.0 */
/* Executing in a process of its own, a fork of this one: foreign code that ends that process is an error here.
 *
 * The process prepares an engine, whose inputs and results go through memory that both share, and waits for orders.
 * When it has ended, the next execution begins a new one. */
#ifndef API_ISOLATED_H
#define API_ISOLATED_H

#include "api/engine.h"

struct isolated_package {
    const char *path, *provider; /* as package_set_add takes them */
};

struct isolation {
    unsigned seconds;                      /* that a preparation or an execution may take; 0: any time */
    VEC(struct isolated_package) packages; /* that the process loads */
};

void isolation_add_package(struct arena *arena, struct isolation *isolation, const char *path, const char *provider);

/* Fails as engine_here and package_set_add, by the diagnostics of the process; ODLC_ERR_INVALID: it has ended, or did
 * not answer in time; ODLC_ERR_UNSUPPORTED: a tensor that would have to be shared is one of strings; ODLC_ERR_IO: there
 * can be no more processes. The process ends with the arena. */
odlc_status engine_isolated(const struct engine_request *request, const struct isolation *isolation,
                            struct engine *out) MUST_USE;

#endif
