/* SPDX-License-Identifier: Apache-2.0 */
/* The fourth stage: Merges of TensorFlow 1's conditionals get what decides, and their sides. */
#include "normalized.h"

#define INPUTS PLACEHOLDER("x", "DT_FLOAT") PLACEHOLDER("p", "DT_BOOL") PLACEHOLDER("q", "DT_BOOL")
#define SWITCHED INPUTS NODE("switch", "Switch", IN("x") IN("p")) NODE("neg", "Neg", IN("switch"))

static void expect(const char *graph, const char *expected)
{
    expect_graph(&(struct example){.graph = graph, .n_stages = UP_TO_CONDITIONALS, .outputs = {"m"}}, expected);
}

/* The head of all of these graphs. */
#define SWITCHED_TEXT(more)                                                                                    \
    "input \"x:0\" float32[2]\n"                                                                               \
    "input \"p:0\" bool[2]\n" more "node \"switch\" Switch (\"x:0\", \"p:0\") -> \"switch:0\", \"switch:1\"\n" \
    "node \"neg\" Neg (\"switch:0\") conditional -> \"neg:0\"\n"

static const char two_sides[] = SWITCHED NODE("abs", "Abs", IN("switch:1")) NODE("m", "Merge", IN("neg") IN("abs"));

START_TEST(test_two_sides)
{
    expect(two_sides, SWITCHED_TEXT("") "node \"abs\" Abs (\"switch:1\") conditional -> \"abs:0\"\n"
                                        "node \"m\" Merge (\"neg:0\", \"abs:0\", \"p:0\") {__sides=[0, 1]} -> \"m:0\"\n"
                                        "output \"m:0\"\n");
}
END_TEST

START_TEST(test_before_the_stage_nothing_decides)
{
    expect_graph(&(struct example){.graph = two_sides, .n_stages = UP_TO_LOOPS, .outputs = {"m"}},
                 "input \"x:0\" float32[2]\n"
                 "input \"p:0\" bool[2]\n"
                 "node \"switch\" Switch (\"x:0\", \"p:0\") -> \"switch:0\", \"switch:1\"\n"
                 "node \"neg\" Neg (\"switch:0\") -> \"neg:0\"\n"
                 "node \"abs\" Abs (\"switch:1\") -> \"abs:0\"\n"
                 "node \"m\" Merge (\"neg:0\", \"abs:0\") -> \"m:0\"\n"
                 "output \"m:0\"\n");
}
END_TEST

/* What a branch gives may be one constant: its pivot, a control input, says which branch that is. */
START_TEST(test_constants_of_a_branch)
{
    expect(SWITCHED NODE("pivot", "Identity", IN("switch:1"))
               NODE("c", "Const", IN("^pivot") SCALAR("DT_FLOAT", "float_val: 7"))
                   NODE("m", "Merge", IN("neg") IN("c")),
           SWITCHED_TEXT(
               "const \"c:0\" float32[] {7}\n") "node \"pivot\" Identity (\"switch:1\") conditional -> \"pivot:0\"\n"
                                                "node \"c\" IdentityN (\"^c:0\", \"pivot:0\") -> \"c:0\"\n"
                                                "node \"m\" Merge (\"neg:0\", \"c:0\", \"p:0\") {__sides=[0, 1]} -> "
                                                "\"m:0\"\n"
                                                "output \"m:0\"\n");
}
END_TEST

START_TEST(test_conditionals_within_conditionals)
{
    expect(SWITCHED NODE("inner", "Switch", IN("switch:1") IN("q")) NODE("a", "Abs", IN("inner:1"))
               NODE("b", "Exp", IN("inner")) NODE("i", "Merge", IN("a") IN("b")) NODE("m", "Merge", IN("i") IN("neg")),
           "input \"x:0\" float32[2]\n"
           "input \"p:0\" bool[2]\n"
           "input \"q:0\" bool[2]\n"
           "node \"switch\" Switch (\"x:0\", \"p:0\") -> \"switch:0\", \"switch:1\"\n"
           "node \"inner\" Switch (\"switch:1\", \"q:0\") conditional -> \"inner:0\", \"inner:1\"\n"
           "node \"a\" Abs (\"inner:1\") conditional -> \"a:0\"\n"
           "node \"b\" Exp (\"inner:0\") conditional -> \"b:0\"\n"
           "node \"i\" Merge (\"a:0\", \"b:0\", \"q:0\") {__sides=[1, 0]} conditional -> \"i:0\"\n"
           "node \"neg\" Neg (\"switch:0\") conditional -> \"neg:0\"\n"
           "node \"m\" Merge (\"i:0\", \"neg:0\", \"p:0\") {__sides=[1, 0]} -> \"m:0\"\n"
           "output \"m:0\"\n");
}
END_TEST

/* Two Switches are of one conditional when they decide by one value, whatever names it goes by. */
START_TEST(test_other_names_of_what_decides)
{
    expect(SWITCHED NODE("same", "Identity", IN("p")) NODE("other", "Switch", IN("x") IN("same"))
               NODE("abs", "Abs", IN("other:1")) NODE("m", "Merge", IN("neg") IN("abs")),
           "input \"x:0\" float32[2]\n"
           "input \"p:0\" bool[2]\n"
           "node \"switch\" Switch (\"x:0\", \"p:0\") -> \"switch:0\"\n"
           "node \"neg\" Neg (\"switch:0\") conditional -> \"neg:0\"\n"
           "node \"same\" Identity (\"p:0\") -> \"same:0\"\n"
           "node \"other\" Switch (\"x:0\", \"same:0\") -> \"other:0\", \"other:1\"\n"
           "node \"abs\" Abs (\"other:1\") conditional -> \"abs:0\"\n"
           "node \"m\" Merge (\"neg:0\", \"abs:0\", \"p:0\") {__sides=[0, 1]} -> \"m:0\"\n"
           "output \"m:0\"\n");
}
END_TEST

/* What needs both sides never arrives. */
START_TEST(test_values_that_never_arrive)
{
    expect(SWITCHED NODE("both", "AddV2", IN("switch") IN("switch:1")) NODE("m", "Merge", IN("neg") IN("both")),
           SWITCHED_TEXT("") "node \"both\" AddV2 (\"switch:0\", \"switch:1\") conditional -> \"both:0\"\n"
                             "node \"m\" Merge (\"neg:0\", \"both:0\") {__sides=[0, -1]} conditional -> \"m:0\"\n"
                             "output \"m:0\"\n");
}
END_TEST

START_TEST(test_values_of_no_conditional)
{
    expect(SWITCHED NODE("m", "Merge", IN("neg") IN("x")),
           "input \"x:0\" float32[2]\n"
           "input \"p:0\" bool[2]\n"
           "node \"switch\" Switch (\"x:0\", \"p:0\") -> \"switch:0\"\n"
           "node \"neg\" Neg (\"switch:0\") conditional -> \"neg:0\"\n"
           "node \"m\" Merge (\"neg:0\", \"x:0\") {__sides=[0, 0]} conditional -> \"m:0\"\n"
           "output \"m:0\"\n");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_two_sides,
        test_before_the_stage_nothing_decides,
        test_constants_of_a_branch,
        test_conditionals_within_conditionals,
        test_other_names_of_what_decides,
        test_values_that_never_arrive,
        test_values_of_no_conditional,
    };
    return run_tests("conditionals", tests, COUNT_OF(tests));
}
