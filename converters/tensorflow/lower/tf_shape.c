/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators that rearrange elements: Reshape and its relatives, Transpose, Concat, Split, Pack, Tile. */
#include "converters/lowering/shapes.h"

#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/lists.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

odlc_status tf_check_outputs(const struct lower *l, int64_t count)
{
    if (l->n_out > count)
        return lower_invalid(l, NULL, NULL, "output %u is read, but there are %lld", l->n_out - 1, (long long)count);
    return ODLC_OK;
}

/* ---- Reshape, Squeeze, ExpandDims, EnsureShape ---- */

/* Ends a node whose result is its first input in another shape. */
static odlc_status reshape_to(struct lower *l, const struct shape *shape)
{
    return build_reshape(l->b, l->in[0], shape, lower_out_name(l, 0), &l->out[0]);
}

static odlc_status input_shape(const struct lower *l, struct shape *out)
{
    tensor_id in;
    TRY(lower_need(l, 0, "input", &in));
    *out = build_type(l->b, in)->shape;
    return ODLC_OK;
}

odlc_status tf_reshape(struct lower *l)
{
    tensor_id list;
    struct shape in, shape;
    const int64_t *dims;
    uint32_t count, rest = MAX_RANK;
    l->takes_sizes = true;
    TRY(input_shape(l, &in));
    TRY(lower_need(l, 1, "shape", &list));
    TRY(lower_const_ints(l, 1, "shape", &dims, &count));
    if (count > MAX_RANK)
        return lower_unsupported(l, "shape", NULL, "rank %u is beyond %d", count, MAX_RANK);
    shape = (struct shape){.rank = count};
    for (uint32_t i = 0; i < count; i++) {
        shape.dims[i] = dims[i];
        if (dims[i] == -1 && rest != MAX_RANK)
            return lower_invalid(l, "shape", NULL, "the shape has -1 twice");
        rest = dims[i] == -1 ? i : rest;
    }
    if (rest != MAX_RANK)
        TRY(lower_rest_dim(l, &in, rest, &shape));
    TRY(lower_check_shape(l, "shape", &shape));
    return reshape_to(l, &shape);
}

odlc_status tf_squeeze(struct lower *l)
{
    struct shape in, shape = {.rank = 0};
    const int64_t *list;
    uint32_t count, axes[MAX_RANK], drop = 0;
    TRY(input_shape(l, &in));
    TRY(lower_attr_ints(l, "squeeze_dims", &list, &count));
    TRY(lower_axes(l, "squeeze_dims", list, count, in.rank, axes));
    for (uint32_t i = 0; i < count; i++) {
        drop |= 1u << axes[i];
        if (in.dims[axes[i]] != 1)
            return lower_invalid(l, "squeeze_dims", NULL, "axis %u of %s is not 1", axes[i],
                                 shape_text(l->diags->arena, &in));
    }
    for (uint32_t i = 0; i < in.rank; i++)
        if (count ? !(drop >> i & 1) : in.dims[i] != 1)
            shape.dims[shape.rank++] = in.dims[i];
    return reshape_to(l, &shape);
}

odlc_status tf_expand_dims(struct lower *l)
{
    struct shape in;
    uint32_t axis;
    TRY(input_shape(l, &in));
    if (in.rank == MAX_RANK)
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    TRY(lower_axis_input(l, 1, "dim", in.rank + 1, &axis));
    struct shape shape = {.rank = in.rank + 1};
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = i == axis ? 1 : in.dims[i - (i > axis)];
    return reshape_to(l, &shape);
}

/* Nothing but a check, which is made now. */
odlc_status tf_ensure_shape(struct lower *l)
{
    struct shape in;
    const int64_t *dims;
    uint32_t count;
    TRY(input_shape(l, &in));
    l->out[0] = l->in[0];
    const struct fw_attr *shape = fw_find_attr(l->node, "shape");
    if (!shape || shape->kind == FW_OTHER) /* of any rank */
        return ODLC_OK;
    TRY(lower_attr_ints(l, "shape", &dims, &count));
    bool fits = count == in.rank;
    for (uint32_t i = 0; fits && i < count; i++)
        fits = dims[i] < 0 || dims[i] == in.dims[i];
    if (!fits)
        return lower_invalid(l, "shape", NULL, "the input has the shape %s, which is not the one ensured",
                             shape_text(l->diags->arena, &in));
    return ODLC_OK;
}

/* ---- Transpose ---- */

odlc_status tf_transpose(struct lower *l)
{
    struct shape in;
    const int64_t *list;
    uint32_t count, axes[MAX_RANK];
    TRY(input_shape(l, &in));
    TRY(lower_const_ints(l, 1, "perm", &list, &count));
    if (count != in.rank)
        return lower_invalid(l, "perm", NULL, "perm has %u axes for a tensor of rank %u", count, in.rank);
    TRY(lower_axes(l, "perm", list, count, in.rank, axes));
    struct perm perm = {.rank = in.rank};
    for (uint32_t i = 0; i < in.rank; i++)
        perm.axis[i] = (uint8_t)axes[i];
    return build_transpose(l->b, l->in[0], &perm, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Concat ---- */

/* Inputs [from, to) end to end. */
static odlc_status join_inputs(struct lower *l, uint32_t from, uint32_t to, int64_t axis)
{
    tensor_id in;
    if (to <= from)
        return lower_invalid(l, NULL, NULL, "there is nothing to join");
    for (uint32_t i = from; i < to; i++)
        TRY(lower_need(l, i, "values", &in));
    return lower_concat_tensors(l, l->in + from, to - from, axis, lower_out_name(l, 0), &l->out[0]);
}

/* The axis is the first input, or the last one. */
odlc_status tf_concat(struct lower *l)
{
    bool last = l->variant != NULL;
    uint32_t at = last && l->n_in ? l->n_in - 1 : 0;
    const int64_t *axis;
    uint32_t count;
    TRY(lower_const_ints(l, at, "axis", &axis, &count));
    if (count != 1)
        return lower_invalid(l, "axis", NULL, "axis is not one number");
    return last ? join_inputs(l, 0, at, axis[0]) : join_inputs(l, 1, l->n_in, axis[0]);
}

/* Each value has one element along the first axis. */
odlc_status tf_parallel_concat(struct lower *l)
{
    return join_inputs(l, 0, l->n_in, 0);
}

odlc_status tf_pack(struct lower *l)
{
    tensor_id in;
    int64_t axis;
    uint32_t at;
    struct emit s = {.l = l};
    for (uint32_t i = 0; i < l->n_in || i == 0; i++)
        TRY(lower_need(l, i, "values", &in));
    TRY(lower_attr_int(l, "axis", 0, &axis));
    TRY(lower_axis(l, "axis", axis, build_rank(l->b, l->in[0]) + 1, &at));
    return emit_give(&s, 0, emit_stack(&s, l->in, l->n_in, at));
}

/* ---- Split, Unpack ---- */

/* The parts that something reads: the rest of the axis stays in one piece. */
static odlc_status cut_outputs(const struct lower *l, tensor_id in, uint32_t axis, int64_t *sizes, uint32_t count,
                               const char *const *names, tensor_id *outs)
{
    TRY(tf_check_outputs(l, count));
    if (l->n_out == 1)
        return lower_slice_axis(l, in, axis, 0, sizes[0], names[0], &outs[0]);
    uint32_t read = l->n_out;
    const char **all = arena_array(l->arena, const char *, (size_t)read + 1);
    tensor_id *parts = arena_array(l->arena, tensor_id, (size_t)read + 1);
    for (uint32_t i = 0; i < read; i++)
        all[i] = names[i];
    for (uint32_t i = read + 1; i < count; i++)
        sizes[read] += sizes[i];
    TRY(lower_split_axis(l, in, axis, sizes, read + (count > read), all, parts));
    for (uint32_t i = 0; i < read; i++)
        outs[i] = parts[i];
    return ODLC_OK;
}

/* Sizes of equal parts. */
static odlc_status equal_sizes(const struct lower *l, int64_t dim, int64_t parts, int64_t **out)
{
    if (parts < 1 || dim % parts || parts > INT32_MAX)
        return lower_invalid(l, "num_split", NULL, "%lld elements cannot be split into %lld equal parts",
                             (long long)dim, (long long)parts);
    TRY(lower_table(l, (uint64_t)parts, sizeof **out, out));
    for (int64_t i = 0; i < parts; i++)
        (*out)[i] = dim / parts;
    return ODLC_OK;
}

odlc_status tf_split(struct lower *l)
{
    tensor_id in;
    uint32_t axis;
    int64_t parts, *sizes;
    TRY(lower_need(l, 1, "value", &in));
    TRY(lower_axis_input(l, 0, "split_dim", build_rank(l->b, in), &axis));
    TRY(lower_attr_int(l, "num_split", 1, &parts));
    TRY(equal_sizes(l, build_type(l->b, in)->shape.dims[axis], parts, &sizes));
    return cut_outputs(l, in, axis, sizes, (uint32_t)parts, l->node->outputs, l->out);
}

/* One size may be -1: what the others leave. */
static odlc_status given_sizes(const struct lower *l, int64_t dim, int64_t **out, uint32_t *count)
{
    const int64_t *given;
    int64_t left = dim;
    uint32_t rest = UINT32_MAX;
    TRY(lower_const_ints(l, 1, "size_splits", &given, count));
    *out = arena_array(l->arena, int64_t, *count);
    for (uint32_t i = 0; i < *count; i++) {
        (*out)[i] = given[i];
        if (given[i] == -1 && rest == UINT32_MAX)
            rest = i;
        else if (given[i] < 0 || given[i] > left)
            return lower_invalid(l, "size_splits", NULL, "part %u of %lld elements does not fit an axis of %lld", i,
                                 (long long)given[i], (long long)dim);
        else
            left -= given[i];
    }
    if (rest != UINT32_MAX)
        (*out)[rest] = left;
    else if (left)
        return lower_invalid(l, "size_splits", NULL, "the parts leave %lld of %lld elements", (long long)left,
                             (long long)dim);
    return ODLC_OK;
}

odlc_status tf_split_v(struct lower *l)
{
    tensor_id in;
    uint32_t axis, count;
    int64_t *sizes;
    TRY(lower_need(l, 0, "value", &in));
    TRY(lower_axis_input(l, 2, "split_dim", build_rank(l->b, in), &axis));
    TRY(given_sizes(l, build_type(l->b, in)->shape.dims[axis], &sizes, &count));
    return cut_outputs(l, in, axis, sizes, count, l->node->outputs, l->out);
}

odlc_status tf_unpack(struct lower *l)
{
    struct shape shape;
    int64_t given, number, *sizes;
    uint32_t axis;
    TRY(input_shape(l, &shape));
    TRY(lower_attr_int(l, "axis", 0, &given));
    TRY(lower_axis(l, "axis", given, shape.rank, &axis));
    TRY(lower_attr_int(l, "num", shape.dims[axis], &number));
    if (number != shape.dims[axis])
        return lower_invalid(l, "num", NULL, "%lld parts of an axis of %lld elements", (long long)number,
                             (long long)shape.dims[axis]);
    TRY(tf_check_outputs(l, number));
    TRY(equal_sizes(l, number, number, &sizes));
    const char **names = arena_array(l->arena, const char *, l->n_out);
    for (uint32_t i = 0; i < l->n_out; i++)
        names[i] = step_name(l, "part");
    TRY(cut_outputs(l, l->in[0], axis, sizes, (uint32_t)number, names, l->out));
    struct shape part = {.rank = shape.rank - 1};
    for (uint32_t i = 0; i < part.rank; i++)
        part.dims[i] = shape.dims[i + (i >= axis)];
    for (uint32_t i = 0; i < l->n_out; i++)
        TRY(build_reshape(l->b, l->out[i], &part, lower_out_name(l, i), &l->out[i]));
    return ODLC_OK;
}

/* ---- Tile, BroadcastTo ---- */

odlc_status tf_tile(struct lower *l)
{
    struct shape in;
    const int64_t *multiples;
    uint32_t count;
    TRY(input_shape(l, &in));
    TRY(lower_const_ints(l, 1, "multiples", &multiples, &count));
    if (count != in.rank)
        return lower_invalid(l, "multiples", NULL, "%u multiples for a tensor of rank %u", count, in.rank);
    return lower_tile_axes(l, l->in[0], multiples, lower_out_name(l, 0), &l->out[0]);
}

odlc_status tf_broadcast_to(struct lower *l)
{
    struct shape in, asked, shape;
    const int64_t *dims;
    uint32_t count;
    l->takes_sizes = true;
    TRY(input_shape(l, &in));
    TRY(lower_const_ints(l, 1, "shape", &dims, &count));
    TRY(lower_shape_of(l, "shape", dims, count, &asked));
    if (!shape_broadcast(&in, &asked, &shape) || !shape_equal(&shape, &asked))
        return lower_invalid(l, "shape", NULL, "%s cannot be broadcast to %s", shape_text(l->diags->arena, &in),
                             shape_text(l->diags->arena, &asked));
    TRY(lower_broadcast(l, l->in[0], &asked, lower_out_name(l, 0), &l->out[0]));
    if (l->out[0] != l->in[0])
        lower_note_sizes(l, 0, l->in[1], 0);
    return ODLC_OK;
}
