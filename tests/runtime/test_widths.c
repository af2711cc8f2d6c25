/* SPDX-License-Identifier: Apache-2.0 */
/* float16 tensors that nobody sees, between backends that take them as float32 and those that do not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/op.h"
#include "tests/support/reference_only.h"

static struct arena *arena, *scratch;
static struct diags diags;
static struct graph *g;

/* Adds a quarter of what float16 can add to 1. */
static odlc_status add_little(const struct kernel *k)
{
    ((double *)k->out[0].data)[0] = ((const double *)k->in[0].data)[0] + 0x1p-12;
    return ODLC_OK;
}

static const struct reference_kernel adds = {COMPUTE_WIDE, add_little};
static const struct op add = {.name = "AddLittle", .dlc_type = "AddLittle", .own_kernel = &adds};

/* ---- a backend with the reference's kernels, which takes the nodes whose names begin with its own ---- */

static bool claim_own(void *state, const struct claiming *c, node_id id, struct group *group)
{
    group->reason = "it has another name";
    return strncmp(graph_node(c->scope->graph, id)->name, "own", 3) == 0 &&
           reference_backend.claim(state, c, id, group);
}

static struct backend own;

static void setup(void)
{
    arena = arena_create();
    scratch = arena_create();
    diags_init(&diags, arena);
    g = graph_create(arena, "graph");
    own = reference_backend;
    own.name = "own";
    own.claim = claim_own;
}

static void teardown(void)
{
    arena_destroy(arena);
    arena_destroy(scratch);
}

static tensor_id tensor(enum tensor_kind kind)
{
    const struct type type = {DT_FLOAT16, SHAPE(1)};
    return graph_add_tensor(g, "t", kind, &type);
}

/* x, and what nodes of these names make of it, one after the other; the last is a result. */
static tensor_id t[4];

static void build(const char *const names[3])
{
    t[0] = tensor(TENSOR_INPUT);
    for (int i = 0; i < 3; i++) {
        t[i + 1] = tensor(i == 2 ? TENSOR_OUTPUT : TENSOR_NATIVE);
        const node_id id = graph_add_node(g, &add, 0, names[i], &t[i], 1, &t[i + 1], 1);
        vec_push(arena, &g->order, id);
    }
}

/* From 1; gives the result's bits. */
static uint16_t run(const tensor_id *wanted, size_t n_wanted, struct executor **e)
{
    static const struct backend *const list[] = {&own, &reference_backend, NULL};
    const struct executor_options options = {.backends = list};
    uint16_t bits;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, wanted, n_wanted, &options, e), ODLC_OK);
    *(uint16_t *)(*e)->buffers[t[0]].data = 0x3c00;
    ck_assert_int_eq(executor_run(*e), ODLC_OK);
    memcpy(&bits, (*e)->buffers[t[3]].data, sizeof bits);
    return bits;
}

static void expect(const struct executor *e, enum dtype first, enum dtype second)
{
    ck_assert_int_eq(e->buffers[t[0]].dtype, DT_FLOAT16);
    ck_assert_int_eq(e->buffers[t[1]].dtype, first);
    ck_assert_int_eq(e->buffers[t[2]].dtype, second);
    ck_assert_int_eq(e->buffers[t[3]].dtype, DT_FLOAT16);
}

START_TEST(nothing_is_rounded_between_wide_steps)
{
    struct executor *e;
    own.width = WIDTH_FLOAT32;
    build((const char *const[]){"own 1", "reference", "own 2"});
    ck_assert_uint_eq(run(&t[3], 1, &e), 0x3c01); /* 1 + 3/4 of a step */
    expect(e, DT_FLOAT32, DT_FLOAT32);
}
END_TEST

START_TEST(what_is_seen_is_rounded)
{
    struct executor *e;
    own.width = WIDTH_FLOAT32;
    build((const char *const[]){"own 1", "own 2", "own 3"});
    ck_assert_uint_eq(run((tensor_id[]){t[1], t[3]}, 2, &e), 0x3c00); /* two quarters are a tie, to even */
    expect(e, DT_FLOAT16, DT_FLOAT32);
}
END_TEST

START_TEST(the_reference_alone_rounds)
{
    struct executor *e;
    own.width = WIDTH_FLOAT32;
    build((const char *const[]){"own", "reference 1", "reference 2"});
    ck_assert_uint_eq(run(&t[3], 1, &e), 0x3c00);
    expect(e, DT_FLOAT32, DT_FLOAT16);
}
END_TEST

START_TEST(a_backend_of_stored_types_gets_them)
{
    struct executor *e;
    own.width = WIDTH_STORED;
    build((const char *const[]){"own 1", "reference", "own 2"});
    ck_assert_uint_eq(run(&t[3], 1, &e), 0x3c00);
    expect(e, DT_FLOAT16, DT_FLOAT16);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("widths");
    TCase *tcase = tcase_create("widths");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, nothing_is_rounded_between_wide_steps);
    tcase_add_test(tcase, what_is_seen_is_rounded);
    tcase_add_test(tcase, the_reference_alone_rounds);
    tcase_add_test(tcase, a_backend_of_stored_types_gets_them);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
