/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "backend/gpu/gpu_cache.h"
#include "backend/gpu/gpu_package.h"
#include "backend/gpu/gpu_repository.h"

/* A program of the registry. */
struct gpu_program {
    struct gpu_program *next;
    const struct gpu_source *source;
    cl_program handle;
    bool is_used; /* by a graph; else it was built to be measured */
    char options[];
};

/* More of a compiler's words than anybody reads. */
enum { LOG_SIZE = 4000 };

static struct gpu_program *find(const struct gpu_context *context, const struct gpu_source *source, const char *options)
{
    for (struct gpu_program *p = context->programs; p; p = p->next)
        if (p->source == source && strcmp(p->options, options) == 0)
            return p;
    return NULL;
}

static odlc_status build_failed(const struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                                const char *options, cl_program program, cl_int error)
{
    char log[LOG_SIZE] = "";
    size_t size = 0;
    if (program &&
        clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS) {
        char *whole = arena_alloc(diags->arena, size + 1);
        (void)clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, size, whole, NULL);
        strncpy(log, whole, sizeof(log) - 1);
    }
    const struct gpu_package *package = gpu_package_of(context, source);
    if (package)
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = gpu_package_library(package)), "gpu-build",
                          "the package's kernels are not built with options \"%s\" for device %s: %s\n%s", options,
                          context->device.name, gpu_error_text(diags->arena, error), log);
    return diag_error(diags, ODLC_ERR_INTERNAL, AT(.file = NULL), "gpu-build",
                      "kernels \"%s\" with options \"%s\" are not built for device %s: %s\n%s", source->name, options,
                      context->device.name, gpu_error_text(diags->arena, error), log);
}

static odlc_status build(struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                         const char *options, cl_program *out)
{
    const char *texts[] = {gpu_source_find("codes")->text, gpu_source_find("common")->text, source->text};
    cl_int error;
    const bool is_own = !gpu_package_of(context, source);
    cl_program program =
        is_own ? clCreateProgramWithSource(context->handle, COUNT_OF(texts), texts, NULL, &error)
               : clCreateProgramWithSource(context->handle, 1, (const char *[]){source->text}, NULL, &error);
    if (error == CL_SUCCESS)
        error = clBuildProgram(program, 1, &context->device.id, options, NULL, NULL);
    if (error == CL_SUCCESS) {
        *out = program;
        context->builds++;
        return ODLC_OK;
    }
    const odlc_status status = build_failed(context, diags, source, options, program, error);
    if (program)
        (void)clReleaseProgram(program);
    return status;
}

/* The program of the cache or the repository, if there is one that the driver takes. */
static bool load(struct gpu_context *context, const struct gpu_source *source, const char *options, cl_program *out)
{
    uint64_t key[2];
    cl_int status, error;
    gpu_binary_key(source->name, options, key);
    /* A context cache has programs of this library alone: that of a package may be another one by now. */
    const struct gpu_package *package = gpu_package_of(context, source);
    const struct gpu_repository *repository = package ? gpu_package_repository(package) : context->repository;
    const struct gpu_binary *binary = context->cache && !package ? gpu_cache_find(context->cache, key) : NULL;
    if (!binary && repository)
        binary = gpu_repository_find(repository, key);
    if (!binary)
        return false;
    cl_program program = clCreateProgramWithBinary(context->handle, 1, &context->device.id, &binary->size,
                                                   (const unsigned char *[]){binary->bytes}, &status, &error);
    if (error == CL_SUCCESS && status == CL_SUCCESS)
        error = clBuildProgram(program, 1, &context->device.id, options, NULL, NULL);
    if (error == CL_SUCCESS && status == CL_SUCCESS) {
        *out = program;
        context->loads++;
        return true;
    }
    if (program)
        (void)clReleaseProgram(program);
    return false;
}

/* The program, from the registry or brought into it; the lock is held. */
static odlc_status take_program(struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                                const char *options, struct gpu_program **out)
{
    *out = find(context, source, options);
    if (*out)
        return ODLC_OK;
    struct gpu_program *p = malloc(sizeof(*p) + strlen(options) + 1);
    if (!p)
        return ODLC_ERR_NOMEM;
    p->is_used = false;
    const odlc_status status =
        load(context, source, options, &p->handle) ? ODLC_OK : build(context, diags, source, options, &p->handle);
    if (status != ODLC_OK) {
        free(p);
        return status;
    }
    p->source = source;
    strcpy(p->options, options);
    p->next = context->programs;
    context->programs = p;
    *out = p;
    return ODLC_OK;
}

/* Of the package that a source is of; NULL: it is one of this library's own. */
static const char *library_of(struct gpu_context *context, const struct gpu_source *source)
{
    (void)pthread_mutex_lock(&context->lock);
    const struct gpu_package *package = gpu_package_of(context, source);
    (void)pthread_mutex_unlock(&context->lock);
    return package ? gpu_package_library(package) : NULL;
}

static odlc_status get_kernel(struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                              const char *function, const char *options, bool is_used, cl_kernel *out)
{
    struct gpu_program *program = NULL;
    cl_int error = CL_SUCCESS;
    (void)pthread_mutex_lock(&context->lock);
    const odlc_status status = take_program(context, diags, source, options, &program);
    if (status == ODLC_OK) {
        program->is_used |= is_used;
        *out = clCreateKernel(program->handle, function, &error);
    }
    (void)pthread_mutex_unlock(&context->lock);
    TRY(status);
    const char *library = error == CL_SUCCESS ? NULL : library_of(context, source);
    if (library)
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = library), "gpu-build",
                          "the package's source has no kernel %s: %s", function, gpu_error_text(diags->arena, error));
    if (error != CL_SUCCESS)
        return diag_error(diags, ODLC_ERR_INTERNAL, AT(.file = NULL), "gpu-build",
                          "kernel \"%s\" of \"%s\" is not made: %s", function, source->name,
                          gpu_error_text(diags->arena, error));
    return ODLC_OK;
}

odlc_status gpu_kernel_get(struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                           const char *function, const char *options, cl_kernel *out)
{
    return get_kernel(context, diags, source, function, options, true, out);
}

odlc_status gpu_kernel_try(struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                           const char *function, const char *options, cl_kernel *out)
{
    return get_kernel(context, diags, source, function, options, false, out);
}

/* ---- for the repository ---- */

/* False: the driver does not give it. */
static bool read_binary(const struct gpu_program *p, struct arena *arena, struct gpu_binary *out)
{
    size_t size = 0;
    if (clGetProgramInfo(p->handle, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL) != CL_SUCCESS || size == 0)
        return false;
    unsigned char *bytes = arena_alloc(arena, size);
    if (clGetProgramInfo(p->handle, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL) != CL_SUCCESS)
        return false;
    gpu_binary_key(p->source->name, p->options, out->key);
    out->bytes = bytes;
    out->size = size;
    return true;
}

size_t gpu_kernels_binaries(const struct gpu_context *context, const struct gpu_program *newest,
                            const struct gpu_package *package, struct arena *arena, struct gpu_binary **out)
{
    size_t count = 0, found = 0;
    for (const struct gpu_program *p = newest; p; p = p->next)
        count++;
    *out = arena_array(arena, struct gpu_binary, count);
    for (const struct gpu_program *p = newest; p; p = p->next)
        if (p->is_used && gpu_package_of(context, p->source) == package)
            found += read_binary(p, arena, &(*out)[found]);
    return found;
}

void gpu_kernels_drop_all(struct gpu_context *context)
{
    for (struct gpu_program *p = context->programs, *next; p; p = next) {
        next = p->next;
        (void)clReleaseProgram(p->handle);
        free(p);
    }
    context->programs = NULL;
}
