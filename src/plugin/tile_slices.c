/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of what is made of tiles: a tile goes from one op to the next without the whole tensor between. */
#include <string.h>

#include "base/map.h"
#include "plugin/plugin_prepare.h"

struct slicing {
    struct preparation *p;
    struct map known; /* slices by what they are part of */
    bool changed;
};

/* What two regions have in common; false: nothing. */
static bool overlap(const QHPI_Shape *a, const QHPI_Shape *a_size, const QHPI_Shape *b, const QHPI_Shape *b_size,
                    QHPI_Shape *start, QHPI_Shape *size)
{
    *start = *size = *a;
    for (uint32_t d = 0; d < a->rank; d++) {
        const uint32_t begin = a->dims[d] > b->dims[d] ? a->dims[d] : b->dims[d];
        const uint32_t end = (uint32_t)min_u64(a->dims[d] + a_size->dims[d], b->dims[d] + (uint64_t)b_size->dims[d]);
        if (begin >= end)
            return false;
        start->dims[d] = begin;
        size->dims[d] = end - begin;
    }
    return true;
}

static QHPI_Shape less(const QHPI_Shape *a, const QHPI_Shape *b)
{
    QHPI_Shape out = *a;
    for (uint32_t d = 0; d < a->rank; d++)
        out.dims[d] -= b->dims[d];
    return out;
}

static const char *key_of(struct arena *arena, QHPI_OpRef of, const QHPI_Shape *start, const QHPI_Shape *size)
{
    return arena_printf(arena, "%u.%u %s %s", of.op->id, of.output_number, qhpi_shape_text(arena, start),
                        qhpi_shape_text(arena, size));
}

/* The one slice of those bounds. */
static QHPI_OpRef slice_of(struct slicing *s, QHPI_OpRef of, const QHPI_Shape *start, const QHPI_Shape *size)
{
    struct plugin_graph *g = s->p->graph;
    const char *key = key_of(g->arena, of, start, size);
    const uint32_t known = map_get(&s->known, key);
    if (known != MAP_NONE)
        return (QHPI_OpRef){g->ops.data[known], 0};
    const QHPI_OpRef ref = graph_slice(g, of, start, size);
    if (ref.op->kind == KIND_SLICE)
        map_put(&s->known, key, ref.op->id);
    return ref;
}

static QHPI_OpRef slice_of_concat(struct slicing *s, const QHPI_Op *slice, const QHPI_Op *whole)
{
    struct plugin_graph *g = s->p->graph;
    const QHPI_Shape *start = &slice->starts[0], *size = &slice->outputs[0].shape;
    VEC(QHPI_OpRef) parts = {0};
    VEC(QHPI_Shape) starts = {0};
    for (uint32_t i = 0; i < whole->n_inputs; i++) {
        const QHPI_OpRef part = op_operand(whole, i);
        QHPI_Shape at, extent;
        if (!overlap(start, size, &whole->starts[i], &ref_def(part)->shape, &at, &extent))
            continue;
        const QHPI_Shape within = less(&at, &whole->starts[i]);
        vec_push(g->arena, &parts, slice_of(s, part, &within, &extent));
        vec_push(g->arena, &starts, less(&at, start));
    }
    if (parts.count == 1)
        return parts.data[0];
    QHPI_Op *joined = graph_add(g, KIND_CONCAT, NAME_CONCAT, (uint32_t)parts.count, 1, slice->outputs);
    memcpy(joined->inputs, parts.data, parts.count * sizeof *parts.data);
    joined->starts = starts.data;
    joined->is_part = true;
    return (QHPI_OpRef){joined, 0};
}

static QHPI_OpRef slice_of_slice(struct slicing *s, const QHPI_Op *slice, const QHPI_Op *outer)
{
    QHPI_Shape start = slice->starts[0];
    for (uint32_t d = 0; d < start.rank; d++)
        start.dims[d] += outer->starts[0].dims[d];
    return slice_of(s, op_operand(outer, 0), &start, &slice->outputs[0].shape);
}

/* The slice itself, unless there is such a one already. */
static QHPI_OpRef one_of(struct slicing *s, const QHPI_Op *slice, QHPI_OpRef of)
{
    struct plugin_graph *g = s->p->graph;
    const uint32_t known =
        map_add(&s->known, key_of(g->arena, of, &slice->starts[0], &slice->outputs[0].shape), slice->id);
    return (QHPI_OpRef){known == MAP_NONE ? slice : g->ops.data[known], 0};
}

static void shorten(struct slicing *s, QHPI_Op *slice)
{
    const QHPI_OpRef of = op_operand(slice, 0);
    const QHPI_OpRef with = of.op->kind == KIND_CONCAT  ? slice_of_concat(s, slice, of.op)
                            : of.op->kind == KIND_SLICE ? slice_of_slice(s, slice, of.op)
                                                        : one_of(s, slice, of);
    if (with.op == slice)
        return;
    slice->replaced = arena_memdup(s->p->arena, &with, sizeof with);
    s->changed = true;
}

void prepare_slices(struct preparation *p)
{
    struct slicing s = {.p = p};
    struct plugin_graph *g = p->graph;
    map_init(&s.known, p->arena);
    do {
        s.changed = false;
        graph_settle(g);
        for (size_t i = 0; i < g->order.count; i++) {
            QHPI_Op *op = g->ops.data[g->order.data[i]->id];
            if (op->kind == KIND_SLICE && !op->replaced)
                shorten(&s, op);
        }
    } while (s.changed);
}
