/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/overrides.h"

#include <stdlib.h>

#include "ir/quant.h"
#include "op/channels.h"

odlc_status read_overrides(const struct context *c, struct overrides *out)
{
    const char *path = c->options->quantization_overrides;
    out->file = NULL;
    if (!path)
        return ODLC_OK;
    return encoding_file_read(c->arena, c->diags, path, &out->file);
}

/* ---- names ---- */

struct names {
    struct map index; /* of all values of the model's own graph → list */
    VEC(const char *) list;
    VEC(fw_name) ids;
};

static void add_name(const struct context *c, struct names *names, const char *name, fw_name id)
{
    if (id == FW_NO_NAME || map_add(&names->index, name, (uint32_t)names->list.count) != MAP_NONE)
        return;
    vec_push(c->model_arena, &names->list, name);
    vec_push(c->model_arena, &names->ids, id);
}

static void list_names(const struct context *c, const struct fw_graph *model, struct names *names)
{
    map_init(&names->index, c->model_arena);
    for (size_t i = 0; i < model->inputs.count; i++)
        add_name(c, names, model->inputs.data[i].name, model->inputs.data[i].id);
    for (size_t i = 0; i < model->initializers.count; i++)
        add_name(c, names, model->initializers.data[i].name, model->initializers.data[i].id);
    for (size_t i = 0; i < model->nodes.count; i++)
        for (uint32_t k = 0; k < model->nodes.data[i].n_outputs; k++)
            add_name(c, names, model->nodes.data[i].outputs[k], fw_out_id(&model->nodes.data[i], k));
    for (size_t i = 0; i < model->outputs.count; i++)
        add_name(c, names, model->outputs.data[i].name, model->outputs.data[i].id);
}

/* What the graph has of that name, or the value that the name stands for; NO_TENSOR: nothing reads it any more. */
static tensor_id tensor_of(const struct lowering *all, const char *name, fw_name id)
{
    const tensor_id namesake = graph_find_tensor(all->b.graph, name);
    const uint32_t at = bindings_find(&all->names, id);
    if (namesake != NO_TENSOR || at == NOT_BOUND || all->values.data[at].kind != VALUE_TENSOR)
        return namesake;
    return all->values.data[at].at;
}

/* ---- axes ---- */

/* The axis of a constant as the graph stores it: the file's, that of its reader, or the only one of that size. */
static bool find_axis(const struct graph *g, const struct uses *uses, tensor_id id, const struct encoding_entry *e,
                      uint32_t *axis)
{
    const struct tensor *t = graph_tensor(g, id);
    const uint32_t rank = t->type->shape.rank;
    if (e->axis == ENCODING_NO_AXIS)
        return find_channel_axis(g, uses, id, e->count, axis);
    const int64_t source = e->axis < 0 ? (int64_t)e->axis + rank : e->axis;
    if (source < 0 || source >= rank)
        return false;
    *axis = perm_find(&t->view->perm, (uint32_t)source);
    return t->type->shape.dims[*axis] == e->count;
}

/* ---- giving ---- */

struct sourced {
    const uint8_t *bytes;
    tensor_id id;
};

struct giving {
    const struct lowering *all;
    struct overrides *o;
    struct uses uses;
    VEC(struct sourced) constants; /* by the address of their source */
    uint32_t n_widths;
};

static int by_source(const void *a, const void *b)
{
    const struct sourced *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void list_constants(struct giving *s)
{
    const struct graph *g = s->all->b.graph;
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (graph_tensor(g, id)->kind == TENSOR_STATIC && graph_tensor(g, id)->view->bytes)
            vec_push(s->all->c->model_arena, &s->constants, (struct sourced){graph_tensor(g, id)->view->bytes, id});
    if (s->constants.count)
        qsort(s->constants.data, s->constants.count, sizeof *s->constants.data, by_source);
}

static odlc_status report(const struct giving *s, const struct encoding_entry *e, odlc_status status, const char *code,
                          const char *message)
{
    (void)json_error(s->o->file->json, e->place, NULL, code, "tensor %s %s", e->name, message);
    return status;
}

static odlc_status give_constant(struct giving *s, const struct encoding_entry *e, tensor_id id, struct quant quant)
{
    const struct graph *g = s->all->b.graph;
    struct arena *scratch = s->all->c->scratch;
    struct view *view = graph_tensor(g, id)->view;
    uint32_t axis;
    if (e->per_channel && !find_axis(g, &s->uses, id, e, &axis))
        return report(s, e, ODLC_ERR_INVALID, "override-axis",
                      arena_printf(scratch,
                                   "has the shape %s, in which no axis, or more than one, may be that of %u encodings",
                                   shape_text(scratch, &view->shape), e->count));
    if (e->per_channel)
        quant.axis = view->perm.axis[axis];
    view->given = arena_memdup(g->arena, &quant, sizeof quant);
    return ODLC_OK;
}

/* Orders of axes that readers want a constant in are constants of the same source. */
static odlc_status give_constants(struct giving *s, const struct encoding_entry *e, tensor_id id,
                                  const struct quant *quant)
{
    const struct graph *g = s->all->b.graph;
    const struct view *origin = graph_tensor(g, id)->view;
    const struct sourced key = {.bytes = origin->bytes};
    size_t first = 0, end = s->constants.count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (by_source(&s->constants.data[middle], &key) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t i = first; i < s->constants.count && by_source(&s->constants.data[i], &key) == 0; i++) {
        const tensor_id same = s->constants.data[i].id;
        if (s->uses.count[same] > 0 && shape_equal(&graph_tensor(g, same)->view->shape, &origin->shape))
            TRY(give_constant(s, e, same, *quant));
    }
    return ODLC_OK;
}

static odlc_status give(struct giving *s, const struct encoding_entry *e, tensor_id id)
{
    struct graph *g = s->all->b.graph;
    const struct tensor *t = graph_tensor(g, id);
    const struct quant quant = {
        .per_axis = e->per_channel, .count = e->count, .encodings = e->encodings, .overridden = true, .owner = e->name};
    if (!dtype_is_float(t->type->dtype))
        return report(s, e, ODLC_ERR_INVALID, "override-type", "is none of floats, which alone are quantized");
    if (t->kind == TENSOR_STATIC)
        return give_constants(s, e, id, &quant);
    if (e->per_channel)
        return report(s, e, ODLC_ERR_UNSUPPORTED, "override-axis",
                      "is computed: it can have one encoding, not several");
    quant_override(g, id, &quant);
    return ODLC_OK;
}

static odlc_status apply_entry(struct giving *s, const struct names *names, size_t i)
{
    const struct context *c = s->all->c;
    const struct encoding_entry *e = &s->o->file->entries.data[i];
    const char *name = c->frontend->canonical_name ? c->frontend->canonical_name(c->arena, e->name) : e->name;
    const uint32_t at = map_get(&names->index, name);
    if (at == MAP_NONE) {
        const char *nearest = nearest_word(name, names->list.data, names->list.count);
        (void)json_error(s->o->file->json, e->place,
                         nearest ? arena_printf(c->arena, "did you mean %s?", nearest) : NULL, "unknown-tensor",
                         "the model has no tensor %s", e->name);
        return ODLC_ERR_INVALID;
    }
    if (e->kind == ENCODING_FLOAT)
        return e->bits == c->options->float_bitwidth
                   ? ODLC_OK
                   : report(s, e, ODLC_ERR_UNSUPPORTED, "override-float",
                            arena_printf(c->scratch, "cannot be a float of %u bits alone: --float_bitwidth is for all",
                                         e->bits));
    s->n_widths += e->kind == ENCODING_WIDTH;
    const tensor_id id = e->kind == ENCODING_WIDTH ? NO_TENSOR : tensor_of(s->all, name, names->ids.data[at]);
    return id == NO_TENSOR ? ODLC_OK : give(s, e, id);
}

odlc_status apply_overrides(const struct lowering *all, struct overrides *o)
{
    if (!o->file)
        return ODLC_OK;
    const struct context *c = all->c;
    struct names names = {0};
    struct giving s = {.all = all, .o = o, .uses = graph_uses(c->model_arena, all->b.graph)};
    odlc_status status = ODLC_OK;
    list_names(c, &all->in->model->graph, &names);
    list_constants(&s);
    for (size_t i = 0; i < o->file->entries.count; i++) {
        odlc_status applied = apply_entry(&s, &names, i);
        if (status == ODLC_OK)
            status = applied;
    }
    if (s.n_widths)
        diag_warn(c->diags, AT(.file = c->options->quantization_overrides), "override-width",
                  "%u of the encodings give a width and no range: the container cannot say that, and has none for them",
                  s.n_widths);
    return status;
}

/* ---- what is left ---- */

static void note_owner(struct map *kept, const struct tensor *t)
{
    if (t && t->quant && t->quant->owner)
        map_put(kept, t->quant->owner, 1);
}

void report_lost_overrides(const struct context *c, const struct graph *g, const struct overrides *o)
{
    enum { NAMES_SHOWN = 10 };
    struct map kept;
    text names = {0};
    uint32_t lost = 0;
    if (!o->file)
        return;
    map_init(&kept, c->scratch);
    for (size_t i = 0; i < g->inputs.count; i++)
        note_owner(&kept, graph_tensor(g, g->inputs.data[i]));
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            note_owner(&kept, node_input(g, n, k));
        for (uint32_t k = 0; k < n->n_outputs; k++)
            note_owner(&kept, node_output(g, n, k));
    }
    for (size_t i = 0; i < o->file->entries.count; i++) {
        const struct encoding_entry *e = &o->file->entries.data[i];
        if (e->kind != ENCODING_INTEGERS || map_get(&kept, e->name) != MAP_NONE)
            continue;
        if (lost++ < NAMES_SHOWN)
            text_add(c->arena, &names, "%s%s", lost > 1 ? ", " : "", e->name);
    }
    if (lost)
        diag_warn(
            c->diags, AT(.file = c->options->quantization_overrides), "lost-override",
            "%u of the %zu encodings are of tensors that the container does not have, because other ops took in what "
            "they are computed by, or nothing needs them: %s%s",
            lost, o->file->entries.count, names.data, lost > NAMES_SHOWN ? ", …" : "");
}
