/* Operands of steps: where they lie, constants in the device's memory, rooms. */
#include <limits.h>

#include "backend/gpu/gpu_fixed.h"
#include "backend/gpu/gpu_memory.h"
#include "backend/gpu/gpu_product.h"
#include "backend/gpu/gpu_step.h"
#include "backend/gpu/gpu_weights.h"
#include "kernel/fixed_product.h"

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

/* ---- places ---- */

const struct node *gpu_node(const struct gpu_making *m, uint32_t k)
{
    return graph_node(m->scope->graph, m->group->nodes.data[k]);
}

/* The places of node k: of its inputs, then of its outputs. */
static const uint32_t *places_of(const struct gpu_making *m, uint32_t k)
{
    const uint32_t *places = m->step->io.places;
    for (uint32_t i = 0; i < k; i++)
        places += gpu_node(m, i)->n_inputs + gpu_node(m, i)->n_outputs;
    return places;
}

static struct gpu_operand operand_of(const struct gpu_making *m, tensor_id id, uint32_t place)
{
    const struct buffer *b = &m->scope->constants[id];
    return (struct gpu_operand){.place = place, .dtype = b->dtype, .shape = b->shape, .quant = b->quant};
}

static struct gpu_operand stored_output(const struct gpu_making *m, uint32_t i)
{
    const uint32_t last = (uint32_t)m->group->nodes.count - 1;
    const struct node *n = gpu_node(m, last);
    if (i >= n->n_outputs || n->outputs[i] == NO_TENSOR)
        return (struct gpu_operand){.place = GPU_FIXED, .dtype = DT_NONE};
    return operand_of(m, n->outputs[i], places_of(m, last)[n->n_inputs + i]);
}

struct gpu_operand gpu_output(struct gpu_making *m, uint32_t i)
{
    const struct gpu_operand stored = stored_output(m, i);
    if (m->raw || !dtype_is_fixed(stored.dtype))
        return stored;
    if (m->reals[i].dtype == DT_NONE)
        m->reals[i] = m->is_fixed_product ? gpu_product_sums(m, &stored.shape) : gpu_room(m, DT_FLOAT32, &stored.shape);
    return m->reals[i];
}

/* ---- constants ---- */

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

static odlc_status upload(struct gpu_making *m, const struct buffer *b, struct gpu_operand *out)
{
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = b->dtype, .shape = b->shape, .quant = b->quant};
    return gpu_weights(m, b->data, shape_count(&b->shape) * dtype_size(b->dtype), &out->buffer);
}

odlc_status gpu_real_weights(struct gpu_making *m, const float *reals, const struct shape *shape,
                             struct gpu_operand *out)
{
    const enum dtype dtype = m->is_fixed_product          ? gpu_product_dtype(m)
                             : m->math == GPU_MATH_DOUBLE ? DT_FLOAT32
                                                          : gpu_inner_type(m->gpu, DT_FLOAT32);
    struct buffer b = {.dtype = dtype, .shape = *shape, .data = (void *)reals};
    if (b.dtype != DT_FLOAT32) {
        b.data = arena_calloc(m->scope->scratch, shape_count(shape), dtype_size(b.dtype));
        convert_elements(b.data, b.dtype, reals, DT_FLOAT32, shape_count(shape));
    }
    return upload(m, &b, out);
}

bool gpu_is_constant(const struct gpu_making *m, uint32_t k, uint32_t i)
{
    return !(m->is_fixed_product && i == 2) && i < gpu_node(m, k)->n_inputs && places_of(m, k)[i] == PLACE_CONSTANT;
}

struct buffer gpu_constant(const struct gpu_making *m, uint32_t k, uint32_t i)
{
    const struct buffer *b = &m->scope->constants[gpu_node(m, k)->inputs[i]];
    return m->is_fixed_product ? fixed_product_operand(b, m->scope->scratch)
                               : buffer_widen(b, DT_FLOAT32, m->scope->scratch);
}

odlc_status gpu_input(struct gpu_making *m, uint32_t k, uint32_t i, struct gpu_operand *out)
{
    const struct node *n = gpu_node(m, k);
    const uint32_t place = i < n->n_inputs ? places_of(m, k)[i] : PLACE_ABSENT;
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = DT_NONE};
    if (place == PLACE_ABSENT || (m->is_fixed_product && i == 2))
        return ODLC_OK;
    const struct gpu_operand stored = operand_of(m, n->inputs[i], place);
    const bool becomes_reals = !m->raw && dtype_is_fixed(stored.dtype);
    if (place != PLACE_CONSTANT && m->is_fixed_product)
        return gpu_product_input(m, &stored, out);
    if (place != PLACE_CONSTANT) {
        *out = becomes_reals ? gpu_room(m, DT_FLOAT32, &stored.shape) : stored;
        return becomes_reals ? gpu_to_reals(m, &stored, out) : ODLC_OK;
    }
    const struct buffer *b = &m->scope->constants[n->inputs[i]];
    if (!becomes_reals && (m->math == GPU_MATH_DOUBLE || gpu_inner_type(m->gpu, b->dtype) == b->dtype))
        return upload(m, b, out);
    const struct buffer reals = gpu_constant(m, k, i);
    return gpu_real_weights(m, reals.data, &reals.shape, out);
}

/* ---- fixed point ---- */

void gpu_begin_reals(struct gpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *last = gpu_node(m, (uint32_t)m->group->nodes.count - 1);
    m->reals = arena_array(m->scope->scratch, struct gpu_operand, last->n_outputs);
    if (m->is_fixed_product) {
        m->math = gpu_product_math(m);
        return;
    }
    for (uint32_t k = 0; !m->raw && k < m->group->nodes.count; k++) {
        const struct node *n = gpu_node(m, k);
        for (uint32_t i = 0; i < n->n_inputs + n->n_outputs; i++) {
            const struct tensor *t = i < n->n_inputs ? node_input(g, n, i) : node_output(g, n, i - n->n_inputs);
            if (t && t->kind != TENSOR_STATIC && dtype_is_fixed(t->type->dtype))
                m->math = GPU_MATH_DOUBLE;
        }
    }
}

odlc_status gpu_end_reals(struct gpu_making *m)
{
    const struct node *last = gpu_node(m, (uint32_t)m->group->nodes.count - 1);
    for (uint32_t i = 0; i < last->n_outputs; i++) {
        const struct gpu_operand stored = stored_output(m, i);
        if (m->reals[i].dtype != DT_NONE)
            TRY(m->is_fixed_product ? gpu_product_result(m, &m->reals[i], &stored)
                                    : gpu_from_reals(m, &m->reals[i], &stored));
    }
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
