/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

enum { VERSION = 1, LETTERS = 8 };

/* Keys that are the same everywhere: the sums are in files. */
static const uint64_t key_low[2] = {0x6f70656e646c6331, 0x6770756b65726e31};
static const uint64_t key_high[2] = {0x6f70656e646c6332, 0x6770756b65726e32};

struct header {
    char letters[LETTERS];
    uint32_t version, count;
    uint64_t identity[2], size, sum;
};

struct entry {
    uint64_t key[2], offset, size;
};

/* ---- keys ---- */

void gpu_identity(const char *const *texts, size_t n_texts, const uint64_t *numbers, size_t n_numbers,
                  uint64_t identity[2])
{
    const uint64_t *const keys[] = {key_low, key_high};
    for (int k = 0; k < 2; k++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < n_texts; i++) {
            const uint64_t both[] = {sum, hash_bytes(keys[k], texts[i], strlen(texts[i]))};
            sum = hash_bytes(keys[k], both, sizeof(both));
        }
        const uint64_t both[] = {sum, n_numbers ? hash_bytes(keys[k], numbers, n_numbers * sizeof(*numbers)) : 0};
        identity[k] = hash_bytes(keys[k], both, sizeof(both));
    }
}

void gpu_binary_key(const char *first, const char *second, uint64_t key[2])
{
    gpu_identity((const char *const[]){first, second}, 2, NULL, 0, key);
}

/* ---- reading ---- */

/* The bytes are checked before one of them is believed. */
static bool is_sound(const struct gpu_store_kind *kind, const uint8_t *bytes, uint64_t size)
{
    struct header h;
    if (size < sizeof(h))
        return false;
    memcpy(&h, bytes, sizeof(h));
    const uint64_t rest = size - sizeof(h);
    return memcmp(h.letters, kind->letters, LETTERS) == 0 && h.version == VERSION && h.size == size &&
           memcmp(h.identity, kind->identity, sizeof(h.identity)) == 0 && h.count <= GPU_STORE_MOST &&
           h.count <= rest / sizeof(struct entry) && h.sum == hash_bytes(key_low, bytes + sizeof(h), rest);
}

static enum gpu_store_state read_entries(struct gpu_contents *c, uint64_t size)
{
    struct header h;
    memcpy(&h, c->bytes, sizeof(h));
    c->binaries = calloc(h.count ? h.count : 1, sizeof(*c->binaries));
    if (!c->binaries)
        return GPU_STORE_NOMEM;
    for (uint32_t i = 0; i < h.count; i++) {
        struct entry e;
        memcpy(&e, c->bytes + sizeof(h) + i * sizeof(e), sizeof(e));
        if (e.offset > size || e.size > size - e.offset)
            return GPU_STORE_DAMAGED;
        c->binaries[i] = (struct gpu_binary){{e.key[0], e.key[1]}, c->bytes + e.offset, e.size};
    }
    c->count = h.count;
    return GPU_STORE_SOUND;
}

static enum gpu_store_state read_open(const struct file *file, const struct gpu_store_kind *kind,
                                      struct gpu_contents *c)
{
    if (file->size == 0)
        return GPU_STORE_ABSENT;
    c->bytes = malloc(file->size);
    if (!c->bytes)
        return GPU_STORE_NOMEM;
    if (file_read_at(file, 0, c->bytes, file->size) != 0)
        return GPU_STORE_FOREIGN;
    if (memcmp(c->bytes, kind->letters, min_u64(file->size, LETTERS)) != 0)
        return GPU_STORE_FOREIGN;
    return is_sound(kind, c->bytes, file->size) ? read_entries(c, file->size) : GPU_STORE_DAMAGED;
}

enum gpu_store_state gpu_store_read(const char *path, const struct gpu_store_kind *kind, struct gpu_contents *out)
{
    struct stat now;
    *out = (struct gpu_contents){.count = 0};
    const int fd = open_patiently(path, O_RDONLY | O_NONBLOCK); /* pipes do not wait for a writer */
    if (fd < 0)
        return errno == ENOENT ? GPU_STORE_ABSENT : GPU_STORE_FOREIGN;
    const bool is_file = fstat(fd, &now) == 0 && S_ISREG(now.st_mode);
    const struct file file = {.path = path, .fd = fd, .size = is_file ? (uint64_t)now.st_size : 0};
    const enum gpu_store_state state = is_file ? read_open(&file, kind, out) : GPU_STORE_FOREIGN;
    (void)close(fd);
    if (state != GPU_STORE_SOUND)
        gpu_store_forget(out);
    return state;
}

const struct gpu_binary *gpu_store_find(const struct gpu_binary *binaries, size_t count, const uint64_t key[2])
{
    for (size_t i = 0; i < count; i++)
        if (binaries[i].key[0] == key[0] && binaries[i].key[1] == key[1])
            return &binaries[i];
    return NULL;
}

void gpu_store_forget(struct gpu_contents *c)
{
    free(c->binaries);
    free(c->bytes);
    *c = (struct gpu_contents){.count = 0};
}

/* ---- writing ---- */

static void fill(const struct gpu_store_kind *kind, uint8_t *bytes, uint64_t size, const struct gpu_binary *binaries,
                 uint32_t count)
{
    struct header h = {.version = VERSION, .count = count, .size = size};
    struct entry e = {.offset = sizeof(h) + count * sizeof(e)};
    memcpy(h.letters, kind->letters, LETTERS);
    memcpy(h.identity, kind->identity, sizeof(h.identity));
    for (uint32_t i = 0; i < count; i++) {
        memcpy(e.key, binaries[i].key, sizeof(e.key));
        e.size = binaries[i].size;
        memcpy(bytes + sizeof(h) + i * sizeof(e), &e, sizeof(e));
        memcpy(bytes + e.offset, binaries[i].bytes, e.size);
        e.offset += e.size;
    }
    h.sum = hash_bytes(key_low, bytes + sizeof(h), size - sizeof(h));
    memcpy(bytes, &h, sizeof(h));
}

odlc_status gpu_store_write(struct diags *diags, const char *path, const struct gpu_store_kind *kind,
                            const struct gpu_binary *binaries, size_t count)
{
    const uint32_t n = (uint32_t)min_u64(count, GPU_STORE_MOST);
    uint64_t size = sizeof(struct header) + n * sizeof(struct entry);
    struct out_file *out;
    for (uint32_t i = 0; i < n; i++)
        size += binaries[i].size;
    uint8_t *bytes = arena_alloc(diags->arena, size);
    fill(kind, bytes, size, binaries, n);
    TRY(out_create(diags->arena, diags, path, &out));
    TRY(out_write(out, bytes, size));
    return out_commit(out);
}
