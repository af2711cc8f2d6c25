/* SPDX-License-Identifier: Apache-2.0 */
/* The third stage: the cycles of TensorFlow 1's loops become While. */
#include "normalized.h"

#define ENTER(name, input, frame) NODE(name, "Enter", IN(input) ATTR("frame_name", "s: '" frame "'"))
#define ENTER_CONSTANT(name, input, frame) \
    NODE(name, "Enter", IN(input) ATTR("frame_name", "s: '" frame "'") ATTR("is_constant", "b: true"))

/* i = 0; while (i < n) i += step; where n comes in from around the loop and step stands in it. */
#define COUNTING                                                          \
    NODE("zero", "Const", SCALAR("DT_INT32", "int_val: 0"))               \
    NODE("n", "Placeholder", ATTR("dtype", "type: DT_INT32"))             \
    ENTER("enter", "zero", "loop")                                        \
    ENTER_CONSTANT("limit", "n", "loop")                                  \
    NODE("i", "Merge", IN("enter") IN("next"))                            \
    NODE("less", "Less", IN("i") IN("limit"))                             \
    NODE("cond", "LoopCond", IN("less"))                                  \
    NODE("switch", "Switch", IN("i") IN("cond"))                          \
    NODE("step", "Const", IN("^switch") SCALAR("DT_INT32", "int_val: 3")) \
    NODE("add", "AddV2", IN("switch:1") IN("step"))                       \
    NODE("next", "NextIteration", IN("add"))                              \
    NODE("exit", "Exit", IN("switch"))

START_TEST(test_a_cycle_becomes_while)
{
    expect_graph(&(struct example){.graph = COUNTING NODE("end", "Neg", IN("exit")),
                                   .n_stages = UP_TO_LOOPS,
                                   .outputs = {"end"}},
                 "input \"n:0\" int32[unknown rank]\n"
                 "const \"zero:0\" int32[] {0}\n"
                 "const \"step:0\" int32[] {3}\n"
                 "node \"cond\" While (\"zero:0\") {cond={\n"
                 "  input \"i:0\" ?[unknown rank]\n"
                 "  node \"less\" Less (\"i:0\", \"n:0\") -> \"less:0\"\n"
                 "  output \"less:0\"\n"
                 "}, body={\n"
                 "  input \"i:0\" ?[unknown rank]\n"
                 "  node \"add\" AddV2 (\"i:0\", \"step:0\") -> \"add:0\"\n"
                 "  output \"add:0\"\n"
                 "}} -> \"cond:0\"\n"
                 "node \"exit\" Exit (\"cond:0\") -> \"exit:0\"\n"
                 "node \"end\" Neg (\"exit:0\") -> \"end:0\"\n"
                 "output \"end:0\"\n");
}
END_TEST

/* Without the stage it stays a cycle, which is none of the graph's. */
START_TEST(test_before_the_stage_it_is_a_cycle)
{
    expect_error(&(struct example){.graph = COUNTING NODE("end", "Neg", IN("exit")),
                                   .n_stages = UP_TO_VARIABLES,
                                   .outputs = {"end"}},
                 ODLC_ERR_INVALID, "tensorflow-cycle", "switch", "node switch needs its own result");
}
END_TEST

/* A second variable, of which no Exit is read, is of the loop as long as the first one needs it. */
#define SECOND(name, reads)                                    \
    ENTER(name "_enter", "zero", "loop")                       \
    NODE(name, "Merge", IN(name "_enter") IN(name "_next"))    \
    NODE(name "_switch", "Switch", IN(name) IN("cond"))        \
    NODE(name "_sum", "AddV2", IN(name "_switch:1") IN(reads)) \
    NODE(name "_next", "NextIteration", IN(name "_sum"))       \
    NODE(name "_exit", "Exit", IN(name "_switch"))

START_TEST(test_variables_that_are_needed)
{
    expect_graph(&(struct example){.graph = COUNTING SECOND("j", "switch:1") SECOND("unread", "switch:1")
                                       NODE("end", "Neg", IN("j_exit")),
                                   .n_stages = UP_TO_LOOPS,
                                   .outputs = {"end"}},
                 "input \"n:0\" int32[unknown rank]\n"
                 "const \"zero:0\" int32[] {0}\n"
                 "const \"step:0\" int32[] {3}\n"
                 "node \"cond\" While (\"zero:0\", \"zero:0\") {cond={\n"
                 "  input \"i:0\" ?[unknown rank]\n"
                 "  input \"j:0\" ?[unknown rank]\n"
                 "  node \"less\" Less (\"i:0\", \"n:0\") -> \"less:0\"\n"
                 "  output \"less:0\"\n"
                 "}, body={\n"
                 "  input \"i:0\" ?[unknown rank]\n"
                 "  input \"j:0\" ?[unknown rank]\n"
                 "  node \"add\" AddV2 (\"i:0\", \"step:0\") -> \"add:0\"\n"
                 "  node \"j_sum\" AddV2 (\"j:0\", \"i:0\") -> \"j_sum:0\"\n"
                 "  output \"add:0\"\n"
                 "  output \"j_sum:0\"\n"
                 "}} -> \"cond:0\", \"cond:1\"\n"
                 "node \"j_exit\" Exit (\"cond:1\") -> \"j_exit:0\"\n"
                 "node \"end\" Neg (\"j_exit:0\") -> \"end:0\"\n"
                 "output \"end:0\"\n");
}
END_TEST

START_TEST(test_what_an_exit_leaves)
{
    expect_error(&(struct example){.graph = PLACEHOLDER("in", "DT_FLOAT") NODE("exit", "Exit", IN("in"))
                                       NODE("end", "Neg", IN("exit")),
                                   .n_stages = UP_TO_LOOPS,
                                   .outputs = {"end"}},
                 ODLC_ERR_INVALID, "tensorflow-loop", "exit", "it leaves no loop");
}
END_TEST

START_TEST(test_values_inside_of_a_loop)
{
    expect_error(
        &(struct example){.graph = COUNTING NODE("end", "Neg", IN("add")), .n_stages = UP_TO_LOOPS, .outputs = {"end"}},
        ODLC_ERR_INVALID, "tensorflow-loop", "i",
        "it reads from inside of a loop, of which only an Exit gives something");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_a_cycle_becomes_while, test_before_the_stage_it_is_a_cycle, test_variables_that_are_needed,
        test_what_an_exit_leaves,   test_values_inside_of_a_loop,
    };
    return run_tests("while_loops", tests, COUNT_OF(tests));
}
