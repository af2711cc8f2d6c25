/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/gather.h"

#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

/* ---- indices ---- */

odlc_status lower_indices(const struct lower *l, uint32_t i, enum index_range range, const int64_t *dims,
                          uint64_t n_dims, tensor_id *out)
{
    tensor_id id;
    TRY(lower_need(l, i, "indices", &id));
    const struct type type = *build_type(l->b, id);
    uint64_t count = shape_count(&type.shape);
    if (!dtype_is_int(type.dtype))
        return lower_invalid(l, "indices", NULL, "the indices are %s", dtype_info(type.dtype)->name);
    *out = id;
    if (!build_is_const(l->b, id))
        return ODLC_OK;
    int64_t *normal;
    TRY(lower_table(l, count, sizeof *normal, &normal));
    bool changed = false;
    const int64_t *given = build_const_as_ints(l->b, id, &count);
    for (uint64_t k = 0; k < count; k++) {
        int64_t dim = dims[k % n_dims];
        if (given[k] < (range == BOTH_ENDS ? -dim : 0) || given[k] >= dim)
            return lower_invalid(l, "indices", NULL, "index %lld is outside an axis of %lld elements",
                                 (long long)given[k], (long long)dim);
        normal[k] = given[k] < 0 ? given[k] + dim : given[k];
        changed |= given[k] < 0;
    }
    if (changed)
        *out = build_const_ints(l->b, step_name(l, "indices"), type.dtype, &type.shape, normal);
    return ODLC_OK;
}

odlc_status lower_coordinates(const struct lower *l, uint32_t i, enum index_range range, const struct shape *shape,
                              int64_t batch_dims, tensor_id *out)
{
    tensor_id raw;
    TRY(lower_need(l, i, "indices", &raw));
    const struct shape given = build_type(l->b, raw)->shape;
    if (given.rank == 0 || batch_dims < 0 || batch_dims >= min_i64(given.rank, shape->rank))
        return lower_invalid(l, "batch_dims", NULL, "batch_dims %lld does not fit indices of rank %u",
                             (long long)batch_dims, given.rank);
    int64_t depth = given.dims[given.rank - 1];
    if (depth < 1 || depth > (int64_t)shape->rank - batch_dims)
        return lower_invalid(l, "indices", NULL, "coordinates of %lld values do not fit %s", (long long)depth,
                             shape_text(l->diags->arena, shape));
    return lower_indices(l, i, range, shape->dims + batch_dims, (uint64_t)depth, out);
}

/* ---- gathering ---- */

/* A scalar index drops the axis: gathered with one index, which leaves an axis of 1 to drop. */
odlc_status lower_gather_axis(const struct lower *l, tensor_id data, tensor_id indices, uint32_t axis,
                              const char *out_name, tensor_id *out)
{
    const struct shape shape = build_type(l->b, data)->shape;
    bool scalar = build_rank(l->b, indices) == 0;
    struct shape one = SHAPE(1);
    TRY(scalar ? build_reshape(l->b, indices, &one, step_name(l, "index"), &indices) : ODLC_OK);
    build_op(l->b, OP_Gather, fw_node_label(l->node));
    build_in(l->b, data);
    build_in(l->b, indices);
    build_int(l->b, PARAM_axis, axis);
    TRY(build_end(l->b, scalar ? step_name(l, "gathered") : out_name, out));
    if (!scalar)
        return ODLC_OK;
    struct shape dropped = {.rank = 0};
    for (uint32_t i = 0; i < shape.rank; i++)
        if (i != axis)
            dropped.dims[dropped.rank++] = shape.dims[i];
    return build_reshape(l->b, *out, &dropped, out_name, out);
}

odlc_status lower_gather_slices(const struct lower *l, tensor_id data, tensor_id coordinates, int64_t batch_dims,
                                const char *out_name, tensor_id *out)
{
    build_op(l->b, OP_GatherNd, fw_node_label(l->node));
    build_in(l->b, data);
    build_in(l->b, coordinates);
    build_int(l->b, PARAM_batch_dims, batch_dims);
    return build_end(l->b, out_name, out);
}

/* ---- OneHot ---- */

odlc_status lower_hot_indices(const struct lower *l, uint32_t i, tensor_id *indices)
{
    TRY(lower_need(l, i, "indices", indices));
    enum dtype dtype = build_type(l->b, *indices)->dtype;
    if (dtype == DT_STRING)
        return lower_invalid(l, "indices", NULL, "the indices are strings");
    return dtype_is_int(dtype) ? ODLC_OK : build_cast(l->b, *indices, DT_INT32, step_name(l, "indices"), indices);
}

/* The params are float32; the result is cast to the type of the values afterwards. */
odlc_status lower_hot(struct lower *l, tensor_id indices, const struct hot *h)
{
    const double values[] = {h->off, h->on};
    for (uint32_t i = 0; i < 2; i++)
        if (!dtype_is_float(h->dtype) && (double)(float)values[i] != values[i])
            return lower_unsupported(l, "values", NULL, "the value %.0f is beyond float32", values[i]);
    uint32_t at;
    bool scalar = build_rank(l->b, indices) == 0, last = h->dtype == DT_FLOAT32;
    TRY(lower_axis(l, "axis", h->axis, build_rank(l->b, indices) + 1, &at));
    struct shape one = SHAPE(1), vector = SHAPE(h->depth);
    if (scalar) /* the op takes rank 1 or more */
        TRY(build_reshape(l->b, indices, &one, step_name(l, "index"), &indices));
    tensor_id hot;
    build_op(l->b, OP_OneHot, fw_node_label(l->node));
    build_in(l->b, indices);
    build_int(l->b, PARAM_depth, h->depth);
    build_int(l->b, PARAM_axis, scalar ? 1 : at);
    build_float(l->b, PARAM_on_value, h->on);
    build_float(l->b, PARAM_off_value, h->off);
    TRY(build_end(l->b, last && !scalar ? lower_out_name(l, 0) : step_name(l, "hot"), &hot));
    if (scalar)
        TRY(build_reshape(l->b, hot, &vector, last ? lower_out_name(l, 0) : step_name(l, "vector"), &hot));
    return build_cast(l->b, hot, h->dtype, lower_out_name(l, 0), &l->out[0]);
}

/* ---- TopK ---- */

/* Along the last axis; the op's own positions are int32. */
static odlc_status best_of_last(const struct lower *l, tensor_id in, const struct best *best, const char *const *names,
                                tensor_id *outs)
{
    bool cast = best->positions != DT_INT32;
    const char *const own[] = {names[0], cast ? step_name(l, "indices") : names[1]};
    build_op(l->b, OP_TopK, fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, PARAM_k, best->k);
    build_int(l->b, PARAM_largest, best->largest);
    TRY(build_end_n(l->b, own, 2, outs));
    return build_cast(l->b, outs[1], best->positions, names[1], &outs[1]);
}

odlc_status lower_best(struct lower *l, tensor_id in, const struct best *best)
{
    uint32_t rank = build_rank(l->b, in), at;
    TRY(lower_axis(l, "axis", best->axis, rank, &at));
    int64_t dim = build_type(l->b, in)->shape.dims[at];
    if (best->k < 1 || best->k > dim)
        return lower_invalid(l, "K", NULL, "K is not a number from 1 to the %lld elements of axis %u", (long long)dim,
                             at);
    struct perm swap = perm_identity(rank);
    swap.axis[at] = (uint8_t)(rank - 1);
    swap.axis[rank - 1] = (uint8_t)at;
    bool last = perm_is_identity(&swap);
    tensor_id outs[2];
    const char *const inner[] = {step_name(l, "values"), step_name(l, "positions")};
    const char *const own[] = {lower_out_name(l, 0), lower_out_name(l, 1)};
    TRY(build_transpose(l->b, in, &swap, step_name(l, "last"), &in));
    TRY(best_of_last(l, in, best, last ? own : inner, outs));
    for (uint32_t i = 0; i < l->n_out && i < 2; i++)
        TRY(build_transpose(l->b, outs[i], &swap, own[i], &l->out[i]));
    return ODLC_OK;
}

/* ---- sequences ---- */

/* Time and batch are the first two axes, in either order: their pairs are picked from one joined axis. */
static odlc_status reverse_pairs(const struct lower *l, tensor_id in, uint32_t time_axis, const int64_t *lengths,
                                 const char *out_name, tensor_id *out)
{
    const struct shape shape = build_type(l->b, in)->shape;
    int64_t times = shape.dims[time_axis], count = shape.dims[!time_axis], total = times * count;
    int64_t time_step = time_axis ? 1 : count, batch_step = time_axis ? times : 1;
    int64_t *positions;
    TRY(lower_table(l, (uint64_t)total, sizeof *positions, &positions));
    for (int64_t b = 0; b < count; b++) {
        if (lengths[b] < 0 || lengths[b] > times)
            return lower_invalid(l, "sequence_lens", NULL, "the length %lld is outside 0 to %lld",
                                 (long long)lengths[b], (long long)times);
        for (int64_t t = 0; t < times; t++)
            positions[t * time_step + b * batch_step] =
                (t < lengths[b] ? lengths[b] - 1 - t : t) * time_step + b * batch_step;
    }
    struct shape joined = {.rank = shape.rank - 1, .dims = {total}};
    memcpy(joined.dims + 1, shape.dims + 2, (joined.rank - 1) * sizeof *joined.dims);
    TRY(build_reshape(l->b, in, &joined, step_name(l, "joined"), &in));
    TRY(lower_gather_positions(l, in, 0, positions, total, step_name(l, "reversed"), &in));
    return build_reshape(l->b, in, &shape, out_name, out);
}

/* Brings the batch axis to the front and the time axis behind it. */
static struct perm batch_first(uint32_t rank, uint32_t time_axis, uint32_t batch_axis)
{
    struct perm front = {.rank = rank, .axis = {(uint8_t)batch_axis, (uint8_t)time_axis}};
    for (uint32_t i = 0, to = 2; i < rank; i++)
        if (i != time_axis && i != batch_axis)
            front.axis[to++] = (uint8_t)i;
    return front;
}

odlc_status lower_reverse_starts(struct lower *l, tensor_id in, uint32_t time_axis, uint32_t batch_axis,
                                 const int64_t *lengths)
{
    if (time_axis < 2 && batch_axis < 2)
        return reverse_pairs(l, in, time_axis, lengths, lower_out_name(l, 0), &l->out[0]);
    struct perm front = batch_first(build_rank(l->b, in), time_axis, batch_axis), back = perm_inverse(&front);
    TRY(build_transpose(l->b, in, &front, step_name(l, "front"), &in));
    TRY(reverse_pairs(l, in, 1, lengths, step_name(l, "turned"), &in));
    return build_transpose(l->b, in, &back, lower_out_name(l, 0), &l->out[0]);
}

/* Where the element of each batch and time comes from is computed: length - 1 - time, or the time itself. */
odlc_status lower_reverse_starts_by(struct lower *l, tensor_id in, uint32_t time_axis, uint32_t batch_axis,
                                    tensor_id lengths)
{
    struct emit s = {.l = l};
    struct perm front = batch_first(build_rank(l->b, in), time_axis, batch_axis), back = perm_inverse(&front);
    in = emit_transpose(&s, in, &front);
    TRY(s.status);
    const struct shape shape = build_type(l->b, in)->shape;
    double *times;
    TRY(lower_table(l, (uint64_t)shape.dims[1], sizeof *times, &times));
    for (int64_t i = 0; i < shape.dims[1]; i++)
        times[i] = (double)i;
    tensor_id length = emit_reshape(&s, emit_cast(&s, lengths, DT_INT32), &SHAPE(shape.dims[0], 1));
    tensor_id time = emit_constant(&s, DT_INT32, &SHAPE(1, shape.dims[1]), times);
    tensor_id is_start = emit_binary(&s, OP_ElementWiseLess, time, length);
    tensor_id one = emit_scalar(&s, time, 1);
    tensor_id turned = emit_binary(&s, OP_ElementWiseSubtract, length, one);
    turned = emit_binary(&s, OP_ElementWiseSubtract, turned, time);
    tensor_id from = emit_select(&s, is_start, turned, time);
    from = emit_reshape(&s, from, &SHAPE(shape.dims[0], shape.dims[1], 1));
    TRY(s.status);
    bool moved = !perm_is_identity(&back);
    const char *name = lower_out_name(l, 0);
    TRY(lower_gather_slices(l, in, from, 1, moved ? step_name(l, "turned") : name, &in));
    return build_transpose(l->b, in, &back, name, &l->out[0]);
}
