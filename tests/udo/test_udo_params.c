/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes as params of a UDO node. */
#include "site_fixture.h"
#include "tests/support/named_param.h"

START_TEST(param_kinds)
{
    struct site_fixture s;
    start(&s,
          DEFINE(X, ", 'scalar_params': [{'name': 'i', 'data_type': 'INT_32'}, {'name': 'f', 'data_type': 'FLOAT_16'},"
                    "{'name': 's', 'data_type': 'STRING'}, {'name': 'b', 'data_type': 'BOOL_8'}, {'name': 'fi', "
                    "'data_type': 'UINT_8'}],"
                    "'tensor_params': [{'name': 'is', 'data_type': 'UINT_16'}, {'name': 'fs', 'data_type': 'FLOAT_32'},"
                    "{'name': 'one', 'data_type': 'INT_32'}, {'name': 'any'}]"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, int_attr("i", -5));
    give_attr(&s, float_attr("f", 0.1f));
    give_attr(&s, string_attr("s", "abc"));
    give_attr(&s, int_attr("b", 1));
    give_attr(&s, float_attr("fi", 200.0f));
    give_attr(&s, ints_attr("is", SHAPE(3), (const int64_t[]){1, 2, 65535}));
    give_attr(&s, floats_attr("fs", SHAPE(2, 1), (const double[]){0.5, -3}));
    give_attr(&s, int_attr("one", 9));
    give_attr(&s, ints_attr("any", SHAPE(2), (const int64_t[]){7, 8}));
    run_ok(&s);
    const struct node *n = udo_node(&s);
    ck_assert_int_eq(named_int(n, "i", 0), -5);
    ck_assert(named_float(n, "f", 0) == (double)half_to_float(0x2e66));
    ck_assert_str_eq(named_string(n, "s", ""), "abc");
    ck_assert_int_eq(named_int(n, "b", 0), 1);
    ck_assert_int_eq(named_int(n, "fi", 0), 200);
    ck_assert_int_eq(named_param(n, "fi")->dtype, DT_UINT8);
    uint32_t count;
    ck_assert_int_eq(named_ints(n, "is", &count)[2], 65535);
    ck_assert_uint_eq(count, 3);
    check_shape(named_param(n, "fs")->shape, SHAPE(2, 1));
    ck_assert(named_param(n, "fs")->floats[1] == -3.0);
    ck_assert_int_eq(named_ints(n, "one", &count)[0], 9);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(named_param(n, "any")->dtype, DT_INT32);
    for (int i = 0; i < 9; i++)
        ck_assert_uint_eq(n->params[i].usage, 1);
    ck_assert_uint_eq(s.f.diags.list.count, count_diags(&s.f, "udo-layout-rank"));
    end(&s);
}
END_TEST

/* A rank-4 param in the definition's layout, as static data would be. */
START_TEST(param_layout)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ", 'tensor_params': [{'name': 'k', 'data_type': 'FLOAT_32', 'tensor_layout': 'NHWC'}]"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, floats_attr("k", SHAPE(1, 2, 1, 3), (const double[]){0, 1, 2, 3, 4, 5}));
    run_ok(&s);
    const struct packed_param *k = named_param(udo_node(&s), "k");
    check_shape(k->shape, SHAPE(1, 1, 3, 2));
    const double expected[] = {0, 3, 1, 4, 2, 5};
    for (int i = 0; i < 6; i++)
        ck_assert(k->floats[i] == expected[i]);
    end(&s);
}
END_TEST

#define SCALAR_A(type) DEFINE(X, ", 'scalar_params': [{'name': 'a', 'data_type': '" type "'}]")

START_TEST(param_that_does_not_fit)
{
    static const struct {
        const char *definition;
        struct param attr;
        const char *message;
    } cases[] = {
        {SCALAR_A("INT_32"), {.name = "a", .dtype = DT_FLOAT32, .f = 1.5}, "param 'a': 1.5 does not fit INT_32"},
        {SCALAR_A("INT_32"),
         {.name = "a", .dtype = DT_INT64, .i = 1ll << 31},
         "param 'a': 2147483648 does not fit INT_32"},
        {SCALAR_A("INT_16"), {.name = "a", .dtype = DT_INT64, .i = -32769}, "param 'a': -32769 does not fit INT_16"},
        {SCALAR_A("UINT_32"), {.name = "a", .dtype = DT_INT64, .i = -1}, "param 'a': -1 does not fit UINT_32"},
        {SCALAR_A("FLOAT_32"),
         {.name = "a", .dtype = DT_INT64, .i = 16777217},
         "param 'a': 16777217 does not fit FLOAT_32"},
        {SCALAR_A("FLOAT_16"),
         {.name = "a", .dtype = DT_FLOAT32, .f = 1e6},
         "param 'a': 1000000 does not fit FLOAT_16"},
        {SCALAR_A("FLOAT_16"), /* halfway between the largest half and what would be the next */
         {.name = "a", .dtype = DT_FLOAT32, .f = 65520},
         "param 'a': 65520 does not fit FLOAT_16"},
        {SCALAR_A("BOOL_8"), {.name = "a", .dtype = DT_INT64, .i = 2}, "param 'a': 2 does not fit BOOL_8"},
        {SCALAR_A("STRING"), {.name = "a", .dtype = DT_INT64, .i = 2}, "param 'a': STRING cannot hold a number"},
        {SCALAR_A("INT_32"), {.name = "a", .dtype = DT_STRING, .s = "2"}, "param 'a': INT_32 cannot hold text"},
        {SCALAR_A("FIXED_8"),
         {.name = "a", .dtype = DT_FLOAT32, .f = 1},
         "param 'a': FIXED_8 data needs encodings, which only quantization provides"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct site_fixture s;
        start(&s, cases[i].definition);
        give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
        give_attr(&s, cases[i].attr);
        const struct odlc_diag *d =
            fails(&s, "udo-param-misfit", cases[i].message, "the data_type is declared at ops.json:5:");
        ck_assert_str_eq(d->attribute, "a");
        end(&s);
    }
}
END_TEST

/* A float has no integers between some that are larger than its mantissa: those are refused, not rounded. */
START_TEST(integers_beyond_a_double)
{
    static const int64_t inexact[] = {(1ll << 53) + 1, -(1ll << 53) - 1, INT64_MAX, (1ll << 24) + 1};
    for (size_t i = 0; i < COUNT_OF(inexact); i++) {
        struct site_fixture s;
        start(&s, SCALAR_A("FLOAT_32"));
        give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
        give_attr(&s, int_attr("a", inexact[i]));
        fails(&s, "udo-param-misfit",
              arena_printf(s.f.arena, "param 'a': %lld does not fit FLOAT_32", (long long)inexact[i]), NULL);
        end(&s);
    }
    struct site_fixture s;
    start(&s, SCALAR_A("FLOAT_32"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, int_attr("a", (1ll << 53) + (1ll << 40)));
    run_ok(&s);
    ck_assert(named_float(udo_node(&s), "a", 0) == 0x1p53 + 0x1p40);
    end(&s);
}
END_TEST

START_TEST(tensor_param_that_does_not_fit)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ", 'tensor_params': [{'name': 'a', 'data_type': 'INT_32'}]"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, floats_attr("a", SHAPE(3), (const double[]){1, 2, 2.5}));
    fails(&s, "udo-param-misfit", "param 'a': element 2, 2.5, does not fit INT_32", NULL);
    end(&s);
}
END_TEST

START_TEST(list_for_a_scalar)
{
    struct site_fixture s;
    start(&s, SCALAR_A("INT_32"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, ints_attr("a", SHAPE(2), (const int64_t[]){1, 2}));
    fails(&s, "udo-param-misfit", "'a' is a scalar param, but the attribute holds 2 values",
          "list it under tensor_params");
    end(&s);
}
END_TEST

START_TEST(one_element_list_for_a_scalar)
{
    struct site_fixture s;
    start(&s, SCALAR_A("INT_32"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, ints_attr("a", SHAPE(1), (const int64_t[]){4}));
    run_ok(&s);
    ck_assert_int_eq(named_int(udo_node(&s), "a", 0), 4);
    ck_assert_uint_eq(s.f.diags.warnings, 1 + count_diags(&s.f, "udo-layout-rank"));
    ck_assert_str_eq(find_diag(&s.f, "udo-list-as-scalar")->message,
                     "'a' is a scalar param, and the attribute a list of one element, which is taken");
    end(&s);
}
END_TEST

START_TEST(schema_default)
{
    struct site_fixture s;
    start(&s, SCALAR_A("INT_32"));
    const struct param defaults[] = {int_attr("b", 41), int_attr("a", 42)};
    s.site.defaults = defaults;
    s.site.n_defaults = COUNT_OF(defaults);
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    run_ok(&s);
    ck_assert_int_eq(named_int(udo_node(&s), "a", 0), 42);
    end(&s);
}
END_TEST

START_TEST(missing_param)
{
    struct site_fixture s;
    start(&s, SCALAR_A("INT_32"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    const struct odlc_diag *d =
        fails(&s, "udo-missing-param", "the node has no attribute 'a', and the definition no default for it",
              "give a default_value at ops.json:5:");
    ck_assert_str_eq(d->attribute, "a");
    end(&s);
}
END_TEST

/* The guide warns that inputs are easily listed as params. */
START_TEST(input_listed_as_param)
{
    struct site_fixture s;
    start(&s, SCALAR_A("FLOAT_32"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "slope", SHAPE(1), UINT64_MAX, 0);
    ck_assert_int_eq(run(&s), ODLC_ERR_INVALID);
    ck_assert_uint_eq(s.f.diags.errors, 2);
    ck_assert_str_eq(find_diag(&s.f, "udo-surplus-inputs")->message,
                     "the node has 2 inputs, but the definition of 'T' lists 1");
    ck_assert_str_eq(
        find_diag(&s.f, "udo-missing-param")->hint,
        "the node has an input 1 ('slope') with data that the definition does not list: if that is meant, list it "
        "as an input with \"static\": true, not as a param");
    end(&s);
}
END_TEST

START_TEST(unnamed_attributes)
{
    struct site_fixture s;
    start(&s, SCALAR_A("INT_32"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, int_attr("a", 1));
    give_attr(&s, int_attr("q", 1));
    give_attr(&s, int_attr("r", 1));
    run_ok(&s);
    s.site.label = "n2";
    run_ok(&s);
    ck_assert_ptr_null(find_diag(&s.f, "udo-unnamed-attribute"));
    ck_assert_int_eq(udo_finish(&s.f.set), ODLC_OK);
    ck_assert_uint_eq(s.f.diags.list.count, 1 + count_diags(&s.f, "udo-layout-rank"));
    ck_assert_str_eq(find_diag(&s.f, "udo-unnamed-attribute")->message,
                     "attributes of 'T' nodes that the definition does not name are not serialised: q, r");
    end(&s);
}
END_TEST

START_TEST(all_problems_at_once)
{
    struct site_fixture s;
    start(&s,
          DEFINE("{'static': true, 'data_type': 'INT_32'}, {'name': 'w'}",
                 ", 'scalar_params': [{'name': 'a', 'data_type': 'INT_32'}, {'name': 'b', 'data_type': 'INT_32'}]"));
    give_floats(&s, "x", SHAPE(2), 1, 0.5f);
    give_attr(&s, float_attr("a", 0.5f));
    ck_assert_int_eq(run(&s), ODLC_ERR_INVALID);
    ck_assert_msg(s.f.diags.errors == 4, "%s", all_diags(&s.f));
    ck_assert_ptr_nonnull(find_diag(&s.f, "udo-value-misfit"));
    ck_assert_ptr_nonnull(find_diag(&s.f, "udo-missing-input"));
    ck_assert_ptr_nonnull(find_diag(&s.f, "udo-param-misfit"));
    ck_assert_ptr_nonnull(find_diag(&s.f, "udo-missing-param"));
    ck_assert_uint_eq(s.g->nodes.count, 0);
    end(&s);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, param_kinds);
    tcase_add_test(t, param_layout);
    tcase_add_test(t, param_that_does_not_fit);
    tcase_add_test(t, integers_beyond_a_double);
    tcase_add_test(t, tensor_param_that_does_not_fit);
    tcase_add_test(t, list_for_a_scalar);
    tcase_add_test(t, one_element_list_for_a_scalar);
    tcase_add_test(t, schema_default);
    tcase_add_test(t, missing_param);
    tcase_add_test(t, input_listed_as_param);
    tcase_add_test(t, unnamed_attributes);
    tcase_add_test(t, all_problems_at_once);
}

int main(void)
{
    return run_suite("udo_params", add_tests);
}
