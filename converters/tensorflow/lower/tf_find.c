/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators that find something: NonMaxSuppression and its later forms, Where of one operand, InTopK. */
#include <float.h>
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/find.h"
#include "converters/lowering/pads.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/soft_suppression.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* ---- NonMaxSuppression ---- */

/* Later forms have inputs in place of the attribute, and more of them. Scores must be above a threshold always: it is
 * the lowest number where none is given, and for one of -infinity. */
static odlc_status read_thresholds(const struct lower *l, struct suppression *s, double *sigma)
{
    *sigma = 0;
    if (lower_in(l, 3) == NO_TENSOR)
        TRY(lower_attr_float(l, "iou_threshold", 0.5, &s->iou_threshold));
    else
        TRY(lower_one_float(l, 3, "iou_threshold", &s->iou_threshold));
    if (lower_in(l, 4) != NO_TENSOR)
        TRY(lower_one_float(l, 4, "score_threshold", &s->score_threshold));
    s->score_threshold = s->score_threshold < -(double)FLT_MAX ? -(double)FLT_MAX : s->score_threshold;
    if (lower_in(l, 5) != NO_TENSOR)
        TRY(lower_one_float(l, 5, "soft_nms_sigma", sigma));
    if (!(*sigma >= 0))
        return lower_invalid(l, "soft_nms_sigma", NULL, "soft_nms_sigma is %g", *sigma);
    return ODLC_OK;
}

/* Boxes as one batch element, scores as its one class. */
static odlc_status read_boxes(struct lower *l, struct suppression *s, double *sigma)
{
    TRY(lower_need(l, 0, "boxes", &s->boxes));
    TRY(lower_need(l, 1, "scores", &s->scores));
    const struct shape boxes = build_type(l->b, s->boxes)->shape, scores = build_type(l->b, s->scores)->shape;
    if (boxes.rank != 2 || scores.rank != 1 || boxes.dims[0] != scores.dims[0] || boxes.dims[1] != 4)
        return lower_invalid(l, NULL, NULL, "boxes %s and scores %s do not match", shape_text(l->diags->arena, &boxes),
                             shape_text(l->diags->arena, &scores));
    TRY(lower_one_int(l, 2, "max_output_size", &s->most));
    if (s->most < 0 || s->most > INT32_MAX)
        return lower_invalid(l, "max_output_size", NULL, "max_output_size is %lld", (long long)s->most);
    TRY(read_thresholds(l, s, sigma));
    const struct shape batch = SHAPE(1, boxes.dims[0], 4), class = SHAPE(1, 1, boxes.dims[0]);
    TRY(build_reshape(l->b, s->boxes, &batch, step_name(l, "boxes"), &s->boxes));
    return build_reshape(l->b, s->scores, &class, step_name(l, "scores"), &s->scores);
}

/* What pad_to_max_output_size asks for: zeros behind the rows that were found, up to that size. The op's own filler is
 * not what TensorFlow says. */
static tensor_id padded(struct emit *s, const struct found *found, tensor_id x, int64_t size)
{
    int64_t room = s->status == ODLC_OK ? build_type(s->l->b, x)->shape.dims[0] : 0;
    struct shape list = SHAPE(room);
    struct pads p = {.mode = MODE_CONSTANT, .after = {size - room}};
    if (!found->exact) {
        int64_t *rows = arena_array(s->l->arena, int64_t, (size_t)room);
        for (int64_t i = 0; i < room; i++)
            rows[i] = i;
        tensor_id row = build_const_ints(s->l->b, step_name(s->l, "row"), DT_INT32, &list, rows);
        tensor_id valid = emit_binary(s, OP_ElementWiseLess, row, emit_cast(s, found->count, DT_INT32));
        x = emit_select(s, valid, x, emit_scalar(s, x, 0));
        if (s->status == ODLC_OK)
            build_set_filler(s->l->b, x, (struct filler){.axes = 0});
    }
    if (s->status == ODLC_OK)
        s->status = lower_padded(s->l, x, &p, step_name(s->l, "padded"), &x);
    return x;
}

static odlc_status give_count(struct emit *s, const struct found *found, uint32_t i)
{
    struct shape scalar = {.rank = 0};
    if (found->exact) {
        lower_give_ints(s->l, i, DT_INT32, &scalar, build_type(s->l->b, found->rows)->shape.dims);
        return ODLC_OK;
    }
    return emit_give(s, i, emit_reshape(s, emit_cast(s, found->count, DT_INT32), &scalar));
}

/* The same of boxes whose scores fall; those are what the node gives. */
static odlc_status give_soft(struct lower *l, const struct suppression *hard, double sigma, bool pads)
{
    struct emit s = {.l = l};
    struct soft_suppression n = {l->in[0], l->in[1], hard->most, hard->score_threshold, sigma};
    struct soft_found best;
    TRY(emit_soft_suppression(&s, &n, &best));
    const struct found found = {best.boxes, best.count, build_is_const(l->b, best.count)};
    if (pads) {
        const struct found all = {.exact = false, .count = best.count};
        best.boxes = padded(&s, &all, best.boxes, n.most);
        best.scores = padded(&s, &all, best.scores, n.most);
    } else if (found.exact) {
        uint64_t one;
        const int64_t *count = build_const_as_ints(l->b, best.count, &one);
        best.boxes = emit_slice(&s, best.boxes, 0, 0, count[0]);
        best.scores = emit_slice(&s, best.scores, 0, 0, count[0]);
    } else {
        lower_note_room(l, &found);
        build_set_filler(l->b, best.boxes, (struct filler){.axes = 1});
        build_set_filler(l->b, best.scores, (struct filler){.axes = 1});
    }
    TRY(emit_give(&s, 0, best.boxes));
    TRY(emit_give(&s, 1, best.scores));
    const struct shape scalar = {.rank = 0};
    return l->n_out > 2 ? emit_give(&s, 2, emit_reshape(&s, emit_cast(&s, best.count, DT_INT32), &scalar)) : ODLC_OK;
}

odlc_status tf_non_max_suppression(struct lower *l)
{
    struct suppression n = {.score_threshold = -(double)FLT_MAX};
    struct found found;
    double sigma;
    bool pads, gives_scores = l->variant != NULL;
    tensor_id scores = lower_in(l, 1);
    TRY(lower_attr_bool(l, "pad_to_max_output_size", false, &pads));
    TRY(read_boxes(l, &n, &sigma));
    if (sigma > 0 && n.most > 0 && shape_count(&build_type(l->b, scores)->shape) > 0)
        return give_soft(l, &n, sigma, pads);
    TRY(lower_suppressed(l, &n, &found));
    struct emit s = {.l = l};
    tensor_id boxes = emit_element(&s, found.rows, 1, 2);
    tensor_id best = gives_scores ? emit_gather(&s, scores, boxes, 0) : NO_TENSOR;
    if (pads)
        boxes = padded(&s, &found, boxes, n.most);
    if (pads && gives_scores)
        best = padded(&s, &found, best, n.most);
    TRY(emit_give(&s, 0, boxes));
    if (gives_scores)
        TRY(emit_give(&s, 1, best));
    return l->n_out > 1u + gives_scores ? give_count(&s, &found, 1u + gives_scores) : ODLC_OK;
}

/* ---- Where ---- */

odlc_status tf_where(struct lower *l)
{
    struct found found;
    tensor_id in;
    TRY(lower_need(l, 0, "condition", &in));
    if (build_rank(l->b, in) == 0)
        return lower_invalid(l, NULL, NULL, "the input has no axis");
    TRY(lower_nonzero(l, 0, "condition", &found));
    return build_cast(l->b, found.rows, DT_INT64, lower_out_name(l, 0), &l->out[0]);
}

/* ---- InTopK ---- */

/* Of each row, whether all of it is finite: 1 or 0. */
static tensor_id finite_rows(struct emit *s, tensor_id x)
{
    static const int64_t last = 1;
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, x);
    tensor_id is_finite = emit_binary(s, OP_ElementWiseLess, size, emit_scalar(s, x, (double)INFINITY));
    return emit_reduce(s, OP_ReduceMin, emit_cast(s, is_finite, DT_INT32), &last, 1, false);
}

/* Fewer than k are above the target's prediction: ties are in, as are k of them. Nothing is said of rows that are not
 * all finite, and of targets that are no class. */
odlc_status tf_in_top_k(struct lower *l)
{
    static const int64_t last = 1;
    struct emit s = {.l = l};
    tensor_id x, target, k;
    int64_t given;
    TRY(lower_need(l, 0, "predictions", &x));
    TRY(lower_need(l, 1, "targets", &target));
    const struct shape shape = build_type(l->b, x)->shape, rows = build_type(l->b, target)->shape;
    if (shape.rank != 2 || rows.rank != 1 || rows.dims[0] != shape.dims[0])
        return lower_invalid(l, NULL, NULL, "predictions %s and targets %s do not match",
                             shape_text(l->diags->arena, &shape), shape_text(l->diags->arena, &rows));
    TRY(lower_attr_int(l, "k", 0, &given));
    target = emit_cast(&s, target, DT_INT32);
    if (lower_in(l, 2) != NO_TENSOR)
        k = emit_cast(&s, l->in[2], DT_INT32);
    else
        k = emit_scalar(&s, target, (double)min_i64(given, INT32_MAX));
    if (shape_count(&shape) == 0)
        return emit_give(&s, 0, lower_splat(l, step_name(l, "none"), DT_BOOL, &rows, 0));
    target = emit_reshape(&s, target, &SHAPE(rows.dims[0], 1));
    tensor_id is_target = emit_binary(&s, OP_ElementWiseEqual, emit_positions(&s, shape.dims[1]), target);
    tensor_id is_class = emit_reduce(&s, OP_ReduceMax, emit_cast(&s, is_target, DT_INT32), &last, 1, false);
    tensor_id chosen = emit_select(&s, is_target, x, emit_scalar(&s, x, 0));
    tensor_id of_target = emit_reduce(&s, OP_ReduceSum, chosen, &last, 1, true);
    tensor_id above = emit_cast(&s, emit_binary(&s, OP_ElementWiseGreater, x, of_target), DT_INT32);
    tensor_id count = emit_reduce(&s, OP_ReduceSum, above, &last, 1, false);
    tensor_id sure = emit_binary(&s, OP_ElementWiseMultiply, finite_rows(&s, x), is_class);
    tensor_id is_sure = emit_binary(&s, OP_ElementWiseGreater, sure, emit_scalar(&s, sure, 0));
    tensor_id is_in = emit_binary(&s, OP_ElementWiseLess, count, k);
    return emit_give(&s, 0, emit_binary(&s, OP_ElementWiseAnd, is_sure, is_in));
}
