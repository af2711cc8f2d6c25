/* SPDX-License-Identifier: Apache-2.0 */
/* Widths: 8 and 16 bits in one graph, and Int_32. What a node computes from and gives has one width, that of its
 * results; a Convert stands where a tensor has another one (quant_rewrite.c). */
#include <math.h>

#include "encoding/encoding_range.h"
#include "ir/quant.h"
#include "op/infer.h"
#include "quantize/quantizer.h"

static uint32_t width_of(const struct quantizer *q, tensor_id id)
{
    const struct quant_item *item = &q->items[q->items[id].as];
    return item->quant ? item->quant->encodings[0].bitwidth : item->bits;
}

static bool is_constant(const struct quantizer *q, tensor_id id)
{
    return graph_tensor(q->g, id)->kind == TENSOR_STATIC;
}

/* ---- of a node ---- */

/* The greatest width of those that are computed, 8 or 16; 0: none is. */
static uint32_t widest(const struct quantizer *q, const tensor_id *ids, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == NO_TENSOR || q->items[ids[i]].role != ROLE_ACTIVATION || quant_float_bits(q, ids[i]))
            continue;
        const uint32_t width = width_of(q, ids[i]);
        if (width <= 16 && width > most)
            most = width;
    }
    return most;
}

static uint32_t width_of_node(const struct quantizer *q, node_id at)
{
    const struct node *n = graph_node(q->g, at);
    if (q->floats[at] || q->whole[at] || q->udo_bits[at])
        return 0;
    const uint32_t given = widest(q, n->outputs, n->n_outputs);
    return given ? given : widest(q, n->inputs, n->n_inputs);
}

/* A product of two computed operands of 16 bits: targets take the second in 8, or with zero in the middle. */
static bool is_narrow_operand(const struct quantizer *q, const struct node *n, uint32_t i)
{
    if (!node_is(n, OP_MatMul) || i != 1 || q->options->wide_products)
        return false;
    const struct quant *quant = q->items[q->items[n->inputs[1]].as].quant;
    return !quant || quant->encodings[0].offset != -(INT32_C(1) << 15);
}

uint32_t quant_read_width(const struct quantizer *q, node_id at, uint32_t i)
{
    const struct node *n = graph_node(q->g, at);
    const tensor_id id = n->inputs[i];
    const struct quant_item *item = &q->items[id];
    const uint32_t own = width_of(q, id), width = width_of_node(q, at);
    if (q->udo_bits[at] && !q->floats[at])
        return q->udo_bits[at][i] ? q->udo_bits[at][i] : own;
    if (!width || item->role == ROLE_WEIGHTS || item->role == ROLE_BIAS ||
        (is_constant(q, id) && (item->given || item->sized)))
        return own;
    return width == 16 && !is_constant(q, id) && is_narrow_operand(q, n, i) ? 8 : width;
}

/* ---- encodings of another width ---- */

static struct encoding of_width(const struct encoding *e, uint32_t bits, bool is_signed)
{
    if (is_signed) {
        const double scale = (float)ldexp(e->scale, (int)e->bitwidth - (int)bits), half = ldexp(1, (int)bits - 1);
        return (struct encoding){.bitwidth = bits,
                                 .scale = scale,
                                 .min = (float)(-half * scale),
                                 .max = (float)((half - 1) * scale),
                                 .symmetric = e->symmetric};
    }
    const double steps = ldexp(1, (int)e->bitwidth) - 1, scale = (float)(e->scale * steps / (ldexp(1, (int)bits) - 1));
    return encoding_of_scale(bits, scale, (int32_t)round(e->offset * e->scale / scale));
}

const struct quant *quant_of_width(struct quantizer *q, tensor_id id, uint32_t bits)
{
    const struct quant *own = quant_encoded(q, id);
    const struct quant_item *from = &q->items[q->items[id].as];
    if (!own || own->per_axis || own->encodings[0].bitwidth == bits)
        return own;
    struct encoding *encoding = arena_new(q->arena, struct encoding);
    struct quant *quant = arena_new(q->arena, struct quant);
    struct quant_item narrow = *from;
    narrow.bits = (uint8_t)bits;
    const bool is_observed = from->is_seen && !from->given && bits < own->encodings[0].bitwidth;
    *encoding = is_observed ? quant_encoding(q, &narrow, (struct quant_range){from->min, from->max}, from->histogram)
                            : of_width(&own->encodings[0], bits, dtype_info(quant_type(own))->cls == CLASS_SFXP);
    *quant = (struct quant){.count = 1, .encodings = encoding};
    return quant;
}

/* ---- 16 bits by name ---- */

/* Of what is computed, unless something from outside says its width: whether it is of 16 bits now. */
static bool widen_tensor(struct quantizer *q, tensor_id id)
{
    if (id == NO_TENSOR || q->items[id].role == ROLE_NONE || is_constant(q, id))
        return false;
    struct quant_item *item = &q->items[q->items[id].as];
    const node_id by = graph_tensor(q->g, q->items[id].as)->producer;
    if (item->given || item->sized || (by != NO_NODE && q->udo_bits[by]))
        return false;
    item->bits = 16;
    return true;
}

/* What a Relu or clamp leaves of the tensor, where nobody else reads it; else NO_TENSOR. */
static tensor_id clamped(const struct quantizer *q, tensor_id id)
{
    if (id == NO_TENSOR || q->uses.count[id] != 1 || q->uses.first[id] == q->uses.first[id + 1])
        return NO_TENSOR;
    const struct node *reader = graph_node(q->g, q->uses.nodes[q->uses.first[id]]);
    return quant_is_clamp(reader) ? reader->outputs[0] : NO_TENSOR;
}

/* What the node reads is as precise as what it gives: else there is nothing to gain. */
static bool widen_node(struct quantizer *q, node_id at)
{
    const struct node *n = graph_node(q->g, at);
    bool any = false;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        any |= widen_tensor(q, n->inputs[i]);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        any |= widen_tensor(q, n->outputs[i]);
        any |= widen_tensor(q, clamped(q, n->outputs[i]));
    }
    return any;
}

static bool widen_weights(struct quantizer *q, node_id at)
{
    const struct node *n = graph_node(q->g, at);
    bool any = false;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        struct quant_item *item = n->inputs[i] == NO_TENSOR ? NULL : &q->items[n->inputs[i]];
        if (!item || item->role != ROLE_WEIGHTS || item->given || item->sized)
            continue;
        item->bits = 16;
        any = true;
    }
    return any;
}

odlc_status quant_widen_named(struct quantizer *q)
{
    const struct quantize_options *o = q->options;
    const struct quant_naming values = {
        "--widen", "quantize-widen", widen_node,
        "it reads and gives nothing that is quantized, or encodings from outside and configs say the widths"};
    const struct quant_naming weights = {
        "--widen_weights", "quantize-widen", widen_weights,
        "it has no weights that are quantized, or encodings from outside say their width"};
    const odlc_status nodes = quant_each_named(q, &values, o->widen, o->n_widen);
    TRY(quant_each_named(q, &weights, o->widen_weights, o->n_widen_weights));
    return nodes;
}

/* ---- constants ---- */

/* The width that the reader wants of a constant that is no parameter; 0: any. An op that passes the constant's encoding
 * on has no other width than that. */
static uint32_t wanted_of_constant(const struct quantizer *q, tensor_id id, node_id reader)
{
    const struct node *n = graph_node(q->g, reader);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR && q->items[n->outputs[i]].as == id)
            return q->items[id].bits;
    return width_of_node(q, reader);
}

void quant_size_constants(struct quantizer *q)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++) {
        struct quant_item *item = &q->items[id];
        if (item->role != ROLE_CONSTANT || !is_constant(q, id) || item->given || item->sized)
            continue;
        uint32_t most = 0;
        for (uint32_t r = q->uses.first[id]; r < q->uses.first[id + 1]; r++) {
            const node_id reader = q->uses.nodes[r];
            const uint32_t bits = q->udo_bits[reader] ? item->bits : wanted_of_constant(q, id, reader);
            most = bits > most ? bits : most;
        }
        if (most)
            item->bits = (uint8_t)most;
    }
}

/* ---- Int_32 ---- */

/* Whether the file says Int_32 of all that the node computes from and gives, and there is such an op. */
static bool is_whole(const struct quantizer *q, node_id at)
{
    const struct node *n = graph_node(q->g, at);
    uint32_t count = 0;
    if (q->floats[at] || q->udo_bits[at] || n->op->weights || n->op->layer != NO_LAYER)
        return false;
    for (uint32_t k = 0; k < n->n_inputs + n->n_outputs; k++) {
        const tensor_id id = k < n->n_inputs ? n->inputs[k] : n->outputs[k - n->n_inputs];
        if (id == NO_TENSOR || q->items[id].role != ROLE_ACTIVATION)
            continue;
        if (!q->items[id].whole)
            return false;
        count++;
    }
    return count > 0;
}

bool quant_is_only_whole(const struct quantizer *q, tensor_id id)
{
    bool any = false;
    for (uint32_t r = q->uses.first[id]; r < q->uses.first[id + 1]; r++) {
        if (!q->whole[q->uses.nodes[r]])
            return false;
        any = true;
    }
    return any && is_constant(q, id);
}

void quant_choose_whole(struct quantizer *q)
{
    for (size_t i = 0; i < q->g->order.count; i++)
        q->whole[q->g->order.data[i]] = is_whole(q, q->g->order.data[i]);
    for (tensor_id id = 0; id < q->g->tensors.count; id++)
        if (q->items[id].role != ROLE_NONE && quant_is_only_whole(q, id))
            q->items[id].role = ROLE_NONE;
}

bool quant_meets_whole(const struct quantizer *q, tensor_id id)
{
    const node_id by = graph_tensor(q->g, id)->producer;
    if (by != NO_NODE && q->whole[by])
        return true;
    for (uint32_t r = q->uses.first[id]; r < q->uses.first[id + 1]; r++)
        if (q->whole[q->uses.nodes[r]])
            return true;
    return false;
}

/* Whether the op has a rule for the types that its operands have now. */
static bool is_computable(struct quantizer *q, const struct node *n)
{
    struct arena_mark mark = arena_mark(q->scratch);
    struct diags unseen;
    diags_init(&unseen, q->scratch);
    struct type *types = arena_array(q->scratch, struct type, n->n_outputs);
    const struct infer infer = {.graph = q->g, .node = n, .out = types, .diags = &unseen};
    const bool fits = !n->op->infer || n->op->infer(&infer) == ODLC_OK;
    arena_rewind(q->scratch, mark);
    return fits;
}

odlc_status quant_check_whole(struct quantizer *q)
{
    odlc_status status = ODLC_OK;
    for (node_id id = 0; id < q->n_nodes; id++) {
        const struct node *n = graph_node(q->g, id);
        if (n->op && q->whole[id] && !is_computable(q, n))
            status = diag_error(q->diags, ODLC_ERR_UNSUPPORTED, AT(.file = q->options->overrides, .node = n->name),
                                "quantize-int32", "op %s does not compute in Int_32, which its tensors are to be",
                                n->op->name);
    }
    return status;
}
