/* SPDX-License-Identifier: Apache-2.0 */
#include "api/opened_packages.h"

#include "package/package.h"

static void release(void *set)
{
    package_set_release(set);
}

static odlc_status add_named(struct arena *arena, struct diags *diags, struct package_set *set, const char *name)
{
    const char *library, *provider;
    TRY(package_split(arena, diags, name, &library, &provider));
    return package_set_add(arena, diags, set, library, provider);
}

odlc_status packages_open(struct arena *arena, struct diags *diags, const struct package_names *names,
                          const struct package_set **out)
{
    struct package_set *set = arena_new(arena, struct package_set);
    odlc_status status = ODLC_OK;
    *set = (struct package_set){0};
    arena_defer(arena, release, set);
    for (size_t i = 0; i < names->n_registrations; i++) {
        const odlc_status added = package_set_add(arena, diags, set, names->registrations[i], NULL);
        status = status == ODLC_OK ? added : status;
    }
    for (size_t i = 0; i < names->n_named; i++) {
        const odlc_status added = add_named(arena, diags, set, names->named[i]);
        status = status == ODLC_OK ? added : status;
    }
    *out = set;
    return status;
}
