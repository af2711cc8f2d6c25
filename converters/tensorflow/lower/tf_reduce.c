/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators along axes: reductions, positions of extremes, running sums, sums of segments. */
#include <math.h>

#include "converters/lowering/cumulative.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

/* ---- reductions ---- */

struct reduction {
    tensor_id x;
    int64_t axes[MAX_RANK];
    uint32_t n_axes; /* 0: nothing is reduced */
    bool keep;
};

static odlc_status read_reduction(const struct lower *l, struct reduction *r)
{
    const int64_t *axes;
    uint32_t count, normal[MAX_RANK];
    tensor_id listed;
    TRY(lower_need(l, 0, "input", &r->x));
    TRY(lower_need(l, 1, "reduction_indices", &listed));
    TRY(lower_const_ints(l, 1, "reduction_indices", &axes, &count));
    TRY(lower_attr_bool(l, "keep_dims", false, &r->keep));
    uint32_t rank = build_rank(l->b, r->x);
    if (count > rank)
        return lower_invalid(l, "reduction_indices", NULL, "%u axes are more than rank %u has", count, rank);
    TRY(lower_axes(l, "reduction_indices", axes, count, rank, normal));
    r->n_axes = count;
    for (uint32_t i = 0; i < count; i++)
        r->axes[i] = normal[i];
    return ODLC_OK;
}

/* Of numbers and, as the least or the largest of them, of bools. */
odlc_status tf_reduce(struct lower *l)
{
    struct reduction r;
    TRY(read_reduction(l, &r));
    l->out[0] = r.x;
    if (r.n_axes == 0)
        return ODLC_OK;
    build_op(l->b, l->op, fw_node_label(l->node));
    build_in(l->b, r.x);
    build_ints(l->b, PARAM_axes, r.axes, r.n_axes);
    build_int(l->b, PARAM_keep_dims, r.keep);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

static odlc_status need_real(const struct lower *l, tensor_id x)
{
    enum dtype dtype = build_type(l->b, x)->dtype;
    if (!dtype_is_float(dtype))
        return lower_unsupported(l, NULL, NULL, "a root of %s is not supported", dtype_info(dtype)->name);
    return ODLC_OK;
}

odlc_status tf_euclidean_norm(struct lower *l)
{
    struct emit s = {.l = l};
    struct reduction r;
    TRY(read_reduction(l, &r));
    TRY(need_real(l, r.x));
    if (r.n_axes == 0)
        return emit_end_unary(&s, OP_ElementWiseAbs, r.x);
    tensor_id squares = emit_reduce(&s, OP_ReduceSumSquare, r.x, r.axes, r.n_axes, r.keep);
    return emit_end_unary(&s, OP_ElementWiseSquareRoot, squares);
}

/* Σ x² / 2 of all elements. */
odlc_status tf_l2_loss(struct lower *l)
{
    struct emit s = {.l = l};
    int64_t axes[MAX_RANK];
    tensor_id x, squares;
    TRY(lower_need(l, 0, "t", &x));
    TRY(need_real(l, x));
    uint32_t rank = build_rank(l->b, x);
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = i;
    if (rank > 0)
        squares = emit_reduce(&s, OP_ReduceSumSquare, x, axes, rank, false);
    else
        squares = emit_binary(&s, OP_ElementWiseMultiply, x, x);
    return emit_end_binary(&s, OP_ElementWiseMultiply, squares, emit_scalar(&s, x, 0.5));
}

/* ---- one axis ---- */

/* The axis that input 1 holds. */
static odlc_status const_axis(const struct lower *l, tensor_id x, const char *name, uint32_t *out)
{
    const int64_t *axis;
    uint32_t count;
    tensor_id input;
    TRY(lower_need(l, 1, name, &input));
    TRY(lower_const_ints(l, 1, name, &axis, &count));
    if (count != 1)
        return lower_invalid(l, name, NULL, "%s has %u elements instead of one", name, count);
    return lower_axis(l, name, *axis, build_rank(l->b, x), out);
}

/* The op's result is int32. */
odlc_status tf_arg(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, found;
    uint32_t axis;
    enum dtype to;
    TRY(lower_need(l, 0, "input", &x));
    TRY(const_axis(l, x, "dimension", &axis));
    TRY(lower_tf_dtype(l, "output_type", DT_INT64, &to));
    build_op(l->b, l->op, fw_node_label(l->node));
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, axis);
    TRY(build_end(l->b, to == DT_INT32 ? lower_out_name(l, 0) : step_name(l, "int32"), &found));
    return emit_give(&s, 0, emit_cast(&s, found, to));
}

static odlc_status read_running(const struct lower *l, struct cumulative *n)
{
    TRY(lower_need(l, 0, "x", &n->x));
    TRY(const_axis(l, n->x, "axis", &n->axis));
    TRY(lower_attr_bool(l, "exclusive", false, &n->exclusive));
    return lower_attr_bool(l, "reverse", false, &n->reverse);
}

odlc_status tf_cumsum(struct lower *l)
{
    struct cumulative n;
    TRY(read_running(l, &n));
    return lower_cumulative_sum(l, &n);
}

odlc_status tf_cumprod(struct lower *l)
{
    struct cumulative n;
    TRY(read_running(l, &n));
    return lower_cumulative_product(l, &n);
}

/* x, moved by some places along an axis towards its end or its start; what comes in is `fill`. */
static tensor_id moved(struct emit *s, const struct cumulative *n, tensor_id x, int64_t by, double fill)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct type type = *build_type(s->l->b, x);
    const int64_t dim = type.shape.dims[n->axis];
    type.shape.dims[n->axis] = by;
    tensor_id in = emit_broadcast(s, emit_scalar(s, x, fill), &type.shape);
    if (by >= dim)
        return in;
    tensor_id rest = n->reverse ? emit_slice(s, x, n->axis, by, dim) : emit_slice(s, x, n->axis, 0, dim - by);
    const tensor_id parts[] = {n->reverse ? rest : in, n->reverse ? in : rest};
    return emit_concat(s, parts, 2, n->axis);
}

/* log(eˣ + eʸ), by the larger one, and how far it is from the smaller one; nothing is added to -infinity. */
static tensor_id log_of_sum(struct emit *s, tensor_id x, tensor_id y)
{
    tensor_id high = emit_binary(s, OP_ElementWiseMaximum, x, y), low = emit_binary(s, OP_ElementWiseMinimum, x, y);
    tensor_id more = emit_unary(s, OP_ElementWiseSoftplus, emit_binary(s, OP_ElementWiseSubtract, low, high));
    tensor_id is_none = emit_binary(s, OP_ElementWiseEqual, high, emit_scalar(s, high, -(double)INFINITY));
    return emit_select(s, is_none, high, emit_binary(s, OP_ElementWiseAdd, high, more));
}

/* Each element takes in what the elements before it, one, then two, then four … away, have taken in. */
odlc_status tf_cumulative_log_sum_exp(struct lower *l)
{
    struct emit s = {.l = l};
    struct cumulative n;
    TRY(read_running(l, &n));
    const struct shape shape = build_type(l->b, n.x)->shape;
    tensor_id sum = n.x;
    if (shape_count(&shape) > 0 && n.exclusive)
        sum = moved(&s, &n, sum, 1, -(double)INFINITY);
    for (int64_t by = 1; shape_count(&shape) > 0 && by < shape.dims[n.axis]; by *= 2)
        sum = log_of_sum(&s, sum, moved(&s, &n, sum, by, -(double)INFINITY));
    return emit_give(&s, 0, sum);
}
