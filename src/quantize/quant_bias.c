/* SPDX-License-Identifier: Apache-2.0 */
/* Biases with the product of the scales of what their layers multiply. */
#include <math.h>

#include "encoding/encoding_range.h"
#include "op/channels.h"
#include "op/op.h"
#include "quantize/quantizer.h"

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

odlc_status quant_multiply_scales(struct quantizer *q)
{
    const double most = ldexp(1, 31) - 1;
    for (size_t i = 0; i < q->g->order.count; i++) {
        const struct node *n = graph_node(q->g, q->g->order.data[i]);
        if (!has_product(q, q->g->order.data[i]))
            continue;
        const struct quant *weights = q->items[n->inputs[1]].quant;
        const uint32_t width = quant_read_width(q, q->g->order.data[i], 0);
        const double scale = quant_of_width(q, n->inputs[0], width)->encodings[0].scale;
        struct encoding *encodings = arena_array(q->arena, struct encoding, weights->count);
        for (uint32_t c = 0; c < weights->count; c++) {
            const double product = (float)(scale * weights->encodings[c].scale);
            encodings[c] = encoding_around_zero(32, -most * product, most * product);
            encodings[c] = (struct encoding){
                .bitwidth = 32, .scale = product, .min = (float)encodings[c].min, .max = (float)encodings[c].max};
        }
        struct quant *quant = arena_new(q->arena, struct quant);
        *quant = (struct quant){.per_axis = weights->per_axis, .count = weights->count, .encodings = encodings};
        TRY(quant_encode_again(q, n->inputs[2], quant));
    }
    return ODLC_OK;
}
