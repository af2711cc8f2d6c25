/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers: what the input gives to the gates is one product for all steps, by the library; each step adds what
 * the state gives. States are kept in double. */
#include "backend/cpu/cpu_call.h"
#include "backend/cpu/cpu_loop.h"
#include "backend/cpu/cpu_quick.h"
#include "backend/cpu/cpu_series.h"
#include "op/op.h"
#include "op/sequence.h"

/* Rows of `gates` times `units` elements, one behind the other. */
struct recurrent {
    struct sequence s;
    int64_t gates;
    const float *r;     /* [units][gates · units]: what the state gives; without Gru's candidate unless it is linear */
    int64_t r_gates;    /* of these */
    const float *r_new; /* Gru's candidate: [units][units] */
    const float *bias_new; /* Gru's, linear: of what the state gives to the candidate */
    const float *peephole[LSTM_GATES];
    uint32_t h0, c0; /* inputs of the node, or UINT32_MAX */
    /* For each item of the batch: the state, in float for products, and what it gives. */
    double *h, *c;
    float *state, *given;
};

struct recurrent_run {
    const struct recurrent *m;
    const float *pre; /* what the input gives, and biases */
    const float *h0, *c0;
    float *y, *last_c, *last_h; /* NULL: absent */
    bool is_gru;
};

/* ---- steps ---- */

enum { COLUMNS = 64 }; /* whose sums stay in registers */

/* sum += x · r for some columns of it. */
static CLONED void add_columns(float *restrict sum, const float *restrict r, int64_t columns, const float *restrict x,
                               int64_t rows)
{
    float all[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        all[i] = sum[i];
    for (int64_t k = 0; k < rows; k++)
        for (int i = 0; i < COLUMNS; i++)
            all[i] += x[k] * r[k * columns + i];
    for (int i = 0; i < COLUMNS; i++)
        sum[i] = all[i];
}

/* sum += x · r */
static void add_rows(float *sum, const float *r, int64_t columns, const float *x, int64_t rows)
{
    int64_t c = 0;
    for (; c + COLUMNS <= columns; c += COLUMNS)
        add_columns(sum + c, r + c, columns, x, rows);
    for (int64_t k = 0; k < rows; k++)
        for (int64_t i = c; i < columns; i++)
            sum[i] += x[k] * r[k * columns + i];
}

static double weigh(const float *peephole, int64_t u, double c)
{
    return peephole ? (double)peephole[u] * c : 0;
}

/* Without peepholes, which few layers have. */
static CLONED void lstm_units(const float *restrict gate, int64_t units, double *restrict c, double *restrict h)
{
    const float *i = gate + GATE_I * units, *f = gate + GATE_F * units, *n = gate + GATE_C * units;
    const float *o = gate + GATE_O * units;
    for (int64_t u = 0; u < units; u++) {
        const float more = quick_sigmoid(i[u]) * quick_tanh(n[u]);
        c[u] = (double)quick_sigmoid(f[u]) * c[u] + (double)more;
        h[u] = (double)(quick_sigmoid(o[u]) * quick_tanh((float)c[u]));
    }
}

static void lstm_units_with_peepholes(const struct recurrent *m, const float *gate, double *c, double *h)
{
    const int64_t units = m->s.units;
    for (int64_t u = 0; u < units; u++) {
        const double i = (double)gate[GATE_I * units + u] + weigh(m->peephole[GATE_I], u, c[u]);
        const double f = (double)gate[GATE_F * units + u] + weigh(m->peephole[GATE_F], u, c[u]);
        c[u] = series_sigmoid(f) * c[u] + series_sigmoid(i) * series_tanh(gate[GATE_C * units + u]);
        const double o = (double)gate[GATE_O * units + u] + weigh(m->peephole[GATE_O], u, c[u]);
        h[u] = series_sigmoid(o) * series_tanh(c[u]);
    }
}

static void lstm_step(const struct recurrent *m, const float *pre, int64_t b)
{
    const int64_t units = m->s.units, columns = LSTM_GATES * units;
    float *gate = m->given + b * columns;
    memcpy(gate, pre, (size_t)columns * sizeof *gate);
    add_rows(gate, m->r, columns, m->state + b * units, units);
    if (m->peephole[GATE_I] || m->peephole[GATE_F] || m->peephole[GATE_O])
        lstm_units_with_peepholes(m, gate, m->c + b * units, m->h + b * units);
    else
        lstm_units(gate, units, m->c + b * units, m->h + b * units);
}

static CLONED void gru_gates(const float *restrict pre, float *restrict given, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        given[i] = quick_sigmoid(pre[i] + given[i]);
}

static CLONED void gru_units(const float *restrict update, const float *restrict candidate, int64_t units,
                             double *restrict h)
{
    for (int64_t u = 0; u < units; u++)
        h[u] = (1 - (double)update[u]) * (double)quick_tanh(candidate[u]) + (double)update[u] * h[u];
}

static void gru_step(const struct recurrent *m, const float *pre, int64_t b)
{
    const int64_t units = m->s.units;
    float *given = m->given + b * GRU_GATES * units, *state = m->state + b * units;
    float *reset = given + GATE_RESET * units, *candidate = given + GATE_NEW * units;
    memset(given, 0, (size_t)(GRU_GATES * units) * sizeof *given);
    add_rows(given, m->r, m->r_gates * units, state, units);
    gru_gates(pre, given, GATE_NEW * units);
    if (m->r_new) {
        for (int64_t u = 0; u < units; u++)
            state[u] = (float)((double)reset[u] * m->h[b * units + u]);
        add_rows(candidate, m->r_new, units, state, units);
        for (int64_t u = 0; u < units; u++)
            candidate[u] += pre[GATE_NEW * units + u];
    } else {
        for (int64_t u = 0; u < units; u++)
            candidate[u] = pre[GATE_NEW * units + u] + reset[u] * (candidate[u] + (m->bias_new ? m->bias_new[u] : 0));
    }
    gru_units(given + GATE_UPDATE * units, candidate, units, m->h + b * units);
}

/* ---- sequences ---- */

static void begin(double *state, const float *given, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        state[i] = given ? (double)given[i] : 0;
}

static void store(float *to, const double *from, int64_t count)
{
    for (int64_t i = 0; to && i < count; i++)
        to[i] = (float)from[i];
}

/* Items [first, last) of the batch. */
static void run_items(void *user, int64_t first, int64_t last)
{
    const struct recurrent_run *r = user;
    const struct recurrent *m = r->m;
    const struct sequence *s = &m->s;
    for (int64_t b = first; b < last; b++) {
        double *h = m->h + b * s->units, *c = m->c + b * s->units;
        begin(h, r->h0 ? r->h0 + b * s->units : NULL, s->units);
        begin(c, r->c0 ? r->c0 + b * s->units : NULL, s->units);
        for (int64_t i = 0; i < s->steps; i++) {
            const int64_t t = s->reverse ? s->steps - 1 - i : i,
                          row = s->time_major ? t * s->batch + b : b * s->steps + t;
            store(m->state + b * s->units, h, s->units);
            if (r->is_gru)
                gru_step(m, r->pre + row * m->gates * s->units, b);
            else
                lstm_step(m, r->pre + row * m->gates * s->units, b);
            store(r->y ? r->y + row * s->units : NULL, h, s->units);
        }
        store(r->last_h ? r->last_h + b * s->units : NULL, h, s->units);
        store(r->last_c ? r->last_c + b * s->units : NULL, c, s->units);
    }
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    const struct recurrent *m = step->prepared;
    const struct loop_operands o = loop_operands(step, scope, in, out);
    const bool is_gru = step->node->op->id == OP_Gru;
    struct recurrent_run r = {.m = m,
                              .pre = cpu_sums(step),
                              .h0 = m->h0 < step->node->n_inputs ? o.in[m->h0].data : NULL,
                              .c0 = m->c0 < step->node->n_inputs ? o.in[m->c0].data : NULL,
                              .y = o.out[0].data,
                              .last_c = is_gru ? NULL : o.out[1].data,
                              .last_h = is_gru ? o.out[1].data : o.out[2].data,
                              .is_gru = is_gru};
    threads_share(m->s.batch, 1, run_items, &r);
    return ODLC_OK;
}

/* ---- preparing ---- */

/* The operand, which is [units, columns], as columns of gate g: [columns][gates · units]. */
static void put_gate(float *to, int64_t gates, int64_t g, const struct buffer *from)
{
    const int64_t units = from->shape.dims[0], columns = from->shape.dims[1];
    const float *w = from->data;
    for (int64_t u = 0; u < units; u++)
        for (int64_t c = 0; c < columns; c++)
            to[(c * gates + g) * units + u] = w[u * columns + c];
}

static void add_bias(float *to, const struct buffer *bias)
{
    for (uint64_t i = 0; bias->data && i < shape_count(&bias->shape); i++)
        to[i] += ((const float *)bias->data)[i];
}

/* pre = x · w + bias for all steps. */
static odlc_status call_input(const struct cpu_making *m, const struct recurrent *r, const float *w, const float *bias)
{
    const int64_t rows = r->s.steps * r->s.batch, columns = r->gates * r->s.units;
    const struct dnnl_axes x_axes = {.rank = 2, .dims = {rows, r->s.in}, .strides = {r->s.in, 1}};
    const struct dnnl_axes w_axes = {.rank = 2, .dims = {r->s.in, columns}, .strides = {columns, 1}};
    const struct dnnl_axes y_axes = {.rank = 2, .dims = {rows, columns}, .strides = {columns, 1}};
    const struct dnnl_axes bias_axes = {.rank = 2, .dims = {1, columns}, .strides = {columns, 1}};
    const dnnl_memory_desc_t x = desc_of(&x_axes), y = desc_of(&y_axes), b = desc_of(&bias_axes);
    const dnnl_memory_desc_t plain = desc_of(&w_axes), any = desc_any(&w_axes, dnnl_f32);
    dnnl_matmul_desc_t operation;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    bool slow;
    making_need_sums(m, (uint64_t)(rows * columns));
    TRY_DNNL(m, dnnl_matmul_desc_init(&operation, &x, &any, &b, &y));
    TRY(make_attributes(m, &attr));
    TRY(make_description(m, &operation, attr, &description, &slow));
    TRY(make_call(m, description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &x, making_input(m, 0, 0)));
    TRY(call_place(m, call, DNNL_ARG_DST, &y, CPU_SUMS));
    TRY(call_fixed(m, call, DNNL_ARG_BIAS, &b, bias));
    return call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, w);
}

/* States and rooms for what they give. */
static void make_states(const struct cpu_making *m, struct recurrent *r)
{
    const size_t count = (size_t)(r->s.batch * r->s.units);
    r->h = arena_array(m->scope->arena, double, count);
    r->c = arena_array(m->scope->arena, double, count);
    r->state = arena_array(m->scope->arena, float, count);
    r->given = arena_array(m->scope->arena, float, count *(size_t)r->gates);
}

static odlc_status prepare_lstm(const struct cpu_making *m, struct recurrent *r)
{
    static const uint8_t peepholes[] = {
        [GATE_I] = LSTM_PEEPHOLE_I, [GATE_F] = LSTM_PEEPHOLE_F, [GATE_O] = LSTM_PEEPHOLE_O};
    struct arena *arena = m->scope->arena;
    const int64_t units = r->s.units;
    r->gates = r->r_gates = LSTM_GATES;
    r->h0 = LSTM_H;
    r->c0 = LSTM_C;
    float *w = arena_array(m->scope->scratch, float, (size_t)(r->s.in * LSTM_GATES * units));
    float *rows = arena_array(arena, float, (size_t)(units * LSTM_GATES * units));
    float *bias = arena_array(arena, float, (size_t)(LSTM_GATES * units));
    for (int g = 0; g < LSTM_GATES; g++) {
        const struct buffer from_x = making_constant(m, lstm_w[g]), from_h = making_constant(m, lstm_r[g]);
        const struct buffer b = making_constant(m, lstm_bias[g]);
        put_gate(w, LSTM_GATES, g, &from_x);
        put_gate(rows, LSTM_GATES, g, &from_h);
        add_bias(bias + g * units, &b);
        if (g != GATE_C) {
            const struct buffer peephole = making_constant(m, peepholes[g]);
            r->peephole[g] = peephole.data ? arena_memdup(arena, peephole.data, (size_t)units * sizeof(float)) : NULL;
        }
    }
    r->r = rows;
    return call_input(m, r, w, bias);
}

static odlc_status prepare_gru(const struct cpu_making *m, struct recurrent *r)
{
    struct arena *arena = m->scope->arena;
    const int64_t units = r->s.units;
    const bool linear = node_int(making_node(m), PARAM_linear_before_reset, 0) != 0;
    r->gates = GRU_GATES;
    r->r_gates = linear ? GRU_GATES : GATE_NEW;
    r->h0 = GRU_H;
    r->c0 = UINT32_MAX;
    float *w = arena_array(m->scope->scratch, float, (size_t)(r->s.in * GRU_GATES * units));
    float *rows = arena_array(arena, float, (size_t)(units * r->r_gates * units));
    float *bias = arena_array(arena, float, (size_t)(GRU_GATES * units));
    for (uint32_t g = 0; g < GRU_GATES; g++) {
        const struct buffer from_x = making_constant(m, GRU_W + g), from_h = making_constant(m, GRU_R + g);
        const struct buffer b = making_constant(m, GRU_BIAS_W + g), b_state = making_constant(m, GRU_BIAS_R + g);
        put_gate(w, GRU_GATES, g, &from_x);
        add_bias(bias + g * units, &b);
        if (g == GATE_NEW && linear)
            r->bias_new = b_state.data ? arena_memdup(arena, b_state.data, (size_t)units * sizeof(float)) : NULL;
        else
            add_bias(bias + g * units, &b_state);
        if (g < r->r_gates) {
            put_gate(rows, r->r_gates, g, &from_h);
        } else {
            float *candidate = arena_array(arena, float, (size_t)(units * units));
            put_gate(candidate, 1, 0, &from_h);
            r->r_new = candidate;
        }
    }
    r->r = rows;
    return call_input(m, r, w, bias);
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    struct recurrent *r = arena_new(m->scope->arena, struct recurrent);
    if (!sequence_read(n, &node_input(g, n, 0)->type->shape, &node_input(g, n, 1)->type->shape, &r->s))
        return ODLC_ERR_INTERNAL;
    TRY(n->op->id == OP_Gru ? prepare_gru(m, r) : prepare_lstm(m, r));
    make_states(m, r);
    m->step->prepared = r;
    return loop_prepare(m, run);
}

/* All but the input and the first states. */
static bool has_constant_weights(const struct graph *g, const struct node *n)
{
    for (uint32_t i = 1; i < n->n_inputs; i++)
        if (node_input(g, n, i) && (n->op->weights >> i & 1) && !cpu_is_constant(g, n, i))
            return false;
    return true;
}

static const char *refuse(const struct graph *g, const struct node *n)
{
    struct sequence s;
    const char *types = cpu_refuse_types(g, n);
    if (types)
        return types;
    if (dtype_is_fixed(node_input(g, n, 0)->type->dtype)) /* whose sums in float32 might round to other integers */
        return "recurrent layers in fixed point are the reference's";
    if (!has_constant_weights(g, n) || node_input(g, n, 0)->kind == TENSOR_STATIC)
        return "weights are no constants, or the input is one";
    if (!sequence_read(n, &node_input(g, n, 0)->type->shape, &node_input(g, n, 1)->type->shape, &s) || s.steps < 1 ||
        s.batch < 1 || s.in < 1 || s.units < 1)
        return "a tensor has no elements";
    return NULL;
}

const struct cpu_op cpu_recurrent = {.refuse = refuse, .prepare = prepare};
