/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators that read at positions: Gather, GatherNd, OneHot, TopK, ReverseSequence, DynamicStitch and
 * DynamicPartition; and those that write there: ScatterNd and its relatives.
 *
 * Indices count from the front alone. TensorFlow itself fails where one is outside; of those that are known at
 * conversion that is said here. */
#include <string.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/gather.h"
#include "converters/lowering/scatter.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/lists.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

/* ---- Gather ---- */

/* to = to followed by dims [from, end) of shape. False when these are too many. */
static bool append_dims(struct shape *to, const struct shape *shape, uint32_t from, uint32_t end)
{
    if (to->rank + end - from > MAX_RANK)
        return false;
    for (uint32_t i = from; i < end; i++)
        to->dims[to->rank++] = shape->dims[i];
    return true;
}

/* The first axes of data and indices are common to both. The axis is brought behind them, where the indices are
 * coordinates of one value; what stood before it comes behind theirs, and is brought back. */
static odlc_status gather_in_batches(struct lower *l, tensor_id data, tensor_id indices, uint32_t axis, uint32_t batch)
{
    struct emit s = {.l = l};
    const struct shape given = build_type(l->b, indices)->shape;
    uint32_t rank = build_rank(l->b, data), before = axis - batch, own = given.rank - batch;
    struct shape column = {.rank = 0};
    if (rank + own - 1 > MAX_RANK || !append_dims(&column, &given, 0, given.rank) ||
        !append_dims(&column, &SHAPE(1), 0, 1))
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    struct perm front = perm_identity(rank), back = perm_identity(rank + own - 1);
    front.axis[batch] = (uint8_t)axis;
    for (uint32_t i = 0; i < before; i++) {
        front.axis[batch + 1 + i] = (uint8_t)(batch + i);
        back.axis[batch + i] = (uint8_t)(batch + own + i);
    }
    for (uint32_t i = 0; i < own; i++)
        back.axis[axis + i] = (uint8_t)(batch + i);
    data = emit_transpose(&s, data, &front);
    indices = emit_reshape(&s, indices, &column);
    TRY(s.status);
    tensor_id gathered;
    bool moved = !perm_is_identity(&back);
    const char *name = lower_out_name(l, 0);
    TRY(lower_gather_slices(l, data, indices, batch, moved ? step_name(l, "gathered") : name, &gathered));
    return build_transpose(l->b, gathered, &back, name, &l->out[0]);
}

/* Forms with and without the input `axis`, which the batch axes are before; also of a variable. */
odlc_status tf_gather(struct lower *l)
{
    tensor_id data, indices;
    int64_t given;
    uint32_t axis, batch = 0;
    TRY(lower_need(l, 0, "params", &data));
    TRY(lower_need(l, 1, "indices", &indices));
    const struct shape shape = build_type(l->b, data)->shape, at = build_type(l->b, indices)->shape;
    TRY(lower_attr_int(l, "batch_dims", 0, &given));
    if (given < -(int64_t)at.rank || given > at.rank)
        return lower_invalid(l, "batch_dims", NULL, "batch_dims %lld does not fit indices of rank %u", (long long)given,
                             at.rank);
    batch = (uint32_t)(given < 0 ? given + at.rank : given);
    if (lower_in(l, 2) != NO_TENSOR)
        TRY(lower_axis_input(l, 2, "axis", shape.rank, &axis));
    else
        TRY(lower_axis(l, "axis", batch, shape.rank, &axis));
    bool fits = batch <= axis;
    for (uint32_t i = 0; fits && i < batch; i++)
        fits = shape.dims[i] == at.dims[i];
    if (!fits)
        return lower_invalid(l, "batch_dims", NULL, "%u common axes of %s and %s before axis %u", batch,
                             shape_text(l->diags->arena, &shape), shape_text(l->diags->arena, &at), axis);
    TRY(lower_indices(l, 1, FROM_FRONT, &shape.dims[axis], 1, &indices));
    if (batch)
        return gather_in_batches(l, data, indices, axis, batch);
    return lower_gather_axis(l, data, indices, axis, lower_out_name(l, 0), &l->out[0]);
}

/* Coordinates of no axis: the whole tensor for each of them. */
static odlc_status repeat_whole(struct lower *l, tensor_id data, const struct shape *coordinates)
{
    struct emit s = {.l = l};
    const struct shape shape = build_type(l->b, data)->shape;
    struct shape result = {.rank = 0};
    if (!append_dims(&result, coordinates, 0, coordinates->rank - 1) || !append_dims(&result, &shape, 0, shape.rank))
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    return emit_give(&s, 0, emit_broadcast(&s, data, &result));
}

odlc_status tf_gather_nd(struct lower *l)
{
    tensor_id data, indices;
    int64_t batch_dims;
    TRY(lower_need(l, 0, "params", &data));
    TRY(lower_need(l, 1, "indices", &indices));
    const struct shape at = build_type(l->b, indices)->shape;
    if (at.rank > 0 && at.dims[at.rank - 1] == 0)
        return repeat_whole(l, data, &at);
    TRY(lower_attr_int(l, "batch_dims", 0, &batch_dims));
    TRY(lower_coordinates(l, 1, FROM_FRONT, &build_type(l->b, data)->shape, batch_dims, &indices));
    return lower_gather_slices(l, data, indices, batch_dims, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Scatter ---- */

/* Zeros of the shape that the last input gives, to which the updates are added: those of one place are summed. */
odlc_status tf_scatter_nd(struct lower *l)
{
    struct scatter s = {.reduction = REDUCE_ADD};
    struct shape shape;
    const int64_t *dims;
    uint32_t count;
    TRY(lower_need(l, 1, "updates", &s.updates));
    TRY(lower_const_ints(l, 2, "shape", &dims, &count));
    TRY(lower_shape_of(l, "shape", dims, count, &shape));
    TRY(lower_coordinates(l, 0, FROM_FRONT, &shape, 0, &s.indices));
    s.data = lower_splat(l, step_name(l, "zeros"), build_type(l->b, s.updates)->dtype, &shape, 0);
    return lower_scatter_slices(l, s, lower_out_name(l, 0), &l->out[0]);
}

/* Values at coordinates, which are scalars, or a list of them, or rows of a matrix; one value may stand for all. */
odlc_status tf_sparse_to_dense(struct lower *l)
{
    struct scatter s = {.reduction = REDUCE_NONE};
    struct emit steps = {.l = l};
    struct shape shape;
    const int64_t *dims;
    tensor_id given, otherwise;
    uint32_t count;
    TRY(lower_need(l, 0, "sparse_indices", &given));
    TRY(lower_const_ints(l, 1, "output_shape", &dims, &count));
    TRY(lower_need(l, 2, "sparse_values", &s.updates));
    TRY(lower_need(l, 3, "default_value", &otherwise));
    TRY(lower_shape_of(l, "output_shape", dims, count, &shape));
    const struct shape at = build_type(l->b, given)->shape;
    if (at.rank > 2 || shape.rank != (at.rank == 2 ? at.dims[1] : 1))
        return lower_invalid(l, "sparse_indices", NULL, "indices %s are none of %s", shape_text(l->diags->arena, &at),
                             shape_text(l->diags->arena, &shape));
    TRY(lower_indices(l, 0, FROM_FRONT, shape.dims, shape.rank, &s.indices));
    struct shape values = SHAPE(at.rank ? at.dims[0] : 1);
    s.indices = emit_reshape(&steps, s.indices, &SHAPE(values.dims[0], shape.rank));
    if (build_rank(l->b, s.updates) == 0)
        s.updates = emit_broadcast(&steps, s.updates, &values);
    s.data = emit_broadcast(&steps, otherwise, &shape);
    TRY(steps.status);
    return lower_scatter_slices(l, s, lower_out_name(l, 0), &l->out[0]);
}

/* The arg says how updates and elements are put together. */
odlc_status tf_tensor_scatter(struct lower *l)
{
    static const struct choice reductions[] = {
        {"none", REDUCE_NONE}, {"add", REDUCE_ADD}, {"sub", REDUCE_ADD}, {"max", REDUCE_MAX}, {"min", REDUCE_MIN}};
    struct scatter s = {.axis = 0};
    TRY(lower_need(l, 0, "tensor", &s.data));
    TRY(lower_need(l, 2, "updates", &s.updates));
    const struct shape shape = build_type(l->b, s.data)->shape;
    TRY(lower_coordinates(l, 1, FROM_FRONT, &shape, 0, &s.indices));
    for (size_t i = 0; i < COUNT_OF(reductions); i++)
        if (strcmp(l->variant, reductions[i].name) == 0)
            s.reduction = (enum reduction)reductions[i].value;
    if (strcmp(l->variant, "sub") == 0) { /* the opposite is added, which wraps as the type does */
        struct emit steps = {.l = l};
        tensor_id zero = emit_scalar(&steps, s.updates, 0);
        s.updates = emit_binary(&steps, OP_ElementWiseSubtract, zero, s.updates);
        TRY(steps.status);
    }
    return lower_scatter_slices(l, s, lower_out_name(l, 0), &l->out[0]);
}

/* Fails for a constant list, whose numbers are less than its length, that has one of them twice. */
static odlc_status check_permutation(const struct lower *l, int64_t count)
{
    const int64_t *numbers;
    uint32_t n;
    bool *seen;
    if (!build_is_const(l->b, l->in[0]))
        return ODLC_OK;
    TRY(lower_const_ints(l, 0, "x", &numbers, &n));
    TRY(lower_table(l, (uint64_t)count, sizeof *seen, &seen));
    for (uint32_t i = 0; i < n; i++) {
        if (seen[numbers[i]])
            return lower_invalid(l, NULL, NULL, "%lld is there twice", (long long)numbers[i]);
        seen[numbers[i]] = true;
    }
    return ODLC_OK;
}

/* The place of each number: numbers are written where they point. */
odlc_status tf_invert_permutation(struct lower *l)
{
    tensor_id in;
    TRY(lower_need(l, 0, "x", &in));
    const struct type type = *build_type(l->b, in);
    if (type.shape.rank != 1)
        return lower_invalid(l, NULL, NULL, "%s is no list", shape_text(l->diags->arena, &type.shape));
    int64_t count = type.shape.dims[0];
    struct scatter s = {.reduction = REDUCE_NONE};
    TRY(lower_indices(l, 0, FROM_FRONT, &count, 1, &s.indices));
    TRY(check_permutation(l, count));
    struct emit steps = {.l = l};
    double *places;
    TRY(lower_table(l, (uint64_t)count, sizeof *places, &places));
    for (int64_t i = 0; i < count; i++)
        places[i] = (double)i;
    s.updates = emit_constant(&steps, type.dtype, &type.shape, places);
    s.indices = emit_reshape(&steps, s.indices, &SHAPE(count, 1));
    TRY(steps.status);
    s.data = lower_splat(l, step_name(l, "zeros"), type.dtype, &type.shape, 0);
    return lower_scatter_slices(l, s, lower_out_name(l, 0), &l->out[0]);
}

/* ---- OneHot ---- */

/* The container's operator counts negative indices from the back, TensorFlow's knows none: they become the depth, which
 * is outside. */
static odlc_status without_negatives(struct lower *l, int64_t depth, tensor_id *indices)
{
    struct emit s = {.l = l};
    enum dtype dtype = build_type(l->b, *indices)->dtype;
    if (dtype == DT_UINT8)
        return ODLC_OK;
    tensor_id zero = emit_scalar(&s, *indices, 0), outside = emit_scalar(&s, *indices, (double)depth);
    tensor_id is_negative = emit_binary(&s, OP_ElementWiseLess, *indices, zero);
    *indices = emit_select(&s, is_negative, outside, *indices);
    return s.status;
}

/* Of values that are computed: which position an index says is found by comparing. */
static odlc_status choose_hot(struct lower *l, tensor_id indices, const struct hot *h, tensor_id on, tensor_id off)
{
    struct emit s = {.l = l};
    const struct shape given = build_type(l->b, indices)->shape;
    struct shape column = {.rank = 0}, line = {.rank = given.rank + 1};
    uint32_t at;
    TRY(lower_axis(l, "axis", h->axis, given.rank + 1, &at));
    if (!append_dims(&column, &given, 0, at) || !append_dims(&column, &SHAPE(1), 0, 1) ||
        !append_dims(&column, &given, at, given.rank))
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    for (uint32_t i = 0; i < line.rank; i++)
        line.dims[i] = i == at ? h->depth : 1;
    tensor_id index = emit_reshape(&s, emit_cast(&s, indices, DT_INT32), &column);
    tensor_id position = emit_reshape(&s, emit_positions(&s, h->depth), &line);
    tensor_id is_hot = emit_binary(&s, OP_ElementWiseEqual, index, position);
    return emit_give(&s, 0, emit_select(&s, is_hot, on, off));
}

odlc_status tf_one_hot(struct lower *l)
{
    tensor_id indices, on, off;
    struct hot h;
    TRY(lower_hot_indices(l, 0, &indices));
    TRY(lower_one_int(l, 1, "depth", &h.depth));
    if (h.depth < 1 || h.depth > INT32_MAX)
        return lower_unsupported(l, "depth", NULL, "the depth is %lld", (long long)h.depth);
    TRY(lower_need(l, 2, "on_value", &on));
    h.dtype = build_type(l->b, on)->dtype;
    TRY(lower_need(l, 3, "off_value", &off));
    TRY(lower_attr_int(l, "axis", -1, &h.axis));
    if (!build_is_const(l->b, on) || !build_is_const(l->b, off))
        return choose_hot(l, indices, &h, on, off);
    TRY(lower_one_float(l, 2, "on_value", &h.on));
    TRY(lower_one_float(l, 3, "off_value", &h.off));
    TRY(without_negatives(l, h.depth, &indices));
    return lower_hot(l, indices, &h);
}

/* ---- TopK ---- */

/* k is an attribute or an input. The order of results that need not be sorted is free. */
odlc_status tf_top_k(struct lower *l)
{
    tensor_id in;
    struct best best = {.axis = -1, .largest = true};
    TRY(lower_need(l, 0, "input", &in));
    if (lower_in(l, 1) != NO_TENSOR)
        TRY(lower_one_int(l, 1, "k", &best.k));
    else
        TRY(lower_attr_int(l, "k", 0, &best.k));
    TRY(lower_tf_dtype(l, "index_type", DT_INT32, &best.positions));
    return lower_best(l, in, &best);
}

/* The n-th smallest element of the last axis, counted from 0, or the n-th largest: the last of n + 1 best ones. */
odlc_status tf_nth_element(struct lower *l)
{
    tensor_id in, outs[2];
    int64_t n;
    bool largest;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_one_int(l, 1, "n", &n));
    TRY(lower_attr_bool(l, "reverse", false, &largest));
    const struct shape shape = build_type(l->b, in)->shape;
    if (shape.rank == 0 || n < 0 || n >= shape.dims[shape.rank - 1])
        return lower_invalid(l, "n", NULL, "n is %lld in %s", (long long)n, shape_text(l->diags->arena, &shape));
    build_op(l->b, OP_TopK, fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, PARAM_k, n + 1);
    build_int(l->b, PARAM_largest, largest);
    TRY(build_end_n(l->b, (const char *const[]){step_name(l, "best"), NULL}, 2, outs));
    struct emit s = {.l = l};
    return emit_give(&s, 0, emit_element(&s, outs[0], shape.rank - 1, n));
}

/* ---- ReverseSequence ---- */

odlc_status tf_reverse_sequence(struct lower *l)
{
    tensor_id in, lengths;
    const int64_t *known;
    int64_t time, batch;
    uint32_t count, time_axis, batch_axis;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_need(l, 1, "seq_lengths", &lengths));
    TRY(lower_attr_int(l, "seq_dim", 0, &time));
    TRY(lower_attr_int(l, "batch_dim", 0, &batch));
    const struct shape shape = build_type(l->b, in)->shape;
    TRY(lower_axis(l, "seq_dim", time, shape.rank, &time_axis));
    TRY(lower_axis(l, "batch_dim", batch, shape.rank, &batch_axis));
    if (time_axis == batch_axis)
        return lower_invalid(l, "seq_dim", NULL, "seq_dim and batch_dim are both %u", time_axis);
    struct shape one_each = SHAPE(shape.dims[batch_axis]);
    if (!shape_equal(&build_type(l->b, lengths)->shape, &one_each))
        return lower_invalid(l, "seq_lengths", NULL, "lengths %s for a batch of %lld",
                             shape_text(l->diags->arena, &build_type(l->b, lengths)->shape),
                             (long long)shape.dims[batch_axis]);
    if (!build_is_const(l->b, lengths))
        return lower_reverse_starts_by(l, in, time_axis, batch_axis, lengths);
    TRY(lower_const_ints(l, 1, "seq_lengths", &known, &count));
    return lower_reverse_starts(l, in, time_axis, batch_axis, known);
}

/* ---- DynamicStitch, DynamicPartition ---- */

/* `in` with its first axes, as many as `index` has, made one. */
static odlc_status as_rows(const struct lower *l, tensor_id in, const struct shape *index, tensor_id *out)
{
    const struct shape shape = build_type(l->b, in)->shape;
    struct shape rows = SHAPE((int64_t)shape_count(index));
    bool fits = index->rank <= shape.rank && append_dims(&rows, &shape, index->rank, shape.rank);
    for (uint32_t i = 0; fits && i < index->rank; i++)
        fits = shape.dims[i] == index->dims[i];
    if (!fits)
        return lower_invalid(l, NULL, NULL, "%s does not begin with the axes of %s",
                             shape_text(l->diags->arena, &shape), shape_text(l->diags->arena, index));
    return build_reshape(l->b, in, &rows, step_name(l, "rows"), out);
}

/* For each row of the result, the number of the row of all data that comes there: the last one that is sent there. */
static odlc_status stitched_rows(const struct lower *l, uint32_t n, int64_t **out, int64_t *rows)
{
    const int64_t *at;
    uint32_t count;
    int64_t all = 0, number = 0;
    *rows = 0;
    for (uint32_t m = 0; m < n; m++) {
        TRY(lower_const_ints(l, m, "indices", &at, &count));
        all += count;
        for (uint32_t i = 0; i < count; i++) {
            if (at[i] < 0 || at[i] >= INT32_MAX)
                return lower_invalid(l, "indices", NULL, "index %lld is not possible", (long long)at[i]);
            *rows = max_i64(*rows, at[i] + 1);
        }
    }
    if (*rows > all)
        return lower_unsupported(l, "indices", NULL, "%lld rows are made of %lld: some would have no value",
                                 (long long)*rows, (long long)all);
    TRY(lower_table(l, (uint64_t)*rows, sizeof **out, out));
    for (int64_t i = 0; i < *rows; i++)
        (*out)[i] = -1;
    for (uint32_t m = 0; m < n; m++) {
        TRY(lower_const_ints(l, m, "indices", &at, &count));
        for (uint32_t i = 0; i < count; i++)
            (*out)[at[i]] = number++;
    }
    for (int64_t i = 0; i < *rows; i++)
        if ((*out)[i] < 0)
            return lower_unsupported(l, "indices", NULL, "no index is %lld: that row would have no value",
                                     (long long)i);
    return ODLC_OK;
}

odlc_status tf_dynamic_stitch(struct lower *l)
{
    uint32_t n = l->n_in / 2;
    int64_t *places, rows;
    tensor_id all, id, *parts = arena_array(l->arena, tensor_id, (size_t)n + 1);
    if (n == 0 || l->n_in % 2)
        return lower_invalid(l, NULL, NULL, "%u inputs are not as many indices as data", l->n_in);
    for (uint32_t i = 0; i < 2 * n; i++)
        TRY(lower_need(l, i, i < n ? "indices" : "data", &id));
    TRY(stitched_rows(l, n, &places, &rows));
    for (uint32_t i = 0; i < n; i++)
        TRY(as_rows(l, l->in[n + i], &build_type(l->b, l->in[i])->shape, &parts[i]));
    TRY(lower_concat_tensors(l, parts, n, 0, step_name(l, "joined"), &all));
    return lower_gather_positions(l, all, 0, places, rows, lower_out_name(l, 0), &l->out[0]);
}

/* The rows of each part that is read, one part after another: those of part k end at ends[k]. */
static odlc_status rows_of_parts(const struct lower *l, int64_t parts, int64_t **places, int64_t **ends)
{
    const int64_t *part;
    uint32_t count;
    TRY(lower_const_ints(l, 1, "partitions", &part, &count));
    TRY(lower_table(l, (uint64_t)l->n_out + 1, sizeof **ends, ends));
    TRY(lower_table(l, count, sizeof **places, places));
    for (uint32_t i = 0; i < count; i++) {
        if (part[i] < 0 || part[i] >= parts)
            return lower_invalid(l, "partitions", NULL, "partition %lld is not one of %lld", (long long)part[i],
                                 (long long)parts);
        if (part[i] < l->n_out)
            (*ends)[part[i] + 1]++;
    }
    for (uint32_t k = 0; k < l->n_out; k++)
        (*ends)[k + 1] += (*ends)[k]; /* now where the part begins */
    for (uint32_t i = 0; i < count; i++)
        if (part[i] < l->n_out)
            (*places)[(*ends)[part[i]]++] = i;
    return ODLC_OK;
}

odlc_status tf_dynamic_partition(struct lower *l)
{
    tensor_id data, partitions;
    int64_t parts, *ends, *places;
    TRY(lower_need(l, 0, "data", &data));
    TRY(lower_need(l, 1, "partitions", &partitions));
    TRY(lower_attr_int(l, "num_partitions", 1, &parts));
    TRY(tf_check_outputs(l, parts));
    TRY(rows_of_parts(l, parts, &places, &ends));
    TRY(as_rows(l, data, &build_type(l->b, partitions)->shape, &data));
    for (uint32_t k = 0; k < l->n_out; k++) {
        int64_t begin = k ? ends[k - 1] : 0;
        TRY(lower_gather_positions(l, data, 0, places + begin, ends[k] - begin, lower_out_name(l, k), &l->out[k]));
    }
    return ODLC_OK;
}
