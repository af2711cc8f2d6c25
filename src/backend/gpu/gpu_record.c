/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_record.h"

#include <CL/cl_ext.h>
#include <stdlib.h>
#include <string.h>

/* Recordings that begin with one kernel: as many sets of buffers may take turns. */
enum { MAX_TURNS = 4 };

/* The driver's functions, which the loader of OpenCL need not have. */
struct recorder {
    clCreateCommandBufferKHR_fn create;
    clFinalizeCommandBufferKHR_fn finalize;
    clReleaseCommandBufferKHR_fn release;
    clEnqueueCommandBufferKHR_fn enqueue;
    clGetCommandBufferInfoKHR_fn get_info;
    clCommandNDRangeKernelKHR_fn add_kernel;
};

/* Kernels, and the buffers of all their bindings. */
struct sequence {
    struct gpu_call **calls;
    cl_mem *buffers;
    size_t n_calls, n_buffers;
};

struct recording {
    struct recording *next; /* older ones */
    struct sequence sequence;
    cl_command_buffer_khr handle; /* NULL: not recorded */
    cl_kernel *kernels;           /* of the handle, one for each call */
    bool fails;                   /* the driver does not record it */
};

struct gpu_recordings {
    struct recorder driver;
    struct recording *newest;
    struct sequence waiting;
    size_t max_calls, max_buffers; /* room for what waits */
    uint64_t withdrawn;            /* the context's, when the recordings were made */
};

/* ---- the driver ---- */

static bool find(const struct gpu_device *d, const char *name, void *out)
{
    void *function = clGetExtensionFunctionAddressForPlatform(d->platform, name);
    memcpy(out, &function, sizeof(function));
    return function != NULL;
}

/* Kernels are cloned since OpenCL 2.1. The queue that executions make has no properties but one for profiles, which are
 * not recorded. */
static bool find_driver(const struct gpu_device *d, struct recorder *out)
{
    cl_command_queue_properties required = 0;
    if (!d->has_command_buffers || d->version < 210 ||
        clGetDeviceInfo(d->id, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, sizeof(required), &required,
                        NULL) != CL_SUCCESS ||
        required != 0)
        return false;
    return find(d, "clCreateCommandBufferKHR", &out->create) && find(d, "clFinalizeCommandBufferKHR", &out->finalize) &&
           find(d, "clReleaseCommandBufferKHR", &out->release) && find(d, "clEnqueueCommandBufferKHR", &out->enqueue) &&
           find(d, "clGetCommandBufferInfoKHR", &out->get_info) &&
           find(d, "clCommandNDRangeKernelKHR", &out->add_kernel);
}

struct gpu_recordings *gpu_recordings_open(const struct gpu *gpu)
{
    struct recorder driver;
    if (!find_driver(&gpu->context->device, &driver))
        return NULL;
    struct gpu_recordings *r = calloc(1, sizeof(*r));
    if (r)
        r->driver = driver;
    return r;
}

/* ---- recordings ---- */

static void drop(const struct gpu_recordings *r, struct recording *list)
{
    for (struct recording *one = list, *next; one; one = next) {
        next = one->next;
        if (one->handle)
            (void)r->driver.release(one->handle);
        for (size_t i = 0; one->kernels && i < one->sequence.n_calls; i++)
            if (one->kernels[i])
                (void)clReleaseKernel(one->kernels[i]);
        free(one->kernels);
        free(one->sequence.calls);
        free(one->sequence.buffers);
        free(one);
    }
}

void gpu_recordings_drop(struct gpu_recordings *r)
{
    if (!r)
        return;
    drop(r, r->newest);
    r->newest = NULL;
}

void gpu_recordings_close(struct gpu_recordings *r)
{
    if (!r)
        return;
    gpu_recordings_drop(r);
    free(r->waiting.calls);
    free(r->waiting.buffers);
    free(r);
}

static bool is_same(const struct sequence *a, const struct sequence *b)
{
    return a->n_calls == b->n_calls && a->n_buffers == b->n_buffers &&
           memcmp(a->calls, b->calls, a->n_calls * sizeof(*a->calls)) == 0 &&
           (a->n_buffers == 0 || memcmp(a->buffers, b->buffers, a->n_buffers * sizeof(*a->buffers)) == 0);
}

static struct recording *find_recording(const struct gpu_recordings *r)
{
    for (struct recording *one = r->newest; one; one = one->next)
        if (is_same(&one->sequence, &r->waiting))
            return one;
    return NULL;
}

/* The oldest of too many goes. */
static void make_room(struct gpu_recordings *r)
{
    struct recording **last = NULL;
    size_t turns = 0;
    for (struct recording **at = &r->newest; *at; at = &(*at)->next)
        if ((*at)->sequence.calls[0] == r->waiting.calls[0]) {
            turns++;
            last = at;
        }
    if (turns < MAX_TURNS)
        return;
    struct recording *oldest = *last;
    *last = oldest->next;
    oldest->next = NULL;
    drop(r, oldest);
}

/* What waits may come again; nothing happens where there is no memory for it. */
static void remember(struct gpu_recordings *r)
{
    const struct sequence *s = &r->waiting;
    struct recording *one = calloc(1, sizeof(*one));
    make_room(r);
    if (!one)
        return;
    one->sequence = (struct sequence){.calls = malloc(s->n_calls * sizeof(struct gpu_call *)),
                                      .buffers = malloc((s->n_buffers + 1) * sizeof(cl_mem)),
                                      .n_calls = s->n_calls,
                                      .n_buffers = s->n_buffers};
    if (!one->sequence.calls || !one->sequence.buffers) {
        drop(r, one);
        return;
    }
    memcpy(one->sequence.calls, s->calls, s->n_calls * sizeof(struct gpu_call *));
    if (s->n_buffers)
        memcpy(one->sequence.buffers, s->buffers, s->n_buffers * sizeof(cl_mem));
    one->next = r->newest;
    r->newest = one;
}

/* ---- what waits ---- */

void gpu_recordings_forget(struct gpu_recordings *r)
{
    if (r)
        r->waiting.n_calls = r->waiting.n_buffers = 0;
}

/* Room for so many elements, at least: what was there, or a larger copy of that; NULL: memory runs out, and all stays.
 */
static void *grown(void *array, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return array;
    void *larger = realloc(array, 2 * wanted * size);
    *room = larger ? 2 * wanted : *room;
    return larger;
}

odlc_status gpu_recordings_add(struct gpu_recordings *r, struct gpu_call *call, const cl_mem *buffers)
{
    struct sequence *s = &r->waiting;
    const size_t count = call->bindings.count;
    struct gpu_call **calls = grown(s->calls, &r->max_calls, s->n_calls + 1, sizeof(*s->calls));
    if (!calls)
        return ODLC_ERR_NOMEM;
    s->calls = calls;
    cl_mem *all = grown(s->buffers, &r->max_buffers, s->n_buffers + count, sizeof(*s->buffers));
    if (!all && count)
        return ODLC_ERR_NOMEM;
    s->buffers = all;
    s->calls[s->n_calls++] = call;
    for (size_t i = 0; i < count; i++)
        s->buffers[s->n_buffers++] = buffers[i];
    return ODLC_OK;
}

/* ---- enqueueing ---- */

static odlc_status enqueue_each(const struct gpu *gpu, const struct sequence *s)
{
    const cl_mem *buffers = s->buffers;
    for (size_t i = 0; i < s->n_calls; i++) {
        struct gpu_call *call = s->calls[i];
        TRY(gpu_bind(gpu, call, buffers));
        buffers += call->bindings.count;
        TRY(gpu_check(gpu, call->name,
                      clEnqueueNDRangeKernel(gpu->queue, call->kernel, call->dims, NULL, call->global, call->local, 0,
                                             NULL, NULL)));
    }
    return ODLC_OK;
}

/* A kernel with arguments that nobody sets again: PoCL takes those that a kernel has when the recording is enqueued. */
static cl_int add_kernel(const struct recorder *driver, cl_command_buffer_khr handle, const struct gpu_call *call,
                         const cl_mem *buffers, cl_kernel *out)
{
    cl_int error;
    cl_kernel kernel = clCloneKernel(call->kernel, &error);
    if (error != CL_SUCCESS)
        return error;
    *out = kernel;
    for (size_t i = 0; error == CL_SUCCESS && i < call->bindings.count; i++)
        error = clSetKernelArg(kernel, call->bindings.data[i].index, sizeof(cl_mem), &buffers[i]);
    return error == CL_SUCCESS ? driver->add_kernel(handle, NULL, NULL, kernel, call->dims, NULL, call->global,
                                                    call->local, 0, NULL, NULL, NULL)
                               : error;
}

/* False: the driver does not record it. */
static bool record(const struct gpu *gpu, const struct recorder *driver, struct recording *one)
{
    const struct sequence *s = &one->sequence;
    const cl_mem *buffers = s->buffers;
    cl_int error = CL_SUCCESS;
    one->kernels = calloc(s->n_calls, sizeof(*one->kernels));
    if (one->kernels)
        one->handle = driver->create(1, &gpu->queue, NULL, &error);
    if (!one->handle || error != CL_SUCCESS)
        return false;
    for (size_t i = 0; error == CL_SUCCESS && i < s->n_calls; i++) {
        error = add_kernel(driver, one->handle, s->calls[i], buffers, &one->kernels[i]);
        buffers += s->calls[i]->bindings.count;
    }
    return error == CL_SUCCESS && driver->finalize(one->handle) == CL_SUCCESS;
}

/* False: nothing is enqueued. */
static bool replay(const struct gpu *gpu, struct recording *one)
{
    const struct recorder *driver = &gpu->recordings->driver;
    cl_command_buffer_state_khr state = CL_COMMAND_BUFFER_STATE_INVALID_KHR;
    if (!one->handle && !one->fails)
        one->fails = !record(gpu, driver, one);
    if (one->fails ||
        driver->get_info(one->handle, CL_COMMAND_BUFFER_STATE_KHR, sizeof(state), &state, NULL) != CL_SUCCESS ||
        state != CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR)
        return false;
    one->fails = driver->enqueue(0, NULL, one->handle, 0, NULL, NULL) != CL_SUCCESS;
    if (!one->fails)
        gpu_context_count(gpu->context, &gpu->context->replays);
    return !one->fails;
}

odlc_status gpu_flush(const struct gpu *gpu)
{
    struct gpu_recordings *r = gpu->recordings;
    if (!r || r->waiting.n_calls == 0)
        return ODLC_OK;
    const uint64_t withdrawn = gpu_context_withdrawn(gpu->context);
    if (withdrawn != r->withdrawn) { /* another buffer may have the address of one that is gone */
        gpu_recordings_drop(r);
        r->withdrawn = withdrawn;
    }
    struct recording *one = find_recording(r);
    odlc_status status = ODLC_OK;
    if (!one)
        remember(r);
    if (!one || !replay(gpu, one))
        status = enqueue_each(gpu, &r->waiting);
    gpu_recordings_forget(r);
    return status;
}
