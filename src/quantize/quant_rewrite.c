/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of floats becomes one of fixed-point tensors; between these and what stays float, or has another width,
 * there are Quantize, Dequantize, Convert and Cast. */
#include <math.h>

#include "op/op.h"
#include "op/params.h"
#include "quantize/quantizer.h"

/* What a tensor can be read as: integers of 8 bits, of 16, of another width, Int_32, floats of 16 bits, of 32. */
enum form { FORM_8, FORM_16, FORM_OTHER, FORM_WHOLE, FORM_HALF, FORM_FLOAT, FORM_COUNT };

struct rewriting {
    struct quantizer *q;
    struct graph *g;
    enum form *form;                /* per tensor: what it is */
    tensor_id (*forms)[FORM_COUNT]; /* per tensor: who has its values in another form; NO_TENSOR: nobody yet */
    const struct quant **quants;    /* per tensor: its encoding as a fixed-point one; NULL: it has none */
    uint32_t **width;               /* per node: of its inputs, the bits that it reads */
    size_t count;                   /* of the tensors that were there before */
    VEC(node_id) order;
};

static bool is_fixed(enum form form)
{
    return form <= FORM_OTHER;
}

static enum form form_of_width(uint32_t bits)
{
    return bits == 8 ? FORM_8 : bits == 16 ? FORM_16 : FORM_OTHER;
}

static enum form form_of_quant(const struct quant *quant)
{
    return form_of_width(quant->encodings[0].bitwidth);
}

static enum dtype type_of(enum form form)
{
    return form == FORM_HALF ? DT_FLOAT16 : form == FORM_WHOLE ? DT_INT32 : DT_FLOAT32;
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

static void make_whole(struct rewriting *r, tensor_id id)
{
    struct tensor *t = graph_tensor(r->g, id);
    t->source_dtype = (uint8_t)t->type->dtype;
    graph_set_dtype(r->g, id, DT_INT32);
}

static enum form form_of(const struct rewriting *r, tensor_id id)
{
    const node_id by = graph_tensor(r->g, id)->producer;
    const uint32_t bits = quant_float_bits(r->q, id);
    if (quant_is_only_whole(r->q, id) || (by != NO_NODE && r->q->whole[by]))
        return FORM_WHOLE;
    if (bits == 16)
        return FORM_HALF;
    return bits || !r->quants[id] ? FORM_FLOAT : form_of_quant(r->quants[id]);
}

static void make(struct rewriting *r, tensor_id id)
{
    for (int form = 0; form < FORM_COUNT; form++)
        r->forms[id][form] = NO_TENSOR;
    r->quants[id] = settled(r->q, id);
    if (graph_tensor(r->g, id)->type->dtype != DT_FLOAT32)
        return;
    r->form[id] = form_of(r, id);
    r->forms[id][r->form[id]] = id;
}

/* After all forms are known, which depend on the types that were. */
static void become(struct rewriting *r, tensor_id id)
{
    struct tensor *t = graph_tensor(r->g, id);
    if (r->forms[id][r->form[id]] != id)
        return;
    if (is_fixed(r->form[id]))
        make_fixed(r, id);
    else if (r->form[id] == FORM_WHOLE)
        make_whole(r, id);
    else if (r->form[id] == FORM_HALF)
        make_half(r, id);
    if (!is_fixed(r->form[id]) && t->kind == TENSOR_STATIC)
        t->quant = r->quants[id];
}

/* ---- between forms ---- */

static void add_step(struct rewriting *r, enum op_id op, const char *name, tensor_id in, tensor_id out)
{
    const struct op *row = op_row(op);
    const node_id id = graph_add_node(r->g, row, row->n_params, name, &in, 1, &out, 1);
    if (op == OP_Convert) {
        node_set_int(graph_node(r->g, id), PARAM_dynamic_input_data, 0);
        node_set_int(graph_node(r->g, id), PARAM_dynamic_output_data, 0);
    }
    vec_push(r->q->arena, &r->order, id);
}

static enum op_id op_between(enum form from, enum form to)
{
    if (is_fixed(from))
        return is_fixed(to) ? OP_Convert : OP_Dequantize;
    return is_fixed(to) ? OP_Quantize : OP_Cast;
}

static const char *suffix_of(enum form from, enum form to)
{
    static const char *const suffixes[] = {[FORM_WHOLE] = "int32", [FORM_HALF] = "half", [FORM_FLOAT] = "real"};
    return !is_fixed(to) ? suffixes[to] : is_fixed(from) ? "converted" : "quantized";
}

static const struct quant *quant_as(struct rewriting *r, tensor_id id, enum form form)
{
    if (!is_fixed(form))
        return NULL;
    return form == FORM_OTHER ? r->quants[id] : quant_of_width(r->q, id, form == FORM_8 ? 8 : 16);
}

/* The integers of a constant by another encoding. */
static struct view encoded_again(struct rewriting *r, const struct view *floats, const struct quant *quant)
{
    const struct encoding *e = &quant->encodings[0];
    const enum dtype dtype = quant_type(quant);
    const struct shape shape = view_shape(floats);
    const uint64_t count = shape_count(&shape);
    struct arena_mark mark = arena_mark(r->q->scratch);
    const float *values = view_load(r->q->scratch, floats, DT_FLOAT32);
    double *integers = arena_array(r->q->scratch, double, count);
    for (uint64_t i = 0; i < count; i++)
        integers[i] = rint(values[i] / e->scale) - e->offset;
    uint8_t *stored = arena_alloc(r->g->arena, count * dtype_size(dtype));
    convert_elements(stored, dtype, integers, DT_FLOAT64, count); /* saturates */
    arena_rewind(r->q->scratch, mark);
    return view_of(stored, dtype, &shape);
}

/* A constant in a form that other readers want. */
static tensor_id other_constant(struct rewriting *r, tensor_id id, enum form form, const char *name)
{
    const struct view *floats = r->q->items[id].floats ? r->q->items[id].floats : graph_tensor(r->g, id)->view;
    const struct quant *quant = quant_as(r, id, form);
    if (!quant) {
        const struct view view = form == FORM_HALF ? halved(r, floats) : *floats;
        return graph_add_constant(r->g, name, type_of(form), &view);
    }
    const struct view view = encoded_again(r, floats, quant);
    const tensor_id other = graph_add_constant(r->g, name, view.dtype, &view);
    graph_tensor(r->g, other)->quant = quant;
    graph_tensor(r->g, other)->source_dtype = DT_FLOAT32;
    return other;
}

static tensor_id other_form(struct rewriting *r, tensor_id id, enum form form);

/* Who has the values in that form. */
static tensor_id as_form(struct rewriting *r, tensor_id id, enum form form)
{
    if (r->forms[id][form] == NO_TENSOR)
        r->forms[id][form] = other_form(r, id, form);
    return r->forms[id][form];
}

static tensor_id other_form(struct rewriting *r, tensor_id id, enum form form)
{
    struct graph *g = r->g;
    enum form from = r->form[id];
    const char *name =
        graph_free_tensor_name(g, arena_printf(g->arena, "%s.%s", graph_tensor(g, id)->name, suffix_of(from, form)));
    if (graph_tensor(g, id)->kind == TENSOR_STATIC)
        return other_constant(r, id, form, name);
    /* From Int_32 to fixed point, and back, by way of floats. */
    const bool has_steps = (from == FORM_WHOLE && is_fixed(form)) || (is_fixed(from) && form == FORM_WHOLE);
    const tensor_id source = has_steps ? as_form(r, id, FORM_FLOAT) : id;
    from = has_steps ? FORM_FLOAT : from;
    const struct quant *quant = quant_as(r, id, form);
    const struct type type = {.dtype = quant ? quant_type(quant) : type_of(form),
                              .shape = graph_tensor(g, id)->type->shape};
    const tensor_id other = graph_add_tensor(g, name, TENSOR_NATIVE, &type);
    graph_tensor(g, other)->quant = quant;
    graph_tensor(g, other)->source_dtype = DT_FLOAT32;
    graph_tensor(g, other)->axis_format = graph_tensor(g, id)->axis_format;
    add_step(r, op_between(from, form), name, source, other);
    return other;
}

static bool is_real(const struct rewriting *r, tensor_id id)
{
    return id < r->count && r->forms[id][r->form[id]] == id;
}

static enum form wanted_form(const struct rewriting *r, node_id at, uint32_t i, tensor_id id)
{
    const uint32_t bits = quant_wanted_bits(r->q, at, i);
    if (r->q->whole[at])
        return FORM_WHOLE;
    if (bits)
        return bits == 16 ? FORM_HALF : FORM_FLOAT;
    return r->quants[id] ? form_of_width(r->width[at][i]) : r->form[id];
}

static void bracket_inputs(struct rewriting *r, node_id at)
{
    for (uint32_t i = 0; i < graph_node(r->g, at)->n_inputs; i++) {
        const tensor_id id = graph_node(r->g, at)->inputs[i];
        if (id != NO_TENSOR && is_real(r, id) && wanted_form(r, at, i, id) != r->form[id])
            graph_replace_input(r->g, at, i, as_form(r, id, wanted_form(r, at, i, id)));
    }
}

/* A graph output that stays a float has the name, and one of Int_32 becomes fixed-point; what is computed gets a name
 * of its own. */
static void bracket_output(struct rewriting *r, size_t place)
{
    struct graph *g = r->g;
    const tensor_id id = g->outputs.data[place];
    if (!is_real(r, id) || graph_tensor(g, id)->kind != TENSOR_OUTPUT)
        return;
    const enum form own = r->form[id] == FORM_WHOLE ? form_of_quant(r->quants[id]) : r->form[id];
    const enum form kept = quant_keeps_io(r->q, id) ? r->q->is_half ? FORM_HALF : FORM_FLOAT : own;
    if (r->form[id] == kept)
        return;
    const char *name = graph_tensor(g, id)->name;
    graph_rename_tensor(
        g, id, graph_free_tensor_name(g, arena_printf(g->arena, "%s.%s", name, suffix_of(FORM_FLOAT, r->form[id]))));
    const tensor_id other = as_form(r, id, kept);
    graph_rename_tensor(g, other, name);
    graph_replace_result(g, place, other);
}

/* The widths in which nodes read their inputs, while the graph is still one of floats. */
static void read_widths(struct rewriting *r, node_id at)
{
    const struct node *n = graph_node(r->g, at);
    r->width[at] = arena_array(r->q->arena, uint32_t, n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && r->quants[n->inputs[i]])
            r->width[at][i] = quant_read_width(r->q, at, i);
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
    r.width = arena_array(q->arena, uint32_t *, g->nodes.count);
    for (size_t i = 0; i < g->order.count; i++)
        read_widths(&r, g->order.data[i]);
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
