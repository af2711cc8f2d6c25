/* SPDX-License-Identifier: Apache-2.0 */
/* High biases: what a batch normalization says to be in nearly all values of a channel goes from one bias to the next.
 */
#include <math.h>

#include "op/op.h"
#include "op/params.h"
#include "quantize/quant_equalize.h"

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

/* What each channel of the result has more, when channel `channel` of the input has `shift` less. */
static void add_shift(const struct scalable *to, const float *weights, float *biases, uint64_t channel, double shift)
{
    const struct linear_layer *l = &to->layer;
    const uint64_t depth = quant_scalable_depth(to), group = channel / depth;
    for (uint64_t column = 0; column < l->width; column++) {
        const uint64_t out = quant_layer_channel(l, group, column);
        double sum = 0;
        for (uint64_t k = channel % depth; k < l->depth; k += depth)
            sum += (double)weights[quant_layer_weight(l, out, k)];
        biases[out] = (float)((double)biases[out] + sum * shift);
    }
}

/* A Relu passes on what is in a value less three deviations of its channel, but for one value in 700, which is less
 * than integers of 16 bits lose; without a Relu, the mean goes. */
void quant_absorb_bias(struct quant_equalizing *e, node_id id)
{
    struct quantizer *q = e->q;
    struct scalable from, to, same;
    if (!quant_scalable_find(q, id, &from) || from.bias == NO_TENSOR ||
        !quant_scalable_next(q, &from, lets_shifts, &to) || to.bias == NO_TENSOR || has_padding(&to))
        return;
    const bool is_linear = quant_scalable_next(q, &from, lets_shifts_but_no_relu, &same);
    if (!is_linear && q->items[to.layer.input].bits > 8)
        return;
    double *beta = quant_equalizing_note(e, &from, PARAM_beta);
    const double *gamma = quant_equalizing_note(e, &from, PARAM_gamma);
    if (!beta || !gamma)
        return;
    const float *weights = quant_equalizing_copy(e, to.layer.weights);
    float *before = quant_equalizing_copy(e, from.bias), *behind = quant_equalizing_copy(e, to.bias);
    for (uint64_t i = 0; i < quant_scalable_channels(&from); i++) {
        const double shift = is_linear ? beta[i] : fmax(0, beta[i] - 3 * fabs(gamma[i]));
        before[i] = (float)((double)before[i] - shift);
        beta[i] -= shift;
        add_shift(&to, weights, behind, i, shift);
    }
    quant_equalizing_set_note(e, &from, PARAM_beta, beta);
}
