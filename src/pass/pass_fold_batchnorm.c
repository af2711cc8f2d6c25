/* SPDX-License-Identifier: Apache-2.0 */
/* Folds a Batchnorm into the convolution or fully connected layer before it:  w·(W∗x + b) + c  =  (w·W)∗x + (w·b + c).
 * Only when nothing else reads the convolution's output, and never across a UDO: a claimed BatchNormalization is no
 * Batchnorm. The layer notes the normalization's own offset and scale (beta, gamma), which say how its result is
 * spread; a Batchnorm that stays has no such params in containers. */
#include "op/params.h"
#include "pass/affine.h"
#include "pass/search.h"

pass_fn pass_fold_batchnorm;

static bool is_static(const struct graph *g, const struct node *n, uint32_t i)
{
    const struct tensor *t = node_input(g, n, i);
    return t && t->kind == TENSOR_STATIC && dtype_is_float(t->type->dtype);
}

/* The layer whose output only this Batchnorm reads, or NULL. */
static struct node *foldable_layer(const struct pass_context *c, const struct graph *g, const struct uses *uses,
                                   const struct node *bn)
{
    if (!is_static(g, bn, 1) || !is_static(g, bn, 2))
        return NULL;
    struct node *layer = affine_layer(g, uses, bn->inputs[0]);
    uint64_t channels = shape_count(&node_input(g, bn, 1)->type->shape);
    return layer && affine_scalable(c, g, layer) && channels == affine_channels(g, layer) ? layer : NULL;
}

/* What the normalization notes of its result, the layer says now. */
static void hand_on(struct graph *g, const struct node *bn, struct node *layer)
{
    static const enum param_id notes[] = {PARAM_beta, PARAM_gamma};
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        const int place = op_param_place(layer->op, notes[i]), given = op_param_place(bn->op, notes[i]);
        const struct param note = node_get_param(bn, (uint32_t)given);
        if (note.set && place >= 0)
            node_set_param(g, layer, (uint32_t)place, &note);
    }
}

static void fold(struct pass_context *context, struct graph *g, struct node *layer, node_id id)
{
    const struct node *bn = graph_node(g, id);
    const struct tensor *w = node_input(g, bn, 1), *c = node_input(g, bn, 2);
    const struct affine affine = {.factor = view_load(g->arena, w->view, DT_FLOAT64),
                                  .shift = view_load(g->arena, c->view, DT_FLOAT64)};
    hand_on(g, bn, layer);
    affine_fold(context, g, layer, &affine, id, bn->inputs[0]);
}

static void forget_notes(struct node *bn)
{
    node_unset(bn, PARAM_beta);
    node_unset(bn, PARAM_gamma);
}

odlc_status pass_fold_batchnorm(struct pass_context *c, struct graph *g)
{
    struct uses uses = {0};
    if (!graph_may_have(c, g, OP_Batchnorm))
        return ODLC_OK;
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        struct node *bn = graph_node(g, id);
        if (!node_is(bn, OP_Batchnorm) || bn->n_inputs != 3)
            continue;
        if (!uses.count)
            uses = graph_uses(c->scratch, g);
        struct node *layer = c->options->no_batchnorm_folding ? NULL : foldable_layer(c, g, &uses, bn);
        if (layer)
            fold(c, g, layer, id);
        else
            forget_notes(bn);
    }
    return ODLC_OK;
}
