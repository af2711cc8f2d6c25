/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings that rules fix, whatever values there are: ranges of functions, scales of biases, steps of weights. */
#include <math.h>

#include "encoding/encoding_range.h"
#include "ir/quant.h"
#include "op/channels.h"
#include "op/op.h"
#include "quantize/quantizer.h"

/* ---- ranges of functions ---- */

void quant_fix_ranges(struct quantizer *q)
{
    for (size_t i = 0; i < q->g->order.count; i++) {
        const struct node *n = graph_node(q->g, q->g->order.data[i]);
        const bool is_tanh = node_is(n, OP_Tanh);
        if (!is_tanh && !node_is(n, OP_Sigmoid) && !node_is(n, OP_Softmax))
            continue;
        struct quant_item *item = &q->items[n->outputs[0]];
        if (item->role != ROLE_ACTIVATION || item->quant)
            continue;
        const double steps = ldexp(1, item->bits - is_tanh);
        struct encoding *encoding = arena_new(q->arena, struct encoding);
        struct quant *quant = arena_new(q->arena, struct quant);
        *encoding = encoding_of_scale(item->bits, 1 / steps, is_tanh ? (int32_t)-steps : 0);
        *quant = (struct quant){.count = 1, .encodings = encoding};
        item->quant = quant;
    }
}

/* ---- constants once more ---- */

/* The integers of a constant by other encodings, which are signed where their offset is 0. */
static void encode_again(struct quantizer *q, tensor_id id, const struct quant *quant, double low, double high)
{
    struct quant_item *item = &q->items[id];
    const struct tensor *t = graph_tensor(q->g, id);
    const struct shape *shape = &t->type->shape;
    const uint64_t count = shape_count(shape);
    const enum dtype type = quant_type(quant);
    const uint64_t run = quant->per_axis ? shape_count_range(shape, quant->axis + 1, shape->rank) : count;
    struct arena_mark mark = arena_mark(q->scratch);
    const float *values = view_load(q->scratch, item->floats, DT_FLOAT32);
    double *integers = arena_array(q->scratch, double, count);
    for (uint64_t i = 0; i < count; i++) {
        const struct encoding *e = &quant->encodings[i / run % quant->count];
        integers[i] = fmin(fmax(rint(values[i] / e->scale) - e->offset, low), high);
    }
    uint8_t *stored = arena_alloc(q->arena, count * dtype_size(type));
    convert_elements(stored, type, integers, DT_FLOAT64, count);
    arena_rewind(q->scratch, mark);
    item->quant = quant;
    item->integers = stored;
    item->stored = type;
    item->axis = quant->per_axis ? quant->axis : NO_AXIS;
}

/* ---- biases ---- */

static bool has_product(struct quantizer *q, node_id at)
{
    const struct node *n = graph_node(q->g, at);
    if (n->op->layer == NO_LAYER || n->n_inputs < 3 || n->inputs[2] == NO_TENSOR || q->floats[at])
        return false;
    const struct quant_item *weights = &q->items[n->inputs[1]], *bias = &q->items[n->inputs[2]];
    const struct shape *shape = &graph_tensor(q->g, n->inputs[2])->type->shape;
    return quant_encoded(q, n->inputs[0]) && weights->integers && bias->integers && bias->role == ROLE_BIAS &&
           !bias->given && q->uses.count[n->inputs[2]] == 1 && shape->rank == 1 &&
           (!weights->quant->per_axis || weights->quant->count == (uint64_t)shape->dims[0]);
}

void quant_multiply_scales(struct quantizer *q)
{
    const double most = ldexp(1, 31) - 1;
    for (size_t i = 0; i < q->g->order.count; i++) {
        const struct node *n = graph_node(q->g, q->g->order.data[i]);
        if (!has_product(q, q->g->order.data[i]))
            continue;
        const struct quant *weights = q->items[n->inputs[1]].quant;
        const double scale = quant_encoded(q, n->inputs[0])->encodings[0].scale;
        struct encoding *encodings = arena_array(q->arena, struct encoding, weights->count);
        for (uint32_t c = 0; c < weights->count; c++) {
            const double product = (float)(scale * weights->encodings[c].scale);
            encodings[c] = encoding_around_zero(32, -most * product, most * product);
            encodings[c] = (struct encoding){
                .bitwidth = 32, .scale = product, .min = (float)encodings[c].min, .max = (float)encodings[c].max};
        }
        struct quant *quant = arena_new(q->arena, struct quant);
        *quant = (struct quant){.per_axis = weights->per_axis, .count = weights->count, .encodings = encodings};
        encode_again(q, n->inputs[2], quant, -most, most);
    }
}

/* ---- steps of weights ---- */

/* Whether the integers from `low` to `high` are those of the width, or nearly. */
static bool steps_fit(const struct quantize_options *o, uint32_t bits)
{
    const double half = ldexp(1, (int)bits - 1);
    return o->least_step >= -half && o->greatest_step < half && (double)o->greatest_step - o->least_step > half;
}

static void restrict_constant(struct quantizer *q, tensor_id id)
{
    const struct quantize_options *o = q->options;
    const struct quant *before = q->items[id].quant;
    const bool is_signed = dtype_info(quant_type(before))->cls == CLASS_SFXP;
    const int32_t offset = before->encodings[0].offset;
    struct encoding *encodings = arena_array(q->arena, struct encoding, before->count);
    for (uint32_t i = 0; i < before->count; i++) {
        const struct encoding *e = &before->encodings[i];
        const double magnitude = e->scale * (ldexp(1, (int)e->bitwidth - 1) - 1);
        const double scale = (float)(2 * magnitude / ((double)o->greatest_step - o->least_step));
        encodings[i] = (struct encoding){.bitwidth = e->bitwidth,
                                         .scale = scale,
                                         .offset = offset,
                                         .min = (float)(o->least_step * scale),
                                         .max = (float)(o->greatest_step * scale),
                                         .symmetric = e->symmetric};
    }
    struct quant *quant = arena_memdup(q->arena, before, sizeof *before);
    quant->encodings = encodings;
    const double shift = is_signed ? 0 : -offset;
    encode_again(q, id, quant, o->least_step + shift, o->greatest_step + shift);
    struct view view = *graph_tensor(q->g, id)->view;
    double *scale = arena_array(q->arena, double, quant->count);
    for (uint32_t i = 0; i < quant->count; i++)
        scale[i] = encodings[i].scale;
    view.bytes = q->items[id].integers;
    view.scale = scale;
    q->items[id].reals = arena_memdup(q->arena, &view, sizeof view);
    graph_set_view(q->g, id, &view);
}

/* The middle integer, or 0, is zero. */
static bool is_balanced(const struct quant *quant)
{
    const struct encoding *e = &quant->encodings[0];
    return quant_type(quant) != DT_NONE &&
           (e->offset == 0 ? e->min < 0 : e->offset == -(INT32_C(1) << (e->bitwidth - 1)));
}

void quant_restrict_steps(struct quantizer *q)
{
    size_t left = 0;
    for (tensor_id id = 0; id < q->g->tensors.count; id++) {
        const struct quant_item *item = &q->items[id];
        if (item->role != ROLE_WEIGHTS || !item->integers || item->given)
            continue;
        if (is_balanced(item->quant) && steps_fit(q->options, item->bits))
            restrict_constant(q, id);
        else
            left++;
    }
    if (left)
        diag_warn(q->diags, AT(.file = q->path), "quantize-steps",
                  "--restrict_quantization_steps has no effect on %zu weights: they are not symmetric, or the steps "
                  "are not those of their bits",
                  left);
}
