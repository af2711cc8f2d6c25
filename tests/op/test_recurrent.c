/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers against their equations, one unit and one weight at a time. */
#include "float_fixture.h"

enum { ROUNDS = 150, MAX_INPUTS = 25, LARGEST = 6 };

struct layer {
    int64_t steps, batch, in, units;
    bool time_major, reverse, flat; /* flat: a single step without an axis for it */
    tensor_id operands[MAX_INPUTS];
    uint32_t count;
};

static struct layer draw_layer(struct fixture *f, uint32_t count)
{
    struct layer m = {.steps = draw(f, 1, 5),
                      .batch = draw(f, 1, 3),
                      .in = draw(f, 1, LARGEST),
                      .units = draw(f, 1, LARGEST),
                      .time_major = draw(f, 0, 1) != 0,
                      .reverse = draw(f, 0, 1) != 0,
                      .count = count};
    for (uint32_t i = 0; i < MAX_INPUTS; i++)
        m.operands[i] = NO_TENSOR;
    return m;
}

static struct shape sequence_shape(const struct layer *m, int64_t extent)
{
    if (m->flat)
        return SHAPE(m->batch, extent);
    return m->time_major ? SHAPE(m->steps, m->batch, extent) : SHAPE(m->batch, m->steps, extent);
}

/* The position of a step's vector in a sequence of vectors. */
static int64_t place(const struct layer *m, int64_t b, int64_t t)
{
    return m->time_major ? t * m->batch + b : b * m->steps + t;
}

static void set_weights(struct fixture *f, struct layer *m, const uint8_t *at, uint32_t count, int64_t columns)
{
    for (uint32_t i = 0; i < count; i++)
        m->operands[at[i]] = columns ? floats(f, SHAPE(m->units, columns)) : floats(f, SHAPE(m->units));
}

static void build_layer(struct fixture *f, const struct layer *m, enum op_id op)
{
    uint32_t count = m->count;
    while (m->operands[count - 1] == NO_TENSOR)
        count--;
    build_op(&f->build, op, "layer");
    for (uint32_t i = 0; i < count; i++)
        build_in(&f->build, m->operands[i]);
    build_int(&f->build, PARAM_direction, m->reverse);
    build_int(&f->build, PARAM_time_major, m->time_major);
}

/* Operand i at element j; 0 for an absent one. */
static double at(const struct fixture *f, const struct layer *m, uint32_t i, int64_t j)
{
    return m->operands[i] == NO_TENSOR ? 0 : (double)elements_of(f, m->operands[i])[j];
}

/* Σ w[unit][i] · v[i] */
static double product(const struct fixture *f, const struct layer *m, uint32_t w, int64_t unit, const double *v,
                      int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += at(f, m, w, unit * count + i) * v[i];
    return sum;
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static void read_step(const struct fixture *f, const struct layer *m, int64_t b, int64_t t, double *x)
{
    for (int64_t i = 0; i < m->in; i++)
        x[i] = at(f, m, 0, place(m, b, t) * m->in + i);
}

/* ---- Lstm ---- */

enum { W_F = 1, W_C, W_O, R_F, R_C, R_O, B_F, B_C, B_O, H, C, W_I = 16, R_I, P_I, P_F, P_O, B_I };

static struct layer draw_lstm(struct fixture *f)
{
    static const uint8_t w[] = {W_I, W_F, W_C, W_O}, r[] = {R_I, R_F, R_C, R_O}, bias[] = {B_I, B_F, B_C, B_O};
    static const uint8_t peepholes[] = {P_I, P_F, P_O};
    struct layer m = draw_layer(f, B_I + 1);
    m.flat = draw(f, 0, 4) == 0;
    if (m.flat)
        m.steps = 1;
    m.operands[0] = floats(f, sequence_shape(&m, m.in));
    set_weights(f, &m, w, COUNT_OF(w), m.in);
    set_weights(f, &m, r, COUNT_OF(r), m.units);
    set_weights(f, &m, bias, COUNT_OF(bias), 0);
    if (draw(f, 0, 1))
        set_weights(f, &m, peepholes, COUNT_OF(peepholes), 0);
    if (draw(f, 0, 1))
        m.operands[H] = floats(f, SHAPE(m.batch, m.units));
    if (draw(f, 0, 1))
        m.operands[C] = floats(f, SHAPE(m.batch, m.units));
    return m;
}

static double lstm_sum(const struct fixture *f, const struct layer *m, const uint8_t at_gate[3], int64_t u,
                       const double *x, const double *h)
{
    return product(f, m, at_gate[0], u, x, m->in) + product(f, m, at_gate[1], u, h, m->units) + at(f, m, at_gate[2], u);
}

/* One step: h and c become those after it. */
static void expect_lstm_step(const struct fixture *f, const struct layer *m, const double *x, double *h, double *c)
{
    static const uint8_t i_gate[] = {W_I, R_I, B_I}, f_gate[] = {W_F, R_F, B_F}, c_gate[] = {W_C, R_C, B_C};
    static const uint8_t o_gate[] = {W_O, R_O, B_O};
    double before[LARGEST];
    memcpy(before, h, (size_t)m->units * sizeof *h);
    for (int64_t u = 0; u < m->units; u++) {
        double input = logistic(lstm_sum(f, m, i_gate, u, x, before) + at(f, m, P_I, u) * c[u]);
        double forget = logistic(lstm_sum(f, m, f_gate, u, x, before) + at(f, m, P_F, u) * c[u]);
        c[u] = forget * c[u] + input * tanh(lstm_sum(f, m, c_gate, u, x, before));
        h[u] = logistic(lstm_sum(f, m, o_gate, u, x, before) + at(f, m, P_O, u) * c[u]) * tanh(c[u]);
    }
}

static void check_lstm(struct fixture *f, const struct layer *m, const struct buffer *out)
{
    const float *y = out[0].data, *last_c = out[1].data, *last_h = out[2].data;
    double x[LARGEST], h[LARGEST], c[LARGEST];
    for (int64_t b = 0; b < m->batch; b++) {
        for (int64_t u = 0; u < m->units; u++) {
            h[u] = at(f, m, H, b * m->units + u);
            c[u] = at(f, m, C, b * m->units + u);
        }
        for (int64_t i = 0; i < m->steps; i++) {
            int64_t t = m->reverse ? m->steps - 1 - i : i;
            read_step(f, m, b, t, x);
            expect_lstm_step(f, m, x, h, c);
            for (int64_t u = 0; u < m->units; u++)
                check_near(y[place(m, b, t) * m->units + u], h[u]);
        }
        for (int64_t u = 0; u < m->units; u++) {
            check_near(last_c[b * m->units + u], c[u]);
            check_near(last_h[b * m->units + u], h[u]);
        }
    }
}

START_TEST(lstm)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct layer m = draw_lstm(f);
        tensor_id out[3];
        build_layer(f, &m, OP_Lstm);
        ck_assert_int_eq(build_end_n(&f->build, NULL, 3, out), ODLC_OK);
        check_shape(f, out[0], sequence_shape(&m, m.units));
        check_shape(f, out[1], SHAPE(m.batch, m.units));
        check_shape(f, out[2], SHAPE(m.batch, m.units));
        ck_assert_uint_eq(macs_of(f, out[0]), (uint64_t)(m.steps * m.batch * 4 * m.units * (m.in + m.units)));
        check_lstm(f, &m, run_node(f, producer_of(f, out[0]), ODLC_OK));
        fixture_end(f);
    }
}
END_TEST

static void lstm_refused(struct fixture *f, const struct layer *m, enum param_id param, const char *message)
{
    tensor_id out[3];
    build_layer(f, m, OP_Lstm);
    if (param != PARAM_CUSTOM)
        build_float(&f->build, param, 1);
    ck_assert_int_eq(build_end_n(&f->build, NULL, 3, out), ODLC_ERR_INVALID);
    const char *said = f->diags.list.data[f->diags.list.count - 1].message;
    ck_assert_msg(strstr(said, message), "%s", said);
}

START_TEST(lstm_refusals)
{
    struct fixture *f = fixture_start(3);
    struct layer m = draw_lstm(f), wrong = m;
    lstm_refused(f, &m, PARAM_cell_clip_threshold, "clipping");
    lstm_refused(f, &m, PARAM_output_clip_threshold, "clipping");
    wrong.operands[W_I] = NO_TENSOR;
    lstm_refused(f, &wrong, PARAM_CUSTOM, "a gate has no weights");
    wrong = m;
    wrong.operands[R_C] = floats(f, SHAPE(m.units, m.units + 1));
    lstm_refused(f, &wrong, PARAM_CUSTOM, "input 5 has the shape");
    wrong = m;
    wrong.operands[13] = floats(f, SHAPE(m.units));
    lstm_refused(f, &wrong, PARAM_CUSTOM, "layer normalization");
    wrong = m;
    wrong.operands[0] = floats(f, SHAPE(m.in));
    lstm_refused(f, &wrong, PARAM_CUSTOM, "wrong rank");
    wrong = m;
    wrong.operands[B_F] = typed(f, DT_INT32, SHAPE(m.units));
    lstm_refused(f, &wrong, PARAM_CUSTOM, "not floating point");
    fixture_end(f);
}
END_TEST

/* ---- Gru ---- */

enum { GRU_W_Z = 1, GRU_W_R, GRU_W_N, GRU_R_Z, GRU_R_R, GRU_R_N, GRU_BW_Z, GRU_BW_R, GRU_BW_N, GRU_BR_Z, GRU_BR_R };
enum { GRU_BR_N = 12, GRU_STATE = 13 };

static struct layer draw_gru(struct fixture *f)
{
    static const uint8_t w[] = {GRU_W_Z, GRU_W_R, GRU_W_N}, r[] = {GRU_R_Z, GRU_R_R, GRU_R_N};
    static const uint8_t bias_w[] = {GRU_BW_Z, GRU_BW_R, GRU_BW_N}, bias_r[] = {GRU_BR_Z, GRU_BR_R, GRU_BR_N};
    struct layer m = draw_layer(f, GRU_STATE + 1);
    m.operands[0] = floats(f, sequence_shape(&m, m.in));
    set_weights(f, &m, w, COUNT_OF(w), m.in);
    set_weights(f, &m, r, COUNT_OF(r), m.units);
    if (draw(f, 0, 1))
        set_weights(f, &m, bias_w, COUNT_OF(bias_w), 0);
    if (draw(f, 0, 1))
        set_weights(f, &m, bias_r, COUNT_OF(bias_r), 0);
    if (draw(f, 0, 1))
        m.operands[GRU_STATE] = floats(f, SHAPE(1, m.batch, m.units));
    return m;
}

static double gru_sum(const struct fixture *f, const struct layer *m, uint32_t gate, int64_t u, const double *x,
                      const double *h)
{
    return product(f, m, GRU_W_Z + gate, u, x, m->in) + product(f, m, GRU_R_Z + gate, u, h, m->units) +
           at(f, m, GRU_BW_Z + gate, u) + at(f, m, GRU_BR_Z + gate, u);
}

static void expect_gru_step(const struct fixture *f, const struct layer *m, bool linear, const double *x, double *h)
{
    double before[LARGEST], weighed[LARGEST];
    for (int64_t u = 0; u < m->units; u++) {
        before[u] = h[u];
        weighed[u] = logistic(gru_sum(f, m, 1, u, x, h)) * h[u];
    }
    for (int64_t u = 0; u < m->units; u++) {
        double update = logistic(gru_sum(f, m, 0, u, x, before)), sum = gru_sum(f, m, 2, u, x, weighed);
        if (linear) {
            double of_state = product(f, m, GRU_R_N, u, before, m->units) + at(f, m, GRU_BR_N, u);
            sum = product(f, m, GRU_W_N, u, x, m->in) + at(f, m, GRU_BW_N, u) +
                  logistic(gru_sum(f, m, 1, u, x, before)) * of_state;
        }
        h[u] = (1 - update) * tanh(sum) + update * before[u];
    }
}

static void check_gru(struct fixture *f, const struct layer *m, bool linear, const struct buffer *out)
{
    const float *y = out[0].data, *last = out[1].data;
    double x[LARGEST], h[LARGEST];
    for (int64_t b = 0; b < m->batch; b++) {
        for (int64_t u = 0; u < m->units; u++)
            h[u] = at(f, m, GRU_STATE, b * m->units + u);
        for (int64_t i = 0; i < m->steps; i++) {
            int64_t t = m->reverse ? m->steps - 1 - i : i;
            read_step(f, m, b, t, x);
            expect_gru_step(f, m, linear, x, h);
            for (int64_t u = 0; u < m->units; u++)
                check_near(y[place(m, b, t) * m->units + u], h[u]);
        }
        for (int64_t u = 0; u < m->units; u++)
            check_near(last[b * m->units + u], h[u]);
    }
}

START_TEST(gru)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct layer m = draw_gru(f);
        bool linear = draw(f, 0, 1) != 0;
        tensor_id out[2];
        build_layer(f, &m, OP_Gru);
        build_int(&f->build, PARAM_linear_before_reset, linear);
        ck_assert_int_eq(build_end_n(&f->build, NULL, 2, out), ODLC_OK);
        check_shape(f, out[0], sequence_shape(&m, m.units));
        check_shape(f, out[1], SHAPE(1, m.batch, m.units));
        ck_assert_uint_eq(macs_of(f, out[0]), (uint64_t)(m.steps * m.batch * 3 * m.units * (m.in + m.units)));
        check_gru(f, &m, linear, run_node(f, producer_of(f, out[0]), ODLC_OK));
        fixture_end(f);
    }
}
END_TEST

/* Without a step the states stay what they were. */
START_TEST(no_steps)
{
    struct fixture *f = fixture_start(1);
    struct layer m = draw_gru(f);
    tensor_id out[2];
    m.operands[0] = floats(f, m.time_major ? SHAPE(0, m.batch, m.in) : SHAPE(m.batch, 0, m.in));
    m.operands[GRU_STATE] = floats(f, SHAPE(1, m.batch, m.units));
    build_layer(f, &m, OP_Gru);
    ck_assert_int_eq(build_end_n(&f->build, NULL, 2, out), ODLC_OK);
    const struct buffer *results = run_node(f, producer_of(f, out[0]), ODLC_OK);
    ck_assert_mem_eq(results[1].data, elements_of(f, m.operands[GRU_STATE]),
                     (size_t)(m.batch * m.units) * sizeof(float));
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recurrent");
    TCase *tc = tcase_create("recurrent");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, lstm);
    tcase_add_test(tc, lstm_refusals);
    tcase_add_test(tc, gru);
    tcase_add_test(tc, no_steps);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
