/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of floats becomes one of fixed-point tensors; between these and what stays float there are Quantize,
 * Dequantize and Cast. */
#include <math.h>

#include "op/op.h"
#include "quantize/quantizer.h"

/* What a tensor can be read as. */
enum form { FORM_FIXED, FORM_HALF, FORM_FLOAT, FORM_COUNT };

struct rewriting {
    struct quantizer *q;
    struct graph *g;
    enum form *form;                /* per tensor: what it is */
    tensor_id (*forms)[FORM_COUNT]; /* per tensor: who has its values in another form; NO_TENSOR: nobody yet */
    const struct quant **quants;    /* per tensor: its encoding as a fixed-point one; NULL: it has none */
    size_t count;                   /* of the tensors that were there before */
    VEC(node_id) order;
};

static enum form form_of_bits(uint32_t bits)
{
    return bits == 0 ? FORM_FIXED : bits == 16 ? FORM_HALF : FORM_FLOAT;
}

static enum dtype float_of(enum form form)
{
    return form == FORM_HALF ? DT_FLOAT16 : DT_FLOAT32;
}

/* ---- tensors ---- */

static const struct quant *settled(struct quantizer *q, tensor_id id)
{
    struct quant_item *item = &q->items[id], *from = &q->items[item->as];
    if (!quant_encoded(q, id))
        return NULL;
    struct quant *quant = arena_memdup(q->arena, from->quant, sizeof *quant);
    quant->overridden = from->given && item->as == id;
    return quant;
}

/* Numbers beyond the greatest of float16 become it. */
static struct view halved(struct rewriting *r, const struct view *view)
{
    enum { GREATEST = 65504 };
    struct graph *g = r->g;
    struct arena_mark mark = arena_mark(r->q->scratch);
    const struct shape shape = view_shape(view);
    const uint64_t count = shape_count(&shape);
    float *values = arena_memdup(g->arena, view_load(r->q->scratch, view, DT_FLOAT32), count * sizeof *values);
    arena_rewind(r->q->scratch, mark);
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[i] = fmaxf(-GREATEST, fminf(values[i], GREATEST));
    return view_of(values, DT_FLOAT32, &shape);
}

static void make_fixed(struct rewriting *r, tensor_id id)
{
    const struct quant_item *item = &r->q->items[id];
    struct tensor *t = graph_tensor(r->g, id);
    t->quant = r->quants[id];
    t->source_dtype = (uint8_t)t->type->dtype;
    graph_set_dtype(r->g, id, quant_type(t->quant));
    if (!item->integers)
        return;
    struct view view = view_of(item->integers, t->type->dtype, &t->type->shape);
    graph_set_view(r->g, id, &view);
}

static void make_half(struct rewriting *r, tensor_id id)
{
    struct tensor *t = graph_tensor(r->g, id);
    t->source_dtype = (uint8_t)t->type->dtype;
    if (t->kind == TENSOR_STATIC)
        *t->view = halved(r, t->view);
    graph_set_dtype(r->g, id, DT_FLOAT16);
}

static void make(struct rewriting *r, tensor_id id)
{
    for (int form = 0; form < FORM_COUNT; form++)
        r->forms[id][form] = NO_TENSOR;
    r->quants[id] = settled(r->q, id);
    if (graph_tensor(r->g, id)->type->dtype != DT_FLOAT32)
        return;
    r->form[id] = r->quants[id] || quant_float_bits(r->q, id) ? form_of_bits(quant_float_bits(r->q, id)) : FORM_FLOAT;
    r->forms[id][r->form[id]] = id;
}

/* After all forms are known, which depend on the types that were. */
static void become(struct rewriting *r, tensor_id id)
{
    struct tensor *t = graph_tensor(r->g, id);
    if (r->forms[id][r->form[id]] != id)
        return;
    if (r->form[id] == FORM_FIXED)
        make_fixed(r, id);
    else if (r->form[id] == FORM_HALF)
        make_half(r, id);
    if (r->form[id] != FORM_FIXED && t->kind == TENSOR_STATIC)
        t->quant = r->quants[id];
}

/* ---- between forms ---- */

static void add_step(struct rewriting *r, enum op_id op, const char *name, tensor_id in, tensor_id out)
{
    const struct op *row = op_row(op);
    const node_id id = graph_add_node(r->g, row, row->n_params, name, &in, 1, &out, 1);
    vec_push(r->q->arena, &r->order, id);
}

static enum op_id op_between(enum form from, enum form to)
{
    return to == FORM_FIXED ? OP_Quantize : from == FORM_FIXED ? OP_Dequantize : OP_Cast;
}

static const char *suffix_of(enum form form)
{
    static const char *const suffixes[] = {"quantized", "half", "real"};
    return suffixes[form];
}

/* The floats of a constant that others read as integers, or as other floats. */
static tensor_id other_constant(struct rewriting *r, tensor_id id, enum form form, const char *name)
{
    const struct view *floats = r->q->items[id].floats ? r->q->items[id].floats : graph_tensor(r->g, id)->view;
    const struct view view = form == FORM_HALF ? halved(r, floats) : *floats;
    return graph_add_constant(r->g, name, float_of(form), &view);
}

static tensor_id other_form(struct rewriting *r, tensor_id id, enum form form)
{
    struct graph *g = r->g;
    const char *name =
        graph_free_tensor_name(g, arena_printf(g->arena, "%s.%s", graph_tensor(g, id)->name, suffix_of(form)));
    if (graph_tensor(g, id)->kind == TENSOR_STATIC)
        return other_constant(r, id, form, name);
    const struct quant *quant = form == FORM_FIXED ? r->quants[id] : NULL;
    const struct type type = {.dtype = quant ? quant_type(quant) : float_of(form),
                              .shape = graph_tensor(g, id)->type->shape};
    const tensor_id other = graph_add_tensor(g, name, TENSOR_NATIVE, &type);
    graph_tensor(g, other)->quant = quant;
    graph_tensor(g, other)->source_dtype = DT_FLOAT32;
    graph_tensor(g, other)->axis_format = graph_tensor(g, id)->axis_format;
    add_step(r, op_between(r->form[id], form), name, id, other);
    return other;
}

static bool is_real(const struct rewriting *r, tensor_id id)
{
    return id < r->count && r->forms[id][r->form[id]] == id;
}

static void bracket_inputs(struct rewriting *r, node_id at)
{
    for (uint32_t i = 0; i < graph_node(r->g, at)->n_inputs; i++) {
        const tensor_id id = graph_node(r->g, at)->inputs[i];
        const enum form wanted = form_of_bits(quant_wanted_bits(r->q, at, i));
        if (id == NO_TENSOR || !is_real(r, id) || wanted == r->form[id])
            continue;
        if (r->forms[id][wanted] == NO_TENSOR)
            r->forms[id][wanted] = other_form(r, id, wanted);
        graph_replace_input(r->g, at, i, r->forms[id][wanted]);
    }
}

/* A graph output that stays a float has the name; what is computed gets one of its own. */
static void bracket_output(struct rewriting *r, size_t place)
{
    struct graph *g = r->g;
    const tensor_id id = g->outputs.data[place];
    const enum form kept = r->q->is_half ? FORM_HALF : FORM_FLOAT;
    if (!is_real(r, id) || graph_tensor(g, id)->kind != TENSOR_OUTPUT || r->form[id] == kept ||
        !quant_keeps_io(r->q, id))
        return;
    const char *name = graph_tensor(g, id)->name;
    graph_rename_tensor(g, id,
                        graph_free_tensor_name(g, arena_printf(g->arena, "%s.%s", name, suffix_of(r->form[id]))));
    const tensor_id other = other_form(r, id, kept);
    graph_rename_tensor(g, other, name);
    graph_replace_result(g, place, other);
}

void quant_rewrite(struct quantizer *q)
{
    struct graph *g = q->g;
    struct rewriting r = {.q = q, .g = g, .count = g->tensors.count};
    r.form = arena_array(q->arena, enum form, r.count);
    r.forms = arena_alloc(q->arena, r.count * sizeof *r.forms);
    r.quants = arena_array(q->arena, const struct quant *, r.count);
    for (tensor_id id = 0; id < r.count; id++)
        make(&r, id);
    const size_t n_nodes = g->order.count, n_outputs = g->outputs.count;
    for (tensor_id id = 0; id < r.count; id++)
        become(&r, id);
    for (size_t i = 0; i < n_nodes; i++) {
        bracket_inputs(&r, g->order.data[i]);
        vec_push(q->arena, &r.order, g->order.data[i]);
    }
    for (size_t i = 0; i < n_outputs; i++)
        bracket_output(&r, i);
    g->order.count = 0;
    for (size_t i = 0; i < r.order.count; i++)
        vec_push(g->arena, &g->order, r.order.data[i]);
}
