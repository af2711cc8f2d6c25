/* SPDX-License-Identifier: Apache-2.0 */
/* Context caches are written. */
#include <inttypes.h>
#include <string.h>

#include "backend/gpu/gpu_cache_inside.h"
#include "backend/gpu/gpu_kernels.h"
#include "backend/gpu/gpu_tuning.h"

/* A line for each origin, then one for each graph. */
static struct gpu_binary describe(const struct gpu_cache *cache, struct arena *arena, const struct gpu_device *device)
{
    struct gpu_cache_origin origins[GPU_CACHE_LINES];
    text t = {0};
    gpu_cache_origins(arena, device, origins);
    for (int i = 0; i < GPU_CACHE_LINES; i++)
        text_add(arena, &t, "%s\n", origins[i].value);
    for (const struct graph_entry *e = cache->graphs; e; e = e->next)
        text_add(arena, &t, "%016" PRIx64 " %" PRIu64 " %d %d %d %d %d\n", e->container.hash, e->container.size,
                 (int)e->options.performance, (int)e->options.precision, e->options.no_fusion, e->options.no_recording,
                 e->options.has_own_places);
    struct gpu_binary b = {.bytes = (const uint8_t *)t.data, .size = t.count};
    gpu_cache_description_key(b.key);
    return b;
}

static void add_tuning(const struct gpu_context *context, struct arena *arena, struct gpu_binary *all, size_t *count)
{
    const char *text = context->tuning ? gpu_tuning_text(context->tuning, arena, &context->device) : NULL;
    if (!text)
        return;
    all[*count] = (struct gpu_binary){.bytes = (const uint8_t *)text, .size = strlen(text)};
    gpu_cache_tuning_key(all[(*count)++].key);
}

/* False: the device does not give them. */
static bool read_back(cl_command_queue queue, struct arena *arena, const struct noted *n, struct gpu_binary *out)
{
    uint8_t *bytes = arena_alloc(arena, n->size);
    *out = (struct gpu_binary){.key = {n->key[0], n->key[1]}, .bytes = bytes, .size = n->size};
    return clEnqueueReadBuffer(queue, n->buffer, CL_TRUE, 0, n->size, bytes, 0, NULL, NULL) == CL_SUCCESS;
}

static size_t read_weights(const struct gpu_context *context, const struct noted *newest, struct arena *arena,
                           struct gpu_binary *out)
{
    cl_int error;
    size_t count = 0;
    const cl_command_queue queue = clCreateCommandQueue(context->handle, context->device.id, 0, &error);
    for (const struct noted *n = newest; error == CL_SUCCESS && n; n = n->next)
        if (!gpu_store_find(out, count, n->key) && read_back(queue, arena, n, &out[count]))
            count++;
    if (error == CL_SUCCESS)
        (void)clReleaseCommandQueue(queue);
    return count;
}

static odlc_status write_cache(struct gpu_context *context, struct diags *diags)
{
    struct gpu_cache *cache = context->cache;
    struct arena *arena = diags->arena;
    struct gpu_binary *programs;
    (void)pthread_mutex_lock(&context->lock);
    const struct gpu_program *newest = context->programs;
    (void)pthread_mutex_unlock(&context->lock);
    (void)pthread_mutex_lock(&cache->lock);
    const struct noted *noted = cache->noted;
    (void)pthread_mutex_unlock(&cache->lock);
    const size_t n_programs = gpu_kernels_binaries(context, newest, NULL, arena, &programs);
    size_t count = n_programs + 2;
    for (const struct noted *n = noted; n; n = n->next)
        count++;
    struct gpu_binary *all = arena_array(arena, struct gpu_binary, count);
    all[0] = describe(cache, arena, &context->device);
    memcpy(all + 1, programs, n_programs * sizeof(*programs));
    count = 1 + n_programs;
    add_tuning(context, arena, all, &count);
    count += read_weights(context, noted, arena, all + count);
    return gpu_store_write(diags, cache->path, &gpu_cache_kind, all, count);
}

void gpu_cache_keep(struct gpu_context *context, struct diags *diags)
{
    struct gpu_cache *cache = context->cache;
    struct diags unheard;
    if (!cache || !cache->is_kept || !cache->graphs)
        return;
    diags_init(&unheard, diags->arena);
    if (write_cache(context, &unheard) != ODLC_OK)
        diag_warn(diags, AT(.file = cache->path, .hint = "give a file that can be written"), "gpu-cache",
                  "the context cache is not kept for the next time: %s",
                  unheard.list.count ? unheard.list.data[0].message : "the file cannot be written");
}
