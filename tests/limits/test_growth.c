/* SPDX-License-Identifier: Apache-2.0 */
/* What a conversion may make that is in no file of its model (ir/growth.h): one less than a limit passes, one more does
 * not, before anything is made. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlc/record.h"
#include "build/build.h"

enum { PAGE = 1 << 20 };

static struct arena *arena;
static struct diags diags;
static struct graph *graph;
static struct build build;

static void start(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
    graph = graph_create(arena, "limits");
    build_init(&build, graph, &diags);
}

static void end(void)
{
    arena_destroy(arena);
}

static const char *last_code(void)
{
    ck_assert_uint_gt(diags.list.count, 0);
    return diags.list.data[diags.list.count - 1].code;
}

static const char *last_message(void)
{
    ck_assert_uint_gt(diags.list.count, 0);
    return diags.list.data[diags.list.count - 1].message;
}

/* ---- the numbers ---- */

START_TEST(limits_follow_the_model)
{
    const struct growth none = {0}, some = {.model_bytes = 10, .model_nodes = 3};
    const struct growth huge = {.model_bytes = UINT64_MAX, .model_nodes = UINT64_MAX};
    ck_assert_uint_eq(growth_memory(&none), UINT64_C(1) << 30);
    ck_assert_uint_eq(growth_payload(&none), UINT64_C(2) << 30);
    ck_assert_uint_eq(growth_nodes(&none), 524288);
    ck_assert_uint_eq(growth_memory(&some), (UINT64_C(1) << 30) + 640);
    ck_assert_uint_eq(growth_payload(&some), (UINT64_C(2) << 30) + 160);
    ck_assert_uint_eq(growth_nodes(&some), 524288 + 192);
    ck_assert_uint_eq(growth_memory(&huge), UINT64_MAX);
    ck_assert_uint_eq(growth_nodes(&huge), UINT64_MAX);
}
END_TEST

START_TEST(folding_is_counted)
{
    const uint64_t bytes = UINT64_C(512) << 20, work = UINT64_C(2) << 30;
    struct growth g = {0};
    ck_assert(growth_fold(&g, bytes, 1));
    ck_assert(!growth_fold(&g, 4097, 1));
    ck_assert_uint_eq(g.folded, bytes);
    g = (struct growth){.folded = bytes - 5000};
    ck_assert(!growth_fold(&g, 5001, 1));
    ck_assert(growth_fold(&g, 5000, 1));
    ck_assert(growth_fold(&g, 4096, 4096)); /* shapes always are */
    ck_assert(!growth_fold(&g, 4097, 1));
    g = (struct growth){.worked = work - 5000};
    ck_assert(!growth_fold(&g, 1, 5001));
    ck_assert(growth_fold(&g, 1, 5000));
    ck_assert(!growth_fold(&g, 1, UINT64_MAX));
    g = (struct growth){.model_bytes = 1, .folded = bytes, .worked = work};
    ck_assert(!growth_fold(&g, 8, 64 + 4097));
    g.model_bytes = 1000;
    ck_assert(growth_fold(&g, 128000, 64000));
    ck_assert(!growth_fold(&g, 128000, 64000));
}
END_TEST

/* ---- memory ---- */

/* Three blocks of two arenas, whichever asks for the fourth; one that goes leaves room for others. */
START_TEST(arenas_keep_their_budget)
{
    struct arena *volatile first = arena_create(), *volatile second = arena_create();
    struct arena_budget budget = {.most = arena_size(first) + arena_size(second) + 3 * PAGE + PAGE / 2};
    volatile int made = 0;
    arena_share(first, &budget);
    arena_share(second, &budget);
    ck_assert_uint_eq(budget.used, arena_size(first) + arena_size(second));
    if (setjmp(*arena_catch(first)) == 0 && setjmp(*arena_catch(second)) == 0)
        while (made < 10) {
            arena_alloc(made % 2 ? first : second, PAGE);
            made++;
        }
    ck_assert_int_eq(made, 3);
    ck_assert(budget.reached);
    ck_assert_uint_eq(budget.used, arena_size(first) + arena_size(second));
    arena_destroy(first);
    ck_assert_uint_eq(budget.used, arena_size(second));
    arena_alloc(second, PAGE);
    arena_destroy(second);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(what_is_given_back_does_not_count)
{
    struct arena *limited = arena_create();
    size_t before = arena_size(limited);
    struct arena_budget budget = {.most = before + PAGE + PAGE / 2};
    arena_share(limited, &budget);
    for (int i = 0; i < 100; i++) {
        struct arena_mark mark = arena_mark(limited);
        char *bytes = arena_grow(limited, arena_alloc(limited, PAGE / 2), PAGE / 2, PAGE);
        bytes[PAGE - 1] = 1;
        for (int k = 0; k < 100; k++)
            arena_alloc(limited, 1000);
        arena_rewind(limited, mark);
    }
    ck_assert_uint_le(arena_size(limited), before + PAGE / 2); /* a chunk is kept */
    ck_assert_uint_eq(budget.used, arena_size(limited));
    arena_destroy(limited);
}
END_TEST

/* ---- nodes ---- */

static odlc_status add_relu(tensor_id in)
{
    tensor_id out;
    build_op(&build, OP_Relu, NULL);
    build_in(&build, in);
    return build_end(&build, NULL, &out);
}

START_TEST(a_graph_has_so_many_nodes)
{
    const struct type type = {.dtype = DT_FLOAT32, .shape = SHAPE(1)};
    tensor_id in = graph_add_tensor(graph, "x", TENSOR_INPUT, &type);
    ck_assert_int_eq(add_relu(in), ODLC_OK);
    /* nodes that were there, as far as the count is asked */
    graph->nodes.capacity = graph->nodes.count = NODES_ALLOWANCE;
    graph->nodes.data = arena_array(arena, struct node, NODES_ALLOWANCE);
    ck_assert_int_eq(add_relu(in), ODLC_ERR_LIMIT);
    ck_assert_str_eq(last_code(), "graph-size");
    ck_assert_str_eq(last_message(), "the model becomes more than 524288 nodes");
    graph->nodes.count--;
    ck_assert_int_eq(add_relu(in), ODLC_OK);
    ck_assert_int_eq(add_relu(in), ODLC_ERR_LIMIT);
    graph->growth.model_nodes = 1; /* 64 more */
    for (int i = 0; i < 64; i++)
        ck_assert_int_eq(add_relu(in), ODLC_OK);
    ck_assert_int_eq(add_relu(in), ODLC_ERR_LIMIT);
}
END_TEST

/* ---- folding ---- */

/* Whether op of so many constant ones is a constant. */
static bool folds(enum op_id op, int64_t count)
{
    struct view ones = view_splat_float(arena, DT_FLOAT32, &SHAPE(count), 1);
    tensor_id out;
    ck_assert_int_eq(build_unary(&build, op, graph_add_constant(graph, "ones", DT_FLOAT32, &ones), NULL, &out),
                     ODLC_OK);
    return build_is_const(&build, out);
}

START_TEST(large_constants_stay_nodes)
{
    const int64_t most = FOLD_MOST / 16; /* an operand and a result of 8 bytes each */
    ck_assert(folds(OP_ElementWiseNeg, most));
    ck_assert(!folds(OP_ElementWiseNeg, most + 1));
    graph->growth.folded = FOLD_ALLOWANCE;
    ck_assert(!folds(OP_ElementWiseNeg, FOLD_ALWAYS / 16 + 1));
    ck_assert(folds(OP_ElementWiseNeg, FOLD_ALWAYS / 16));
}
END_TEST

/* As in a conversion, which has a file for them. */
static void have_spill(void)
{
    graph->spill = spill_beside(arena, &diags, "/tmp/test-growth.dlc");
}

START_TEST(large_constants_are_computed_in_parts)
{
    const int64_t most = FOLD_MOST / 16;
    size_t before = arena_size(arena);
    have_spill();
    ck_assert(folds(OP_ElementWiseNeg, most + 1));
    ck_assert(folds(OP_ElementWiseNeg, 4 * most));
    ck_assert_uint_lt(arena_size(arena) - before, 2 * FOLD_PART);
    graph->growth.folded = FOLD_ALLOWANCE;
    ck_assert(!folds(OP_ElementWiseNeg, most));
}
END_TEST

/* A matrix whose elements are 0, 1, 2, 0, 1, … along its columns. */
static tensor_id cycle(const struct shape *shape)
{
    uint64_t count = shape_count(shape);
    uint8_t *bytes = arena_alloc(arena, count);
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = i % 3;
    struct view view = view_of(bytes, DT_UINT8, shape);
    view_permute(&view, &PERM(1, 0));
    return graph_add_constant(graph, "cycle", DT_FLOAT32, &view);
}

/* No axis is left to be cut along. */
START_TEST(a_large_constant_becomes_one_number)
{
    const struct shape shape = SHAPE(3 * 1024, 2048);
    const int64_t axes[] = {1, 0};
    uint64_t count;
    const struct {
        enum op_id op;
        double result;
    } cases[] = {{OP_ReduceSum, 2097152.0 * 3},
                 {OP_ReduceSumSquare, 2097152.0 * 5},
                 {OP_ReduceMean, 1},
                 {OP_ReduceMax, 2},
                 {OP_ReduceMin, 0},
                 {OP_ReduceProd, 0}};
    have_spill();
    tensor_id in = cycle(&shape), out;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        build_op(&build, cases[i].op, "all");
        build_in(&build, in);
        build_ints(&build, PARAM_axes, axes, 2);
        ck_assert_int_eq(build_end(&build, NULL, &out), ODLC_OK);
        ck_assert(build_is_const(&build, out));
        ck_assert_double_eq(*build_const_as_floats(&build, out, &count), cases[i].result);
    }
}
END_TEST

/* A Reshape of elements that still stand in another order. */
START_TEST(large_constants_are_reordered)
{
    const struct shape shape = SHAPE(1024, 3072);
    const int64_t flat = 1024 * 3072;
    uint64_t count;
    tensor_id out;
    have_spill();
    ck_assert_int_eq(build_reshape(&build, cycle(&shape), &SHAPE(flat), NULL, &out), ODLC_OK);
    ck_assert(build_is_const(&build, out));
    const double *values = build_const_as_floats(&build, out, &count);
    ck_assert_uint_eq(count, (uint64_t)flat);
    for (int64_t i = 0; i < flat; i++) /* of column i / 1024 */
        ck_assert_double_eq(values[i], (double)(i / 1024 % 3));
}
END_TEST

/* A pool over a constant image, whose windows are as large as that. */
static bool pool_folds(int64_t side)
{
    const struct shape image = SHAPE(1, side, side, 1), pairs = SHAPE(2, 2);
    const int64_t window[] = {side, side}, pads[] = {side / 2, (side - 1) / 2, side / 2, (side - 1) / 2},
                  one[] = {1, 1};
    struct view ones = view_splat_float(arena, DT_FLOAT32, &image, 1);
    tensor_id out;
    build_op(&build, OP_PoolMax2d, NULL);
    build_in(&build, graph_add_constant(graph, "image", DT_FLOAT32, &ones));
    build_ints(&build, PARAM_filter_size, window, 2);
    build_ints(&build, PARAM_stride, one, 2);
    build_tensor_ints(&build, PARAM_pad_amount, &pairs, pads);
    ck_assert_int_eq(build_end(&build, NULL, &out), ODLC_OK);
    return build_is_const(&build, out);
}

START_TEST(long_computations_stay_nodes)
{
    ck_assert(pool_folds(64)); /* 64⁴ operations */
    ck_assert(!pool_folds(512));
    graph->growth.worked = WORK_ALLOWANCE - UINT64_C(64 * 64) * 64 * 64;
    ck_assert(!pool_folds(64)); /* and its elements */
}
END_TEST

/* The other dimensions of an empty tensor may become loops: they are work. */
START_TEST(empty_tensors_take_time)
{
    const struct shape empty = SHAPE(SHAPE_MOST_EMPTY, 0), row = SHAPE(0, 1);
    struct view nothing = view_splat_float(arena, DT_FLOAT32, &empty, 1),
                column = view_splat_float(arena, DT_FLOAT32, &row, 1);
    tensor_id out, a = graph_add_constant(graph, "a", DT_FLOAT32, &nothing);
    graph->growth.worked = WORK_ALLOWANCE - SHAPE_MOST_EMPTY + 1;
    ck_assert_int_eq(build_unary(&build, OP_ElementWiseNeg, a, NULL, &out), ODLC_OK);
    ck_assert(!build_is_const(&build, out));
    ck_assert_int_eq(
        build_binary(&build, OP_MatMul, a, graph_add_constant(graph, "b", DT_FLOAT32, &column), NULL, &out), ODLC_OK);
    ck_assert(!build_is_const(&build, out));
}
END_TEST

/* ---- what is written ---- */

START_TEST(constants_of_a_container)
{
    char path[] = "/tmp/test-growth-XXXXXX";
    int fd = mkstemp(path);
    const struct type type = {.dtype = DT_FLOAT32, .shape = SHAPE(1000)};
    struct view ones = view_splat_float(arena, DT_FLOAT32, &type.shape, 1);
    tensor_id in = graph_add_tensor(graph, "x", TENSOR_INPUT, &type), out;
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(path);
    vec_push(arena, &graph->inputs, in);
    ck_assert_int_eq(
        build_binary(&build, OP_ElementWiseAdd, in, graph_add_constant(graph, "ones", DT_FLOAT32, &ones), "y", &out),
        ODLC_OK);
    graph_tensor(graph, out)->kind = TENSOR_OUTPUT;
    vec_push(arena, &graph->outputs, out);
    struct dlc_write_options options = {.most_payload = 3999};
    ck_assert_int_eq(dlc_write(arena, &diags, graph, path, &options), ODLC_ERR_LIMIT);
    ck_assert_str_eq(last_code(), "constants-size");
    ck_assert_str_eq(last_message(),
                     "the constants of the container would take 4000 bytes, more than the 3999 that a model of "
                     "this size may have");
    ck_assert_str_eq(diags.list.data[diags.list.count - 1].hint,
                     "the largest is ones, of 4000 bytes: make it a graph input");
    ck_assert_int_ne(access(path, F_OK), 0);
    options.most_payload = 4000;
    ck_assert_int_eq(dlc_write(arena, &diags, graph, path, &options), ODLC_OK);
    unlink(path);
    options.most_payload = 0;
    ck_assert_int_eq(dlc_write(arena, &diags, graph, path, &options), ODLC_OK);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("limits");
    TCase *numbers = tcase_create("numbers"), *graphs = tcase_create("graphs");
    tcase_add_test(numbers, limits_follow_the_model);
    tcase_add_test(numbers, folding_is_counted);
    tcase_add_test(numbers, arenas_keep_their_budget);
    tcase_add_test(numbers, what_is_given_back_does_not_count);
    tcase_add_checked_fixture(graphs, start, end);
    tcase_set_timeout(graphs, 120);
    tcase_add_test(graphs, a_graph_has_so_many_nodes);
    tcase_add_test(graphs, large_constants_stay_nodes);
    tcase_add_test(graphs, large_constants_are_computed_in_parts);
    tcase_add_test(graphs, a_large_constant_becomes_one_number);
    tcase_add_test(graphs, large_constants_are_reordered);
    tcase_add_test(graphs, long_computations_stay_nodes);
    tcase_add_test(graphs, empty_tensors_take_time);
    tcase_add_test(graphs, constants_of_a_container);
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, graphs);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
