/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes compute in floats, and with that which tensors stay floats. */
#include <string.h>

#include "ir/tensor_name.h"
#include "op/op.h"
#include "quantize/quantizer.h"

void quant_keep_float(struct quantizer *q, node_id id, uint32_t bits)
{
    if (q->floats[id] == 0)
        q->floats[id] = (uint8_t)bits;
}

static uint32_t usual_bits(const struct quantizer *q)
{
    return q->options->float_bits ? q->options->float_bits : q->is_half ? 16 : 32;
}

/* Data of user-defined ops have the type that their definition declares. */
static bool is_read_by_package(const struct quantizer *q, tensor_id id)
{
    for (uint32_t i = q->uses.first[id]; i < q->uses.first[id + 1]; i++)
        if (graph_node(q->g, q->uses.nodes[i])->op->package)
            return true;
    return false;
}

void quant_widen_halves(struct quantizer *q)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++) {
        struct tensor *t = graph_tensor(q->g, id);
        if (t->type->dtype != DT_FLOAT16 || (t->kind == TENSOR_STATIC && is_read_by_package(q, id)))
            continue;
        q->is_half = true;
        graph_set_dtype(q->g, id, DT_FLOAT32);
    }
}

/* ---- names ---- */

/* The node of that name, or all of that type; *changes: whether any of them is another one then. */
static bool take_named(struct quantizer *q, const char *name, quant_take_fn *take, bool *changes)
{
    const struct graph *g = q->g;
    bool found = false;
    *changes = false;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (strcmp(n->name, name) != 0 && strcmp(n->op->name, name) != 0)
            continue;
        *changes |= take(q, g->order.data[i]);
        found = true;
    }
    return found;
}

static odlc_status no_node(struct quantizer *q, const char *rule, const char *name)
{
    const struct graph *g = q->g;
    const char **names = arena_array(q->arena, const char *, g->order.count);
    for (size_t i = 0; i < g->order.count; i++)
        names[i] = graph_node(g, g->order.data[i])->name;
    const char *nearest = nearest_word(name, names, g->order.count);
    const char *hint = nearest ? arena_printf(q->arena, "did you mean %s?", nearest) : NULL;
    return diag_error(q->diags, ODLC_ERR_USAGE, AT(.file = q->path, .hint = hint), rule,
                      "no node has the name %s, and no op is of that type", name);
}

odlc_status quant_each_named(struct quantizer *q, const struct quant_naming *naming, const char *const *names,
                             size_t count)
{
    odlc_status status = ODLC_OK;
    bool changes;
    for (size_t i = 0; i < count; i++)
        if (!take_named(q, names[i], naming->take, &changes))
            status = no_node(q, naming->rule, names[i]);
        else if (!changes)
            diag_warn(q->diags, AT(.file = q->path), naming->rule, "%s %s has no effect: %s", naming->option, names[i],
                      naming->lack);
    return status;
}

/* Whether the node reads or gives reals. */
static bool has_reals(const struct quantizer *q, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs + n->n_outputs; i++) {
        const tensor_id id = i < n->n_inputs ? n->inputs[i] : n->outputs[i - n->n_inputs];
        if (id != NO_TENSOR && graph_tensor(q->g, id)->type->dtype == DT_FLOAT32)
            return true;
    }
    return false;
}

static bool keep_usual(struct quantizer *q, node_id id)
{
    quant_keep_float(q, id, usual_bits(q));
    return has_reals(q, graph_node(q->g, id));
}

/* ---- the file's floats ---- */

static void keep_entry(struct quantizer *q, const struct encoding_entry *e)
{
    const tensor_id id = graph_find_named(q->scratch, q->g, e->name);
    if (id == NO_TENSOR)
        return; /* reported with all that the file names (quant_given.c) */
    const struct tensor *t = graph_tensor(q->g, id);
    q->items[id].float_bits = (uint8_t)e->bits;
    if (t->producer != NO_NODE)
        quant_keep_float(q, t->producer, e->bits);
    for (uint32_t i = q->uses.first[id]; t->kind == TENSOR_STATIC && i < q->uses.first[id + 1]; i++)
        quant_keep_float(q, q->uses.nodes[i], e->bits);
}

/* The graph inputs and outputs that keep their types. */
static odlc_status keep_io(struct quantizer *q)
{
    const struct graph *g = q->g;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < q->options->n_keep_io; i++) {
        const char *name = q->options->keep_io[i];
        const tensor_id id = graph_find_named(q->scratch, g, name);
        const int kind = id == NO_TENSOR ? TENSOR_NATIVE : graph_tensor(g, id)->kind;
        if (kind == TENSOR_INPUT || kind == TENSOR_OUTPUT)
            q->items[id].keeps_type = true;
        else
            status = diag_error(q->diags, ODLC_ERR_USAGE, AT(.file = q->path), "quantize-preserve-io",
                                "the graph has no input and no output %s", name);
    }
    return status;
}

/* The names are those of the model that was trained, which a container need not have. */
static void keep_excluded(struct quantizer *q)
{
    size_t unknown = 0;
    bool changes;
    for (size_t i = 0; q->file && i < q->file->excluded.count; i++)
        unknown += !take_named(q, q->file->excluded.data[i], keep_usual, &changes);
    if (unknown)
        diag_warn(q->diags, AT(.file = q->options->overrides, .hint = "--keep_float names nodes of the container"),
                  "quantize-excluded", "%zu of the excluded_layers are no nodes of the container, and without effect",
                  unknown);
}

odlc_status quant_choose_floats(struct quantizer *q)
{
    const odlc_status ends = keep_io(q);
    const struct quant_naming naming = {"--keep_float", "quantize-keep-float", keep_usual, "it computes with no reals"};
    const odlc_status named = quant_each_named(q, &naming, q->options->keep_float, q->options->n_keep_float);
    keep_excluded(q);
    for (size_t i = 0; q->file && i < q->file->entries.count; i++)
        if (q->file->entries.data[i].kind == ENCODING_FLOAT)
            keep_entry(q, &q->file->entries.data[i]);
    return named != ODLC_OK ? named : ends;
}

/* ---- what follows for tensors ---- */

uint32_t quant_wanted_bits(const struct quantizer *q, node_id id, uint32_t i)
{
    const struct quantize_options *o = q->options;
    const struct node *n = graph_node(q->g, id);
    const struct tensor *t = node_input(q->g, n, i);
    const enum quant_role role = t && t->kind == TENSOR_STATIC ? quant_role_of(n->op, i) : ROLE_ACTIVATION;
    if (q->floats[id] == 0 && q->udo_bits[id])
        return q->udo_bits[id][i] ? 0 : 32;
    if (q->floats[id] == 0)
        return o->float_weights && (role == ROLE_WEIGHTS || role == ROLE_BIAS) ? 32 : 0;
    if (role == ROLE_WEIGHTS && o->fixed_weights)
        return 0;
    return role == ROLE_BIAS && o->float_bias_bits ? o->float_bias_bits : q->floats[id];
}

/* Of inputs and constants: the floats of the first node that reads it as floats; 0: there is none. */
static uint32_t read_bits(const struct quantizer *q, tensor_id id)
{
    for (uint32_t r = q->uses.first[id]; r < q->uses.first[id + 1]; r++) {
        const struct node *n = graph_node(q->g, q->uses.nodes[r]);
        for (uint32_t i = 0; i < n->n_inputs; i++)
            if (n->inputs[i] == id && quant_wanted_bits(q, q->uses.nodes[r], i))
                return quant_wanted_bits(q, q->uses.nodes[r], i);
    }
    return 0;
}

static bool is_read_fixed(const struct quantizer *q, tensor_id id)
{
    for (uint32_t r = q->uses.first[id]; r < q->uses.first[id + 1]; r++) {
        const struct node *n = graph_node(q->g, q->uses.nodes[r]);
        for (uint32_t i = 0; i < n->n_inputs; i++)
            if (n->inputs[i] == id && !quant_wanted_bits(q, q->uses.nodes[r], i))
                return true;
    }
    return false;
}

bool quant_keeps_io(const struct quantizer *q, tensor_id id)
{
    return q->options->keeps_all_io || q->items[id].keeps_type;
}

/* Of what a node gives. */
static uint32_t given_bits(const struct quantizer *q, node_id id, tensor_id output)
{
    const struct node *n = graph_node(q->g, id);
    if (q->floats[id] || !q->udo_bits[id])
        return q->floats[id];
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] == output && q->udo_bits[id][n->n_inputs + i])
            return 0;
    return 32;
}

uint32_t quant_float_bits(const struct quantizer *q, tensor_id id)
{
    const struct tensor *t = graph_tensor(q->g, id);
    if (t->type->dtype != DT_FLOAT32)
        return 0;
    if (t->producer != NO_NODE)
        return given_bits(q, t->producer, id);
    if (t->kind == TENSOR_STATIC)
        return is_read_fixed(q, id) ? 0 : read_bits(q, id);
    if (quant_keeps_io(q, id))
        return q->is_half ? 16 : 32;
    return q->items[id].float_bits ? q->items[id].float_bits : read_bits(q, id);
}

/* An input without an encoding that nothing reads. */
static bool is_idle(const struct quantizer *q, tensor_id id)
{
    return graph_tensor(q->g, id)->kind == TENSOR_INPUT && q->uses.first[id] == q->uses.first[id + 1] &&
           !q->items[id].quant;
}

void quant_leave_floats(struct quantizer *q)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++) {
        const struct quant_item *item = &q->items[id];
        const bool has_encoding = q->options->float_weights && (item->role == ROLE_WEIGHTS || item->role == ROLE_BIAS);
        if (item->role != ROLE_NONE && quant_float_bits(q, id) && !is_read_fixed(q, id) && !has_encoding)
            q->items[id].role = ROLE_NONE;
        if (q->options->float_fallback && is_idle(q, id))
            q->items[id].role = ROLE_NONE;
    }
}

/* ---- ranges that nothing gives ---- */

static bool lacks_range(const struct quantizer *q, tensor_id id)
{
    return id != NO_TENSOR && q->items[id].role == ROLE_ACTIVATION && !q->items[q->items[id].as].quant;
}

odlc_status quant_check_fallback(const struct quantizer *q)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++)
        if (q->items[id].given)
            return ODLC_OK;
    return diag_error(q->diags, ODLC_ERR_INVALID,
                      AT(.file = q->path, .hint = "--quantization_overrides gives encodings; --input_list finds them"),
                      "quantize-fallback", "there is no encoding at all: everything would stay float");
}

bool quant_fall_back(struct quantizer *q)
{
    bool any = false;
    for (size_t i = 0; i < q->g->order.count; i++) {
        const struct node *n = graph_node(q->g, q->g->order.data[i]);
        bool lacks = false;
        for (uint32_t k = 0; k < n->n_inputs; k++)
            lacks |= lacks_range(q, n->inputs[k]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            lacks |= lacks_range(q, n->outputs[k]);
        any |= lacks && !q->floats[q->g->order.data[i]];
        if (lacks)
            quant_keep_float(q, q->g->order.data[i], usual_bits(q));
    }
    return any;
}
