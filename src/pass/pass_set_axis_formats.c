/* SPDX-License-Identifier: Apache-2.0 */
/* Says how the axes of tensors are to be read, where track_axes did not: a graph input by its rank, a result by what
 * its op is and what the op reads, weights by the layer. Formats say what axes mean; nothing is computed by them. */
#include "op/layout.h"
#include "op/params.h"
#include "pass/search.h"

pass_fn pass_set_axis_formats;

/* An image or a sequence, whose axes have names. */
static bool is_named(uint8_t format)
{
    return format == AXIS_FORMAT_NCHW || format == AXIS_FORMAT_NHWC || format == AXIS_FORMAT_NCF ||
           format == AXIS_FORMAT_NFC;
}

/* Axes that are nobody's: new ones, or mixed up. */
static uint8_t format_of_rank(uint32_t rank)
{
    return rank < 2 ? AXIS_FORMAT_ANY : AXIS_FORMAT_NONTRIVIAL;
}

static uint8_t format_of_input(const struct pass_context *c, uint32_t rank)
{
    uint8_t last = c->options->channels_first ? 0 : order_format(ORDER_CHANNELS_LAST, rank);
    return last ? last : rank == 2 ? AXIS_FORMAT_NF : format_of_rank(rank);
}

static uint8_t format_of_constant(uint32_t rank)
{
    return rank == 2 ? AXIS_FORMAT_NF : format_of_rank(rank);
}

/* A Transpose from one order of channels to the other. */
static uint8_t format_of_transpose(uint8_t from, const struct perm *perm)
{
    const struct perm last = perm_channels_last(perm->rank), first = perm_channels_first(perm->rank);
    bool is_first = from && from == order_format(ORDER_CHANNELS_FIRST, perm->rank);
    bool is_last = from && from == order_format(ORDER_CHANNELS_LAST, perm->rank);
    if (is_first && perm_equal(perm, &last))
        return order_format(ORDER_CHANNELS_LAST, perm->rank);
    if (is_last && perm_equal(perm, &first))
        return order_format(ORDER_CHANNELS_FIRST, perm->rank);
    return AXIS_FORMAT_NONTRIVIAL;
}

/* Whether the result has the axes of input i, if their ranks are equal. */
static bool keeps_axes(const struct graph *g, const struct node *n, uint32_t i)
{
    bool copies =
        node_is(n, OP_Reshape) && shape_equal(&node_input(g, n, 0)->type->shape, &node_output(g, n, 0)->type->shape);
    return i == 0 && copies ? true : carries_axes(n->op, i) || takes_as_stored(n, i);
}

/* The format of the inputs whose axes the result has: one that names axes, if there is any; constants come last. 0: no
 * input has the result's axes. */
static uint8_t format_passed_on(const struct graph *g, const struct node *n, uint32_t rank)
{
    uint8_t found = 0;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *in = n->inputs[i] == NO_TENSOR ? NULL : graph_tensor(g, n->inputs[i]);
        if (!in || in->type->shape.rank != rank || !keeps_axes(g, n, i))
            continue;
        bool better = !found || (is_named(in->axis_format) && !is_named(found));
        if (in->kind != TENSOR_STATIC ? better : !found)
            found = in->axis_format;
    }
    return found;
}

static uint8_t format_of_result(const struct graph *g, const struct node *n, uint32_t k)
{
    uint32_t rank = graph_tensor(g, n->outputs[k])->type->shape.rank;
    if (n->op->images && rank == 4)
        return AXIS_FORMAT_NHWC;
    if (node_is(n, OP_Transpose)) {
        const struct perm perm = node_perm(n);
        return format_of_transpose(node_input(g, n, 0)->axis_format, &perm);
    }
    uint8_t passed_on = n->op->layer == NO_LAYER ? format_passed_on(g, n, rank) : 0;
    return passed_on ? passed_on : format_of_rank(rank);
}

/* A graph output of a channels-first model is NHWC or NFC only where that is not the model's own order. */
static uint8_t format_of_output(const struct pass_context *c, uint8_t format)
{
    bool last = format == AXIS_FORMAT_NHWC || format == AXIS_FORMAT_NFC;
    return last && c->options->channels_first ? AXIS_FORMAT_NONTRIVIAL : format;
}

static void set_weights(struct graph *g, const struct node *n)
{
    if (n->op->layer != NO_LAYER && n->op->spatial_axes == 2)
        graph_tensor(g, n->inputs[1])->axis_format = AXIS_FORMAT_HWIO;
    else if (n->op->layer == LAYER_DENSE)
        graph_tensor(g, n->inputs[1])->axis_format = AXIS_FORMAT_NONTRIVIAL;
}

odlc_status pass_set_axis_formats(struct pass_context *c, struct graph *g)
{
    for (size_t i = 0; graph_census(c, g)->layers && i < g->order.count; i++)
        set_weights(g, graph_node(g, g->order.data[i]));
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        if (!t->axis_format && t->kind == TENSOR_INPUT)
            t->axis_format = format_of_input(c, t->type->shape.rank);
        else if (!t->axis_format && t->kind == TENSOR_STATIC)
            t->axis_format = format_of_constant(t->type->shape.rank);
    }
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            struct tensor *t = n->outputs[k] == NO_TENSOR ? NULL : graph_tensor(g, n->outputs[k]);
            if (!t || t->axis_format)
                continue;
            t->axis_format = format_of_result(g, n, k);
            if (t->kind == TENSOR_OUTPUT)
                t->axis_format = format_of_output(c, t->axis_format);
        }
    }
    return ODLC_OK;
}
