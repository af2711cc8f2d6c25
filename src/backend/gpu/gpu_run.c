/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_run.h"

#include "backend/gpu/gpu_record.h"

/* Rooms grow while steps are prepared, and are made when the first of these runs. */
static odlc_status make_rooms(const struct gpu_step *step)
{
    const struct gpu *gpu = step->gpu;
    for (uint32_t i = 0; i < step->n_rooms; i++) {
        struct gpu_room *room = &gpu->rooms.data[i];
        cl_int error = CL_SUCCESS;
        if (!room->buffer)
            room->buffer = clCreateBuffer(gpu->context->handle, CL_MEM_READ_WRITE, room->size, NULL, &error);
        TRY(gpu_check(gpu, "there is no room to compute in", error));
    }
    return ODLC_OK;
}

static cl_mem buffer_at(const struct gpu_step *step, uint32_t place, const struct buffer *in, const struct buffer *out)
{
    if (place >= GPU_ROOM_0)
        return step->gpu->rooms.data[place - GPU_ROOM_0].buffer;
    return place < step->io.n_inputs ? in[place].data : out[place - step->io.n_inputs].data;
}

static odlc_status enqueue(const struct gpu_step *step, struct gpu_call *call, const cl_mem *buffers)
{
    const struct gpu *gpu = step->gpu;
    const struct gpu_profile *profile = gpu->config->profile;
    cl_event event = NULL;
    TRY(gpu_bind(gpu, call, buffers));
    TRY(gpu_check(gpu, call->name,
                  clEnqueueNDRangeKernel(gpu->queue, call->kernel, call->dims, NULL, call->global, call->local, 0, NULL,
                                         profile ? &event : NULL)));
    if (!profile)
        return ODLC_OK;
    profile->see(profile->object, step, call, event);
    return gpu_check(gpu, call->name, clReleaseEvent(event));
}

odlc_status gpu_step_run(struct gpu_step *step, struct arena *scratch, const struct buffer *in,
                         const struct buffer *out)
{
    struct gpu_recordings *recordings = step->gpu->recordings;
    TRY(make_rooms(step));
    for (size_t i = 0; i < step->calls.count; i++) {
        struct gpu_call *call = step->calls.data[i];
        cl_mem *buffers = arena_array(scratch, cl_mem, call->bindings.count);
        for (size_t k = 0; k < call->bindings.count; k++)
            buffers[k] = buffer_at(step, call->bindings.data[k].place, in, out);
        TRY(recordings ? gpu_recordings_add(recordings, call, buffers) : enqueue(step, call, buffers));
    }
    return ODLC_OK;
}
