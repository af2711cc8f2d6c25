/* SPDX-License-Identifier: Apache-2.0 */
#include "package/package.h"

#include <string.h>

#include "base/foreign.h"
#include "package/log_sink.h"
#include "package/status_text.h"

/* The process's packages, and how many of them are for all executions; under the lock. Loading holds the lock: who
 * wants the same package meanwhile waits for it. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct package *packages;

/* ---- names ---- */

const char *package_name(const struct package *package)
{
    return package->info ? package->info->packageName : package->registration.info->packageName;
}

static bool same_but_for_backend(const char *with, const char *without)
{
    static const char *const backends[] = {"Cpu",  "CPU",  "_cpu", "_CPU", "Gpu",  "GPU",
                                           "_gpu", "_GPU", "Htp",  "HTP",  "_htp", "_HTP"};
    const size_t length = strlen(without);
    if (strncmp(with, without, length) != 0)
        return false;
    for (size_t i = 0; i < COUNT_OF(backends); i++)
        if (strcmp(with + length, backends[i]) == 0)
            return true;
    return with[length] == '\0';
}

bool package_names_match(const char *a, const char *b)
{
    return same_but_for_backend(a, b) || same_but_for_backend(b, a);
}

bool package_is_named(const struct package *package, const char *name)
{
    return package_names_match(package_name(package), name);
}

bool package_has_op(const struct package *package, const char *type)
{
    for (uint32_t i = 0; package->info && i < package->info->numOperations; i++)
        if (strcmp(package->info->operationNames[i], type) == 0)
            return true;
    return false;
}

/* ---- the implementation ---- */

static odlc_status failed(struct diags *diags, const struct library *library, const char *function,
                          Qnn_ErrorHandle_t error)
{
    return library_error(diags, ODLC_ERR_INVALID, library, "package-call", NULL, "%s of the package gives %s", function,
                         qnn_error_text(diags->arena, error));
}

static odlc_status get_interface(struct package *p, struct diags *diags)
{
    QnnOpPackage_InterfaceProvider_t provider;
    QnnOpPackage_Interface_t found = QNN_OP_PACKAGE_INTERFACE_INIT;
    void *symbol = library_symbol(&p->library, p->provider);
    if (!symbol)
        return library_error(diags, ODLC_ERR_INVALID, &p->library, "package-symbol", NULL,
                             "the library does not export %s", p->provider);
    memcpy(&provider, &symbol, sizeof symbol);
    Qnn_ErrorHandle_t error = provider(&found);
    if (error != QNN_SUCCESS)
        return failed(diags, &p->library, p->provider, error);
    const Qnn_Version_t *v = &found.interfaceVersion;
    if (v->major == 2)
        return library_error(diags, ODLC_ERR_UNSUPPORTED, &p->library, "package-version",
                             "let the package provide version 1.4 of the interface",
                             "the package provides version %u.%u.%u of the op package interface, whose functions are "
                             "not published",
                             v->major, v->minor, v->patch);
    if (v->major != 1 || v->minor != 4)
        return library_error(diags, ODLC_ERR_UNSUPPORTED, &p->library, "package-version", NULL,
                             "the package provides version %u.%u.%u of the op package interface, and 1.4.0 is known",
                             v->major, v->minor, v->patch);
    p->functions = found.v1_4;
    return ODLC_OK;
}

static odlc_status check_functions(const struct package *p, struct diags *diags)
{
    const QnnOpPackage_ImplementationV1_4_t *f = &p->functions;
    const char *missing = !f->init               ? "init"
                          : !f->terminate        ? "terminate"
                          : !f->getInfo          ? "getInfo"
                          : !f->validateOpConfig ? "validateOpConfig"
                                                 : NULL;
    if (!missing && !p->is_plugin)
        missing = !f->createOpImpl ? "createOpImpl" : !f->freeOpImpl ? "freeOpImpl" : NULL;
    if (missing && strcmp(missing, "createOpImpl") == 0)
        return library_error(diags, ODLC_ERR_INVALID, &p->library, "package-symbol",
                             "a plugin exports qhpi_init; HTP packages of C++ macros cannot be executed here",
                             "the interface of the package has no function createOpImpl, and the library no qhpi_init");
    if (missing)
        return library_error(diags, ODLC_ERR_INVALID, &p->library, "package-symbol", NULL,
                             "the interface of the package has no function %s", missing);
    return ODLC_OK;
}

static odlc_status read_info(struct package *p, struct diags *diags)
{
    const QnnOpPackage_Info_t *info = NULL;
    Qnn_ErrorHandle_t error = p->functions.getInfo(&info);
    if (error != QNN_SUCCESS)
        return failed(diags, &p->library, "getInfo", error);
    if (!info || !info->packageName || (info->numOperations && !info->operationNames))
        return library_error(diags, ODLC_ERR_INVALID, &p->library, "package-info", NULL,
                             "the package does not say its name, or which ops it has");
    for (uint32_t i = 0; i < info->numOperations; i++)
        if (!info->operationNames[i])
            return library_error(diags, ODLC_ERR_INVALID, &p->library, "package-info", NULL,
                                 "op %u of the package has no name", i);
    p->info = info;
    return ODLC_OK;
}

static void terminate(struct package *p)
{
    if (p->functions.logTerminate)
        p->functions.logTerminate();
    p->functions.terminate();
}

static odlc_status begin_log(struct package *p, struct diags *diags)
{
    if (!p->functions.logInitialize)
        return ODLC_OK;
    Qnn_ErrorHandle_t error = p->functions.logInitialize(log_sink_callback, QNN_LOG_LEVEL_DEBUG);
    return error == QNN_SUCCESS ? ODLC_OK : failed(diags, &p->library, "logInitialize", error);
}

/* Plugins are documented to be asked in another order. */
static odlc_status read_plugin(struct package *p, struct diags *diags)
{
    TRY(read_info(p, diags));
    TRY(begin_log(p, diags));
    return plugin_register(p->arena, diags, &p->library, p->info, &p->plugin);
}

static odlc_status initialize(struct package *p, struct diags *diags)
{
    static struct QnnOpPackage_GlobalInfrastructure *const none = NULL;
    TRY(get_interface(p, diags));
    p->is_plugin = plugin_is(&p->library);
    p->is_device = library_symbol(&p->library, "odlc_sdk_gpu");
    TRY(check_functions(p, diags));
    if (!p->is_plugin)
        TRY(begin_log(p, diags));
    Qnn_ErrorHandle_t error = p->functions.init(none);
    if (error != QNN_SUCCESS)
        return failed(diags, &p->library, "init", error);
    odlc_status status = p->is_plugin ? read_plugin(p, diags) : read_info(p, diags);
    if (status != ODLC_OK) {
        terminate(p);
        p->info = NULL;
    }
    return status;
}

/* ---- from a registration library to the implementation ---- */

static odlc_status open_implementation(struct package *p, struct diags *diags)
{
    const struct registration *r = &p->registration;
    const char *name = registration_library(r, SNPE_UDO_CORETYPE_CPU);
    p->provider = arena_printf(p->arena, "%sInterfaceProvider", r->info->packageName);
    p->one_library = library_symbol(&r->library, p->provider) != NULL;
    if (p->one_library) {
        p->library = r->library;
        return ODLC_OK;
    }
    const char *for_gpu = registration_library(r, SNPE_UDO_CORETYPE_GPU);
    if (for_gpu && library_is_beside(p->arena, &r->library, for_gpu) &&
        !(name && library_is_beside(p->arena, &r->library, name)))
        return ODLC_OK;
    if (!name)
        return library_error(diags, ODLC_ERR_UNSUPPORTED, &r->library, "package-core", "add CPU to its core_types",
                             "package %s has no implementation for the CPU", r->info->packageName);
    return library_open_beside(p->arena, diags, &r->library, name, &p->library);
}

static odlc_status check_agreement(const struct package *p, struct diags *diags)
{
    const SnpeUdo_RegInfo_t *info = p->registration.info;
    if (!info)
        return ODLC_OK;
    if (!package_is_named(p, info->packageName))
        return library_error(diags, ODLC_ERR_INVALID, &p->library, "package-name", NULL,
                             "the library implements package %s, and its registration library is that of %s",
                             package_name(p), info->packageName);
    const SnpeUdo_CoreType_t core = p->is_device ? SNPE_UDO_CORETYPE_GPU : SNPE_UDO_CORETYPE_CPU;
    for (uint32_t i = 0; i < info->numOfOperations; i++)
        if (registration_is_for(&info->operationsInfo[i], core) &&
            !package_has_op(p, info->operationsInfo[i].operationType))
            return library_error(diags, ODLC_ERR_INVALID, &p->library, "package-op", NULL,
                                 "the library does not implement op %s, which the registration library announces",
                                 info->operationsInfo[i].operationType);
    return ODLC_OK;
}

/* Closes what is open. */
static void end(struct package *p)
{
    if (p->device)
        end(p->device);
    if (p->info)
        terminate(p);
    if (!p->one_library)
        library_close(&p->library);
    registration_end(&p->registration);
    pthread_mutex_destroy(&p->lock);
    arena_destroy(p->arena);
}

static odlc_status begin_registered(struct package *p, struct diags *diags, const struct library *library)
{
    TRY(registration_begin(diags, library, &p->registration));
    return open_implementation(p, diags);
}

static odlc_status begin(struct package *p, struct diags *diags, const char *path)
{
    struct library library;
    TRY(library_open(p->arena, diags, path, &library));
    if (p->provider) {
        p->library = library;
    } else {
        odlc_status status = begin_registered(p, diags, &library);
        if (!p->registration.library.handle)
            library_close(&library);
        TRY(status);
    }
    if (!p->library.handle)
        return ODLC_OK;
    TRY(initialize(p, diags));
    return check_agreement(p, diags);
}

/* ---- the process's list ---- */

static const char *key_of(struct arena *arena, const char *path, const char *provider)
{
    return arena_printf(arena, "%s:%s", library_file(arena, path), provider ? provider : "");
}

typedef odlc_status begin_fn(struct package *p, struct diags *diags, const char *path);

/* A package that `begin` fills, in an arena of its own; `what` is told of faults of the library's code. */
static odlc_status load_framed(struct diags *diags, const char *what, const char *path, begin_fn *begin_it,
                               const struct package *model, struct package **out)
{
    struct arena *arena = arena_create();
    if (!arena)
        return ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(arena))) {
        foreign_end();
        arena_destroy(arena);
        return ODLC_ERR_NOMEM;
    }
    struct package *p = arena_new(arena, struct package);
    *p = *model;
    p->arena = arena;
    pthread_mutex_init(&p->lock, NULL);
    log_sink_begin();
    foreign_begin(arena_printf(arena, "loading %s %s", what, path));
    const odlc_status status = begin_it(p, diags, path);
    foreign_end();
    log_sink_end(diags, AT(.file = path));
    if (status != ODLC_OK)
        end(p);
    else
        *out = p;
    return status;
}

static odlc_status begin_named(struct package *p, struct diags *diags, const char *path)
{
    const char *asked = p->provider ? arena_strdup(p->arena, p->provider) : NULL;
    p->provider = asked; /* a registration library tells another one */
    TRY(begin(p, diags, path));
    p->key = key_of(p->arena, path, asked); /* of a name that the loader looked for it says the file only now */
    return ODLC_OK;
}

static odlc_status load_new(struct diags *diags, const char *path, const char *provider, struct package **out)
{
    return load_framed(diags, "package", path, begin_named, &(struct package){.uses = 1, .provider = provider}, out);
}

static odlc_status load_locked(struct diags *diags, const char *path, const char *provider, const char *key,
                               struct package **out)
{
    for (struct package *p = packages; p; p = p->next)
        if (strcmp(p->key, key) == 0) {
            p->uses++;
            *out = p;
            return ODLC_OK;
        }
    TRY(load_new(diags, path, provider, out));
    (*out)->next = packages;
    packages = *out;
    return ODLC_OK;
}

/* Memory of the diagnostics that runs out must not leave the list locked. */
odlc_status package_split(struct arena *arena, struct diags *diags, const char *name, const char **library,
                          const char **provider)
{
    char *const path = arena_strdup(arena, name), *const colon = strchr(path, ':');
    if (!colon || colon == path || !colon[1])
        return diag_error(diags, ODLC_ERR_USAGE,
                          AT(.hint = "LIBRARY:PROVIDER, for example libMine.so:MineInterfaceProvider"), "option-value",
                          "option --op_packages: '%s' names no function that provides the package", name);
    *colon = '\0';
    char *const target = strchr(colon + 1, ':');
    if (target)
        *target = '\0';
    *library = path;
    *provider = colon + 1;
    return ODLC_OK;
}

odlc_status package_load(struct arena *scratch, struct diags *diags, const char *path, const char *provider,
                         struct package **out)
{
    const char *key = key_of(scratch, path, provider);
    jmp_buf exhausted;
    pthread_mutex_lock(&list_lock);
    jmp_buf *before = arena_divert(diags->arena, &exhausted);
    if (setjmp(exhausted)) {
        foreign_end();
        pthread_mutex_unlock(&list_lock);
        arena_divert(diags->arena, before);
        return ODLC_ERR_NOMEM;
    }
    odlc_status status = load_locked(diags, path, provider, key, out);
    arena_divert(diags->arena, before);
    pthread_mutex_unlock(&list_lock);
    return status;
}

void package_release(struct package *package)
{
    if (!package)
        return;
    pthread_mutex_lock(&list_lock);
    if (--package->uses == 0) {
        struct package **at = &packages;
        while (*at != package)
            at = &(*at)->next;
        *at = package->next;
        end(package);
    }
    pthread_mutex_unlock(&list_lock);
}

/* ---- libraries for GPUs ---- */

static odlc_status begin_device(struct package *p, struct diags *diags, const char *name)
{
    const struct registration *r = &p->registration;
    p->provider = arena_printf(p->arena, "%sInterfaceProvider", r->info->packageName);
    const odlc_status opened = library_open_beside(p->arena, diags, &r->library, name, &p->library);
    p->registration.library.handle = NULL; /* it is the package's */
    TRY(opened);
    TRY(initialize(p, diags));
    if (!p->is_device)
        return library_error(diags, ODLC_ERR_UNSUPPORTED, &p->library, "package-core", NULL,
                             "the library is registered for the GPU, and has no kernels for it");
    return check_agreement(p, diags);
}

static odlc_status load_device(const struct package *of, struct diags *diags, const char *name, struct package **out)
{
    return load_framed(diags, "library", name, begin_device, &(struct package){.registration = of->registration}, out);
}

/* Whether a library that is not there is all that is wrong. */
static bool is_missing(const struct diags *diags)
{
    return diags->list.count == 1 && strcmp(diags->list.data[0].code, "package-missing") == 0;
}

static odlc_status load_device_locked(struct diags *diags, struct package *package, struct package **out)
{
    const char *name = registration_library(&package->registration, SNPE_UDO_CORETYPE_GPU);
    struct diags heard;
    odlc_status status = ODLC_OK;
    diags_init(&heard, diags->arena);
    if (!package->device && name)
        status = load_device(package, &heard, name, &package->device);
    *out = package->device;
    if (is_missing(&heard))
        return ODLC_OK;
    for (size_t i = 0; i < heard.list.count; i++)
        vec_push(diags->arena, &diags->list, heard.list.data[i]);
    diags->errors += heard.errors;
    diags->warnings += heard.warnings;
    return status;
}

__attribute__((noinline)) static odlc_status load_beside(struct diags *diags, struct package *package,
                                                         struct package **out)
{
    jmp_buf exhausted;
    pthread_mutex_lock(&list_lock);
    jmp_buf *before = arena_divert(diags->arena, &exhausted);
    if (setjmp(exhausted)) {
        foreign_end();
        pthread_mutex_unlock(&list_lock);
        arena_divert(diags->arena, before);
        return ODLC_ERR_NOMEM;
    }
    const odlc_status status = load_device_locked(diags, package, out);
    arena_divert(diags->arena, before);
    pthread_mutex_unlock(&list_lock);
    return status;
}

odlc_status package_load_device(struct diags *diags, struct package *package, struct package **out)
{
    *out = package->is_device ? package : NULL;
    if (package->is_device || !package->registration.info)
        return ODLC_OK;
    return load_beside(diags, package, out);
}

/* ---- sets ---- */

static bool set_has(const struct package_set *set, const struct package *package)
{
    for (size_t i = 0; i < set->packages.count; i++)
        if (set->packages.data[i] == package)
            return true;
    return false;
}

odlc_status package_set_add(struct arena *arena, struct diags *diags, struct package_set *set, const char *path,
                            const char *provider)
{
    struct package *package;
    TRY(package_load(arena, diags, path, provider, &package));
    if (set_has(set, package))
        package_release(package);
    else
        vec_push(arena, &set->packages, package);
    return ODLC_OK;
}

odlc_status package_load_for_all(struct arena *scratch, struct diags *diags, const char *path, const char *provider)
{
    struct package *package;
    TRY(package_load(scratch, diags, path, provider, &package));
    pthread_mutex_lock(&list_lock);
    if (package->for_all)
        package->uses--;
    package->for_all = true;
    pthread_mutex_unlock(&list_lock);
    return ODLC_OK;
}

static size_t count_for_all(void)
{
    size_t count = 0;
    pthread_mutex_lock(&list_lock);
    for (const struct package *p = packages; p; p = p->next)
        count += p->for_all;
    pthread_mutex_unlock(&list_lock);
    return count;
}

/* Nothing may be allocated under the lock, since a failure jumps. Packages for all only become more: those that come
 * meanwhile are for executions to come. */
void package_set_add_for_all(struct arena *arena, struct package_set *set)
{
    const size_t room = count_for_all();
    struct package **found = arena_array(arena, struct package *, room);
    size_t count = 0;
    pthread_mutex_lock(&list_lock);
    for (struct package *p = packages; p && count < room; p = p->next)
        if (p->for_all && !set_has(set, p)) {
            p->uses++;
            found[count++] = p;
        }
    pthread_mutex_unlock(&list_lock);
    while (count > 0)
        vec_push(arena, &set->packages, found[--count]);
}

void package_set_release(struct package_set *set)
{
    for (size_t i = 0; i < set->packages.count; i++)
        package_release(set->packages.data[i]);
    set->packages.count = 0;
}
