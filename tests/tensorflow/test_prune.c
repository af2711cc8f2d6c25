/* SPDX-License-Identifier: Apache-2.0 */
/* The last stage: what the outputs need, in topological order. */
#include "normalized.h"

#define CHAIN PLACEHOLDER("in", "DT_FLOAT") NODE("a", "Neg", IN("in")) NODE("b", "Abs", IN("a"))

/* Nodes that nothing needs may be broken, and control inputs may name what is not there. */
START_TEST(test_only_what_is_needed)
{
    expect_graph(&(struct example){.graph = NODE("end", "Exp", IN("b") IN("^gone")) NODE("broken", "Exp", IN("gone"))
                                       CHAIN NODE("summary", "Print", IN("b")),
                                   .outputs = {"end"}},
                 "input \"in:0\" float32[2]\n"
                 "node \"a\" Neg (\"in:0\") -> \"a:0\"\n"
                 "node \"b\" Abs (\"a:0\") -> \"b:0\"\n"
                 "node \"end\" Exp (\"b:0\") -> \"end:0\"\n"
                 "output \"end:0\"\n");
}
END_TEST

START_TEST(test_a_node_stands_once)
{
    expect_graph(&(struct example){.graph = CHAIN NODE("c", "Sub", IN("b") IN("a")), .outputs = {"c", "a"}},
                 "input \"in:0\" float32[2]\n"
                 "node \"a\" Neg (\"in:0\") -> \"a:0\"\n"
                 "node \"b\" Abs (\"a:0\") -> \"b:0\"\n"
                 "node \"c\" Sub (\"b:0\", \"a:0\") -> \"c:0\"\n"
                 "output \"c:0\"\n"
                 "output \"a:0\"\n");
}
END_TEST

START_TEST(test_outputs_nobody_named)
{
    expect_graph(&(struct example){.graph = CHAIN NODE("gradients/c", "Neg", IN("a")) NODE("save/c", "Neg", IN("a"))},
                 "input \"in:0\" float32[2]\n"
                 "node \"a\" Neg (\"in:0\") -> \"a:0\"\n"
                 "node \"b\" Abs (\"a:0\") -> \"b:0\"\n"
                 "output \"b:0\"\n");
}
END_TEST

/* A node has outputs up to the highest one that is read. */
START_TEST(test_outputs_of_nodes)
{
    expect_graph(&(struct example){.graph = PLACEHOLDER("in", "DT_FLOAT") NODE("s", "Unpack", IN("in"))
                                       NODE("end", "Sub", IN("s:2") IN("s")),
                                   .outputs = {"end"}},
                 "input \"in:0\" float32[2]\n"
                 "node \"s\" Unpack (\"in:0\") -> \"s:0\", \"s:1\", \"s:2\"\n"
                 "node \"end\" Sub (\"s:2\", \"s:0\") -> \"end:0\"\n"
                 "output \"end:0\"\n");
}
END_TEST

/* Before a value that an option makes an input, nothing is looked at. */
START_TEST(test_cut_values)
{
    expect_graph(&(struct example){.graph = NODE("broken", "Neg", IN("gone") ATTR("T", "type: DT_HALF"))
                                       NODE("end", "Exp", IN("broken")),
                                   .outputs = {"end"},
                                   .cut = "broken"},
                 "input \"broken:0\" float16[unknown rank]\n"
                 "node \"end\" Exp (\"broken:0\") -> \"end:0\"\n"
                 "output \"end:0\"\n");
}
END_TEST

START_TEST(test_a_cycle)
{
    expect_error(&(struct example){.graph = NODE("a", "Neg", IN("b")) NODE("b", "Abs", IN("a")), .outputs = {"b"}},
                 ODLC_ERR_INVALID, "tensorflow-cycle", "b", "node b needs its own result");
}
END_TEST

START_TEST(test_inputs_that_are_not_there)
{
    expect_error(&(struct example){.graph = NODE("a", "Neg", IN("gone")), .outputs = {"a"}}, ODLC_ERR_INVALID,
                 "tensorflow-input", "a", "a reads gone, which is no node of the graph");
}
END_TEST

START_TEST(test_second_output_of_an_input)
{
    expect_error(&(struct example){.graph = CHAIN NODE("c", "Sub", IN("in") IN("in:1")), .outputs = {"c"}},
                 ODLC_ERR_INVALID, "tensorflow-input", "in", "in:1 is read, but the node has one output");
}
END_TEST

START_TEST(test_what_nothing_needs_is_listed)
{
    struct fw_model *m;
    const struct example e = {.graph = CHAIN NODE("c", "Neg", IN("a")), .outputs = {"a"}};
    ck_assert_int_eq(normalized_model(&e, &m), ODLC_OK);
    ck_assert_uint_eq(m->unconsumed.count, 2);
    ck_assert_str_eq(m->unconsumed.data[0], "b");
    ck_assert_str_eq(m->unconsumed.data[1], "c");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_only_what_is_needed,
        test_a_node_stands_once,
        test_outputs_nobody_named,
        test_outputs_of_nodes,
        test_cut_values,
        test_a_cycle,
        test_inputs_that_are_not_there,
        test_second_output_of_an_input,
        test_what_nothing_needs_is_listed,
    };
    return run_tests("prune", tests, COUNT_OF(tests));
}
