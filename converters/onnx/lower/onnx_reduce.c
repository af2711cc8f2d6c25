/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators along axes: reductions, ArgMax and ArgMin, CumSum and CumProd, Softmax and Hardmax. */
#include <float.h>
#include <string.h>

#include "converters/lowering/cumulative.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

/* ---- reductions ---- */

struct reduction {
    tensor_id x;
    int64_t axes[MAX_RANK];
    uint32_t n_axes; /* 0: there is nothing to reduce */
    bool keep;
};

/* The axes are an attribute, in later versions input 1 (`from_input`). None mean all, or none at all when the model
 * says so; what is done to each element, such as the square of a sum of squares, is done nevertheless. */
static odlc_status read_reduction(struct lower *l, bool from_input, struct reduction *r)
{
    const int64_t *axes;
    uint32_t count, normal[MAX_RANK] = {0};
    int64_t keep, none_at_all;
    TRY(lower_need(l, 0, "data", &r->x));
    TRY(lower_attr_int(l, "keepdims", 1, &keep));
    TRY(lower_attr_int(l, "noop_with_empty_axes", 0, &none_at_all));
    TRY(from_input ? lower_const_ints(l, 1, "axes", &axes, &count) : lower_attr_ints(l, "axes", &axes, &count));
    uint32_t rank = build_rank(l->b, r->x);
    r->keep = keep != 0;
    r->n_axes = 0;
    if (count == 0 && none_at_all)
        return ODLC_OK;
    if (count > rank)
        return lower_invalid(l, "axes", NULL, "%u axes are more than rank %u has", count, rank);
    TRY(lower_axes(l, "axes", axes, count, rank, normal));
    r->n_axes = count ? count : rank;
    for (uint32_t i = 0; i < r->n_axes; i++)
        r->axes[i] = count ? normal[i] : i;
    return ODLC_OK;
}

static bool axes_are_input(const struct lower *l)
{
    return l->version >= 18 || (l->version >= 13 && strcmp(l->node->op->type, "ReduceSum") == 0);
}

static odlc_status end_reduce(struct emit *s, enum op_id op, const struct reduction *r, tensor_id x)
{
    struct lower *l = s->l;
    TRY(s->status);
    if (r->n_axes == 0) {
        l->out[0] = x;
        return ODLC_OK;
    }
    build_op(l->b, op, fw_node_label(l->node));
    build_in(l->b, x);
    build_ints(l->b, PARAM_axes, r->axes, r->n_axes);
    build_int(l->b, PARAM_keep_dims, r->keep);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* A reduction in the middle of a formula. */
static tensor_id reduce_step(struct emit *s, enum op_id op, const struct reduction *r, tensor_id x)
{
    return r->n_axes ? emit_reduce(s, op, x, r->axes, r->n_axes, r->keep) : x;
}

odlc_status lower_reduce(struct lower *l)
{
    struct emit s = {.l = l};
    struct reduction r;
    TRY(read_reduction(l, axes_are_input(l), &r));
    return end_reduce(&s, l->op, &r, r.x);
}

odlc_status lower_reduce_l1(struct lower *l)
{
    struct emit s = {.l = l};
    struct reduction r;
    TRY(read_reduction(l, axes_are_input(l), &r));
    if (r.n_axes == 0)
        return emit_end_unary(&s, OP_ElementWiseAbs, r.x);
    return end_reduce(&s, OP_ReduceSum, &r, emit_unary(&s, OP_ElementWiseAbs, r.x));
}

odlc_status lower_reduce_sum_square(struct lower *l)
{
    struct emit s = {.l = l};
    struct reduction r;
    TRY(read_reduction(l, axes_are_input(l), &r));
    if (r.n_axes == 0)
        return emit_end_binary(&s, OP_ElementWiseMultiply, r.x, r.x);
    return end_reduce(&s, OP_ReduceSumSquare, &r, r.x);
}

/* 1 where op(a, b) holds, else 0, in the dtype of a. */
static tensor_id one_where(struct emit *s, enum op_id op, tensor_id a, tensor_id b)
{
    return emit_cast(s, emit_binary(s, op, a, b), build_type(s->l->b, a)->dtype);
}

/* The largest integer whose square is at most x: the root as a float is off by one at most. Quotients tell on which
 * side it is, because a square could overflow. */
static odlc_status end_integer_root(struct emit *s, tensor_id x)
{
    TRY(s->status);
    enum dtype dtype = build_type(s->l->b, x)->dtype;
    tensor_id real = emit_unary(s, OP_ElementWiseSquareRoot, emit_cast(s, x, DT_FLOAT64));
    tensor_id root = emit_cast(s, real, dtype), one = emit_scalar(s, x, 1);
    tensor_id divisor = emit_binary(s, OP_ElementWiseMaximum, root, one);
    tensor_id bound = emit_binary(s, OP_ElementWiseDivide, x, divisor);
    TRY(s->status);
    root = emit_binary(s, OP_ElementWiseSubtract, root, one_where(s, OP_ElementWiseGreater, root, bound));
    tensor_id next = emit_binary(s, OP_ElementWiseAdd, root, one);
    bound = emit_binary(s, OP_ElementWiseDivide, x, next);
    TRY(s->status);
    return emit_end_binary(s, OP_ElementWiseAdd, root, one_where(s, OP_ElementWiseLessEqual, next, bound));
}

odlc_status lower_reduce_l2(struct lower *l)
{
    struct emit s = {.l = l};
    struct reduction r;
    TRY(read_reduction(l, axes_are_input(l), &r));
    if (r.n_axes == 0)
        return emit_end_unary(&s, OP_ElementWiseAbs, r.x);
    tensor_id squares = reduce_step(&s, OP_ReduceSumSquare, &r, r.x);
    if (!dtype_is_float(build_type(l->b, r.x)->dtype))
        return end_integer_root(&s, squares);
    return emit_end_unary(&s, OP_ElementWiseSquareRoot, squares);
}

odlc_status lower_reduce_log_sum(struct lower *l)
{
    struct emit s = {.l = l};
    struct reduction r;
    TRY(read_reduction(l, axes_are_input(l), &r));
    enum dtype dtype = build_type(l->b, r.x)->dtype;
    tensor_id sum = reduce_step(&s, OP_ReduceSum, &r, r.x);
    if (dtype_is_float(dtype))
        return emit_end_unary(&s, OP_ElementWiseLog, sum);
    tensor_id logarithm = emit_unary(&s, OP_ElementWiseLog, emit_cast(&s, sum, DT_FLOAT64));
    TRY(s.status);
    return build_cast(l->b, logarithm, dtype, lower_out_name(l, 0), &l->out[0]);
}

/* The whole part of m + log Σ exp(x − m) for integers. The logarithm is not less than 0: it is rounded first, and then
 * added, so that large integers lose nothing. */
static odlc_status end_integer_log_sum_exp(struct emit *s, const struct reduction *r, tensor_id max)
{
    enum dtype dtype = build_type(s->l->b, max)->dtype;
    tensor_id zero = emit_scalar(s, max, 0), far = emit_scalar(s, max, 120); /* exp(−120) is nothing beside 1 */
    tensor_id below = emit_binary(s, OP_ElementWiseSubtract, max, r->x);
    below = emit_select(s, emit_binary(s, OP_ElementWiseLess, below, zero), far, below); /* it went beyond the type */
    tensor_id shifted = emit_unary(s, OP_ElementWiseNeg, emit_cast(s, below, DT_FLOAT64));
    tensor_id sum = reduce_step(s, OP_ReduceSum, r, emit_unary(s, OP_ElementWiseExp, shifted));
    tensor_id logarithm = emit_unary(s, OP_ElementWiseLog, sum);
    TRY(s->status);
    TRY(build_reshape(s->l->b, max, &build_type(s->l->b, logarithm)->shape, step_name(s->l, "max"), &max));
    tensor_id up = emit_cast(s, emit_unary(s, OP_ElementWiseCeil, logarithm), dtype);
    tensor_id down = emit_cast(s, emit_unary(s, OP_ElementWiseFloor, logarithm), dtype);
    up = emit_binary(s, OP_ElementWiseAdd, max, up);
    down = emit_binary(s, OP_ElementWiseAdd, max, down);
    tensor_id is_negative = emit_binary(s, OP_ElementWiseLess, max, zero);
    tensor_id stays_so = emit_binary(s, OP_ElementWiseLessEqual, up, zero);
    return emit_end_select(s, emit_binary(s, OP_ElementWiseAnd, is_negative, stays_so), up, down);
}

/* m + log Σ exp(x − m) with m the maximum, so that nothing overflows; an m of −∞ is raised, or x − m had no value. */
odlc_status lower_reduce_log_sum_exp(struct lower *l)
{
    struct emit s = {.l = l};
    struct reduction r;
    TRY(read_reduction(l, axes_are_input(l), &r));
    if (r.n_axes == 0) { /* one element each: log(exp(x)) */
        l->out[0] = r.x;
        return ODLC_OK;
    }
    tensor_id max = emit_reduce(&s, OP_ReduceMax, r.x, r.axes, r.n_axes, true);
    TRY(s.status);
    if (!dtype_is_float(build_type(l->b, r.x)->dtype))
        return end_integer_log_sum_exp(&s, &r, max);
    max = emit_binary(&s, OP_ElementWiseMaximum, max, emit_scalar(&s, r.x, -FLT_MAX));
    tensor_id shifted = emit_binary(&s, OP_ElementWiseSubtract, r.x, max);
    tensor_id sum = reduce_step(&s, OP_ReduceSum, &r, emit_unary(&s, OP_ElementWiseExp, shifted));
    tensor_id logarithm = emit_unary(&s, OP_ElementWiseLog, sum);
    TRY(s.status);
    TRY(build_reshape(l->b, max, &build_type(l->b, logarithm)->shape, step_name(l, "max"), &max));
    return emit_end_binary(&s, OP_ElementWiseAdd, logarithm, max);
}

/* ---- one axis ---- */

/* The axis in the opposite direction. */
static odlc_status reverse_axis(struct lower *l, tensor_id x, uint32_t axis, tensor_id *out)
{
    int64_t count = build_type(l->b, x)->shape.dims[axis], *positions;
    TRY(lower_table(l, (uint64_t)count, sizeof *positions, &positions));
    for (int64_t i = 0; i < count; i++)
        positions[i] = count - 1 - i;
    return lower_gather_positions(l, x, axis, positions, count, step_name(l, "reversed"), out);
}

/* The op's result is int32, the operator's int64. The op finds the first of equal elements: where the last is wanted,
 * the axis is reversed, and positions are counted from its end. */
odlc_status lower_arg(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, found;
    int64_t axis_attr, keep, last;
    uint32_t axis;
    TRY(lower_need(l, 0, "data", &x));
    TRY(lower_attr_int(l, "axis", 0, &axis_attr));
    TRY(lower_attr_int(l, "keepdims", 1, &keep));
    TRY(lower_attr_int(l, "select_last_index", 0, &last));
    TRY(lower_axis(l, "axis", axis_attr, build_rank(l->b, x), &axis));
    int64_t count = build_type(l->b, x)->shape.dims[axis];
    if (last)
        TRY(reverse_axis(l, x, axis, &x));
    build_op(l->b, l->op, step_name(l, "int32"));
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, axis);
    build_int(l->b, PARAM_keep_dims, keep != 0);
    TRY(build_end(l->b, step_name(l, "int32"), &found));
    if (last)
        found = emit_binary(&s, OP_ElementWiseSubtract, emit_scalar(&s, found, (double)(count - 1)), found);
    TRY(s.status);
    return build_cast(l->b, found, DT_INT64, lower_out_name(l, 0), &l->out[0]);
}

/* CumSum and CumProd. */
static odlc_status read_running(struct lower *l, struct cumulative *n)
{
    tensor_id axis_input;
    const int64_t *axis_value;
    int64_t exclusive, reverse;
    uint32_t count;
    TRY(lower_need(l, 0, "x", &n->x));
    TRY(lower_need(l, 1, "axis", &axis_input));
    TRY(lower_const_ints(l, 1, "axis", &axis_value, &count));
    if (count != 1)
        return lower_invalid(l, NULL, NULL, "input 1 (axis) has %u elements instead of one", count);
    TRY(lower_axis(l, "axis", axis_value[0], build_rank(l->b, n->x), &n->axis));
    TRY(lower_attr_int(l, "exclusive", 0, &exclusive));
    TRY(lower_attr_int(l, "reverse", 0, &reverse));
    n->exclusive = exclusive != 0;
    n->reverse = reverse != 0;
    return ODLC_OK;
}

odlc_status lower_cum_sum(struct lower *l)
{
    struct cumulative n;
    TRY(read_running(l, &n));
    return lower_cumulative_sum(l, &n);
}

odlc_status lower_cum_prod(struct lower *l)
{
    struct cumulative n;
    TRY(read_running(l, &n));
    return lower_cumulative_product(l, &n);
}

/* ---- Softmax, Hardmax ---- */

typedef odlc_status along_axis(struct lower *l, tensor_id x, uint32_t axis, const char *name, tensor_id *out);

static odlc_status softmax(struct lower *l, tensor_id x, uint32_t axis, const char *name, tensor_id *out)
{
    build_op(l->b, l->op, fw_node_label(l->node));
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, axis);
    return build_end(l->b, name, out);
}

/* 1 at the first of the largest elements, 0 elsewhere. */
static odlc_status hardmax(struct lower *l, tensor_id x, uint32_t axis, const char *name, tensor_id *out)
{
    struct emit s = {.l = l};
    tensor_id largest;
    struct shape shape = build_type(l->b, x)->shape, along = {.rank = shape.rank};
    for (uint32_t i = 0; i < along.rank; i++)
        along.dims[i] = i == axis ? shape.dims[i] : 1;
    double *positions;
    TRY(lower_table(l, (uint64_t)shape.dims[axis], sizeof *positions, &positions));
    for (int64_t i = 0; i < shape.dims[axis]; i++)
        positions[i] = (double)i;
    build_op(l->b, OP_Argmax, step_name(l, "Argmax"));
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, axis);
    build_int(l->b, PARAM_keep_dims, true);
    TRY(build_end(l->b, step_name(l, "Argmax"), &largest));
    tensor_id every = emit_constant(&s, DT_INT32, &along, positions);
    tensor_id hit = emit_binary(&s, OP_ElementWiseEqual, every, largest);
    tensor_id one = emit_scalar(&s, x, 1), zero = emit_scalar(&s, x, 0);
    TRY(s.status);
    build_op(l->b, OP_ElementWiseSelect, fw_node_label(l->node));
    build_in(l->b, hit);
    build_in(l->b, one);
    build_in(l->b, zero);
    return build_end(l->b, name, out);
}

/* Since opset 13 along one axis. Before, over all axes from `axis` on together: that is a matrix, unless those after it
 * have one element. */
static odlc_status lower_along_axis(struct lower *l, along_axis *fn)
{
    tensor_id x;
    int64_t axis_attr;
    uint32_t axis;
    TRY(lower_need(l, 0, "input", &x));
    const struct shape shape = build_type(l->b, x)->shape;
    TRY(lower_attr_int(l, "axis", l->version < 13 ? 1 : -1, &axis_attr));
    TRY(lower_axis(l, "axis", axis_attr, shape.rank, &axis));
    if (shape_count(&shape) == 0) {
        l->out[0] = x;
        return ODLC_OK;
    }
    if (l->version >= 13 || shape_count_range(&shape, axis + 1, shape.rank) == 1)
        return fn(l, x, axis, lower_out_name(l, 0), &l->out[0]);
    struct shape matrix =
        SHAPE((int64_t)shape_count_range(&shape, 0, axis), (int64_t)shape_count_range(&shape, axis, shape.rank));
    tensor_id flat, result;
    TRY(build_reshape(l->b, x, &matrix, step_name(l, "flat"), &flat));
    TRY(fn(l, flat, 1, step_name(l, "matrix"), &result));
    return build_reshape(l->b, result, &shape, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_softmax(struct lower *l)
{
    return lower_along_axis(l, softmax);
}

odlc_status lower_hardmax(struct lower *l)
{
    return lower_along_axis(l, hardmax);
}
