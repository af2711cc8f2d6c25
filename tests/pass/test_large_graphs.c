/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of many nodes, operands, readers and outputs: what they take of memory, and that no step of building them or
 * of a pass grows with the square of any of these or follows a chain by recursion. A step that did would need more
 * processor time, or more of the stack, than a test may take: both are as small as the graphs are. With ODLC_LONG=1
 * these are four times as large. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/pages.h"
#include "pass/pass.h"
#include "tests/support/share.h"

enum { USUAL = 25000, ALL = 100000, NODE_BYTES = 300, CHUNKS = 2 * 256 * 1024 };
enum { STACK_OF_NODE = 80, NODES_A_SECOND = 500 }; /* what may be used at most */

static uint32_t many;
static struct arena *arena, *scratch;
static struct diags diags;
static struct pass_options options;
static struct graph *g;
static struct build b;
static const struct type vector = {DT_FLOAT32, {.rank = 1, .dims = {4}}};

static void start(void)
{
    many = tries_all() ? ALL : USUAL;
    leave_out(1, 1, "graphs of 100000 nodes");
    const struct rlimit stack = {many * STACK_OF_NODE, many * STACK_OF_NODE};
    const struct rlimit seconds = {many / NODES_A_SECOND, many / NODES_A_SECOND};
    ck_assert_int_eq(setrlimit(RLIMIT_STACK, &stack) | setrlimit(RLIMIT_CPU, &seconds), 0);
    arena = arena_create();
    scratch = arena_create();
    diags_init(&diags, arena);
    options = (struct pass_options){0};
    g = graph_create(arena, "large");
    build_init(&b, g, &diags);
}

static void stop(void)
{
    arena_destroy(scratch);
    arena_destroy(arena);
}

static void must(odlc_status status)
{
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
}

static tensor_id add_input(const char *name, const struct type *type)
{
    tensor_id id = graph_add_tensor(g, name, TENSOR_INPUT, type);
    vec_push(arena, &g->inputs, id);
    return id;
}

static void add_output(tensor_id id)
{
    graph_tensor(g, id)->kind = TENSOR_OUTPUT;
    vec_push(arena, &g->outputs, id);
}

static const char *numbered(const char *stem, uint32_t i)
{
    return arena_printf(arena, "%s%u", stem, i);
}

static void run_passes(void)
{
    struct pass_context context = {.scratch = scratch, .diags = &diags, .options = &options};
    must(pass_run_all(&context, g));
}

/* With AddressSanitizer each block of an arena has a head, which makes it larger. */
static void check_size(size_t limit)
{
    if (!ADDRESS_SANITIZER)
        ck_assert_uint_le(arena_size(arena), limit + CHUNKS);
}

START_TEST(nodes_are_small)
{
    tensor_id x = add_input("x", &vector);
    for (uint32_t i = 0; i < many; i++)
        must(build_unary(&b, i % 2 ? OP_Relu : OP_ElementWiseNeg, x, numbered("tensor", i), &x));
    add_output(x);
    check_size(many * NODE_BYTES);
    ck_assert_uint_eq(g->types.count, 1);
    size_t before = arena_size(arena);
    run_passes();
    ck_assert_uint_eq(g->order.count, many);
    ck_assert_uint_le(arena_size(arena), before + CHUNKS);
    ck_assert_uint_le(arena_size(scratch), CHUNKS); /* what passes note goes with them */
}
END_TEST

START_TEST(constants_are_not_copied)
{
    static const float values[1024];
    struct shape shape = SHAPE(1024);
    struct view view = view_of(values, DT_FLOAT32, &shape);
    tensor_id x = add_input("x", &(struct type){DT_FLOAT32, shape});
    for (uint32_t i = 0; i < many; i++) {
        tensor_id c = graph_add_constant(g, numbered("c", i), DT_FLOAT32, &view);
        must(build_binary(&b, OP_ElementWiseAdd, x, c, numbered("y", i), &x));
    }
    add_output(x);
    check_size(many * 2 * NODE_BYTES);
    run_passes();
    ck_assert_uint_eq(g->order.count, many);
}
END_TEST

/* All want the name of the first. */
START_TEST(equal_names_get_numbers)
{
    tensor_id x = add_input("x", &vector);
    for (uint32_t i = 0; i < many; i++)
        must(build_unary(&b, OP_Relu, x, "x", &x));
    add_output(x);
    char last[16];
    snprintf(last, sizeof last, "x.%u", many);
    ck_assert_str_eq(graph_tensor(g, x)->name, last);
    run_passes();
    ck_assert_uint_eq(g->order.count, many);
}
END_TEST

/* One tensor is read by all nodes and, all at once, by one of them; all results are graph outputs behind a copy. */
START_TEST(many_readers_and_outputs)
{
    tensor_id x = add_input("x", &vector), y;
    for (uint32_t i = 0; i < many; i++) {
        must(build_unary(&b, OP_Relu, x, NULL, &y));
        add_output(build_copy(g, y, numbered("out", i)));
    }
    build_op(&b, OP_Concat, "all");
    build_int(&b, PARAM_axis, 0);
    for (uint32_t i = 0; i < many; i++)
        build_in(&b, x);
    must(build_end(&b, "all", &y));
    add_output(y);
    run_passes();
    ck_assert_uint_eq(g->order.count, many + 1); /* the copies are gone, and their names are with the results */
    for (uint32_t i = 0; i < many; i++)
        ck_assert(strcmp(graph_tensor(g, g->outputs.data[i])->name, numbered("out", i)) == 0);
}
END_TEST

/* Each input of a type that is kept gets a Cast in front of the graph. */
START_TEST(many_inputs_are_kept)
{
    const struct type wide = {DT_INT64, SHAPE(1)};
    options.preserve_dtype = true;
    tensor_id *inputs = arena_array(arena, tensor_id, many), y;
    for (uint32_t i = 0; i < many; i++)
        inputs[i] = add_input(numbered("in", i), &wide);
    build_op(&b, OP_Concat, "all");
    build_int(&b, PARAM_axis, 0);
    for (uint32_t i = 0; i < 2 * many; i++)
        build_in(&b, inputs[i % many < 10 ? 0 : i % many]);
    must(build_end(&b, "all", &y));
    add_output(y);
    run_passes();
    ck_assert_uint_eq(g->order.count, many - 9 + 2); /* nine inputs are not read */
    const struct node *first = graph_node(g, g->order.data[0]);
    ck_assert(node_is(first, OP_Cast));
    ck_assert_str_eq(node_input(g, first, 0)->name, numbered("in", many - 1));
}
END_TEST

START_TEST(chains_of_moves)
{
    const struct perm swap = PERM(1, 0, 2);
    const struct shape a = SHAPE(2, 3, 4), c = SHAPE(6, 4), back = SHAPE(3, 2, 4);
    tensor_id x = add_input("x", &(struct type){DT_FLOAT32, a});
    for (uint32_t i = 0; i < many; i++)
        must(build_transpose(&b, x, &swap, NULL, &x));
    for (uint32_t i = 0; i < many / 2; i++) {
        must(build_reshape(&b, x, &c, NULL, &x));
        must(build_reshape(&b, x, i % 2 ? &back : &a, NULL, &x));
    }
    must(build_unary(&b, OP_Relu, x, "y", &x));
    add_output(x);
    run_passes();
    ck_assert_uint_eq(g->order.count, 2); /* the Transposes cancel out, and the Reshapes are one */
}
END_TEST

/* Layout Transposes around every op of a chain and of a wide join, as lowering puts them. */
START_TEST(layouts_of_many_operands)
{
    const struct type image = {DT_FLOAT32, SHAPE(1, 2, 3, 4)};
    tensor_id x = add_input("x", &image), last;
    tensor_id *parts = arena_array(arena, tensor_id, many);
    for (uint32_t i = 0; i < many; i++) {
        must(build_to_channels_last(&b, x, &last));
        must(build_unary(&b, OP_Relu, last, NULL, &last));
        must(build_to_channels_first(&b, last, numbered("part", i), &parts[i]));
    }
    build_op(&b, OP_Concat, "all");
    build_int(&b, PARAM_axis, 1);
    for (uint32_t i = 0; i < many; i++)
        build_in(&b, parts[i]);
    must(build_end(&b, "all", &x));
    add_output(x);
    run_passes();
    ck_assert_uint_eq(g->order.count, many + 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("large graphs");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, start, stop);
    tcase_add_test(all, nodes_are_small);
    tcase_add_test(all, constants_are_not_copied);
    tcase_add_test(all, equal_names_get_numbers);
    tcase_add_test(all, many_readers_and_outputs);
    tcase_add_test(all, many_inputs_are_kept);
    tcase_add_test(all, chains_of_moves);
    tcase_add_test(all, layouts_of_many_operands);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
