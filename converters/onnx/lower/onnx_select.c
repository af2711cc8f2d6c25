/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators whose result's shape depends on values: Unique, which is computed at conversion, NonMaxSuppression and
 * NonZero. */
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/find.h"
#include "converters/lowering/padded.h"
#include "converters/lowering/unique.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- Unique ---- */

odlc_status lower_unique(struct lower *l)
{
    tensor_id data;
    int64_t given, sorted;
    uint32_t axis = 0;
    struct unique u;
    TRY(lower_need(l, 0, "X", &data));
    if (!lower_pads(l, 0))
        TRY(lower_need_values(l, 0, "X"));
    TRY(lower_attr_int(l, "sorted", 1, &sorted));
    TRY(lower_attr_int(l, "axis", 0, &given));
    struct shape flat = SHAPE((int64_t)shape_count(&build_type(l->b, data)->shape));
    if (!lower_has_attr(l, "axis"))
        TRY(build_reshape(l->b, data, &flat, step_name(l, "flat"), &data));
    TRY(lower_axis(l, "axis", given, build_rank(l->b, data), &axis));
    if (lower_pads(l, 0))
        return lower_padded_outputs(l, data, axis, &(struct unique_outputs){sorted != 0, DT_INT64, 1, 2, 3});
    TRY(lower_unique_slices(l, data, axis, sorted != 0, &u));
    struct shape of_unique = SHAPE(u.count), of_all = SHAPE(u.all);
    lower_give_ints(l, 1, DT_INT64, &of_unique, u.places);
    lower_give_ints(l, 2, DT_INT64, &of_all, u.inverse);
    lower_give_ints(l, 3, DT_INT64, &of_unique, u.counts);
    return lower_gather_positions(l, data, axis, u.places, u.count, lower_out_name(l, 0), &l->out[0]);
}

/* The elements in the order of their first occurrence. */
odlc_status lower_unique_by_occurrence(struct lower *l)
{
    tensor_id data;
    struct unique u;
    TRY(lower_need(l, 0, "x", &data));
    if (!lower_pads(l, 0))
        TRY(lower_need_values(l, 0, "x"));
    if (build_rank(l->b, data) != 1)
        return lower_invalid(l, NULL, NULL, "x is of rank %u", build_rank(l->b, data));
    if (lower_pads(l, 0))
        return lower_padded_outputs(l, data, 0, &(struct unique_outputs){false, DT_INT64, 0, 1, 2});
    TRY(lower_unique_slices(l, data, 0, false, &u));
    struct shape of_unique = SHAPE(u.count), of_all = SHAPE(u.all);
    lower_give_ints(l, 1, DT_INT64, &of_all, u.inverse);
    lower_give_ints(l, 2, DT_INT64, &of_unique, u.counts);
    return lower_gather_positions(l, data, 0, u.places, u.count, lower_out_name(l, 0), &l->out[0]);
}

/* ---- NonMaxSuppression ---- */

/* The one number of an optional input. */
static odlc_status optional_number(const struct lower *l, uint32_t i, const char *what, double *value)
{
    const double *given;
    uint32_t count;
    TRY(lower_const_floats(l, i, what, &given, &count));
    if (lower_in(l, i) != NO_TENSOR && count != 1)
        return lower_invalid(l, what, NULL, "%s is not one number", what);
    *value = given ? given[0] : *value;
    return ODLC_OK;
}

/* Centers and sizes become corners, which the container's op takes. A negative size is that of a box without area: the
 * corners would make one of it. */
static odlc_status boxes_by_corners(struct lower *l, tensor_id boxes, tensor_id *out)
{
    struct emit s = {.l = l};
    tensor_id center = emit_slice(&s, boxes, 2, 0, 2);
    tensor_id size = emit_unary(&s, OP_Relu, emit_slice(&s, boxes, 2, 2, 4));
    tensor_id half = emit_binary(&s, OP_ElementWiseMultiply, size, emit_scalar(&s, boxes, 0.5));
    tensor_id low = emit_binary(&s, OP_ElementWiseSubtract, center, half);
    tensor_id high = emit_binary(&s, OP_ElementWiseAdd, center, half);
    *out = emit_concat(&s, (tensor_id[]){low, high}, 2, 2);
    return s.status;
}

/* Scores at the threshold are dropped, as the operator's reference does. */
odlc_status lower_non_max_suppression(struct lower *l)
{
    struct suppression n = {.score_threshold = -INFINITY};
    struct found found;
    int64_t centered;
    double most = 0;
    TRY(lower_need(l, 0, "boxes", &n.boxes));
    TRY(lower_need(l, 1, "scores", &n.scores));
    TRY(optional_number(l, 2, "max_output_boxes_per_class", &most));
    TRY(optional_number(l, 3, "iou_threshold", &n.iou_threshold));
    TRY(optional_number(l, 4, "score_threshold", &n.score_threshold));
    TRY(lower_attr_int(l, "center_point_box", 0, &centered));
    n.most = most < 0 ? 0 : most > INT32_MAX ? INT32_MAX : (int64_t)most;
    if (centered && build_rank(l->b, n.boxes) == 3 && build_type(l->b, n.boxes)->shape.dims[2] == 4)
        TRY(boxes_by_corners(l, n.boxes, &n.boxes));
    TRY(lower_suppressed(l, &n, &found));
    return build_cast(l->b, found.rows, DT_INT64, lower_out_name(l, 0), &l->out[0]);
}

/* ---- NonZero ---- */

/* Positions of one axis per row of the result. */
odlc_status lower_non_zero(struct lower *l)
{
    struct found found;
    tensor_id positions;
    TRY(lower_nonzero(l, 0, "X", &found));
    TRY(build_cast(l->b, found.rows, DT_INT64, step_name(l, "positions"), &positions));
    return build_transpose(l->b, positions, &(struct perm){.rank = 2, .axis = {1, 0}}, lower_out_name(l, 0),
                           &l->out[0]);
}
