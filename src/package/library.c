/* SPDX-License-Identifier: Apache-2.0 */
#include "package/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/target.h"
#include "package/plugin_host.h"
#include "sdk/OdlcSdk.h"

odlc_status library_error(struct diags *diags, odlc_status status, const struct library *library, const char *code,
                          const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(diags->arena, format, args);
    va_end(args);
    return diag_error(diags, status, AT(.file = library->path, .hint = hint), code, "%s", message);
}

/* The command that compiles the package anew: libraries lie in libs/TARGET of the package's folder, those of HTP in
 * build/TARGET. */
static const char *rebuild_hint(struct arena *arena, const char *path)
{
    const char *libs = strstr(path, "/libs/"), *htp = strstr(path, "/build/x86_64-linux-clang/"),
               *end = libs ? libs : htp;
    return end ? arena_printf(arena, "make -C %.*s %s compiles the package with OpenDLC's headers", (int)(end - path),
                              path, libs ? "cpu_x86" : "htp_x86")
               : "compile the package with OpenDLC's headers: pkg-config --variable=sdkdir opendlc says where they are";
}

static odlc_status other_headers(struct arena *arena, struct diags *diags, const struct library *library)
{
    return library_error(diags, ODLC_ERR_UNSUPPORTED, library, "package-headers", rebuild_hint(arena, library->path),
                         "the library was compiled with other headers than OpenDLC's, and cannot be called");
}

/* Loading runs the library's own code. One that has not even the name of the mark is refused before. */
static odlc_status check_unloaded(struct arena *arena, struct diags *diags, const struct library *library)
{
    struct file *file;
    struct stat st;
    if (!strchr(library->path, '/') || stat(library->path, &st) != 0)
        return ODLC_OK; /* the loader finds it, or says why not */
    TRY(file_map(arena, diags, library->path, &file));
    bool is_elf = file->size >= SELFMAG && memcmp(file->data, ELFMAG, SELFMAG) == 0;
    if (is_elf && !memmem(file->data, file->size, "odlc_sdk_abi", sizeof "odlc_sdk_abi"))
        return other_headers(arena, diags, library);
    return ODLC_OK;
}

static odlc_status check_loaded(struct arena *arena, struct diags *diags, const struct library *library)
{
    const uint32_t *abi = library_symbol(library, "odlc_sdk_abi");
    if (!abi)
        return other_headers(arena, diags, library);
    if (*abi != ODLC_SDK_ABI)
        return library_error(
            diags, ODLC_ERR_UNSUPPORTED, library, "package-headers", rebuild_hint(arena, library->path),
            "the library was compiled with another version of OpenDLC's headers: %u instead of %u", *abi, ODLC_SDK_ABI);
    return ODLC_OK;
}

static const char *searched(struct arena *arena, const char *path, const char *beside)
{
    const char *search = getenv("LD_LIBRARY_PATH");
    const bool is_here = access(path, F_OK) == 0;
    return arena_printf(arena, "it was looked for in %s%sLD_LIBRARY_PATH (%s) and the system's folders%s%s",
                        beside ? beside : "", beside ? " beside the registration library, " : "",
                        search ? search : "not set", is_here ? "; that of this folder is ./" : "", is_here ? path : "");
}

/* The loader does not say which of a library's dependencies is missing in words of its own. */
static odlc_status refuse(struct arena *arena, struct diags *diags, const struct library *library, const char *beside)
{
    const char *reason = dlerror();
    struct stat st;
    bool has_folder = strchr(library->path, '/');
    if (has_folder && stat(library->path, &st) != 0)
        return library_error(diags, ODLC_ERR_IO, library, "package-missing", NULL, "there is no such library: %s",
                             strerror(errno));
    if (!has_folder)
        return library_error(diags, ODLC_ERR_IO, library, "package-missing", searched(arena, library->path, beside),
                             "the library cannot be loaded: %s", reason ? reason : "no reason is given");
    return library_error(diags, ODLC_ERR_IO, library, "package-load", NULL, "the library cannot be loaded: %s",
                         reason ? reason : "no reason is given");
}

/* Plugins leave functions to their host, without naming a library that has them. */
static bool needs_plugin_host(const char *reason)
{
    return reason && strstr(reason, "undefined symbol: qhpi_");
}

/* *handle NULL: the loader refuses the library, and dlerror says why. */
static odlc_status load(struct arena *arena, struct diags *diags, const char *path, void **handle)
{
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return ODLC_OK;
    char *reason = dlerror();
    if (needs_plugin_host(reason))
        TRY(plugin_host_load(arena, diags, path));
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return ODLC_OK;
}

/* beside: a folder where it is not, or NULL. */
static odlc_status open_library(struct arena *arena, struct diags *diags, const char *path, const char *beside,
                                struct library *out)
{
    struct library library = {.path = arena_strdup(arena, path)};
    TRY(check_unloaded(arena, diags, &library));
    TRY(load(arena, diags, path, &library.handle));
    if (!library.handle)
        return refuse(arena, diags, &library, beside);
    odlc_status status = check_loaded(arena, diags, &library);
    if (status == ODLC_OK)
        *out = library;
    else
        library_close(&library);
    return status;
}

odlc_status library_open(struct arena *arena, struct diags *diags, const char *path, struct library *out)
{
    return open_library(arena, diags, path, NULL, out);
}

static const char *path_of(struct arena *arena, void *handle, const char *otherwise)
{
    const struct link_map *map;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && *map->l_name ? arena_strdup(arena, map->l_name) : otherwise;
}

bool library_is_beside(struct arena *arena, const struct library *other, const char *name)
{
    const char *folder = folder_of(arena, path_of(arena, other->handle, other->path));
    return access(arena_printf(arena, "%s/%s", folder, name), F_OK) == 0;
}

odlc_status library_open_beside(struct arena *arena, struct diags *diags, const struct library *other, const char *name,
                                struct library *out)
{
    const char *folder = folder_of(arena, path_of(arena, other->handle, other->path));
    const char *beside = arena_printf(arena, "%s/%s", folder, name);
    return open_library(arena, diags, access(beside, F_OK) == 0 ? beside : name, folder, out);
}

const char *library_file(struct arena *arena, const char *path)
{
    char real[PATH_MAX];
    const char *file = path;
    void *loaded = strchr(path, '/') ? NULL : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (loaded) {
        file = path_of(arena, loaded, path);
        dlclose(loaded);
    }
    return strchr(file, '/') && realpath(file, real) ? arena_strdup(arena, real) : path;
}

void library_close(struct library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}

void *library_symbol(const struct library *library, const char *name)
{
    return dlsym(library->handle, name);
}
