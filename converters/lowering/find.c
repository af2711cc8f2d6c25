/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/find.h"

#include "converters/lowering/emit.h"
#include "converters/lowering/padded.h"
#include "converters/lowering/shapes.h"

static odlc_status none_found(struct lower *l, int64_t columns, struct found *out)
{
    struct shape empty = SHAPE(0, columns);
    int64_t nothing = 0;
    out->rows = build_const_ints(l->b, step_name(l, "none"), DT_INT32, &empty, &nothing);
    out->exact = true;
    return ODLC_OK;
}

void lower_note_room(const struct lower *l, const struct found *found)
{
    const struct graph *g = l->b->graph;
    const char *rows = shape_text(l->diags->arena, &build_type(l->b, found->rows)->shape), *said, *hint;
    if (found->count == NO_TENSOR) {
        said = "the rows behind those that are found are filler";
        hint = "the rows grow until the filler, which repeats the last one, or is -1 where there is none";
    } else {
        const char *count = graph_tensor(g, found->count)->name;
        said = arena_printf(l->diags->arena, "%s says how many rows are valid", count);
        hint =
            arena_printf(l->diags->arena, "the op gives both: net-run --set_output_tensors %s shows the number", count);
    }
    diag_note(l->diags, AT(.file = l->path, .node = fw_node_label(l->node), .hint = hint), "worst-case-shape",
              "%s: worst-case shape %s; %s", l->node->op->type, rows, said);
}

/* ---- NonMaxSuppression ---- */

/* Of boxes that are known, when the op was folded: the rows that are valid. */
static odlc_status cut_to_count(struct lower *l, struct found *found)
{
    uint64_t one;
    const int64_t *count = build_const_as_ints(l->b, found->count, &one);
    found->count = NO_TENSOR;
    found->exact = true;
    TRY(lower_slice_axis(l, found->rows, 0, 0, count[0], step_name(l, "found"), &found->rows));
    build_set_filler(l->b, found->rows, (struct filler){.axes = 0});
    return ODLC_OK;
}

odlc_status lower_suppressed(struct lower *l, const struct suppression *s, struct found *out)
{
    const struct shape boxes = build_type(l->b, s->boxes)->shape, scores = build_type(l->b, s->scores)->shape;
    *out = (struct found){NO_TENSOR, NO_TENSOR, false};
    if (!(s->iou_threshold >= 0 && s->iou_threshold <= 1))
        return lower_invalid(l, "iou_threshold", NULL, "iou_threshold %g is not in [0, 1]", s->iou_threshold);
    if (boxes.rank != 3 || scores.rank != 3 || boxes.dims[2] != 4 || boxes.dims[0] != scores.dims[0] ||
        boxes.dims[1] != scores.dims[2])
        return lower_invalid(l, NULL, NULL, "boxes %s and scores %s do not match", shape_text(l->diags->arena, &boxes),
                             shape_text(l->diags->arena, &scores));
    if (shape_count(&scores) == 0 || s->most <= 0)
        return none_found(l, 3, out);
    const char *rows = step_name(l, "rows"), *name = lower_out_name(l, 0);
    const char *names[] = {rows, arena_printf(l->arena, "%s_count", name ? name : rows)};
    tensor_id outs[2];
    build_op(l->b, OP_NonMaxSuppression, fw_node_label(l->node));
    build_in(l->b, s->boxes);
    build_in(l->b, s->scores);
    build_float(l->b, PARAM_iou_threshold, s->iou_threshold);
    build_float(l->b, PARAM_score_threshold, s->score_threshold);
    build_int(l->b, PARAM_max_boxes_selected, min_i64(s->most, boxes.dims[1]));
    TRY(build_end_n(l->b, names, 2, outs));
    out->rows = outs[0];
    out->count = outs[1];
    if (build_is_const(l->b, out->rows))
        return cut_to_count(l, out);
    if (!s->is_padded)
        lower_note_room(l, out);
    return ODLC_OK;
}

/* ---- NonZero ---- */

static odlc_status known_positions(struct lower *l, tensor_id in, struct found *out)
{
    const struct shape shape = build_type(l->b, in)->shape;
    uint64_t all = shape_count(&shape), found = 0, *at;
    int64_t *rows;
    TRY(lower_table(l, all, sizeof *at, &at));
    const double *values = build_const_as_floats(l->b, in, &all);
    for (uint64_t k = 0; k < all; k++)
        if (values[k] != 0)
            at[found++] = k;
    TRY(lower_table(l, found, shape.rank * sizeof *rows, &rows));
    for (uint64_t k = 0; k < found; k++)
        for (uint32_t d = shape.rank; d-- > 0; at[k] /= (uint64_t)shape.dims[d])
            rows[k * shape.rank + d] = (int64_t)(at[k] % (uint64_t)shape.dims[d]);
    struct shape result = SHAPE((int64_t)found, shape.rank);
    out->rows = build_const_ints(l->b, step_name(l, "found"), DT_INT32, &result, rows);
    out->exact = true;
    return ODLC_OK;
}

/* With a count, rows are positions where nothing was found, too. */
static odlc_status count_nonzero(struct lower *l, tensor_id in, struct found *out)
{
    struct emit s = {.l = l};
    tensor_id flags = in;
    if (build_type(l->b, in)->dtype != DT_BOOL)
        flags = emit_binary(&s, OP_ElementWiseNotEqual, in, emit_scalar(&s, in, 0));
    flags = emit_cast(&s, flags, DT_INT32);
    out->rows = emit_binary(&s, OP_ElementWiseMaximum, out->rows, emit_scalar(&s, out->rows, 0));
    TRY(s.status);
    return lower_count_output(l, flags, &out->count);
}

odlc_status lower_nonzero(struct lower *l, uint32_t i, const char *what, struct found *out)
{
    tensor_id in;
    struct shape one = SHAPE(1);
    *out = (struct found){NO_TENSOR, NO_TENSOR, false};
    TRY(lower_need(l, i, what, &in));
    if (build_type(l->b, in)->dtype == DT_STRING)
        return lower_unsupported(l, NULL, NULL, "the input holds strings");
    if (build_rank(l->b, in) == 0)
        TRY(build_reshape(l->b, in, &one, step_name(l, "vector"), &in));
    const struct shape shape = build_type(l->b, in)->shape;
    if (build_is_const(l->b, in))
        return known_positions(l, in, out);
    if (shape_count(&shape) == 0)
        return none_found(l, shape.rank, out);
    build_op(l->b, OP_NonZero, fw_node_label(l->node));
    build_in(l->b, in);
    TRY(build_end(l->b, step_name(l, "rows"), &out->rows));
    if (l->pads)
        TRY(count_nonzero(l, in, out));
    lower_note_room(l, out);
    return ODLC_OK;
}
