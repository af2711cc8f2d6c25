/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators that work by position: Gather and Scatter families, OneHot, TopK, Compress, ReverseSequence. */
#include "converters/lowering/gather.h"
#include "converters/lowering/padded.h"
#include "converters/lowering/scatter.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* Data and the axis that the attribute names. */
static odlc_status need_data(const struct lower *l, tensor_id *data, struct shape *shape, uint32_t *axis)
{
    int64_t given;
    TRY(lower_need(l, 0, "data", data));
    *shape = build_type(l->b, *data)->shape;
    TRY(lower_attr_int(l, "axis", 0, &given));
    return lower_axis(l, "axis", given, shape->rank, axis);
}

/* ---- Gather, GatherElements, GatherND ---- */

odlc_status lower_gather(struct lower *l)
{
    tensor_id data, indices;
    struct shape shape;
    uint32_t axis;
    TRY(need_data(l, &data, &shape, &axis));
    TRY(lower_indices(l, 1, BOTH_ENDS, &shape.dims[axis], 1, &indices));
    return lower_gather_axis(l, data, indices, axis, lower_out_name(l, 0), &l->out[0]);
}

/* Along the last axis; a vector counts as a matrix of one row, and indices of any shape as a list. */
odlc_status lower_array_feature_extractor(struct lower *l)
{
    tensor_id data, indices;
    TRY(lower_need(l, 0, "X", &data));
    struct shape shape = build_type(l->b, data)->shape;
    if (shape.rank == 0)
        return lower_invalid(l, NULL, NULL, "the input has no axis");
    if (shape.rank == 1) {
        shape = SHAPE(1, shape.dims[0]);
        TRY(build_reshape(l->b, data, &shape, step_name(l, "row"), &data));
    }
    TRY(lower_indices(l, 1, BOTH_ENDS, &shape.dims[shape.rank - 1], 1, &indices));
    struct shape list = SHAPE((int64_t)shape_count(&build_type(l->b, indices)->shape));
    TRY(build_reshape(l->b, indices, &list, step_name(l, "list"), &indices));
    return lower_gather_axis(l, data, indices, shape.rank - 1, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_gather_elements(struct lower *l)
{
    tensor_id data, indices;
    struct shape shape;
    uint32_t axis;
    TRY(need_data(l, &data, &shape, &axis));
    TRY(lower_indices(l, 1, BOTH_ENDS, &shape.dims[axis], 1, &indices));
    build_op(l->b, OP_GatherElements, fw_node_label(l->node));
    build_in(l->b, data);
    build_in(l->b, indices);
    build_int(l->b, PARAM_axis, axis);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* Data, and coordinates of its slices. */
static odlc_status need_coordinates(const struct lower *l, int64_t batch_dims, tensor_id *data, tensor_id *indices)
{
    TRY(lower_need(l, 0, "data", data));
    return lower_coordinates(l, 1, BOTH_ENDS, &build_type(l->b, *data)->shape, batch_dims, indices);
}

odlc_status lower_gather_nd(struct lower *l)
{
    tensor_id data, indices;
    int64_t batch_dims;
    TRY(lower_attr_int(l, "batch_dims", 0, &batch_dims));
    TRY(need_coordinates(l, batch_dims, &data, &indices));
    return lower_gather_slices(l, data, indices, batch_dims, lower_out_name(l, 0), &l->out[0]);
}

/* ---- ScatterElements, ScatterND ---- */

static odlc_status reduction_of(const struct lower *l, enum reduction *out)
{
    static const struct choice reductions[] = {
        {"none", REDUCE_NONE}, {"add", REDUCE_ADD}, {"mul", REDUCE_MUL}, {"max", REDUCE_MAX}, {"min", REDUCE_MIN}};
    int reduction;
    TRY(lower_choose(l, "reduction", "none", reductions, COUNT_OF(reductions), &reduction));
    *out = (enum reduction)reduction;
    return ODLC_OK;
}

odlc_status lower_scatter_elements(struct lower *l)
{
    struct scatter s;
    struct shape shape;
    TRY(need_data(l, &s.data, &shape, &s.axis));
    TRY(lower_indices(l, 1, BOTH_ENDS, &shape.dims[s.axis], 1, &s.indices));
    TRY(lower_need(l, 2, "updates", &s.updates));
    TRY(reduction_of(l, &s.reduction));
    return lower_scatter_axis(l, s, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_scatter_nd(struct lower *l)
{
    struct scatter s = {.axis = 0};
    TRY(need_coordinates(l, 0, &s.data, &s.indices));
    TRY(lower_need(l, 2, "updates", &s.updates));
    TRY(reduction_of(l, &s.reduction));
    return lower_scatter_slices(l, s, lower_out_name(l, 0), &l->out[0]);
}

/* ---- OneHot ---- */

/* The input holds [off, on]. */
static odlc_status hot_values(const struct lower *l, struct hot *h)
{
    tensor_id id;
    const double *given;
    uint32_t count;
    TRY(lower_need(l, 2, "values", &id));
    h->dtype = build_type(l->b, id)->dtype;
    if (h->dtype == DT_STRING)
        return lower_unsupported(l, "values", NULL, "the values are strings");
    TRY(lower_const_floats(l, 2, "values", &given, &count));
    if (count != 2)
        return lower_invalid(l, "values", NULL, "values has %u elements, not 2", count);
    h->off = given[0];
    h->on = given[1];
    return ODLC_OK;
}

odlc_status lower_one_hot(struct lower *l)
{
    tensor_id indices;
    struct hot h;
    const int64_t *depth;
    uint32_t count;
    TRY(lower_hot_indices(l, 0, &indices));
    TRY(lower_const_ints(l, 1, "depth", &depth, &count));
    if (count != 1 || depth[0] < 1)
        return lower_invalid(l, "depth", NULL, "depth is not one positive number");
    h.depth = depth[0];
    TRY(hot_values(l, &h));
    TRY(lower_attr_int(l, "axis", -1, &h.axis));
    return lower_hot(l, indices, &h);
}

/* ---- TopK ---- */

odlc_status lower_top_k(struct lower *l)
{
    tensor_id in;
    struct best best = {.positions = DT_INT64};
    int64_t largest;
    const int64_t *list = &best.k;
    uint32_t count = 1;
    TRY(lower_need(l, 0, "X", &in));
    TRY(lower_attr_int(l, "axis", -1, &best.axis));
    TRY(lower_attr_int(l, "largest", 1, &largest));
    if (l->version < 10)
        TRY(lower_attr_int(l, "k", 0, &best.k));
    else
        TRY(lower_const_ints(l, 1, "K", &list, &count));
    best.k = count == 1 ? list[0] : 0;
    best.largest = largest != 0;
    return lower_best(l, in, &best);
}

/* ---- Compress, ReverseSequence: the positions are known at conversion ---- */

odlc_status lower_compress(struct lower *l)
{
    tensor_id data;
    const int64_t *condition;
    uint32_t count, axis = 0;
    int64_t given, kept = 0;
    TRY(lower_need(l, 0, "input", &data));
    if (lower_in(l, 1) != NO_TENSOR && !lower_pads(l, 1))
        TRY(lower_need_values(l, 1, "condition"));
    if (!lower_has_attr(l, "axis")) {
        struct shape flat = SHAPE((int64_t)shape_count(&build_type(l->b, data)->shape));
        TRY(build_reshape(l->b, data, &flat, step_name(l, "flat"), &data));
    }
    TRY(lower_attr_int(l, "axis", 0, &given));
    TRY(lower_axis(l, "axis", given, build_rank(l->b, data), &axis));
    if (lower_pads(l, 1))
        return lower_padded_kept(l, data, axis, 1);
    TRY(lower_const_ints(l, 1, "condition", &condition, &count));
    if ((int64_t)count > build_type(l->b, data)->shape.dims[axis])
        return lower_invalid(l, "condition", NULL, "the condition has %u elements, the axis %lld", count,
                             (long long)build_type(l->b, data)->shape.dims[axis]);
    int64_t *positions = arena_array(l->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++)
        if (condition[i])
            positions[kept++] = i;
    return lower_gather_positions(l, data, axis, positions, kept, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_reverse_sequence(struct lower *l)
{
    tensor_id in;
    const int64_t *lengths;
    uint32_t count;
    int64_t time_axis, batch_axis;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_const_ints(l, 1, "sequence_lens", &lengths, &count));
    TRY(lower_attr_int(l, "time_axis", 0, &time_axis));
    TRY(lower_attr_int(l, "batch_axis", 1, &batch_axis));
    const struct shape shape = build_type(l->b, in)->shape;
    bool first_two = (time_axis == 0 && batch_axis == 1) || (time_axis == 1 && batch_axis == 0);
    if (!first_two || shape.rank < 2)
        return lower_invalid(l, "time_axis", NULL, "time and batch are not the first two axes");
    if ((int64_t)count != shape.dims[batch_axis])
        return lower_invalid(l, "sequence_lens", NULL, "%u lengths for a batch of %lld", count,
                             (long long)shape.dims[batch_axis]);
    return lower_reverse_starts(l, in, (uint32_t)time_axis, (uint32_t)batch_axis, lengths);
}
