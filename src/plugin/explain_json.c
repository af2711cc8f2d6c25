/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "plugin/explain.h"
#include "text/json_out.h"

static void put_shape(struct json_out *j, const char *key, const uint32_t *dims, uint32_t rank)
{
    json_array(j, key);
    for (uint32_t d = 0; d < rank; d++)
        json_uint(j, NULL, dims[d]);
    json_end_array(j);
}

static void put_lines(struct json_out *j, struct arena *arena, const char *key, const char *lines)
{
    json_array(j, key);
    for (const char *line = lines; line;) {
        const char *end = strchr(line, '\n');
        json_string(j, NULL, end ? arena_strndup(arena, line, (size_t)(end - line)) : line);
        line = end ? end + 1 : NULL;
    }
    json_end_array(j);
}

static void put_rewritings(struct json_out *j, struct arena *arena, const struct preparation *p)
{
    json_array(j, "rewrites");
    for (size_t i = 0; i < p->rewritings.count; i++) {
        const struct rewriting *r = &p->rewritings.data[i];
        json_object(j, NULL);
        json_string(j, "callback", r->callback);
        json_string(j, "op", r->op);
        json_string(j, "node", r->node);
        put_lines(j, arena, "before", r->before);
        put_lines(j, arena, "after", r->after);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_tile(struct json_out *j, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    json_object(j, NULL);
    put_shape(j, "start", start->dims, start->rank);
    put_shape(j, "extent", extent->dims, extent->rank);
    json_end_object(j);
}

static void put_tiles(struct json_out *j, const struct tiled *t)
{
    json_array(j, "tiles");
    for (uint32_t k = 0; t->tiles && k < t->n_tiles; k++) {
        QHPI_Shape start, extent;
        tile_region(t, k, &start, &extent);
        put_tile(j, &start, &extent);
    }
    json_end_array(j);
}

static void put_tilings(struct json_out *j, const struct preparation *p)
{
    json_array(j, "tilings");
    for (size_t i = 0; i < p->tilings.count; i++) {
        const struct tiled *t = p->tilings.data[i];
        const QHPI_Shape *whole = &t->op->outputs[0].shape;
        json_object(j, NULL);
        json_string(j, "op", t->op->name);
        json_string(j, "node", t->op->label);
        json_uint(j, "cluster", t->cluster);
        put_shape(j, "output", whole->dims, whole->rank);
        put_shape(j, "required", t->required.dims, t->required.rank);
        put_shape(j, "tile", t->tile.dims, t->tile.rank);
        json_uint(j, "count", t->n_tiles);
        json_string(j, "reason", t->reason);
        put_tiles(j, t);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_kernels(struct json_out *j, struct arena *arena, const struct preparation *p)
{
    const struct kernel_uses uses = explain_kernels(p, arena);
    json_array(j, "kernels");
    for (size_t i = 0; i < uses.list.count; i++) {
        const struct plugin_step *step = uses.list.data[i].step;
        json_object(j, NULL);
        json_string(j, "op", step->op->name);
        json_string(j, "node", step->op->label);
        json_uint(j, "count", uses.list.data[i].count);
        json_string(j, "kernel", step->choice->kernel->function_name);
        json_uint(j, "slices", step->slices);
        json_bool(j, "precomputed", step->block != NULL);
        json_double(j, "cost", uses.list.data[i].cost);
        json_array(j, "tried");
        for (uint32_t k = 0; k < step->choice->n_tried; k++) {
            json_object(j, NULL);
            json_string(j, "kernel", step->choice->tried[k].kernel->function_name);
            json_string(j, "reason", step->choice->tried[k].reason);
            json_end_object(j);
        }
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_resources(struct json_out *j, const struct plugin_step *step)
{
    const uint32_t resources = step->kind == PLUGIN_KERNEL ? step->choice->kernel->resources : 0;
    json_array(j, "resources");
    if (resources & QHPI_RESOURCE_HVX)
        json_string(j, NULL, "HVX");
    if (resources & QHPI_RESOURCE_HMX)
        json_string(j, NULL, "HMX");
    json_end_array(j);
}

static void put_steps(struct json_out *j, struct arena *arena, const struct preparation *p)
{
    json_array(j, "steps");
    for (size_t k = 0; k < p->steps.count; k++) {
        const struct plugin_step *step = &p->steps.data[k];
        json_object(j, NULL);
        json_string(j, "kind", step_kind_name(step->kind));
        json_string(j, "op", step->op->name);
        json_string(j, "node", step->op->label);
        json_string(j, "text", op_text(arena, step->op));
        json_double(j, "begin", step->begin);
        json_double(j, "end", step->end);
        if (step->has_cost)
            json_double(j, "cost", (double)step->cost);
        json_uint(j, "fast_bytes", step->fast_bytes);
        json_uint(j, "ddr_operands", step->n_direct);
        put_resources(j, step);
        json_bool(j, "in_place", step->n_outputs && p->values.data[step->outputs[0]].shares != NO_VALUE);
        json_end_object(j);
    }
    json_end_array(j);
}

const char *explain_json(const struct preparation *p, struct arena *arena)
{
    char *bytes = NULL;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);
    if (!stream)
        arena_exhausted(arena);
    struct json_out j = json_out_to(stream, true);
    json_object(&j, NULL);
    json_uint(&j, "nodes", p->group->nodes.count);
    json_uint(&j, "fast_memory", p->options.fast_memory);
    json_uint(&j, "peak", p->peak);
    json_double(&j, "cost", p->cost);
    json_uint(&j, "kernels_without_cost", p->n_without_cost);
    json_double(&j, "end", p->end);
    put_rewritings(&j, arena, p);
    put_tilings(&j, p);
    put_kernels(&j, arena, p);
    put_steps(&j, arena, p);
    json_end_object(&j);
    const bool complete = fclose(stream) == 0 && bytes;
    arena_defer(arena, free, bytes);
    if (!complete)
        arena_exhausted(arena);
    bytes[size - 1] = '\0'; /* the line's end */
    return bytes;
}
