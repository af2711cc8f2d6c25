/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_memory.h"

#include <stdlib.h>

#include "backend/gpu/gpu_record.h"

/* Parts of a block are buffers of their own: drivers take many times as long to enqueue kernels whose arguments are
 * sub-buffers that overlap. */
struct gpu_block {
    struct gpu_part *parts;
};

struct gpu_part {
    struct gpu_part *next;
    uint64_t offset;
    cl_mem buffer;
};

static void *take(void *state, uint64_t size)
{
    (void)state, (void)size;
    return calloc(1, sizeof(struct gpu_block));
}

static void give(void *state, void *object)
{
    const struct gpu *gpu = state;
    struct gpu_block *block = object;
    (void)clFinish(gpu->queue);
    for (struct gpu_part *part = block->parts, *next; part; part = next) {
        next = part->next;
        (void)clReleaseMemObject(part->buffer);
        free(part);
    }
    free(block);
}

static void *place(void *state, void *object, uint64_t offset, uint64_t size)
{
    const struct gpu *gpu = state;
    struct gpu_block *block = object;
    cl_int error;
    for (const struct gpu_part *part = block->parts; part; part = part->next)
        if (part->offset == offset)
            return part->buffer;
    struct gpu_part *part = malloc(sizeof(*part));
    if (!part)
        return NULL;
    *part = (struct gpu_part){.next = block->parts, .offset = offset};
    part->buffer = clCreateBuffer(gpu->context->handle, CL_MEM_READ_WRITE, size, NULL, &error);
    if (error != CL_SUCCESS) {
        free(part);
        return NULL;
    }
    block->parts = part;
    return part->buffer;
}

static void *part(void *state, void *object, void *whole, uint64_t offset, uint64_t size)
{
    const cl_buffer_region region = {offset, size};
    struct gpu_block *block = object;
    struct gpu_part *new = malloc(sizeof(*new));
    cl_int error;
    (void)state;
    if (!new)
        return NULL;
    *new = (struct gpu_part){.next = block->parts, .offset = UINT64_MAX}; /* it is not found by place */
    new->buffer = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (error != CL_SUCCESS) {
        free(new);
        return NULL;
    }
    block->parts = new;
    return new->buffer;
}

static odlc_status upload(void *state, void *to, const void *host, uint64_t size, bool lasting)
{
    const struct gpu *gpu = state;
    if (size == 0)
        return ODLC_OK;
    TRY(gpu_flush(gpu));
    gpu_context_count(gpu->context, &gpu->context->copies);
    return gpu_check(gpu, "a tensor is not brought to the device",
                     clEnqueueWriteBuffer(gpu->queue, to, lasting ? CL_FALSE : CL_TRUE, 0, size, host, 0, NULL, NULL));
}

static odlc_status download(void *state, void *host, const void *from, uint64_t size)
{
    struct gpu *gpu = state;
    if (size == 0)
        return ODLC_OK;
    TRY(gpu_flush(gpu));
    gpu_context_count(gpu->context, &gpu->context->copies);
    TRY(gpu_check(gpu, "a tensor is not brought back from the device",
                  clEnqueueReadBuffer(gpu->queue, (cl_mem)from, CL_TRUE, 0, size, host, 0, NULL, NULL)));
    return gpu_check_faults(gpu);
}

static void begin(void *state)
{
    const struct gpu *gpu = state;
    gpu_recordings_forget(gpu->recordings);
}

static odlc_status finish(void *state)
{
    struct gpu *gpu = state;
    TRY(gpu_flush(gpu));
    TRY(gpu_check(gpu, "kernels do not end", clFinish(gpu->queue)));
    return gpu_check_faults(gpu);
}

const struct memory gpu_memory = {.name = "gpu",
                                  .alignment = 1024,
                                  .is_apart = true,
                                  .take = take,
                                  .give = give,
                                  .place = place,
                                  .part = part,
                                  .begin = begin,
                                  .upload = upload,
                                  .download = download,
                                  .finish = finish};
