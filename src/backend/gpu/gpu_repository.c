/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_repository.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opendlc/version.h"

struct gpu_repository {
    struct gpu_store_kind kind;
    struct gpu_contents contents;
    char path[];
};

static struct gpu_store_kind kind_of(const struct gpu_device *d, uint64_t hash)
{
    const char *const texts[] = {ODLC_VERSION, d->platform_name, d->name, d->driver};
    struct gpu_store_kind kind = {.letters = "ODLCGPUK"};
    gpu_identity(texts, COUNT_OF(texts), (const uint64_t[]){d->version, hash}, 2, kind.identity);
    return kind;
}

struct gpu_repository *gpu_repository_open(const struct gpu_device *device, const char *folder, const char *package,
                                           uint64_t hash)
{
    static const char name[] = "/gpukernelcache.";
    const size_t size = strlen(folder) + sizeof(name) + strlen(package);
    struct gpu_repository *r = calloc(1, sizeof(*r) + size);
    if (!r)
        return NULL;
    (void)snprintf(r->path, size, "%s%s%s", folder, name, package);
    r->kind = kind_of(device, hash);
    (void)gpu_store_read(r->path, &r->kind, &r->contents);
    return r;
}

const struct gpu_binary *gpu_repository_find(const struct gpu_repository *r, const uint64_t key[2])
{
    return gpu_store_find(r->contents.binaries, r->contents.count, key);
}

void gpu_repository_close(struct gpu_repository *r)
{
    if (!r)
        return;
    gpu_store_forget(&r->contents);
    free(r);
}

/* With those that others put into the file since. */
static odlc_status write_all(const struct gpu_repository *r, struct diags *diags, const struct gpu_binary *programs,
                             size_t count)
{
    struct gpu_contents there;
    (void)gpu_store_read(r->path, &r->kind, &there);
    arena_defer(diags->arena, free, there.bytes);
    arena_defer(diags->arena, free, there.binaries);
    struct gpu_binary *all = arena_array(diags->arena, struct gpu_binary, count + there.count);
    size_t n = 0;
    for (size_t i = 0; i < count + there.count; i++) {
        const struct gpu_binary *b = i < count ? &programs[i] : &there.binaries[i - count];
        if (i < count || !gpu_store_find(programs, count, b->key))
            all[n++] = *b;
    }
    return gpu_store_write(diags, r->path, &r->kind, all, n);
}

void gpu_repository_write(const struct gpu_repository *r, struct diags *diags, const struct gpu_binary *programs,
                          size_t count)
{
    struct diags unheard;
    diags_init(&unheard, diags->arena);
    if (write_all(r, &unheard, programs, count) != ODLC_OK)
        diag_warn(diags, AT(.file = r->path, .hint = "give a folder that can be written to"), "gpu-repository",
                  "kernels are not kept for the next time: %s",
                  unheard.list.count ? unheard.list.data[0].message : "the file cannot be written");
}
