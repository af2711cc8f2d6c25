/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_noise.h"

#include <math.h>

/* A layer at work. */
struct rounding {
    const struct quant_noise *n;
    struct quant_range *ranges; /* per channel of the result */
    double *scales, *result;
};

/* Calls for each weight: what is done with it, scaled; its channel of the result and of the input. */
typedef void weight_fn(struct rounding *r, double weight, uint64_t channel, uint64_t input);

static void each_weight(struct rounding *r, weight_fn *fn)
{
    const struct linear_layer *l = &r->n->layer->layer;
    const uint64_t depth = quant_scalable_depth(r->n->layer), weights = l->width * l->depth;
    const bool by_rows = l->depth_stride < l->width_stride; /* in the order in which they lie */
    for (uint64_t group = 0; group < l->groups; group++)
        for (uint64_t i = 0; i < weights; i++) {
            const uint64_t column = by_rows ? i / l->depth : i % l->width, k = by_rows ? i % l->depth : i / l->width;
            const uint64_t channel = quant_layer_channel(l, group, column), input = group * depth + k % depth;
            const double weight = (double)r->n->weights[quant_layer_weight(l, channel, k)];
            fn(r, weight / r->n->out[channel] * r->n->in[input], channel, input);
        }
}

static void widen(struct rounding *r, double weight, uint64_t channel, uint64_t input)
{
    struct quant_range *range = &r->ranges[channel];
    (void)input;
    range->min = weight < range->min ? weight : range->min;
    range->max = weight > range->max ? weight : range->max;
}

static void add_errors(struct rounding *r, double weight, uint64_t channel, uint64_t input)
{
    const double error = quant_nearest(weight / r->scales[channel]) * r->scales[channel] - weight;
    r->result[channel] += error * error * r->n->variance[input] + weight * weight * r->n->noise[input];
}

static double scale_of(struct quantizer *q, tensor_id id, struct quant_range range)
{
    return quant_encoding(q, &q->items[id], range, NULL).scale;
}

static void find_scales(struct quantizer *q, struct rounding *r)
{
    const struct scalable *s = r->n->layer;
    const uint64_t channels = quant_scalable_channels(s);
    const bool is_whole = q->items[s->layer.weights].axis == NO_AXIS;
    struct quant_range all = {0, 0};
    each_weight(r, widen);
    for (uint64_t c = 0; c < channels; c++) {
        all.min = fmin(all.min, r->ranges[c].min);
        all.max = fmax(all.max, r->ranges[c].max);
    }
    for (uint64_t c = 0; c < channels; c++)
        r->scales[c] = scale_of(q, s->layer.weights, is_whole ? all : r->ranges[c]);
}

/* A bias has one encoding. */
static void add_bias(struct quantizer *q, const struct quant_noise *n, double *result)
{
    const uint64_t channels = quant_scalable_channels(n->layer);
    struct quant_range range = {0, 0};
    if (!n->biases)
        return;
    double *biases = arena_array(q->scratch, double, channels);
    for (uint64_t c = 0; c < channels; c++)
        biases[c] = (double)n->biases[c] / n->out[c];
    /* A loop of its own: GCC 12 for aarch64 ends with an internal error where it vectorizes both as one. */
    for (uint64_t c = 0; c < channels; c++) {
        range.min = fmin(range.min, biases[c]);
        range.max = fmax(range.max, biases[c]);
    }
    for (uint64_t c = 0; c < channels; c++) {
        const double scale = scale_of(q, n->layer->bias, range);
        const double error = rint(biases[c] / scale) * scale - biases[c];
        result[c] += error * error;
    }
}

void quant_noise_add(struct quantizer *q, const struct quant_noise *n, double *result)
{
    struct arena_mark mark = arena_mark(q->scratch);
    const uint64_t channels = quant_scalable_channels(n->layer);
    struct rounding r = {n, arena_array(q->scratch, struct quant_range, channels),
                         arena_array(q->scratch, double, channels), result};
    find_scales(q, &r);
    each_weight(&r, add_errors);
    add_bias(q, n, result);
    arena_rewind(q->scratch, mark);
}
