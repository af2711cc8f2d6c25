/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers over a sequence. Gates and states are kept in double; a state is never rounded between steps. */
#include <math.h>

#include "kernel/kernels.h"
#include "op/sequence.h"

/* ---- what both kernels do ---- */

/* Absent operands are NULL. */
static const float *operand(const struct kernel *k, uint32_t i)
{
    return i < k->n_in ? k->in[i].data : NULL;
}

static bool all_floats(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->n_in; i++)
        if (k->in[i].data && k->in[i].dtype != DT_FLOAT32)
            return false;
    return true;
}

/* sum[r] += Σ w[r][c] · x[c]; four rows at a time, so that additions need not wait for each other. */
static void add_product(double *sum, const float *w, int64_t rows, int64_t columns, const double *x)
{
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, w += 4 * columns) {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int64_t c = 0; c < columns; c++) {
            s0 += (double)w[c] * x[c];
            s1 += (double)w[columns + c] * x[c];
            s2 += (double)w[2 * columns + c] * x[c];
            s3 += (double)w[3 * columns + c] * x[c];
        }
        sum[r] += s0;
        sum[r + 1] += s1;
        sum[r + 2] += s2;
        sum[r + 3] += s3;
    }
    for (; r < rows; r++, w += columns)
        for (int64_t c = 0; c < columns; c++)
            sum[r] += (double)w[c] * x[c];
}

static void add_vector(double *sum, const float *v, int64_t count)
{
    for (int64_t i = 0; v && i < count; i++)
        sum[i] += (double)v[i];
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void load(double *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from ? (double)from[i] : 0;
}

static void store(float *to, const double *from, int64_t count)
{
    for (int64_t i = 0; to && i < count; i++)
        to[i] = (float)from[i];
}

/* The part of one step that differs: from the step's input `x` and the state before it to the state after it. */
typedef void step_fn(void *layer, const double *x, double *h);

/* Takes the state h of batch item b through all steps; its value after each goes to y. */
static void run_sequence(const struct sequence *s, const struct kernel *k, int64_t b, double *x, double *h,
                         step_fn *step, void *layer)
{
    const float *in = k->in[0].data;
    float *y = k->out[0].data;
    for (int64_t i = 0; i < s->steps; i++) {
        int64_t t = s->reverse ? s->steps - 1 - i : i;
        int64_t at = s->time_major ? t * s->batch + b : b * s->steps + t;
        load(x, in + at * s->in, s->in);
        step(layer, x, h);
        store(y ? y + at * s->units : NULL, h, s->units);
    }
}

/* The elements of batch item b in an operand of states, NULL where there is none. */
static float *item(const struct buffer *state, int64_t b, int64_t units)
{
    return state->data ? (float *)state->data + b * units : NULL;
}

/* ---- Lstm ---- */

struct lstm {
    struct sequence s;
    const float *w[LSTM_GATES], *r[LSTM_GATES], *bias[LSTM_GATES];
    const float *peephole_i, *peephole_f, *peephole_o; /* or NULL */
    double *gate[LSTM_GATES], *c;
};

static void add_peephole(double *sum, const float *peephole, const double *c, int64_t count)
{
    for (int64_t i = 0; peephole && i < count; i++)
        sum[i] += (double)peephole[i] * c[i];
}

static void lstm_step(void *layer, const double *x, double *h)
{
    const struct lstm *m = layer;
    int64_t units = m->s.units;
    for (int g = 0; g < LSTM_GATES; g++) {
        load(m->gate[g], m->bias[g], units);
        add_product(m->gate[g], m->w[g], units, m->s.in, x);
        add_product(m->gate[g], m->r[g], units, units, h);
    }
    add_peephole(m->gate[GATE_I], m->peephole_i, m->c, units);
    add_peephole(m->gate[GATE_F], m->peephole_f, m->c, units);
    for (int64_t u = 0; u < units; u++)
        m->c[u] = sigmoid(m->gate[GATE_F][u]) * m->c[u] + sigmoid(m->gate[GATE_I][u]) * tanh(m->gate[GATE_C][u]);
    add_peephole(m->gate[GATE_O], m->peephole_o, m->c, units);
    for (int64_t u = 0; u < units; u++)
        h[u] = sigmoid(m->gate[GATE_O][u]) * tanh(m->c[u]);
}

odlc_status kernel_lstm(const struct kernel *k)
{
    struct lstm m = {.peephole_i = operand(k, LSTM_PEEPHOLE_I),
                     .peephole_f = operand(k, LSTM_PEEPHOLE_F),
                     .peephole_o = operand(k, LSTM_PEEPHOLE_O)};
    if (!all_floats(k) || !sequence_read(k->node, &k->in[0].shape, &k->in[1].shape, &m.s))
        return ODLC_ERR_UNSUPPORTED;
    size_t units = (size_t)m.s.units;
    for (int g = 0; g < LSTM_GATES; g++) {
        m.w[g] = operand(k, lstm_w[g]);
        m.r[g] = operand(k, lstm_r[g]);
        m.bias[g] = operand(k, lstm_bias[g]);
        m.gate[g] = arena_array(k->scratch, double, units);
    }
    m.c = arena_array(k->scratch, double, units);
    double *x = arena_array(k->scratch, double, (size_t)m.s.in), *h = arena_array(k->scratch, double, units);
    const float *h0 = operand(k, LSTM_H), *c0 = operand(k, LSTM_C);
    for (int64_t b = 0; b < m.s.batch; b++) {
        load(h, h0 ? h0 + b * m.s.units : NULL, m.s.units);
        load(m.c, c0 ? c0 + b * m.s.units : NULL, m.s.units);
        run_sequence(&m.s, k, b, x, h, lstm_step, &m);
        store(item(&k->out[1], b, m.s.units), m.c, m.s.units);
        store(item(&k->out[2], b, m.s.units), h, m.s.units);
    }
    return ODLC_OK;
}

/* ---- Gru ---- */

struct gru {
    struct sequence s;
    const float *w[GRU_GATES], *r[GRU_GATES], *bias_w[GRU_GATES], *bias_r[GRU_GATES]; /* biases: or NULL */
    bool linear_before_reset;
    double *gate[GRU_GATES], *from_state;
};

/* The candidate for the state: the reset gate weighs the state either before it is multiplied or after. */
static void gru_candidate(const struct gru *m, const double *x, const double *h)
{
    int64_t units = m->s.units;
    double *candidate = m->gate[GATE_NEW], *reset = m->gate[GATE_RESET];
    load(candidate, m->bias_w[GATE_NEW], units);
    add_product(candidate, m->w[GATE_NEW], units, m->s.in, x);
    if (m->linear_before_reset) {
        load(m->from_state, m->bias_r[GATE_NEW], units);
        add_product(m->from_state, m->r[GATE_NEW], units, units, h);
        for (int64_t u = 0; u < units; u++)
            candidate[u] += reset[u] * m->from_state[u];
    } else {
        for (int64_t u = 0; u < units; u++)
            m->from_state[u] = reset[u] * h[u];
        add_vector(candidate, m->bias_r[GATE_NEW], units);
        add_product(candidate, m->r[GATE_NEW], units, units, m->from_state);
    }
}

static void gru_step(void *layer, const double *x, double *h)
{
    const struct gru *m = layer;
    int64_t units = m->s.units;
    for (int g = GATE_UPDATE; g <= GATE_RESET; g++) {
        load(m->gate[g], m->bias_w[g], units);
        add_vector(m->gate[g], m->bias_r[g], units);
        add_product(m->gate[g], m->w[g], units, m->s.in, x);
        add_product(m->gate[g], m->r[g], units, units, h);
        for (int64_t u = 0; u < units; u++)
            m->gate[g][u] = sigmoid(m->gate[g][u]);
    }
    gru_candidate(m, x, h);
    for (int64_t u = 0; u < units; u++) {
        double update = m->gate[GATE_UPDATE][u];
        h[u] = (1 - update) * tanh(m->gate[GATE_NEW][u]) + update * h[u];
    }
}

odlc_status kernel_gru(const struct kernel *k)
{
    struct gru m = {.linear_before_reset = node_int(k->node, PARAM_linear_before_reset, 0) != 0};
    if (!all_floats(k) || !sequence_read(k->node, &k->in[0].shape, &k->in[1].shape, &m.s))
        return ODLC_ERR_UNSUPPORTED;
    size_t units = (size_t)m.s.units;
    for (uint32_t g = 0; g < GRU_GATES; g++) {
        m.w[g] = operand(k, GRU_W + g);
        m.r[g] = operand(k, GRU_R + g);
        m.bias_w[g] = operand(k, GRU_BIAS_W + g);
        m.bias_r[g] = operand(k, GRU_BIAS_R + g);
        m.gate[g] = arena_array(k->scratch, double, units);
    }
    m.from_state = arena_array(k->scratch, double, units);
    double *x = arena_array(k->scratch, double, (size_t)m.s.in), *h = arena_array(k->scratch, double, units);
    const float *h0 = operand(k, GRU_H);
    for (int64_t b = 0; b < m.s.batch; b++) {
        load(h, h0 ? h0 + b * m.s.units : NULL, m.s.units);
        run_sequence(&m.s, k, b, x, h, gru_step, &m);
        store(item(&k->out[1], b, m.s.units), h, m.s.units);
    }
    return ODLC_OK;
}
