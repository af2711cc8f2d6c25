/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/shapes.h"

#include <string.h>

const char *step_name(const struct lower *l, const char *step)
{
    return arena_join(l->arena, fw_node_label(l->node), ".", step);
}

odlc_status lower_choose(const struct lower *l, const char *attribute, const char *absent, const struct choice *choices,
                         size_t count, int *out)
{
    const char *name;
    TRY(lower_attr_string(l, attribute, absent, &name));
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, choices[i].name) == 0) {
            *out = choices[i].value;
            return ODLC_OK;
        }
    return lower_invalid(l, attribute, NULL, "unknown %s %s", attribute, name);
}

odlc_status lower_axis(const struct lower *l, const char *name, int64_t axis, uint32_t rank, uint32_t *out)
{
    if (!axis_normalize(axis, rank, out))
        return lower_invalid(l, name, NULL, "%s %lld is outside a tensor of rank %u", name, (long long)axis, rank);
    return ODLC_OK;
}

odlc_status lower_axes(const struct lower *l, const char *name, const int64_t *axes, uint32_t count, uint32_t rank,
                       uint32_t *out)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        TRY(lower_axis(l, name, axes[i], rank, &axis));
        if (seen >> axis & 1)
            return lower_invalid(l, name, NULL, "%s has axis %u twice", name, axis);
        seen |= 1u << axis;
        out[i] = axis;
    }
    return ODLC_OK;
}

odlc_status lower_axis_input(const struct lower *l, uint32_t i, const char *name, uint32_t rank, uint32_t *out)
{
    const int64_t *axis;
    uint32_t count;
    TRY(lower_const_ints(l, i, name, &axis, &count));
    if (count != 1)
        return lower_invalid(l, name, NULL, "%s is not one number", name);
    return lower_axis(l, name, axis[0], rank, out);
}

odlc_status lower_check_shape(const struct lower *l, const char *name, const struct shape *shape)
{
    if (shape_too_large(shape))
        return lower_invalid(l, name, NULL, "the shape %s is not possible", shape_text(l->diags->arena, shape));
    return ODLC_OK;
}

odlc_status lower_shape_of(const struct lower *l, const char *name, const int64_t *dims, uint32_t count,
                           struct shape *out)
{
    if (count > MAX_RANK)
        return lower_unsupported(l, name, NULL, "rank %u is beyond %d", count, MAX_RANK);
    *out = (struct shape){.rank = count};
    for (uint32_t i = 0; i < count; i++)
        out->dims[i] = dims[i];
    return lower_check_shape(l, name, out);
}

void lower_note_sizes(struct lower *l, uint32_t i, tensor_id sizes, uint32_t first)
{
    uint64_t unknown = build_filler(l->b, sizes).sizes;
    if (!unknown || i >= l->n_out)
        return;
    struct filler filler = build_filler(l->b, l->out[i]);
    filler.axes |= (uint8_t)((unknown == ALL_SIZES ? UINT8_MAX : unknown) << first);
    filler.axes &= (uint8_t)((1u << build_rank(l->b, l->out[i])) - 1);
    build_set_filler(l->b, l->out[i], filler);
}

odlc_status lower_rest_dim(const struct lower *l, const struct shape *from, uint32_t at, struct shape *shape)
{
    struct shape others = *shape;
    others.dims[at] = 1;
    TRY(lower_check_shape(l, "shape", &others));
    uint64_t count = shape_count(from), known = shape_count(&others);
    if (known == 0 || count % known)
        return lower_invalid(l, "shape", NULL, "no value for -1 makes %s of %s", shape_text(l->diags->arena, shape),
                             shape_text(l->diags->arena, from));
    shape->dims[at] = (int64_t)(count / known);
    return ODLC_OK;
}

tensor_id lower_splat(const struct lower *l, const char *name, enum dtype dtype, const struct shape *shape,
                      int64_t value)
{
    struct view view = view_splat_int(l->arena, dtype, shape, value);
    return graph_add_constant(l->b->graph, name, dtype, &view);
}

odlc_status lower_gather_positions(const struct lower *l, tensor_id in, uint32_t axis, const int64_t *positions,
                                   int64_t count, const char *out_name, tensor_id *out)
{
    struct shape shape = SHAPE(count);
    tensor_id indices = build_const_ints(l->b, step_name(l, "indices"), DT_INT32, &shape, positions);
    build_op(l->b, OP_Gather, fw_node_label(l->node));
    build_in(l->b, in);
    build_in(l->b, indices);
    build_int(l->b, PARAM_axis, axis);
    return build_end(l->b, out_name, out);
}

odlc_status lower_tile_axes(const struct lower *l, tensor_id in, const int64_t *multiples, const char *out_name,
                            tensor_id *out)
{
    uint32_t rank = build_rank(l->b, in);
    bool once = true;
    for (uint32_t i = 0; i < rank; i++)
        once &= multiples[i] == 1;
    if (once) {
        *out = in;
        return ODLC_OK;
    }
    build_op(l->b, OP_Tile, fw_node_label(l->node));
    build_in(l->b, in);
    build_ints(l->b, PARAM_multiples, multiples, rank);
    return build_end(l->b, out_name, out);
}

/* A constant of one element in any shape is a splat. False for other tensors. */
static bool broadcast_constant(const struct lower *l, tensor_id in, const struct shape *shape, const char *out_name,
                               tensor_id *out)
{
    const struct tensor *t = graph_tensor(l->b->graph, in);
    if (t->kind != TENSOR_STATIC || shape_count(&t->type->shape) != 1 || t->view->scale)
        return false;
    struct view view = *t->view;
    view.splat = true;
    view.shape = *shape;
    view.perm = perm_identity(shape->rank);
    *out = graph_add_constant(l->b->graph, out_name, t->type->dtype, &view);
    return true;
}

odlc_status lower_broadcast(const struct lower *l, tensor_id in, const struct shape *shape, const char *out_name,
                            tensor_id *out)
{
    struct shape from = build_type(l->b, in)->shape;
    if (!shape_equal(&from, shape) && broadcast_constant(l, in, shape, out_name, out))
        return ODLC_OK;
    struct shape aligned = {.rank = shape->rank};
    int64_t multiples[MAX_RANK];
    for (uint32_t i = 0, added = shape->rank - from.rank; i < shape->rank; i++) {
        aligned.dims[i] = i < added ? 1 : from.dims[i - added];
        multiples[i] = aligned.dims[i] == shape->dims[i] ? 1 : shape->dims[i];
    }
    TRY(build_reshape(l->b, in, &aligned, step_name(l, "aligned"), &in));
    return lower_tile_axes(l, in, multiples, out_name, out);
}

struct slices slices_whole(const struct shape *shape)
{
    struct slices s = {.rank = shape->rank};
    for (uint32_t i = 0; i < s.rank; i++) {
        s.row[i][1] = shape->dims[i];
        s.row[i][2] = 1;
    }
    return s;
}

void slices_set(struct slices *s, uint32_t axis, int64_t begin, int64_t end, int64_t step, int64_t dim)
{
    int64_t *row = s->row[axis], longest = max_i64(dim, 1);
    row[0] = begin;
    row[1] = end;
    row[2] = max_i64(-longest, min_i64(step, longest));
    if (dim == 0 || (step < 0 ? begin <= end : begin >= end)) {
        row[0] = row[1] = 0;
        row[2] = 1;
    }
}

odlc_status lower_slices(const struct lower *l, tensor_id in, const struct slices *s, const char *out_name,
                         tensor_id *out)
{
    struct slices all = slices_whole(&build_type(l->b, in)->shape);
    struct shape shape = SHAPE(s->rank, 3);
    int64_t to_start = 0;
    if (all.rank == s->rank && memcmp(all.row, s->row, sizeof all.row) == 0) {
        *out = in;
        return ODLC_OK;
    }
    for (uint32_t i = 0; i < s->rank; i++)
        to_start |= (int64_t)(s->row[i][1] < 0) << i;
    build_op(l->b, OP_StridedSlice, fw_node_label(l->node));
    build_in(l->b, in);
    build_tensor_ints(l->b, PARAM_ranges, &shape, s->row[0]);
    /* Some readers take the end -1 for the last element: the mask says the same in all readings. */
    build_int(l->b, PARAM_end_mask, to_start);
    return build_end(l->b, out_name, out);
}

odlc_status lower_slice_axis(const struct lower *l, tensor_id in, uint32_t axis, int64_t begin, int64_t end,
                             const char *out_name, tensor_id *out)
{
    struct slices s = slices_whole(&build_type(l->b, in)->shape);
    s.row[axis][0] = begin;
    s.row[axis][1] = end;
    return lower_slices(l, in, &s, out_name, out);
}

odlc_status lower_concat_tensors(const struct lower *l, const tensor_id *parts, uint32_t count, int64_t axis,
                                 const char *out_name, tensor_id *out)
{
    tensor_id *full = arena_array(l->arena, tensor_id, (size_t)count + 1);
    uint32_t n = 0, at;
    full[0] = parts[0];
    for (uint32_t i = 0; i < count; i++)
        if (shape_count(&build_type(l->b, parts[i])->shape))
            full[n++] = parts[i];
    if (n == 0) /* the result is empty, and as long as all of them */
        for (; n < count; n++)
            full[n] = parts[n];
    TRY(lower_axis(l, "axis", axis, build_rank(l->b, full[0]), &at));
    if (n < 2) {
        *out = full[0];
        return ODLC_OK;
    }
    build_op(l->b, OP_Concat, fw_node_label(l->node));
    for (uint32_t i = 0; i < n; i++)
        build_in(l->b, full[i]);
    build_int(l->b, PARAM_axis, at);
    return build_end(l->b, out_name, out);
}

odlc_status lower_split_axis(const struct lower *l, tensor_id in, uint32_t axis, int64_t *sizes, uint32_t count,
                             const char *const *names, tensor_id *outs)
{
    if (count == 1) {
        outs[0] = in;
        return ODLC_OK;
    }
    for (uint32_t i = 1; i < count; i++)
        sizes[i] += sizes[i - 1];
    build_op(l->b, OP_Split, fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, PARAM_axis, axis);
    build_ints(l->b, PARAM_split_index, sizes, count - 1);
    return build_end_n(l->b, names, count, outs);
}
