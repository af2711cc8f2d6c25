/* SPDX-License-Identifier: Apache-2.0 */
/* What fixed-point activations do to the means of results, before their ranges are observed: a float network whose
 * tensors are rounded to the encodings that ranges of the network of the model give them. Biases that are corrected
 * bring the network's means back to that one's, and with these the ranges. */
#include "quantize/quant_imitate.h"

#include <math.h>

static const struct encoding *given_encoding(const struct quant_item *item)
{
    return item->quant && !item->quant->per_axis ? &item->quant->encodings[0] : NULL;
}

const struct encoding **quant_imitated(struct quantizer *q)
{
    const struct graph *g = q->g;
    const struct encoding **own = arena_array(q->arena, const struct encoding *, g->tensors.count);
    const struct encoding **all = arena_array(q->arena, const struct encoding *, g->tensors.count);
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct quant_item *item = &q->items[id];
        own[id] = given_encoding(item);
        if (!item->is_seen)
            continue;
        struct encoding *e = arena_new(q->arena, struct encoding);
        *e = quant_encoding(q, item, (struct quant_range){item->min, item->max}, item->histogram);
        own[id] = e;
        item->is_seen = false;
        item->histogram = NULL;
    }
    for (tensor_id id = 0; id < g->tensors.count; id++)
        all[id] = q->items[id].role == ROLE_ACTIVATION ? own[q->items[id].as] : NULL;
    return all;
}

void quant_imitate(const struct encoding *e, float *values, uint64_t count)
{
    const double low = rint(e->min / e->scale), high = rint(e->max / e->scale), scale = e->scale;
    for (uint64_t i = 0; i < count; i++) {
        const double steps = (double)(float)((double)values[i] / scale);
        const double least = steps < low ? low : steps;
        values[i] = (float)(quant_nearest(least > high ? high : least) * scale);
    }
}
