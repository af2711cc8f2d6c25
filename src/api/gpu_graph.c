/* SPDX-License-Identifier: Apache-2.0 */
/* By which options a graph is prepared for the GPU: the context's, and those of a context cache. */
#include "api/shared_gpu.h"

#include <string.h>

#include "base/file.h"

#ifdef ODLC_BACKEND_GPU
#include "backend/gpu/gpu_cache.h"
#include "base/hash.h"
#endif

static enum gpu_precision precision_of(enum odlc_gpu_precision precision)
{
    static const enum gpu_precision precisions[] = {
        [ODLC_GPU_USER_PROVIDED] = GPU_PRECISION_USER_PROVIDED,
        [ODLC_GPU_FP32] = GPU_PRECISION_FP32,
        [ODLC_GPU_FP16] = GPU_PRECISION_FP16,
        [ODLC_GPU_HYBRID] = GPU_PRECISION_HYBRID,
    };
    return precisions[precision];
}

static enum gpu_performance performance_of(enum odlc_gpu_performance performance)
{
    static const enum gpu_performance performances[] = {
        [ODLC_GPU_HIGH] = GPU_PERFORMANCE_HIGH,
        [ODLC_GPU_NORMAL] = GPU_PERFORMANCE_NORMAL,
        [ODLC_GPU_LOW] = GPU_PERFORMANCE_LOW,
    };
    return performances[performance];
}

static enum gpu_priority priority_of(enum odlc_gpu_priority priority)
{
    static const enum gpu_priority priorities[] = {
        [ODLC_GPU_PRIORITY_NORMAL] = GPU_PRIORITY_NORMAL,
        [ODLC_GPU_PRIORITY_LOW] = GPU_PRIORITY_LOW,
        [ODLC_GPU_PRIORITY_HIGH] = GPU_PRIORITY_HIGH,
    };
    return priorities[priority];
}

static struct gpu_graph_options options_of(const odlc_gpu *gpu, const char *graph)
{
    const struct odlc_gpu_config *c = &gpu->config;
    struct gpu_graph_options o = {.performance = performance_of(c->performance)};
    if (c->n_graph_names && !gpu_is_among(graph, c->graph_names, c->n_graph_names))
        return o;
    o.precision = precision_of(c->precision);
    o.no_fusion = c->disable_node_optimizations;
    o.no_recording = c->disable_queue_recording;
    o.has_own_places = c->disable_memory_optimizations;
    return o;
}

/* ---- the context cache ---- */

#ifdef ODLC_BACKEND_GPU
enum { PIECE = 1 << 20 };
static const uint64_t key[2] = {0x6f70656e646c6335, 0x636f6e7461696e35};

static void add(struct gpu_container *container, uint64_t sum)
{
    const uint64_t both[] = {container->hash, sum};
    container->hash = hash_bytes(key, both, sizeof(both));
}

static odlc_status add_bytes(struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                             struct gpu_container *out)
{
    const uint64_t count = entry->compressed ? entry->packed : entry->size;
    uint8_t *piece = arena_alloc(diags->arena, PIECE);
    for (uint64_t done = 0; done < count; done += PIECE) {
        const size_t size = (size_t)min_u64(PIECE, count - done);
        TRY(file_read(file, diags, entry->offset + done, piece, size));
        add(out, hash_bytes(key, piece, size));
    }
    return ODLC_OK;
}

/* Entries are the same whose names, sizes and CRCs are: their bytes have been compared with these when the container
 * was opened. Of those without a CRC all bytes are read. */
static odlc_status identify(struct diags *diags, const struct dlc_file *dlc, struct gpu_container *out)
{
    *out = (struct gpu_container){.size = dlc->file->size};
    for (uint32_t i = 0; i < dlc->n_entries; i++) {
        const struct dlc_entry *entry = &dlc->entries[i];
        const uint64_t numbers[] = {entry->size, entry->crc};
        add(out, hash_bytes(key, entry->name, strlen(entry->name)));
        add(out, hash_bytes(key, numbers, sizeof(numbers)));
        if (!entry->crc)
            TRY(add_bytes(diags, dlc->file, entry, out));
    }
    return ODLC_OK;
}

/* As gpu_take_context. */
static odlc_status take_cache(odlc_gpu *gpu, struct diags *diags)
{
    (void)pthread_mutex_lock(&gpu->lock);
    const bool is_open = gpu->cache != NULL;
    (void)pthread_mutex_unlock(&gpu->lock);
    struct gpu_cache *fresh =
        is_open ? NULL : gpu_cache_open(diags, gpu->config.context_cache, gpu->config.rebuild_context_cache);
    if (!is_open && !fresh)
        return ODLC_ERR_NOMEM;
    (void)pthread_mutex_lock(&gpu->lock);
    if (!gpu->cache) {
        gpu->cache = fresh;
        fresh = NULL;
    }
    (void)pthread_mutex_unlock(&gpu->lock);
    gpu_cache_close(fresh);
    return ODLC_OK;
}

/* Stored options, but for those that are given. */
static void add_stored(const odlc_gpu *gpu, const struct gpu_graph_options *stored, struct gpu_graph_options *o)
{
    const uint32_t given = gpu->config.given;
    if (o->performance == GPU_PERFORMANCE_HIGH && !(given & ODLC_GPU_GIVEN_PERFORMANCE))
        o->performance = stored->performance;
    if (o->precision == GPU_PRECISION_USER_PROVIDED && !(given & ODLC_GPU_GIVEN_PRECISION))
        o->precision = stored->precision;
    if (!(given & ODLC_GPU_GIVEN_NODE_OPTIMIZATIONS))
        o->no_fusion |= stored->no_fusion;
    if (!(given & ODLC_GPU_GIVEN_QUEUE_RECORDING))
        o->no_recording |= stored->no_recording;
    if (!(given & ODLC_GPU_GIVEN_MEMORY_OPTIMIZATIONS))
        o->has_own_places |= stored->has_own_places;
}

static odlc_status settle_cache(odlc_gpu *gpu, struct diags *diags, const struct gpu_graph *graph,
                                struct gpu_config *config, struct gpu_graph_options *o)
{
    struct gpu_graph_options stored;
    bool found;
    if (!gpu->config.context_cache)
        return ODLC_OK;
    TRY(take_cache(gpu, diags));
    TRY(identify(diags, graph->container, &config->container));
    config->cache = gpu->cache;
    TRY(gpu_cache_find_graph(gpu->cache, diags, &config->container, &found, &stored));
    if (found)
        add_stored(gpu, &stored, o);
    return gpu_cache_add_graph(gpu->cache, &config->container, o);
}
#else
static odlc_status settle_cache(const odlc_gpu *gpu, struct diags *diags, const struct gpu_graph *graph,
                                struct gpu_config *config, struct gpu_graph_options *o)
{
    (void)gpu, (void)diags, (void)graph, (void)config, (void)o;
    return ODLC_OK;
}
#endif

odlc_status gpu_options(odlc_gpu *gpu, struct diags *diags, const struct gpu_graph *graph, bool shares,
                        struct gpu_config *config, struct executor_options *options)
{
    struct gpu_graph_options o = options_of(gpu, graph->name);
    TRY(settle_cache(gpu, diags, graph, config, &o));
    config->device = gpu->config.device;
    config->repository = gpu->config.kernel_repository;
    config->tuning = gpu_tuning_options(gpu);
    config->performance = o.performance;
    config->priority = priority_of(gpu->config.priority);
    config->precision = o.precision;
    config->no_fusion = o.no_fusion;
    config->no_recording = o.no_recording;
    options->has_own_places = o.has_own_places;
    return shares ? gpu_take_context(gpu, diags, &config->context) : ODLC_OK;
}
