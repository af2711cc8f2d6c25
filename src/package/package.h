/* SPDX-License-Identifier: Apache-2.0 */
/* Op packages: libraries with kernels of user-defined ops, loaded once for the process and shared by all that use them.
 *
 * A package is named by the path of its registration library, or by that of the implementation and the function that
 * provides its interface. */
#ifndef PACKAGE_PACKAGE_H
#define PACKAGE_PACKAGE_H

#include <pthread.h>

#include "package/plugin_ops.h"
#include "package/registration.h"
#include "sdk/QNN/CPU/QnnCpuOpPackage.h"

/* Loaded, initialized, and terminated when nobody uses it any more. All but the counts is constant meanwhile. */
struct package {
    struct arena *arena;
    struct package *next; /* of the process's list */
    size_t uses;
    bool for_all;                     /* one of the uses is that of all executions */
    const char *key;                  /* of the list: the real path of the library that was named, and the provider */
    const char *provider;             /* the function, by name */
    struct registration registration; /* library.handle NULL: the package was named by its provider */
    struct library library;           /* the implementation */
    bool one_library;                 /* registration and implementation */
    pthread_mutex_t
        lock; /* held in calls other than the execution of ops: nothing promises that they are thread-safe */
    QnnOpPackage_ImplementationV1_4_t functions;
    const QnnOpPackage_Info_t *info; /* the package's own memory; NULL: it has libraries for other cores alone */
    bool is_device;                  /* its ops are kernels for GPUs */
    struct package *device;          /* the library for GPUs beside the one for the CPU; NULL: it is not loaded */
    bool is_plugin;                  /* its ops are those of `plugin`: createOpImpl and freeOpImpl may be NULL */
    struct plugin_ops plugin;
};

/* LIBRARY:PROVIDER, or with a target behind it, which says nothing: the parts are the arena's. ODLC_ERR_USAGE: it is
 * not that. */
odlc_status package_split(struct arena *arena, struct diags *diags, const char *name, const char **library,
                          const char **provider) MUST_USE;
/* Loads a package, or uses it once more when the process has it. provider NULL: path is a registration library.
 * ODLC_ERR_IO: a library is missing or cannot be loaded; ODLC_ERR_UNSUPPORTED: other headers or another version of an
 * interface; ODLC_ERR_INVALID: a symbol is missing, or a call of the package fails; ODLC_ERR_NOMEM. Diagnostics name
 * the library. Any thread may call this. */
odlc_status package_load(struct arena *scratch, struct diags *diags, const char *path, const char *provider,
                         struct package **out) MUST_USE;
/* The package's implementation for GPUs, which is loaded once and goes with the package: the package itself, or the
 * library that its registration names. *out NULL: there is none, or its file is missing. Fails as package_load. */
odlc_status package_load_device(struct diags *diags, struct package *package, struct package **out) MUST_USE;
/* Ends one use. NULL is allowed. */
void package_release(struct package *package);

/* Whether two names are those of one package: they are the same, but for the backend's name at the end of one of them
 * ("MyPackageCpu"). */
bool package_names_match(const char *a, const char *b);
/* Whether nodes of a package of that name are this package's. */
bool package_is_named(const struct package *package, const char *name);
/* The name that the package has in messages. */
const char *package_name(const struct package *package);
/* Whether the package has an op of that type. */
bool package_has_op(const struct package *package, const char *type);

/* The packages that an execution may use, in the order in which they are asked. */
struct package_set {
    VEC(struct package *) packages;
};

/* Loads a package, to be released with the set; one that the set has is not added again. Fails as package_load. */
odlc_status package_set_add(struct arena *arena, struct diags *diags, struct package_set *set, const char *path,
                            const char *provider) MUST_USE;
/* Loads a package for all executions of the process to come; it is never released. Fails as package_load. */
odlc_status package_load_for_all(struct arena *scratch, struct diags *diags, const char *path,
                                 const char *provider) MUST_USE;
/* Adds the packages that were loaded for all. */
void package_set_add_for_all(struct arena *arena, struct package_set *set);
void package_set_release(struct package_set *set);

#endif
