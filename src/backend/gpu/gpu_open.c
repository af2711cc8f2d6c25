/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts are made, kept and given back. */
#include "backend/gpu/gpu_context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/gpu/gpu_cache.h"
#include "backend/gpu/gpu_kernels.h"
#include "backend/gpu/gpu_memory.h"
#include "backend/gpu/gpu_package.h"
#include "backend/gpu/gpu_program.h"
#include "backend/gpu/gpu_repository.h"
#include "backend/gpu/gpu_tuning.h"
#include "backend/gpu/gpu_weights.h"

static odlc_status check_device(struct diags *diags, const struct gpu_device *d)
{
    if (d->version < 120)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = NULL), "gpu-device",
                          "backend gpu needs OpenCL 1.2, and device %s has %u.%u", d->name, d->version / 100,
                          d->version / 10 % 10);
    if (d->alignment > gpu_memory.alignment)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = NULL), "gpu-device",
                          "device %s aligns tensors to %llu bytes, which is more than backend gpu does", d->name,
                          (unsigned long long)d->alignment);
    return ODLC_OK;
}

odlc_status gpu_context_create(struct diags *diags, const char *wanted, struct gpu_context **out)
{
    struct gpu_device device;
    cl_int error;
    TRY(gpu_device_choose(diags, wanted, &device));
    TRY(check_device(diags, &device));
    struct gpu_context *context = calloc(1, sizeof(*context));
    if (!context)
        return ODLC_ERR_NOMEM;
    context->device = device;
    context->handle = clCreateContext(NULL, 1, &device.id, NULL, NULL, &error);
    if (error != CL_SUCCESS) {
        free(context);
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = NULL), "gpu-device", "device %s cannot be used: %s",
                          device.name, gpu_error_text(diags->arena, error));
    }
    if (getrandom(context->hash_key, sizeof(context->hash_key), GRND_NONBLOCK) < 0)
        context->hash_key[0] = (uint64_t)(uintptr_t)context;
    (void)pthread_mutex_init(&context->lock, NULL);
    gpu_builders_init(context);
    *out = context;
    return ODLC_OK;
}

odlc_status gpu_context_use_repository(struct gpu_context *context, struct diags *diags, const char *folder)
{
    struct stat s;
    if (stat(folder, &s) != 0 || !S_ISDIR(s.st_mode) || access(folder, R_OK | W_OK | X_OK) != 0)
        diag_warn(diags, AT(.file = folder, .hint = "make a folder there that can be read and written to"),
                  "gpu-repository", "kernels are not kept for the next time: this is no such folder");
    context->repository = gpu_repository_open(&context->device, folder, GPU_OWN_PACKAGE, gpu_sources_hash());
    context->repository_folder = strdup(folder);
    return context->repository && context->repository_folder ? ODLC_OK : ODLC_ERR_NOMEM;
}

odlc_status gpu_context_use_tuning(struct gpu_context *context, struct diags *diags,
                                   const struct gpu_tuning_options *options)
{
    if (!options->measures && !options->folder)
        return ODLC_OK;
    context->tuning = gpu_tuning_create(options);
    if (!context->tuning)
        return ODLC_ERR_NOMEM;
    gpu_tuning_read(context->tuning, diags, &context->device);
    return ODLC_OK;
}

void gpu_context_keep(struct gpu_context *context, struct diags *diags)
{
    gpu_cache_keep(context, diags);
    if (context->tuning)
        gpu_tuning_write(context->tuning, diags, &context->device);
    struct gpu_binary *programs;
    (void)pthread_mutex_lock(&context->lock);
    const struct gpu_program *newest = context->programs;
    const bool has_new = context->builds > context->kept;
    context->kept = context->builds;
    (void)pthread_mutex_unlock(&context->lock);
    if (!context->repository || !has_new)
        return;
    for (const struct gpu_package *package = NULL;;) {
        const struct gpu_repository *repository = package ? gpu_package_repository(package) : context->repository;
        const size_t count = gpu_kernels_binaries(context, newest, package, diags->arena, &programs);
        if (count > 0 && repository)
            gpu_repository_write(repository, diags, programs, count);
        package = gpu_package_next(context, package);
        if (!package)
            return;
    }
}

void gpu_context_destroy(struct gpu_context *context)
{
    if (!context)
        return;
    gpu_builders_end(context);
    gpu_weights_drop_all(context);
    gpu_kernels_drop_all(context);
    gpu_packages_drop_all(context);
    gpu_repository_close(context->repository);
    gpu_tuning_destroy(context->tuning);
    free(context->repository_folder);
    (void)clReleaseContext(context->handle);
    (void)pthread_mutex_destroy(&context->lock);
    free(context);
}
