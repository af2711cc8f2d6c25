/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Weights that may be the same have a hash of some of their bytes in common: pieces in equal distances, from the first
 * byte to the last. Of those it takes BLOCK bytes at a time, back from the device, to see whether they are. */
enum { PIECE = 2048, PIECES = 8, BLOCK = 1 << 20 };
/* Many weights that differ behind equal samples are rather there twice than compared with all others. */
enum { MOST_COMPARED = 8 };

struct gpu_weight {
    struct gpu_weight *next;
    uint64_t sample, size;
    uint64_t users;
    cl_mem buffer;
};

static uint64_t sample_of(const struct gpu_context *context, const uint8_t *bytes, uint64_t size)
{
    uint64_t sums[PIECES];
    if (size <= (uint64_t)PIECE * PIECES)
        return hash_bytes(context->hash_key, bytes, size);
    const uint64_t last = size - PIECE;
    for (uint64_t i = 0; i < PIECES; i++)
        sums[i] = hash_bytes(context->hash_key, bytes + (i + 1 < PIECES ? last / (PIECES - 1) * i : last), PIECE);
    return hash_bytes(context->hash_key, sums, sizeof(sums));
}

/* ---- the lock is held ---- */

/* NULL: the driver gives none. */
static cl_command_queue queue_of(struct gpu_context *context)
{
    cl_int error;
    if (!context->weight_queue)
        context->weight_queue = clCreateCommandQueue(context->handle, context->device.id, 0, &error);
    return context->weight_queue;
}

/* False also: the bytes do not come back. */
static bool is_same(struct gpu_context *context, const struct gpu_weight *w, const uint8_t *bytes)
{
    const size_t room = (size_t)min_u64(BLOCK, w->size);
    uint8_t *back = malloc(room);
    bool same = back && queue_of(context);
    for (uint64_t at = 0; same && at < w->size; at += room) {
        const size_t size = (size_t)min_u64(room, w->size - at);
        same = clEnqueueReadBuffer(context->weight_queue, w->buffer, CL_TRUE, at, size, back, 0, NULL, NULL) ==
                   CL_SUCCESS &&
               memcmp(back, bytes + at, size) == 0;
    }
    free(back);
    return same;
}

static struct gpu_weight *find(struct gpu_context *context, const struct gpu_weight *like, const uint8_t *bytes)
{
    int compared = 0;
    for (struct gpu_weight *w = context->weights; w && compared < MOST_COMPARED; w = w->next) {
        if (w->sample != like->sample || w->size != like->size)
            continue;
        if (is_same(context, w, bytes))
            return w;
        compared++;
    }
    return NULL;
}

/* Drivers keep a copy of bytes that a buffer is made with, and bring it to the device when a kernel needs it. */
static cl_int upload(struct gpu_context *context, const uint8_t *bytes, uint64_t size, cl_mem *out)
{
    cl_int error;
    if (!queue_of(context))
        return CL_OUT_OF_RESOURCES;
    *out = clCreateBuffer(context->handle, CL_MEM_READ_ONLY, size, NULL, &error);
    if (error != CL_SUCCESS)
        return error;
    error = clEnqueueWriteBuffer(context->weight_queue, *out, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
    if (error != CL_SUCCESS)
        (void)clReleaseMemObject(*out);
    return error;
}

static odlc_status take(struct gpu_context *context, struct diags *diags, const struct gpu_weight *like,
                        const uint8_t *bytes, struct gpu_weight **out)
{
    *out = find(context, like, bytes);
    if (*out)
        return ODLC_OK;
    struct gpu_weight *w = malloc(sizeof(*w));
    if (!w)
        return ODLC_ERR_NOMEM;
    *w = *like;
    const cl_int error = upload(context, bytes, w->size, &w->buffer);
    if (error != CL_SUCCESS) {
        free(w);
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = NULL), "gpu-memory",
                          "device %s has no room for weights of %llu bytes: %s", context->device.name,
                          (unsigned long long)like->size, gpu_error_text(diags->arena, error));
    }
    w->next = context->weights;
    context->weights = w;
    context->uploads++;
    *out = w;
    return ODLC_OK;
}

/* ---- for steps ---- */

odlc_status gpu_weights_take(struct gpu_context *context, struct diags *diags, const void *bytes, uint64_t size,
                             cl_mem *out)
{
    const struct gpu_weight like = {.sample = sample_of(context, bytes, size), .size = size};
    struct gpu_weight *w = NULL;
    (void)pthread_mutex_lock(&context->lock);
    const odlc_status status = take(context, diags, &like, bytes, &w);
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
    if (context->weight_queue)
        (void)clReleaseCommandQueue(context->weight_queue);
    context->weight_queue = NULL;
}
