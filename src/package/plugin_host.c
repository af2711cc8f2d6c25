/* SPDX-License-Identifier: Apache-2.0 */
#include "package/plugin_host.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/target.h"

#define LIBRARY "libopendlc-plugin.so.1"

/* From the folder of this code's file: beside libopendlc, beside a command's libraries, and where they are built. */
static const char *const folders[] = {".", "../lib", "../plugin", "../src/plugin", "src/plugin"};

/* The file that this function is in. */
static const char *own_file(struct arena *arena)
{
    char real[PATH_MAX];
    Dl_info info;
    const char *name = dladdr((const void *)&folders, &info) ? info.dli_fname : NULL;
    if (name && strchr(name, '/') && realpath(name, real))
        return arena_strdup(arena, real);
    return realpath("/proc/self/exe", real) ? arena_strdup(arena, real) : LIBRARY;
}

static void *open_global(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

odlc_status plugin_host_load(struct arena *arena, struct diags *diags, const char *package)
{
    const char *own = folder_of(arena, own_file(arena));
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        const char *path = arena_printf(arena, "%s/%s/%s", own, folders[i], LIBRARY);
        if (access(path, F_OK) == 0 && open_global(path))
            return ODLC_OK;
    }
    if (open_global(ODLC_LIBDIR "/" LIBRARY) || open_global(LIBRARY))
        return ODLC_OK;
    const char *reason = dlerror();
    return diag_error(
        diags, ODLC_ERR_IO, AT(.file = package, .hint = "the library is installed with OpenDLC, beside libopendlc.so"),
        "plugin-host", "the package is a plugin, and %s, which has the functions that it calls, cannot be loaded: %s",
        LIBRARY, reason ? reason : "no reason is given");
}

set_plugin_registrar_fn *plugin_host_registrar(void)
{
    set_plugin_registrar_fn *function = NULL;
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = handle ? dlsym(handle, SET_PLUGIN_REGISTRAR) : NULL;
    if (symbol)
        memcpy(&function, &symbol, sizeof symbol);
    if (handle)
        dlclose(handle);
    return function;
}
