/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that keep a part of a tensor or put it into a larger one: StridedSlice, Pad. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"
#include "op/ranges.h"

/* ---- StridedSlice ---- */

static bool in_mask(const struct node *n, enum param_id mask, uint32_t i)
{
    return (node_int(n, mask, 0) >> i & 1) != 0;
}

/* A row of ranges. begin and end count from the front; a negative one counts from the back, except the end -1 of a
 * descending range, which stands before the first element. The masks say "from the first" and "to the last" of the
 * range's own direction. False when the row leaves the axis. */
static bool range_of(const struct node *n, uint32_t i, const int64_t row[3], int64_t dim, struct range *out)
{
    int64_t begin = row[0], end = row[1], stride = row[2];
    bool down = stride < 0;
    if (begin < 0)
        begin += dim;
    if (end < 0 && !(down && end == -1))
        end += dim;
    if (in_mask(n, PARAM_begin_mask, i))
        begin = down ? dim - 1 : 0;
    if (in_mask(n, PARAM_end_mask, i))
        end = down ? -1 : dim;
    *out = (struct range){.begin = begin, .count = 1, .shrink = in_mask(n, PARAM_shrink_axes, i)};
    if (out->shrink)
        return begin >= 0 && begin < dim;
    if (stride == 0 || stride == INT64_MIN || begin < 0 || begin > dim || end < -1 || end > dim)
        return false;
    int64_t way = down ? begin - end : end - begin;
    out->count = way > 0 && dim > 0 ? (way - 1) / llabs(stride) + 1 : 0;
    out->stride = out->count > 1 ? stride : 0;
    return out->count == 0 || begin < dim;
}

bool ranges_read(const struct node *n, const struct shape *in, struct range out[2 * MAX_RANK], uint32_t *count)
{
    uint32_t values, axis = 0;
    const int64_t *rows = node_ints(n, PARAM_ranges, &values);
    if (values % 3 || values / 3 > 2 * MAX_RANK)
        return false;
    *count = values / 3;
    for (uint32_t i = 0; i < *count; i++) {
        if (in_mask(n, PARAM_new_axes_mask, i))
            out[i] = (struct range){.count = 1, .added = true};
        else if (axis == in->rank || !range_of(n, i, rows + 3 * i, in->dims[axis++], &out[i]))
            return false;
    }
    return axis == in->rank;
}

static odlc_status infer_strided_slice(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    struct range ranges[2 * MAX_RANK];
    uint32_t count;
    if (!ranges_read(c->node, &in->shape, ranges, &count))
        return infer_error(c, "the ranges do not fit %s", shape_text(c->diags->arena, &in->shape));
    struct shape out = {.rank = 0};
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].shrink)
            continue;
        if (out.rank == MAX_RANK)
            return infer_error(c, "the result has more than %d axes", MAX_RANK);
        out.dims[out.rank++] = ranges[i].count;
    }
    c->out[0] = (struct type){.dtype = in->dtype, .shape = out};
    return ODLC_OK;
}

static int64_t permute_mask(const struct node *n, enum param_id mask, const struct perm *perm)
{
    int64_t stored = 0;
    for (uint32_t i = 0; i < perm->rank; i++)
        stored |= (int64_t)in_mask(n, mask, perm->axis[i]) << i;
    return stored;
}

/* Only while the rank stays: with axes that come or go the result has no permutation of the same kind. */
static bool permute_strided_slice(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t values;
    const int64_t *rows = node_ints(n, PARAM_ranges, &values);
    if (values != 3 * perm->rank || node_int(n, PARAM_shrink_axes, 0) || node_int(n, PARAM_new_axes_mask, 0))
        return false;
    assert(perm->rank <= MAX_RANK);
    int64_t stored[3 * MAX_RANK];
    for (uint32_t i = 0; i < perm->rank; i++)
        memcpy(stored + 3 * i, rows + 3 * perm->axis[i], 3 * sizeof *rows);
    struct shape shape = SHAPE(perm->rank, 3);
    node_set_ints(g, n, PARAM_ranges, &shape, stored);
    node_set_int(n, PARAM_begin_mask, permute_mask(n, PARAM_begin_mask, perm));
    node_set_int(n, PARAM_end_mask, permute_mask(n, PARAM_end_mask, perm));
    *out = *perm;
    return true;
}

/* Along axes that are kept as they are, which the masks say of a part, too. */
static bool cut_strided_slice(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    struct range ranges[2 * MAX_RANK];
    uint32_t count;
    if (node_int(n, PARAM_shrink_axes, 0) || node_int(n, PARAM_new_axes_mask, 0) ||
        !ranges_read(n, &node_input(g, n, input)->type->shape, ranges, &count) || axis >= count ||
        ranges[axis].begin != 0 || ranges[axis].stride != 1)
        return false;
    *in_axis = axis;
    node_set_int(n, PARAM_begin_mask, node_int(n, PARAM_begin_mask, 0) | INT64_C(1) << axis);
    node_set_int(n, PARAM_end_mask, node_int(n, PARAM_end_mask, 0) | INT64_C(1) << axis);
    return true;
}

static bool slice_along(struct graph *g, struct node *n, uint32_t axes)
{
    uint32_t values;
    const int64_t *rows = node_ints(n, PARAM_ranges, &values);
    int64_t kept[3 * MAX_RANK], begin = node_int(n, PARAM_begin_mask, 0), end = node_int(n, PARAM_end_mask, 0);
    if (values > COUNT_OF(kept) || node_int(n, PARAM_shrink_axes, 0) || node_int(n, PARAM_new_axes_mask, 0))
        return false;
    memcpy(kept, rows, values * sizeof *rows);
    for (uint32_t i = 0; i < values / 3; i++) {
        if (axes >> i & 1)
            continue;
        kept[3 * i + 2] = 1;
        begin |= INT64_C(1) << i;
        end |= INT64_C(1) << i;
    }
    const struct shape shape = SHAPE(values / 3, 3);
    node_set_ints(g, n, PARAM_ranges, &shape, kept);
    node_set_int(n, PARAM_begin_mask, begin);
    node_set_int(n, PARAM_end_mask, end);
    return true;
}

/* ---- Pad ---- */

static odlc_status infer_pad(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    uint32_t count;
    const int64_t *amount = node_ints(c->node, PARAM_pad_amount, &count);
    int64_t scheme = node_int(c->node, PARAM_scheme, PAD_CONSTANT);
    if (count != 2 * in->shape.rank || scheme < PAD_CONSTANT || scheme > PAD_EDGE)
        return infer_error(c, "%u pad amounts of scheme %lld do not fit %s", count, (long long)scheme,
                           shape_text(c->diags->arena, &in->shape));
    c->out[0] = *in;
    for (uint32_t i = 0; i < in->shape.rank; i++) {
        int64_t dim = in->shape.dims[i], before = amount[2 * i], after = amount[2 * i + 1];
        int64_t limit = scheme == PAD_REFLECT ? dim - 1 : scheme == PAD_SYMMETRIC ? dim : dim ? INT64_MAX : 0;
        bool beyond = scheme != PAD_CONSTANT && (before > max_i64(limit, 0) || after > max_i64(limit, 0));
        if (before < 0 || after < 0 || beyond || ckd_add(&dim, dim, before) || ckd_add(&dim, dim, after))
            return infer_error(c, "axis %u of %s cannot be padded by %lld and %lld", i,
                               shape_text(c->diags->arena, &in->shape), (long long)before, (long long)after);
        c->out[0].shape.dims[i] = dim;
    }
    return ODLC_OK;
}

static bool permute_pad(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t count;
    const int64_t *amount = node_ints(n, PARAM_pad_amount, &count);
    if (count != 2 * perm->rank)
        return false;
    assert(perm->rank <= MAX_RANK);
    int64_t stored[2 * MAX_RANK];
    for (uint32_t i = 0; i < perm->rank; i++)
        memcpy(stored + 2 * i, amount + 2 * perm->axis[i], 2 * sizeof *amount);
    struct shape shape = SHAPE(perm->rank, 2);
    node_set_ints(g, n, PARAM_pad_amount, &shape, stored);
    *out = *perm;
    return true;
}

static bool pad_along(struct graph *g, struct node *n, uint32_t axes)
{
    uint32_t count;
    const int64_t *amount = node_ints(n, PARAM_pad_amount, &count);
    int64_t kept[2 * MAX_RANK];
    if (count > COUNT_OF(kept))
        return false;
    for (uint32_t i = 0; i < count; i++)
        kept[i] = axes >> i / 2 & 1 ? amount[i] : 0;
    const struct shape shape = SHAPE(count / 2, 2);
    node_set_ints(g, n, PARAM_pad_amount, &shape, kept);
    return true;
}

/* ---- rows ---- */

static const struct param_def pad_params[] = {
    {PARAM_NAMED(scheme), DT_UINT32, PARAM_REQUIRED, false, false, 0},
    {PARAM_NAMED(pad_amount), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(pad_constant_value), DT_NONE, PARAM_OPTIONAL, false, false, 0}, /* of the tensor's nature */
};
static const struct param_def strided_slice_params[] = {
    {PARAM_NAMED(ranges), DT_INT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(begin_mask), DT_UINT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(end_mask), DT_UINT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(shrink_axes), DT_UINT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(new_axes_mask), DT_UINT32, PARAM_DEFAULT, false, false, 0},
};

#define ROW(type, param_list, infer_rule, axis_rule, cut_rule, along_rule)                                     \
    {                                                                                                          \
        .id = OP_##type, .name = #type, .dlc_type = #type, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, \
        .max_outputs = 1, .params = param_list, .n_params = COUNT_OF(param_list), .infer = infer_rule,         \
        .permute = axis_rule, .cut = cut_rule, .along = along_rule                                             \
    }

const struct op op_rows_slice[] = {
    ROW(Pad, pad_params, infer_pad, permute_pad, cut_same, pad_along),
    ROW(StridedSlice, strided_slice_params, infer_strided_slice, permute_strided_slice, cut_strided_slice, slice_along),
};
const size_t op_rows_slice_count = COUNT_OF(op_rows_slice);
