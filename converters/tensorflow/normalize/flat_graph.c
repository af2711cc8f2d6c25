/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/flat_graph.h"

#include <string.h>

#include "converters/tensorflow/decode/tf_attr.h"

struct walk walk_begin(struct normalize *nz, struct walk *outer, struct fw_graph *graph)
{
    struct walk w = {.nz = nz, .outer = outer, .number = nz->n_walks++, .graph = graph};
    map_init(&w.inputs, nz->m->memory.scratch);
    return w;
}

struct walk *walk_of(struct walk *w, const struct seen *seen)
{
    struct walk *at = seen->state == SEEN_NEW ? NULL : w;
    while (at && at->number != seen->walk)
        at = at->outer;
    return at;
}

struct walk *walk_outermost(struct walk *w)
{
    while (w->outer)
        w = w->outer;
    return w;
}

/* ---- inputs and constants ---- */

void walk_input(struct walk *w, const struct source *s, struct fw_value v)
{
    struct normalize *nz = w->nz;
    v.name = source_name(nz, s);
    v.id = source_id(nz, s);
    if (map_add(&w->inputs, v.name, 1) != MAP_NONE)
        return;
    uint32_t cut = map_get(&nz->cuts, v.name);
    const struct fw_value *said = cut == MAP_NONE ? NULL : &nz->cut_values.data[cut];
    if (said && said->dtype != DT_NONE)
        v.dtype = said->dtype;
    if (said && said->has_shape && !v.has_shape) {
        v.has_shape = true;
        v.rank = said->rank;
        v.dims = said->dims;
    }
    vec_push(nz->m->memory.graph, &w->graph->inputs, v);
}

void walk_constant(struct walk *w, struct fw_tensor t)
{
    vec_push(w->nz->m->memory.graph, &w->graph->initializers, t);
}

/* ---- nodes ---- */

static const struct fw_op *find_op(struct normalize *nz, const char *type)
{
    uint32_t at = map_add(&nz->ops, type, (uint32_t)nz->model->ops.count);
    if (at != MAP_NONE)
        return nz->model->ops.data[at];
    struct fw_op *op = arena_new(nz->m->memory.graph, struct fw_op);
    *op = (struct fw_op){.type = arena_strdup(nz->m->memory.kept, type),
                         .types = tf_types_of(type),
                         .domain = "",
                         .overload = "",
                         .index = (uint32_t)nz->model->ops.count};
    vec_push(nz->m->memory.graph, &nz->model->ops, op);
    return op;
}

static const struct fw_op *op_of(struct normalize *nz, const char *type)
{
    const size_t length = strlen(type), last = length ? (unsigned char)type[length - 1] : 0;
    const struct fw_op **recent = &nz->recent_ops[(length + 7 * last) % COUNT_OF(nz->recent_ops)];
    if (!*recent || strcmp((*recent)->type, type) != 0)
        *recent = find_op(nz, type);
    return *recent;
}

void walk_append(struct walk *w, const struct new_node *node)
{
    struct arena *arena = w->nz->m->memory.graph;
    const size_t count = node->n_operands + 1; /* most have one output */
    const char **inputs = arena_alloc(arena, align_up(count * (sizeof *inputs + sizeof(fw_name)), sizeof *inputs));
    fw_name *ids = (fw_name *)(void *)(inputs + count);
    for (size_t i = 0; i < node->n_operands; i++) {
        ids[i] = node->operands[i].id;
        inputs[i] = names_text(&w->nz->m->names, ids[i]);
    }
    const struct emitted e = {.output = node->output, .from = node->from, .n_outputs = node->from ? 0 : 1};
    const struct fw_node made = {.name = node->name,
                                 .op = op_of(w->nz, node->op),
                                 .inputs = inputs,
                                 .ids = ids,
                                 .n_inputs = (uint32_t)node->n_operands,
                                 .attrs = node->attrs,
                                 .n_attrs = node->n_attrs};
    vec_push(w->nz->m->memory.scratch, &w->emitted, e);
    vec_push(arena, &w->graph->nodes, made);
}

void walk_stand_for(struct walk *w, const struct visit *v, const struct new_node *node)
{
    struct seen *seen = visit_seen(v);
    seen->emitted = (uint32_t)w->emitted.count;
    walk_append(w, node);
    emitted_node(w, seen->emitted)->conditional = seen->when != NULL;
}

/* ---- the end ---- */

static odlc_status declare_shapes(struct walk *w, const struct emitted *e, const struct fw_node *n)
{
    struct arena *arena = w->nz->m->memory.scratch;
    if (!w->nz->m->says_shapes)
        return ODLC_OK;
    struct fw_value *values = arena_array(arena, struct fw_value, e->n_outputs);
    TRY(tf_decode_output_shapes(w->nz->m, e->from, 0, values, e->n_outputs));
    for (uint32_t i = 0; i < e->n_outputs; i++) {
        values[i].name = n->outputs[i];
        values[i].id = fw_out_id(n, i);
        if (values[i].has_shape)
            vec_push(w->nz->m->memory.graph, &w->graph->values, values[i]);
    }
    return ODLC_OK;
}

static fw_name output_id(struct normalize *nz, const struct emitted *e, const char *node, uint32_t output)
{
    if (output == 0 && e->first != FW_NO_NAME)
        return e->first;
    return e->output ? names_number(&nz->m->names, e->output, strlen(e->output)) : output_name_id(nz, "", node, output);
}

/* The ids of inputs and outputs together. The walk made room for one output. */
static fw_name *room_for_ids(struct arena *arena, const struct fw_node *n, uint32_t n_outputs)
{
    fw_name *ids = (fw_name *)(uintptr_t)n->ids;
    if (n_outputs <= 1)
        return ids;
    fw_name *all = arena_array(arena, fw_name, n->n_inputs + n_outputs);
    memcpy(all, ids, n->n_inputs * sizeof *ids);
    return all;
}

static const char **room_for_outputs(struct arena *arena, const struct fw_node *n, uint32_t n_outputs)
{
    const char **names = (const char **)(uintptr_t)n->inputs;
    return n_outputs <= 1 ? names + n->n_inputs : arena_array(arena, const char *, n_outputs);
}

odlc_status walk_finish(struct walk *w)
{
    struct arena *arena = w->nz->m->memory.graph;
    for (size_t i = 0; i < w->emitted.count; i++) {
        const struct emitted *e = &w->emitted.data[i];
        struct fw_node *n = emitted_node(w, i);
        const char **outputs = room_for_outputs(arena, n, e->n_outputs);
        fw_name *ids = room_for_ids(arena, n, e->n_outputs);
        for (uint32_t k = 0; k < e->n_outputs; k++) {
            const fw_name id = output_id(w->nz, e, n->name, k);
            ids[n->n_inputs + k] = id;
            outputs[k] = names_text(&w->nz->m->names, id);
        }
        n->ids = ids;
        n->outputs = outputs;
        n->n_outputs = e->n_outputs;
        if (e->from)
            TRY(declare_shapes(w, e, n));
    }
    return ODLC_OK;
}
