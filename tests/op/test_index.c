/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, GatherElements, GatherNd, ScatterElements, ScatterNd, OneHot, TopK: kernels against loops over positions and
 * values computed by hand, axis rules by execution, and what the rules and kernels refuse. */
#include <math.h>

#include "node_fixture.h"

enum { ROUNDS = 60 };

static tensor_id ints(struct fixture *f, enum dtype dtype, struct shape shape, const int64_t *values)
{
    uint8_t *elements = arena_calloc(f->arena, shape_count(&shape), dtype_size(dtype));
    convert_elements(elements, dtype, values, DT_INT64, shape_count(&shape));
    return input_with(f, dtype, shape, elements);
}

static tensor_id floats(struct fixture *f, struct shape shape, const float *values)
{
    return input_with(f, DT_FLOAT32, shape, values);
}

/* Indices in [-dim, dim). */
static int64_t *draw_indices(struct fixture *f, uint64_t count, int64_t dim)
{
    int64_t *indices = arena_array(f->arena, int64_t, count);
    for (uint64_t i = 0; i < count; i++)
        indices[i] = draw(f, -dim, dim - 1);
    return indices;
}

static int64_t from_front(int64_t index, int64_t dim)
{
    return index < 0 ? index + dim : index;
}

static struct node *end_node(struct fixture *f)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    return producer_of(f, out);
}

static void refused(struct fixture *f)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
    ck_assert_str_eq(f->diags.list.data[f->diags.list.count - 1].code, "shape");
}

static void begin(struct fixture *f, enum op_id op, tensor_id data, tensor_id indices)
{
    build_op(&f->build, op, "n");
    build_in(&f->build, data);
    build_in(&f->build, indices);
}

static void floats_are(const struct buffer *b, const float *expected, size_t count)
{
    ck_assert_uint_eq(shape_count(&b->shape), count);
    for (size_t i = 0; i < count; i++)
        ck_assert_float_eq(((const float *)b->data)[i], expected[i]);
}

/* ---- Gather ---- */

static void gather_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    static const enum dtype dtypes[] = {DT_INT8, DT_FLOAT32, DT_STRING}, index_dtypes[] = {DT_INT32, DT_INT64};
    enum dtype dtype = dtypes[draw(f, 0, 2)];
    uint32_t rank = (uint32_t)draw(f, 1, 4), axis = (uint32_t)draw(f, 0, rank - 1), k = (uint32_t)draw(f, 0, 3);
    struct shape shape = draw_shape(f, rank, 5), picked = draw_shape(f, k, 4);
    int64_t *indices = draw_indices(f, shape_count(&picked), shape.dims[axis]);
    tensor_id data = input_of(f, dtype, shape);
    begin(f, OP_Gather, data, ints(f, index_dtypes[draw(f, 0, 1)], picked, indices));
    build_int(&f->build, PARAM_axis, axis);
    struct node *n = end_node(f);
    struct buffer *result = run_node(f, n, ODLC_OK);
    uint64_t wrong = 0;
    ck_assert_uint_eq(result->shape.rank, rank - 1 + k);
    for (uint64_t i = 0; i < shape_count(&result->shape); i++) {
        int64_t to[MAX_RANK], from[MAX_RANK];
        unravel(i, &result->shape, to);
        memcpy(from, to, axis * sizeof *from);
        from[axis] = from_front(indices[ravel(to + axis, &picked)], shape.dims[axis]);
        memcpy(from + axis + 1, to + axis + k, (rank - axis - 1) * sizeof *from);
        wrong += !same_element(dtype, result->data, i, f->data[data], ravel(from, &shape));
    }
    ck_assert_uint_eq(wrong, 0);
    struct perm stored = draw_perm(f, rank), out;
    if (k == 1)
        check_axis_rule(f, n, &stored);
    else
        ck_assert(!n->op->permute(f->graph, n, &stored, &out));
    fixture_end(f);
}

static void gather_elements_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    uint32_t rank = (uint32_t)draw(f, 1, 5), axis = (uint32_t)draw(f, 0, rank - 1);
    struct shape shape = draw_shape(f, rank, 5), picked = shape;
    for (uint32_t d = 0; d < rank; d++)
        picked.dims[d] = draw(f, 1, d == axis ? 7 : shape.dims[d]);
    int64_t *indices = draw_indices(f, shape_count(&picked), shape.dims[axis]);
    tensor_id data = input_of(f, DT_FLOAT16, shape);
    begin(f, OP_GatherElements, data, ints(f, DT_INT32, picked, indices));
    build_int(&f->build, PARAM_axis, axis);
    struct node *n = end_node(f);
    struct buffer *result = run_node(f, n, ODLC_OK);
    uint64_t wrong = 0;
    ck_assert(shape_equal(&result->shape, &picked));
    for (uint64_t i = 0; i < shape_count(&picked); i++) {
        int64_t at[MAX_RANK];
        unravel(i, &picked, at);
        at[axis] = from_front(indices[i], shape.dims[axis]);
        wrong += !same_element(DT_FLOAT16, result->data, i, f->data[data], ravel(at, &shape));
    }
    ck_assert_uint_eq(wrong, 0);
    struct perm stored = draw_perm(f, rank);
    check_axis_rule(f, n, &stored);
    fixture_end(f);
}

/* Batch axes, coordinates of random depth and slices behind them. */
static void gather_nd_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    uint32_t rank = (uint32_t)draw(f, 1, 5), batch = (uint32_t)draw(f, 0, rank - 1);
    uint32_t depth = (uint32_t)draw(f, 1, rank - batch);
    struct shape shape = draw_shape(f, rank, 4), where = {.rank = batch + 2};
    memcpy(where.dims, shape.dims, batch * sizeof *where.dims);
    where.dims[batch] = draw(f, 1, 3);
    where.dims[batch + 1] = depth;
    uint64_t values = shape_count(&where);
    int64_t *indices = arena_array(f->arena, int64_t, values);
    for (uint64_t i = 0; i < values; i++) {
        int64_t dim = shape.dims[batch + i % depth];
        indices[i] = draw(f, -dim, dim - 1);
    }
    tensor_id data = input_of(f, DT_INT32, shape);
    begin(f, OP_GatherNd, data, ints(f, DT_INT64, where, indices));
    build_int(&f->build, PARAM_batch_dims, batch);
    struct buffer *result = run_node(f, end_node(f), ODLC_OK);
    uint64_t wrong = 0;
    ck_assert_uint_eq(result->shape.rank, rank - depth + 1);
    for (uint64_t i = 0; i < shape_count(&result->shape); i++) {
        int64_t to[MAX_RANK], at[MAX_RANK];
        unravel(i, &result->shape, to);
        memcpy(at, to, batch * sizeof *at);
        struct shape coordinates = {.rank = batch + 1};
        memcpy(coordinates.dims, where.dims, (batch + 1) * sizeof *where.dims);
        const int64_t *coordinate = indices + ravel(to, &coordinates) * depth;
        for (uint32_t d = 0; d < depth; d++)
            at[batch + d] = from_front(coordinate[d], shape.dims[batch + d]);
        memcpy(at + batch + depth, to + batch + 1, (rank - batch - depth) * sizeof *at);
        wrong += !same_element(DT_INT32, result->data, i, f->data[data], ravel(at, &shape));
    }
    ck_assert_uint_eq(wrong, 0);
    fixture_end(f);
}

START_TEST(gather_refuses)
{
    struct fixture *f = fixture_start(1);
    const int64_t too_far[] = {3}, fine[] = {-3};
    tensor_id data = input_of(f, DT_FLOAT32, SHAPE(3, 2));
    begin(f, OP_Gather, data, ints(f, DT_INT32, SHAPE(1), too_far));
    build_int(&f->build, PARAM_axis, 0);
    run_node(f, end_node(f), ODLC_ERR_INVALID);
    begin(f, OP_Gather, data, ints(f, DT_INT32, SHAPE(1), fine));
    build_int(&f->build, PARAM_axis, 0);
    run_node(f, end_node(f), ODLC_OK);
    begin(f, OP_Gather, data, input_of(f, DT_FLOAT32, SHAPE(1)));
    build_int(&f->build, PARAM_axis, 0);
    refused(f);
    begin(f, OP_Gather, data, ints(f, DT_INT32, SHAPE(1), fine));
    build_int(&f->build, PARAM_axis, 2);
    refused(f);
    begin(f, OP_GatherElements, data, ints(f, DT_INT32, SHAPE(1, 1, 1), fine));
    build_int(&f->build, PARAM_axis, 0);
    refused(f);
    begin(f, OP_GatherNd, data, input_of(f, DT_INT32, SHAPE(1, 3)));
    refused(f);
    fixture_end(f);
}
END_TEST

/* ---- scatter ---- */

/* data [[1,2,3],[4,5,6]] with 10 and 20 at (1,0) and (0,0) of axis 0; the same place twice for reductions. */
static void scatter_elements_gives(int64_t reduction, const int64_t *rows, const float *expected)
{
    struct fixture *f = fixture_start(2);
    const float data[] = {1, 2, 3, 4, 5, 6}, updates[] = {10, 20, -1, 7};
    begin(f, OP_ScatterElements, floats(f, SHAPE(2, 3), data), ints(f, DT_INT64, SHAPE(2, 2), rows));
    build_in(&f->build, floats(f, SHAPE(2, 2), updates));
    build_int(&f->build, PARAM_axis, 0);
    build_int(&f->build, PARAM_reduction, reduction);
    struct node *n = end_node(f);
    floats_are(run_node(f, n, ODLC_OK), expected, 6);
    struct perm swap = PERM(1, 0);
    check_axis_rule(f, n, &swap);
    fixture_end(f);
}

START_TEST(scatter_elements_by_hand)
{
    const int64_t apart[] = {1, 0, 0, -1}, same[] = {1, 0, -1, 0};
    scatter_elements_gives(0, apart, (const float[]){-1, 20, 3, 10, 7, 6});
    scatter_elements_gives(1, same, (const float[]){1, 29, 3, 13, 5, 6});
    scatter_elements_gives(2, same, (const float[]){1, 280, 3, -40, 5, 6});
    scatter_elements_gives(3, same, (const float[]){1, 20, 3, 10, 5, 6});
}
END_TEST

START_TEST(scatter_reduces_in_the_elements_own_type)
{
    struct fixture *f = fixture_start(3);
    const int64_t data[] = {INT64_MAX - 1, -5}, updates[] = {1, -6}, where[] = {0, 1};
    const int64_t sums[] = {INT64_MAX, -11}, most[] = {INT64_MAX - 1, -5};
    for (int64_t reduction = 1; reduction <= 3; reduction += 2) {
        begin(f, OP_ScatterElements, ints(f, DT_INT64, SHAPE(2), data), ints(f, DT_INT32, SHAPE(2), where));
        build_in(&f->build, ints(f, DT_INT64, SHAPE(2), updates));
        build_int(&f->build, PARAM_reduction, reduction);
        struct buffer *result = run_node(f, end_node(f), ODLC_OK);
        ck_assert_mem_eq(result->data, reduction == 1 ? sums : most, sizeof sums);
    }
    const int64_t high[] = {200}, first[] = {0};
    begin(f, OP_ScatterElements, ints(f, DT_UINT8, SHAPE(1), high), ints(f, DT_INT32, SHAPE(1), first));
    build_in(&f->build, ints(f, DT_UINT8, SHAPE(1), high));
    build_int(&f->build, PARAM_reduction, 1);
    ck_assert_uint_eq(*(const uint8_t *)run_node(f, end_node(f), ODLC_OK)->data, 144);
    fixture_end(f);
}
END_TEST

START_TEST(scatter_max_keeps_nan)
{
    struct fixture *f = fixture_start(4);
    const float data[] = {NAN, 1}, updates[] = {5, NAN};
    const int64_t where[] = {0, 1};
    begin(f, OP_ScatterElements, floats(f, SHAPE(2), data), ints(f, DT_INT32, SHAPE(2), where));
    build_in(&f->build, floats(f, SHAPE(2), updates));
    build_int(&f->build, PARAM_reduction, 3);
    const float *result = run_node(f, end_node(f), ODLC_OK)->data;
    ck_assert(isnan(result[0]) && isnan(result[1]));
    fixture_end(f);
}
END_TEST

START_TEST(scatter_nd_by_hand)
{
    struct fixture *f = fixture_start(5);
    const float data[] = {1, 2, 3, 4, 5, 6, 7, 8}, rows[] = {10, 20, 30, 40};
    const int64_t where[] = {3, -3};
    begin(f, OP_ScatterNd, floats(f, SHAPE(4, 2), data), ints(f, DT_INT64, SHAPE(2, 1), where));
    build_in(&f->build, floats(f, SHAPE(2, 2), rows));
    floats_are(run_node(f, end_node(f), ODLC_OK), (const float[]){1, 2, 30, 40, 5, 6, 10, 20}, 8);
    const int64_t elements[] = {0, 1, 0, 1, 2, 0};
    const float added[] = {10, 20, 30};
    begin(f, OP_ScatterNd, floats(f, SHAPE(4, 2), data), ints(f, DT_INT64, SHAPE(3, 2), elements));
    build_in(&f->build, floats(f, SHAPE(3), added));
    build_int(&f->build, PARAM_reduction, 1);
    floats_are(run_node(f, end_node(f), ODLC_OK), (const float[]){1, 32, 3, 4, 35, 6, 7, 8}, 8);
    fixture_end(f);
}
END_TEST

START_TEST(scatter_refuses)
{
    struct fixture *f = fixture_start(6);
    const int64_t where[] = {0, 9};
    tensor_id data = input_of(f, DT_FLOAT32, SHAPE(2));
    begin(f, OP_ScatterElements, data, ints(f, DT_INT32, SHAPE(2), where));
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2)));
    run_node(f, end_node(f), ODLC_ERR_INVALID);
    begin(f, OP_ScatterElements, data, ints(f, DT_INT32, SHAPE(2), where));
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(1)));
    refused(f);
    begin(f, OP_ScatterElements, data, ints(f, DT_INT32, SHAPE(2), where));
    build_in(&f->build, input_of(f, DT_FLOAT16, SHAPE(2)));
    refused(f);
    begin(f, OP_ScatterElements, data, ints(f, DT_INT32, SHAPE(2), where));
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2)));
    build_int(&f->build, PARAM_reduction, 4);
    refused(f);
    fixture_end(f);
}
END_TEST

/* ---- OneHot ---- */

START_TEST(one_hot_by_hand)
{
    struct fixture *f = fixture_start(7);
    const int64_t classes[] = {1, -1, 3, 0}; /* 3 is outside */
    build_op(&f->build, OP_OneHot, "n");
    build_in(&f->build, ints(f, DT_INT32, SHAPE(4), classes));
    build_int(&f->build, PARAM_depth, 3);
    floats_are(run_node(f, end_node(f), ODLC_OK), (const float[]){0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}, 12);
    struct param on = {.usage = 1, .name = "on_value", .dtype = DT_INT32, .i = 5};
    struct param off = {.usage = 1, .name = "off_value", .dtype = DT_INT32, .i = -2};
    const int32_t expected[] = {-2, -2, -2, 5, 5, -2, -2, -2, -2, 5, -2, -2};
    struct shape shape = SHAPE(2, 3, 2);
    const int64_t square[] = {1, 1, 0, 2};
    const int32_t between[] = {-2, -2, 5, 5, -2, -2, 5, -2, -2, -2, -2, 5};
    build_op(&f->build, OP_OneHot, "n");
    build_in(&f->build, ints(f, DT_INT64, SHAPE(4), classes));
    build_int(&f->build, PARAM_depth, 3);
    build_int(&f->build, PARAM_axis, 0);
    build_param(&f->build, &on);
    build_param(&f->build, &off);
    ck_assert_mem_eq(run_node(f, end_node(f), ODLC_OK)->data, expected, sizeof expected);
    build_op(&f->build, OP_OneHot, "n");
    build_in(&f->build, ints(f, DT_INT64, SHAPE(2, 2), square));
    build_int(&f->build, PARAM_depth, 3);
    build_int(&f->build, PARAM_axis, 1);
    build_param(&f->build, &on);
    build_param(&f->build, &off);
    struct buffer *result = run_node(f, end_node(f), ODLC_OK);
    ck_assert(shape_equal(&result->shape, &shape));
    ck_assert_int_eq(result->dtype, DT_INT32);
    ck_assert_mem_eq(result->data, between, sizeof between);
    fixture_end(f);
}
END_TEST

/* ---- TopK ---- */

static struct buffer *top_k(struct fixture *f, tensor_id in, int64_t k, bool largest)
{
    tensor_id outs[2];
    build_op(&f->build, OP_TopK, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_k, k);
    build_int(&f->build, PARAM_largest, largest);
    ck_assert_int_eq(build_end_n(&f->build, NULL, 2, outs), ODLC_OK);
    return run_node(f, producer_of(f, outs[0]), ODLC_OK);
}

START_TEST(top_k_by_hand)
{
    struct fixture *f = fixture_start(8);
    const float values[] = {3, 9, -1, 9, 0, -7, 2, 2};
    const int32_t most[] = {1, 3, 2, 3}, least[] = {2, 0, 1, 0}, unsigned_most[] = {1, 0};
    struct buffer *result = top_k(f, floats(f, SHAPE(2, 4), values), 2, true);
    floats_are(&result[0], (const float[]){9, 9, 2, 2}, 4);
    ck_assert_mem_eq(result[1].data, most, sizeof most);
    result = top_k(f, floats(f, SHAPE(2, 4), values), 2, false);
    floats_are(&result[0], (const float[]){-1, 3, -7, 0}, 4);
    ck_assert_mem_eq(result[1].data, least, sizeof least);
    const int64_t wholes[] = {7, 200}, extremes[] = {INT64_MIN, INT64_MAX, 0};
    const int32_t from_least[] = {0, 2, 1};
    result = top_k(f, ints(f, DT_UINT8, SHAPE(2), wholes), 2, true);
    ck_assert_mem_eq(result[1].data, unsigned_most, sizeof unsigned_most);
    result = top_k(f, ints(f, DT_INT64, SHAPE(3), extremes), 3, false);
    ck_assert_mem_eq(result[1].data, from_least, sizeof from_least);
    fixture_end(f);
}
END_TEST

START_TEST(top_k_of_large_uint64)
{
    struct fixture *f = fixture_start(2);
    const uint64_t values[] = {3, UINT64_MAX, INT64_MAX, 5}, most[] = {UINT64_MAX, INT64_MAX}, least[] = {3, 5};
    tensor_id in = input_with(f, DT_UINT64, SHAPE(4), values);
    ck_assert_mem_eq(top_k(f, in, 2, true)->data, most, sizeof most);
    ck_assert_mem_eq(top_k(f, in, 2, false)->data, least, sizeof least);
    fixture_end(f);
}
END_TEST

START_TEST(top_k_refuses_more_than_there_is)
{
    struct fixture *f = fixture_start(9);
    tensor_id outs[2];
    build_op(&f->build, OP_TopK, "n");
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2, 4)));
    build_int(&f->build, PARAM_k, 5);
    ck_assert_int_eq(build_end_n(&f->build, NULL, 2, outs), ODLC_ERR_INVALID);
    fixture_end(f);
}
END_TEST

static void (*const rounds[])(uint32_t seed) = {
    gather_by_positions,
    gather_elements_by_positions,
    gather_nd_by_positions,
};

START_TEST(by_positions)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++)
        rounds[_i](seed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("index");
    TCase *tcase = tcase_create("index");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, by_positions, 0, COUNT_OF(rounds));
    tcase_add_test(tcase, gather_refuses);
    tcase_add_test(tcase, scatter_elements_by_hand);
    tcase_add_test(tcase, scatter_reduces_in_the_elements_own_type);
    tcase_add_test(tcase, scatter_max_keeps_nan);
    tcase_add_test(tcase, scatter_nd_by_hand);
    tcase_add_test(tcase, scatter_refuses);
    tcase_add_test(tcase, one_hot_by_hand);
    tcase_add_test(tcase, top_k_by_hand);
    tcase_add_test(tcase, top_k_of_large_uint64);
    tcase_add_test(tcase, top_k_refuses_more_than_there_is);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
