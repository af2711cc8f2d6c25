/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_graph.h"

#include <string.h>

#include "plugin/calls.h"

struct plugin_graph *graph_new(struct arena *arena, struct diags *diags, const struct package_set *packages)
{
    struct plugin_graph *g = arena_new(arena, struct plugin_graph);
    g->arena = arena;
    g->diags = diags;
    g->packages = packages;
    return g;
}

QHPI_Op *graph_add(struct plugin_graph *g, enum op_kind kind, const char *name, uint32_t n_inputs, uint32_t n_outputs,
                   const QHPI_OutputDef *outputs)
{
    if (g->ops.count % OPS_A_BLOCK == 0)
        vec_push(g->arena, &g->blocks, arena_array(g->arena, QHPI_Op, OPS_A_BLOCK));
    QHPI_Op *op = g->blocks.data[g->ops.count / OPS_A_BLOCK] + g->ops.count % OPS_A_BLOCK;
    *op = (QHPI_Op){.calls = &host_calls,
                    .graph = g,
                    .id = (uint32_t)g->ops.count,
                    .kind = kind,
                    .name = name,
                    .n_inputs = n_inputs,
                    .n_outputs = n_outputs,
                    .inputs = arena_array(g->arena, QHPI_OpRef, n_inputs),
                    .outputs = arena_memdup(g->arena, outputs, n_outputs * sizeof *outputs)};
    vec_push(g->arena, &g->ops, op);
    return op;
}

bool graph_has(const struct plugin_graph *g, const QHPI_Op *op)
{
    const uintptr_t place = (uintptr_t)op;
    for (size_t i = g->blocks.count; i-- > 0;) {
        const uintptr_t first = (uintptr_t)g->blocks.data[i];
        if (place < first || place - first >= OPS_A_BLOCK * sizeof *op)
            continue;
        const size_t number = i * OPS_A_BLOCK + (place - first) / sizeof *op;
        return number < g->ops.count && g->ops.data[number] == op;
    }
    return false;
}

/* Arrays grow in the arena that they are in. */
#define COPY_VEC(arena, vec)                                                               \
    ((vec)->data = arena_memdup((arena), (vec)->data, (vec)->count * sizeof *(vec)->data), \
     (vec)->capacity = (vec)->count)

struct graph_state graph_keep(struct plugin_graph *g, struct arena *arena)
{
    struct graph_state state = {.graph = *g, .ops = arena_array(arena, QHPI_Op, g->ops.count)};
    size_t n_inputs = 0;
    for (size_t i = 0; i < g->ops.count; i++) {
        state.ops[i] = *g->ops.data[i];
        n_inputs += state.ops[i].n_inputs;
    }
    QHPI_OpRef *inputs = state.inputs = arena_array(arena, QHPI_OpRef, n_inputs);
    for (size_t i = 0; i < g->ops.count; inputs += state.ops[i++].n_inputs)
        memcpy(inputs, state.ops[i].inputs, state.ops[i].n_inputs * sizeof *inputs);
    g->arena = arena;
    COPY_VEC(arena, &g->ops);
    COPY_VEC(arena, &g->blocks);
    COPY_VEC(arena, &g->order);
    COPY_VEC(arena, &g->results);
    return state;
}

void graph_restore(struct plugin_graph *g, const struct graph_state *state)
{
    const QHPI_OpRef *inputs = state->inputs;
    *g = state->graph;
    for (size_t i = 0; i < g->ops.count; inputs += state->ops[i++].n_inputs) {
        *g->ops.data[i] = state->ops[i];
        memcpy(state->ops[i].inputs, inputs, state->ops[i].n_inputs * sizeof *inputs);
    }
}

QHPI_OpRef graph_resolve(QHPI_OpRef ref)
{
    while (ref.op->replaced)
        ref = ref.op->replaced[ref.output_number];
    return ref;
}

static bool is_at_start(const QHPI_Shape *start)
{
    for (uint32_t d = 0; d < start->rank; d++)
        if (start->dims[d])
            return false;
    return true;
}

QHPI_OpRef graph_slice(struct plugin_graph *g, QHPI_OpRef of, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    QHPI_OutputDef def = *ref_def(of);
    if (is_at_start(start) && qhpi_shape_equal(&def.shape, extent))
        return of;
    def.shape = *extent;
    QHPI_Op *op = graph_add(g, KIND_SLICE, NAME_SLICE, 1, 1, &def);
    op->inputs[0] = of;
    op->starts = arena_memdup(g->arena, start, sizeof *start);
    return (QHPI_OpRef){op, 0};
}

void graph_replace(struct plugin_graph *g, const QHPI_Op *op, const QHPI_Op *with)
{
    QHPI_OpRef *refs = arena_array(g->arena, QHPI_OpRef, op->n_outputs);
    for (uint32_t i = 0; i < op->n_outputs; i++)
        refs[i] = (QHPI_OpRef){with, i};
    g->ops.data[op->id]->replaced = refs;
}

/* ---- walks ---- */

struct visit {
    const QHPI_Op *op;
    uint32_t next; /* operand */
};

/* Depth first: ops come behind all that they are computed from. */
static void walk(struct plugin_graph *g, const QHPI_Op *from)
{
    VEC(struct visit) open = {0};
    if (from->serial == g->serial)
        return;
    g->ops.data[from->id]->serial = g->serial;
    vec_push(g->arena, &open, (struct visit){from, 0});
    while (open.count) {
        struct visit *v = &open.data[open.count - 1];
        if (v->next == v->op->n_inputs) {
            vec_push(g->arena, &g->order, v->op);
            open.count--;
            continue;
        }
        const QHPI_OpRef ref = op_operand(v->op, v->next++);
        QHPI_Op *operand = g->ops.data[ref.op->id];
        operand->uses++;
        if (operand->serial == g->serial)
            continue;
        operand->serial = g->serial;
        vec_push(g->arena, &open, (struct visit){operand, 0});
    }
}

void graph_settle(struct plugin_graph *g)
{
    g->serial++;
    g->order.count = 0;
    for (size_t i = 0; i < g->ops.count; i++)
        g->ops.data[i]->uses = 0;
    for (size_t i = 0; i < g->results.count; i++) {
        const QHPI_OpRef ref = graph_resolve(g->results.data[i].ref);
        g->ops.data[ref.op->id]->uses++;
        walk(g, ref.op);
    }
}

bool graph_depends(struct plugin_graph *g, const QHPI_Op *user, const QHPI_Op *op)
{
    VEC(const QHPI_Op *) open = {0};
    g->serial++;
    vec_push(g->arena, &open, user);
    while (open.count) {
        const QHPI_Op *at = open.data[--open.count];
        if (at == op)
            return true;
        for (uint32_t i = 0; i < at->n_inputs; i++) {
            QHPI_Op *operand = g->ops.data[op_operand(at, i).op->id];
            if (operand->serial == g->serial)
                continue;
            operand->serial = g->serial;
            vec_push(g->arena, &open, operand);
        }
    }
    return false;
}

static bool is_same_constant(const QHPI_Op *a, const QHPI_Op *b)
{
    return a->kind == KIND_CONSTANT && b->kind == KIND_CONSTANT && a->bytes == b->bytes &&
           def_equal(a->outputs, b->outputs) && memcmp(a->data, b->data, a->bytes) == 0;
}

/* Of ops that were made one after the other: as deep as a callback makes graphs. */
bool graph_alike(const QHPI_Op *a, const QHPI_Op *b)
{
    if (a == b || is_same_constant(a, b))
        return true;
    if (a->kind != b->kind || a->kind == KIND_CONSTANT || a->kind == KIND_INPUT || strcmp(a->name, b->name) != 0 ||
        a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs)
        return false;
    for (uint32_t i = 0; i < a->n_outputs; i++)
        if (!def_equal(&a->outputs[i], &b->outputs[i]))
            return false;
    if (a->kind == KIND_SLICE && !qhpi_shape_equal(a->starts, b->starts))
        return false;
    for (uint32_t i = 0; i < a->n_inputs; i++) {
        const QHPI_OpRef x = op_operand(a, i), y = op_operand(b, i);
        if (x.output_number != y.output_number || !graph_alike(x.op, y.op))
            return false;
    }
    return true;
}

bool op_is_static(const QHPI_Op *op)
{
    while (op->kind == KIND_SLICE || op->kind == KIND_CONVERT) {
        op = op_operand(op, 0).op;
        if (op->kind == KIND_CONSTANT)
            return true;
    }
    return false;
}

struct tiled *graph_tiled(const QHPI_Op *op)
{
    while (!op->tiled && op->ancestor)
        op = op->ancestor;
    return op->tiled;
}

/* ---- shapes and types ---- */

bool qhpi_shape_equal(const QHPI_Shape *a, const QHPI_Shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

QHPI_Shape qhpi_shape_of(const struct shape *shape)
{
    const uint32_t lead = shape->rank < 4 ? 4 - shape->rank : 0;
    QHPI_Shape out = {.rank = shape->rank + lead};
    for (uint32_t i = 0; i < lead; i++)
        out.dims[i] = 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        out.dims[lead + i] = (uint32_t)shape->dims[i];
    return out;
}

struct shape ir_shape_of(const QHPI_Shape *shape)
{
    struct shape out = {.rank = shape->rank};
    for (uint32_t i = 0; i < shape->rank; i++)
        out.dims[i] = shape->dims[i];
    return out;
}

uint64_t qhpi_count(const QHPI_Shape *shape)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        count = sat_mul(count, shape->dims[i]);
    return count;
}

uint32_t element_bytes(QHPI_Element_Type type)
{
    switch (type) {
    case QHPI_QUINT8:
    case QHPI_QINT8:
        return 1;
    case QHPI_QUINT16:
    case QHPI_QINT16:
    case QHPI_FLOAT16:
        return 2;
    case QHPI_INT32:
    case QHPI_FLOAT32:
        return 4;
    default:
        return 0;
    }
}

uint64_t def_bytes(const QHPI_OutputDef *def)
{
    return sat_mul(qhpi_count(&def->shape), element_bytes(def->type));
}

bool def_equal(const QHPI_OutputDef *a, const QHPI_OutputDef *b)
{
    return a->type == b->type && qhpi_shape_equal(&a->shape, &b->shape) &&
           a->quant_parameters.zero_offset == b->quant_parameters.zero_offset &&
           a->quant_parameters.stepsize == b->quant_parameters.stepsize;
}

QHPI_Element_Type element_type_of(enum dtype dtype)
{
    switch (dtype) {
    case DT_BOOL:
    case DT_UINT8:
    case DT_UFXP8:
        return QHPI_QUINT8;
    case DT_INT8:
    case DT_SFXP8:
        return QHPI_QINT8;
    case DT_UINT16:
    case DT_UFXP16:
        return QHPI_QUINT16;
    case DT_INT16:
    case DT_SFXP16:
        return QHPI_QINT16;
    case DT_INT32:
    case DT_UINT32:
    case DT_SFXP32:
    case DT_UFXP32:
        return QHPI_INT32;
    case DT_FLOAT32:
        return QHPI_FLOAT32;
    case DT_FLOAT16:
        return QHPI_FLOAT16;
    default:
        return QHPI_ELEMENT_TYPE_ANY;
    }
}

static const struct quant *encoding_of(struct arena *arena, const QHPI_OutputDef *def, uint32_t bits)
{
    struct encoding *e = arena_new(arena, struct encoding);
    struct quant *q = arena_new(arena, struct quant);
    *e = (struct encoding){
        .bitwidth = bits, .scale = def->quant_parameters.stepsize, .offset = -def->quant_parameters.zero_offset};
    *q = (struct quant){.count = 1, .encodings = e};
    return q;
}

enum dtype dtype_of_def(struct arena *arena, const QHPI_OutputDef *def, const struct quant **quant)
{
    static const struct {
        enum dtype plain, fixed;
    } dtypes[] = {[QHPI_QUINT8] = {DT_UINT8, DT_UFXP8},     [QHPI_QUINT16] = {DT_UINT16, DT_UFXP16},
                  [QHPI_QINT8] = {DT_INT8, DT_SFXP8},       [QHPI_QINT16] = {DT_INT16, DT_SFXP16},
                  [QHPI_INT32] = {DT_INT32, DT_SFXP32},     [QHPI_FLOAT32] = {DT_FLOAT32, DT_FLOAT32},
                  [QHPI_FLOAT16] = {DT_FLOAT16, DT_FLOAT16}};
    const bool fixed = def->quant_parameters.stepsize != 0 && def->type < QHPI_FLOAT32;
    *quant = fixed ? encoding_of(arena, def, 8 * element_bytes(def->type)) : NULL;
    return fixed ? dtypes[def->type].fixed : dtypes[def->type].plain;
}
