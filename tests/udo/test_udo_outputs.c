/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes and types of what a UDO node gives. */
#include "site_fixture.h"

#define OUT(layout, shape)                                                                                \
    "{'type': 'T', 'inputs': [{'tensor_layout': '" layout "'}],\n 'outputs': [{'tensor_layout': '" layout \
    "', 'shape': " shape "}]}"

/* Rules count in the definition's own layout. */
START_TEST(rule_in_nhwc)
{
    struct site_fixture s;
    start(&s, OUT("NHWC", "['in0[0]', 'in0[1] * 2', 'in0[2] * 2', 'in0[3] / 4']"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 8, 5, 7));
    run_ok(&s);
    check_shape(&node_output(s.g, udo_node(&s), 0)->type->shape, SHAPE(1, 10, 14, 2));
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(1, 2, 10, 14));
    ck_assert_int_eq(graph_tensor(s.g, s.outs[0])->type->dtype, DT_FLOAT32);
    end(&s);
}
END_TEST

START_TEST(rule_in_nchw)
{
    struct site_fixture s;
    start(&s, OUT("NCHW", "['in0[0]', 'in0[1] / 4', 'in0[2] * 2', 3]"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 8, 5, 7));
    run_ok(&s);
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(1, 2, 10, 3));
    end(&s);
}
END_TEST

START_TEST(rule_that_fails)
{
    static const struct {
        const char *definition, *message;
    } cases[] = {
        {OUT("NCHW", "['in0[7]']"), "the shape rule cannot be used: in0[7] does not exist: the input's shape is [2,3]"},
        {OUT("NCHW", "[1, 'in0[0] - 5']"), "the shape rule cannot be used: dimension 1 becomes -3"},
        {OUT("NCHW", "[4000000000, 4000000000]"),
         "the shape rule cannot be used: the shape [4000000000,4000000000] is too large"},
        {OUT("NCHW", "['1 / (in0[0] - 2)']"), "the shape rule cannot be used: division by zero"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct site_fixture s;
        start(&s, cases[i].definition);
        give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
        const struct odlc_diag *d = fails(&s, "udo-shape-rule", cases[i].message, NULL);
        ck_assert_str_eq(d->file, "ops.json");
        ck_assert_uint_eq(d->line, 4);
        ck_assert_uint_eq(d->column, 14);
        ck_assert_str_eq(d->pointer, "/UdoPackage_0/Operators/0/outputs/0/shape");
        end(&s);
    }
}
END_TEST

START_TEST(same_as_an_absent_input)
{
    struct site_fixture s;
    start(&s, "{'type': 'T', 'inputs': [{}, {'optional': true}], 'outputs': [{'shape': 'same_as in1'}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    fails(&s, "udo-shape-rule", "the shape rule cannot be used: the node has no input 1", NULL);
    end(&s);
}
END_TEST

/* The same tensor, whatever the two layouts are. */
START_TEST(same_as_across_layouts)
{
    struct site_fixture s;
    start(&s, "{'type': 'T', 'inputs': [{'tensor_layout': 'NCHW'}], 'outputs': [{'tensor_layout': 'NHWC', 'shape': "
              "'same_as in0'}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 8, 5, 7));
    run_ok(&s);
    check_shape(&node_output(s.g, udo_node(&s), 0)->type->shape, SHAPE(1, 5, 7, 8));
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(1, 8, 5, 7));
    end(&s);
}
END_TEST

#define UNSHAPED "{'type': 'T', 'inputs': [{}, {}], 'outputs': [{}]}"

START_TEST(declared_type)
{
    struct site_fixture s;
    start(&s, UNSHAPED);
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    give_tensor(&s, "z", DT_FLOAT32, SHAPE(2, 3));
    s.declared[0] = (struct type){DT_INT32, SHAPE(4, 5)};
    s.declared_shape[0] = true;
    run_ok(&s);
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(4, 5));
    ck_assert_int_eq(graph_tensor(s.g, s.outs[0])->type->dtype, DT_INT32);
    ck_assert_uint_eq(s.f.diags.list.count, 0);
    end(&s);
}
END_TEST

START_TEST(native_type)
{
    struct site_fixture s;
    start(&s, UNSHAPED);
    const struct type native = {DT_FLOAT16, SHAPE(6, 1)};
    s.site.native = &native;
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    give_tensor(&s, "z", DT_FLOAT32, SHAPE(2, 3));
    run_ok(&s);
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(6, 1));
    ck_assert_int_eq(graph_tensor(s.g, s.outs[0])->type->dtype, DT_FLOAT16);
    end(&s);
}
END_TEST

START_TEST(shape_of_the_only_input)
{
    struct site_fixture s;
    start(&s, "{'type': 'T', 'inputs': [{}], 'outputs': [{}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    run_ok(&s);
    s.site.label = "n2";
    run_ok(&s);
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(2, 3));
    ck_assert_uint_eq(s.f.diags.list.count, 1);
    const struct odlc_diag *d = find_diag(&s.f, "udo-shape-assumed");
    ck_assert_str_eq(d->message, "nothing tells the shape of output 0 of 'T'; the input's is taken");
    ck_assert_ptr_nonnull(strstr(d->hint, "\"same_as in0\""));
    end(&s);
}
END_TEST

START_TEST(unknown_shape)
{
    struct site_fixture s;
    start(&s, UNSHAPED);
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    give_tensor(&s, "z", DT_FLOAT32, SHAPE(2, 3));
    fails(&s, "udo-unknown-shape", "nothing tells the shape of output 0", "add \"shape\" at ops.json:3:47");
    end(&s);
}
END_TEST

START_TEST(rule_against_the_model)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    s.declared[0] = (struct type){DT_FLOAT32, SHAPE(2, 4)};
    s.declared_shape[0] = true;
    run_ok(&s);
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(2, 3));
    ck_assert_str_eq(find_diag(&s.f, "udo-shape-differs")->message,
                     "the shape rule gives [2,3] for output 0 ('y'), but the model declares [2,4]");
    end(&s);
}
END_TEST

START_TEST(several_outputs)
{
    struct site_fixture s;
    start(&s, "{'type': 'T', 'inputs': [{}], 'outputs': [{'shape': [1]}, {'shape': [2], 'data_type': 'INT_32'}, "
              "{'shape': [3]}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    s.site.n_out = 2;
    s.out_names[0] = ""; /* unused in the model */
    run_ok(&s);
    const struct node *n = udo_node(&s);
    ck_assert_uint_eq(n->n_outputs, 3); /* the operation gives all of them */
    ck_assert_str_eq(graph_tensor(s.g, s.outs[1])->name, "z");
    ck_assert_int_eq(graph_tensor(s.g, s.outs[1])->type->dtype, DT_INT32);
    check_shape(&node_output(s.g, n, 2)->type->shape, SHAPE(3));
    for (uint32_t i = 0; i < 3; i++)
        ck_assert(n->forms->out[i].as_stored);
    end(&s);
}
END_TEST

START_TEST(repeated_outputs)
{
    struct site_fixture s;
    start(&s, "{'type': 'Split', 'inputs': [{}], 'outputs': [{'shape': ['in0[0] / 2'], 'repeated': true}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(6));
    s.site.n_out = 3;
    run_ok(&s);
    ck_assert_uint_eq(udo_node(&s)->n_outputs, 3);
    check_shape(&graph_tensor(s.g, s.outs[2])->type->shape, SHAPE(3));
    end(&s);
}
END_TEST

START_TEST(surplus_outputs)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(6));
    s.site.n_out = 2;
    fails(&s, "udo-surplus-outputs", "the node has 2 outputs, but the definition of 'T' lists 1",
          "list every output at ops.json:3:1");
    end(&s);
}
END_TEST

/* Activations stay float until they are quantized. */
START_TEST(fixed_point_output)
{
    struct site_fixture s;
    start(&s, "{'type': 'T', 'inputs': [{'data_type': 'FIXED_8'}], 'outputs': [{'data_type': 'FIXED_8', 'shape': "
              "'same_as in0'}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(6));
    run_ok(&s);
    ck_assert_int_eq(graph_tensor(s.g, s.outs[0])->type->dtype, DT_FLOAT32);
    ck_assert_uint_eq(s.f.diags.list.count, 0);
    end(&s);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, rule_in_nhwc);
    tcase_add_test(t, rule_in_nchw);
    tcase_add_test(t, rule_that_fails);
    tcase_add_test(t, same_as_an_absent_input);
    tcase_add_test(t, same_as_across_layouts);
    tcase_add_test(t, declared_type);
    tcase_add_test(t, native_type);
    tcase_add_test(t, shape_of_the_only_input);
    tcase_add_test(t, unknown_shape);
    tcase_add_test(t, rule_against_the_model);
    tcase_add_test(t, several_outputs);
    tcase_add_test(t, repeated_outputs);
    tcase_add_test(t, surplus_outputs);
    tcase_add_test(t, fixed_point_output);
}

int main(void)
{
    return run_suite("udo_outputs", add_tests);
}
