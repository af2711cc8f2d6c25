/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_repository.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "opendlc/version.h"

#define MAGIC "ODLCGPUK"

enum { VERSION = 1, MOST_PROGRAMS = 65536 };

/* Keys that are the same everywhere: the sums are in files. */
static const uint64_t key_low[2] = {0x6f70656e646c6331, 0x6770756b65726e31};
static const uint64_t key_high[2] = {0x6f70656e646c6332, 0x6770756b65726e32};

struct header {
    char magic[8];
    uint32_t version, count;
    uint64_t identity[2], size, sum;
};

struct entry {
    uint64_t key[2], offset, size;
};

/* The programs of a file, in memory of their own: others may replace or change a file at any time. */
struct contents {
    uint8_t *bytes;
    struct gpu_binary *binaries;
    uint32_t count;
};

struct gpu_repository {
    uint64_t identity[2];
    struct contents contents;
    char path[];
};

void gpu_binary_key(const char *source, const char *options, uint64_t key[2])
{
    const uint64_t both[2][2] = {
        {hash_bytes(key_low, source, strlen(source)), hash_bytes(key_low, options, strlen(options))},
        {hash_bytes(key_high, source, strlen(source)), hash_bytes(key_high, options, strlen(options))}};
    key[0] = hash_bytes(key_low, both, sizeof(both));
    key[1] = hash_bytes(key_high, both, sizeof(both));
}

/* ---- reading ---- */

/* The bytes are checked before one of them is believed. */
static bool is_sound(const struct gpu_repository *r, const uint8_t *bytes, uint64_t size)
{
    struct header h;
    if (size < sizeof(h))
        return false;
    memcpy(&h, bytes, sizeof(h));
    const uint64_t rest = size - sizeof(h);
    return memcmp(h.magic, MAGIC, sizeof(h.magic)) == 0 && h.version == VERSION && h.size == size &&
           memcmp(h.identity, r->identity, sizeof(h.identity)) == 0 && h.count <= MOST_PROGRAMS &&
           h.count <= rest / sizeof(struct entry) && h.sum == hash_bytes(key_low, bytes + sizeof(h), rest);
}

/* False: an entry is none, or memory runs out. */
static bool read_entries(struct contents *c, uint64_t size)
{
    struct header h;
    memcpy(&h, c->bytes, sizeof(h));
    c->binaries = calloc(h.count ? h.count : 1, sizeof(*c->binaries));
    if (!c->binaries)
        return false;
    for (uint32_t i = 0; i < h.count; i++) {
        struct entry e;
        memcpy(&e, c->bytes + sizeof(h) + i * sizeof(e), sizeof(e));
        if (e.offset > size || e.size > size - e.offset)
            return false;
        c->binaries[i] = (struct gpu_binary){{e.key[0], e.key[1]}, c->bytes + e.offset, e.size};
    }
    c->count = h.count;
    return true;
}

static void forget(struct contents *c)
{
    free(c->binaries);
    free(c->bytes);
    *c = (struct contents){.count = 0};
}

/* No programs where the file cannot be used. */
static struct contents read_contents(const struct gpu_repository *r)
{
    struct contents c = {.count = 0};
    struct stat now;
    const int fd = open_patiently(r->path, O_RDONLY | O_NONBLOCK); /* pipes do not wait for a writer */
    if (fd < 0)
        return c;
    const bool is_file = fstat(fd, &now) == 0 && S_ISREG(now.st_mode) && now.st_size > 0;
    const uint64_t size = is_file ? (uint64_t)now.st_size : 0;
    const struct file file = {.path = r->path, .fd = fd, .size = size};
    c.bytes = is_file ? malloc(size) : NULL;
    const bool is_read = c.bytes && file_read_at(&file, 0, c.bytes, size) == 0;
    (void)close(fd);
    if (!is_read || !is_sound(r, c.bytes, size) || !read_entries(&c, size))
        forget(&c);
    return c;
}

static const struct gpu_binary *find(const struct gpu_binary *binaries, size_t count, const uint64_t key[2])
{
    for (size_t i = 0; i < count; i++)
        if (binaries[i].key[0] == key[0] && binaries[i].key[1] == key[1])
            return &binaries[i];
    return NULL;
}

static void set_identity(struct gpu_repository *r, const struct gpu_device *d, uint64_t hash)
{
    const char *const texts[] = {ODLC_VERSION, d->platform_name, d->name, d->driver};
    uint64_t sums[2][COUNT_OF(texts) + 2];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        sums[0][i] = hash_bytes(key_low, texts[i], strlen(texts[i]));
        sums[1][i] = hash_bytes(key_high, texts[i], strlen(texts[i]));
    }
    for (int k = 0; k < 2; k++) {
        sums[k][COUNT_OF(texts)] = d->version;
        sums[k][COUNT_OF(texts) + 1] = hash;
        r->identity[k] = hash_bytes(key_low, sums[k], sizeof(sums[k]));
    }
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
    set_identity(r, device, hash);
    r->contents = read_contents(r);
    return r;
}

const struct gpu_binary *gpu_repository_find(const struct gpu_repository *r, const uint64_t key[2])
{
    return find(r->contents.binaries, r->contents.count, key);
}

void gpu_repository_close(struct gpu_repository *r)
{
    if (!r)
        return;
    forget(&r->contents);
    free(r);
}

/* ---- writing ---- */

static void fill(const struct gpu_repository *r, uint8_t *bytes, uint64_t size, const struct gpu_binary *programs,
                 uint32_t count)
{
    struct header h = {.magic = MAGIC, .version = VERSION, .count = count, .size = size};
    struct entry e = {.offset = sizeof(h) + count * sizeof(e)};
    memcpy(h.identity, r->identity, sizeof(h.identity));
    for (uint32_t i = 0; i < count; i++) {
        memcpy(e.key, programs[i].key, sizeof(e.key));
        e.size = programs[i].size;
        memcpy(bytes + sizeof(h) + i * sizeof(e), &e, sizeof(e));
        memcpy(bytes + e.offset, programs[i].bytes, e.size);
        e.offset += e.size;
    }
    h.sum = hash_bytes(key_low, bytes + sizeof(h), size - sizeof(h));
    memcpy(bytes, &h, sizeof(h));
}

/* With those that others put into the file since. */
static odlc_status write_all(const struct gpu_repository *r, struct diags *diags, const struct gpu_binary *programs,
                             size_t count)
{
    const struct contents there = read_contents(r);
    arena_defer(diags->arena, free, there.bytes);
    arena_defer(diags->arena, free, there.binaries);
    struct gpu_binary *all = arena_array(diags->arena, struct gpu_binary, count + there.count);
    uint64_t size = sizeof(struct header);
    uint32_t n = 0;
    for (size_t i = 0; i < count + there.count; i++) {
        const struct gpu_binary *b = i < count ? &programs[i] : &there.binaries[i - count];
        if (n == MOST_PROGRAMS || (i >= count && find(programs, count, b->key)))
            continue;
        all[n++] = *b;
        size += sizeof(struct entry) + b->size;
    }
    uint8_t *bytes = arena_alloc(diags->arena, size);
    struct out_file *out;
    fill(r, bytes, size, all, n);
    TRY(out_create(diags->arena, diags, r->path, &out));
    TRY(out_write(out, bytes, size));
    return out_commit(out);
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
