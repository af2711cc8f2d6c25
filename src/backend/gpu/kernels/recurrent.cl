/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers. A work-group takes one item of the batch through all steps; its work-items share the units. Weights
 * are [inputs, gates, units] and [units, gates, units], biases [gates, units]. */

#ifndef GROUP
#define GROUP 64
#endif

/* As struct gpu_sequence. */
typedef struct {
    int steps, batch, in, units, time_major, reverse, has_first, has_cell, has_y, has_last, has_last_cell, is_linear,
        has_peepholes;
} sequence;

/* The place of a step's row. */
static inline int row_of(const sequence *s, int step, int item)
{
    const int t = s->reverse ? s->steps - 1 - step : step;
    return s->time_major ? t * s->batch + item : item * s->steps + t;
}

/* The sum of what row `row` of the input gives to unit u of a gate, and its bias. */
static inline real from_input(const sequence *s, global const X *x, int row, global const float *w, global const float *bias,
                              int gate, int gates, int u)
{
    const int columns = gates * s->units, column = gate * s->units + u;
    real sum = LOAD(float, bias, column);
    for (int k = 0; k < s->in; k++)
        sum += LOAD(X, x, row * s->in + k) * LOAD(float, w, k * columns + column);
    return sum;
}

static inline real from_state(const sequence *s, local const real *h, global const float *r, int gate, int gates, int u)
{
    const int columns = gates * s->units, column = gate * s->units + u;
    real sum = 0;
    for (int k = 0; k < s->units; k++)
        sum += h[k] * LOAD(float, r, k * columns + column);
    return sum;
}

static inline real sigmoid(real x)
{
    return 1 / (1 + exp(-x));
}

#define FOR_UNITS for (int u = get_local_id(0); u < s.units; u += GROUP)

/* Gates: input, forget, cell, output; so the peepholes, but for the cell. */
#ifdef KERNEL_lstm
kernel void lstm(global const X *x, global const float *w, global const float *r, global const float *bias, global const float *peepholes,
                 global const S *h0, global const C *c0, global O *y, global P *last_cell, global Q *last, sequence s,
                 local real *states)
{
    const int item = get_group_id(0), units = s.units;
    local real *h = states, *next = states + units, *c = states + 2 * units;
    FOR_UNITS
    {
        h[u] = s.has_first ? LOAD(S, h0, item * units + u) : 0;
        c[u] = s.has_cell ? LOAD(C, c0, item * units + u) : 0;
    }
    for (int step = 0; step < s.steps; step++) {
        const int row = row_of(&s, step, item);
        barrier(CLK_LOCAL_MEM_FENCE);
        FOR_UNITS
        {
            real gate[4];
            for (int g = 0; g < 4; g++)
                gate[g] = from_input(&s, x, row, w, bias, g, 4, u) + from_state(&s, h, r, g, 4, u);
            if (s.has_peepholes) {
                gate[0] += LOAD(float, peepholes, u) * c[u];
                gate[1] += LOAD(float, peepholes, units + u) * c[u];
            }
            c[u] = sigmoid(gate[1]) * c[u] + sigmoid(gate[0]) * tanh(gate[2]);
            if (s.has_peepholes)
                gate[3] += LOAD(float, peepholes, 3 * units + u) * c[u];
            next[u] = sigmoid(gate[3]) * tanh(c[u]);
            if (s.has_y)
                STORE(O, y, row * units + u, next[u]);
        }
        local real *before = h;
        h = next;
        next = before;
    }
    FOR_UNITS
    {
        if (s.has_last_cell)
            STORE(P, last_cell, item * units + u, c[u]);
        if (s.has_last)
            STORE(Q, last, item * units + u, h[u]);
    }
}
#endif

/* Gates: update, reset, new. */
#ifdef KERNEL_gru
kernel void gru(global const X *x, global const float *w, global const float *r, global const float *bias, global const float *bias_new,
                global const S *h0, global O *y, global P *last, sequence s, local real *states)
{
    const int item = get_group_id(0), units = s.units;
    local real *h = states, *update = states + units, *given = states + 2 * units;
    FOR_UNITS
    {
        h[u] = s.has_first ? LOAD(S, h0, item * units + u) : 0;
    }
    for (int step = 0; step < s.steps; step++) {
        const int row = row_of(&s, step, item);
        barrier(CLK_LOCAL_MEM_FENCE);
        FOR_UNITS
        {
            const real reset =
                sigmoid(from_input(&s, x, row, w, bias, 1, 3, u) + from_state(&s, h, r, 1, 3, u));
            update[u] = sigmoid(from_input(&s, x, row, w, bias, 0, 3, u) + from_state(&s, h, r, 0, 3, u));
            given[u] = s.is_linear ? reset * (from_state(&s, h, r, 2, 3, u) + LOAD(float, bias_new, u)) : reset * h[u];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        FOR_UNITS
        {
            const real from = s.is_linear ? given[u] : from_state(&s, given, r, 2, 3, u) + LOAD(float, bias_new, u);
            const real candidate = tanh(from_input(&s, x, row, w, bias, 2, 3, u) + from);
            h[u] = (1 - update[u]) * candidate + update[u] * h[u];
            if (s.has_y)
                STORE(O, y, row * units + u, h[u]);
        }
    }
    FOR_UNITS
    {
        if (s.has_last)
            STORE(P, last, item * units + u, h[u]);
    }
}
#endif
