/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-layer equalization: a channel's factor goes from the weights of one layer to those of the next, where what
 * stands between them lets positive factors through. The network computes the same; ranges of channels come nearer. */
#include <math.h>

#include "op/op.h"
#include "quantize/quant_layer.h"

enum { MOST_IN_A_ROW = 3 };

/* A layer whose constants can be scaled. */
struct scalable {
    struct linear_layer layer;
    node_id id;
    tensor_id bias;          /* NO_TENSOR: there is none */
    uint64_t inputs;         /* channels that the layer reads */
    float *weights, *biases; /* copies that are scaled; NULL: not loaded yet */
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
    s->weights = s->biases = NULL;
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

/* What is as it was, but for the factor, when each channel has been multiplied by a positive one. */
static bool lets_through(const struct graph *g, const struct node *n)
{
    const struct tensor *slope = node_is(n, OP_Prelu) ? node_input(g, n, 1) : NULL;
    return node_is(n, OP_Relu) || node_is(n, OP_PoolMax2d) || node_is(n, OP_PoolAvg2d) ||
           (slope && slope->kind == TENSOR_STATIC);
}

/* The layer that alone reads the result. */
static bool find_next(const struct quantizer *q, const struct scalable *from, struct scalable *next)
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
        if (!lets_through(q->g, n))
            return find_layer(q, reader, next) && next->inputs == channels_of(from);
    }
}

/* ---- channels of weights ---- */

/* Calls for each weight of a channel of the result, or of the input: gives the greatest, and multiplies by a factor. */
static double scale_channel(struct scalable *s, bool is_input, uint64_t channel, double factor)
{
    const struct linear_layer *l = &s->layer;
    const uint64_t depth = l->has_window ? (uint64_t)l->conv.in_depth : l->depth;
    const uint64_t group = is_input ? channel / depth : channel / l->width;
    double most = 0;
    for (uint64_t column = 0; column < l->width; column++) {
        if (!is_input && column != channel % l->width)
            continue;
        for (uint64_t k = is_input ? channel % depth : 0; k < l->depth; k += is_input ? depth : 1) {
            float *at = &s->weights[quant_layer_weight(l, quant_layer_channel(l, group, column), k)];
            /* No fmax, of which gcc 12.2 for aarch64 fails to make vectors. */
            if (fabs((double)*at) > most)
                most = fabs((double)*at);
            *at = (float)((double)*at * factor);
        }
    }
    return most;
}

static double greatest(struct scalable *s, bool is_input, uint64_t channel)
{
    return scale_channel(s, is_input, channel, 1);
}

static void divide_result(struct scalable *s, uint64_t channel, double factor)
{
    (void)scale_channel(s, false, channel, 1 / factor);
    if (s->biases)
        s->biases[channel] = (float)((double)s->biases[channel] / factor);
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
        const double r1 = greatest(a, false, i), r2 = greatest(b, true, i), factor = r1 / sqrt(r1 * r2);
        if (!is_useful(factor))
            continue;
        divide_result(a, i, factor);
        (void)scale_channel(b, true, i, factor);
    }
}

static void equalize_triple(struct scalable *a, struct scalable *b, struct scalable *c)
{
    for (uint64_t i = 0; i < c->inputs; i++) {
        const double r1 = greatest(a, false, i), r2 = greatest(b, false, i), r3 = greatest(c, true, i);
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

static void load_layer(struct quantizer *q, struct scalable *s)
{
    s->weights = load(q, s->layer.weights);
    s->biases = s->bias == NO_TENSOR ? NULL : load(q, s->bias);
}

static void equalize_from(struct equalizing *e, node_id id)
{
    struct quantizer *q = e->q;
    struct scalable row[MOST_IN_A_ROW];
    if (e->is_middle[id] || !find_layer(q, id, &row[0]) || !find_next(q, &row[0], &row[1]))
        return;
    const bool is_triple = is_depthwise(&row[1]) && find_next(q, &row[1], &row[2]);
    for (int i = 0; i < 2 + is_triple; i++)
        load_layer(q, &row[i]);
    if (!is_triple) {
        equalize_pair(&row[0], &row[1]);
        return;
    }
    equalize_triple(&row[0], &row[1], &row[2]);
    e->is_middle[row[1].id] = true;
}

void quant_equalize(struct quantizer *q)
{
    struct equalizing e = {.q = q, .is_middle = arena_array(q->arena, bool, q->g->nodes.count)};
    for (size_t i = 0; (q->options->improvements & IMPROVE_EQUALIZE) && i < q->g->order.count; i++)
        equalize_from(&e, q->g->order.data[i]);
}
