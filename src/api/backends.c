/* SPDX-License-Identifier: Apache-2.0 */
#include "api/backends.h"

#include "opendlc/run.h"

#define BACKEND(name) extern const struct backend name##_backend;
#include "api/backends.def"
#undef BACKEND

const struct backend *const default_backends[] = {
#ifdef ODLC_BACKEND_CPU
    &cpu_backend,
#endif
    &reference_backend, &package_backend, &plugin_backend, NULL,
};

const struct backend *const all_backends[] = {
#define BACKEND(name) &name##_backend,
#include "api/backends.def"
#undef BACKEND
    NULL,
};

const char *const *odlc_backend_names(void)
{
    static const char *const names[] = {
#define BACKEND(name) #name,
#include "api/backends.def"
#undef BACKEND
        NULL,
    };
    return names;
}
