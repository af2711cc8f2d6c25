/* SPDX-License-Identifier: Apache-2.0 */
/* The first stage: calls of functions are seen through. */
#include "normalized.h"

#define CALL(name, input, function) NODE(name, "PartitionedCall", IN(input) ATTR("f", "func { name: '" function "' }"))
#define RELU_OF_X FUNCTION("relu", ARG("x"), RESULT("y"), NODE_DEF("r", "Relu", IN("x")) RET("y", "r:activations:0"))

static void expect(const char *graph, const char *expected)
{
    expect_graph(&(struct example){.graph = graph, .n_stages = UP_TO_CALLS, .outputs = {"end"}}, expected);
}

START_TEST(test_a_call_is_what_its_function_does)
{
    expect(PLACEHOLDER("in", "DT_FLOAT") CALL("a", "in", "relu") CALL("b", "a:0", "relu")
               NODE("end", "Neg", IN("b")) "library { " RELU_OF_X "}",
           "input \"in:0\" float32[2]\n"
           "node \"a/r\" Relu (\"in:0\") -> \"a/r:0\"\n"
           "node \"b/r\" Relu (\"a/r:0\") -> \"b/r:0\"\n"
           "node \"end\" Neg (\"b/r:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

START_TEST(test_the_operator_may_be_the_function)
{
    expect(PLACEHOLDER("in", "DT_FLOAT") NODE("a", "relu", IN("in")) NODE("end", "Neg", IN("a")) "library { " RELU_OF_X
                                                                                                 "}",
           "input \"in:0\" float32[2]\n"
           "node \"a/r\" Relu (\"in:0\") -> \"a/r:0\"\n"
           "node \"end\" Neg (\"a/r:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

START_TEST(test_calls_within_calls)
{
    expect(PLACEHOLDER("in", "DT_FLOAT") CALL("a", "in", "outer")
               NODE("end", "Neg", IN("a")) "library { " RELU_OF_X FUNCTION(
                   "outer", ARG("x"), RESULT("y"),
                   NODE_DEF("i", "relu", IN("x")) NODE_DEF("n", "Abs", IN("i:y:0")) RET("y", "n:y:0")) "}",
           "input \"in:0\" float32[2]\n"
           "node \"a/i/r\" Relu (\"in:0\") -> \"a/i/r:0\"\n"
           "node \"a/n\" Abs (\"a/i/r:0\") -> \"a/n:0\"\n"
           "node \"end\" Neg (\"a/n:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

/* An argument that is a result is what the call reads. The output of a call keeps its name. */
START_TEST(test_arguments_that_are_passed_on)
{
    expect_graph(&(struct example){.graph = PLACEHOLDER("in", "DT_FLOAT") NODE("n", "Neg", IN("in"))
                                       NODE("a", "swap", IN("in") IN("n"))
                                           NODE("end", "Sub", IN("a") IN("a:1")) "library { " FUNCTION(
                                               "swap", ARG("p") ARG("q"), RESULT("u") RESULT("v"),
                                               RET("u", "q") RET("v", "p")) "}",
                                   .n_stages = UP_TO_CALLS,
                                   .outputs = {"end", "a:0"}},
                 "input \"in:0\" float32[2]\n"
                 "node \"n\" Neg (\"in:0\") -> \"n:0\"\n"
                 "node \"end\" Sub (\"n:0\", \"in:0\") -> \"end:0\"\n"
                 "node \"a\" Identity (\"n:0\") -> \"a:0\"\n"
                 "output \"end:0\"\n"
                 "output \"a:0\"\n");
}
END_TEST

/* Attributes inside of a function may be those of the call. */
START_TEST(test_attributes_of_the_call)
{
    expect(PLACEHOLDER("in", "DT_FLOAT") NODE("a", "leaky", IN("in") ATTR("slope", "f: 0.25"))
               NODE("b", "leaky", IN("a") ATTR("slope", "f: 0.5")) NODE("end", "Neg", IN("b")) "library { " FUNCTION(
                   "leaky", ARG("x"), RESULT("y"),
                   NODE_DEF("r", "LeakyRelu", IN("x") ATTR("alpha", "placeholder: 'slope'"))
                       RET("y", "r:activations:0")) "}",
           "input \"in:0\" float32[2]\n"
           "node \"a/r\" LeakyRelu (\"in:0\") {alpha=0.25} -> \"a/r:0\"\n"
           "node \"b/r\" LeakyRelu (\"a/r:0\") {alpha=0.5} -> \"b/r:0\"\n"
           "node \"end\" Neg (\"b/r:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

/* Branches are graphs that their node holds, with inputs of their own. */
START_TEST(test_functions_that_nodes_hold)
{
    expect(PLACEHOLDER("p", "DT_BOOL") PLACEHOLDER("in", "DT_FLOAT")
               NODE("if", "StatelessIf",
                    IN("p") IN("in") ATTR("then_branch", "func { name: 'relu' }")
                        ATTR("else_branch", "func { name: 'same' }"))
                   NODE("end", "Neg", IN("if")) "library { " RELU_OF_X FUNCTION("same", ARG("z"), RESULT("y"),
                                                                                RET("y", "z")) "}",
           "input \"p:0\" bool[2]\n"
           "input \"in:0\" float32[2]\n"
           "node \"if\" StatelessIf (\"p:0\", \"in:0\") {then_branch={\n"
           "  input \"x:0\" ?[unknown rank]\n"
           "  node \"r\" Relu (\"x:0\") -> \"r:0\"\n"
           "  output \"r:0\"\n"
           "}, else_branch={\n"
           "  input \"z:0\" ?[unknown rank]\n"
           "  output \"z:0\"\n"
           "}} -> \"if:0\"\n"
           "node \"end\" Neg (\"if:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

START_TEST(test_a_claimed_function_stays_a_node)
{
    claimed = "relu";
    expect(PLACEHOLDER("in", "DT_FLOAT") NODE("a", "relu", IN("in")) NODE("end", "Neg", IN("a")) "library { " RELU_OF_X
                                                                                                 "}",
           "input \"in:0\" float32[2]\n"
           "node \"a\" relu (\"in:0\") -> \"a:0\"\n"
           "node \"end\" Neg (\"a:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

START_TEST(test_a_function_that_calls_itself)
{
    expect_error(&(struct example){.graph = PLACEHOLDER("in", "DT_FLOAT") NODE("a", "self", IN("in"))
                                       NODE("end", "Neg", IN("a")) "library { " FUNCTION(
                                           "self", ARG("x"), RESULT("y"),
                                           NODE_DEF("again", "self", IN("x")) RET("y", "again:y:0")) "}",
                                   .n_stages = UP_TO_CALLS,
                                   .outputs = {"end"}},
                 ODLC_ERR_INVALID, "tensorflow-recursion", "again", "function self calls itself");
}
END_TEST

START_TEST(test_a_result_that_is_not_there)
{
    expect_error(&(struct example){.graph = PLACEHOLDER("in", "DT_FLOAT") NODE("a", "relu", IN("in"))
                                       NODE("end", "Neg", IN("a:1")) "library { " RELU_OF_X "}",
                                   .n_stages = UP_TO_CALLS,
                                   .outputs = {"end"}},
                 ODLC_ERR_INVALID, "tensorflow-input", "end", "end reads a, a call that does not give so many results");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_a_call_is_what_its_function_does, test_the_operator_may_be_the_function, test_calls_within_calls,
        test_arguments_that_are_passed_on,     test_attributes_of_the_call,           test_functions_that_nodes_hold,
        test_a_claimed_function_stays_a_node,  test_a_function_that_calls_itself,     test_a_result_that_is_not_there,
    };
    return run_tests("inline_calls", tests, COUNT_OF(tests));
}
