/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that find something in a tensor: NonMaxSuppression, NonZero. How much there is depends on the values; the result
 * has a row for the most that there can be, and those behind the ones that were found are filler (kernel_find.c). */
#include "op/families.h"
#include "op/infer.h"
#include "op/params.h"

/* Rows of so many columns: as many as the output already has (a container of another writer may have counted
 * otherwise), else `most`. */
static struct shape room_for(const struct infer *c, int64_t most, int64_t columns)
{
    const struct type *known = infer_known_output(c);
    bool has_room = known && known->shape.rank == 2 && known->shape.dims[1] == columns;
    return has_room ? known->shape : SHAPE(most, columns);
}

/* ---- NonMaxSuppression ---- */

/* Boxes that one class of a batch element can keep. The param 0 sets no limit. */
static int64_t most_of_class(const struct node *n, int64_t boxes)
{
    int64_t limit = node_int(n, PARAM_max_boxes_selected, 0);
    return limit ? min_i64(limit, boxes) : boxes;
}

static odlc_status infer_non_max_suppression(const struct infer *c)
{
    const struct shape *boxes = &infer_in(c, 0)->shape, *scores = &infer_in(c, 1)->shape;
    double iou = node_float(c->node, PARAM_iou_threshold, -1);
    TRY(need_real(c));
    if (boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] ||
        boxes->dims[1] != scores->dims[2])
        return infer_error(c, "boxes %s and scores %s do not match", shape_text(c->diags->arena, boxes),
                           shape_text(c->diags->arena, scores));
    if (!(iou >= 0 && iou <= 1) || node_int(c->node, PARAM_max_boxes_selected, 0) < 0)
        return infer_error(c, "iou_threshold is not in [0, 1], or max_boxes_selected is negative");
    int64_t most = scores->dims[0] * scores->dims[1] * most_of_class(c->node, boxes->dims[1]);
    c->out[0] = (struct type){.dtype = DT_INT32, .shape = room_for(c, most, 3)};
    if (c->node->n_outputs > 1)
        c->out[1] = (struct type){.dtype = DT_UINT32, .shape = SHAPE(1)};
    return ODLC_OK;
}

/* Each box may be compared with all those that are kept, which takes some eight operations. */
static uint64_t work_non_max_suppression(const struct graph *g, const struct node *n)
{
    const struct shape *scores = &node_input(g, n, 1)->type->shape;
    int64_t boxes = scores->rank == 3 ? scores->dims[2] : 0;
    return sat_mul(shape_count(scores), sat_mul(8, (uint64_t)max_i64(most_of_class(n, boxes), 0)));
}

/* ---- NonZero ---- */

static odlc_status infer_non_zero(const struct infer *c)
{
    const struct type *in = infer_in(c, 0), *known = infer_known_output(c);
    if (in->shape.rank == 0 || in->dtype == DT_STRING)
        return infer_error(c, "an input of rank 0, or of strings, has no positions");
    c->out[0].dtype = known && known->dtype == DT_UINT32 ? DT_UINT32 : DT_INT32;
    c->out[0].shape = room_for(c, (int64_t)shape_count(&in->shape), in->shape.rank);
    return ODLC_OK;
}

/* ---- rows ---- */

static const struct param_def non_max_suppression_params[] = {
    {PARAM_NAMED(iou_threshold), DT_FLOAT32, PARAM_REQUIRED, false, false, 0},
    {PARAM_NAMED(score_threshold), DT_FLOAT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(max_boxes_selected), DT_UINT32, PARAM_DEFAULT, false, false, 0},
};

const struct op op_rows_find[] = {
    {.id = OP_NonMaxSuppression,
     .name = "NonMaxSuppression",
     .dlc_type = "NonMaxSuppression",
     .min_inputs = 2,
     .max_inputs = 2,
     .min_outputs = 1,
     .max_outputs = 2,
     .params = non_max_suppression_params,
     .n_params = COUNT_OF(non_max_suppression_params),
     .infer = infer_non_max_suppression,
     .work = work_non_max_suppression},
    {.id = OP_NonZero,
     .name = "NonZero",
     .dlc_type = "NonZero",
     .min_inputs = 1,
     .max_inputs = 1,
     .min_outputs = 1,
     .max_outputs = 1,
     .infer = infer_non_zero},
};
const size_t op_rows_find_count = COUNT_OF(op_rows_find);
