/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings that rules fix, whatever values there are: ranges of functions, and steps of weights. */
#include <math.h>

#include "encoding/encoding_range.h"
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

/* ---- steps of weights ---- */

/* Whether the integers from `low` to `high` are those of the width, or nearly. */
static bool steps_fit(const struct quantize_options *o, uint32_t bits)
{
    const double half = ldexp(1, (int)bits - 1);
    return o->least_step >= -half && o->greatest_step < half && (double)o->greatest_step - o->least_step > half;
}

/* The middle integer, or 0, is zero. */
static bool is_balanced(const struct quant *quant)
{
    const struct encoding *e = &quant->encodings[0];
    return quant_type(quant) != DT_NONE &&
           (e->offset == 0 ? e->min < 0 : e->offset == -(INT32_C(1) << (e->bitwidth - 1)));
}

void quant_restrict_steps(struct quantizer *q, struct quant_item *item)
{
    const struct quantize_options *o = q->options;
    const struct quant *before = item->quant;
    if (!is_balanced(before) || !steps_fit(o, item->bits)) {
        q->unrestricted++;
        return;
    }
    struct encoding *encodings = arena_array(q->arena, struct encoding, before->count);
    for (uint32_t i = 0; i < before->count; i++) {
        const struct encoding *e = &before->encodings[i];
        const double magnitude = e->scale * (ldexp(1, (int)e->bitwidth - 1) - 1);
        const double scale = (float)(2 * magnitude / ((double)o->greatest_step - o->least_step));
        encodings[i] = (struct encoding){.bitwidth = e->bitwidth,
                                         .scale = scale,
                                         .offset = e->offset,
                                         .min = (float)(o->least_step * scale),
                                         .max = (float)(o->greatest_step * scale),
                                         .symmetric = e->symmetric};
    }
    struct quant *quant = arena_memdup(q->arena, before, sizeof *before);
    quant->encodings = encodings;
    item->quant = quant;
    item->is_restricted = true;
}
