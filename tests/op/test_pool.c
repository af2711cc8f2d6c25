/* SPDX-License-Identifier: Apache-2.0 */
/* Pools against loops over the elements of each window; shapes, padding rules and types by hand. */
#include "float_fixture.h"

enum { ROUNDS = 80, AXES = 3, FLOOR = 0, CEIL = 1 };

struct setup {
    uint32_t axes;
    int64_t in[AXES], filter[AXES], stride[AXES], pad[AXES][2];
    int64_t batch, channels, rounding;
    bool count_padding;
};

static struct setup draw_setup(struct fixture *f, uint32_t axes)
{
    struct setup s = {.axes = axes,
                      .batch = draw(f, 1, 2),
                      .channels = draw(f, 1, 5),
                      .rounding = draw(f, 0, 1),
                      .count_padding = draw(f, 0, 1) != 0};
    for (uint32_t i = 0; i < axes; i++) {
        s.in[i] = draw(f, 3, 8);
        s.filter[i] = draw(f, 1, 3);
        s.stride[i] = draw(f, 1, 4);
        s.pad[i][0] = draw(f, 0, s.filter[i] - 1);
        s.pad[i][1] = draw(f, 0, s.filter[i] - 1);
    }
    return s;
}

static void pool_op(struct fixture *f, const struct setup *s, enum op_id op, tensor_id x)
{
    struct build *b = &f->build;
    struct shape pairs = SHAPE(s->axes, 2);
    build_op(b, op, op_row(op)->name);
    build_in(b, x);
    build_ints(b, PARAM_filter_size, s->filter, s->axes);
    build_ints(b, PARAM_stride, s->stride, s->axes);
    build_tensor_ints(b, PARAM_pad_amount, &pairs, s->pad[0]);
    if (op_param_index(op_row(op), "rounding_mode") >= 0)
        build_int(b, PARAM_rounding_mode, s->rounding);
    if (op_param_index(op_row(op), "count_pad_for_edges") >= 0)
        build_int(b, PARAM_count_pad_for_edges, s->count_padding);
}

/* Window by window: the first of each axis starts in the padding, the last is the last that the rounding allows and
 * that starts before the end of the input. */
static int64_t positions(const struct setup *s, uint32_t d)
{
    int64_t count = 0, padded = s->in[d] + s->pad[d][0] + s->pad[d][1];
    for (int64_t start = 0; start + s->filter[d] <= padded; start += s->stride[d])
        count++;
    bool fits = (count - 1) * s->stride[d] + s->filter[d] == padded;
    if (s->rounding == CEIL && !fits && count * s->stride[d] < s->in[d] + s->pad[d][0])
        count++;
    return count;
}

static struct shape expected_shape(const struct setup *s)
{
    struct shape shape = {.rank = s->axes + 2};
    shape.dims[0] = s->batch;
    for (uint32_t d = 0; d < s->axes; d++)
        shape.dims[d + 1] = positions(s, d);
    shape.dims[s->axes + 1] = s->channels;
    return shape;
}

struct window {
    double max, sum, squares;
    int64_t inside, padded; /* elements on the input, and with the padding */
};

static struct window window_at(const struct fixture *f, const struct setup *s, tensor_id x, const int64_t at[MAX_RANK])
{
    struct shape taps = {.rank = s->axes};
    memcpy(taps.dims, s->filter, s->axes * sizeof *s->filter);
    struct window w = {.max = -1e30};
    for (uint64_t i = 0; i < shape_count(&taps); i++) {
        int64_t tap[MAX_RANK], from[MAX_RANK] = {at[0]};
        bool inside = true, padded = true;
        unravel(i, &taps, tap);
        for (uint32_t d = 0; d < s->axes; d++) {
            from[d + 1] = at[d + 1] * s->stride[d] + tap[d] - s->pad[d][0];
            inside = inside && from[d + 1] >= 0 && from[d + 1] < s->in[d];
            padded = padded && from[d + 1] < s->in[d] + s->pad[d][1];
        }
        from[s->axes + 1] = at[s->axes + 1];
        w.inside += inside;
        w.padded += padded;
        if (!inside)
            continue;
        double value = (double)elements_of(f, x)[ravel(from, shape_of(f, x))];
        w.max = fmax(w.max, value);
        w.sum += value;
        w.squares += value * value;
    }
    return w;
}

typedef double result_fn(const struct setup *s, const struct window *w);

static double result_max(const struct setup *s, const struct window *w)
{
    (void)s;
    return w->max;
}

static double result_average(const struct setup *s, const struct window *w)
{
    return w->sum / (double)(s->count_padding ? w->padded : w->inside);
}

static double result_l2(const struct setup *s, const struct window *w)
{
    (void)s;
    return sqrt(w->squares);
}

static const struct {
    enum op_id op;
    uint32_t axes;
    result_fn *result;
} pools[] = {
    {OP_PoolMax2d, 2, result_max},     {OP_PoolMax3d, 3, result_max}, {OP_PoolAvg2d, 2, result_average},
    {OP_PoolAvg3d, 3, result_average}, {OP_L2Pool2d, 2, result_l2},
};

START_TEST(pool)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct setup s = draw_setup(f, pools[_i].axes);
        if (op_param_index(op_row(pools[_i].op), "rounding_mode") < 0)
            s.rounding = FLOOR;
        struct shape in = {.rank = s.axes + 2}, shape = expected_shape(&s);
        in.dims[0] = s.batch;
        memcpy(&in.dims[1], s.in, s.axes * sizeof *s.in);
        in.dims[s.axes + 1] = s.channels;
        tensor_id x = floats(f, in);
        pool_op(f, &s, pools[_i].op, x);
        tensor_id y = end_node(f);
        check_shape(f, y, shape);
        ck_assert_uint_eq(macs_of(f, y), 0);
        const float *values = values_of(f, y);
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            int64_t at[MAX_RANK];
            unravel(i, &shape, at);
            struct window w = window_at(f, &s, x, at);
            check_near(values[i], pools[_i].result(&s, &w));
        }
        fixture_end(f);
    }
}
END_TEST

/* 6 elements, windows of 3 every 2: two fit, a third reaches over the end. */
START_TEST(rounding_up)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {1, 2, 3, 4, 5, 6};
    struct setup s = {.axes = 2, .filter = {1, 3}, .stride = {1, 2}, .rounding = CEIL};
    pool_op(f, &s, OP_PoolAvg2d, input_with(f, DT_FLOAT32, SHAPE(1, 1, 6, 1), x));
    tensor_id y = end_node(f);
    check_shape(f, y, SHAPE(1, 1, 3, 1));
    const float *values = values_of(f, y);
    check_near(values[0], 2);
    check_near(values[1], 4);
    check_near(values[2], 5.5);
    s.rounding = FLOOR;
    pool_op(f, &s, OP_PoolAvg2d, input_with(f, DT_FLOAT32, SHAPE(1, 1, 6, 1), x));
    check_shape(f, end_node(f), SHAPE(1, 1, 2, 1));
    fixture_end(f);
}
END_TEST

/* The first window of two lies in the padding before 5 and 7: it has no element. */
START_TEST(average_of_nothing)
{
    struct fixture *f = fixture_start(1);
    const float x[] = {5, 7};
    struct setup s = {.axes = 2, .filter = {1, 2}, .stride = {1, 2}, .pad = {{0, 0}, {2, 0}}};
    pool_op(f, &s, OP_PoolAvg2d, input_with(f, DT_FLOAT32, SHAPE(1, 1, 2, 1), x));
    const float *y = values_of(f, end_node(f));
    ck_assert(y[0] == 0 && y[1] == 6);
    fixture_end(f);
}
END_TEST

START_TEST(max_of_small_integers)
{
    struct fixture *f = fixture_start(1);
    const int8_t x[] = {-128, -7, -100, -3};
    struct setup s = {.axes = 2, .filter = {2, 1}, .stride = {1, 1}, .pad = {{1, 0}, {0, 0}}};
    pool_op(f, &s, OP_PoolMax2d, input_with(f, DT_INT8, SHAPE(1, 2, 2, 1), x));
    const int8_t *y = run_node(f, producer_of(f, end_node(f)), ODLC_OK)->data;
    const int8_t expected[] = {-128, -7, -100, -3};
    ck_assert_mem_eq(y, expected, sizeof expected);
    fixture_end(f);
}
END_TEST

static void refused(struct shape x, int64_t filter, int64_t stride, int64_t rounding)
{
    struct fixture *f = fixture_start(1);
    struct setup s = {.axes = 2, .filter = {filter, 1}, .stride = {stride, 1}, .rounding = rounding};
    pool_op(f, &s, OP_PoolMax2d, typed(f, DT_FLOAT32, x));
    end_fails(f);
    fixture_end(f);
}

START_TEST(refusals)
{
    refused(SHAPE(1, 4, 4), 2, 1, FLOOR);
    refused(SHAPE(1, 4, 4, 1), 5, 1, FLOOR);
    refused(SHAPE(1, 4, 4, 1), 0, 1, FLOOR);
    refused(SHAPE(1, 4, 4, 1), 2, 0, FLOOR);
    refused(SHAPE(1, 4, 4, 1), 2, 1, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *tc = tcase_create("pool");
    tcase_add_loop_test(tc, pool, 0, (int)(sizeof pools / sizeof *pools));
    tcase_add_test(tc, rounding_up);
    tcase_add_test(tc, average_of_nothing);
    tcase_add_test(tc, max_of_small_integers);
    tcase_add_test(tc, refusals);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
