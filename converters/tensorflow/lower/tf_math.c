/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's mathematical functions that no other front end has. */
#include <math.h>

#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

/* eˣ − 1 without the difference, which would leave nothing of small results: Elu gives it for x ≤ 0, and above,
 * eˣ − 1 is −eˣ · (e⁻ˣ − 1). */
odlc_status tf_expm1(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    tensor_id below = emit_elu(&s, x, 1);
    tensor_id mirrored = emit_elu(&s, emit_unary(&s, OP_ElementWiseNeg, x), 1);
    tensor_id factor = emit_unary(&s, OP_ElementWiseNeg, emit_unary(&s, OP_ElementWiseExp, x));
    tensor_id above = emit_binary(&s, OP_ElementWiseMultiply, factor, mirrored);
    tensor_id is_above = emit_binary(&s, OP_ElementWiseGreater, x, emit_scalar(&s, x, 0));
    return emit_end_select(&s, is_above, above, below);
}

/* log(1 + x): the rounded sum u has the logarithm log u, and x / (u − 1) makes up for what rounding took; x itself
 * where nothing is left of it in u. An infinite u has no quotient. */
static tensor_id log1p_of(struct emit *s, tensor_id x)
{
    tensor_id one = emit_scalar(s, x, 1);
    tensor_id u = emit_binary(s, OP_ElementWiseAdd, x, one);
    tensor_id logarithm = emit_unary(s, OP_ElementWiseLog, u);
    tensor_id is_one = emit_binary(s, OP_ElementWiseEqual, u, one);
    tensor_id kept = emit_select(s, is_one, one, emit_binary(s, OP_ElementWiseSubtract, u, one));
    tensor_id corrected =
        emit_binary(s, OP_ElementWiseDivide, emit_binary(s, OP_ElementWiseMultiply, logarithm, x), kept);
    tensor_id is_infinite = emit_binary(s, OP_ElementWiseEqual, u, emit_scalar(s, x, INFINITY));
    return emit_select(s, is_infinite, u, emit_select(s, is_one, x, corrected));
}

odlc_status tf_log1p(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    return emit_give(&s, 0, log1p_of(&s, x));
}

/* Below zero, or the zero that is: the quotient of 1 and it is infinite with its sign. */
static tensor_id is_negative(struct emit *s, tensor_id x, tensor_id zero)
{
    tensor_id is_zero = emit_binary(s, OP_ElementWiseEqual, x, zero);
    tensor_id quotient = emit_binary(s, OP_ElementWiseDivide, emit_scalar(s, x, 1), x);
    return emit_binary(s, OP_ElementWiseLess, emit_select(s, is_zero, quotient, x), zero);
}

/* The angle of (x, y). atan(y / |x|) is right where x is positive, and has to be taken from half a turn, with the sign
 * of y, where it is negative. Equal distances have a quotient of 1 also when they are infinite, and 0 for the origin.
 */
odlc_status tf_atan2(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(lower_need(l, 0, "y", &y));
    TRY(lower_need(l, 1, "x", &x));
    tensor_id zero = emit_scalar(&s, x, 0), far = emit_unary(&s, OP_ElementWiseAbs, x);
    tensor_id same = emit_binary(&s, OP_ElementWiseEqual, emit_unary(&s, OP_ElementWiseAbs, y), far);
    tensor_id sign = emit_unary(&s, OP_ElementWiseSign, y);
    tensor_id quotient = emit_select(&s, same, sign, emit_binary(&s, OP_ElementWiseDivide, y, far));
    tensor_id angle = emit_unary(&s, OP_ElementWiseAtan, quotient);
    tensor_id below = is_negative(&s, y, zero), behind = is_negative(&s, x, zero);
    tensor_id positive = emit_scalar(&s, x, M_PI), negative = emit_scalar(&s, x, -M_PI);
    tensor_id half_turn = emit_select(&s, below, negative, positive);
    return emit_end_select(&s, behind, emit_binary(&s, OP_ElementWiseSubtract, half_turn, angle), angle);
}

/* ---- x · f(y) or x / y, and 0 where x is, whatever y is ---- */

static odlc_status end_unless_zero(struct emit *s, enum op_id op, tensor_id x, tensor_id y)
{
    tensor_id zero = emit_scalar(s, x, 0);
    tensor_id is_zero = emit_binary(s, OP_ElementWiseEqual, x, zero);
    return emit_end_select(s, is_zero, zero, emit_binary(s, op, x, y));
}

static odlc_status operands(const struct lower *l, tensor_id *x, tensor_id *y)
{
    TRY(lower_need(l, 0, "x", x));
    return lower_need(l, 1, "y", y);
}

odlc_status tf_xdivy(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    return end_unless_zero(&s, OP_ElementWiseDivide, x, y);
}

odlc_status tf_xlogy(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    return end_unless_zero(&s, OP_ElementWiseMultiply, x, emit_unary(&s, OP_ElementWiseLog, y));
}

odlc_status tf_xlog1py(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    return end_unless_zero(&s, OP_ElementWiseMultiply, x, log1p_of(&s, y));
}

/* ---- with attributes and lists ---- */

/* How many of the boundaries, which ascend, are not above x. */
odlc_status tf_bucketize(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    const float *boundaries;
    uint32_t count;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_attr_floats(l, "boundaries", &boundaries, &count));
    struct shape column = build_type(l->b, x)->shape, along = SHAPE(count);
    if (column.rank == MAX_RANK)
        return lower_unsupported(l, NULL, NULL, "the input has %d axes, and one more is needed", MAX_RANK);
    double *wide = arena_array(l->arena, double, count);
    for (uint32_t i = 0; i < count; i++)
        wide[i] = (double)boundaries[i];
    if (!dtype_is_float(build_type(l->b, x)->dtype))
        x = emit_cast(&s, x, DT_FLOAT32);
    TRY(s.status);
    const int64_t last = column.rank;
    column.dims[column.rank++] = 1;
    tensor_id bounds = emit_constant(&s, build_type(l->b, x)->dtype, &along, wide);
    tensor_id reached = emit_binary(&s, OP_ElementWiseGreaterEqual, emit_reshape(&s, x, &column), bounds);
    tensor_id ones = emit_cast(&s, reached, DT_INT32);
    return emit_give(&s, 0, emit_reduce(&s, OP_ReduceSum, ones, &last, 1, false));
}

/* For each value, how many elements of its row, which ascend, are below it, or are not above it: all but those above.
 * The row's op compares elements with values. A value that is no number is behind no element, and before none. */
odlc_status tf_sorted_bound(struct lower *l)
{
    static const int64_t middle = 1;
    struct emit s = {.l = l};
    tensor_id sorted, values;
    enum dtype dtype;
    TRY(lower_need(l, 0, "sorted_inputs", &sorted));
    TRY(lower_need(l, 1, "values", &values));
    TRY(lower_tf_dtype(l, "out_type", DT_INT32, &dtype));
    const struct shape rows = build_type(l->b, sorted)->shape, wanted = build_type(l->b, values)->shape;
    if (rows.rank != 2 || wanted.rank != 2 || rows.dims[0] != wanted.dims[0])
        return lower_invalid(l, NULL, NULL, "%s and %s are not the rows of two matrices",
                             shape_text(l->diags->arena, &rows), shape_text(l->diags->arena, &wanted));
    sorted = emit_reshape(&s, sorted, &SHAPE(rows.dims[0], rows.dims[1], 1));
    values = emit_reshape(&s, values, &SHAPE(wanted.dims[0], 1, wanted.dims[1]));
    tensor_id beyond = emit_cast(&s, emit_binary(&s, l->op, sorted, values), DT_INT32);
    tensor_id count = emit_reduce(&s, OP_ReduceSum, beyond, &middle, 1, false);
    if (l->op == OP_ElementWiseGreater)
        count = emit_binary(&s, OP_ElementWiseSubtract, emit_scalar(&s, count, (double)rows.dims[1]), count);
    return emit_give(&s, 0, emit_cast(&s, count, dtype));
}

/* The elements 1, 2, 0 or 2, 0, 1 of the last axis. */
static tensor_id rotated(struct emit *s, tensor_id x, uint32_t axis, uint32_t by)
{
    double *positions = arena_array(s->l->arena, double, 3);
    for (uint32_t i = 0; i < 3; i++)
        positions[i] = (i + by) % 3;
    return emit_gather(s, x, emit_constant(s, DT_INT32, &SHAPE(3), positions), axis);
}

/* The product of vectors of three elements, which are the last axis. */
odlc_status tf_cross(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id a, b;
    TRY(lower_need(l, 0, "a", &a));
    TRY(lower_need(l, 1, "b", &b));
    const struct shape *shape = &build_type(l->b, a)->shape;
    if (shape->rank == 0 || shape->dims[shape->rank - 1] != 3 || !shape_equal(shape, &build_type(l->b, b)->shape))
        return lower_invalid(l, NULL, NULL, "the operands %s and %s are not vectors of three elements",
                             shape_text(l->diags->arena, shape),
                             shape_text(l->diags->arena, &build_type(l->b, b)->shape));
    uint32_t last = shape->rank - 1;
    tensor_id a1 = rotated(&s, a, last, 1), a2 = rotated(&s, a, last, 2);
    tensor_id b1 = rotated(&s, b, last, 1), b2 = rotated(&s, b, last, 2);
    tensor_id forth = emit_binary(&s, OP_ElementWiseMultiply, a1, b2),
              back = emit_binary(&s, OP_ElementWiseMultiply, a2, b1);
    return emit_end_binary(&s, OP_ElementWiseSubtract, forth, back);
}
