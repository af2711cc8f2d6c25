/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "backend/gpu/gpu_cache.h"
#include "backend/gpu/gpu_package.h"
#include "backend/gpu/gpu_program.h"
#include "backend/gpu/gpu_repository.h"

/* More of a compiler's words than anybody reads. */
enum { LOG_SIZE = 4000 };

/* ---- the registry ---- */

static struct gpu_program *find(const struct gpu_context *context, const struct gpu_source *source, const char *options)
{
    for (struct gpu_program *p = context->programs; p; p = p->next)
        if (p->source == source && !p->is_reported && strcmp(p->options, options) == 0)
            return p;
    return NULL;
}

/* What the cache or the repository has of a program. */
static const struct gpu_binary *find_binary(const struct gpu_context *context, const struct gpu_program *p)
{
    const struct gpu_repository *repository = p->package ? gpu_package_repository(p->package) : context->repository;
    const struct gpu_binary *binary = NULL;
    uint64_t key[2];
    gpu_binary_key(p->source->name, p->options, key);
    /* A context cache has programs of this library alone: that of a package may be another one by now. */
    if (context->cache && !p->package)
        binary = gpu_cache_find(context->cache, key);
    return binary || !repository ? binary : gpu_repository_find(repository, key);
}

/* NULL: memory runs out. */
static struct gpu_program *add(struct gpu_context *context, const struct gpu_source *source, const char *options)
{
    struct gpu_program *p = calloc(1, sizeof(*p) + strlen(options) + 1);
    if (!p)
        return NULL;
    p->source = source;
    p->package = gpu_package_of(context, source);
    strcpy(p->options, options);
    p->binary = find_binary(context, p);
    p->next = context->programs;
    context->programs = p;
    gpu_program_queue(context, p);
    return p;
}

odlc_status gpu_program_take(struct gpu_context *context, const struct gpu_source *source, const char *options,
                             bool is_used, struct gpu_program **out)
{
    (void)pthread_mutex_lock(&context->lock);
    struct gpu_program *p = find(context, source, options);
    p = p ? p : add(context, source, options);
    if (p)
        p->is_used |= is_used;
    (void)pthread_mutex_unlock(&context->lock);
    *out = p;
    return p ? ODLC_OK : ODLC_ERR_NOMEM;
}

/* ---- kernels ---- */

static odlc_status build_failed(const struct gpu_context *context, struct diags *diags, const struct gpu_program *p)
{
    char log[LOG_SIZE] = "";
    size_t size = 0;
    if (p->handle &&
        clGetProgramBuildInfo(p->handle, context->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS) {
        char *whole = arena_alloc(diags->arena, size + 1);
        (void)clGetProgramBuildInfo(p->handle, context->device.id, CL_PROGRAM_BUILD_LOG, size, whole, NULL);
        strncpy(log, whole, sizeof(log) - 1);
    }
    if (p->package)
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = gpu_package_library(p->package)), "gpu-build",
                          "the package's kernels are not built with options \"%s\" for device %s: %s\n%s", p->options,
                          context->device.name, gpu_error_text(diags->arena, p->error), log);
    return diag_error(diags, ODLC_ERR_INTERNAL, AT(.file = NULL), "gpu-build",
                      "kernels \"%s\" with options \"%s\" are not built for device %s: %s\n%s", p->source->name,
                      p->options, context->device.name, gpu_error_text(diags->arena, p->error), log);
}

odlc_status gpu_program_kernel(struct gpu_context *context, struct diags *diags, struct gpu_program *p,
                               const char *function, cl_kernel *out)
{
    cl_int error;
    (void)pthread_mutex_lock(&context->lock);
    gpu_program_wait(context, p);
    p->is_reported = p->state == GPU_PROGRAM_FAILED;
    (void)pthread_mutex_unlock(&context->lock);
    if (p->state == GPU_PROGRAM_FAILED)
        return build_failed(context, diags, p);
    *out = clCreateKernel(p->handle, function, &error);
    if (error == CL_SUCCESS)
        return ODLC_OK;
    if (p->package)
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = gpu_package_library(p->package)), "gpu-build",
                          "the package's source has no kernel %s: %s", function, gpu_error_text(diags->arena, error));
    return diag_error(diags, ODLC_ERR_INTERNAL, AT(.file = NULL), "gpu-build",
                      "kernel \"%s\" of \"%s\" is not made: %s", function, p->source->name,
                      gpu_error_text(diags->arena, error));
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

static bool is_to_be_kept(struct gpu_context *context, const struct gpu_program *p, const struct gpu_package *package)
{
    (void)pthread_mutex_lock(&context->lock);
    const bool is_kept = p->is_used && p->state == GPU_PROGRAM_BUILT && p->package == package;
    (void)pthread_mutex_unlock(&context->lock);
    return is_kept;
}

size_t gpu_kernels_binaries(struct gpu_context *context, const struct gpu_program *newest,
                            const struct gpu_package *package, struct arena *arena, struct gpu_binary **out)
{
    size_t count = 0, found = 0;
    for (const struct gpu_program *p = newest; p; p = p->next)
        count++;
    *out = arena_array(arena, struct gpu_binary, count);
    for (const struct gpu_program *p = newest; p; p = p->next)
        if (is_to_be_kept(context, p, package))
            found += read_binary(p, arena, &(*out)[found]);
    return found;
}

void gpu_kernels_drop_all(struct gpu_context *context)
{
    for (struct gpu_program *p = context->programs, *next; p; p = next) {
        next = p->next;
        if (p->handle)
            (void)clReleaseProgram(p->handle);
        free(p);
    }
    context->programs = NULL;
}
