/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of values, the tensors that kernels get, and what kernels compute before. */
#include <string.h>

#include "base/foreign.h"
#include "package/log_sink.h"
#include "plugin/callback.h"
#include "plugin/calls.h"
#include "plugin/blocked_layout.h"
#include "plugin/native.h"
#include "plugin/plugin_run.h"
#include "runtime/pool.h"

/* Vectors of a target are loaded from such addresses. */
enum { ALIGNMENT = 128 };

static void *aligned_room(struct arena *arena, uint64_t size)
{
    uint8_t *room = arena_alloc(arena, size + ALIGNMENT);
    return (void *)align_up((uintptr_t)room, ALIGNMENT);
}

/* ---- values ---- */

/* The last step of all that lie in the same memory. */
static uint32_t *ends_of(struct preparation *p)
{
    uint32_t *ends = arena_array(p->arena, uint32_t, p->values.count);
    for (uint32_t i = 0; i < p->values.count; i++) {
        const uint32_t owner = value_owner(p, i);
        if (p->values.data[i].last > ends[owner])
            ends[owner] = p->values.data[i].last;
    }
    return ends;
}

static bool owns_memory(const struct value *v)
{
    return !v->is_outer && v->shares == NO_VALUE && v->first != UINT32_MAX;
}

/* Places in one block, by the steps during which each is needed. */
static void lay_out(struct preparation *p, uint64_t *offsets)
{
    const uint32_t *ends = ends_of(p);
    uint32_t *parts = arena_array(p->arena, uint32_t, p->values.count);
    struct pool pool;
    pool_init(&pool, p->arena);
    for (uint32_t k = 0; k < p->steps.count; k++) {
        const struct plugin_step *step = &p->steps.data[k];
        for (uint32_t i = 0; i < step->n_inputs + step->n_outputs; i++) {
            const uint32_t id = step->inputs[i];
            if (id == NO_VALUE || !owns_memory(&p->values.data[id]) || p->values.data[id].first != k || offsets[id])
                continue;
            parts[id] = pool_take(&pool, align_up(p->values.data[id].bytes + 1, ALIGNMENT));
            offsets[id] = pool_offset(&pool, parts[id]) + ALIGNMENT; /* 0: none */
        }
        for (uint32_t i = 0; i < step->n_inputs + step->n_outputs; i++) {
            const uint32_t id = step->inputs[i] == NO_VALUE ? NO_VALUE : value_owner(p, step->inputs[i]);
            if (id == NO_VALUE || !offsets[id] || ends[id] != k || parts[id] == POOL_NONE)
                continue;
            pool_give(&pool, parts[id]);
            parts[id] = POOL_NONE;
        }
    }
    p->host_size = pool.size + ALIGNMENT;
}

static void *take_room(struct preparation *p, const QHPI_Op *op, uint64_t bytes)
{
    return p->options.take ? p->options.take(p->options.user, arena_printf(p->arena, "%%%u", op->id), bytes)
                           : aligned_room(p->arena, bytes);
}

/* What an op is that is computed before all executions, in the memory of its value; `to` NULL: in memory of its own. */
static const void *compute_static(struct preparation *p, const QHPI_Op *op, void *to)
{
    const QHPI_OutputDef *def = &op->outputs[0];
    const uint32_t element = element_bytes(def->type);
    if (op->kind == KIND_CONSTANT)
        return op->data;
    const QHPI_OpRef of = op_operand(op, 0);
    const void *from = compute_static(p, of.op, NULL);
    to = to ? to : arena_alloc(p->arena, layout_bytes(def, prepared_layout(p, (QHPI_OpRef){op, 0})));
    if (op->kind == KIND_CONVERT) {
        layout_to_blocks(&def->shape, element, from, to);
        return to;
    }
    const QHPI_Shape start = {.rank = def->shape.rank};
    layout_copy_part(&(struct flat_part){&ref_def(of)->shape, &op->starts[0], (void *)from},
                     &(struct flat_part){&def->shape, &start, to}, &def->shape, element);
    return to;
}

/* Kernels do not write to their inputs: a constant may lie where it is. */
static void *place_static(struct preparation *p, const struct value *v)
{
    if (v->op->kind == KIND_CONSTANT && !p->options.take)
        return (void *)v->op->data;
    void *data = take_room(p, v->op, v->bytes);
    if (v->op->kind == KIND_CONSTANT)
        memcpy(data, v->op->data, v->bytes);
    else
        compute_static(p, v->op, data);
    if (p->options.seal)
        p->options.seal(p->options.user, data);
    return data;
}

static void add_blocks(struct preparation *p, struct value *v)
{
    if (!layout_is_blocked(v->layout))
        return;
    const QHPI_OutputDef *def = &v->op->outputs[v->output];
    v->padded = layout_padded(&def->shape, element_bytes(def->type));
    v->n_blocks = (uint32_t)(v->bytes / BLOCK_BYTES);
    v->blocks = arena_array(p->arena, void *, v->n_blocks);
    for (uint32_t i = 0; i < v->n_blocks; i++)
        v->blocks[i] = (uint8_t *)v->data + (uint64_t)i * BLOCK_BYTES;
}

static void place_values(struct preparation *p)
{
    uint64_t *offsets = arena_array(p->arena, uint64_t, p->values.count);
    uint8_t *block = NULL;
    if (!p->options.take) {
        lay_out(p, offsets);
        block = aligned_room(p->arena, p->host_size);
    }
    for (uint32_t i = 0; i < p->values.count; i++) {
        struct value *v = &p->values.data[i];
        if ((v->op->kind == KIND_CONSTANT || op_is_static(v->op)) && v->result == NO_VALUE)
            v->data = place_static(p, v);
        if (!owns_memory(v))
            continue;
        v->data = p->options.take ? take_room(p, v->op, v->bytes) : block + offsets[i] - ALIGNMENT;
    }
    for (uint32_t i = 0; i < p->values.count; i++) {
        struct value *v = &p->values.data[i];
        if (v->shares != NO_VALUE)
            v->data = p->values.data[value_owner(p, i)].data;
        add_blocks(p, v);
    }
}

/* ---- tensors ---- */

static QHPI_Tensor tensor_of(const struct preparation *p, const struct plugin_step *step, uint32_t i)
{
    QHPI_Tensor t = {.calls = &host_calls, .layout = QHPI_LAYOUT_FLAT_4};
    if (step->inputs[i] == NO_VALUE)
        return t;
    const struct value *v = &p->values.data[step->inputs[i]];
    t.def = v->op->outputs[v->output];
    t.layout = v->layout;
    t.is_indirect = step->choice->indirect[i];
    t.data = v->data;
    t.blocks = v->blocks;
    t.n_blocks = v->n_blocks;
    t.padded = v->padded;
    return t;
}

static void make_tensors(struct preparation *p, struct plugin_step *step)
{
    const uint32_t count = step->n_inputs + step->n_outputs;
    step->tensors = arena_array(p->arena, QHPI_Tensor, count);
    step->in = arena_array(p->arena, const QHPI_Tensor *, step->n_inputs);
    step->out = arena_array(p->arena, QHPI_Tensor *, step->n_outputs);
    for (uint32_t i = 0; i < count; i++) {
        step->tensors[i] = tensor_of(p, step, i);
        if (i < step->n_inputs)
            step->in[i] = &step->tensors[i];
        else
            step->out[i - step->n_inputs] = &step->tensors[i];
    }
    step->call =
        arena_printf(p->arena, "node '%s': kernel %s of op %s, library %s,", step->op->label ? step->op->label : "",
                     step->choice->kernel->function_name, step->op->name, step->op->package->library.path);
}

odlc_status prepare_memory(struct preparation *p)
{
    place_values(p);
    for (size_t k = 0; k < p->steps.count; k++) {
        struct plugin_step *step = &p->steps.data[k];
        if (step->kind == PLUGIN_KERNEL)
            make_tensors(p, step);
        if (step->kind == PLUGIN_NATIVE)
            TRY(native_prepare(step->op, p->arena, p->diags, &step->native));
    }
    return ODLC_OK;
}

/* ---- precomputation ---- */

static odlc_status precompute(struct preparation *p, struct plugin_step *step)
{
    const QHPI_Kernel_v1 *k = step->choice->kernel;
    if (!run_by_block(p, k))
        return ODLC_OK;
    step->block = p->options.take ? p->options.take(p->options.user, "precomputed data", k->precomputed_data_size)
                                  : aligned_room(p->arena, k->precomputed_data_size);
    const char *callback = arena_printf(p->arena, "do_precomputation_function of kernel %s", k->function_name);
    callback_begin(step->op, callback);
    const uint32_t status =
        k->do_precomputation_function(step->block, step->n_outputs, step->out, step->n_inputs, step->in);
    TRY(callback_end(step->op));
    if (status == QHPI_SUCCESS)
        return ODLC_OK;
    return callback_error(step->op, callback, "plugin-precomputation", NULL, "gives status %u", status);
}

odlc_status prepare_precomputation(struct preparation *p)
{
    for (size_t k = 0; k < p->steps.count; k++)
        if (p->steps.data[k].kind == PLUGIN_KERNEL)
            TRY(precompute(p, &p->steps.data[k]));
    return ODLC_OK;
}
