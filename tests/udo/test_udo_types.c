/* SPDX-License-Identifier: Apache-2.0 */
/* Element types of operands: activations have the framework's, whatever the definition declares for processors. */
#include "op/op.h"
#include "op/params.h"
#include "site_fixture.h"

/* ---- outputs ---- */

static const struct {
    const char *declared; /* "data_type" of the output, or the like */
    enum dtype model;     /* what the model says of the output; DT_NONE: nothing */
    struct udo_demand demand;
    enum dtype in;
    enum dtype expected;
} outputs[] = {
    /* The framework's own type stays. */
    {"'data_type': 'UINT_8'", DT_FLOAT32, {0}, DT_FLOAT32, DT_FLOAT32},
    {"'data_type': 'FIXED_16'", DT_FLOAT16, {0}, DT_FLOAT16, DT_FLOAT16},
    {"'data_type': 'INT_32'", DT_FLOAT32, {0}, DT_FLOAT32, DT_FLOAT32},
    {"'data_type': 'STRING'", DT_FLOAT32, {0}, DT_FLOAT32, DT_FLOAT32},
    {"'data_type': 'FLOAT_32'", DT_INT64, {0}, DT_FLOAT32, DT_INT64},
    {"'data_type': 'FLOAT_32'", DT_BOOL, {0}, DT_FLOAT32, DT_BOOL},
    {"'data_type': 'UINT_8'", DT_UINT8, {0}, DT_UINT8, DT_UINT8},
    {"'per_core_data_types': {'CPU': 'UINT_16', 'DSP': 'UINT_8'}", DT_FLOAT32, {0}, DT_FLOAT32, DT_FLOAT32},
    /* Else what the readers take. */
    {"'name': 'y'", DT_NONE, {.dtype = DT_INT64}, DT_FLOAT32, DT_INT64},
    {"'name': 'y'", DT_NONE, {.dtype = DT_FLOAT64}, DT_FLOAT32, DT_FLOAT64},
    {"'data_type': 'INT_32'", DT_NONE, {.dtype = DT_INT64}, DT_FLOAT32, DT_INT64},
    {"'data_type': 'UINT_8'", DT_NONE, {.dtype = DT_FLOAT16}, DT_FLOAT32, DT_FLOAT16},
    {"'data_type': 'UINT_8'", DT_NONE, {.dtype = DT_UINT8}, DT_FLOAT32, DT_UINT8},
    {"'per_core_data_types': {'CPU': 'INT_32', 'DSP': 'UINT_8'}",
     DT_NONE,
     {.dtype = DT_FLOAT32},
     DT_FLOAT32,
     DT_FLOAT32},
    {"'data_type': 'FLOAT_32'", DT_NONE, {.dtype = DT_FLOAT32, .likely = DT_INT64}, DT_FLOAT32, DT_FLOAT32},
    /* Else what the node's attributes suggest, unless the definition says otherwise. */
    {"'name': 'y'", DT_NONE, {.likely = DT_INT64}, DT_FLOAT32, DT_INT64},
    {"'data_type': 'INT_32'", DT_NONE, {.likely = DT_FLOAT32}, DT_FLOAT32, DT_INT32},
    {"'data_type': 'UINT_8'", DT_NONE, {.likely = DT_FLOAT64}, DT_FLOAT32, DT_FLOAT64},
    /* Else the declared one, but what is quantized is real before that. */
    {"'name': 'y'", DT_NONE, {0}, DT_INT64, DT_FLOAT32},
    {"'data_type': 'INT_32'", DT_NONE, {0}, DT_FLOAT32, DT_INT32},
    {"'data_type': 'BOOL_8'", DT_NONE, {0}, DT_FLOAT32, DT_BOOL},
    {"'data_type': 'INT_64'", DT_NONE, {0}, DT_FLOAT32, DT_INT64},
    {"'data_type': 'UINT_64'", DT_NONE, {0}, DT_FLOAT32, DT_UINT64},
    {"'data_type': 'FLOAT_64'", DT_NONE, {0}, DT_FLOAT32, DT_FLOAT64},
    {"'data_type': 'UINT_8'", DT_NONE, {0}, DT_FLOAT32, DT_FLOAT32},
    {"'data_type': 'INT_16'", DT_NONE, {0}, DT_FLOAT16, DT_FLOAT16},
    {"'data_type': 'UINT_8'", DT_NONE, {0}, DT_INT32, DT_UINT8},
    {"'data_type': 'UINT_8'", DT_NONE, {.real = true}, DT_INT32, DT_FLOAT32},
    {"'data_type': 'FLOAT_16'", DT_NONE, {0}, DT_FLOAT32, DT_FLOAT32},
    {"'data_type': 'FLOAT_16'", DT_NONE, {0}, DT_FLOAT16, DT_FLOAT16},
    {"'data_type': 'FLOAT_16'", DT_NONE, {0}, DT_INT32, DT_FLOAT32},
    {"'data_type': 'FIXED_8'", DT_NONE, {0}, DT_INT32, DT_FLOAT32},
};

static void start_output(struct site_fixture *s, const char *declared)
{
    struct arena *arena = arena_create();
    start(s,
          arena_printf(arena, "{'type': 'T', 'inputs': [{}],\n 'outputs': [{%s, 'shape': 'same_as in0'}]}", declared));
    arena_destroy(arena);
}

START_TEST(type_of_an_output)
{
    struct site_fixture s;
    start_output(&s, outputs[_i].declared);
    give_tensor(&s, "x", outputs[_i].in, SHAPE(2, 3));
    s.declared[0].dtype = outputs[_i].model;
    struct udo_demand demand = outputs[_i].demand;
    demand.reader = "reader";
    s.site.demands = &demand;
    run_ok(&s);
    ck_assert_int_eq(graph_tensor(s.g, s.outs[0])->type->dtype, outputs[_i].expected);
    ck_assert_uint_eq(s.f.diags.list.count, 0);
    end(&s);
}
END_TEST

/* Types that no reader could take are an error at the config's place. */
static const struct {
    const char *declared;
    struct udo_demand demand;
    const char *message, *hint;
} contradictions[] = {
    {"'data_type': 'INT_32'",
     {.dtype = DT_FLOAT32},
     "declared INT_32, but node 'reader' takes it as FLOAT_32",
     "declare FLOAT_32"},
    {"'data_type': 'FLOAT_32'",
     {.dtype = DT_INT64},
     "declared FLOAT_32, but node 'reader' takes it as INT_64",
     "declare INT_64"},
    {"'data_type': 'BOOL_8'",
     {.real = true},
     "declared BOOL_8, but node 'reader' takes it as FLOAT_32",
     "declare FLOAT_32"},
    {"'data_type': 'UINT_8'",
     {.dtype = DT_INT32},
     "declared UINT_8, but node 'reader' takes it as INT_32",
     "declare INT_32"},
    {"'data_type': 'INT_64'",
     {.dtype = DT_BOOL},
     "declared INT_64, but node 'reader' takes it as BOOL_8",
     "declare BOOL_8"},
};

START_TEST(contradicted_by_a_reader)
{
    struct site_fixture s;
    start_output(&s, contradictions[_i].declared);
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    struct udo_demand demand = contradictions[_i].demand;
    demand.reader = "reader";
    s.site.demands = &demand;
    const char *message = arena_printf(s.f.arena, "output 0 of 'T' is %s", contradictions[_i].message);
    const struct odlc_diag *d = fails(&s, "udo-type-contradicted", message, contradictions[_i].hint);
    ck_assert_str_eq(d->file, "ops.json");
    ck_assert_uint_eq(d->line, 4);
    ck_assert_str_eq(d->pointer, "/UdoPackage_0/Operators/0/outputs/0");
    end(&s);
}
END_TEST

/* ---- what the nodes keep ---- */

static const char *kept_by(const struct node *n)
{
    int at = op_param_index(n->op, "udo_data_types");
    ck_assert_int_ge(at, 0);
    const struct param p = node_get_param(n, (uint32_t)at);
    ck_assert(!p.set || (p.usage == 2 && p.dtype == DT_STRING && !p.is_tensor));
    return p.set ? p.s : "";
}

START_TEST(declared_types_are_kept)
{
    struct site_fixture s;
    start(
        &s,
        "{'type': 'T', 'inputs': [{'name': 'a', 'data_type': 'UINT_8'}, {'data_type': 'FLOAT_32'},\n"
        "{'data_type': 'INT_64'}, {'data_type': 'FLOAT_16', 'static': true},\n"
        "{'per_core_data_types': {'DSP': 'UINT_16'}}, {'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': 'UINT_16'}},\n"
        "{}], 'outputs': [{'data_type': 'FIXED_8', 'shape': 'same_as in0'},\n"
        "{'data_type': 'INT_32', 'shape': 'same_as in0'}]}");
    give_tensor(&s, "a", DT_FLOAT32, SHAPE(2));
    give_tensor(&s, "b", DT_FLOAT32, SHAPE(2));
    give_tensor(&s, "c", DT_INT32, SHAPE(2)); /* as int64 is stored */
    give_floats(&s, "d", SHAPE(2), 0, 0);
    give_tensor(&s, "e", DT_FLOAT32, SHAPE(2));
    give_tensor(&s, "f", DT_FLOAT32, SHAPE(2));
    give_tensor(&s, "g", DT_BOOL, SHAPE(2));
    s.site.n_out = 2;
    s.declared[0].dtype = DT_FLOAT32;
    s.declared[1].dtype = DT_INT64;
    run_ok(&s);
    graph_set_dtype(s.g, s.outs[1], DT_INT32); /* what narrow_types does */
    udo_keep_types(&s.f.set, s.g);
    ck_assert_str_eq(kept_by(udo_node(&s)), "in0: UINT_8; out0: FIXED_8");
    ck_assert_uint_eq(s.f.diags.list.count, 1);
    const struct odlc_diag *d = find_diag(&s.f, "udo-type-differs");
    ck_assert_int_eq(d->severity, ODLC_WARNING);
    ck_assert_str_eq(d->file, "ops.json");
    ck_assert_uint_eq(d->line, 3);
    ck_assert_str_eq(d->message,
                     "activations of 'T' keep the types of the model: input 0 ('a') is FLOAT_32, declared UINT_8; "
                     "input 4 is FLOAT_32, declared UINT_16; output 0 is FLOAT_32, declared FIXED_8");
    ck_assert_str_eq(d->hint, "the nodes keep the declared types for who quantizes the container");
    end(&s);
}
END_TEST

/* One warning for all nodes of a definition, and none where all is as declared. */
START_TEST(one_warning)
{
    struct site_fixture s;
    start(&s, "{'type': 'T', 'inputs': [{'data_type': 'FLOAT_32'}], 'outputs': [{'shape': 'same_as in0'}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2));
    run_ok(&s);
    udo_keep_types(&s.f.set, s.g);
    ck_assert_str_eq(kept_by(udo_node(&s)), "");
    ck_assert_uint_eq(s.f.diags.list.count, 0);
    for (int i = 0; i < 2; i++) {
        s.site.n_in = 0;
        s.site.label = i ? "n2" : "n3";
        s.out_names[0] = i ? "u" : "v";
        give_tensor(&s, i ? "p" : "q", DT_INT32, SHAPE(2));
        run_ok(&s);
    }
    udo_keep_types(&s.f.set, s.g);
    ck_assert_uint_eq(s.f.diags.list.count, 1);
    ck_assert_str_eq(find_diag(&s.f, "udo-type-differs")->message,
                     "activations of 'T' keep the types of the model: input 0 is INT_32, declared FLOAT_32");
    ck_assert_str_eq(find_diag(&s.f, "udo-type-differs")->hint,
                     "no processor takes the one for the other: check the declared types");
    ck_assert_str_eq(kept_by(graph_node(s.g, graph_tensor(s.g, s.outs[0])->producer)), "in0: FLOAT_32");
    end(&s);
}
END_TEST

/* ---- 64 bits ---- */

/* Data in 64 bits is stored in 32. */
START_TEST(static_data_of_64_bits)
{
    static const struct {
        const char *declared;
        enum dtype stored;
    } types[] = {{"INT_64", DT_INT32}, {"UINT_64", DT_UINT32}, {"FLOAT_64", DT_FLOAT32}};
    struct site_fixture s;
    struct arena *arena = arena_create();
    start(&s, arena_printf(arena,
                           DEFINE("{}, {'data_type': '%s', 'static': true}",
                                  ", 'scalar_params': [{'name': 'p', 'data_type': '%s', 'default_value': 7}],"
                                  "'tensor_params': [{'name': 'q', 'data_type': '%s', 'default_value': [1, 2]}]"),
                           types[_i].declared, types[_i].declared, types[_i].declared));
    arena_destroy(arena);
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2));
    give_floats(&s, "w", SHAPE(3), 0, 5);
    run_ok(&s);
    const struct node *n = udo_node(&s);
    const struct tensor *w = graph_tensor(s.g, n->inputs[1]);
    ck_assert_int_eq(w->type->dtype, types[_i].stored);
    const int64_t *values = view_load(s.f.arena, w->view, DT_INT64);
    ck_assert_int_eq(values[0], 5);
    ck_assert_int_eq(values[2], 2);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_int_eq(node_get_param(n, i).dtype, types[_i].stored);
    ck_assert_uint_eq(s.f.diags.list.count, 1); /* y is NCHW, of rank 1 */
    end(&s);
}
END_TEST

START_TEST(number_beyond_32_bits)
{
    struct site_fixture s;
    start(&s, DEFINE("{}, {'data_type': 'INT_64', 'static': true}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2));
    give_floats(&s, "w", SHAPE(3), 1, 4294967296.0f);
    fails(&s, "udo-value-misfit", "element [1] of input 1 is 4.2949673e+09, which does not fit INT_32", NULL);
    end(&s);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, type_of_an_output, 0, COUNT_OF(outputs));
    tcase_add_loop_test(t, contradicted_by_a_reader, 0, COUNT_OF(contradictions));
    tcase_add_test(t, declared_types_are_kept);
    tcase_add_test(t, one_warning);
    tcase_add_loop_test(t, static_data_of_64_bits, 0, 3);
    tcase_add_test(t, number_beyond_32_bits);
}

int main(void)
{
    return run_suite("udo_types", add_tests);
}
