/* SPDX-License-Identifier: Apache-2.0 */
/* NonMaxSuppression and NonZero as containers of other writers may have them: with other room than the most that there
 * can be, with absent outputs, and with params that are left out. Numbers are by hand; tests/onnx and tests/reference
 * compare many. */
#include "node_fixture.h"

static const float boxes[] = {0, 0, 2, 2, 0, 0, 2, 2, 3, 3, 4, 4};

/* Three boxes in one class; room: rows of the output, 0: as the rule says. */
static struct node *suppression(struct fixture *f, const float scores[3], int64_t room, int64_t limit)
{
    tensor_id outs[2];
    build_op(&f->build, OP_NonMaxSuppression, "nms");
    build_in(&f->build, input_with(f, DT_FLOAT32, SHAPE(1, 3, 4), boxes));
    build_in(&f->build, input_with(f, DT_FLOAT32, SHAPE(1, 1, 3), scores));
    build_float(&f->build, PARAM_iou_threshold, 0.5);
    if (limit)
        build_int(&f->build, PARAM_max_boxes_selected, limit);
    const struct type types[] = {{DT_INT32, SHAPE(room, 3)}, {DT_UINT32, SHAPE(1)}};
    ck_assert_int_eq(room ? build_end_typed(&f->build, NULL, types, 2, outs) : build_end_n(&f->build, NULL, 2, outs),
                     ODLC_OK);
    return producer_of(f, outs[0]);
}

static odlc_status inferred(struct fixture *f, const struct node *n, struct type *types)
{
    struct infer infer = {.graph = f->graph, .node = n, .out = types, .diags = &f->diags};
    return n->op->infer(&infer);
}

static void expect_rows(struct fixture *f, const float scores[3], int64_t room, int64_t limit, uint32_t count,
                        const int32_t *rows, int64_t n_rows)
{
    struct type types[2];
    struct node *n = suppression(f, scores, room, limit);
    ck_assert_int_eq(inferred(f, n, types), ODLC_OK);
    ck_assert(shape_equal(&types[0].shape, &SHAPE(n_rows, 3)));
    struct buffer *out = run_node(f, n, ODLC_OK);
    ck_assert_uint_eq(*(uint32_t *)out[1].data, count);
    ck_assert_mem_eq(out[0].data, rows, (size_t)n_rows * 3 * sizeof *rows);
}

START_TEST(rows_behind_repeat_the_last)
{
    struct fixture *f = fixture_start(1);
    const float scores[] = {1, 2, 3}, low[] = {0, -1, 0}, one[] = {0, 0.5f, 0};
    expect_rows(f, scores, 0, 0, 2, (const int32_t[]){0, 0, 2, 0, 0, 1, 0, 0, 1}, 3);
    expect_rows(f, scores, 0, 2, 2, (const int32_t[]){0, 0, 2, 0, 0, 1}, 2);
    expect_rows(f, scores, 0, 1, 1, (const int32_t[]){0, 0, 2}, 1);
    /* The threshold that a container leaves out is 0, and a score must be above it. */
    expect_rows(f, low, 0, 0, 0, (const int32_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0}, 3);
    expect_rows(f, one, 0, 0, 1, (const int32_t[]){0, 0, 1, 0, 0, 1, 0, 0, 1}, 3);
    fixture_end(f);
}
END_TEST

START_TEST(room_is_what_the_output_has)
{
    struct fixture *f = fixture_start(1);
    const float scores[] = {1, 2, 3};
    expect_rows(f, scores, 5, 0, 2, (const int32_t[]){0, 0, 2, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}, 5);
    expect_rows(f, scores, 2, 0, 2, (const int32_t[]){0, 0, 2, 0, 0, 1}, 2);
    run_node(f, suppression(f, scores, 1, 0), ODLC_ERR_INVALID); /* rows would be lost */
    fixture_end(f);
}
END_TEST

START_TEST(one_output_may_be_absent)
{
    struct fixture *f = fixture_start(1);
    const float scores[] = {1, 2, 3};
    struct node *n = suppression(f, scores, 0, 0);
    struct buffer in[] = {{.dtype = DT_FLOAT32, .shape = SHAPE(1, 3, 4), .data = (void *)(uintptr_t)boxes},
                          {.dtype = DT_FLOAT32, .shape = SHAPE(1, 1, 3), .data = (void *)(uintptr_t)scores}};
    uint32_t count = 9;
    int32_t rows[9];
    struct buffer out[] = {{.dtype = DT_INT32, .shape = SHAPE(3, 3)},
                           {.dtype = DT_UINT32, .shape = SHAPE(1), .data = &count}};
    ck_assert_int_eq(eval_node(n, in, out, f->arena, &f->diags), ODLC_OK);
    ck_assert_uint_eq(count, 2);
    out[0].data = rows;
    out[1].data = NULL;
    ck_assert_int_eq(eval_node(n, in, out, f->arena, &f->diags), ODLC_OK);
    ck_assert_int_eq(rows[2], 2);
    ck_assert_int_eq(rows[5], 1);
    fixture_end(f);
}
END_TEST

START_TEST(work_grows_with_the_square)
{
    struct fixture *f = fixture_start(1);
    const float scores[] = {1, 2, 3};
    const struct node *all = suppression(f, scores, 0, 0), *one = suppression(f, scores, 0, 1);
    ck_assert_uint_eq(all->op->work(f->graph, all), 3 * 3 * 8);
    ck_assert_uint_eq(one->op->work(f->graph, one), 3 * 8);
    fixture_end(f);
}
END_TEST

static struct node *non_zero(struct fixture *f, const float x[4], enum dtype dtype, int64_t room)
{
    tensor_id out;
    const struct type type = {dtype, SHAPE(room, 2)};
    build_op(&f->build, OP_NonZero, "nonzero");
    build_in(&f->build, input_with(f, DT_FLOAT32, SHAPE(2, 2), x));
    ck_assert_int_eq(build_end_typed(&f->build, NULL, &type, 1, &out), ODLC_OK);
    return producer_of(f, out);
}

START_TEST(elements_that_are_not_zero)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {0, 5, -1, 0}, zero[4] = {0};
    const int32_t rows[] = {0, 1, 1, 0, 1, 0, 1, 0}, none[] = {-1, -1, -1, -1, -1, -1, -1, -1};
    struct type type;
    struct node *n = non_zero(f, x, DT_UINT32, 4);
    ck_assert_int_eq(inferred(f, n, &type), ODLC_OK);
    ck_assert_int_eq(type.dtype, DT_UINT32);
    ck_assert_mem_eq(run_node(f, n, ODLC_OK)[0].data, rows, sizeof rows);
    ck_assert_mem_eq(run_node(f, non_zero(f, zero, DT_INT32, 4), ODLC_OK)[0].data, none, sizeof none);
    ck_assert_mem_eq(run_node(f, non_zero(f, x, DT_INT32, 2), ODLC_OK)[0].data, rows, sizeof rows / 2);
    run_node(f, non_zero(f, x, DT_INT32, 1), ODLC_ERR_INVALID);
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("find");
    TCase *tests = tcase_create("find");
    tcase_add_test(tests, rows_behind_repeat_the_last);
    tcase_add_test(tests, room_is_what_the_output_has);
    tcase_add_test(tests, one_output_may_be_absent);
    tcase_add_test(tests, work_grows_with_the_square);
    tcase_add_test(tests, elements_that_are_not_zero);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
