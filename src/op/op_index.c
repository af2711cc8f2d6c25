/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that read or write at positions given by a tensor: Gather, GatherElements, GatherNd, ScatterNd, ScatterElements,
 * OneHot, TopK. Indices count from the front; negative ones from the back. */
#include <string.h>

#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"
#include "op/slices.h"

/* ---- shared ---- */

static odlc_status check_indices(const struct infer *c, uint32_t i)
{
    enum dtype dtype = infer_in(c, i)->dtype;
    if (!dtype_is_int(dtype))
        return infer_error(c, "indices of type %s", dtype_info(dtype)->name);
    return ODLC_OK;
}

static const char *in_shape_text(const struct infer *c, uint32_t i)
{
    return shape_text(c->diags->arena, &infer_in(c, i)->shape);
}

/* to = a[0 … a_end) then b[b_from …). False when the rank does not fit. */
static bool join_shapes(const struct shape *a, uint32_t a_end, const struct shape *b, uint32_t b_from, struct shape *to)
{
    to->rank = 0;
    if (a_end + b->rank - b_from > MAX_RANK)
        return false;
    for (uint32_t i = 0; i < a_end; i++)
        to->dims[to->rank++] = a->dims[i];
    for (uint32_t i = b_from; i < b->rank; i++)
        to->dims[to->rank++] = b->dims[i];
    return true;
}

/* ---- Gather ---- */

static odlc_status infer_gather(const struct infer *c)
{
    const struct type *data = infer_in(c, 0), *indices = infer_in(c, 1);
    uint32_t axis;
    TRY(check_indices(c, 1));
    if (!node_axis(c->node, 0, data->shape.rank, &axis))
        return infer_error(c, "the axis is outside %s", in_shape_text(c, 0));
    struct shape head = {.rank = 0};
    c->out[0] = (struct type){.dtype = data->dtype};
    if (!join_shapes(&data->shape, axis, &indices->shape, 0, &head) ||
        !join_shapes(&head, head.rank, &data->shape, axis + 1, &c->out[0].shape))
        return infer_error(c, "indices of shape %s into %s give more than %d axes", in_shape_text(c, 1),
                           in_shape_text(c, 0), MAX_RANK);
    return ODLC_OK;
}

/* Indices of rank 1 keep the number of axes, so that the permutation of the data is that of the output. */
static bool permute_gather(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    return node_input(g, n, 1)->type->shape.rank == 1 && permute_axis(g, n, perm, out);
}

/* The axes of the indices stand in the place of the axis. */
static bool cut_gather(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    uint32_t own, rank = node_input(g, n, 0)->type->shape.rank, added = node_input(g, n, 1)->type->shape.rank;
    if (!node_axis(n, 0, rank, &own) || (axis >= own && axis < own + added))
        return false;
    *in_axis = input == 1 ? NOT_CUT : axis < own ? axis : axis + 1 - added;
    return true;
}

/* ---- GatherElements, ScatterElements ---- */

static odlc_status check_elements(const struct infer *c)
{
    const struct shape *data = &infer_in(c, 0)->shape, *indices = &infer_in(c, 1)->shape;
    uint32_t axis;
    TRY(check_indices(c, 1));
    bool fits = node_axis(c->node, 0, data->rank, &axis) && data->rank == indices->rank;
    for (uint32_t i = 0; fits && i < data->rank; i++)
        fits = i == axis || indices->dims[i] <= data->dims[i];
    if (!fits)
        return infer_error(c, "indices of shape %s do not fit %s", in_shape_text(c, 1), in_shape_text(c, 0));
    return ODLC_OK;
}

static odlc_status infer_gather_elements(const struct infer *c)
{
    TRY(check_elements(c));
    c->out[0] = (struct type){.dtype = infer_in(c, 0)->dtype, .shape = infer_in(c, 1)->shape};
    return ODLC_OK;
}

/* ---- reductions of the scatter ops ---- */

static odlc_status infer_scatter(const struct infer *c, const struct shape *updates, int64_t last_reduction)
{
    const struct type *data = infer_in(c, 0), *given = infer_in(c, 2);
    int64_t reduction = node_int(c->node, PARAM_reduction, SCATTER_NONE);
    const bool is_nothing = shape_count(updates) == 0 && shape_count(&given->shape) == 0; /* exporters' empty slices */
    const bool fits = is_nothing || shape_equal(updates, &given->shape);
    if (!fits || !can_stand_together(given->dtype, data->dtype))
        return infer_error(c, "updates are %s %s where %s %s is needed", dtype_info(given->dtype)->name,
                           in_shape_text(c, 2), dtype_info(data->dtype)->name, shape_text(c->diags->arena, updates));
    if (reduction < SCATTER_NONE || reduction > last_reduction ||
        (reduction != SCATTER_NONE && data->dtype == DT_STRING))
        return infer_error(c, "reduction %lld is not possible on %s", (long long)reduction,
                           dtype_info(data->dtype)->name);
    c->out[0] = *data;
    return ODLC_OK;
}

static odlc_status infer_scatter_elements(const struct infer *c)
{
    TRY(check_elements(c));
    return infer_scatter(c, &infer_in(c, 1)->shape, SCATTER_MAX);
}

/* ---- GatherNd, ScatterNd: the last axis of indices holds coordinates of slices ---- */

bool slices_of(const struct shape *data, const struct shape *indices, int64_t batch_dims, struct slices *out)
{
    if (indices->rank == 0 || batch_dims < 0 || batch_dims >= min_i64(data->rank, indices->rank))
        return false;
    uint32_t batch = (uint32_t)batch_dims;
    int64_t depth = indices->dims[indices->rank - 1];
    if (depth < 1 || depth > data->rank - batch)
        return false;
    for (uint32_t i = 0; i < batch; i++)
        if (data->dims[i] != indices->dims[i])
            return false;
    int64_t strides[MAX_RANK];
    shape_strides(data, strides);
    out->batch_dims = batch;
    out->depth = (uint32_t)depth;
    out->per_batch = shape_count_range(indices, batch, indices->rank - 1);
    out->slice = shape_count_range(data, batch + out->depth, data->rank);
    out->batch_stride = shape_count_range(data, batch, data->rank);
    memcpy(out->dims, data->dims + batch, out->depth * sizeof *out->dims);
    memcpy(out->strides, strides + batch, out->depth * sizeof *out->strides);
    return true;
}

/* The shape of all slices together: what GatherNd gives and ScatterNd takes as updates. */
static odlc_status slices_shape(const struct infer *c, int64_t batch_dims, struct shape *out)
{
    const struct shape *data = &infer_in(c, 0)->shape, *indices = &infer_in(c, 1)->shape;
    struct slices s;
    TRY(check_indices(c, 1));
    if (!slices_of(data, indices, batch_dims, &s) ||
        !join_shapes(indices, indices->rank - 1, data, s.batch_dims + s.depth, out))
        return infer_error(c, "indices of shape %s do not fit %s", in_shape_text(c, 1), in_shape_text(c, 0));
    return ODLC_OK;
}

static odlc_status infer_gather_nd(const struct infer *c)
{
    c->out[0].dtype = infer_in(c, 0)->dtype;
    return slices_shape(c, node_int(c->node, PARAM_batch_dims, 0), &c->out[0].shape);
}

static odlc_status infer_scatter_nd(const struct infer *c)
{
    struct shape updates;
    TRY(slices_shape(c, 0, &updates));
    return infer_scatter(c, &updates, SCATTER_MUL);
}

/* Along a batch, along indices, or along the axes of slices. */
static bool cut_gather_nd(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    const struct shape *data = &node_input(g, n, 0)->type->shape, *indices = &node_input(g, n, 1)->type->shape;
    struct slices s;
    if (!slices_of(data, indices, node_int(n, PARAM_batch_dims, 0), &s))
        return false;
    const uint32_t places = indices->rank - 1;
    if (input == 0)
        *in_axis = axis < s.batch_dims ? axis : axis < places ? NOT_CUT : axis - places + s.batch_dims + s.depth;
    else
        *in_axis = axis < places ? axis : NOT_CUT;
    return true;
}

/* Along the axes of slices. */
static bool cut_scatter_nd(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    const struct shape *data = &node_input(g, n, 0)->type->shape, *indices = &node_input(g, n, 1)->type->shape;
    struct slices s;
    if (!slices_of(data, indices, 0, &s) || axis < s.depth)
        return false;
    *in_axis = input == 0 ? axis : input == 1 ? NOT_CUT : indices->rank - 1 + axis - s.depth;
    return true;
}

/* ---- OneHot ---- */

/* The output's type is that of on_value: float32 unless the node says otherwise. */
static odlc_status infer_one_hot(const struct infer *c)
{
    const struct shape *in = &infer_in(c, 0)->shape;
    const struct packed_param *on = node_param(c->node, PARAM_on_value), *off = node_param(c->node, PARAM_off_value);
    int64_t axis = node_int(c->node, PARAM_axis, in->rank), depth = node_int(c->node, PARAM_depth, 0);
    TRY(check_indices(c, 0));
    if (axis < 0 || axis > in->rank || in->rank == MAX_RANK || depth < 1)
        return infer_error(c, "%lld classes along axis %lld do not fit %s", (long long)depth, (long long)axis,
                           in_shape_text(c, 0));
    if (on && off && on->dtype != off->dtype)
        return infer_error(c, "on_value and off_value differ in type");
    struct shape head = {.rank = 0};
    struct shape hot = SHAPE(depth);
    c->out[0] = (struct type){.dtype = on ? on->dtype : DT_FLOAT32};
    if (!join_shapes(in, (uint32_t)axis, &hot, 0, &head) ||
        !join_shapes(&head, head.rank, in, (uint32_t)axis, &c->out[0].shape))
        return infer_error(c, "the result has more than %d axes", MAX_RANK);
    return ODLC_OK;
}

/* ---- TopK ---- */

static odlc_status infer_top_k(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    int64_t count = node_int(c->node, PARAM_k, 0);
    if (in->shape.rank == 0 || count < 1 || count > in->shape.dims[in->shape.rank - 1])
        return infer_error(c, "k = %lld does not fit %s", (long long)count, in_shape_text(c, 0));
    c->out[0] = *in;
    c->out[0].shape.dims[in->shape.rank - 1] = count;
    c->out[1] = (struct type){.dtype = DT_INT32, .shape = c->out[0].shape};
    return ODLC_OK;
}

/* ---- rows ---- */

static const struct param_def gather_params[] = {{PARAM_NAMED(axis), DT_INT32, PARAM_REQUIRED, false, false, 0}};
static const struct param_def gather_elements_params[] = {
    {PARAM_NAMED(axis), DT_UINT32, PARAM_DEFAULT, false, false, 0}};
static const struct param_def gather_nd_params[] = {
    {PARAM_NAMED(batch_dims), DT_UINT32, PARAM_DEFAULT, false, false, 0}};
static const struct param_def one_hot_params[] = {
    {PARAM_NAMED(depth), DT_UINT32, PARAM_REQUIRED, false, false, 0},
    {PARAM_NAMED(axis), DT_UINT32, PARAM_OPTIONAL, false, false, 0},
    {PARAM_NAMED(on_value), DT_NONE, PARAM_OPTIONAL, false, false, 0}, /* their type is that of the output */
    {PARAM_NAMED(off_value), DT_NONE, PARAM_OPTIONAL, false, false, 0},
};
static const struct param_def scatter_elements_params[] = {
    {PARAM_NAMED(axis), DT_UINT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(reduction), DT_UINT32, PARAM_DEFAULT, false, false, 0},
};
static const struct param_def scatter_nd_params[] = {
    {PARAM_NAMED(reduction), DT_UINT32, PARAM_DEFAULT, false, false, 0}};
static const struct param_def top_k_params[] = {
    {PARAM_NAMED(k), DT_UINT32, PARAM_REQUIRED, false, false, 0},
    {PARAM_NAMED(largest), DT_BOOL, PARAM_DEFAULT, false, false, 1},
};

#define ROW(type, ins, outs, param_list, infer_rule)                                                              \
    .id = OP_##type, .name = #type, .dlc_type = #type, .min_inputs = ins, .max_inputs = ins, .min_outputs = outs, \
    .max_outputs = outs, .params = param_list, .n_params = COUNT_OF(param_list), .infer = infer_rule

const struct op op_rows_index[] = {
    {ROW(Gather, 2, 1, gather_params, infer_gather), .permute = permute_gather, .permuted = 1, .cut = cut_gather},
    {ROW(GatherElements, 2, 1, gather_elements_params, infer_gather_elements), .permute = permute_axis},
    {ROW(GatherNd, 2, 1, gather_nd_params, infer_gather_nd), .cut = cut_gather_nd},
    {ROW(OneHot, 1, 1, one_hot_params, infer_one_hot)},
    {ROW(ScatterElements, 3, 1, scatter_elements_params, infer_scatter_elements), .permute = permute_axis},
    {ROW(ScatterNd, 3, 1, scatter_nd_params, infer_scatter_nd), .cut = cut_scatter_nd},
    {ROW(TopK, 1, 2, top_k_params, infer_top_k)},
};
const size_t op_rows_index_count = COUNT_OF(op_rows_index);
