/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators that work element by element, and those that give back what they get. */
#include <math.h>
#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/l2_norm.h"
#include "converters/tensorflow/lower/complex.h"
#include "converters/tensorflow/lower/random.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* A constant goes by what its readers call it, "weights/read:0" instead of "weights:0": by the first reading of it. */
static void name_as_read(const struct lower *l)
{
    struct graph *g = l->b->graph;
    const char *name = lower_out_name(l, 0);
    const struct tensor *t = graph_tensor(g, l->out[0]);
    if (name && t->kind == TENSOR_STATIC && strcmp(t->name, l->node->inputs[0]) == 0 &&
        graph_find_tensor(g, name) == NO_TENSOR)
        graph_rename_tensor(g, l->out[0], name);
}

/* Operators that do nothing at inference; a sequence or a resource passes, too. */
odlc_status tf_identity(struct lower *l)
{
    if (l->n_in && l->values[0].kind != VALUE_TENSOR) {
        l->results[0] = l->values[0];
        return ODLC_OK;
    }
    TRY(lower_need(l, 0, "input", &l->out[0]));
    name_as_read(l);
    return ODLC_OK;
}

odlc_status tf_unary(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    return emit_end_unary(&(struct emit){.l = l}, l->op, x);
}

static odlc_status operands(const struct lower *l, tensor_id *x, tensor_id *y)
{
    TRY(lower_need(l, 0, "x", x));
    return lower_need(l, 1, "y", y);
}

static odlc_status binary(struct lower *l, enum op_id op)
{
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    return emit_end_binary(&(struct emit){.l = l}, op, x, y);
}

odlc_status tf_binary(struct lower *l)
{
    return binary(l, l->op);
}

/* Whether a tensor is a constant integer without axes. */
static bool is_known_int(const struct lower *l, tensor_id x, int64_t *out)
{
    uint64_t count;
    if (!build_is_const(l->b, x) || build_rank(l->b, x) != 0 || !dtype_is_int(build_type(l->b, x)->dtype))
        return false;
    *out = build_const_as_ints(l->b, x, &count)[0];
    return true;
}

/* Whether a tensor is the larger of a number and something, and the number is not below `least`. */
static bool is_at_least(const struct lower *l, tensor_id x, int64_t least)
{
    const struct graph *g = l->b->graph;
    const struct node *n = graph_producer(g, x);
    int64_t number;
    for (uint32_t i = 0; n && node_is(n, OP_ElementWiseMaximum) && i < 2; i++)
        if (is_known_int(l, n->inputs[i], &number) && number >= least && build_rank(l->b, x) == 0)
            return true;
    return false;
}

/* Layers bound sizes to a range, which may have one number alone: min(6, max(6, x)) is 6. */
odlc_status tf_minimum(struct lower *l)
{
    int64_t most;
    for (uint32_t i = 0; l->n_in == 2 && i < 2; i++)
        if (lower_in(l, i) != NO_TENSOR && lower_in(l, 1 - i) != NO_TENSOR && is_known_int(l, l->in[i], &most) &&
            is_at_least(l, l->in[1 - i], most)) {
            l->out[0] = l->in[i];
            return ODLC_OK;
        }
    return binary(l, OP_ElementWiseMinimum);
}

static bool is_real(const struct lower *l, tensor_id x)
{
    return dtype_is_float(build_type(l->b, x)->dtype);
}

/* Whether a constant is 1 everywhere, as far as that takes no reading. */
static bool is_one(const struct tensor *t)
{
    double value;
    if (t->kind != TENSOR_STATIC || t->view->scale || t->type->dtype == DT_STRING ||
        !(t->view->splat || shape_count(&t->type->shape) == 1))
        return false;
    convert_elements(&value, DT_FLOAT64, t->view->bytes, t->view->dtype, 1);
    return value == 1;
}

/* x · 1 and x / 1, as a dropout that keeps everything leaves them, are x. */
static bool give_unchanged(struct lower *l, tensor_id x, tensor_id y)
{
    const struct shape *shape = &build_type(l->b, x)->shape;
    struct shape both;
    if (!is_one(graph_tensor(l->b->graph, y)) || !shape_broadcast(shape, &build_type(l->b, y)->shape, &both) ||
        !shape_equal(&both, shape) || build_type(l->b, x)->dtype != build_type(l->b, y)->dtype)
        return false;
    l->out[0] = x;
    return true;
}

/* ---- sums and products, also of random numbers whose range is known ---- */

odlc_status tf_add(struct lower *l)
{
    if (lower_takes_complex(l))
        return complex_binary(l, OP_ElementWiseAdd);
    return takes_random(l) ? random_binary(l, OP_ElementWiseAdd) : binary(l, OP_ElementWiseAdd);
}

odlc_status tf_subtract(struct lower *l)
{
    if (lower_takes_complex(l))
        return complex_binary(l, OP_ElementWiseSubtract);
    return takes_random(l) ? random_binary(l, OP_ElementWiseSubtract) : binary(l, OP_ElementWiseSubtract);
}

odlc_status tf_multiply(struct lower *l)
{
    tensor_id x, y;
    bool done;
    if (lower_takes_complex(l))
        return complex_binary(l, OP_ElementWiseMultiply);
    if (takes_random(l))
        return random_binary(l, OP_ElementWiseMultiply);
    TRY(operands(l, &x, &y));
    if (give_unchanged(l, x, y) || give_unchanged(l, y, x))
        return ODLC_OK;
    TRY(give_l2_norm(l, &done));
    return done ? ODLC_OK : binary(l, OP_ElementWiseMultiply);
}

odlc_status tf_add_n(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id sum;
    TRY(lower_need(l, 0, "inputs", &sum));
    for (uint32_t i = 1; i < l->n_in; i++) {
        tensor_id next;
        TRY(lower_need(l, i, "inputs", &next));
        if (i + 1 == l->n_in)
            return emit_end_binary(&s, OP_ElementWiseAdd, sum, next);
        sum = emit_binary(&s, OP_ElementWiseAdd, sum, next);
        TRY(s.status);
    }
    l->out[0] = sum;
    return ODLC_OK;
}

/* ---- quotients and powers ---- */

/* Integers that are known to be divided by zero have no quotient. */
static odlc_status check_divisor(const struct lower *l, tensor_id y)
{
    uint64_t count;
    const int64_t *values = is_real(l, y) ? NULL : build_const_as_ints(l->b, y, &count);
    for (uint64_t i = 0; values && i < count; i++)
        if (values[i] == 0)
            return lower_invalid(l, NULL, NULL, "element %llu of the divisor is the integer 0", (unsigned long long)i);
    return ODLC_OK;
}

odlc_status tf_divide(struct lower *l)
{
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    TRY(check_divisor(l, y));
    if (l->op == OP_ElementWiseDivide && give_unchanged(l, x, y))
        return ODLC_OK;
    return emit_end_binary(&(struct emit){.l = l}, l->op, x, y);
}

/* Of floats, the quotient is rounded to a float before it is rounded down. */
odlc_status tf_floor_div(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    TRY(check_divisor(l, y));
    if (!is_real(l, x))
        return emit_end_binary(&s, OP_ElementWiseFloorDiv, x, y);
    return emit_end_unary(&s, OP_ElementWiseFloor, emit_binary(&s, OP_ElementWiseDivide, x, y));
}

/* Of floats, the quotient is rounded towards zero. */
odlc_status tf_truncate_div(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    TRY(check_divisor(l, y));
    if (!is_real(l, x))
        return emit_end_binary(&s, OP_ElementWiseDivide, x, y);
    tensor_id quotient = emit_binary(&s, OP_ElementWiseDivide, x, y);
    tensor_id size = emit_unary(&s, OP_ElementWiseFloor, emit_unary(&s, OP_ElementWiseAbs, quotient));
    return emit_end_binary(&s, OP_ElementWiseMultiply, emit_unary(&s, OP_ElementWiseSign, quotient), size);
}

odlc_status tf_reciprocal(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    return emit_end_binary(&s, OP_ElementWiseDivide, emit_scalar(&s, x, 1), x);
}

odlc_status tf_power(struct lower *l)
{
    tensor_id x, y;
    uint64_t count;
    TRY(operands(l, &x, &y));
    const int64_t *exponents = is_real(l, y) ? NULL : build_const_as_ints(l->b, y, &count);
    for (uint64_t i = 0; exponents && i < count; i++)
        if (exponents[i] < 0)
            return lower_invalid(l, NULL, NULL, "the exponent %lld of an integer is negative", (long long)exponents[i]);
    return emit_end_binary(&(struct emit){.l = l}, OP_ElementWisePower, x, y);
}

/* y = 0 ? 0 : x / y; and x · y, with 0 where y is, whatever x is. The row gives the op. */
odlc_status tf_no_nan(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(operands(l, &x, &y));
    tensor_id zero = emit_scalar(&s, y, 0);
    tensor_id is_zero = emit_binary(&s, OP_ElementWiseEqual, y, zero);
    return emit_end_select(&s, is_zero, zero, emit_binary(&s, l->op, x, y));
}

odlc_status tf_square(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    return emit_end_binary(&(struct emit){.l = l}, OP_ElementWiseMultiply, x, x);
}

/* ---- rounding ---- */

odlc_status tf_floor(struct lower *l)
{
    tensor_id x;
    if (takes_random(l))
        return random_floor(l);
    TRY(lower_need(l, 0, "x", &x));
    return emit_end_unary(&(struct emit){.l = l}, OP_ElementWiseFloor, x);
}

/* To the nearest integer, halves to the even one. */
odlc_status tf_round(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    if (is_real(l, x))
        return emit_end_unary(&(struct emit){.l = l}, OP_ElementWiseRound, x);
    l->out[0] = x;
    return ODLC_OK;
}

/* min(max(x, low), high) */
odlc_status tf_clip(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, low, high;
    uint64_t n_low, n_high;
    TRY(lower_need(l, 0, "t", &x));
    TRY(lower_need(l, 1, "clip_value_min", &low));
    TRY(lower_need(l, 2, "clip_value_max", &high));
    const double *min = build_const_as_floats(l->b, low, &n_low), *max = build_const_as_floats(l->b, high, &n_high);
    if (is_real(l, x) && min && max && n_low == 1 && n_high == 1)
        return emit_give(&s, 0, emit_clamp(&s, x, *min, *max));
    return emit_end_binary(&s, OP_ElementWiseMinimum, emit_binary(&s, OP_ElementWiseMaximum, x, low), high);
}

/* ---- comparisons ---- */

odlc_status tf_greater_equal(struct lower *l)
{
    return takes_random(l) ? random_greater_equal(l) : binary(l, OP_ElementWiseGreaterEqual);
}

/* Equal and NotEqual, of which the row gives the op: shapes that do not broadcast are an error, or simply not equal. */
odlc_status tf_equal(struct lower *l)
{
    tensor_id x, y;
    bool must_fit;
    struct shape both;
    TRY(operands(l, &x, &y));
    TRY(lower_attr_bool(l, "incompatible_shape_error", true, &must_fit));
    if (must_fit || shape_broadcast(&build_type(l->b, x)->shape, &build_type(l->b, y)->shape, &both))
        return emit_end_binary(&(struct emit){.l = l}, l->op, x, y);
    struct shape scalar = {.rank = 0};
    l->out[0] = lower_splat(l, lower_out_name(l, 0), DT_BOOL, &scalar, l->op == OP_ElementWiseNotEqual);
    return ODLC_OK;
}

/* |x − y| ≤ tolerance: TensorFlow's page says that the distance is less than the tolerance; its kernels take one that
 * equals it, too. */
odlc_status tf_approximate_equal(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    double tolerance;
    TRY(operands(l, &x, &y));
    TRY(lower_attr_float(l, "tolerance", (double)1e-5f, &tolerance));
    tensor_id distance = emit_unary(&s, OP_ElementWiseAbs, emit_binary(&s, OP_ElementWiseSubtract, x, y));
    return emit_end_binary(&s, OP_ElementWiseLessEqual, distance, emit_scalar(&s, x, tolerance));
}

/* A NaN is what differs from itself. */
odlc_status tf_is_nan(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    return emit_end_binary(&(struct emit){.l = l}, OP_ElementWiseNotEqual, x, x);
}

/* |x| compared with infinity as the row says: a NaN is neither equal nor less. */
odlc_status tf_against_infinity(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    tensor_id magnitude = emit_unary(&s, OP_ElementWiseAbs, x);
    return emit_end_binary(&s, l->op, magnitude, emit_scalar(&s, x, INFINITY));
}

/* ---- selection ---- */

static odlc_status choices(const struct lower *l, tensor_id *condition, tensor_id *yes, tensor_id *no)
{
    TRY(lower_need(l, 0, "condition", condition));
    TRY(lower_need(l, 1, "t", yes));
    return lower_need(l, 2, "e", no);
}

odlc_status tf_select_v2(struct lower *l)
{
    tensor_id condition, yes, no;
    TRY(choices(l, &condition, &yes, &no));
    return emit_end_select(&(struct emit){.l = l}, condition, yes, no);
}

/* A vector as condition chooses rows of the first axis. */
odlc_status tf_select(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id condition, yes, no;
    TRY(choices(l, &condition, &yes, &no));
    const struct shape from = build_type(l->b, condition)->shape, values = build_type(l->b, yes)->shape;
    bool rows = from.rank == 1 && values.rank > 1 && from.dims[0] == values.dims[0];
    if (!shape_equal(&values, &build_type(l->b, no)->shape))
        return lower_invalid(l, NULL, NULL, "the values %s and %s differ in shape",
                             shape_text(l->diags->arena, &values),
                             shape_text(l->diags->arena, &build_type(l->b, no)->shape));
    if (from.rank > 0 && !rows && !shape_equal(&from, &values))
        return lower_invalid(l, NULL, NULL, "the condition %s does not fit the values %s",
                             shape_text(l->diags->arena, &from), shape_text(l->diags->arena, &values));
    if (rows) {
        struct shape column = {.rank = values.rank, .dims = {from.dims[0]}};
        for (uint32_t i = 1; i < column.rank; i++)
            column.dims[i] = 1;
        condition = emit_reshape(&s, condition, &column);
    }
    return emit_end_select(&s, condition, yes, no);
}
