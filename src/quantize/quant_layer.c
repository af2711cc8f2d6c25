/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_layer.h"

#include "op/channels.h"
#include "op/op.h"

/* ---- what is a layer ---- */

static bool read_window(const struct quantizer *q, const struct node *n, struct linear_layer *l)
{
    const struct shape *x = &node_input(q->g, n, 0)->type->shape, *w = &node_input(q->g, n, 1)->type->shape;
    conv_read_fn *read = node_is(n, OP_DepthWiseConv2d) ? conv_read_depthwise : conv_read;
    if (read(&l->conv, n, x, w, NULL) || window_take(&l->conv.window, &node_output(q->g, n, 0)->type->shape))
        return false;
    const struct window *window = &l->conv.window;
    l->has_window = true;
    l->channel_axis = w->rank - 1;
    l->groups = (uint64_t)l->conv.group;
    l->width = (uint64_t)l->conv.out_depth;
    l->depth = (uint64_t)(window_taps(window) * l->conv.in_depth);
    l->depth_stride = l->groups * l->width;
    l->width_stride = 1;
    l->rows = (uint64_t)(window->batch * window->axis[0].out * window->axis[1].out * window->axis[2].out);
    return true;
}

/* A matrix with channels along the first or the last of its two axes; axes of 1 may stand before these. */
static bool read_matrix(const struct quantizer *q, const struct node *n, struct linear_layer *l)
{
    const struct shape *x = &node_input(q->g, n, 0)->type->shape, *w = &node_input(q->g, n, 1)->type->shape;
    uint32_t axis;
    if (w->rank < 2 || shape_count_range(w, 0, w->rank - 2) != 1 || !node_channel_axis(q->g, n, &axis) ||
        (node_is(n, OP_MatMul) && node_int(n, PARAM_transpose_in0, 0)))
        return false;
    const uint64_t rows = (uint64_t)w->dims[w->rank - 2], columns = (uint64_t)w->dims[w->rank - 1];
    const bool is_first = axis == w->rank - 2;
    l->channel_axis = axis;
    l->groups = 1;
    l->width = is_first ? rows : columns;
    l->depth = is_first ? columns : rows;
    l->width_stride = is_first ? columns : 1;
    l->depth_stride = is_first ? 1 : columns;
    l->rows = l->depth ? shape_count(x) / l->depth : 0;
    return true;
}

bool quant_layer_find(const struct quantizer *q, const struct node *n, struct linear_layer *out)
{
    const bool has_window = node_is(n, OP_Conv2d) || node_is(n, OP_Conv3d) || node_is(n, OP_DepthWiseConv2d);
    if ((!has_window && !node_is(n, OP_FullyConnected) && !node_is(n, OP_MatMul)) || n->n_inputs < 2)
        return false;
    const tensor_id weights = n->inputs[1];
    const struct tensor *x = node_input(q->g, n, 0), *w = node_input(q->g, n, 1);
    if (!x || !w || x->kind == TENSOR_STATIC || w->kind != TENSOR_STATIC || q->items[weights].role != ROLE_WEIGHTS ||
        q->uses.count[weights] != 1)
        return false;
    *out = (struct linear_layer){.node = n, .input = n->inputs[0], .weights = weights};
    return (has_window ? read_window(q, n, out) : read_matrix(q, n, out)) && out->depth && out->width && out->rows;
}

bool quant_layer_read(const struct quantizer *q, const struct node *n, struct linear_layer *out)
{
    return quant_layer_find(q, n, out) && q->items[out->weights].integers;
}

/* ---- rows ---- */

/* The first input channel under tap `tap` where the result's element `row` is computed; NULL in the padding. */
static const float *tap_of(const struct window *w, const float *x, uint64_t row, int64_t tap)
{
    int64_t at[WINDOW_AXES], step[WINDOW_AXES];
    for (int i = WINDOW_AXES - 1; i >= 0; i--) {
        at[i] = (int64_t)(row % (uint64_t)w->axis[i].out);
        row /= (uint64_t)w->axis[i].out;
        step[i] = tap % w->axis[i].filter;
        tap /= w->axis[i].filter;
    }
    int64_t index = (int64_t)row;
    for (int i = 0; i < WINDOW_AXES; i++) {
        const struct window_axis *a = &w->axis[i];
        const int64_t p = at[i] * a->stride + step[i] * a->dilation - a->pad_before;
        if (p < 0 || p >= a->in)
            return NULL;
        index = index * a->in + p;
    }
    return x + index * w->channels;
}

void quant_layer_row(const struct linear_layer *l, const float *x, uint64_t row, uint64_t group, uint64_t first,
                     uint64_t count, double *out)
{
    if (!l->has_window) {
        for (uint64_t k = 0; k < count; k++)
            out[k] = x[row * l->depth + first + k];
        return;
    }
    const uint64_t depth = (uint64_t)l->conv.in_depth;
    const float *from = NULL;
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t at = first + k;
        if (k == 0 || at % depth == 0)
            from = tap_of(&l->conv.window, x, row, (int64_t)(at / depth));
        out[k] = from ? (double)from[group * depth + at % depth] : 0;
    }
}
