/* SPDX-License-Identifier: Apache-2.0 */
/* --qdq encodings: a model that says by QuantizeLinear and DequantizeLinear how its values are to be quantized becomes
 * a graph of floats whose tensors carry the encodings, for the quantizer to keep to. Pairs of Quantize and Dequantize
 * vanish: who reads the dequantized value reads the real one, which gets the encoding. Constants that are dequantized
 * have theirs in their views, which pass_quantize looks at when nothing is done to constants any more.
 *
 * Rounding goes with the pairs, and so does saturation, but where it is an activation: tools that quantize leave out a
 * Relu, or a clamp from zero on, before a QuantizeLinear whose least number is zero. */
#include "ir/quant.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/alias.h"
#include "pass/never_negative.h"

pass_fn pass_keep_encodings;

struct keeping {
    struct pass_context *c;
    struct graph *g;
    struct aliases aliases;
    bool *not_negative; /* per tensor of the old graph: it is known to be so */
};

/* Real numbers that lowering marked: what the model quantizes to integers that it uses itself, or dequantizes. */
static void keep_marks(struct graph *g)
{
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        if (t->quant && t->type->dtype == DT_FLOAT32)
            quant_override(g, id, t->quant);
    }
}

/* One value has one encoding: the first. */
static void keep_encoding(const struct keeping *k, tensor_id real, const struct quant *quant)
{
    const struct tensor *t = graph_tensor(k->g, real);
    if (!t->quant)
        quant_override(k->g, real, quant);
    else if (!quant_equal(t->quant, quant))
        diag_note(k->c->diags, AT(.node = t->name), "lost-encoding",
                  "tensor %s is quantized more than once: it keeps the encoding of scale %g and offset %d, not that of "
                  "scale %g and offset %d",
                  t->name, t->quant->encodings->scale, t->quant->encodings->offset, quant->encodings->scale,
                  quant->encodings->offset);
}

/* Fake quantization to fewer integers than a type has is lowered as a clamp before the Quantize: a part of it. */
static tensor_id before_clamp(const struct graph *g, const struct node *quantize)
{
    const struct node *clamp = graph_producer(g, quantize->inputs[0]);
    bool part = clamp && node_is(clamp, OP_ReluMinMax) && clamp->source && clamp->source == quantize->source;
    return part ? clamp->inputs[0] : quantize->inputs[0];
}

/* A graph output whose real value is an input, a constant or another output. */
static void give_copy(struct keeping *k, tensor_id given, tensor_id real, const struct quant *quant)
{
    struct graph *g = k->g;
    tensor_id copy = build_copy(g, real, graph_tensor(g, given)->name);
    quant_override(g, copy, quant);
    for (size_t i = 0; i < g->outputs.count; i++)
        if (g->outputs.data[i] == given)
            graph_replace_result(g, i, copy);
    k->aliases.to[given] = real;
}

/* Whether negative numbers become zero by nothing but the encoding. Inputs are taken to be of the range that they have.
 */
static bool is_activation(const struct keeping *k, tensor_id real, const struct quant *quant)
{
    uint8_t kind = graph_tensor(k->g, real)->kind;
    return quant->encodings->min == 0 && kind != TENSOR_INPUT && kind != TENSOR_STATIC && !k->not_negative[real];
}

/* A clamp in place of the pair; its node. */
static node_id add_clamp(struct keeping *k, const char *name, tensor_id real, tensor_id given,
                         const struct quant *quant)
{
    const struct op *row = op_row(OP_ReluMinMax);
    node_id id = graph_add_node(k->g, row, row->n_params, name, &real, 1, &given, 1);
    struct node *clamp = graph_node(k->g, id);
    node_set_float(clamp, PARAM_min_value, 0);
    node_set_float(clamp, PARAM_max_value, (double)(float)quant->encodings->max);
    quant_override(k->g, given, quant);
    diag_note(k->c->diags, AT(.node = name), "kept-clamp",
              "nothing but its encoding keeps tensor %s from being negative: it is clamped to what the encoding holds",
              graph_tensor(k->g, given)->name);
    return id;
}

/* What stands in place of the Dequantize node, if it ends a pair: nothing, most often. */
static node_id drop_pair(struct keeping *k, node_id id)
{
    const struct node *dequantize = graph_node(k->g, id), *quantize = graph_producer(k->g, dequantize->inputs[0]);
    if (!quantize || !node_is(quantize, OP_Quantize))
        return id;
    const struct quant *quant = graph_tensor(k->g, quantize->outputs[0])->quant;
    if (quant->per_axis) /* of computed values; quantizers have one for all of them */
        return id;
    tensor_id real = before_clamp(k->g, quantize), given = dequantize->outputs[0];
    const char *name = dequantize->name;
    bool clamped = is_activation(k, real, quant);
    if (!clamped || !graph_tensor(k->g, real)->quant)
        keep_encoding(k, real, quant);
    graph_tensor(k->g, given)->quant = NULL; /* what comes after quantizes the real value, too */
    graph_remove_node(k->g, id);
    if (clamped)
        return add_clamp(k, name, real, given, quant);
    if (!aliases_replace(&k->aliases, given, real))
        give_copy(k, given, real, quant);
    k->not_negative[real] |= quant->encodings->min == 0;
    return id;
}

static void look_at(struct keeping *k, size_t place)
{
    node_id *id = &k->g->order.data[place];
    aliases_apply(&k->aliases, *id);
    if (node_is(graph_node(k->g, *id), OP_Dequantize))
        *id = drop_pair(k, *id);
    const struct node *n = graph_node(k->g, *id);
    bool sure = n->op && gives_no_negative(k->g, n, k->not_negative);
    for (uint32_t i = 0; sure && i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            k->not_negative[n->outputs[i]] = true;
}

static void remove_quantizers(struct keeping *k)
{
    const struct uses uses = graph_uses(k->c->scratch, k->g);
    for (size_t i = 0; i < k->g->order.count; i++) {
        const struct node *n = graph_node(k->g, k->g->order.data[i]);
        if (n->op && node_is(n, OP_Quantize) && !uses.count[n->outputs[0]])
            graph_remove_node(k->g, k->g->order.data[i]);
    }
}

odlc_status pass_keep_encodings(struct pass_context *c, struct graph *g)
{
    if (!c->options->keep_encodings)
        return ODLC_OK;
    struct keeping k = {.c = c, .g = g, .aliases = aliases_start(c->scratch, g)};
    size_t count = g->order.count;
    k.not_negative = arena_array(c->scratch, bool, g->tensors.count);
    keep_marks(g);
    for (size_t i = 0; i < count; i++)
        look_at(&k, i);
    aliases_finish(&k.aliases);
    remove_quantizers(&k);
    return ODLC_OK;
}
