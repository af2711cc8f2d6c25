/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along a set of axes, positions of extremes, and cumulative sums. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"

/* ---- reductions ---- */

static odlc_status infer_reduce(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    uint32_t axes;
    if (in->dtype == DT_STRING || in->dtype == DT_NONE)
        return infer_error(c, "an input of type %s is not numbers", dtype_info(in->dtype)->name);
    if (!node_axes(c->node, in->shape.rank, &axes))
        return infer_error(c, "axes are not distinct axes of %s", shape_text(c->diags->arena, &in->shape));
    bool keep = node_int(c->node, PARAM_keep_dims, 0) != 0;
    c->out[0] = (struct type){.dtype = in->dtype, .shape = reduced_shape(&in->shape, axes, keep)};
    return ODLC_OK;
}

static bool permute_reduce(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t axes;
    if (!node_axes(n, perm->rank, &axes))
        return false;
    *out = node_int(n, PARAM_keep_dims, 0) ? *perm : perm_without(perm, axes);
    permute_axes_param(g, n, perm);
    return true;
}

/* Without keep_dims an axis of the output stands as many places further in the input as axes before it go. */
static bool cut_reduce(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    uint32_t axes, rank = node_input(g, n, input)->type->shape.rank;
    if (!node_axes(n, rank, &axes))
        return false;
    *in_axis = axis;
    for (uint32_t i = 0; !node_int(n, PARAM_keep_dims, 0) && i <= *in_axis && i < rank; i++)
        *in_axis += axes >> i & 1;
    return !(axes >> *in_axis & 1);
}

/* ---- positions of extremes ---- */

static odlc_status infer_arg(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    uint32_t axis;
    if (in->dtype == DT_STRING || in->dtype == DT_NONE)
        return infer_error(c, "an input of type %s is not numbers", dtype_info(in->dtype)->name);
    if (!node_axis(c->node, -1, in->shape.rank, &axis))
        return infer_error(c, "axis is not one of %s", shape_text(c->diags->arena, &in->shape));
    if (in->shape.dims[axis] == 0)
        return infer_error(c, "axis %u of %s has no elements", axis, shape_text(c->diags->arena, &in->shape));
    bool keep = node_int(c->node, PARAM_keep_dims, 0) != 0;
    c->out[0] = (struct type){.dtype = DT_INT32, .shape = reduced_shape(&in->shape, 1u << axis, keep)};
    return ODLC_OK;
}

static bool permute_arg(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t axis;
    struct perm all;
    if (!node_axis(n, -1, perm->rank, &axis) || !permute_axis(g, n, perm, &all))
        return false;
    *out = node_int(n, PARAM_keep_dims, 0) ? *perm : perm_without(perm, 1u << axis);
    return true;
}

/* ---- CumulativeSum ---- */

static odlc_status infer_cumulative_sum(const struct infer *c)
{
    const struct shape *shape = &infer_in(c, 0)->shape;
    uint32_t axis;
    if (!node_axis(c->node, -1, shape->rank, &axis))
        return infer_error(c, "axis is not one of %s", shape_text(c->diags->arena, shape));
    return infer_numeric(c);
}

/* ---- rows ---- */

#define KEEP_DIMS                                                           \
    {                                                                       \
        PARAM_NAMED(keep_dims), .dtype = DT_BOOL, .presence = PARAM_DEFAULT \
    }

static const struct param_def reduce_params[] = {
    {PARAM_NAMED(axes), .dtype = DT_UINT32, .presence = PARAM_REQUIRED, .is_tensor = true}, KEEP_DIMS};
static const struct param_def arg_params[] = {{PARAM_NAMED(axis), .dtype = DT_UINT32, .presence = PARAM_REQUIRED},
                                              KEEP_DIMS};
static const struct param_def cumulative_sum_params[] = {
    {PARAM_NAMED(axis), .dtype = DT_UINT32, .presence = PARAM_REQUIRED},
    {PARAM_NAMED(exclusive), .dtype = DT_BOOL, .presence = PARAM_DEFAULT},
    {PARAM_NAMED(reverse), .dtype = DT_BOOL, .presence = PARAM_DEFAULT}};

#define ROW(op_name, type, select, param_list, types, axes, cuts, combined_by, wraps)                                 \
    {                                                                                                                 \
        .id = OP_##op_name, .name = #op_name, .dlc_type = type, .selector = select, .min_inputs = 1, .max_inputs = 1, \
        .min_outputs = 1, .max_outputs = 1, .params = param_list, .n_params = COUNT_OF(param_list), .infer = types,   \
        .permute = axes, .cut = cuts, .combine = combined_by, .may_wrap = wraps                                       \
    }
#define REDUCE_ROW(op_name, combined_by, wraps)                                                                      \
    ROW(op_name, "Reduce", "reduce_type", reduce_params, infer_reduce, permute_reduce, cut_reduce, OP_##combined_by, \
        wraps)
#define ARG_ROW(op_name) ROW(op_name, "Arg", "arg_type", arg_params, infer_arg, permute_arg, NULL, OP_CUSTOM, false)

const struct op op_rows_reduce[] = {
    ARG_ROW(Argmax),
    ARG_ROW(Argmin),
    ROW(CumulativeSum, "CumulativeSum", NULL, cumulative_sum_params, infer_cumulative_sum, permute_axis, cut_but_axis,
        OP_CUSTOM, true),
    REDUCE_ROW(ReduceMax, ReduceMax, false),
    REDUCE_ROW(ReduceMean, ReduceMean, false),
    REDUCE_ROW(ReduceMin, ReduceMin, false),
    REDUCE_ROW(ReduceProd, ReduceProd, true),
    REDUCE_ROW(ReduceSum, ReduceSum, true),
    REDUCE_ROW(ReduceSumSquare, ReduceSum, true),
};
const size_t op_rows_reduce_count = COUNT_OF(op_rows_reduce);
