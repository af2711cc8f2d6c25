/* SPDX-License-Identifier: Apache-2.0 */
#include "opendlc/package.h"

#include <stdio.h>

#include "package/package.h"

static void copy_problem(const struct diags *diags, char *problem, size_t size)
{
    const char *message = "memory ran out";
    for (size_t i = 0; i < diags->list.count; i++)
        if (diags->list.data[i].severity == ODLC_ERROR)
            message = diags->list.data[i].message;
    if (problem && size)
        snprintf(problem, size, "%s", message);
}

odlc_status odlc_add_op_package(const char *path, const char *provider, char *problem, size_t size)
{
    struct diags diags = {0};
    struct arena *arena = arena_create();
    if (!arena)
        return ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(arena))) {
        arena_destroy(arena);
        return ODLC_ERR_NOMEM;
    }
    diags_init(&diags, arena);
    odlc_status status = package_load_for_all(arena, &diags, path, provider);
    if (status != ODLC_OK)
        copy_problem(&diags, problem, size);
    arena_destroy(arena);
    return status;
}

int Snpe_Util_AddOpPackage(const char *regLibraryPath)
{
    return regLibraryPath && odlc_add_op_package(regLibraryPath, NULL, NULL, 0) == ODLC_OK;
}
