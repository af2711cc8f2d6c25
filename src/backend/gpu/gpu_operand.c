/* SPDX-License-Identifier: Apache-2.0 */
/* What rows ask of operands; weights in the device's memory; rooms. */
#include <limits.h>

#include "backend/gpu/gpu_step.h"
#include "backend/gpu/gpu_weights.h"

/* ---- what rows ask ---- */

bool gpu_is_real(const struct tensor *t)
{
    return t && (t->type->dtype == DT_FLOAT32 || t->type->dtype == DT_FLOAT16);
}

static const char *refuse_size(const struct tensor *t)
{
    const uint64_t count = shape_count(&t->type->shape);
    return count == 0        ? "it takes no tensors without elements"
           : count > INT_MAX ? "it takes tensors of less than 2^31 elements alone"
                             : NULL;
}

const char *gpu_refuse_sizes(const struct graph *g, const struct node *n)
{
    const char *reason = NULL;
    for (uint32_t i = 0; !reason && i < n->n_inputs; i++)
        reason = node_input(g, n, i) ? refuse_size(node_input(g, n, i)) : NULL;
    for (uint32_t i = 0; !reason && i < n->n_outputs; i++)
        reason = node_output(g, n, i) ? refuse_size(node_output(g, n, i)) : NULL;
    return reason;
}

/* Becomes reals in the host's memory. */
static bool is_fixed_constant(const struct tensor *t)
{
    return t->kind == TENSOR_STATIC && dtype_is_fixed(t->type->dtype) && t->quant;
}

bool gpu_is_fixed(const struct gpu *gpu, const struct tensor *t)
{
    const enum dtype dtype = t->type->dtype;
    return gpu->context->device.has_double && dtype_is_fixed(dtype) && dtype_value_bits(dtype) >= 8 &&
           dtype_size(dtype) <= 2 && t->quant && !t->quant->per_axis;
}

const char *gpu_refuse_types(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs + n->n_outputs; i++) {
        const struct tensor *t = i < n->n_inputs ? node_input(g, n, i) : node_output(g, n, i - n->n_inputs);
        if (t && !gpu_is_real(t) && !gpu_is_fixed(gpu, t) && !is_fixed_constant(t))
            return gpu->context->device.has_double
                       ? "it takes float32, float16, and 8- and 16-bit fixed-point tensors alone"
                       : "it takes float32 and float16 tensors alone: the device has no doubles for fixed point";
    }
    return gpu_refuse_sizes(g, n);
}

enum dtype gpu_inner_type(const struct gpu *gpu, enum dtype dtype)
{
    const enum gpu_precision precision = gpu->config->precision;
    if ((dtype != DT_FLOAT32 && dtype != DT_FLOAT16) || precision == GPU_PRECISION_USER_PROVIDED)
        return dtype;
    return precision == GPU_PRECISION_FP32 ? DT_FLOAT32 : DT_FLOAT16;
}

const struct node *gpu_node(const struct gpu_making *m, uint32_t k)
{
    return graph_node(m->scope->graph, m->group->nodes.data[m->head + k]);
}

uint32_t gpu_node_count(const struct gpu_making *m)
{
    return (uint32_t)m->group->nodes.count - m->head;
}

/* ---- weights ---- */

struct given {
    struct gpu_context *context;
    cl_mem buffer;
};

static void give_weights(void *object)
{
    const struct given *given = object;
    gpu_weights_give(given->context, given->buffer);
}

odlc_status gpu_weights(struct gpu_making *m, const void *bytes, uint64_t size, cl_mem *out)
{
    struct given *given = arena_new(m->scope->arena, struct given);
    given->context = m->gpu->context;
    TRY(gpu_weights_take(m->gpu->context, m->scope->diags, bytes, size, &given->buffer));
    arena_defer(m->scope->arena, give_weights, given);
    *out = given->buffer;
    return ODLC_OK;
}

/* ---- rooms ---- */

struct gpu_operand gpu_room(struct gpu_making *m, enum dtype dtype, const struct shape *shape)
{
    struct gpu *gpu = m->gpu;
    const uint32_t index = m->step->n_rooms++;
    const uint64_t size = shape_count(shape) * dtype_size(dtype);
    if (index == gpu->rooms.count)
        vec_push(m->scope->arena, &gpu->rooms, (struct gpu_room){0});
    if (gpu->rooms.data[index].size < size)
        gpu->rooms.data[index].size = size;
    return (struct gpu_operand){.place = GPU_ROOM_0 + index, .dtype = dtype, .shape = *shape};
}
