/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products against their sums written out; shapes and multiply-accumulates by hand. */
#include "float_fixture.h"

enum { ROUNDS = 150 };

/* ---- MatMul ---- */

struct factors {
    struct shape a, b, out; /* out: batch axes, m, n */
    int64_t k;
    bool transpose_a, transpose_b;
};

static void set_matrix(struct shape *shape, int64_t rows, int64_t columns, bool transposed)
{
    shape->dims[shape->rank++] = transposed ? columns : rows;
    shape->dims[shape->rank++] = transposed ? rows : columns;
}

static struct factors draw_factors(struct fixture *f)
{
    struct factors p = {.k = draw(f, 1, 9), .transpose_a = draw(f, 0, 1) != 0, .transpose_b = draw(f, 0, 1) != 0};
    int64_t m = draw(f, 1, 9), n = draw(f, 1, 9);
    uint32_t batch = (uint32_t)draw(f, 0, 3), missing_a = (uint32_t)draw(f, 0, batch);
    uint32_t missing_b = draw(f, 0, 1) ? (uint32_t)draw(f, 0, batch) : 0;
    if (missing_a && missing_b)
        missing_a = 0;
    for (uint32_t i = 0; i < batch; i++) {
        int64_t extent = draw(f, 1, 3), repeated = draw(f, 0, 3);
        p.out.dims[p.out.rank++] = extent;
        if (i >= missing_a)
            p.a.dims[p.a.rank++] = repeated == 0 && i >= missing_b ? 1 : extent;
        if (i >= missing_b)
            p.b.dims[p.b.rank++] = repeated == 1 && i >= missing_a ? 1 : extent;
    }
    set_matrix(&p.a, m, p.k, p.transpose_a);
    set_matrix(&p.b, p.k, n, p.transpose_b);
    set_matrix(&p.out, m, n, false);
    return p;
}

/* The position in an operand that stands for (batch of at, row, column); axes of extent 1 repeat. */
static uint64_t operand_position(const struct shape *shape, const struct factors *p, const int64_t at[MAX_RANK],
                                 int64_t row, int64_t column, bool transposed)
{
    int64_t there[MAX_RANK];
    uint32_t missing = p->out.rank - shape->rank;
    for (uint32_t i = 0; i < shape->rank - 2; i++)
        there[i] = shape->dims[i] == 1 ? 0 : at[i + missing];
    there[shape->rank - 2] = transposed ? column : row;
    there[shape->rank - 1] = transposed ? row : column;
    return ravel(there, shape);
}

static double expected_product(const struct fixture *f, const struct factors *p, tensor_id a, tensor_id b,
                               const int64_t at[MAX_RANK])
{
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++) {
        uint64_t i = operand_position(&p->a, p, at, at[p->out.rank - 2], k, p->transpose_a);
        uint64_t j = operand_position(&p->b, p, at, k, at[p->out.rank - 1], p->transpose_b);
        sum += (double)elements_of(f, a)[i] * (double)elements_of(f, b)[j];
    }
    return sum;
}

static tensor_id build_product(struct fixture *f, const struct factors *p, tensor_id a, tensor_id b, tensor_id bias)
{
    build_op(&f->build, OP_MatMul, "product");
    build_in(&f->build, a);
    build_in(&f->build, b);
    if (bias != NO_TENSOR)
        build_in(&f->build, bias);
    build_int(&f->build, PARAM_transpose_in0, p->transpose_a);
    build_int(&f->build, PARAM_transpose_in1, p->transpose_b);
    return end_node(f);
}

START_TEST(matmul)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct factors p = draw_factors(f);
        int64_t n = p.out.dims[p.out.rank - 1];
        tensor_id a = floats(f, p.a), b = floats(f, p.b), bias = draw(f, 0, 1) ? floats(f, SHAPE(n)) : NO_TENSOR;
        tensor_id y = build_product(f, &p, a, b, bias);
        check_shape(f, y, p.out);
        ck_assert_uint_eq(macs_of(f, y), shape_count(&p.out) * (uint64_t)p.k);
        const float *values = values_of(f, y);
        for (uint64_t i = 0; i < shape_count(&p.out); i++) {
            int64_t at[MAX_RANK];
            unravel(i, &p.out, at);
            double shift = bias == NO_TENSOR ? 0 : (double)elements_of(f, bias)[i % (uint64_t)n];
            check_near(values[i], expected_product(f, &p, a, b, at) + shift);
        }
        fixture_end(f);
    }
}
END_TEST

/* More rows than one block of panels, and sizes that are no multiple of any tile. */
START_TEST(large_matmul)
{
    struct fixture *f = fixture_start(5);
    struct factors p = {.a = SHAPE(1, 601, 150), .b = SHAPE(1, 150, 7), .out = SHAPE(1, 601, 7), .k = 150};
    tensor_id a = floats(f, p.a), b = floats(f, p.b), y = build_product(f, &p, a, b, NO_TENSOR);
    const float *values = values_of(f, y);
    for (uint64_t i = 0; i < shape_count(&p.out); i++) {
        int64_t at[MAX_RANK];
        unravel(i, &p.out, at);
        check_near(values[i], expected_product(f, &p, a, b, at));
    }
    fixture_end(f);
}
END_TEST

/* Integers are multiplied as integers: 2^40 + 1 has no float32. */
START_TEST(integer_matmul)
{
    struct fixture *f = fixture_start(1);
    const int64_t a[] = {1, 2, 3, 4, (INT64_C(1) << 40) + 1, -6}, b[] = {7, 8, 9};
    build_op(&f->build, OP_MatMul, "product");
    build_in(&f->build, input_with(f, DT_INT64, SHAPE(2, 3), a));
    build_in(&f->build, input_with(f, DT_INT64, SHAPE(3, 1), b));
    const int64_t *y = run_node(f, producer_of(f, end_node(f)), ODLC_OK)->data;
    ck_assert_int_eq(y[0], 7 + 16 + 27);
    ck_assert_int_eq(y[1], 28 + 8 * ((INT64_C(1) << 40) + 1) - 54);
    fixture_end(f);
}
END_TEST

static void matmul_refused(struct shape a, struct shape b)
{
    struct fixture *f = fixture_start(1);
    build_op(&f->build, OP_MatMul, "product");
    build_in(&f->build, typed(f, DT_FLOAT32, a));
    build_in(&f->build, typed(f, DT_FLOAT32, b));
    end_fails(f);
    fixture_end(f);
}

START_TEST(matmul_refusals)
{
    matmul_refused(SHAPE(3), SHAPE(3, 4));
    matmul_refused(SHAPE(2, 3), SHAPE(4, 3));
    matmul_refused(SHAPE(2, 5, 3), SHAPE(3, 3, 4));
}
END_TEST

static void product_refused(enum op_id op, enum dtype x, enum dtype w, enum dtype bias)
{
    struct fixture *f = fixture_start(1);
    build_op(&f->build, op, "product");
    build_in(&f->build, typed(f, x, SHAPE(2, 2)));
    build_in(&f->build, typed(f, w, SHAPE(2, 2)));
    build_in(&f->build, typed(f, bias, SHAPE(2)));
    end_fails(f);
    fixture_end(f);
}

START_TEST(products_of_mixed_types)
{
    static const enum op_id ops[] = {OP_MatMul, OP_FullyConnected};
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        product_refused(ops[i], DT_FLOAT32, DT_INT32, DT_FLOAT32);
        product_refused(ops[i], DT_INT32, DT_FLOAT32, DT_INT32);
        product_refused(ops[i], DT_FLOAT32, DT_FLOAT32, DT_INT32);
        product_refused(ops[i], DT_BOOL, DT_BOOL, DT_BOOL);
    }
}
END_TEST

/* ---- FullyConnected ---- */

static tensor_id fully_connected(struct fixture *f, tensor_id x, tensor_id w, tensor_id bias, bool keep)
{
    build_op(&f->build, OP_FullyConnected, "fc");
    build_in(&f->build, x);
    build_in(&f->build, w);
    build_in(&f->build, bias);
    if (keep)
        build_int(&f->build, PARAM_keep_dims, 1);
    return end_node(f);
}

START_TEST(fully_connected_rows)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        int64_t rows = draw(f, 1, 6), in = draw(f, 1, 20), out = draw(f, 1, 9);
        bool keep = draw(f, 0, 1) != 0;
        tensor_id x = floats(f, SHAPE(2, rows, in)), w = floats(f, SHAPE(out, in)), bias = floats(f, SHAPE(out));
        tensor_id y = fully_connected(f, x, w, bias, keep);
        check_shape(f, y, keep ? SHAPE(2, rows, out) : SHAPE(2 * rows, out));
        ck_assert_uint_eq(macs_of(f, y), (uint64_t)(2 * rows * out * in));
        const float *values = values_of(f, y);
        for (int64_t r = 0; r < 2 * rows; r++)
            for (int64_t o = 0; o < out; o++) {
                double sum = (double)elements_of(f, bias)[o];
                for (int64_t i = 0; i < in; i++)
                    sum += (double)elements_of(f, x)[r * in + i] * (double)elements_of(f, w)[o * in + i];
                check_near(values[r * out + o], sum);
            }
        fixture_end(f);
    }
}
END_TEST

/* The image before a classifier is flattened; the vendor's files rely on it ([1,1,512] → [1,512]). */
START_TEST(fully_connected_flattens)
{
    struct fixture *f = fixture_start(1);
    tensor_id w = typed(f, DT_FLOAT32, SHAPE(10, 48)), bias = typed(f, DT_FLOAT32, SHAPE(10));
    check_shape(f, fully_connected(f, typed(f, DT_FLOAT32, SHAPE(2, 4, 4, 3)), w, bias, false), SHAPE(2, 10));
    check_shape(f, fully_connected(f, typed(f, DT_FLOAT32, SHAPE(48)), w, bias, false), SHAPE(10));
    build_op(&f->build, OP_FullyConnected, "fc");
    build_in(&f->build, typed(f, DT_FLOAT32, SHAPE(5, 5)));
    build_in(&f->build, w);
    end_fails(f);
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("matmul");
    TCase *tc = tcase_create("matmul");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, matmul);
    tcase_add_test(tc, large_matmul);
    tcase_add_test(tc, integer_matmul);
    tcase_add_test(tc, matmul_refusals);
    tcase_add_test(tc, products_of_mixed_types);
    tcase_add_test(tc, fully_connected_rows);
    tcase_add_test(tc, fully_connected_flattens);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
