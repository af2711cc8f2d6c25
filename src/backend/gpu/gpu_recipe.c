/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_recipe.h"

#include "backend/gpu/gpu_cache.h"

/* All that the bytes depend on, but for device and library, which the whole cache is of. */
static void key_of(const struct gpu_making *m, const char *recipe, uint64_t key[2])
{
    struct arena *scratch = m->scope->scratch;
    text t = {0};
    text_add(scratch, &t, "%llx/%d/%d/%d", (unsigned long long)m->gpu->config->container.hash,
             (int)m->gpu->config->precision, (int)m->math, m->is_fixed_product);
    for (uint32_t k = 0; k < gpu_node_count(m); k++)
        text_add(scratch, &t, "/%s", gpu_node(m, k)->name);
    gpu_binary_key(t.data, recipe, key);
}

odlc_status gpu_weights_recall(struct gpu_making *m, const char *recipe, uint64_t size, cl_mem *out)
{
    const struct gpu_cache *cache = m->gpu->context->cache;
    uint64_t key[2];
    *out = NULL;
    if (!cache)
        return ODLC_OK;
    key_of(m, recipe, key);
    const struct gpu_binary *b = gpu_cache_find(cache, key);
    return b && b->size == size ? gpu_weights(m, b->bytes, b->size, out) : ODLC_OK;
}

odlc_status gpu_weights_keep(struct gpu_making *m, const char *recipe, const void *bytes, uint64_t size, cl_mem *out)
{
    struct gpu_context *context = m->gpu->context;
    uint64_t key[2];
    if (m->is_trial)
        return gpu_weights(m, bytes, size, out);
    (void)pthread_mutex_lock(&context->lock);
    context->conversions++;
    (void)pthread_mutex_unlock(&context->lock);
    TRY(gpu_weights(m, bytes, size, out));
    if (!context->cache)
        return ODLC_OK;
    key_of(m, recipe, key);
    gpu_cache_note(context->cache, key, *out, size);
    return ODLC_OK;
}
