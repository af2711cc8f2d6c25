/* SPDX-License-Identifier: Apache-2.0 */
#include "api/memory.h"

#include "dlc/schema.h"

/* Bytes, of the machines that execute graphs. */
enum { POINTER = 8 };

struct life {
    const struct dlc_graph *g;
    uint32_t *last; /* per tensor: the op that touches it last */
    bool *alive;    /* per tensor */
    size_t *first;  /* per op: of its operands in `operands` */
    uint32_t *operands;
    uint64_t live; /* bytes */
};

static uint64_t bytes_of(const struct dlc_tensor *t)
{
    uint64_t element = t->dtype == DT_STRING ? POINTER : dtype_size((enum dtype)t->dtype);
    return sat_mul(shape_count(t->shape), element);
}

static bool is_activation(const struct dlc_tensor *t)
{
    return t->kind == KIND_NATIVE || t->kind == KIND_APP_READ || t->kind == KIND_APP_READWRITE;
}

/* Indices of the activations among an op's inputs and outputs, in this order; MAP_NONE for other operands. */
struct operands {
    uint32_t *index;
    uint32_t n_inputs, count;
};

static struct operands operands_of(const struct life *l, uint32_t op)
{
    const struct dlc_op *o = &l->g->ops[op];
    return (struct operands){l->operands + l->first[op], o->n_inputs, o->n_inputs + o->n_outputs};
}

static uint32_t index_of(const struct dlc_graph *g, const char *name)
{
    uint32_t index = *name ? map_get(&g->tensor_index, name) : MAP_NONE;
    return index == MAP_NONE || !is_activation(&g->tensors[index]) ? MAP_NONE : index;
}

static void find_operands(struct arena *arena, struct life *l)
{
    const struct dlc_graph *g = l->g;
    size_t count = 0;
    l->first = arena_array(arena, size_t, g->n_ops);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        l->first[i] = count;
        count += (size_t)g->ops[i].n_inputs + g->ops[i].n_outputs;
    }
    l->operands = arena_array(arena, uint32_t, count);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        struct operands o = operands_of(l, i);
        for (uint32_t k = 0; k < o.count; k++)
            o.index[k] = index_of(g, k < o.n_inputs ? g->ops[i].inputs[k] : g->ops[i].outputs[k - o.n_inputs]);
    }
}

static void note_uses(const struct life *l, uint32_t op)
{
    struct operands o = operands_of(l, op);
    for (uint32_t i = 0; i < o.count; i++)
        if (o.index[i] != MAP_NONE)
            l->last[o.index[i]] = l->g->tensors[o.index[i]].kind == KIND_NATIVE ? op : UINT32_MAX;
}

static void start_outputs(struct life *l, uint32_t op)
{
    struct operands o = operands_of(l, op);
    for (uint32_t i = o.n_inputs; i < o.count; i++) {
        uint32_t index = o.index[i];
        if (index == MAP_NONE || l->alive[index])
            continue;
        l->alive[index] = true;
        l->live = sat_add(l->live, bytes_of(&l->g->tensors[index]));
    }
}

static void end_dead(struct life *l, uint32_t op)
{
    struct operands o = operands_of(l, op);
    for (uint32_t i = 0; i < o.count; i++) {
        uint32_t index = o.index[i];
        if (index == MAP_NONE || l->last[index] != op || !l->alive[index])
            continue;
        l->alive[index] = false;
        l->live -= bytes_of(&l->g->tensors[index]);
    }
}

/* Constants, and the layers' own weights of version 3. A Const layer's value is a constant, not a weight again. */
static uint64_t constant_bytes(const struct dlc_graph *g)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].kind == KIND_STATIC)
            bytes = sat_add(bytes, bytes_of(&g->tensors[i]));
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct dlc_op *op = &g->ops[i];
        const struct dlc_tensor *out = op->n_params && op->n_outputs ? dlc_tensor_find(g, op->outputs[0]) : NULL;
        for (uint32_t k = 0; k < g->ops[i].n_params && !(out && out->kind == KIND_STATIC); k++)
            bytes = sat_add(bytes, bytes_of(&g->ops[i].params[k]));
    }
    return bytes;
}

void measure_memory(struct arena *arena, const struct dlc_graph *g, struct odlc_graph *graph)
{
    struct life l = {
        .g = g, .last = arena_array(arena, uint32_t, g->n_tensors), .alive = arena_array(arena, bool, g->n_tensors)};
    uint64_t inputs = 0, most = 0;
    graph->peak = g->n_ops;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].kind == KIND_APP_WRITE)
            inputs = sat_add(inputs, bytes_of(&g->tensors[i]));
    find_operands(arena, &l);
    for (uint32_t i = 0; i < g->n_ops; i++)
        note_uses(&l, i);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        start_outputs(&l, i);
        if (l.live > most) {
            most = l.live;
            graph->peak = i;
        }
        end_dead(&l, i);
    }
    graph->memory_constants = constant_bytes(g);
    graph->memory_activations = sat_add(inputs, most);
    graph->memory = sat_add(graph->memory_constants, graph->memory_activations);
}
