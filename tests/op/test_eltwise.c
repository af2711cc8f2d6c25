/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise ops, activations and Cast: kernels against plain C functions on random shapes that broadcast, the corners
 * of integer arithmetic and of floats by hand, and the errors of the type rules. */
#include <float.h>
#include <math.h>

#include "node_fixture.h"

enum { ROUNDS = 40 };

/* Quarters in [-4, 4], zero among them: sums and products are exact in float32. */
static tensor_id quarters(struct fixture *f, struct shape shape)
{
    float values[4096];
    ck_assert_uint_lt(shape_count(&shape), COUNT_OF(values));
    for (uint64_t i = 0; i < shape_count(&shape); i++)
        values[i] = (float)draw(f, -16, 16) / 4;
    return input_with(f, DT_FLOAT32, shape, values);
}

static tensor_id integers(struct fixture *f, enum dtype dtype, struct shape shape, int64_t low, int64_t high)
{
    int64_t values[4096];
    ck_assert_uint_lt(shape_count(&shape), COUNT_OF(values));
    for (uint64_t i = 0; i < shape_count(&shape); i++)
        values[i] = draw(f, low, high);
    void *elements = arena_alloc(f->arena, shape_count(&shape) * 8);
    convert_elements(elements, dtype, values, DT_INT64, shape_count(&shape));
    return input_with(f, dtype, shape, elements);
}

/* `full` with some leading axes missing and some axes of 1. */
static struct shape draw_part(struct fixture *f, const struct shape *full)
{
    struct shape part = {.rank = (uint32_t)draw(f, 0, full->rank)};
    for (uint32_t i = 0; i < part.rank; i++)
        part.dims[i] = draw(f, 0, 2) ? full->dims[full->rank - part.rank + i] : 1;
    return part;
}

/* Where element `at` of the broadcast result comes from. */
static uint64_t source_of(uint64_t at, const struct shape *result, const struct shape *part)
{
    int64_t index[MAX_RANK], own[MAX_RANK];
    unravel(at, result, index);
    for (uint32_t i = 0; i < part->rank; i++)
        own[i] = part->dims[i] == 1 ? 0 : index[result->rank - part->rank + i];
    return ravel(own, part);
}

static tensor_id node_of(struct fixture *f, enum op_id op, const tensor_id *in, uint32_t count)
{
    tensor_id out;
    build_op(&f->build, op, "n");
    for (uint32_t i = 0; i < count; i++)
        build_in(&f->build, in[i]);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    return out;
}

static const void *values_of(struct fixture *f, tensor_id out)
{
    return run_node(f, producer_of(f, out), ODLC_OK)->data;
}

/* ---- two operands ---- */

static double add(double a, double b)
{
    return a + b;
}
static double subtract(double a, double b)
{
    return a - b;
}
static double multiply(double a, double b)
{
    return a * b;
}
static double divide(double a, double b)
{
    return a / b;
}
static double floor_divide(double a, double b)
{
    return floor(a / b);
}
static double squared_difference(double a, double b)
{
    return (a - b) * (a - b);
}
static double modulo(double a, double b)
{
    return b == 0 ? NAN : a - floor(a / b) * b;
}
static double larger(double a, double b)
{
    return a > b ? a : b;
}
static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static const struct {
    enum op_id op;
    double (*value)(double, double);
} float_ops[] = {
    {OP_ElementWiseAdd, add},
    {OP_ElementWiseSubtract, subtract},
    {OP_ElementWiseMultiply, multiply},
    {OP_ElementWiseDivide, divide},
    {OP_ElementWiseMaximum, larger},
    {OP_ElementWiseMinimum, smaller},
    {OP_ElementWiseFloorDiv, floor_divide},
    {OP_ElementWiseSquaredDifference, squared_difference},
    {OP_ElementWiseMod, modulo},
    {OP_ElementWiseFmod, fmod},
    {OP_ElementWisePower, pow},
};

static bool same_float(float x, double y)
{
    return x == (float)y || (isnan(x) && isnan(y));
}

START_TEST(float_ops_broadcast)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape full = draw_shape(f, (uint32_t)draw(f, 0, 5), 4), part = draw_part(f, &full);
        bool swap = draw(f, 0, 1);
        tensor_id wide = quarters(f, full), narrow = quarters(f, part);
        const tensor_id in[] = {swap ? narrow : wide, swap ? wide : narrow};
        tensor_id out = node_of(f, float_ops[_i].op, in, 2);
        ck_assert(shape_equal(&build_type(&f->build, out)->shape, &full));
        const float *result = values_of(f, out), *x = f->data[wide], *y = f->data[narrow];
        for (uint64_t i = 0; i < shape_count(&full); i++) {
            double a = (double)x[i], b = (double)y[source_of(i, &full, &part)];
            ck_assert(same_float(result[i], swap ? float_ops[_i].value(b, a) : float_ops[_i].value(a, b)));
        }
        fixture_end(f);
    }
}
END_TEST

/* Both operands are broadcast at once, and axes of all lengths meet. */
START_TEST(both_operands_broadcast)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape full = draw_shape(f, 5, 4), a = full, b = full;
        for (uint32_t i = 0; i < full.rank; i++)
            (draw(f, 0, 1) ? &a : &b)->dims[i] = draw(f, 0, 1) ? 1 : full.dims[i];
        const tensor_id in[] = {quarters(f, a), quarters(f, b)};
        tensor_id out = node_of(f, OP_ElementWiseSubtract, in, 2);
        const struct shape *shape = &build_type(&f->build, out)->shape;
        const float *result = values_of(f, out), *x = f->data[in[0]], *y = f->data[in[1]];
        for (uint64_t i = 0; i < shape_count(shape); i++)
            ck_assert(result[i] == x[source_of(i, shape, &a)] - y[source_of(i, shape, &b)]);
        fixture_end(f);
    }
}
END_TEST

static int64_t int_result(enum op_id op, enum dtype dtype, int64_t a, int64_t b)
{
    struct fixture *f = fixture_start(1);
    uint8_t x[8], y[8];
    int64_t result;
    convert_elements(x, dtype, &a, DT_INT64, 1);
    convert_elements(y, dtype, &b, DT_INT64, 1);
    const tensor_id in[] = {input_with(f, dtype, SHAPE(1), x), input_with(f, dtype, SHAPE(1), y)};
    tensor_id out = node_of(f, op, in, 2);
    convert_elements(&result, DT_INT64, values_of(f, out), build_type(&f->build, out)->dtype, 1);
    fixture_end(f);
    return result;
}

START_TEST(integers_divide_as_in_c_and_take_the_remainder_as_asked)
{
    static const struct {
        int64_t a, b, divide, floor_divide, fmod, mod;
    } cases[] = {
        {7, 2, 3, 3, 1, 1},     {-7, 2, -3, -4, -1, 1}, {7, -2, -3, -4, 1, -1},
        {-7, -2, 3, 3, -1, -1}, {6, -3, -2, -2, 0, 0},  {5, 0, 0, 0, 0, 0},
        {0, 5, 0, 0, 0, 0},     {-1, 5, 0, -1, -1, 4},  {INT64_MIN, -1, INT64_MIN, INT64_MIN, 0, 0},
    };
    ck_assert_int_eq(int_result(OP_ElementWiseDivide, DT_INT64, cases[_i].a, cases[_i].b), cases[_i].divide);
    ck_assert_int_eq(int_result(OP_ElementWiseFloorDiv, DT_INT64, cases[_i].a, cases[_i].b), cases[_i].floor_divide);
    ck_assert_int_eq(int_result(OP_ElementWiseFmod, DT_INT64, cases[_i].a, cases[_i].b), cases[_i].fmod);
    ck_assert_int_eq(int_result(OP_ElementWiseMod, DT_INT64, cases[_i].a, cases[_i].b), cases[_i].mod);
}
END_TEST

START_TEST(integer_arithmetic)
{
    ck_assert_int_eq(int_result(OP_ElementWiseAdd, DT_INT32, 2000000000, 100), 2000000100);
    ck_assert_int_eq(int_result(OP_ElementWiseAdd, DT_INT64, INT64_MAX, 1), INT64_MIN);
    ck_assert_int_eq(int_result(OP_ElementWiseSubtract, DT_UINT8, 200, 55), 145);
    ck_assert_int_eq(int_result(OP_ElementWiseMultiply, DT_INT16, -7, 9), -63);
    ck_assert_int_eq(int_result(OP_ElementWiseMaximum, DT_INT8, -7, 3), 3);
    ck_assert_int_eq(int_result(OP_ElementWiseMinimum, DT_INT8, -7, 3), -7);
    ck_assert_int_eq(int_result(OP_ElementWiseSquaredDifference, DT_INT32, 3, 8), 25);
    ck_assert_int_eq(int_result(OP_ElementWisePower, DT_INT32, -3, 3), -27);
    ck_assert_int_eq(int_result(OP_ElementWisePower, DT_INT32, 2, -1), 0);
    ck_assert_int_eq(int_result(OP_ElementWisePower, DT_INT32, -1, -3), -1);
    ck_assert_int_eq(int_result(OP_ElementWisePower, DT_INT32, 0, 0), 1);
    ck_assert_int_eq(int_result(OP_ElementWisePower, DT_INT64, -1, INT64_MIN), 1);
    ck_assert_int_eq(int_result(OP_Prelu, DT_INT32, -4, 3), -12);
    ck_assert_int_eq(int_result(OP_Prelu, DT_INT32, 4, 3), 4);
}
END_TEST

START_TEST(narrow_integers_wrap)
{
    ck_assert_int_eq(int_result(OP_ElementWiseAdd, DT_UINT8, 200, 100), 44);
    ck_assert_int_eq(int_result(OP_ElementWiseSubtract, DT_UINT16, 1, 3), 65534);
    ck_assert_int_eq(int_result(OP_ElementWiseMultiply, DT_INT8, 100, 3), 44);
    ck_assert_int_eq(int_result(OP_ElementWiseAdd, DT_INT32, INT32_MAX, 1), INT32_MIN);
}
END_TEST

/* The upper half of uint64, given by its bits: -1 is the largest number. */
START_TEST(large_uint64)
{
    ck_assert_int_eq(int_result(OP_ElementWiseDivide, DT_UINT64, -1, 2), INT64_MAX);
    ck_assert_int_eq(int_result(OP_ElementWiseFloorDiv, DT_UINT64, -1, INT64_MIN), 1);
    ck_assert_int_eq(int_result(OP_ElementWiseMod, DT_UINT64, -1, 10), 5);
    ck_assert_int_eq(int_result(OP_ElementWiseFmod, DT_UINT64, -1, 0), 0);
    ck_assert_int_eq(int_result(OP_ElementWiseMaximum, DT_UINT64, -1, 1), -1);
    ck_assert_int_eq(int_result(OP_ElementWiseMinimum, DT_UINT64, -1, 1), 1);
    ck_assert_int_eq(int_result(OP_ElementWiseGreater, DT_UINT64, -1, 1), 1);
    ck_assert_int_eq(int_result(OP_ElementWiseLessEqual, DT_UINT64, -1, 1), 0);
    ck_assert_int_eq(int_result(OP_ElementWiseEqual, DT_UINT64, -1, -1), 1);
    ck_assert_int_eq(int_result(OP_ElementWisePower, DT_UINT64, -1, -1), -1);
    ck_assert_int_eq(int_result(OP_Prelu, DT_UINT64, -1, 3), -1);
    struct fixture *f = fixture_start(1);
    const tensor_id x = input_with(f, DT_UINT64, SHAPE(1), &(uint64_t){UINT64_MAX});
    ck_assert_uint_eq(*(const uint64_t *)values_of(f, node_of(f, OP_ElementWiseAbs, &x, 1)), UINT64_MAX);
    ck_assert_uint_eq(*(const uint64_t *)values_of(f, node_of(f, OP_ElementWiseSign, &x, 1)), 1);
    fixture_end(f);
}
END_TEST

START_TEST(zero_modulo_has_the_divisors_sign)
{
    struct fixture *f = fixture_start(1);
    const float a[] = {0.0f, -0.0f, 0.0f, -0.0f, 6.0f, 5.0f, -5.0f};
    const float b[] = {-2.0f, 2.0f, 2.0f, -2.0f, -3.0f, -INFINITY, INFINITY};
    const bool negative[] = {true, false, false, true, true, true, false};
    const tensor_id in[] = {input_with(f, DT_FLOAT32, SHAPE(7), a), input_with(f, DT_FLOAT32, SHAPE(7), b)};
    const float *found = values_of(f, node_of(f, OP_ElementWiseMod, in, 2));
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(signbit(found[i]) != 0, negative[i]);
        ck_assert(i < 5 ? found[i] == 0 : isinf(found[i]));
    }
    fixture_end(f);
}
END_TEST

START_TEST(power_of_mixed_types_is_of_the_bases_type)
{
    struct fixture *f = fixture_start(1);
    const float halves[] = {2.5f, 0.5f};
    const int32_t whole[] = {2, -3};
    const tensor_id x = input_with(f, DT_FLOAT32, SHAPE(2), halves), n = input_with(f, DT_INT32, SHAPE(2), whole);
    const float *real = values_of(f, node_of(f, OP_ElementWisePower, (const tensor_id[]){x, n}, 2));
    ck_assert(real[0] == 6.25f && real[1] == 8.0f);
    const int32_t *truncated = values_of(f, node_of(f, OP_ElementWisePower, (const tensor_id[]){n, x}, 2));
    ck_assert_int_eq(truncated[0], 5); /* 2^2.5 = 5.65… */
    fixture_end(f);
}
END_TEST

/* The six relations in the three cases less, equal, greater, for floats and integers. */
START_TEST(comparisons)
{
    static const struct {
        enum op_id op;
        bool less, equal, greater, with_nan;
    } cases[] = {
        {OP_ElementWiseEqual, false, true, false, false},   {OP_ElementWiseNotEqual, true, false, true, true},
        {OP_ElementWiseLess, true, false, false, false},    {OP_ElementWiseLessEqual, true, true, false, false},
        {OP_ElementWiseGreater, false, false, true, false}, {OP_ElementWiseGreaterEqual, false, true, true, false},
    };
    struct fixture *f = fixture_start(1);
    const float x[] = {-1.5f, 2, 3, NAN}, y[] = {2, 2, -3, 1};
    const tensor_id floats[] = {input_with(f, DT_FLOAT32, SHAPE(4), x), input_with(f, DT_FLOAT32, SHAPE(4), y)};
    tensor_id out = node_of(f, cases[_i].op, floats, 2);
    ck_assert_int_eq(build_type(&f->build, out)->dtype, DT_BOOL);
    const uint8_t *holds = values_of(f, out);
    ck_assert_uint_eq(holds[0], cases[_i].less);
    ck_assert_uint_eq(holds[1], cases[_i].equal);
    ck_assert_uint_eq(holds[2], cases[_i].greater);
    ck_assert_uint_eq(holds[3], cases[_i].with_nan);
    ck_assert_int_eq(int_result(cases[_i].op, DT_INT32, -5, 4), cases[_i].less);
    ck_assert_int_eq(int_result(cases[_i].op, DT_INT64, INT64_MAX, INT64_MAX - 1), cases[_i].greater);
    fixture_end(f);
}
END_TEST

START_TEST(logical_ops)
{
    struct fixture *f = fixture_start(1);
    const uint8_t x[] = {0, 0, 1, 1}, y[] = {0, 1, 0, 1};
    const tensor_id in[] = {input_with(f, DT_BOOL, SHAPE(4), x), input_with(f, DT_BOOL, SHAPE(4), y)};
    ck_assert_mem_eq(values_of(f, node_of(f, OP_ElementWiseAnd, in, 2)), ((uint8_t[]){0, 0, 0, 1}), 4);
    ck_assert_mem_eq(values_of(f, node_of(f, OP_ElementWiseOr, in, 2)), ((uint8_t[]){0, 1, 1, 1}), 4);
    ck_assert_mem_eq(values_of(f, node_of(f, OP_ElementWiseXor, in, 2)), ((uint8_t[]){0, 1, 1, 0}), 4);
    ck_assert_mem_eq(values_of(f, node_of(f, OP_ElementWiseNot, in, 1)), ((uint8_t[]){1, 1, 0, 0}), 4);
    fixture_end(f);
}
END_TEST

START_TEST(extremes_keep_nans)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {NAN, 1, -INFINITY}, y[] = {1, NAN, 2};
    const tensor_id in[] = {input_with(f, DT_FLOAT32, SHAPE(3), x), input_with(f, DT_FLOAT32, SHAPE(3), y)};
    const float *max = values_of(f, node_of(f, OP_ElementWiseMaximum, in, 2));
    const float *min = values_of(f, node_of(f, OP_ElementWiseMinimum, in, 2));
    ck_assert(isnan(max[0]) && isnan(max[1]) && max[2] == 2);
    ck_assert(isnan(min[0]) && isnan(min[1]) && min[2] == -INFINITY);
    fixture_end(f);
}
END_TEST

START_TEST(select_broadcasts_three_operands)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape full = draw_shape(f, 4, 3), c = draw_part(f, &full), x = draw_part(f, &full);
        const tensor_id in[] = {integers(f, DT_BOOL, c, 0, 1), integers(f, DT_INT64, x, -9, 9),
                                integers(f, DT_INT64, full, -9, 9)};
        tensor_id out = node_of(f, OP_ElementWiseSelect, in, 3);
        ck_assert(shape_equal(&build_type(&f->build, out)->shape, &full));
        const int64_t *result = values_of(f, out), *yes = f->data[in[1]], *no = f->data[in[2]];
        const uint8_t *condition = f->data[in[0]];
        for (uint64_t i = 0; i < shape_count(&full); i++)
            ck_assert_int_eq(result[i], condition[source_of(i, &full, &c)] ? yes[source_of(i, &full, &x)] : no[i]);
        fixture_end(f);
    }
}
END_TEST

START_TEST(prelu_has_a_slope_per_channel)
{
    struct fixture *f = fixture_start(5);
    const struct shape shape = SHAPE(2, 3, 4), slope_shape = SHAPE(3, 1);
    const tensor_id in[] = {quarters(f, shape), quarters(f, slope_shape)};
    const float *result = values_of(f, node_of(f, OP_Prelu, in, 2)), *x = f->data[in[0]], *slope = f->data[in[1]];
    for (uint32_t i = 0; i < 24; i++)
        ck_assert(result[i] == (x[i] < 0 ? x[i] * slope[i / 4 % 3] : x[i]));
    fixture_end(f);
}
END_TEST

/* ---- one operand ---- */

static double sign(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : 0;
}
static double negate(double a)
{
    return -a;
}
static double invert(double a)
{
    return 1 / a;
}
static double invert_root(double a)
{
    return 1 / sqrt(a);
}
static double sigmoid(double a)
{
    return 1 / (1 + exp(-a));
}
static double hard_swish(double a)
{
    return a * fmin(fmax(a + 3, 0), 6) / 6;
}
static double gelu(double a)
{
    return a / 2 * (1 + erf(a / sqrt(2)));
}
static double relu(double a)
{
    return a > 0 ? a : 0;
}
static double relu1(double a)
{
    return fmin(fmax(a, -1), 1);
}
static double relu6(double a)
{
    return fmin(fmax(a, 0), 6);
}
static double elu(double a)
{
    return a > 0 ? a : exp(a) - 1;
}
static double hard_sigmoid(double a)
{
    return fmin(fmax(0.2 * a + 0.5, 0), 1);
}
static double softplus(double a)
{
    return log(1 + exp(a));
}

static const struct {
    enum op_id op;
    double (*value)(double);
} unary_ops[] = {
    {OP_ElementWiseAbs, fabs},
    {OP_ElementWiseNeg, negate},
    {OP_ElementWiseSign, sign},
    {OP_ElementWiseAsin, asin},
    {OP_ElementWiseAtan, atan},
    {OP_ElementWiseCeil, ceil},
    {OP_ElementWiseCos, cos},
    {OP_ElementWiseExp, exp},
    {OP_ElementWiseFloor, floor},
    {OP_ElementWiseLog, log},
    {OP_ElementWiseReciprocal, invert},
    {OP_ElementWiseRound, nearbyint},
    {OP_ElementWiseRsqrt, invert_root},
    {OP_ElementWiseSin, sin},
    {OP_ElementWiseSquareRoot, sqrt},
    {OP_Sigmoid, sigmoid},
    {OP_Tanh, tanh},
    {OP_HardSwish, hard_swish},
    {OP_Gelu, gelu},
    {OP_Relu, relu},
    {OP_Relu1, relu1},
    {OP_Relu6, relu6},
    {OP_Elu, elu},
    {OP_HardSigmoid, hard_sigmoid},
    {OP_ElementWiseSoftplus, softplus},
};

START_TEST(unary_ops_by_element)
{
    struct fixture *f = fixture_start((uint32_t)_i);
    for (uint32_t rank = 0; rank < 5; rank++) {
        struct shape shape = draw_shape(f, rank, 5);
        const tensor_id in[] = {quarters(f, shape)};
        const float *result = values_of(f, node_of(f, unary_ops[_i].op, in, 1)), *x = f->data[in[0]];
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            double expected = unary_ops[_i].value((double)x[i]);
            bool near = fabs((double)result[i] - expected) <= 1e-6 * (1 + fabs(expected));
            ck_assert(near || same_float(result[i], expected));
        }
    }
    fixture_end(f);
}
END_TEST

START_TEST(round_takes_halves_to_even)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f};
    const tensor_id in[] = {input_with(f, DT_FLOAT32, SHAPE(6), x)};
    const float *result = values_of(f, node_of(f, OP_ElementWiseRound, in, 1));
    ck_assert(result[0] == 0 && result[1] == 2 && result[2] == 2 && result[3] == 0 && result[4] == -2 &&
              result[5] == 2);
    fixture_end(f);
}
END_TEST

START_TEST(unary_ops_of_integers)
{
    struct fixture *f = fixture_start(1);
    const int32_t x[] = {-5, 0, 7};
    const tensor_id in[] = {input_with(f, DT_INT32, SHAPE(3), x)};
    ck_assert_mem_eq(values_of(f, node_of(f, OP_ElementWiseAbs, in, 1)), ((int32_t[]){5, 0, 7}), 12);
    ck_assert_mem_eq(values_of(f, node_of(f, OP_ElementWiseNeg, in, 1)), ((int32_t[]){5, 0, -7}), 12);
    ck_assert_mem_eq(values_of(f, node_of(f, OP_ElementWiseSign, in, 1)), ((int32_t[]){-1, 0, 1}), 12);
    ck_assert_mem_eq(values_of(f, node_of(f, OP_Relu, in, 1)), ((int32_t[]){0, 0, 7}), 12);
    fixture_end(f);
}
END_TEST

START_TEST(activations_stay_finite_far_out)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {-1000, 1000};
    const tensor_id in[] = {input_with(f, DT_FLOAT32, SHAPE(2), x)};
    const float *soft = values_of(f, node_of(f, OP_ElementWiseSoftplus, in, 1));
    ck_assert(soft[0] == 0 && soft[1] == 1000);
    const float *logistic = values_of(f, node_of(f, OP_Sigmoid, in, 1));
    ck_assert(logistic[0] == 0 && logistic[1] == 1);
    const float *gaussian = values_of(f, node_of(f, OP_Gelu, in, 1));
    ck_assert(gaussian[0] == 0 && gaussian[1] == 1000);
    fixture_end(f);
}
END_TEST

static tensor_id clamped(struct fixture *f, tensor_id in, double min, double max)
{
    tensor_id out;
    build_op(&f->build, OP_ReluMinMax, "n");
    build_in(&f->build, in);
    build_float(&f->build, PARAM_min_value, min);
    build_float(&f->build, PARAM_max_value, max);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    return out;
}

START_TEST(relu_min_max)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {-INFINITY, -2, 0.5f, 9, INFINITY, NAN};
    tensor_id in = input_with(f, DT_FLOAT32, SHAPE(6), x);
    const float *both = values_of(f, clamped(f, in, -1, 6));
    ck_assert(both[0] == -1 && both[1] == -1 && both[2] == 0.5f && both[3] == 6 && both[4] == 6 && isnan(both[5]));
    const float *open = values_of(f, clamped(f, in, 0, FLT_MAX));
    ck_assert(open[0] == 0 && open[3] == 9 && open[4] == INFINITY);
    const float *crossed = values_of(f, clamped(f, in, 3, 1)); /* the upper bound wins, as in numpy */
    ck_assert(crossed[0] == 1 && crossed[2] == 1 && crossed[3] == 1);
    fixture_end(f);
}
END_TEST

START_TEST(neuron_params)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {-1, 2};
    tensor_id in = input_with(f, DT_FLOAT32, SHAPE(2), x), out;
    build_op(&f->build, OP_Elu, "e");
    build_in(&f->build, in);
    build_float(&f->build, PARAM_alpha, 2);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    const float *elu_of_two = values_of(f, out);
    ck_assert(fabs((double)elu_of_two[0] - 2 * (exp(-1) - 1)) < 1e-6 && elu_of_two[1] == 2);
    build_op(&f->build, OP_HardSigmoid, "h");
    build_in(&f->build, in);
    build_float(&f->build, PARAM_alpha, 0.25);
    build_float(&f->build, PARAM_beta, 0.375);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    const float *hard = values_of(f, out);
    ck_assert(hard[0] == 0.125f && hard[1] == 0.875f);
    build_op(&f->build, OP_ElementWiseSoftplus, "s");
    build_in(&f->build, in);
    build_float(&f->build, PARAM_beta, 2);
    build_float(&f->build, PARAM_threshold, 3);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    const float *soft = values_of(f, out);
    ck_assert(fabs((double)soft[0] - log(1 + exp(-2)) / 2) < 1e-6 && soft[1] == 2); /* 2 · 2 is above 3 */
    fixture_end(f);
}
END_TEST

/* ---- Cast ---- */

static const void *cast(struct fixture *f, enum dtype from, uint32_t count, const void *values, enum dtype to)
{
    tensor_id out;
    ck_assert_int_eq(build_cast(&f->build, input_with(f, from, SHAPE(count), values), to, NULL, &out), ODLC_OK);
    return values_of(f, out);
}

START_TEST(cast_floats)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {-2.75f, 0.5f, 3.99f, 0, 300};
    ck_assert_mem_eq(cast(f, DT_FLOAT32, 5, x, DT_INT32), ((int32_t[]){-2, 0, 3, 0, 300}), 20);
    ck_assert_mem_eq(cast(f, DT_FLOAT32, 5, x, DT_BOOL), ((uint8_t[]){1, 1, 1, 0, 1}), 5);
    ck_assert_mem_eq(cast(f, DT_FLOAT32, 2, x, DT_FLOAT16), ((uint16_t[]){0xC180, 0x3800}), 4);
    ck_assert_mem_eq(cast(f, DT_FLOAT32, 2, x, DT_FLOAT64), ((double[]){-2.75, 0.5}), 16);
    fixture_end(f);
}
END_TEST

START_TEST(cast_between_integers_keeps_the_low_bits)
{
    struct fixture *f = fixture_start(1);
    const int64_t x[] = {200, -1, 300, 0, INT64_C(0x1FFFFFFFF)};
    ck_assert_mem_eq(cast(f, DT_INT64, 5, x, DT_INT8), ((int8_t[]){-56, -1, 44, 0, -1}), 5);
    ck_assert_mem_eq(cast(f, DT_INT64, 5, x, DT_UINT8), ((uint8_t[]){200, 255, 44, 0, 255}), 5);
    ck_assert_mem_eq(cast(f, DT_INT64, 5, x, DT_INT32), ((int32_t[]){200, -1, 300, 0, -1}), 20);
    ck_assert_mem_eq(cast(f, DT_INT64, 5, x, DT_BOOL), ((uint8_t[]){1, 1, 1, 0, 1}), 5);
    ck_assert_mem_eq(cast(f, DT_INT64, 5, x, DT_INT4), ((int8_t[]){-8, -1, -4, 0, -1}), 5);
    const uint8_t truth[] = {0, 1};
    ck_assert_mem_eq(cast(f, DT_BOOL, 2, truth, DT_FLOAT32), ((float[]){0, 1}), 8);
    const uint64_t huge[] = {UINT64_MAX};
    ck_assert_mem_eq(cast(f, DT_UINT64, 1, huge, DT_UINT32), ((uint32_t[]){UINT32_MAX}), 4);
    fixture_end(f);
}
END_TEST

/* ---- rules ---- */

START_TEST(axis_rules_let_permutations_through)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape full = draw_shape(f, 4, 4), part = full;
        part.dims[draw(f, 0, 3)] = 1;
        struct perm perm = draw_perm(f, 4);
        const tensor_id in[] = {integers(f, DT_BOOL, part, 0, 1), quarters(f, full), quarters(f, part)};
        check_axis_rule(f, producer_of(f, node_of(f, OP_ElementWiseSelect, in, 3)), &perm);
        fixture_end(f);
    }
}
END_TEST

static void refused(struct fixture *f, enum op_id op, const tensor_id *in, uint32_t count, const char *message)
{
    tensor_id out;
    build_op(&f->build, op, "n");
    for (uint32_t i = 0; i < count; i++)
        build_in(&f->build, in[i]);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
    ck_assert_str_eq(f->diags.list.data[f->diags.list.count - 1].message, message);
}

START_TEST(type_errors)
{
    struct fixture *f = fixture_start(1);
    tensor_id x = quarters(f, SHAPE(2, 3)), y = quarters(f, SHAPE(2)), n = integers(f, DT_INT32, SHAPE(3), 0, 9);
    tensor_id truth = integers(f, DT_BOOL, SHAPE(3), 0, 1), tall = quarters(f, SHAPE(2, 2, 3));
    refused(f, OP_ElementWiseAdd, (const tensor_id[]){x, y}, 2,
            "ElementWiseAdd: the shapes [2,3] and [2] do not broadcast");
    refused(f, OP_ElementWiseAdd, (const tensor_id[]){x, n}, 2,
            "ElementWiseAdd: the operands' types float32 and int32 differ");
    refused(f, OP_ElementWiseAdd, (const tensor_id[]){truth, truth}, 2,
            "ElementWiseAdd: operands of type bool are not numbers");
    refused(f, OP_ElementWiseAnd, (const tensor_id[]){truth, n}, 2,
            "ElementWiseAnd: operands of type bool and int32 are not bool");
    refused(f, OP_ElementWiseSelect, (const tensor_id[]){n, x, x}, 3,
            "ElementWiseSelect: the condition is int32, not bool");
    refused(f, OP_Prelu, (const tensor_id[]){x, tall}, 2,
            "Prelu: the slope's shape [2,2,3] does not broadcast to [2,3]");
    refused(f, OP_ElementWiseExp, (const tensor_id[]){n}, 1,
            "ElementWiseExp: an input of type int32 is not floating point");
    refused(f, OP_Sigmoid, (const tensor_id[]){truth}, 1, "Sigmoid: an input of type bool is not floating point");
    refused(f, OP_ElementWiseNot, (const tensor_id[]){n}, 1, "ElementWiseNot: an input of type int32 is not bool");
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("eltwise");
    TCase *tcase = tcase_create("eltwise");
    tcase_add_loop_test(tcase, float_ops_broadcast, 0, COUNT_OF(float_ops));
    tcase_add_test(tcase, both_operands_broadcast);
    tcase_add_loop_test(tcase, integers_divide_as_in_c_and_take_the_remainder_as_asked, 0, 9);
    tcase_add_test(tcase, integer_arithmetic);
    tcase_add_test(tcase, narrow_integers_wrap);
    tcase_add_test(tcase, large_uint64);
    tcase_add_test(tcase, zero_modulo_has_the_divisors_sign);
    tcase_add_test(tcase, power_of_mixed_types_is_of_the_bases_type);
    tcase_add_loop_test(tcase, comparisons, 0, 6);
    tcase_add_test(tcase, logical_ops);
    tcase_add_test(tcase, extremes_keep_nans);
    tcase_add_test(tcase, select_broadcasts_three_operands);
    tcase_add_test(tcase, prelu_has_a_slope_per_channel);
    tcase_add_loop_test(tcase, unary_ops_by_element, 0, COUNT_OF(unary_ops));
    tcase_add_test(tcase, round_takes_halves_to_even);
    tcase_add_test(tcase, unary_ops_of_integers);
    tcase_add_test(tcase, activations_stay_finite_far_out);
    tcase_add_test(tcase, relu_min_max);
    tcase_add_test(tcase, neuron_params);
    tcase_add_test(tcase, cast_floats);
    tcase_add_test(tcase, cast_between_integers_keeps_the_low_bits);
    tcase_add_test(tcase, axis_rules_let_permutations_through);
    tcase_add_test(tcase, type_errors);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
