/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-layer equalization: a channel's factor goes from the weights of one layer to those of the next, where what
 * stands between them lets positive factors through. The network computes the same; ranges of channels come nearer.
 * Factors are tried by several rules, and those are taken that leave the least noise in what the second layer gives. */
#include "quantize/quant_equalize.h"

#include <math.h>

#include "op/op.h"
#include "op/params.h"
#include "quantize/quant_noise.h"

/* ---- what is observed ---- */

/* What is as it was, but for the factor, when each channel has been multiplied by a positive one. */
static bool lets_factors(const struct graph *g, const struct node *n)
{
    const struct tensor *slope = node_is(n, OP_Prelu) ? node_input(g, n, 1) : NULL;
    return node_is(n, OP_Relu) || node_is(n, OP_PoolMax2d) || node_is(n, OP_PoolAvg2d) ||
           (slope && slope->kind == TENSOR_STATIC);
}

static bool find_pair(const struct quantizer *q, node_id id, struct scalable *a, struct scalable *b)
{
    return quant_scalable_find(q, id, a) && quant_scalable_next(q, a, lets_factors, b);
}

struct quant_equalizing *quant_equalizing_new(struct quantizer *q)
{
    const size_t count = q->g->tensors.count;
    struct quant_equalizing *e = NULL;
    for (size_t i = 0; i < q->g->order.count; i++) {
        struct scalable pair[2];
        if (!find_pair(q, q->g->order.data[i], &pair[0], &pair[1]))
            continue;
        if (!e) {
            e = arena_new(q->arena, struct quant_equalizing);
            *e = (struct quant_equalizing){q, arena_array(q->arena, struct quant_channels *, count),
                                           arena_array(q->arena, float *, count)};
        }
        for (int k = 0; k < 2; k++) {
            struct quant_channels **channels = &e->channels[pair[k].layer.input];
            *channels = *channels ? *channels : quant_channels_new(q->arena, pair[k].inputs);
        }
    }
    return e;
}

/* ---- constants ---- */

/* The floats of a constant as they are now; in scratch, where they are not in memory. */
static const float *floats_of(const struct quant_equalizing *e, tensor_id id)
{
    const struct view *view = e->q->items[id].floats;
    if (e->scaled[id])
        return e->scaled[id];
    return view_load(e->q->scratch, view ? view : graph_tensor(e->q->g, id)->view, DT_FLOAT32);
}

float *quant_equalizing_copy(struct quant_equalizing *e, tensor_id id)
{
    const size_t size = shape_count(&graph_tensor(e->q->g, id)->type->shape) * sizeof(float);
    struct arena_mark mark = arena_mark(e->q->scratch);
    if (!e->scaled[id])
        e->scaled[id] = arena_memdup(e->q->arena, floats_of(e, id), size);
    arena_rewind(e->q->scratch, mark);
    return e->scaled[id];
}

double *quant_equalizing_note(struct quant_equalizing *e, const struct scalable *s, enum param_id id)
{
    const int place = op_param_place(s->layer.node->op, id);
    if (place < 0)
        return NULL;
    const struct param note = node_get_param(s->layer.node, (uint32_t)place);
    const uint64_t channels = quant_scalable_channels(s);
    if (!note.set || shape_count(&note.shape) != channels)
        return NULL;
    return arena_memdup(e->q->arena, note.floats, channels * sizeof *note.floats);
}

void quant_equalizing_set_note(struct quant_equalizing *e, const struct scalable *s, enum param_id id,
                               const double *values)
{
    node_set_floats(e->q->g, graph_node(e->q->g, s->id), id, (uint32_t)quant_scalable_channels(s), values);
}

/* ---- factors ---- */

/* Two layers at work; arrays are per channel between them. */
struct pair {
    struct quant_equalizing *e;
    struct scalable a, b;
    const float *a_weights, *a_biases, *b_weights, *b_biases;
    const struct quant_channels *before, *between; /* what the layers read */
    double *values, *written, *read;               /* extents of values and of both layers' weights */
    double *ones;                                  /* as many as either layer has channels */
    double *factors;                               /* that are tried */
};

/* What a step of integers is a part of: the range with zero, or the greatest magnitude. */
static double extent(bool is_range, double low, double high)
{
    return is_range ? high - low : fmax(high, -low);
}

static void meet_weights(const struct scalable *s, const float *weights, bool is_input, struct quant_range *ranges)
{
    const struct linear_layer *l = &s->layer;
    const uint64_t depth = quant_scalable_depth(s), each = l->width * l->depth;
    for (uint64_t i = 0; i < l->groups * each; i++) {
        const uint64_t group = i / each, k = i % each / l->width;
        const uint64_t channel = quant_layer_channel(l, group, i % l->width);
        const double weight = (double)weights[quant_layer_weight(l, channel, k)];
        struct quant_range *range = &ranges[is_input ? group * depth + k % depth : channel];
        range->min = fmin(range->min, weight);
        range->max = fmax(range->max, weight);
    }
}

static double *weights_extents(const struct pair *p, const struct scalable *s, const float *weights, bool is_input)
{
    struct quantizer *q = p->e->q;
    struct quant_range *ranges = arena_array(q->scratch, struct quant_range, p->b.inputs);
    double *extents = arena_array(q->scratch, double, p->b.inputs);
    const bool is_range = q->options->weights_schema == SCHEMA_ASYMMETRIC && q->items[s->layer.weights].axis == NO_AXIS;
    meet_weights(s, weights, is_input, ranges);
    for (uint64_t i = 0; i < p->b.inputs; i++)
        extents[i] = extent(is_range, ranges[i].min, ranges[i].max);
    return extents;
}

static void load_pair(struct pair *p)
{
    struct quantizer *q = p->e->q;
    const uint64_t outputs = quant_scalable_channels(&p->b),
                   inputs = p->b.inputs > p->a.inputs ? p->b.inputs : p->a.inputs;
    const uint64_t most = outputs > inputs ? outputs : inputs;
    p->a_weights = floats_of(p->e, p->a.layer.weights);
    p->b_weights = floats_of(p->e, p->b.layer.weights);
    p->a_biases = p->a.bias == NO_TENSOR ? NULL : floats_of(p->e, p->a.bias);
    p->b_biases = p->b.bias == NO_TENSOR ? NULL : floats_of(p->e, p->b.bias);
    p->before = p->e->channels[p->a.layer.input];
    p->between = p->e->channels[p->b.layer.input];
    p->written = weights_extents(p, &p->a, p->a_weights, false);
    p->read = weights_extents(p, &p->b, p->b_weights, true);
    p->values = arena_array(q->scratch, double, p->b.inputs);
    for (uint64_t i = 0; i < p->b.inputs; i++)
        p->values[i] =
            extent(q->options->act_schema == SCHEMA_ASYMMETRIC, p->between->of[i].low, p->between->of[i].high);
    p->factors = arena_array(q->scratch, double, p->b.inputs);
    p->ones = arena_array(q->scratch, double, most);
    for (uint64_t i = 0; i < most; i++)
        p->ones[i] = 1;
}

/* How factors follow from extents: their product with these powers. */
struct rule {
    double values, written, read;
};

/* The factors of a rule, the geometric mean of which is 1. A channel with nothing in it, or beyond what its bias can
 * bear, keeps its own. */
static void apply_rule(struct pair *p, const struct rule *rule)
{
    double sum = 0, count = 0;
    for (uint64_t i = 0; i < p->b.inputs; i++) {
        const bool is_empty = !(p->values[i] > 0 && p->written[i] > 0 && p->read[i] > 0);
        p->factors[i] = is_empty ? NAN
                                 : rule->values * log(p->values[i]) + rule->written * log(p->written[i]) +
                                       rule->read * log(p->read[i]);
        sum += is_empty ? 0 : p->factors[i];
        count += !is_empty;
    }
    for (uint64_t i = 0; i < p->b.inputs; i++) {
        const double factor = exp(p->factors[i] - sum / count);
        p->factors[i] = factor >= 1e-3 && factor <= 1e3 ? factor : 1;
    }
}

/* ---- noise ---- */

/* The step of the integers between the layers. */
static double step_of(const struct pair *p)
{
    struct quantizer *q = p->e->q;
    const struct quant_item *item = &q->items[q->items[p->b.layer.input].as];
    struct quant_range range = {0, 0};
    if (item->role != ROLE_ACTIVATION)
        return 0;
    for (uint64_t i = 0; i < p->b.inputs; i++) {
        range.min = fmin(range.min, p->between->of[i].low / p->factors[i]);
        range.max = fmax(range.max, p->between->of[i].high / p->factors[i]);
    }
    return quant_encoding(q, item, range, NULL).scale;
}

static double noise_of(struct pair *p)
{
    struct quantizer *q = p->e->q;
    const uint64_t inputs = p->a.inputs, middle = p->b.inputs, outputs = quant_scalable_channels(&p->b);
    const bool about_mean = q->options->improvements & IMPROVE_CORRECT;
    struct arena_mark mark = arena_mark(q->scratch);
    double *variance = arena_array(q->scratch, double, inputs), *zeros = arena_array(q->scratch, double, inputs);
    double *noise = arena_array(q->scratch, double, middle), *spread = arena_array(q->scratch, double, middle);
    double *result = arena_array(q->scratch, double, outputs), sum = 0;
    for (uint64_t i = 0; i < inputs; i++)
        variance[i] = quant_channel_variance(p->before, i, about_mean);
    quant_noise_add(q, &(struct quant_noise){&p->a, p->a_weights, p->a_biases, p->factors, p->ones, variance, zeros},
                    noise);
    const double step = step_of(p);
    for (uint64_t i = 0; i < middle; i++) {
        const double used = quant_channel_used(p->between, i);
        spread[i] = quant_channel_variance(p->between, i, about_mean) / (p->factors[i] * p->factors[i]);
        noise[i] = used * noise[i] + fmin(used * step * step / 12, spread[i]);
    }
    quant_noise_add(q, &(struct quant_noise){&p->b, p->b_weights, p->b_biases, p->ones, p->factors, spread, noise},
                    result);
    for (uint64_t i = 0; i < outputs; i++)
        sum += result[i];
    arena_rewind(q->scratch, mark);
    return sum;
}

/* ---- the graph ---- */

static void scale(struct quant_equalizing *e, const struct scalable *s, const double *out, const double *in)
{
    const struct linear_layer *l = &s->layer;
    const uint64_t depth = quant_scalable_depth(s), each = l->width * l->depth;
    float *weights = quant_equalizing_copy(e, l->weights);
    float *biases = s->bias == NO_TENSOR ? NULL : quant_equalizing_copy(e, s->bias);
    for (uint64_t i = 0; i < l->groups * each; i++) {
        const uint64_t group = i / each, k = i % each / l->width;
        const uint64_t channel = quant_layer_channel(l, group, i % l->width);
        float *at = &weights[quant_layer_weight(l, channel, k)];
        *at = (float)((double)*at / out[channel] * in[group * depth + k % depth]);
    }
    for (uint64_t i = 0; biases && i < quant_scalable_channels(s); i++)
        biases[i] = (float)((double)biases[i] / out[i]);
}

static void scale_note(const struct pair *p, enum param_id id)
{
    double *note = quant_equalizing_note(p->e, &p->a, id);
    for (uint64_t i = 0; note && i < p->b.inputs; i++)
        note[i] /= p->factors[i];
    if (note)
        quant_equalizing_set_note(p->e, &p->a, id, note);
}

/* The first rule leaves all as it is, the second one is the published method's. What gains little by the model may be
 * a loss in truth, so it takes an eighth. NULL: nothing is to be scaled. */
static const struct rule *best_rule(struct pair *p)
{
    static const struct rule rules[] = {{0, 0, 0},  {0, .5, -.5}, {.5, 0, -.5}, {1, 0, 0},   {0, 0, -.5},
                                        {0, 0, -1}, {.5, 0, 0},   {.5, 0, -1},  {1, 0, -.5}, {1, 0, -1}};
    const struct rule *best = NULL;
    const double enough = 0.875;
    double least = 0;
    const struct quant_item *items = p->e->q->items;
    if (items[p->a.layer.weights].axis == NO_AXIS || items[p->b.layer.weights].axis == NO_AXIS)
        return &rules[1]; /* ranges of a layer's channels among each other decide then */
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        apply_rule(p, &rules[i]);
        const double noise = noise_of(p);
        if (i == 0 || noise < least) {
            least = i ? noise : noise * enough;
            best = i ? &rules[i] : NULL;
        }
    }
    return best;
}

/* What was observed of the tensors between is as the scaled layers give it. */
static void scale_channels(const struct pair *p)
{
    struct quant_channels *between = p->e->channels[p->b.layer.input];
    for (uint64_t i = 0; i < p->b.inputs; i++) {
        between->of[i].low /= p->factors[i];
        between->of[i].high /= p->factors[i];
        between->of[i].sum /= p->factors[i];
        between->of[i].squares /= p->factors[i] * p->factors[i];
    }
}

static void equalize_from(struct quant_equalizing *e, node_id id)
{
    struct pair p = {.e = e};
    if (!find_pair(e->q, id, &p.a, &p.b))
        return;
    struct arena_mark mark = arena_mark(e->q->scratch);
    load_pair(&p);
    const struct rule *rule = best_rule(&p);
    if (rule) {
        apply_rule(&p, rule);
        scale(e, &p.a, p.factors, p.ones);
        scale(e, &p.b, p.ones, p.factors);
        scale_note(&p, PARAM_beta);
        scale_note(&p, PARAM_gamma);
        scale_channels(&p);
    }
    arena_rewind(e->q->scratch, mark);
}

/* The constant is what its scaled floats are. */
static odlc_status settle(struct quant_equalizing *e, tensor_id id)
{
    struct quantizer *q = e->q;
    const struct view view = view_of(e->scaled[id], DT_FLOAT32, &graph_tensor(q->g, id)->type->shape);
    graph_set_view(q->g, id, &view);
    q->items[id].floats = NULL;
    return quant_encode_constant(q, id);
}

odlc_status quant_equalize(struct quant_equalizing *e)
{
    const struct graph *g = e->q->g;
    for (size_t i = 0; i < g->order.count; i++)
        equalize_from(e, g->order.data[i]);
    for (size_t i = 0; i < g->order.count; i++)
        quant_absorb_bias(e, g->order.data[i]);
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (e->scaled[id])
            TRY(settle(e, id));
    return ODLC_OK;
}
