/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, Argmax and Argmin, CumulativeSum, Softmax and LogSoftmax: kernels against sums over positions written
 * here, axis rules by execution, and the errors of the type rules. */
#include <math.h>

#include "node_fixture.h"

enum { ROUNDS = 60 };

/* Small whole numbers: every sum and product below is exact, in whatever order it is taken. */
static tensor_id whole_numbers(struct fixture *f, enum dtype dtype, struct shape shape, int64_t low, int64_t high)
{
    uint64_t count = shape_count(&shape);
    int64_t *values = arena_array(f->arena, int64_t, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = draw(f, low, high);
    void *elements = arena_alloc(f->arena, count * 8);
    convert_elements(elements, dtype, values, DT_INT64, count);
    return input_with(f, dtype, shape, elements);
}

static tensor_id end_node(struct fixture *f)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    return out;
}

static const void *values_of(struct fixture *f, tensor_id out)
{
    return run_node(f, producer_of(f, out), ODLC_OK)->data;
}

static double element(const struct fixture *f, tensor_id id, uint64_t at)
{
    double value;
    enum dtype dtype = graph_tensor(f->graph, id)->type->dtype;
    convert_elements(&value, DT_FLOAT64, (const char *)f->data[id] + at * dtype_size(dtype), dtype, 1);
    return value;
}

/* ---- reductions ---- */

static tensor_id reduce(struct fixture *f, enum op_id op, tensor_id in, const int64_t *axes, uint32_t count, bool keep)
{
    build_op(&f->build, op, "n");
    build_in(&f->build, in);
    build_ints(&f->build, PARAM_axes, axes, count);
    build_int(&f->build, PARAM_keep_dims, keep);
    return end_node(f);
}

static double add(double sum, double a)
{
    return sum + a;
}
static double add_square(double sum, double a)
{
    return sum + a * a;
}
static double multiply(double product, double a)
{
    return product * a;
}
static double larger(double max, double a)
{
    return a > max ? a : max;
}
static double smaller(double min, double a)
{
    return a < min ? a : min;
}

static const struct {
    enum op_id op;
    double (*step)(double, double);
    double start;
    bool mean;
} reductions[] = {
    {OP_ReduceSum, add, 0, false},
    {OP_ReduceMean, add, 0, true},
    {OP_ReduceProd, multiply, 1, false},
    {OP_ReduceMax, larger, -INFINITY, false},
    {OP_ReduceMin, smaller, INFINITY, false},
    {OP_ReduceSumSquare, add_square, 0, false},
};

/* Distinct axes, in any order. */
static uint32_t draw_axes(struct fixture *f, uint32_t rank, int64_t axes[MAX_RANK])
{
    struct perm order = draw_perm(f, rank);
    uint32_t count = (uint32_t)draw(f, 1, rank);
    for (uint32_t i = 0; i < count; i++)
        axes[i] = order.axis[i];
    return count;
}

/* The position in the result, all axes kept, of a position in the input. */
static uint64_t result_position(uint64_t at, const struct shape *in, const struct shape *kept)
{
    int64_t index[MAX_RANK];
    unravel(at, in, index);
    for (uint32_t i = 0; i < in->rank; i++)
        if (kept->dims[i] == 1)
            index[i] = 0;
    return ravel(index, kept);
}

static void check_reduction(struct fixture *f, int which, enum dtype dtype)
{
    struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 5), 4), kept = shape;
    int64_t axes[MAX_RANK];
    uint32_t count = draw_axes(f, shape.rank, axes);
    bool keep = draw(f, 0, 1);
    for (uint32_t i = 0; i < count; i++)
        kept.dims[axes[i]] = 1;
    tensor_id in = whole_numbers(f, dtype, shape, -2, 2), out = reduce(f, reductions[which].op, in, axes, count, keep);
    const struct shape *result_shape = &build_type(&f->build, out)->shape;
    ck_assert_uint_eq(result_shape->rank, keep ? shape.rank : shape.rank - count);
    ck_assert(!keep || shape_equal(result_shape, &kept));
    double expected[1024];
    uint64_t groups = shape_count(&kept), total = shape_count(&shape);
    for (uint64_t i = 0; i < groups; i++)
        expected[i] = reductions[which].start;
    for (uint64_t i = 0; i < total; i++) {
        double *e = &expected[result_position(i, &shape, &kept)];
        *e = reductions[which].step(*e, element(f, in, i));
    }
    const char *result = values_of(f, out);
    for (uint64_t i = 0; i < groups; i++) {
        double got, want = reductions[which].mean ? expected[i] / (double)(total / groups) : expected[i];
        convert_elements(&got, DT_FLOAT64, result + i * dtype_size(dtype), dtype, 1);
        ck_assert_double_eq(got, dtype == DT_FLOAT32 ? (double)(float)want : trunc(want));
    }
}

START_TEST(reductions_of_floats_and_integers)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        check_reduction(f, _i, DT_FLOAT32);
        check_reduction(f, _i, DT_INT32);
        fixture_end(f);
    }
}
END_TEST

START_TEST(reductions_follow_permuted_axes)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 2, 5), 4);
        struct perm perm = draw_perm(f, shape.rank);
        int64_t axes[MAX_RANK];
        uint32_t count = draw_axes(f, shape.rank, axes);
        tensor_id in = whole_numbers(f, DT_FLOAT32, shape, -9, 9);
        tensor_id out = reduce(f, OP_ReduceSum, in, axes, count, draw(f, 0, 1));
        check_axis_rule(f, producer_of(f, out), &perm);
        fixture_end(f);
    }
}
END_TEST

START_TEST(reductions_of_nothing)
{
    struct fixture *f = fixture_start(1);
    const int64_t axes[] = {1};
    tensor_id in = whole_numbers(f, DT_FLOAT32, SHAPE(2, 0), 0, 1);
    const float *max = values_of(f, reduce(f, OP_ReduceMax, in, axes, 1, false));
    ck_assert(max[0] == -INFINITY && max[1] == -INFINITY);
    const float *product = values_of(f, reduce(f, OP_ReduceProd, in, axes, 1, false));
    ck_assert(product[0] == 1 && product[1] == 1);
    const float *mean = values_of(f, reduce(f, OP_ReduceMean, in, axes, 1, false));
    ck_assert(isnan(mean[0]) && isnan(mean[1]));
    fixture_end(f);
}
END_TEST

/* The extreme of no integers is the other end of their type's range. */
START_TEST(extremes_of_no_integers)
{
    static const struct {
        enum dtype dtype;
        int64_t low, high;
    } types[] = {{DT_BOOL, 0, 1},
                 {DT_INT8, -128, 127},
                 {DT_UINT16, 0, 65535},
                 {DT_UINT32, 0, UINT32_MAX},
                 {DT_INT64, INT64_MIN, INT64_MAX},
                 {DT_UINT64, 0, -1}};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct fixture *f = fixture_start(1);
        int64_t least, most;
        tensor_id none = input_with(f, types[i].dtype, SHAPE(1, 0), "");
        const int64_t axis = 1;
        const void *max = values_of(f, reduce(f, OP_ReduceMax, none, &axis, 1, false));
        convert_elements(&least, DT_INT64, max, types[i].dtype, 1);
        const void *min = values_of(f, reduce(f, OP_ReduceMin, none, &axis, 1, false));
        convert_elements(&most, DT_INT64, min, types[i].dtype, 1);
        ck_assert_int_eq(least, types[i].low);
        ck_assert_int_eq(most, types[i].high);
        fixture_end(f);
    }
}
END_TEST

START_TEST(large_uint64)
{
    struct fixture *f = fixture_start(1);
    const uint64_t values[] = {3, UINT64_MAX, 0, 1};
    const int64_t axis = 0;
    tensor_id x = input_with(f, DT_UINT64, SHAPE(4), values), found;
    const void *max = values_of(f, reduce(f, OP_ReduceMax, x, &axis, 1, false));
    ck_assert_uint_eq(*(const uint64_t *)max, UINT64_MAX);
    const void *min = values_of(f, reduce(f, OP_ReduceMin, x, &axis, 1, false));
    ck_assert_uint_eq(*(const uint64_t *)min, 0);
    build_op(&f->build, OP_Argmax, "arg");
    build_in(&f->build, x);
    build_int(&f->build, PARAM_axis, 0);
    found = end_node(f);
    ck_assert_int_eq(*(const int32_t *)values_of(f, found), 1);
    const uint64_t halves[] = {UINT64_C(1) << 63, 6};
    const void *mean =
        values_of(f, reduce(f, OP_ReduceMean, input_with(f, DT_UINT64, SHAPE(2), halves), &axis, 1, false));
    ck_assert_uint_eq(*(const uint64_t *)mean, (UINT64_C(1) << 62) + 3);
    tensor_id small = input_with(f, DT_UINT8, SHAPE(2), ((const uint8_t[]){200, 100}));
    ck_assert_uint_eq(*(const uint8_t *)values_of(f, reduce(f, OP_ReduceSum, small, &axis, 1, false)), 44);
    fixture_end(f);
}
END_TEST

START_TEST(extremes_keep_nans)
{
    struct fixture *f = fixture_start(1);
    const int64_t axes[] = {0};
    const float x[] = {1, NAN, 3};
    tensor_id in = input_with(f, DT_FLOAT32, SHAPE(3), x);
    ck_assert(isnan(*(const float *)values_of(f, reduce(f, OP_ReduceMax, in, axes, 1, true))));
    ck_assert(isnan(*(const float *)values_of(f, reduce(f, OP_ReduceMin, in, axes, 1, true))));
    fixture_end(f);
}
END_TEST

/* ---- Argmax, Argmin ---- */

static tensor_id arg(struct fixture *f, enum op_id op, tensor_id in, uint32_t axis, bool keep)
{
    build_op(&f->build, op, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_axis, axis);
    build_int(&f->build, PARAM_keep_dims, keep);
    return end_node(f);
}

/* The first position that nothing along the axis beats. Few different values, so that ties are the rule. */
static void check_arg(struct fixture *f, bool max, enum dtype dtype)
{
    struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 4), 5), kept = shape;
    uint32_t axis = (uint32_t)draw(f, 0, shape.rank - 1);
    kept.dims[axis] = 1;
    tensor_id in = whole_numbers(f, dtype, shape, -1, 1);
    tensor_id out = arg(f, max ? OP_Argmax : OP_Argmin, in, axis, draw(f, 0, 1));
    ck_assert_int_eq(build_type(&f->build, out)->dtype, DT_INT32);
    const int32_t *found = values_of(f, out);
    for (uint64_t i = 0; i < shape_count(&kept); i++) {
        int64_t index[MAX_RANK], best = -1;
        double best_value = 0;
        unravel(i, &kept, index);
        for (index[axis] = 0; index[axis] < shape.dims[axis]; index[axis]++) {
            double value = element(f, in, ravel(index, &shape));
            if (best < 0 || (max ? value > best_value : value < best_value)) {
                best = index[axis];
                best_value = value;
            }
        }
        ck_assert_int_eq(found[i], best);
    }
}

START_TEST(arg_finds_the_first_extreme)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        check_arg(f, true, DT_FLOAT32);
        check_arg(f, false, DT_FLOAT32);
        check_arg(f, true, DT_INT64);
        check_arg(f, false, DT_UINT8);
        fixture_end(f);
    }
}
END_TEST

START_TEST(arg_follows_permuted_axes)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 5), 4);
        struct perm perm = draw_perm(f, shape.rank);
        tensor_id in = whole_numbers(f, DT_FLOAT32, shape, -99, 99);
        tensor_id out = arg(f, OP_Argmax, in, (uint32_t)draw(f, 0, shape.rank - 1), draw(f, 0, 1));
        check_axis_rule(f, producer_of(f, out), &perm);
        fixture_end(f);
    }
}
END_TEST

/* ---- CumulativeSum ---- */

static tensor_id cumulative_sum(struct fixture *f, tensor_id in, uint32_t axis, bool exclusive, bool reverse)
{
    build_op(&f->build, OP_CumulativeSum, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_axis, axis);
    build_int(&f->build, PARAM_exclusive, exclusive);
    build_int(&f->build, PARAM_reverse, reverse);
    return end_node(f);
}

/* Each element of the result is the sum of those before (after) it along the axis, with or without itself. */
START_TEST(cumulative_sums)
{
    bool exclusive = _i & 1, reverse = _i & 2;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 4), 5);
        uint32_t axis = (uint32_t)draw(f, 0, shape.rank - 1);
        tensor_id in = whole_numbers(f, DT_INT32, shape, -9, 9);
        const int32_t *result = values_of(f, cumulative_sum(f, in, axis, exclusive, reverse)), *x = f->data[in];
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            int64_t index[MAX_RANK], sum = 0;
            unravel(i, &shape, index);
            int64_t own = index[axis];
            for (index[axis] = 0; index[axis] < shape.dims[axis]; index[axis]++)
                if (reverse ? index[axis] > own : index[axis] < own)
                    sum += x[ravel(index, &shape)];
            ck_assert_int_eq(result[i], exclusive ? sum : sum + x[i]);
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(cumulative_sum_follows_permuted_axes)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, 4, 4);
        struct perm perm = draw_perm(f, 4);
        tensor_id in = whole_numbers(f, DT_FLOAT32, shape, -9, 9);
        tensor_id out = cumulative_sum(f, in, (uint32_t)draw(f, 0, 3), false, true);
        check_axis_rule(f, producer_of(f, out), &perm);
        fixture_end(f);
    }
}
END_TEST

/* ---- Softmax ---- */

static tensor_id softmax(struct fixture *f, enum op_id op, tensor_id in, uint32_t axis, double beta)
{
    build_op(&f->build, op, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_axis, axis);
    build_float(&f->build, PARAM_beta, beta);
    return end_node(f);
}

START_TEST(softmax_by_its_definition)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 4), 5);
        uint32_t axis = (uint32_t)draw(f, 0, shape.rank - 1);
        double beta = draw(f, 0, 1) ? 1 : 0.5;
        tensor_id in = whole_numbers(f, DT_FLOAT32, shape, -5, 5);
        const float *share = values_of(f, softmax(f, OP_Softmax, in, axis, beta)), *x = f->data[in];
        const float *logarithm = values_of(f, softmax(f, OP_LogSoftmax, in, axis, beta));
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            int64_t index[MAX_RANK];
            double sum = 0;
            unravel(i, &shape, index);
            for (index[axis] = 0; index[axis] < shape.dims[axis]; index[axis]++)
                sum += exp(beta * (double)x[ravel(index, &shape)]);
            double expected = exp(beta * (double)x[i]) / sum;
            ck_assert_double_eq_tol((double)share[i], expected, 1e-7);
            ck_assert_double_eq_tol((double)logarithm[i], log(expected), 1e-6);
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(softmax_of_large_values)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {10000, 10000, -10000, -INFINITY};
    tensor_id in = input_with(f, DT_FLOAT32, SHAPE(4), x);
    const float *share = values_of(f, softmax(f, OP_Softmax, in, 0, 1));
    ck_assert(share[0] == 0.5f && share[1] == 0.5f && share[2] == 0 && share[3] == 0);
    const float *logarithm = values_of(f, softmax(f, OP_LogSoftmax, in, 0, 1));
    ck_assert(logarithm[0] == (float)-M_LN2 && logarithm[2] == (float)(-20000 - M_LN2) && logarithm[3] == -INFINITY);
    fixture_end(f);
}
END_TEST

/* Where files leave the axis out it is the last one of the node, also when that is stored elsewhere. */
START_TEST(softmax_without_axis)
{
    struct fixture *f = fixture_start(3);
    tensor_id in = whole_numbers(f, DT_FLOAT32, SHAPE(2, 3, 4), -3, 3);
    struct perm perm = PERM(2, 0, 1);
    build_op(&f->build, OP_Softmax, "n");
    build_in(&f->build, in);
    struct node *n = producer_of(f, end_node(f));
    const float *share = run_node(f, n, ODLC_OK)->data;
    for (int row = 0; row < 6; row++)
        ck_assert_double_eq_tol((double)(share[4 * row] + share[4 * row + 1] + share[4 * row + 2] + share[4 * row + 3]),
                                1, 1e-6);
    check_axis_rule(f, n, &perm);
    fixture_end(f);
}
END_TEST

START_TEST(axes_that_are_refused)
{
    struct fixture *f = fixture_start(1);
    tensor_id in = whole_numbers(f, DT_FLOAT32, SHAPE(2, 3), 0, 1), out;
    static const int64_t bad[][2] = {{0, 0}, {1, 2}, {-1, 0}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        build_op(&f->build, OP_ReduceSum, "n");
        build_in(&f->build, in);
        build_ints(&f->build, PARAM_axes, bad[i], 2);
        ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
        ck_assert_str_eq(f->diags.list.data[i].message, "ReduceSum: axes are not distinct axes of [2,3]");
    }
    build_op(&f->build, OP_Argmax, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_axis, 2);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
    build_op(&f->build, OP_Argmin, "n");
    build_in(&f->build, whole_numbers(f, DT_FLOAT32, SHAPE(2, 0), 0, 1));
    build_int(&f->build, PARAM_axis, 1);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reduce");
    TCase *tcase = tcase_create("reduce");
    tcase_add_loop_test(tcase, reductions_of_floats_and_integers, 0, COUNT_OF(reductions));
    tcase_add_test(tcase, reductions_follow_permuted_axes);
    tcase_add_test(tcase, reductions_of_nothing);
    tcase_add_test(tcase, extremes_of_no_integers);
    tcase_add_test(tcase, large_uint64);
    tcase_add_test(tcase, extremes_keep_nans);
    tcase_add_test(tcase, arg_finds_the_first_extreme);
    tcase_add_test(tcase, arg_follows_permuted_axes);
    tcase_add_loop_test(tcase, cumulative_sums, 0, 4);
    tcase_add_test(tcase, cumulative_sum_follows_permuted_axes);
    tcase_add_test(tcase, softmax_by_its_definition);
    tcase_add_test(tcase, softmax_of_large_values);
    tcase_add_test(tcase, softmax_without_axis);
    tcase_add_test(tcase, axes_that_are_refused);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
