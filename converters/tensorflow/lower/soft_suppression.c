/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/soft_suppression.h"

#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/moving.h"

enum { MOST_PICKS = 256 }; /* ten ops for each of them */

/* ---- how much boxes overlap ---- */

/* The lower and the upper end of the boxes along y or x, and how long they are: [boxes, 1] and [1, boxes]. */
struct side {
    tensor_id low[2], high[2];
};

static struct side side_of(struct emit *s, tensor_id boxes, int64_t first, int64_t count)
{
    const struct shape as[] = {SHAPE(count, 1), SHAPE(1, count)};
    const tensor_id one = emit_element(s, boxes, 1, first), other = emit_element(s, boxes, 1, first + 2);
    const tensor_id low = emit_binary(s, OP_ElementWiseMinimum, one, other);
    const tensor_id high = emit_binary(s, OP_ElementWiseMaximum, one, other);
    struct side side;
    for (uint32_t i = 0; i < 2; i++) {
        side.low[i] = emit_reshape(s, low, &as[i]);
        side.high[i] = emit_reshape(s, high, &as[i]);
    }
    return side;
}

static tensor_id shared_length(struct emit *s, const struct side *side)
{
    tensor_id high = emit_binary(s, OP_ElementWiseMinimum, side->high[0], side->high[1]);
    tensor_id low = emit_binary(s, OP_ElementWiseMaximum, side->low[0], side->low[1]);
    tensor_id length = emit_binary(s, OP_ElementWiseSubtract, high, low);
    return emit_binary(s, OP_ElementWiseMaximum, length, emit_scalar(s, length, 0));
}

static tensor_id area(struct emit *s, const struct side *y, const struct side *x, uint32_t i)
{
    tensor_id height = emit_binary(s, OP_ElementWiseSubtract, y->high[i], y->low[i]);
    return emit_binary(s, OP_ElementWiseMultiply, height,
                       emit_binary(s, OP_ElementWiseSubtract, x->high[i], x->low[i]));
}

/* Intersection over union of each two boxes, [boxes, boxes]; boxes without an area overlap none. */
static tensor_id overlaps(struct emit *s, tensor_id boxes, int64_t count)
{
    const struct side y = side_of(s, boxes, 0, count), x = side_of(s, boxes, 1, count);
    tensor_id height = shared_length(s, &y), width = shared_length(s, &x);
    tensor_id shared = emit_binary(s, OP_ElementWiseMultiply, height, width);
    tensor_id one = area(s, &y, &x, 0), other = area(s, &y, &x, 1), zero = emit_scalar(s, shared, 0);
    tensor_id either = emit_binary(s, OP_ElementWiseAdd, one, other);
    either = emit_binary(s, OP_ElementWiseSubtract, either, shared);
    tensor_id left = emit_binary(s, OP_ElementWiseGreater, one, zero);
    tensor_id right = emit_binary(s, OP_ElementWiseGreater, other, zero);
    tensor_id both = emit_binary(s, OP_ElementWiseAnd, left, right);
    return emit_select(s, both, emit_binary(s, OP_ElementWiseDivide, shared, either), zero);
}

/* ---- picks ---- */

/* What a pick leaves of the scores of the others: exp(-overlap² / (2 sigma)). */
static tensor_id rests(struct emit *s, const struct soft_suppression *n, int64_t count)
{
    tensor_id overlap = overlaps(s, n->boxes, count);
    tensor_id scaled = emit_binary(s, OP_ElementWiseMultiply, overlap, emit_scalar(s, overlap, -0.5 / n->sigma));
    return emit_unary(s, OP_ElementWiseExp, emit_binary(s, OP_ElementWiseMultiply, scaled, overlap));
}

struct picking {
    tensor_id scores, out; /* of all boxes as they are now; whether a box is out, picked or below the threshold */
    tensor_id rest, numbers, threshold;
};

static tensor_id first_of_best(struct emit *s, tensor_id scores)
{
    tensor_id place = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    build_op(s->l->b, OP_Argmax, step_name(s->l, "Argmax"));
    build_in(s->l->b, scores);
    build_int(s->l->b, PARAM_axis, 0);
    build_int(s->l->b, PARAM_keep_dims, true);
    s->status = build_end(s->l->b, step_name(s->l, "Argmax"), &place);
    return place;
}

/* Box, score and validity of the next pick, [1] each; the scores of the others fall. */
static void pick(struct emit *s, struct picking *p, tensor_id found[3])
{
    tensor_id best = emit_select(s, p->out, emit_scalar(s, p->scores, -(double)INFINITY), p->scores);
    found[0] = first_of_best(s, best);
    found[1] = emit_gather(s, best, found[0], 0);
    found[2] = emit_binary(s, OP_ElementWiseGreater, found[1], p->threshold);
    tensor_id picked = emit_binary(s, OP_ElementWiseEqual, p->numbers, found[0]);
    p->out = emit_binary(s, OP_ElementWiseOr, p->out, picked);
    if (s->status != ODLC_OK)
        return;
    const struct shape all = build_type(s->l->b, p->scores)->shape;
    tensor_id left = emit_reshape(s, emit_gather(s, p->rest, found[0], 0), &all);
    p->scores = emit_binary(s, OP_ElementWiseMultiply, p->scores, left);
}

static odlc_status start(struct emit *s, const struct soft_suppression *n, int64_t count, struct picking *p)
{
    p->numbers = emit_positions(s, count);
    p->threshold = emit_scalar(s, n->scores, n->score_threshold);
    tensor_id above = emit_binary(s, OP_ElementWiseGreater, n->scores, p->threshold);
    p->out = emit_unary(s, OP_ElementWiseNot, above);
    p->scores = n->scores;
    p->rest = rests(s, n, count);
    return s->status;
}

odlc_status emit_soft_suppression(struct emit *s, const struct soft_suppression *n, struct soft_found *out)
{
    static const int64_t whole = 0;
    const int64_t count = build_type(s->l->b, n->scores)->shape.dims[0], picks = min_i64(n->most, count);
    struct picking p;
    if (n->score_threshold < 0) /* TensorFlow raises them when their turn comes, and the order depends on that */
        return lower_unsupported(s->l, "score_threshold",
                                 "a score_threshold of 0 picks boxes whose scores are above it",
                                 "score_threshold is below 0, and soft suppression raises scores below 0");
    if (picks > MOST_PICKS)
        return lower_unsupported(s->l, "soft_nms_sigma", "a smaller max_output_size",
                                 "%lld boxes of a soft suppression are more than %d", (long long)picks, MOST_PICKS);
    tensor_id *parts[3], found[3];
    for (uint32_t k = 0; k < 3; k++)
        parts[k] = arena_array(s->l->arena, tensor_id, (size_t)picks);
    TRY(start(s, n, count, &p));
    tensor_id last[] = {emit_reshape(s, emit_scalar(s, p.numbers, 0), &SHAPE(1)),
                        emit_reshape(s, emit_scalar(s, n->scores, 0), &SHAPE(1))};
    for (int64_t i = 0; i < picks; i++) {
        pick(s, &p, found);
        for (uint32_t k = 0; k < 2; k++)
            parts[k][i] = last[k] = emit_select(s, found[2], found[k], last[k]);
        parts[2][i] = found[2];
    }
    out->boxes = emit_concat(s, parts[0], (uint32_t)picks, 0);
    out->scores = emit_concat(s, parts[1], (uint32_t)picks, 0);
    out->is_valid = emit_concat(s, parts[2], (uint32_t)picks, 0);
    tensor_id ones = emit_cast(s, out->is_valid, DT_INT32);
    out->count = emit_cast(s, emit_reduce(s, OP_ReduceSum, ones, &whole, 1, true), DT_UINT32);
    return s->status;
}
