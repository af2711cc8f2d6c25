/* SPDX-License-Identifier: Apache-2.0 */
/* Masks: numbers like -1e4, the least float or an infinity, which a sum or selection puts where Softmax is to give
 * nothing. A range that has them leaves no integers for the scores beside them. The range is that of the scores, and
 * so much below as makes Softmax give nothing; what is masked is cut off there. */
#include <math.h>

#include "op/op.h"
#include "op/params.h"
#include "quantize/quantizer.h"

/* Above the masks in use, and below all scores. */
static const float greatest_mask = -9000;

/* Whether the node reads the tensor as scores: Softmax, or an op that moves them on to one. */
static bool reads_scores(const struct quantizer *q, const struct node *n, tensor_id id)
{
    if (node_is(n, OP_Softmax))
        return node_float(n, PARAM_beta, 1) == 1;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] == NO_TENSOR || q->items[n->outputs[i]].as != q->items[id].as)
            return false;
    return quant_is_mover(n);
}

static bool is_scores(const struct quantizer *q, tensor_id id)
{
    const uint32_t readers = q->uses.first[id + 1] - q->uses.first[id];
    for (uint32_t i = 0; i < readers; i++)
        if (!reads_scores(q, graph_node(q->g, q->uses.nodes[q->uses.first[id] + i]), id))
            return false;
    return q->uses.count[id] == readers;
}

static uint64_t row_of(const struct graph *g, const struct node *softmax)
{
    const struct shape *shape = &node_input(g, softmax, 0)->type->shape;
    const int64_t axis = node_int(softmax, PARAM_axis, -1);
    return shape->rank ? (uint64_t)shape->dims[axis < 0 ? axis + shape->rank : axis] : 1;
}

static bool puts_masks(const struct node *n)
{
    return n &&
           (node_is(n, OP_ElementWiseAdd) || node_is(n, OP_ElementWiseSubtract) || node_is(n, OP_ElementWiseSelect));
}

void quant_find_masked(struct quantizer *q)
{
    const struct graph *g = q->g;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (!node_is(n, OP_Softmax) || q->items[n->inputs[0]].role != ROLE_ACTIVATION)
            continue;
        const tensor_id scores = q->items[n->inputs[0]].as;
        struct quant_item *item = &q->items[scores];
        const struct node *by = graph_producer(g, scores);
        const uint64_t row = row_of(g, n);
        if (puts_masks(by)) {
            item->masked_by = by;
            item->row = row > item->row ? row : item->row;
        }
    }
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (q->items[id].role != ROLE_NONE && !is_scores(q, id))
            q->items[q->items[id].as].masked_by = NULL;
}

const float *quant_scores(const struct quantizer *q, const struct quant_item *item, const float *values,
                          uint64_t *count)
{
    if (!item->masked_by)
        return values;
    float *scores = arena_array(q->scratch, float, *count);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < *count; i++)
        if (!(values[i] <= greatest_mask))
            scores[kept++] = values[i];
    *count = kept;
    return scores;
}

/* Whether the operand of that node puts masks: below all scores, or, where it is subtracted, as far above zero. */
static bool is_mask(const struct quantizer *q, const struct node *by, uint32_t input)
{
    if (by->inputs[input] == NO_TENSOR)
        return false;
    const struct quant_item *item = &q->items[q->items[by->inputs[input]].as];
    const struct encoding *e = item->quant ? &item->quant->encodings[0] : NULL;
    const bool is_subtracted = node_is(by, OP_ElementWiseSubtract) && input == 1;
    const double least = is_subtracted ? -item->max : item->min;
    const double represented = !e ? 0 : is_subtracted ? -e->max : e->min;
    return (item->is_seen && least <= greatest_mask) || represented <= greatest_mask;
}

double quant_mask_margin(const struct quantizer *q, const struct quant_item *item)
{
    if (!item->masked_by)
        return 0;
    for (uint32_t i = 0; i < item->masked_by->n_inputs; i++)
        if (is_mask(q, item->masked_by, i))
            return log((double)item->row) + (item->bits + 1) * log(2);
    return 0;
}
