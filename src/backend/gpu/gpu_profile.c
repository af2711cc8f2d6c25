/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_profile.h"

#include "backend/gpu/gpu_step.h"
#include "base/clock.h"

struct seen {
    const struct gpu_step *step;
    const char *kernel;
    cl_event event;
    uint64_t host; /* when it had been enqueued */
};

struct gpu_recorder {
    struct gpu_profile profile;
    struct arena *arena;
    VEC(struct seen) seen;
    VEC(struct gpu_span) spans;
};

static void see(void *object, const struct gpu_step *step, const struct gpu_call *call, cl_event event)
{
    struct gpu_recorder *r = object;
    const struct seen seen = {step, call->name, event, clock_nanoseconds()};
    if (clRetainEvent(event) == CL_SUCCESS)
        vec_push(r->arena, &r->seen, seen);
}

static void forget(struct gpu_recorder *r)
{
    for (size_t i = 0; i < r->seen.count; i++)
        (void)clReleaseEvent(r->seen.data[i].event);
    r->seen.count = 0;
}

static void release(void *object)
{
    forget(object);
}

struct gpu_recorder *gpu_recorder_create(struct arena *arena)
{
    struct gpu_recorder *r = arena_new(arena, struct gpu_recorder);
    *r = (struct gpu_recorder){.profile = {r, see}, .arena = arena};
    arena_defer(arena, release, r);
    return r;
}

const struct gpu_profile *gpu_recorder_profile(const struct gpu_recorder *recorder)
{
    return &recorder->profile;
}

static bool read_time(cl_event event, cl_profiling_info what, cl_ulong *out)
{
    return clGetEventProfilingInfo(event, what, sizeof(*out), out, NULL) == CL_SUCCESS;
}

/* What the device's clock is behind the host's. A kernel is enqueued before the host reads its clock: the least of
 * these differences is the nearest. */
static uint64_t clock_difference(const struct gpu_recorder *r)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < r->seen.count; i++) {
        cl_ulong queued;
        if (!read_time(r->seen.data[i].event, CL_PROFILING_COMMAND_QUEUED, &queued))
            continue;
        const int64_t difference = (int64_t)(r->seen.data[i].host - queued);
        least = difference < least ? difference : least;
    }
    return (uint64_t)least;
}

const struct gpu_span *gpu_recorder_take(struct gpu_recorder *r, size_t *count)
{
    r->spans.count = 0;
    for (size_t i = 0; i < r->seen.count; i++)
        (void)clWaitForEvents(1, &r->seen.data[i].event);
    const uint64_t difference = clock_difference(r);
    for (size_t i = 0; i < r->seen.count; i++) {
        const struct seen *s = &r->seen.data[i];
        cl_ulong begin, end;
        if (read_time(s->event, CL_PROFILING_COMMAND_START, &begin) &&
            read_time(s->event, CL_PROFILING_COMMAND_END, &end) && end >= begin)
            vec_push(r->arena, &r->spans, (struct gpu_span){s->step, s->kernel, begin + difference, end - begin});
    }
    forget(r);
    *count = r->spans.count;
    return r->spans.data;
}
