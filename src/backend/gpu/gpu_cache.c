/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_cache_inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/gpu_source.h"
#include "backend/gpu/gpu_tuning.h"
#include "opendlc/version.h"

const struct gpu_store_kind gpu_cache_kind = {.letters = "ODLCGPUC"};

static const char rebuild_hint[] = "--rebuild_context_cache makes it anew";

/* ---- the description ---- */

/* In the arena. */
void gpu_cache_origins(struct arena *arena, const struct gpu_device *d, struct gpu_cache_origin out[GPU_CACHE_LINES])
{
    out[0] = (struct gpu_cache_origin){"OpenDLC", ODLC_VERSION};
    out[1] = (struct gpu_cache_origin){"platform", d->platform_name};
    out[2] = (struct gpu_cache_origin){"device", d->name};
    out[3] = (struct gpu_cache_origin){"driver", d->driver};
    out[4] = (struct gpu_cache_origin){"OpenCL", arena_printf(arena, "%" PRIu32, d->version)};
    out[5] = (struct gpu_cache_origin){"kernels", arena_printf(arena, "%016" PRIx64, gpu_sources_hash())};
}

void gpu_cache_description_key(uint64_t key[2])
{
    gpu_binary_key("context cache", "description", key);
}

void gpu_cache_tuning_key(uint64_t key[2])
{
    gpu_binary_key("context cache", "tuning", key);
}

/* The next line of a description that ends at `end`, without its break; NULL: there is none. */
static const char *next_line(const char **at, const char *end, size_t *length)
{
    const char *const line = *at, *const stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    if (!stop)
        return NULL;
    *length = (size_t)(stop - line);
    *at = stop + 1;
    return line;
}

static bool add_graph(struct gpu_cache *cache, const struct gpu_container *container,
                      const struct gpu_graph_options *options)
{
    struct graph_entry *e = malloc(sizeof(*e));
    if (!e)
        return false;
    *e = (struct graph_entry){cache->graphs, *container, *options};
    cache->graphs = e;
    return true;
}

static bool read_graph(const char *line, size_t length, struct gpu_container *container, struct gpu_graph_options *o)
{
    char copy[160];
    const char *at = copy;
    uint64_t numbers[7]; /* the first is a hash, in hexadecimal */
    if (length >= sizeof(copy))
        return false;
    memcpy(copy, line, length);
    copy[length] = '\0';
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char *end;
        numbers[i] = strtoull(at, &end, i == 0 ? 16 : 10);
        if (end == at)
            return false;
        at = end;
    }
    if (numbers[2] > GPU_PERFORMANCE_LOW || numbers[3] > GPU_PRECISION_HYBRID)
        return false;
    *container = (struct gpu_container){.hash = numbers[0], .size = numbers[1]};
    *o = (struct gpu_graph_options){.performance = (enum gpu_performance)numbers[2],
                                    .precision = (enum gpu_precision)numbers[3],
                                    .no_fusion = numbers[4] != 0,
                                    .no_recording = numbers[5] != 0,
                                    .has_own_places = numbers[6] != 0};
    return true;
}

static const struct gpu_binary *description_of(const struct gpu_cache *cache)
{
    uint64_t key[2];
    gpu_cache_description_key(key);
    return gpu_store_find(cache->contents.binaries, cache->contents.count, key);
}

/* False: there is no description as this version writes one, or memory runs out. */
static bool read_graphs(struct gpu_cache *cache)
{
    const struct gpu_binary *b = description_of(cache);
    size_t length;
    if (!b)
        return false;
    const char *at = (const char *)b->bytes, *const end = at + b->size, *line;
    for (int i = 0; i < GPU_CACHE_LINES; i++)
        if (!next_line(&at, end, &length))
            return false;
    while ((line = next_line(&at, end, &length))) {
        struct gpu_container container;
        struct gpu_graph_options options;
        if (!read_graph(line, length, &container, &options) || !add_graph(cache, &container, &options))
            return false;
    }
    return true;
}

/* ---- opening ---- */

static void count_as_absent(struct gpu_cache *cache)
{
    for (struct graph_entry *e = cache->graphs, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    cache->graphs = NULL;
    gpu_store_forget(&cache->contents);
    cache->is_absent = true;
    cache->is_kept = true;
}

static void read_cache(struct gpu_cache *cache, struct diags *diags, bool rebuilds)
{
    enum gpu_store_state state = gpu_store_read(cache->path, &gpu_cache_kind, &cache->contents);
    if (state == GPU_STORE_SOUND && !read_graphs(cache))
        state = GPU_STORE_DAMAGED;
    if (state == GPU_STORE_SOUND && !rebuilds)
        return;
    count_as_absent(cache);
    if (state == GPU_STORE_FOREIGN) {
        cache->is_kept = false;
        diag_warn(diags, AT(.file = cache->path, .hint = "name another file"), "gpu-cache",
                  "this is no context cache: it is left as it is, and graphs are prepared without one");
    } else if (state == GPU_STORE_DAMAGED && !rebuilds) {
        diag_warn(diags, AT(.file = cache->path), "gpu-cache",
                  "the context cache is damaged: graphs are prepared without it, and it is replaced");
    }
}

struct gpu_cache *gpu_cache_open(struct diags *diags, const char *path, bool rebuilds)
{
    struct gpu_cache *cache = calloc(1, sizeof(*cache) + strlen(path) + 1);
    if (!cache)
        return NULL;
    strcpy(cache->path, path);
    (void)pthread_mutex_init(&cache->lock, NULL);
    read_cache(cache, diags, rebuilds);
    return cache;
}

void gpu_cache_close(struct gpu_cache *cache)
{
    if (!cache)
        return;
    for (struct noted *n = cache->noted, *next; n; n = next) {
        next = n->next;
        (void)clReleaseMemObject(n->buffer);
        free(n);
    }
    count_as_absent(cache);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* ---- of whom it is ---- */

static const struct graph_entry *find_graph(const struct gpu_cache *cache, const struct gpu_container *wanted)
{
    for (const struct graph_entry *e = cache->graphs; e; e = e->next)
        if (e->container.hash == wanted->hash && e->container.size == wanted->size)
            return e;
    return NULL;
}

odlc_status gpu_cache_find_graph(const struct gpu_cache *cache, struct diags *diags, const struct gpu_container *wanted,
                                 bool *found, struct gpu_graph_options *out)
{
    *found = false;
    if (cache->is_absent)
        return ODLC_OK;
    const struct graph_entry *e = find_graph(cache, wanted);
    if (!e)
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = cache->path, .hint = rebuild_hint), "gpu-cache",
                          "the context cache is of another container, or this one has changed since");
    *found = true;
    *out = e->options;
    return ODLC_OK;
}

odlc_status gpu_cache_add_graph(struct gpu_cache *cache, const struct gpu_container *container,
                                const struct gpu_graph_options *options)
{
    (void)pthread_mutex_lock(&cache->lock);
    const bool is_there = find_graph(cache, container) || !cache->is_absent || add_graph(cache, container, options);
    (void)pthread_mutex_unlock(&cache->lock);
    return is_there ? ODLC_OK : ODLC_ERR_NOMEM;
}

static odlc_status check_origin(const struct gpu_cache *cache, struct diags *diags, const struct gpu_device *device)
{
    const struct gpu_binary *b = description_of(cache);
    const char *at = (const char *)b->bytes, *const end = at + b->size;
    struct gpu_cache_origin origins[GPU_CACHE_LINES];
    gpu_cache_origins(diags->arena, device, origins);
    for (int i = 0; i < GPU_CACHE_LINES; i++) {
        size_t length;
        const char *line = next_line(&at, end, &length);
        if (length != strlen(origins[i].value) || memcmp(line, origins[i].value, length) != 0)
            return diag_error(diags, ODLC_ERR_INVALID, AT(.file = cache->path, .hint = rebuild_hint), "gpu-cache",
                              "the context cache is of %s %.*s, and this is %s", origins[i].what, (int)length, line,
                              origins[i].value);
    }
    return ODLC_OK;
}

/* What was tuned for the graphs is known. */
static odlc_status use_tuning(struct gpu_context *context, struct diags *diags)
{
    uint64_t key[2];
    gpu_cache_tuning_key(key);
    const struct gpu_binary *b = gpu_cache_find(context->cache, key);
    if (!b)
        return ODLC_OK;
    if (!context->tuning)
        context->tuning = gpu_tuning_create(&(struct gpu_tuning_options){.folder = NULL});
    if (!context->tuning)
        return ODLC_ERR_NOMEM;
    (void)gpu_tuning_read_text(context->tuning, diags->arena, &context->device, (const char *)b->bytes, b->size);
    return ODLC_OK;
}

odlc_status gpu_context_use_cache(struct gpu_context *context, struct diags *diags, struct gpu_cache *cache)
{
    if (!cache->is_absent)
        TRY(check_origin(cache, diags, &context->device));
    context->cache = cache;
    return use_tuning(context, diags);
}

/* ---- contents ---- */

const struct gpu_binary *gpu_cache_find(const struct gpu_cache *cache, const uint64_t key[2])
{
    return gpu_store_find(cache->contents.binaries, cache->contents.count, key);
}

/* What cannot be noted is missing in the file, and is made anew. */
void gpu_cache_note(struct gpu_cache *cache, const uint64_t key[2], cl_mem buffer, uint64_t size)
{
    struct noted *n = cache->is_kept ? malloc(sizeof(*n)) : NULL;
    if (!n)
        return;
    *n = (struct noted){.key = {key[0], key[1]}, .size = size, .buffer = buffer};
    if (clRetainMemObject(buffer) != CL_SUCCESS) {
        free(n);
        return;
    }
    (void)pthread_mutex_lock(&cache->lock);
    n->next = cache->noted;
    cache->noted = n;
    (void)pthread_mutex_unlock(&cache->lock);
}
