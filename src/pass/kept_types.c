/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/kept_types.h"

#include <string.h>

#include "pass/alias.h"

bool preserves_type(const struct pass_context *c, const struct tensor *t)
{
    const struct pass_options *o = c->options;
    const bool named = !o->preserve_names || map_get(o->preserve_names, t->name) != MAP_NONE;
    const bool custom = o->custom_io && map_get(o->custom_io, t->name) != MAP_NONE;
    return dtype_in_containers(t->type->dtype) && (custom || (o->preserve_dtype && named));
}

bool *kept_types(struct arena *scratch, const struct graph *g)
{
    return arena_array(scratch, bool, g->tensors.count + g->inputs.count + 2 * g->outputs.count);
}

/* The nodes behind the first `before` go to the front, the last one first. */
static void move_to_front(struct arena *scratch, struct graph *g, size_t before)
{
    size_t count = g->order.count, added = count - before;
    const node_id *order = arena_memdup(scratch, g->order.data, count * sizeof *order);
    for (size_t i = 0; i < added; i++)
        g->order.data[i] = order[count - 1 - i];
    memcpy(g->order.data + added, order, before * sizeof *order);
}

/* Puts a Cast between each graph input that keeps the model's dtype and its readers. */
static odlc_status keep_inputs(const struct pass_context *c, struct build *b, keeps_type_fn *keeps,
                               other_type_fn *other, bool *kept)
{
    struct graph *g = b->graph;
    size_t before = g->order.count;
    struct aliases casts = aliases_start(c->scratch, g);
    for (size_t i = 0; i < g->inputs.count; i++) {
        tensor_id id = g->inputs.data[i];
        const struct tensor *t = graph_tensor(g, id);
        enum dtype to = other(t->type->dtype);
        if (!keeps(c, t) || to == t->type->dtype)
            continue;
        kept[id] = true;
        TRY(build_cast(b, id, to, arena_printf(g->arena, "%s.cast", t->name), &casts.to[id]));
    }
    if (g->order.count == before)
        return ODLC_OK;
    for (size_t i = 0; i < before; i++)
        aliases_apply(&casts, g->order.data[i]);
    move_to_front(c->scratch, g, before);
    return ODLC_OK;
}

/* The value computed in the narrow dtype gets a name of its own; the graph output is a Cast of it. */
static odlc_status keep_output(struct build *b, other_type_fn *other, size_t i)
{
    struct graph *g = b->graph;
    tensor_id value = g->outputs.data[i], cast;
    const char *name = graph_tensor(g, value)->name;
    enum dtype wide = graph_tensor(g, value)->type->dtype;
    graph_rename_tensor(g, value, graph_free_tensor_name(g, arena_printf(g->arena, "%s.cast", name)));
    graph_set_dtype(g, value, other(wide));
    TRY(build_cast(b, value, wide, NULL, &cast));
    graph_rename_tensor(g, cast, name);
    graph_replace_result(g, i, cast);
    return ODLC_OK;
}

odlc_status keep_types(const struct pass_context *c, struct build *b, keeps_type_fn *keeps, other_type_fn *other,
                       bool *kept)
{
    struct graph *g = b->graph;
    TRY(keep_inputs(c, b, keeps, other, kept));
    for (size_t i = 0; i < g->outputs.count; i++) {
        const struct tensor *t = graph_tensor(g, g->outputs.data[i]);
        if (t->kind != TENSOR_OUTPUT || !keeps(c, t) || other(t->type->dtype) == t->type->dtype)
            continue;
        TRY(keep_output(b, other, i));
        kept[g->outputs.data[i]] = true;
    }
    return ODLC_OK;
}
