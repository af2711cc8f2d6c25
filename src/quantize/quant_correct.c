/* SPDX-License-Identifier: Apache-2.0 */
/* Bias correction: what quantized weights add to the mean of a layer's result, the bias takes away. */
#include "quantize/quant_round.h"

static void add_inputs(struct quantizer *q, const struct linear_layer *l, const float *x, double *inputs)
{
    struct arena_mark mark = arena_mark(q->scratch);
    double *values = arena_array(q->scratch, double, l->depth);
    for (uint64_t group = 0; group < l->groups; group++, inputs += l->depth)
        for (uint64_t row = 0; row < l->rows; row++) {
            quant_layer_row(l, x, row, group, 0, l->depth, values);
            for (uint64_t k = 0; k < l->depth; k++)
                inputs[k] += values[k];
        }
    arena_rewind(q->scratch, mark);
}

void quant_inputs_add(struct quantizer *q, struct quant_gathering *g, const float *fixed, const float *floats)
{
    add_inputs(q, g->layer, fixed, g->fixed_inputs);
    add_inputs(q, g->layer, floats, g->float_inputs);
    g->n_inputs += (double)g->layer->rows;
}

odlc_status quant_correct(struct quantizer *q, const struct quant_gathering *g)
{
    const struct linear_layer *l = g->layer;
    const tensor_id bias = l->node->inputs[2];
    const uint64_t channels = l->groups * l->width;
    float *after = arena_array(q->arena, float, channels);
    struct arena_mark mark = arena_mark(q->scratch);
    const float *floats = view_load(q->scratch, q->items[l->weights].floats, DT_FLOAT32);
    const float *reals = view_load(q->scratch, graph_tensor(q->g, l->weights)->view, DT_FLOAT32);
    const float *before = view_load(q->scratch, q->items[bias].floats, DT_FLOAT32);
    for (uint64_t channel = 0; channel < channels; channel++) {
        const uint64_t first = channel / l->width * l->depth;
        double shift = 0;
        for (uint64_t k = 0; k < l->depth; k++) {
            const uint64_t at = quant_layer_weight(l, channel, k);
            shift += (double)reals[at] * g->fixed_inputs[first + k] - (double)floats[at] * g->float_inputs[first + k];
        }
        after[channel] = (float)((double)before[channel] - shift / g->n_inputs);
    }
    arena_rewind(q->scratch, mark);
    struct view view = view_of(after, DT_FLOAT32, &graph_tensor(q->g, bias)->type->shape);
    graph_set_view(q->g, bias, &view);
    return quant_encode_constant(q, bias);
}
