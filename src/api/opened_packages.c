/* SPDX-License-Identifier: Apache-2.0 */
#include "api/opened_packages.h"

#include "package/package.h"

static void release(void *set)
{
    package_set_release(set);
}

odlc_status packages_open(struct arena *arena, struct diags *diags, const char *const *paths, size_t count,
                          const struct package_set **out)
{
    struct package_set *set = arena_new(arena, struct package_set);
    odlc_status status = ODLC_OK;
    *set = (struct package_set){0};
    arena_defer(arena, release, set);
    for (size_t i = 0; i < count; i++) {
        const odlc_status added = package_set_add(arena, diags, set, paths[i], NULL);
        status = status == ODLC_OK ? added : status;
    }
    *out = set;
    return status;
}
