/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu.h"

#include <CL/cl_ext.h>

#include "backend/gpu/gpu_cache.h"
#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_memory.h"
#include "backend/gpu/gpu_product.h"
#include "backend/gpu/gpu_record.h"
#include "backend/gpu/gpu_run.h"
#include "backend/gpu/gpu_view.h"
#include "op/op.h"
#include "runtime/device_ops.h"

/* ---- the table ---- */

#define GPU_OP(op, family) extern const struct gpu_op gpu_##family;
#include "backend/gpu/gpu_ops.def"
#undef GPU_OP

extern const struct gpu_op gpu_udo; /* gpu_udo.c: nodes of packages */

static const struct gpu_op *gpu_op_of(const struct node *n)
{
    static const struct gpu_op *const table[] = {
#define GPU_OP(op, family) [OP_##op] = &gpu_##family,
#include "backend/gpu/gpu_ops.def"
#undef GPU_OP
    };
    const size_t id = (size_t)n->op->id;
    return n->op->package ? &gpu_udo : id < COUNT_OF(table) ? table[id] : NULL;
}

/* ---- the contract ---- */

static void close_gpu(void *state)
{
    struct gpu *gpu = state;
    gpu_recordings_close(gpu->recordings);
    if (gpu->queue) {
        (void)clFinish(gpu->queue);
        (void)clReleaseCommandQueue(gpu->queue);
    }
    if (gpu->measuring)
        (void)clReleaseCommandQueue(gpu->measuring);
    if (gpu->fault)
        (void)clReleaseMemObject(gpu->fault);
    for (size_t i = 0; i < gpu->rooms.count; i++)
        if (gpu->rooms.data[i].buffer)
            (void)clReleaseMemObject(gpu->rooms.data[i].buffer);
    if (!gpu->owns_context)
        return;
    gpu_context_keep(gpu->context, gpu->diags);
    gpu_context_destroy(gpu->context);
}

/* What the device's driver can be asked for of a queue; ends with 0. */
static void list_properties(const struct gpu *gpu, cl_queue_properties plain, cl_queue_properties out[7])
{
    static const cl_queue_properties throttles[] = {
        [GPU_PERFORMANCE_HIGH] = CL_QUEUE_THROTTLE_HIGH_KHR,
        [GPU_PERFORMANCE_NORMAL] = CL_QUEUE_THROTTLE_MED_KHR,
        [GPU_PERFORMANCE_LOW] = CL_QUEUE_THROTTLE_LOW_KHR,
    };
    static const cl_queue_properties priorities[] = {
        [GPU_PRIORITY_NORMAL] = CL_QUEUE_PRIORITY_MED_KHR,
        [GPU_PRIORITY_LOW] = CL_QUEUE_PRIORITY_LOW_KHR,
        [GPU_PRIORITY_HIGH] = CL_QUEUE_PRIORITY_HIGH_KHR,
    };
    const struct gpu_device *device = &gpu->context->device;
    *out++ = CL_QUEUE_PROPERTIES;
    *out++ = plain;
    if (device->has_throttles) {
        *out++ = CL_QUEUE_THROTTLE_KHR;
        *out++ = throttles[gpu->config->performance];
    }
    if (device->has_priorities) {
        *out++ = CL_QUEUE_PRIORITY_KHR;
        *out++ = priorities[gpu->config->priority];
    }
    *out = 0;
}

static cl_command_queue make_queue(const struct gpu *gpu, cl_int *error)
{
    const struct gpu_device *device = &gpu->context->device;
    const cl_command_queue_properties plain = gpu->config->profile ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_queue_properties properties[7];
    list_properties(gpu, plain, properties);
    return device->version < 200
               ? clCreateCommandQueue(gpu->context->handle, device->id, plain, error)
               : clCreateCommandQueueWithProperties(gpu->context->handle, device->id, properties, error);
}

/* True: of a context, once. */
static bool is_news(struct gpu_context *context, bool *is_told)
{
    (void)pthread_mutex_lock(&context->lock);
    const bool was_told = *is_told;
    *is_told = true;
    (void)pthread_mutex_unlock(&context->lock);
    return !was_told;
}

/* What is asked for, and the device does not do. */
static void tell_of_device(const struct gpu *gpu)
{
    struct gpu_context *context = gpu->context;
    const struct gpu_device *d = &context->device;
    const bool has_priorities = d->has_priorities && d->version >= 200;
    if (gpu->config->priority != GPU_PRIORITY_NORMAL && !has_priorities && is_news(context, &context->is_told_priority))
        diag_note(gpu->diags, AT(.file = NULL), "gpu-priority",
                  "the priority has no effect: the driver of device %s does not offer any (cl_khr_priority_hints)",
                  d->name);
    if (gpu->config->precision == GPU_PRECISION_FP16 && !d->has_half && is_news(context, &context->is_told_half))
        diag_note(gpu->diags, AT(.file = NULL), "gpu-precision",
                  "fp16 is stored as float16, and computed as float32, as with hybrid: device %s has no arithmetic in "
                  "float16 (cl_khr_fp16)",
                  d->name);
}

static odlc_status open_queue(struct gpu *gpu)
{
    cl_int error;
    gpu->queue = make_queue(gpu, &error);
    TRY(gpu_check(gpu, "there is no queue", error));
    if (!gpu->config->no_recording && !gpu->config->profile)
        gpu->recordings = gpu_recordings_open(gpu);
    return ODLC_OK;
}

static odlc_status open_all(struct gpu *gpu)
{
    if (gpu->owns_context)
        TRY(gpu_context_use_tuning(gpu->context, gpu->diags, &gpu->config->tuning));
    if (gpu->owns_context && gpu->config->repository)
        TRY(gpu_context_use_repository(gpu->context, gpu->diags, gpu->config->repository));
    if (gpu->owns_context && gpu->config->cache)
        TRY(gpu_context_use_cache(gpu->context, gpu->diags, gpu->config->cache));
    if (gpu->scope->device_ops)
        TRY(gpu->scope->device_ops->open(gpu->scope));
    tell_of_device(gpu);
    return open_queue(gpu);
}

static odlc_status open_gpu(const struct backend_scope *scope, void **state)
{
    static const struct gpu_config defaults = {.context = NULL};
    struct gpu *gpu = arena_new(scope->arena, struct gpu);
    *gpu = (struct gpu){.config = scope->gpu ? scope->gpu : &defaults, .scope = scope, .diags = scope->diags};
    gpu->context = gpu->config->context;
    gpu->owns_context = !gpu->context;
    if (gpu->owns_context)
        TRY(gpu_context_create(scope->diags, gpu->config->device, &gpu->context));
    const odlc_status status = open_all(gpu);
    if (status != ODLC_OK) {
        close_gpu(gpu);
        return status;
    }
    *state = gpu;
    return ODLC_OK;
}

static const char *refusal_of(const struct gpu *gpu, const struct gpu_op *op, const struct graph *g,
                              const struct node *n)
{
    if (!op)
        return "there is no kernel for the op";
    return op->is_product && gpu_is_fixed_product(g, n) ? gpu_refuse_fixed_product(gpu, g, n) : op->refuse(gpu, g, n);
}

/* The node, what its step computes before it, and what follows it there. */
static void claim_around(const struct gpu *gpu, const struct claiming *c, node_id id, struct group *group)
{
    node_id head = gpu_view_head(c, id);
    const struct node *n = graph_node(c->scope->graph, head);
    if (head != id && refusal_of(gpu, gpu_op_of(n), c->scope->graph, n))
        head = id;
    gpu_view_claim(c, head, group);
    if (gpu_op_of(graph_node(c->scope->graph, head))->fuses)
        gpu_follow(gpu, c, group);
}

static bool claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    const struct gpu *gpu = state;
    const struct node *n = graph_node(c->scope->graph, id);
    const struct gpu_op *op = gpu_op_of(n);
    group->reason = refusal_of(gpu, op, c->scope->graph, n);
    if (group->reason)
        return false;
    if (gpu->config->no_fusion)
        vec_push(c->scope->arena, &group->nodes, id);
    else
        claim_around(gpu, c, id, group);
    if (group->nodes.count == 1)
        group->sharing = op->sharing;
    return true;
}

static enum dtype inner_type(void *state, enum dtype dtype)
{
    return gpu_inner_type(state, dtype);
}

static odlc_status prepare(void *state, const struct backend_scope *scope, const struct group *group,
                           const struct step_io *io, void **out)
{
    struct gpu_step *step = arena_new(scope->arena, struct gpu_step);
    struct gpu_making m = {
        .gpu = state, .scope = scope, .group = group, .head = gpu_view_head_index(scope->graph, group), .step = step};
    *step = (struct gpu_step){.gpu = state, .io = *io, .node = gpu_node(&m, 0)};
    const struct gpu_op *op = gpu_op_of(step->node);
    m.raw = op->is_raw && op->is_raw(scope->graph, step->node);
    m.is_fixed_product = op->is_product && gpu_is_fixed_product(scope->graph, step->node);
    gpu_begin_reals(&m);
    if (op->is_product && gpu_is_int_product(scope->graph, step->node))
        m.math = GPU_MATH_INT;
    TRY(op->prepare(&m));
    TRY(gpu_end_reals(&m));
    *out = step;
    return ODLC_OK;
}

static odlc_status settle(void *object)
{
    const struct gpu_step *step = object;
    for (size_t i = 0; i < step->calls.count; i++)
        TRY(gpu_call_settle(step->gpu, step->calls.data[i]));
    return ODLC_OK;
}

static odlc_status run(void *step, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    return gpu_step_run(step, scope->scratch, in, out);
}

static void release(void *step)
{
    gpu_recordings_drop(((struct gpu_step *)step)->gpu->recordings);
}

const struct backend gpu_backend = {.name = "gpu",
                                    .memory = &gpu_memory,
                                    .inner_type = inner_type,
                                    .open = open_gpu,
                                    .close = close_gpu,
                                    .claim = claim,
                                    .prepare = prepare,
                                    .settle = settle,
                                    .run = run,
                                    .release = release};
