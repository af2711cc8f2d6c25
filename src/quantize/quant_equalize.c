/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-layer equalization: a channel's factor goes from the weights of one layer to those of the next, where what
 * stands between them lets positive factors through. The network computes the same; ranges of channels come nearer.
 * What a batch normalization says to be in nearly all values of a channel goes from one bias to the next then. */
#include <math.h>

#include "op/op.h"
#include "op/params.h"
#include "quantize/quant_layer.h"

enum { MOST_IN_A_ROW = 3 };

/* A layer whose constants can be scaled. */
struct scalable {
    struct linear_layer layer;
    node_id id;
    tensor_id bias;          /* NO_TENSOR: there is none */
    uint64_t inputs;         /* channels that the layer reads */
    bool is_asymmetric;      /* a step of the weights is a part of their range; not: of their greatest magnitude */
    float *weights, *biases; /* copies that are scaled; NULL: not loaded yet */
    double *beta, *gamma;    /* of the batch normalization that was folded; NULL: not known */
};

struct equalizing {
    struct quantizer *q;
    bool *is_middle; /* per node: between two layers it has been scaled with both */
};

/* ---- layers ---- */

/* Whether nothing from outside is said of the tensor's range. */
static bool is_open(const struct quantizer *q, tensor_id id)
{
    return !q->items[id].given;
}

static bool find_layer(const struct quantizer *q, node_id id, struct scalable *s)
{
    const struct node *n = graph_node(q->g, id);
    if (!quant_layer_find(q, n, &s->layer) || node_is(n, OP_MatMul) || !is_open(q, s->layer.weights))
        return false;
    s->id = id;
    s->bias = n->n_inputs > 2 ? n->inputs[2] : NO_TENSOR;
    s->inputs = s->layer.has_window ? (uint64_t)s->layer.conv.window.channels : s->layer.depth;
    s->is_asymmetric = q->options->weights_schema == SCHEMA_ASYMMETRIC && q->items[s->layer.weights].axis == NO_AXIS;
    s->weights = s->biases = NULL;
    s->beta = s->gamma = NULL;
    return s->bias == NO_TENSOR ||
           (graph_tensor(q->g, s->bias)->kind == TENSOR_STATIC && q->items[s->bias].role == ROLE_BIAS &&
            q->uses.count[s->bias] == 1 && is_open(q, s->bias));
}

static uint64_t channels_of(const struct scalable *s)
{
    return s->layer.groups * s->layer.width;
}

/* Each channel of the result is one of the input's. */
static bool is_depthwise(const struct scalable *s)
{
    return s->layer.groups > 1 && s->layer.width == 1 && s->inputs == s->layer.groups;
}

/* Whether a node between two layers lets through what is done to its operand. */
typedef bool lets_fn(const struct graph *g, const struct node *n);

/* What is as it was, but for the factor, when each channel has been multiplied by a positive one. */
static bool lets_factors(const struct graph *g, const struct node *n)
{
    const struct tensor *slope = node_is(n, OP_Prelu) ? node_input(g, n, 1) : NULL;
    return node_is(n, OP_Relu) || node_is(n, OP_PoolMax2d) || node_is(n, OP_PoolAvg2d) ||
           (slope && slope->kind == TENSOR_STATIC);
}

/* The layer that alone reads the result, behind nodes that let through. */
static bool find_next(const struct quantizer *q, const struct scalable *from, lets_fn *lets, struct scalable *next)
{
    const struct node *n = from->layer.node;
    for (;;) {
        const tensor_id id = n->outputs[0];
        if (q->uses.count[id] != 1 || graph_tensor(q->g, id)->kind == TENSOR_OUTPUT || !is_open(q, id))
            return false;
        const node_id reader = q->uses.nodes[q->uses.first[id]];
        n = graph_node(q->g, reader);
        if (n->inputs[0] != id)
            return false;
        if (!lets(q->g, n))
            return find_layer(q, reader, next) && next->inputs == channels_of(from);
    }
}

/* ---- channels of weights ---- */

/* Goes over the weights of a channel of the result, or of the input: gives their range, with zero, or their greatest
 * magnitude, whichever the size of a step follows, and multiplies by a factor. */
static double scale_channel(struct scalable *s, bool is_input, uint64_t channel, double factor)
{
    const struct linear_layer *l = &s->layer;
    const uint64_t depth = l->has_window ? (uint64_t)l->conv.in_depth : l->depth;
    const uint64_t group = is_input ? channel / depth : channel / l->width;
    double low = 0, high = 0;
    for (uint64_t column = 0; column < l->width; column++) {
        if (!is_input && column != channel % l->width)
            continue;
        for (uint64_t k = is_input ? channel % depth : 0; k < l->depth; k += is_input ? depth : 1) {
            float *at = &s->weights[quant_layer_weight(l, quant_layer_channel(l, group, column), k)];
            /* No fmin or fmax, of which gcc 12.2 for aarch64 fails to make vectors. */
            if ((double)*at < low)
                low = (double)*at;
            if ((double)*at > high)
                high = (double)*at;
            *at = (float)((double)*at * factor);
        }
    }
    return s->is_asymmetric ? high - low : fmax(high, -low);
}

static double extent_of(struct scalable *s, bool is_input, uint64_t channel)
{
    return scale_channel(s, is_input, channel, 1);
}

static void divide_result(struct scalable *s, uint64_t channel, double factor)
{
    (void)scale_channel(s, false, channel, 1 / factor);
    if (s->biases)
        s->biases[channel] = (float)((double)s->biases[channel] / factor);
    if (s->beta)
        s->beta[channel] /= factor;
    if (s->gamma)
        s->gamma[channel] /= factor;
}

/* A channel that hardly counts keeps its factor: a bias divided by one of some thousandth would be the greatest of all.
 */
static bool is_useful(double factor)
{
    return factor >= 1e-3 && factor <= 1e3;
}

static void equalize_pair(struct scalable *a, struct scalable *b)
{
    for (uint64_t i = 0; i < b->inputs; i++) {
        const double r1 = extent_of(a, false, i), r2 = extent_of(b, true, i), factor = r1 / sqrt(r1 * r2);
        if (!is_useful(factor))
            continue;
        divide_result(a, i, factor);
        (void)scale_channel(b, true, i, factor);
    }
}

static void equalize_triple(struct scalable *a, struct scalable *b, struct scalable *c)
{
    for (uint64_t i = 0; i < c->inputs; i++) {
        const double r1 = extent_of(a, false, i), r2 = extent_of(b, false, i), r3 = extent_of(c, true, i);
        const double mean = cbrt(r1 * r2 * r3), first = r1 / mean, second = mean / r3;
        if (!is_useful(first) || !is_useful(second))
            continue;
        divide_result(a, i, first);
        (void)scale_channel(b, true, i, first);
        divide_result(b, i, second);
        (void)scale_channel(c, true, i, second);
    }
}

/* ---- the graph ---- */

static float *load(struct quantizer *q, tensor_id id)
{
    const struct tensor *t = graph_tensor(q->g, id);
    const size_t size = shape_count(&t->type->shape) * sizeof(float);
    struct arena_mark mark = arena_mark(q->scratch);
    float *values = arena_memdup(q->arena, view_load(q->scratch, t->view, DT_FLOAT32), size);
    arena_rewind(q->scratch, mark);
    const struct view view = view_of(values, DT_FLOAT32, &t->type->shape);
    graph_set_view(q->g, id, &view);
    return values;
}

/* An element for each channel; NULL: the layer has no such param. */
static double *load_note(struct quantizer *q, const struct scalable *s, enum param_id id)
{
    const int place = op_param_place(s->layer.node->op, id);
    if (place < 0)
        return NULL;
    const struct param note = node_get_param(s->layer.node, (uint32_t)place);
    if (!note.set || shape_count(&note.shape) != channels_of(s))
        return NULL;
    return arena_memdup(q->arena, note.floats, channels_of(s) * sizeof *note.floats);
}

static void load_layer(struct quantizer *q, struct scalable *s)
{
    s->weights = load(q, s->layer.weights);
    s->biases = s->bias == NO_TENSOR ? NULL : load(q, s->bias);
    s->beta = load_note(q, s, PARAM_beta);
    s->gamma = load_note(q, s, PARAM_gamma);
}

/* The params say what the result is like now. */
static void store_notes(struct quantizer *q, const struct scalable *s)
{
    struct node *n = graph_node(q->g, s->id);
    if (s->beta)
        node_set_floats(q->g, n, PARAM_beta, (uint32_t)channels_of(s), s->beta);
    if (s->gamma)
        node_set_floats(q->g, n, PARAM_gamma, (uint32_t)channels_of(s), s->gamma);
}

static void equalize_from(struct equalizing *e, node_id id)
{
    struct quantizer *q = e->q;
    struct scalable row[MOST_IN_A_ROW];
    if (e->is_middle[id] || !find_layer(q, id, &row[0]) || !find_next(q, &row[0], lets_factors, &row[1]))
        return;
    const bool is_triple = is_depthwise(&row[1]) && find_next(q, &row[1], lets_factors, &row[2]);
    for (int i = 0; i < 2 + is_triple; i++)
        load_layer(q, &row[i]);
    if (is_triple)
        equalize_triple(&row[0], &row[1], &row[2]);
    else
        equalize_pair(&row[0], &row[1]);
    e->is_middle[row[1].id] = is_triple;
    for (int i = 0; i < 2 + is_triple; i++)
        store_notes(q, &row[i]);
}

/* ---- biases ---- */

static bool lets_shifts(const struct graph *g, const struct node *n)
{
    (void)g;
    return node_is(n, OP_Relu) || node_is(n, OP_PoolMax2d);
}

static bool lets_shifts_but_no_relu(const struct graph *g, const struct node *n)
{
    (void)g;
    return node_is(n, OP_PoolMax2d);
}

/* Zeros around an input would have to be shifted, too. */
static bool has_padding(const struct scalable *s)
{
    bool has = false;
    for (int i = 0; s->layer.has_window && i < WINDOW_AXES; i++)
        has |= s->layer.conv.window.axis[i].pad_before > 0 || s->layer.conv.window.axis[i].pad_after > 0;
    return has;
}

/* What each channel of `to` has more, when channel `channel` of its input has `shift` less. */
static void add_shift(struct scalable *to, uint64_t channel, double shift)
{
    const struct linear_layer *l = &to->layer;
    const uint64_t depth = l->has_window ? (uint64_t)l->conv.in_depth : l->depth, group = channel / depth;
    for (uint64_t column = 0; column < l->width; column++) {
        const uint64_t out = quant_layer_channel(l, group, column);
        double sum = 0;
        for (uint64_t k = channel % depth; k < l->depth; k += depth)
            sum += (double)to->weights[quant_layer_weight(l, out, k)];
        to->biases[out] = (float)((double)to->biases[out] + sum * shift);
    }
}

/* A Relu passes on what is in a value less three deviations of its channel, but for one value in 700, which is less
 * than integers of 16 bits lose; without a Relu, the mean goes. */
static void absorb_bias(struct quantizer *q, node_id id)
{
    const struct node *n = graph_node(q->g, id);
    struct scalable from, to, same;
    if (!node_param(n, PARAM_beta) || !node_param(n, PARAM_gamma) || !find_layer(q, id, &from) ||
        from.bias == NO_TENSOR || !find_next(q, &from, lets_shifts, &to) || to.bias == NO_TENSOR || has_padding(&to))
        return;
    const bool is_linear = find_next(q, &from, lets_shifts_but_no_relu, &same);
    if (!is_linear && q->items[to.layer.input].bits > 8)
        return;
    load_layer(q, &from);
    load_layer(q, &to);
    for (uint64_t i = 0; from.beta && from.gamma && i < channels_of(&from); i++) {
        const double shift = is_linear ? from.beta[i] : fmax(0, from.beta[i] - 3 * fabs(from.gamma[i]));
        from.biases[i] = (float)((double)from.biases[i] - shift);
        from.beta[i] -= shift;
        add_shift(&to, i, shift);
    }
    store_notes(q, &from);
}

void quant_equalize(struct quantizer *q)
{
    const struct graph *g = q->g;
    const bool is_wanted = q->options->improvements & IMPROVE_EQUALIZE;
    struct equalizing e = {.q = q, .is_middle = arena_array(q->arena, bool, g->nodes.count)};
    for (size_t i = 0; is_wanted && i < g->order.count; i++)
        equalize_from(&e, g->order.data[i]);
    for (size_t i = 0; is_wanted && i < g->order.count; i++)
        absorb_bias(q, g->order.data[i]);
}
