/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_step.h"

#include "backend/gpu/gpu_tune.h"
#include "base/hash.h"

/* ---- running ---- */

odlc_status gpu_check(const struct gpu *gpu, const char *failed, cl_int error)
{
    if (error == CL_SUCCESS)
        return ODLC_OK;
    const bool no_room = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                         error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
    return diag_error(gpu->diags, no_room ? ODLC_ERR_LIMIT : ODLC_ERR_INTERNAL, AT(.file = NULL), "gpu-driver",
                      "%s (device %s): %s", failed, gpu->context->device.name,
                      gpu_error_text(gpu->diags->arena, error));
}

odlc_status gpu_bind(const struct gpu *gpu, struct gpu_call *call, const cl_mem *buffers)
{
    const uint64_t withdrawn = gpu_context_withdrawn(gpu->context);
    for (size_t i = 0; i < call->bindings.count; i++) {
        struct gpu_binding *b = &call->bindings.data[i];
        if (buffers[i] == b->last && b->withdrawn == withdrawn && !gpu->config->no_recording)
            continue;
        TRY(gpu_check(gpu, call->name, clSetKernelArg(call->kernel, b->index, sizeof(cl_mem), &buffers[i])));
        b->last = buffers[i];
        b->withdrawn = withdrawn;
    }
    return ODLC_OK;
}

/* ---- calls ---- */

void gpu_option(struct gpu_making *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *option = arena_vprintf(m->scope->scratch, format, args);
    va_end(args);
    text_add(m->scope->scratch, &m->options, "%s%s", m->options.count ? " " : "", option);
}

void gpu_option_type(struct gpu_making *m, const char *name, const struct gpu_operand *operand)
{
    static const char *const types[DT_COUNT] = {
        [DT_BOOL] = "flag",     [DT_INT8] = "char",   [DT_INT16] = "short",   [DT_INT32] = "int",
        [DT_INT64] = "long",    [DT_UINT8] = "uchar", [DT_UINT16] = "ushort", [DT_UINT32] = "uint",
        [DT_FLOAT16] = "half",  [DT_SFXP8] = "char",  [DT_UFXP8] = "uchar",   [DT_SFXP16] = "short",
        [DT_UFXP16] = "ushort", [DT_SFXP32] = "int",  [DT_UFXP32] = "uint",   [DT_FLOAT64] = "double",
    };
    const char *type = types[operand->dtype];
    if (type)
        gpu_option(m, "-D%s=%s", name, type);
}

static void release_kernel(void *object)
{
    const struct gpu_call *call = object;
    if (call->kernel)
        (void)clReleaseKernel(call->kernel);
}

odlc_status gpu_call_add(struct gpu_making *m, const struct gpu_source *source, const char *function,
                         const char *options, const char *name, struct gpu_call **out)
{
    struct arena *arena = m->scope->arena;
    struct gpu_call *call = arena_new(arena, struct gpu_call);
    *call = (struct gpu_call){.name = name, .function = function, .options = options, .arena = arena};
    TRY(gpu_program_take(m->gpu->context, source, options, !m->is_trial, &call->program));
    arena_defer(arena, release_kernel, call);
    vec_push(arena, &m->step->calls, call);
    *out = call;
    return ODLC_OK;
}

odlc_status gpu_call_begin(struct gpu_making *m, const char *source, const char *function, struct gpu_call **out)
{
    if (m->math == GPU_MATH_DOUBLE)
        gpu_option(m, "-DDOUBLE_MATH");
    else if (m->math == GPU_MATH_INT)
        gpu_option(m, "-DINT_MATH=long");
    else if (m->math == GPU_MATH_SHORT_INT)
        gpu_option(m, "-DINT_MATH=int");
    else if (m->math == GPU_MATH_REAL && m->gpu->config->precision == GPU_PRECISION_FP16 &&
             m->gpu->context->device.has_half)
        gpu_option(m, "-DHALF_MATH");
    gpu_option(m, "-DKERNEL_%s", function);
    const char *options = m->options.data ? m->options.data : "";
    TRY(gpu_call_add(m, gpu_source_find(source), function, options,
                     arena_printf(m->scope->arena, "%s.%s", source, function), out));
    m->options = (text){0};
    return ODLC_OK;
}

/* Of scalars and structures: what work there is depends on them. */
static void note_arg(struct gpu_call *call, size_t size, const void *value)
{
    static const uint64_t key[2] = {0x6f70656e646c6335, 0x617267756d656e35};
    const uint64_t both[] = {call->arguments, value ? hash_bytes(key, value, size) : size};
    call->arguments = hash_bytes(key, both, sizeof(both));
}

static void set_now(struct gpu_call *call, const struct gpu_argument *a)
{
    const cl_int error = clSetKernelArg(call->kernel, a->index, a->size, a->value);
    if (call->error != CL_SUCCESS)
        return;
    call->error = error;
    call->refused = a->index;
}

static void set_arg(struct gpu_call *call, size_t size, const void *value)
{
    struct gpu_argument a = {.index = call->n_args++, .size = size, .value = value};
    if (call->kernel) {
        set_now(call, &a);
        return;
    }
    a.value = value ? arena_memdup(call->arena, value, size) : NULL;
    vec_push(call->arena, &call->waiting, a);
}

odlc_status gpu_call_settle(const struct gpu *gpu, struct gpu_call *call)
{
    if (call->kernel)
        return ODLC_OK;
    TRY(gpu_program_kernel(gpu->context, gpu->diags, call->program, call->function, &call->kernel));
    for (size_t i = 0; i < call->waiting.count; i++)
        set_now(call, &call->waiting.data[i]);
    return call->finish ? call->finish(gpu, call) : gpu_check(gpu, call->name, call->error);
}

void gpu_arg(struct gpu_making *m, struct gpu_call *call, const struct gpu_operand *operand)
{
    if (operand->place == GPU_FIXED) {
        set_arg(call, sizeof(cl_mem), operand->buffer ? &operand->buffer : NULL);
        return;
    }
    const struct gpu_binding binding = {.index = call->n_args++,
                                        .place = operand->place,
                                        .size = shape_count(&operand->shape) * dtype_size(operand->dtype)};
    vec_push(m->scope->arena, &call->bindings, binding);
}

void gpu_arg_bytes(struct gpu_call *call, const void *bytes, size_t size)
{
    note_arg(call, size, bytes);
    set_arg(call, size, bytes);
}

void gpu_arg_int(struct gpu_call *call, int64_t value)
{
    const cl_int narrow = (cl_int)value;
    gpu_arg_bytes(call, &narrow, sizeof(narrow));
}

void gpu_arg_number(struct gpu_making *m, struct gpu_call *call, double value)
{
    const cl_float narrow = (cl_float)value;
    if (m->math == GPU_MATH_DOUBLE)
        gpu_arg_bytes(call, &value, sizeof(value));
    else
        gpu_arg_bytes(call, &narrow, sizeof(narrow));
}

void gpu_arg_local(struct gpu_call *call, size_t size)
{
    gpu_arg_bytes(call, NULL, size);
}

void gpu_call_size(struct gpu_call *call, cl_uint dims, const size_t *items, const size_t *group)
{
    call->dims = dims;
    for (cl_uint i = 0; i < dims; i++) {
        call->local[i] = group[i];
        call->global[i] = align_up(items[i] ? items[i] : 1, group[i]);
    }
}

odlc_status gpu_call_end_groups(struct gpu_making *m, struct gpu_call *call, cl_uint dims, const size_t *items,
                                const size_t *group)
{
    TRY(gpu_check(m->gpu, call->name, call->error));
    gpu_call_size(call, dims, items, group);
    return ODLC_OK;
}

odlc_status gpu_call_end(struct gpu_making *m, struct gpu_call *call, cl_uint dims, const size_t *items)
{
    size_t group[3] = {1, 1, 1};
    gpu_group_size(m->gpu, call, dims, items, group);
    gpu_tune_group(m, call, dims, items, group);
    return gpu_call_end_groups(m, call, dims, items, group);
}

void gpu_group_size(const struct gpu *gpu, const struct gpu_call *call, cl_uint dims, const size_t *items,
                    size_t *group)
{
    static const size_t usual[3][3] = {{128, 1, 1}, {16, 8, 1}, {8, 4, 4}};
    (void)call;
    (void)items;
    for (cl_uint i = 0; i < dims; i++) {
        group[i] = usual[dims - 1][i];
        while (group[i] > gpu->context->device.max_items[i])
            group[i] /= 2;
    }
    while (group[0] > 1 &&
           group[0] * (dims > 1 ? group[1] : 1) * (dims > 2 ? group[2] : 1) > gpu->context->device.max_group)
        group[0] /= 2;
}
