#include "api/memory.h"

#include "dlc/schema.h"

struct life {
    const struct dlc_graph *g;
    uint32_t *last; /* per tensor: the op that touches it last */
    bool *alive;    /* per tensor */
    uint64_t live;  /* bytes */
};

/* Sizes come from files that anybody may have written: a sum stays at the largest number instead of starting anew. */
static uint64_t add_size(uint64_t sum, uint64_t size)
{
    return ckd_add(&sum, sum, size) ? UINT64_MAX : sum;
}

static uint64_t bytes_of(const struct dlc_tensor *t)
{
    uint64_t bytes;
    if (t->dtype == DT_STRING)
        return ckd_mul(&bytes, shape_count(t->shape), sizeof(const char *)) ? UINT64_MAX : bytes;
    return ckd_mul(&bytes, shape_count(t->shape), dtype_size((enum dtype)t->dtype)) ? UINT64_MAX : bytes;
}

static bool is_activation(const struct dlc_tensor *t)
{
    return t->kind == KIND_NATIVE || t->kind == KIND_APP_READ || t->kind == KIND_APP_READWRITE;
}

static uint32_t index_of(const struct life *l, const char *name)
{
    uint32_t index = *name ? map_get(&l->g->tensor_index, name) : MAP_NONE;
    return index == MAP_NONE || !is_activation(&l->g->tensors[index]) ? MAP_NONE : index;
}

static void note_uses(const struct life *l, const char *const *names, uint32_t count, uint32_t op)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = index_of(l, names[i]);
        if (index != MAP_NONE)
            l->last[index] = l->g->tensors[index].kind == KIND_NATIVE ? op : UINT32_MAX;
    }
}

static void start_outputs(struct life *l, const struct dlc_op *op)
{
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        uint32_t index = index_of(l, op->outputs[i]);
        if (index == MAP_NONE || l->alive[index])
            continue;
        l->alive[index] = true;
        l->live = add_size(l->live, bytes_of(&l->g->tensors[index]));
    }
}

static void end_dead(struct life *l, const char *const *names, uint32_t count, uint32_t op)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = index_of(l, names[i]);
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
            bytes = add_size(bytes, bytes_of(&g->tensors[i]));
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct dlc_tensor *out = g->ops[i].n_outputs ? dlc_tensor_find(g, g->ops[i].outputs[0]) : NULL;
        for (uint32_t k = 0; k < g->ops[i].n_params && !(out && out->kind == KIND_STATIC); k++)
            bytes = add_size(bytes, bytes_of(&g->ops[i].params[k]));
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
            inputs = add_size(inputs, bytes_of(&g->tensors[i]));
    for (uint32_t i = 0; i < g->n_ops; i++) {
        note_uses(&l, g->ops[i].outputs, g->ops[i].n_outputs, i);
        note_uses(&l, g->ops[i].inputs, g->ops[i].n_inputs, i);
    }
    for (uint32_t i = 0; i < g->n_ops; i++) {
        start_outputs(&l, &g->ops[i]);
        if (l.live > most) {
            most = l.live;
            graph->peak = i;
        }
        end_dead(&l, g->ops[i].inputs, g->ops[i].n_inputs, i);
        end_dead(&l, g->ops[i].outputs, g->ops[i].n_outputs, i);
    }
    graph->memory_constants = constant_bytes(g);
    graph->memory_activations = add_size(inputs, most);
    graph->memory = add_size(graph->memory_constants, graph->memory_activations);
}
