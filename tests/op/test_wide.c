/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that do not fit float32: ops of two operands, of one and over an axis, on float64, and on uint64 beyond what
 * int64 holds. Values are by hand. */
#include <math.h>

#include "node_fixture.h"

enum { COUNT = 3 };

struct wide_case {
    enum op_id op;
    enum dtype a_type, b_type; /* b_type DT_NONE: one operand */
    double a[COUNT], b[COUNT], expected[COUNT];
};

/* An input whose elements are these numbers. */
static tensor_id numbers(struct fixture *f, enum dtype dtype, const double *values)
{
    uint64_t elements[COUNT];
    convert_elements(elements, dtype, values, DT_FLOAT64, COUNT);
    return input_with(f, dtype, SHAPE(COUNT), elements);
}

#define TINY 1e-12 /* is lost beside 1 in float32 */
#define TOP 0x1p63 /* of uint64: negative as int64 */

static const struct wide_case cases[] = {
    {OP_ElementWiseFloorDiv, DT_FLOAT64, DT_FLOAT64, {7, -7, 1e300}, {2, 2, 1e299}, {3, -4, 10}},
    {OP_ElementWiseMod, DT_FLOAT64, DT_FLOAT64, {7, -7, 1 + TINY}, {-3, 3, 1}, {-2, 2, 1 + TINY - 1}},
    {OP_ElementWisePower, DT_FLOAT64, DT_FLOAT64, {1e200, 2, 1 + TINY}, {1.5, 0.5, 1}, {1e300, M_SQRT2, 1 + TINY}},
    {OP_ElementWisePower, DT_FLOAT64, DT_INT32, {1e100, 2, 1 + TINY}, {3, -1, 1}, {1e300, 0.5, 1 + TINY}},
    {OP_ElementWisePower, DT_FLOAT64, DT_UINT64, {1e100, 2, 1 + TINY}, {3, 10, 1}, {1e300, 1024, 1 + TINY}},
    {OP_ElementWisePower, DT_FLOAT32, DT_UINT64, {2, 3, 0.5}, {10, 2, TOP}, {1024, 9, 0}},
    {OP_ElementWisePower, DT_INT64, DT_FLOAT64, {4, 2, -2}, {0.5, 0.5, 3}, {2, 1, -8}},
    {OP_ElementWiseGreaterEqual, DT_UINT64, DT_UINT64, {TOP, 1, TOP}, {1, TOP, TOP}, {1, 0, 1}},
    {OP_ElementWiseLess, DT_UINT64, DT_UINT64, {TOP, 1, TOP}, {1, TOP, TOP}, {0, 1, 0}},
    {OP_ElementWiseNotEqual, DT_UINT64, DT_UINT64, {TOP, 1, TOP}, {1, TOP, TOP}, {1, 1, 0}},
    {OP_ElementWiseAsin, DT_FLOAT64, DT_NONE, {1, -1, TINY}, {0}, {M_PI_2, -M_PI_2, TINY}},
    {OP_ElementWiseReciprocal, DT_FLOAT64, DT_NONE, {4, -1e300, TINY}, {0}, {0.25, -1e-300, 1e12}},
    {OP_ElementWiseRsqrt, DT_FLOAT64, DT_NONE, {4, 1e-300, 1e300}, {0}, {0.5, 1e150, 1e-150}},
    {OP_ElementWiseNeg, DT_UINT64, DT_NONE, {TOP, 0, 0x1p62}, {0}, {TOP, 0, 0x1p63 + 0x1p62}},
    {OP_HardSigmoid, DT_FLOAT64, DT_NONE, {0, 9, -9}, {0}, {0.5, 1, 0}},
    {OP_HardSwish, DT_FLOAT64, DT_NONE, {1e300, -4, 0x1p-40}, {0}, {1e300, 0, 0x1p-40 * (0x1p-40 + 3) / 6}},
    {OP_Relu1, DT_FLOAT64, DT_NONE, {1e300, -4, TINY}, {0}, {1, -1, TINY}},
    {OP_Relu6, DT_FLOAT64, DT_NONE, {1e300, -4, 1 + TINY}, {0}, {6, 0, 1 + TINY}},
};

START_TEST(elementwise)
{
    const struct wide_case *c = &cases[_i];
    struct fixture *f = fixture_start(1);
    tensor_id out, a = numbers(f, c->a_type, c->a), b = c->b_type ? numbers(f, c->b_type, c->b) : NO_TENSOR;
    build_op(&f->build, c->op, "n");
    build_in(&f->build, a);
    if (c->b_type)
        build_in(&f->build, b);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    const struct buffer *result = run_node(f, producer_of(f, out), ODLC_OK);
    double found[COUNT];
    convert_elements(found, DT_FLOAT64, result->data, result->dtype, COUNT);
    for (int i = 0; i < COUNT; i++)
        ck_assert_msg(fabs(found[i] - c->expected[i]) <= 1e-15 * fabs(c->expected[i]), "%s: %.17g, not %.17g",
                      op_row(c->op)->name, found[i], c->expected[i]);
    fixture_end(f);
}
END_TEST

START_TEST(sum_of_squares)
{
    static const double values[COUNT] = {1e150, -1, 0x1p-20};
    static const int64_t axis[] = {0};
    struct fixture *f = fixture_start(1);
    tensor_id out, in = numbers(f, DT_FLOAT64, values);
    build_op(&f->build, OP_ReduceSumSquare, "n");
    build_in(&f->build, in);
    build_tensor_ints(&f->build, PARAM_axes, &SHAPE(1), axis);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    const double *found = run_node(f, producer_of(f, out), ODLC_OK)->data;
    ck_assert_double_eq(*found, 1e150 * 1e150 + 1 + 0x1p-40);
    fixture_end(f);
}
END_TEST

START_TEST(least_of_uint64)
{
    static const double values[COUNT] = {TOP, 5, 0x1p63 + 0x1p62};
    struct fixture *f = fixture_start(1);
    tensor_id out, in = numbers(f, DT_UINT64, values);
    build_op(&f->build, OP_Argmin, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_axis, 0);
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    const struct buffer *result = run_node(f, producer_of(f, out), ODLC_OK);
    double found;
    convert_elements(&found, DT_FLOAT64, result->data, result->dtype, 1);
    ck_assert_double_eq(found, 1);
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wide");
    TCase *tcase = tcase_create("wide");
    tcase_add_loop_test(tcase, elementwise, 0, COUNT_OF(cases));
    tcase_add_test(tcase, sum_of_squares);
    tcase_add_test(tcase, least_of_uint64);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
