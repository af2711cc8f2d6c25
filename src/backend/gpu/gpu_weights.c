/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_weights.h"

#include <stdlib.h>

#include "base/hash.h"

struct gpu_weight {
    struct gpu_weight *next;
    uint64_t hash[2], size;
    uint64_t users;
    cl_mem buffer;
};

static struct gpu_weight *find(const struct gpu_context *context, const struct gpu_weight *key)
{
    for (struct gpu_weight *w = context->weights; w; w = w->next)
        if (w->hash[0] == key->hash[0] && w->hash[1] == key->hash[1] && w->size == key->size)
            return w;
    return NULL;
}

/* The lock is held. */
static odlc_status take(struct gpu_context *context, struct diags *diags, const struct gpu_weight *key,
                        const void *bytes, struct gpu_weight **out)
{
    *out = find(context, key);
    if (*out)
        return ODLC_OK;
    struct gpu_weight *w = malloc(sizeof(*w));
    if (!w)
        return ODLC_ERR_NOMEM;
    cl_int error;
    *w = *key;
    w->buffer =
        clCreateBuffer(context->handle, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, key->size, (void *)bytes, &error);
    if (error != CL_SUCCESS) {
        free(w);
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = NULL), "gpu-memory",
                          "device %s has no room for weights of %llu bytes: %s", context->device.name,
                          (unsigned long long)key->size, gpu_error_text(diags->arena, error));
    }
    w->next = context->weights;
    context->weights = w;
    context->uploads++;
    *out = w;
    return ODLC_OK;
}

odlc_status gpu_weights_take(struct gpu_context *context, struct diags *diags, const void *bytes, uint64_t size,
                             cl_mem *out)
{
    const uint64_t second[] = {context->hash_key[1], ~context->hash_key[0]};
    const struct gpu_weight key = {
        .hash = {hash_bytes(context->hash_key, bytes, size), hash_bytes(second, bytes, size)}, .size = size};
    struct gpu_weight *w = NULL;
    (void)pthread_mutex_lock(&context->lock);
    const odlc_status status = take(context, diags, &key, bytes, &w);
    if (status == ODLC_OK) {
        w->users++;
        *out = w->buffer;
    }
    (void)pthread_mutex_unlock(&context->lock);
    return status;
}

void gpu_weights_give(struct gpu_context *context, cl_mem buffer)
{
    (void)pthread_mutex_lock(&context->lock);
    struct gpu_weight **at = &context->weights;
    while ((*at)->buffer != buffer)
        at = &(*at)->next;
    struct gpu_weight *w = *at;
    if (--w->users == 0) {
        *at = w->next;
        (void)clReleaseMemObject(w->buffer);
        free(w);
    }
    (void)pthread_mutex_unlock(&context->lock);
}

void gpu_weights_drop_all(struct gpu_context *context)
{
    for (struct gpu_weight *w = context->weights, *next; w; w = next) {
        next = w->next;
        (void)clReleaseMemObject(w->buffer);
        free(w);
    }
    context->weights = NULL;
}
