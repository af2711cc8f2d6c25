/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules: parsing and arithmetic. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "udo/expr.h"

static struct arena *arena;

static void start(void)
{
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
}

/* in0 is [2,3,5,7], in1 is absent, in2 is []. */
static bool evaluate(const char *rule, int64_t *out, const char **message)
{
    size_t at;
    const struct udo_expr *e = expr_parse(arena, rule, 3, message, &at);
    ck_assert_msg(e != NULL, "%s: %s", rule, *message);
    const struct shape shapes[] = {SHAPE(2, 3, 5, 7), {0}, {0}};
    const bool known[] = {true, false, true};
    struct expr_inputs inputs = {shapes, known, 3};
    return expr_eval(arena, e, &inputs, out, message);
}

static const struct {
    const char *rule;
    int64_t value;
} values[] = {
    {"0", 0},
    {"42", 42},
    {"in0[0]", 2},
    {"in0[3]", 7},
    {"in0[-1]", 7},
    {"in0[-4]", 2},
    {" in0 [ 1 ] * 2 ", 6},
    {"1 + 2 * 3", 7},
    {"(1 + 2) * 3", 9},
    {"10 - 3 - 2", 5},
    {"100 / 10 / 5", 2},
    {"7 / 2", 3},
    {"-7 / 2", -4},
    {"7 / -2", -4},
    {"-7 / -2", 3},
    {"7 % 3", 1},
    {"-7 % 3", 2},
    {"7 % -3", -2},
    {"-6 % 3", 0},
    {"5 % -1", 0},
    {"--3", 3},
    {"2 - -3", 5},
    {"min(in0[1], 10)", 3},
    {"max(in0[1], 10)", 10},
    {"min(1,2) + max(3, min(9, 4))", 5},
    {"(in0[2] + 2 * 1 - 3) / 2 + 1", 3},
    {"9223372036854775807", INT64_MAX},
    {"-9223372036854775807 - 1", INT64_MIN},
    {"(-9223372036854775807 - 1) % 3", 1}, /* -2^63 = -3 * 3074457345618258603 + 1 */
    {"(-9223372036854775807 - 1) / 3", -3074457345618258603},
};

START_TEST(value)
{
    int64_t out;
    const char *message;
    ck_assert_msg(evaluate(values[_i].rule, &out, &message), "%s: %s", values[_i].rule, message);
    ck_assert_msg(out == values[_i].value, "%s is %lld", values[_i].rule, (long long)out);
}
END_TEST

static const struct {
    const char *rule, *message;
    size_t at;
} syntax[] = {
    {"", "the rule ends too early", 0},
    {"1 +", "the rule ends too early", 3},
    {"(1", "')' is missing", 2},
    {"1)", "an operator or the end is due here", 1},
    {"1 2", "an operator or the end is due here", 2},
    {"x", "an integer, a dimension such as in0[1], or '(' is due here", 0},
    {"in[0]", "an integer is missing", 2},
    {"in0", "'[' is missing", 3},
    {"in0[", "an integer is missing", 4},
    {"in0[1", "']' is missing", 5},
    {"2 * in3[0]", "there is no input 3", 4},
    {"in99999999999999999999[0]", "integer too large", 2},
    {"9223372036854775808", "integer too large", 0},
    {"min 1", "'(' is missing", 4},
    {"min(1)", "',' is missing", 5},
    {"max(1, 2", "')' is missing", 8},
    {"1 ^ 2", "an operator or the end is due here", 2},
};

START_TEST(syntax_error)
{
    const char *message;
    size_t at;
    ck_assert_ptr_null(expr_parse(arena, syntax[_i].rule, 3, &message, &at));
    ck_assert_str_eq(message, syntax[_i].message);
    ck_assert_msg(at == syntax[_i].at, "%s: at %zu", syntax[_i].rule, at);
}
END_TEST

START_TEST(too_long)
{
    char rule[300];
    memset(rule, '(', 201);
    rule[201] = '\0';
    const char *message;
    size_t at;
    ck_assert_ptr_null(expr_parse(arena, rule, 1, &message, &at));
    ck_assert_str_eq(message, "rule of more than 200 characters");
    ck_assert_uint_eq(at, 0);
}
END_TEST

static const struct {
    const char *rule, *message;
} failures[] = {
    {"1 / 0", "division by zero"},
    {"1 % (in0[0] - 2)", "division by zero"},
    {"9223372036854775807 + 1", "number too large"},
    {"-9223372036854775807 - 2", "number too large"},
    {"9223372036854775807 * in0[0]", "number too large"},
    {"(-9223372036854775807 - 1) / -1", "number too large"},
    {"in0[4]", "in0[4] does not exist: the input's shape is [2,3,5,7]"},
    {"in0[-5]", "in0[-5] does not exist: the input's shape is [2,3,5,7]"},
    {"in1[0]", "the node has no input 1"},
    {"in2[0]", "in2[0] does not exist: the input's shape is []"},
};

START_TEST(failure)
{
    int64_t out;
    const char *message;
    ck_assert(!evaluate(failures[_i].rule, &out, &message));
    ck_assert_str_eq(message, failures[_i].message);
}
END_TEST

START_TEST(equality)
{
    const char *message;
    size_t at;
    const struct udo_expr *a = expr_parse(arena, "in0[1]*2", 1, &message, &at);
    const struct udo_expr *b = expr_parse(arena, "in0[ 1 ] * 2", 1, &message, &at);
    const struct udo_expr *c = expr_parse(arena, "in0[1] * 3", 1, &message, &at);
    ck_assert(expr_equal(a, b) && !expr_equal(a, c));
    ck_assert(expr_equal(expr_constant(arena, 5), expr_parse(arena, "5", 1, &message, &at)));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("shape_rule");
    TCase *t = tcase_create("rules");
    tcase_add_checked_fixture(t, start, end);
    tcase_add_loop_test(t, value, 0, COUNT_OF(values));
    tcase_add_loop_test(t, syntax_error, 0, COUNT_OF(syntax));
    tcase_add_test(t, too_long);
    tcase_add_loop_test(t, failure, 0, COUNT_OF(failures));
    tcase_add_test(t, equality);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
