/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/affine.h"

#include "ir/quant.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/parts.h"

static bool is_static(const struct graph *g, const struct node *n, uint32_t i)
{
    const struct tensor *t = node_input(g, n, i);
    return t && t->kind == TENSOR_STATIC && dtype_is_float(t->type->dtype);
}

bool layer_has_no_bias(const struct graph *g, const struct node *layer)
{
    return !node_input(g, layer, 2);
}

const char *layer_bias_name(const struct graph *g, const struct node *layer)
{
    return arena_printf(g->arena, "%s_bias", layer->name);
}

struct node *affine_layer(const struct graph *g, const struct uses *uses, tensor_id x)
{
    const struct tensor *t = graph_tensor(g, x);
    if (t->producer == NO_NODE || uses->count[x] != 1)
        return NULL;
    struct node *layer = graph_node(g, t->producer);
    bool fits = layer->op && layer->op->layer != NO_LAYER && layer->n_inputs == 3 && is_static(g, layer, 1) &&
                (layer_has_no_bias(g, layer) || is_static(g, layer, 2));
    return fits ? layer : NULL;
}

uint64_t affine_channels(const struct graph *g, const struct node *layer)
{
    const struct shape *shape = &node_output(g, layer, 0)->type->shape;
    return (uint64_t)shape->dims[shape->rank - 1];
}

/* Integers that a DequantizeLinear scales, as a whole or along that axis. */
static bool is_dequantized_along(const struct view *view, uint32_t axis)
{
    return view->scale && quant_dtype(view->dtype) != DT_NONE &&
           (view->scale_axis == SCALE_WHOLE || view->scale_axis == view->perm.axis[axis]);
}

/* Floats that are still to be multiplied along that axis, by what was folded into them before. */
static bool is_scaled_along(const struct view *view, uint32_t axis)
{
    return view->scale && !view->zero && dtype_is_float(view->dtype) && view->scale_axis == view->perm.axis[axis];
}

bool affine_scalable(const struct pass_context *c, const struct graph *g, const struct node *layer)
{
    const struct tensor *weights = node_input(g, layer, 1);
    int axis = layer->op->channel_axis;
    if (axis < 0 || (uint64_t)weights->type->shape.dims[axis] != affine_channels(g, layer))
        return false;
    if (!c->options->keep_quant_nodes && is_dequantized_along(weights->view, (uint32_t)axis))
        return true;
    /* Weights whose dtype was cast would be scaled before the cast instead of after it. */
    return weights->view->dtype == weights->type->dtype &&
           (!weights->view->scale || is_scaled_along(weights->view, (uint32_t)axis));
}

static const double *products(struct arena *arena, const double *x, const double *y, uint64_t count)
{
    double *product = arena_array(arena, double, count);
    for (uint64_t i = 0; i < count; i++)
        product[i] = x[i] * y[i];
    return product;
}

/* Factors on top of the scales of integers. */
static void scale_further(struct pass_context *c, struct graph *g, const struct node *layer, struct view *view,
                          const double *factor)
{
    uint64_t channels = affine_channels(g, layer), unfit = 0;
    bool whole = view->scale_axis == SCALE_WHOLE;
    double *scale = arena_array(g->arena, double, channels), *zero = arena_array(g->arena, double, channels);
    for (uint64_t i = 0; i < channels; i++) {
        scale[i] = factor[i] * view->scale[whole ? 0 : i];
        zero[i] = view->zero ? view->zero[whole ? 0 : i] : 0;
        unfit += !(scale[i] > 0);
    }
    view->scale = scale;
    view->zero = zero;
    if (unfit)
        diag_warn(c->diags, AT(.node = layer->name), "lost-encoding",
                  "the weights lose the encodings that the model gives them: %llu of the %llu factors that are folded "
                  "into them are not positive",
                  (unsigned long long)unfit, (unsigned long long)channels);
}

/* The encodings that are given for weights, of what they are multiplied to; none where a factor is not positive. */
static const struct quant *scale_given(struct graph *g, const struct quant *given, uint32_t axis, uint32_t channels,
                                       const double *factor)
{
    if (given->per_axis && given->axis != axis)
        return NULL;
    struct encoding *encodings = arena_array(g->arena, struct encoding, channels);
    struct quant *quant = arena_memdup(g->arena, given, sizeof *given);
    for (uint32_t i = 0; i < channels; i++) {
        struct encoding *e = &encodings[i];
        *e = given->encodings[given->per_axis ? i : 0];
        e->scale *= factor[i];
        e->min *= factor[i];
        e->max *= factor[i];
        if (!(e->scale > 0))
            return NULL;
    }
    quant->encodings = encodings;
    quant->per_axis = true;
    quant->axis = axis;
    quant->count = channels;
    return quant;
}

static void scale_weights(struct pass_context *c, struct graph *g, node_id id, const double *factor)
{
    const struct node *layer = graph_node(g, id);
    const struct tensor *weights = node_input(g, layer, 1);
    struct view scaled = *weights->view;
    if (is_scaled_along(&scaled, (uint32_t)layer->op->channel_axis))
        scaled.scale = products(g->arena, scaled.scale, factor, affine_channels(g, layer));
    else if (scaled.scale)
        scale_further(c, g, layer, &scaled, factor);
    else
        scaled.scale = factor;
    scaled.scale_axis = scaled.perm.axis[layer->op->channel_axis];
    if (scaled.given)
        scaled.given = scale_given(g, scaled.given, scaled.scale_axis, (uint32_t)affine_channels(g, layer), factor);
    graph_replace_input(g, id, 1, part_constant(g, layer->inputs[1], &scaled));
}

static void move_bias(struct pass_context *c, struct graph *g, node_id id, const struct affine *a)
{
    const struct node *layer = graph_node(g, id);
    const struct tensor *bias = node_input(g, layer, 2), *like = bias ? bias : node_output(g, layer, 0);
    if (c->options->keep_encodings && bias && bias->view->scale)
        diag_note(c->diags, AT(.node = layer->name), "lost-encoding",
                  "the bias loses the encoding that the model gives it: a constant is folded into it");
    uint64_t channels = affine_channels(g, layer);
    const double *old = bias ? view_load(c->scratch, bias->view, DT_FLOAT64) : NULL;
    double *moved = arena_array(g->arena, double, channels);
    for (uint64_t i = 0; i < channels; i++)
        moved[i] = (old ? old[i] * (a->factor ? a->factor[i] : 1) : 0) + (a->shift ? a->shift[i] : 0);
    struct view view = view_of(moved, DT_FLOAT64, bias ? &bias->type->shape : &SHAPE((int64_t)channels));
    const char *name = bias ? tensor_wanted_name(bias) : layer_bias_name(g, layer);
    if (a->bias_name)
        name = a->bias_name;
    graph_replace_input(g, id, 2, graph_add_constant(g, name, like->type->dtype, &view));
}

void affine_fold(struct pass_context *c, struct graph *g, struct node *layer, const struct affine *a, node_id replaced,
                 tensor_id x)
{
    tensor_id out = graph_node(g, replaced)->outputs[0];
    node_id id = node_output(g, layer, 0)->producer, giver = graph_tensor(g, x)->producer;
    if (a->factor)
        scale_weights(c, g, id, a->factor);
    if (a->shift || !layer_has_no_bias(g, layer))
        move_bias(c, g, id, a);
    graph_remove_node(g, replaced);
    graph_replace_output(g, giver, 0, out);
}
