/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors are quantized, as what, and which have the encoding of another one. */
#include "op/channels.h"
#include "op/op.h"
#include "quantize/quantizer.h"

/* ---- roles ---- */

/* The axis of the weights that has an encoding per index by the options. */
static uint32_t axis_of(const struct quantizer *q, const struct node *n, uint32_t input)
{
    uint32_t axis;
    const bool is_matrix = n->op->layer == LAYER_DENSE || node_is(n, OP_MatMul);
    if (input == 2 && is_matrix && q->options->per_row && q->options->per_row_bias)
        return 0;
    if (input != 1 || !(is_matrix ? q->options->per_row : q->options->per_channel) ||
        !node_channel_axis(q->g, n, &axis))
        return NO_AXIS;
    return node_input(q->g, n, 1)->type->shape.dims[axis] > 0 ? axis : NO_AXIS;
}

static void meet_constant(const struct quantizer *q, const struct node *n, uint32_t input)
{
    struct quant_item *item = &q->items[n->inputs[input]];
    const enum quant_role role = quant_role_of(n->op, input);
    const uint32_t axis = axis_of(q, n, input);
    if (item->role == ROLE_NONE)
        item->axis = axis;
    else if (item->axis != axis) /* readers that want it in different ways get what suits all */
        item->axis = NO_AXIS;
    if (role > item->role)
        item->role = (uint8_t)role;
}

static uint32_t bits_of(const struct quantize_options *options, enum quant_role role)
{
    switch (role) {
    case ROLE_WEIGHTS:
        return options->weights_bits;
    case ROLE_BIAS:
        return options->bias_bits;
    default:
        return options->act_bits;
    }
}

/* ---- what cannot be quantized ---- */

static odlc_status refuse(const struct quantizer *q, const char *hint, const char *message, const char *what)
{
    return diag_error(q->diags, ODLC_ERR_UNSUPPORTED, AT(.file = q->path, .hint = hint), "quantize-unsupported",
                      message, what);
}

/* Data of user-defined ops may be stored in integers before. */
static bool is_udo_data(const struct quantizer *q, tensor_id id)
{
    for (uint32_t i = q->uses.first[id]; i < q->uses.first[id + 1]; i++)
        if (!graph_node(q->g, q->uses.nodes[i])->op->package)
            return false;
    return graph_tensor(q->g, id)->kind == TENSOR_STATIC;
}

static odlc_status check_tensor(const struct quantizer *q, tensor_id id)
{
    const struct tensor *t = graph_tensor(q->g, id);
    const enum dtype dtype = t->type->dtype;
    if (dtype_is_fixed(dtype) && !is_udo_data(q, id))
        return refuse(q,
                      "quantize the container that the converter wrote, of floats; --dequantize_weights, and "
                      "--block_weights float, make its weights such",
                      "the container is quantized already: tensor %s is fixed-point", t->name);
    if (dtype_is_float(dtype) && dtype != DT_FLOAT32)
        return refuse(q, "convert a model of float32, without --float_bitwidth 16",
                      "tensor %s is of another float type than Float_32", t->name);
    return ODLC_OK;
}

static odlc_status check_graph(struct quantizer *q)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++)
        TRY(check_tensor(q, id));
    return quant_read_udos(q);
}

/* ---- shared encodings ---- */

static bool is_real(const struct quantizer *q, tensor_id id)
{
    return id != NO_TENSOR && q->items[id].role != ROLE_NONE;
}

/* Whether nothing from outside says what the tensor's encoding is to be. */
static bool is_open(const struct quantizer *q, tensor_id id)
{
    return !q->items[id].given && !q->items[id].sized;
}

static void share_with_outputs(const struct quantizer *q, node_id at)
{
    const struct node *n = graph_node(q->g, at);
    if (q->floats[at] || !quant_is_mover(n) || !is_real(q, n->inputs[0]))
        return;
    const struct quant_item *first = &q->items[n->inputs[0]];
    if (q->items[first->as].axis != NO_AXIS || first->role == ROLE_WEIGHTS || first->role == ROLE_BIAS)
        return; /* widths of parameters are their own */
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (is_real(q, n->outputs[i]) && is_open(q, n->outputs[i]))
            q->items[n->outputs[i]].as = first->as;
}

/* A layer, or a sum, whose result only a clamp reads. */
static void share_with_layer(const struct quantizer *q, node_id at)
{
    const struct node *n = graph_node(q->g, at);
    if (q->floats[at] || !quant_is_clamp(n) || !is_real(q, n->inputs[0]) || !is_real(q, n->outputs[0]))
        return;
    const tensor_id id = n->inputs[0];
    const struct node *layer = graph_producer(q->g, id);
    if (!layer || q->floats[graph_tensor(q->g, id)->producer] || !is_open(q, id) || q->uses.count[id] != 1)
        return;
    if (layer->op->layer != NO_LAYER || node_is(layer, OP_ElementWiseAdd))
        q->items[id].as = n->outputs[0];
}

static void share(struct quantizer *q)
{
    const struct graph *g = q->g;
    quant_leave_floats(q);
    for (tensor_id id = 0; id < g->tensors.count; id++)
        q->items[id].as = id;
    for (size_t i = 0; i < g->order.count; i++)
        share_with_outputs(q, g->order.data[i]);
    for (size_t i = 0; i < g->order.count; i++)
        share_with_layer(q, g->order.data[i]);
}

static void assign_roles(struct quantizer *q)
{
    const struct graph *g = q->g;
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        const bool is_float = t->type->dtype == DT_FLOAT32;
        q->items[id].role = is_float && t->kind != TENSOR_STATIC ? ROLE_ACTIVATION : ROLE_NONE;
        q->items[id].axis = NO_AXIS;
    }
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            const struct tensor *t = node_input(g, n, k);
            if (t && t->kind == TENSOR_STATIC && t->type->dtype == DT_FLOAT32)
                meet_constant(q, n, k);
        }
    }
    for (tensor_id id = 0; id < g->tensors.count; id++)
        q->items[id].bits = (uint8_t)bits_of(q->options, q->items[id].role);
    quant_size_udos(q);
}

odlc_status quant_assign(struct quantizer *q)
{
    TRY(check_graph(q));
    const odlc_status chosen = quant_choose_floats(q);
    assign_roles(q);
    const odlc_status given = quant_take_given(q);
    TRY(chosen);
    TRY(given);
    if (q->options->float_fallback)
        TRY(quant_check_fallback(q));
    share(q);
    TRY(quant_widen_named(q));
    if (q->options->fixed_ranges)
        quant_fix_ranges(q);
    while (q->options->float_fallback && quant_fall_back(q))
        share(q);
    quant_find_masked(q);
    quant_size_constants(q);
    return ODLC_OK;
}
