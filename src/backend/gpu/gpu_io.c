/* SPDX-License-Identifier: Apache-2.0 */
/* What a step reads and writes: operands of its nodes where they lie, constants in the device's memory, fixed point by
 * way of what stands for it. */
#include "backend/gpu/gpu_fixed.h"
#include "backend/gpu/gpu_product.h"
#include "backend/gpu/gpu_recipe.h"
#include "backend/gpu/gpu_view.h"
#include "kernel/fixed_product.h"

/* ---- places ---- */

/* The places of a node of the group: of its inputs, then of its outputs. */
static const uint32_t *places_at(const struct gpu_making *m, uint32_t index)
{
    const uint32_t *places = m->step->io.places;
    for (uint32_t i = 0; i < index; i++) {
        const struct node *n = graph_node(m->scope->graph, m->group->nodes.data[i]);
        places += n->n_inputs + n->n_outputs;
    }
    return places;
}

static const uint32_t *places_of(const struct gpu_making *m, uint32_t k)
{
    return places_at(m, m->head + k);
}

static struct gpu_operand operand_of(const struct gpu_making *m, tensor_id id, uint32_t place)
{
    const struct buffer *b = &m->scope->constants[id];
    return (struct gpu_operand){.place = place, .dtype = b->dtype, .shape = b->shape, .quant = b->quant};
}

static struct gpu_operand stored_output(const struct gpu_making *m, uint32_t i)
{
    const uint32_t last = gpu_node_count(m) - 1;
    const struct node *n = gpu_node(m, last);
    if (i >= n->n_outputs || n->outputs[i] == NO_TENSOR)
        return (struct gpu_operand){.place = GPU_FIXED, .dtype = DT_NONE};
    struct gpu_operand out = operand_of(m, n->outputs[i], places_of(m, last)[n->n_inputs + i]);
    if (last > 0)
        out.shape = node_output(m->scope->graph, gpu_node(m, 0), 0)->type->shape;
    return out;
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

static odlc_status upload(struct gpu_making *m, const struct buffer *b, struct gpu_operand *out)
{
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = b->dtype, .shape = b->shape, .quant = b->quant};
    return gpu_weights(m, b->data, shape_count(&b->shape) * dtype_size(b->dtype), &out->buffer);
}

/* In which the precision mode stores constants of reals. */
static enum dtype real_dtype(const struct gpu_making *m)
{
    return m->is_fixed_product          ? gpu_product_dtype(m)
           : m->math == GPU_MATH_DOUBLE ? DT_FLOAT32
                                        : gpu_inner_type(m->gpu, DT_FLOAT32);
}

/* Constant i of node k as kernels read reals. */
static odlc_status upload_reals(struct gpu_making *m, uint32_t k, uint32_t i, const struct shape *shape,
                                struct gpu_operand *out)
{
    const enum dtype dtype = real_dtype(m);
    const uint64_t count = shape_count(shape), size = count * dtype_size(dtype);
    const char *recipe = arena_printf(m->scope->scratch, "input %u of node %u as type %d", i, k, (int)dtype);
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = dtype, .shape = *shape};
    TRY(gpu_weights_recall(m, recipe, size, &out->buffer));
    if (out->buffer)
        return ODLC_OK;
    const void *bytes = gpu_constant(m, k, i).data;
    if (dtype != DT_FLOAT32) {
        void *narrow = arena_calloc(m->scope->scratch, count, dtype_size(dtype));
        convert_elements(narrow, dtype, bytes, DT_FLOAT32, count);
        bytes = narrow;
    }
    return gpu_weights_keep(m, recipe, bytes, size, &out->buffer);
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
    const uint32_t view = k == 0 ? gpu_view_before(m, i) : UINT32_MAX;
    if (view != UINT32_MAX) {
        const tensor_id viewed = graph_node(m->scope->graph, m->group->nodes.data[view])->inputs[0];
        *out = operand_of(m, viewed, places_at(m, view)[0]);
        return ODLC_OK;
    }
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
    return upload_reals(m, k, i, &b->shape, out);
}

/* ---- fixed point ---- */

void gpu_begin_reals(struct gpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *last = gpu_node(m, gpu_node_count(m) - 1);
    m->reals = arena_array(m->scope->scratch, struct gpu_operand, last->n_outputs);
    if (m->is_fixed_product) {
        m->math = gpu_product_math(m);
        return;
    }
    for (uint32_t k = 0; !m->raw && k < gpu_node_count(m); k++) {
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
    const struct node *last = gpu_node(m, gpu_node_count(m) - 1);
    for (uint32_t i = 0; i < last->n_outputs; i++) {
        const struct gpu_operand stored = stored_output(m, i);
        if (m->reals[i].dtype != DT_NONE)
            TRY(m->is_fixed_product ? gpu_product_result(m, &m->reals[i], &stored)
                                    : gpu_from_reals(m, &m->reals[i], &stored));
    }
    return ODLC_OK;
}
