/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads a step is worth. */
#include <check.h>

#include "backend/cpu/cpu_work.h"
#include "op/graph_text.h"

static struct arena *arena;
static struct graph *graph;

/* The first `count` nodes of a graph are one step. */
static uint32_t threads_of(const char *text, size_t count, uint32_t most)
{
    struct diags diags;
    struct group group = {0};
    diags_init(&diags, arena);
    ck_assert_int_eq(graph_parse(arena, &diags, op_registry_new(arena), text, &graph), ODLC_OK);
    for (size_t i = 0; i < count; i++)
        vec_push(arena, &group.nodes, graph->order.data[i]);
    const struct backend_scope scope = {.arena = arena, .graph = graph, .threads = most};
    return work_threads(&scope, &group);
}

/* 2^16 multiply-accumulates and 2^9 elements; 2^26 and 2^17, of which eight count as much as each of the former. */
START_TEST(products)
{
    const char *small = "graph \"x\"\ninput \"x\" float32[1,256]\nconst \"w\" float32[256,256]\n"
                        "node \"y\" FullyConnected (\"x\", \"w\", -) -> \"y\" float32[1,256]\noutput \"y\"\n";
    const char *large = "graph \"x\"\ninput \"x\" float32[64,1024]\nconst \"w\" float32[1024,1024]\n"
                        "node \"y\" FullyConnected (\"x\", \"w\", -) -> \"y\" float32[64,1024]\noutput \"y\"\n";
    ck_assert_uint_eq(threads_of(small, 1, 8), 1);
    ck_assert_uint_eq(threads_of(large, 1, 1), 1);
    ck_assert_uint_eq(threads_of(large, 1, 8), 8);
    ck_assert_uint_eq(threads_of(large, 1, 1000), 1000);
}
END_TEST

/* 2^17 elements in and out are two threads' work, and half of them are when a second node is in the step. */
START_TEST(elements)
{
    const char *text = "graph \"x\"\ninput \"x\" float32[131072]\n"
                       "node \"y\" Relu (\"x\") -> \"y\" float32[131072]\n"
                       "node \"z\" Sigmoid (\"y\") -> \"z\" float32[131072]\noutput \"z\"\n";
    const char *half = "graph \"x\"\ninput \"x\" float32[65536]\n"
                       "node \"y\" Relu (\"x\") -> \"y\" float32[65536]\n"
                       "node \"z\" Sigmoid (\"y\") -> \"z\" float32[65536]\noutput \"z\"\n";
    ck_assert_uint_eq(threads_of(text, 1, 8), 8);
    ck_assert_uint_eq(threads_of(half, 1, 8), 1);
    ck_assert_uint_eq(threads_of(half, 2, 8), 8);
}
END_TEST

static void start(void)
{
    arena = arena_create();
}

static void stop(void)
{
    arena_destroy(arena);
}

int main(void)
{
    Suite *suite = suite_create("work");
    TCase *tests = tcase_create("work");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, products);
    tcase_add_test(tests, elements);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
