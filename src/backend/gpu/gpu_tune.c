/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_tune.h"

#include <inttypes.h>
#include <string.h>

#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_tuning.h"
#include "base/clock.h"

/* Executions that are measured of a candidate, after one that is not; the least of their times counts. */
enum { MOST_RUNS = 7, LEAST_RUNS = 3 };
/* After that many microseconds the least number of them is enough. */
static const double enough = 20e3;
/* Another candidate is taken where it is faster than the usual one by more than times differ between runs. */
static const double worth = 0.97;
/* One that takes that many times as long as the best so far is not executed again. */
static const double hopeless = 1.5;

/* ---- measuring ---- */

/* What stands for tensors whose places are known when the step runs. */
struct stand_in {
    uint32_t place;
    uint64_t size;
    cl_mem buffer;
};

struct measuring {
    struct gpu *gpu;
    VEC(struct gpu_call *) calls;
    VEC(struct stand_in) stand_ins;
};

static struct stand_in *stand_in_of(struct arena *arena, struct measuring *m, uint32_t place)
{
    for (size_t i = 0; i < m->stand_ins.count; i++)
        if (m->stand_ins.data[i].place == place)
            return &m->stand_ins.data[i];
    vec_push(arena, &m->stand_ins, (struct stand_in){.place = place});
    return &m->stand_ins.data[m->stand_ins.count - 1];
}

static void release(struct measuring *m)
{
    for (size_t i = 0; i < m->stand_ins.count; i++)
        if (m->stand_ins.data[i].buffer)
            (void)clReleaseMemObject(m->stand_ins.data[i].buffer);
    m->stand_ins.count = 0;
}

/* Zeros, which every kernel can compute with. False: there is no room. */
static bool make_stand_ins(struct measuring *m)
{
    static const cl_uchar zero = 0;
    const struct gpu *gpu = m->gpu;
    for (size_t i = 0; i < m->stand_ins.count; i++) {
        struct stand_in *s = &m->stand_ins.data[i];
        cl_int error;
        s->buffer = clCreateBuffer(gpu->context->handle, CL_MEM_READ_WRITE, s->size, NULL, &error);
        if (error != CL_SUCCESS ||
            clEnqueueFillBuffer(gpu->measuring, s->buffer, &zero, 1, 0, s->size, 0, NULL, NULL) != CL_SUCCESS)
            return false;
    }
    return clFinish(gpu->measuring) == CL_SUCCESS;
}

static bool bind(struct arena *arena, struct measuring *m)
{
    for (size_t c = 0; c < m->calls.count; c++)
        if (gpu_call_settle(m->gpu, m->calls.data[c]) != ODLC_OK)
            return false;
    for (size_t c = 0; c < m->calls.count; c++)
        for (size_t i = 0; i < m->calls.data[c]->bindings.count; i++) {
            const struct gpu_binding *b = &m->calls.data[c]->bindings.data[i];
            struct stand_in *s = stand_in_of(arena, m, b->place);
            s->size = s->size < b->size ? b->size : s->size;
        }
    if (!make_stand_ins(m))
        return false;
    for (size_t c = 0; c < m->calls.count; c++)
        for (size_t i = 0; i < m->calls.data[c]->bindings.count; i++) {
            struct gpu_binding *b = &m->calls.data[c]->bindings.data[i];
            b->last = NULL; /* the step sets its own */
            if (clSetKernelArg(m->calls.data[c]->kernel, b->index, sizeof(cl_mem),
                               &stand_in_of(arena, m, b->place)->buffer) != CL_SUCCESS)
                return false;
        }
    return true;
}

/* From the begin of the first kernel to the end of the last one. False: the device does not execute them. */
static bool execute(const struct measuring *m, double *microseconds)
{
    cl_event first = NULL, last = NULL;
    cl_ulong begin, end;
    bool right = true;
    for (size_t c = 0; right && c < m->calls.count; c++) {
        const struct gpu_call *call = m->calls.data[c];
        cl_event event = NULL;
        right = clEnqueueNDRangeKernel(m->gpu->measuring, call->kernel, call->dims, NULL, call->global, call->local, 0,
                                       NULL, &event) == CL_SUCCESS;
        if (last && last != first)
            (void)clReleaseEvent(last);
        last = right ? event : first;
        first = first ? first : event;
    }
    right = clFinish(m->gpu->measuring) == CL_SUCCESS && right && first &&
            clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof(begin), &begin, NULL) == CL_SUCCESS &&
            clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL) == CL_SUCCESS &&
            end >= begin;
    if (last && last != first)
        (void)clReleaseEvent(last);
    if (first)
        (void)clReleaseEvent(first);
    if (right)
        *microseconds = (double)(end - begin) / 1000;
    return right;
}

/* best: of the candidates before; 0: there is none. */
static bool time_calls(const struct measuring *m, double best, double *out)
{
    double least = 0, sum = 0, time;
    if (!execute(m, &time))
        return false;
    for (int i = 0; i < MOST_RUNS && (i < LEAST_RUNS || sum < enough); i++) {
        if (!execute(m, &time))
            return false;
        least = i == 0 || time < least ? time : least;
        sum += time;
        if (best > 0 && least > hopeless * best)
            break;
    }
    *out = least;
    return true;
}

static bool open_queue(struct gpu *gpu)
{
    cl_int error = CL_SUCCESS;
    if (!gpu->measuring)
        gpu->measuring =
            clCreateCommandQueue(gpu->context->handle, gpu->context->device.id, CL_QUEUE_PROFILING_ENABLE, &error);
    return error == CL_SUCCESS;
}

static bool measure(struct gpu_making *m, size_t first, double best, double *out)
{
    struct measuring measuring = {.gpu = m->gpu};
    for (size_t i = first; i < m->step->calls.count; i++)
        vec_push(m->scope->scratch, &measuring.calls, m->step->calls.data[i]);
    const bool right = measuring.calls.count && open_queue(m->gpu) && bind(m->scope->scratch, &measuring) &&
                       time_calls(&measuring, best, out);
    release(&measuring);
    return right;
}

/* ---- trials ---- */

/* A candidate is made, measured, and taken back, with all that it gave to the step. */
struct trial {
    struct gpu_making making;
    struct gpu_step step;
    struct gpu gpu;
    struct arena_mark mark, scratch;
    uint64_t *sizes; /* of rooms */
};

static void begin_trial(struct gpu_making *m, struct trial *t)
{
    struct arena *arena = m->scope->arena;
    struct backend_scope *scope = arena_new(arena, struct backend_scope);
    struct diags *unheard = arena_new(arena, struct diags);
    diags_init(unheard, arena);
    *scope = *m->scope;
    scope->diags = unheard;
    *t = (struct trial){.making = *m,
                        .step = *m->step,
                        .gpu = *m->gpu,
                        .sizes = arena_array(m->scope->scratch, uint64_t, m->gpu->rooms.count)};
    for (size_t i = 0; i < t->gpu.rooms.count; i++)
        t->sizes[i] = m->gpu->rooms.data[i].size;
    m->scope = scope;
    m->gpu->diags = unheard;
    m->is_trial = true;
    t->mark = arena_mark(arena);
    t->scratch = arena_mark(scope->scratch);
}

static void end_trial(struct gpu_making *m, const struct trial *t)
{
    struct gpu *gpu = m->gpu;
    arena_rewind(m->scope->arena, t->mark);
    arena_rewind(m->scope->scratch, t->scratch);
    *m = t->making;
    *m->step = t->step;
    const cl_command_queue measuring = gpu->measuring;
    *gpu = t->gpu;
    gpu->measuring = measuring;
    for (size_t i = 0; i < gpu->rooms.count; i++)
        gpu->rooms.data[i].size = t->sizes[i];
}

static bool try(struct gpu_making *m, const struct gpu_candidates *c, uint32_t i, double best, double *out)
{
    struct trial trial;
    begin_trial(m, &trial);
    const bool right = c->make(m, c->object, i) == ODLC_OK && measure(m, c->first, best, out);
    end_trial(m, &trial);
    return right;
}

/* ---- choices ---- */

static uint32_t index_of(const struct gpu_candidates *c, const char *name)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (strcmp(c->names[i], name) == 0)
            return i;
    return c->count;
}

/* NULL: there was no time for all of them, or the usual one cannot be measured. */
static const struct gpu_tuned *measure_all(struct gpu_making *m, const struct gpu_candidates *c)
{
    struct gpu_tuning *tuning = m->gpu->context->tuning;
    double times[GPU_MOST_CANDIDATES] = {0}, usual = 0;
    uint32_t best = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint64_t begin = clock_nanoseconds();
        if (!gpu_tuning_has_time(tuning)) {
            gpu_tuning_skip(tuning);
            return NULL;
        }
        const bool right = try(m, c, i, i ? times[best] : 0, &times[i]);
        gpu_tuning_spend(tuning, clock_nanoseconds() - begin);
        if (!right && i == 0)
            return NULL;
        if (i == 0)
            usual = times[0];
        else if (right && times[i] < times[best] && times[i] < worth * usual)
            best = i;
    }
    const struct gpu_tuned tuned = {.kernel = c->kernel,
                                    .where = c->where,
                                    .choice = c->names[best],
                                    .usual = c->names[0],
                                    .microseconds = times[best],
                                    .usual_microseconds = usual,
                                    .is_measured = true};
    return gpu_tuning_note(tuning, &tuned);
}

uint32_t gpu_tune(struct gpu_making *m, const struct gpu_candidates *c)
{
    struct gpu_tuning *tuning = m->gpu->context->tuning;
    if (!tuning || c->count < 2)
        return 0;
    const struct gpu_tuned *known = gpu_tuning_find(tuning, c->kernel, c->where);
    if (!known && !m->is_trial)
        known = measure_all(m, c);
    const uint32_t found = known ? index_of(c, known->choice) : c->count;
    if (found == c->count)
        return 0;
    if (!m->is_trial)
        gpu_tuning_use(tuning, known);
    return found;
}

/* ---- work-groups ---- */

struct groups {
    struct gpu_call *call;
    cl_uint dims;
    const size_t *items;
    size_t sizes[GPU_MOST_CANDIDATES][3];
};

static odlc_status make_group(struct gpu_making *m, const void *object, uint32_t i)
{
    const struct groups *g = object;
    return gpu_call_end_groups(m, g->call, g->dims, g->items, g->sizes[i]);
}

static void add_group(struct gpu_making *m, struct gpu_candidates *c, struct groups *g, const size_t *size)
{
    const struct gpu_device *d = &m->gpu->context->device;
    size_t all = 1;
    for (cl_uint k = 0; k < g->dims; k++) {
        all *= size[k];
        if (size[k] > d->max_items[k] || (size[k] > 1 && size[k] >= 2 * g->items[k]))
            return;
    }
    const char *name = arena_printf(m->scope->scratch, "%zux%zux%zu", size[0], size[1], size[2]);
    if (all > d->max_group || c->count == GPU_MOST_CANDIDATES || index_of(c, name) < c->count)
        return;
    memcpy(g->sizes[c->count], size, sizeof(g->sizes[0]));
    c->names[c->count++] = name;
}

void gpu_tune_group(struct gpu_making *m, struct gpu_call *call, cl_uint dims, const size_t *items, size_t *group)
{
    static const size_t sizes[3][8][3] = {
        {{64, 1, 1}, {256, 1, 1}, {32, 1, 1}, {512, 1, 1}, {1024, 1, 1}, {16, 1, 1}},
        {{64, 1, 1}, {32, 4, 1}, {8, 8, 1}, {16, 16, 1}, {128, 1, 1}, {32, 8, 1}, {64, 4, 1}, {4, 32, 1}},
        {{64, 1, 1}, {32, 4, 1}, {16, 4, 2}, {8, 8, 2}, {128, 1, 1}, {16, 16, 1}, {4, 4, 4}, {64, 2, 1}},
    };
    if (!m->gpu->context->tuning || call->error != CL_SUCCESS)
        return;
    struct groups g = {.call = call, .dims = dims, .items = items};
    struct gpu_candidates c = {
        .kernel = call->name, .first = m->step->calls.count - 1, .make = make_group, .object = &g};
    c.where = arena_printf(m->scope->scratch, "%s of %zu %zu %zu, arguments %016" PRIx64, call->options, items[0],
                           dims > 1 ? items[1] : 1, dims > 2 ? items[2] : 1, call->arguments);
    memcpy(g.sizes[0], group, sizeof(g.sizes[0]));
    c.names[c.count++] = arena_printf(m->scope->scratch, "%zux%zux%zu", group[0], group[1], group[2]);
    for (size_t i = 0; i < COUNT_OF(sizes[0]); i++)
        if (sizes[dims - 1][i][0])
            add_group(m, &c, &g, sizes[dims - 1][i]);
    memcpy(group, g.sizes[gpu_tune(m, &c)], sizeof(g.sizes[0]));
}
