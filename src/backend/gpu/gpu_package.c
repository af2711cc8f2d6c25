/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_package.h"

#include <stdlib.h>
#include <string.h>

#include "backend/gpu/gpu_repository.h"
#include "base/hash.h"

struct foreign_source {
    struct foreign_source *next;
    struct gpu_source source; /* its text is what tells programs of it from others */
    char text[];
};

struct gpu_package {
    struct gpu_package *next;
    struct foreign_source *sources;
    struct gpu_repository *repository; /* NULL: nothing is kept */
    char *name, *library, *hash;
};

static void drop(struct gpu_package *p)
{
    for (struct foreign_source *s = p->sources, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    gpu_repository_close(p->repository);
    free(p->name);
    free(p->library);
    free(p->hash);
    free(p);
}

void gpu_packages_drop_all(struct gpu_context *context)
{
    for (struct gpu_package *p = context->packages, *next; p; p = next) {
        next = p->next;
        drop(p);
    }
    context->packages = NULL;
}

/* NULL: memory runs out. */
static struct gpu_package *add_package(struct gpu_context *context, const struct device_op *op)
{
    static const uint64_t key[2] = {0x6f70656e646c6334, 0x6770756b65726e34};
    struct gpu_package *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->name = strdup(op->package);
    p->library = strdup(op->library);
    p->hash = strdup(op->hash);
    if (context->repository_folder)
        p->repository = gpu_repository_open(&context->device, context->repository_folder, op->package,
                                            hash_bytes(key, op->hash, strlen(op->hash)));
    if (!p->name || !p->library || !p->hash || (context->repository_folder && !p->repository)) {
        drop(p);
        return NULL;
    }
    p->next = context->packages;
    context->packages = p;
    return p;
}

static struct gpu_package *take_package(struct gpu_context *context, const struct device_op *op)
{
    for (struct gpu_package *p = context->packages; p; p = p->next)
        if (strcmp(p->name, op->package) == 0 && strcmp(p->hash, op->hash) == 0)
            return p;
    return add_package(context, op);
}

static const struct gpu_source *take_source(struct gpu_package *p, const char *text)
{
    for (const struct foreign_source *s = p->sources; s; s = s->next)
        if (strcmp(s->text, text) == 0)
            return &s->source;
    const size_t size = strlen(text) + 1;
    struct foreign_source *s = malloc(sizeof(*s) + size);
    if (!s)
        return NULL;
    memcpy(s->text, text, size);
    s->source = (struct gpu_source){.name = s->text, .text = s->text};
    s->next = p->sources;
    p->sources = s;
    return &s->source;
}

odlc_status gpu_package_source(struct gpu_context *context, const struct device_op *op, const char *text,
                               const struct gpu_source **out)
{
    (void)pthread_mutex_lock(&context->lock);
    struct gpu_package *p = take_package(context, op);
    *out = p ? take_source(p, text) : NULL;
    (void)pthread_mutex_unlock(&context->lock);
    return *out ? ODLC_OK : ODLC_ERR_NOMEM;
}

const struct gpu_package *gpu_package_of(const struct gpu_context *context, const struct gpu_source *source)
{
    for (const struct gpu_package *p = context->packages; p; p = p->next)
        for (const struct foreign_source *s = p->sources; s; s = s->next)
            if (&s->source == source)
                return p;
    return NULL;
}

const struct gpu_repository *gpu_package_repository(const struct gpu_package *package)
{
    return package->repository;
}

const char *gpu_package_library(const struct gpu_package *package)
{
    return package->library;
}

const struct gpu_package *gpu_package_next(const struct gpu_context *context, const struct gpu_package *package)
{
    return package ? package->next : context->packages;
}
