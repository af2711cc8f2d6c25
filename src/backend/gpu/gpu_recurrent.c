/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers. */
#include "backend/gpu/gpu_recipe.h"
#include "op/op.h"
#include "op/sequence.h"

enum {
    GROUP = 64,
    STATES = 3 /* arrays of units that the kernels keep in local memory */
};

/* As `sequence` in kernels/recurrent.cl. */
struct gpu_sequence {
    cl_int steps, batch, in, units, time_major, reverse, has_first, has_cell, has_y, has_last, has_last_cell, is_linear,
        has_peepholes;
};

struct layer {
    struct sequence s;
    int64_t gates;
    struct gpu_operand x, w, r, bias;
};

/* ---- weights ---- */

/* Input i of the head, a constant, as float32; NULL: it is absent. */
static const float *constant(const struct gpu_making *m, uint32_t i)
{
    return gpu_is_constant(m, 0, i) ? gpu_constant(m, 0, i).data : NULL;
}

/* float32 in all precision modes: what is rounded in a state comes back with every step. */
static struct gpu_operand weights_of(const struct shape *shape)
{
    return (struct gpu_operand){.place = GPU_FIXED, .dtype = DT_FLOAT32, .shape = *shape};
}

static odlc_status give_weights(struct gpu_making *m, const float *weights, const struct shape *shape,
                                struct gpu_operand *out)
{
    *out = weights_of(shape);
    return gpu_weights(m, weights, shape_count(shape) * sizeof(float), &out->buffer);
}

/* [gates][units][columns], each gate an operand, as [columns][gates][units]. */
static odlc_status pack(struct gpu_making *m, const struct layer *l, const uint8_t *operands, int64_t columns,
                        struct gpu_operand *out)
{
    const int64_t units = l->s.units, row = l->gates * units;
    const uint64_t size = (uint64_t)(columns * row) * sizeof(float);
    const char *recipe = arena_printf(m->scope->scratch, "gates of input %d", operands[0]);
    *out = weights_of(&SHAPE(columns, row));
    TRY(gpu_weights_recall(m, recipe, size, &out->buffer));
    if (out->buffer)
        return ODLC_OK;
    float *packed = arena_array(m->scope->scratch, float, (size_t)(columns * row));
    for (int64_t g = 0; g < l->gates; g++) {
        const float *w = constant(m, operands[g]);
        for (int64_t u = 0; u < units; u++)
            for (int64_t c = 0; c < columns; c++)
                packed[c * row + g * units + u] = w[u * columns + c];
    }
    return gpu_weights_keep(m, recipe, packed, size, &out->buffer);
}

static void add_bias(const struct gpu_making *m, float *to, uint32_t i, int64_t units)
{
    const float *bias = constant(m, i);
    for (int64_t u = 0; bias && u < units; u++)
        to[u] += bias[u];
}

static odlc_status read_layer(struct gpu_making *m, struct layer *l, const uint8_t *w, const uint8_t *r)
{
    m->math = m->math == GPU_MATH_REAL ? GPU_MATH_FLOAT : m->math;
    TRY(gpu_input(m, 0, 0, &l->x));
    if (!sequence_read(gpu_node(m, 0), &l->x.shape, &m->scope->constants[gpu_node(m, 0)->inputs[1]].shape, &l->s))
        return ODLC_ERR_INVALID;
    TRY(pack(m, l, w, l->s.in, &l->w));
    return pack(m, l, r, l->s.units, &l->r);
}

/* ---- calls ---- */

static struct gpu_sequence describe(const struct layer *l)
{
    const struct sequence *s = &l->s;
    return (struct gpu_sequence){.steps = (cl_int)s->steps,
                                 .batch = (cl_int)s->batch,
                                 .in = (cl_int)s->in,
                                 .units = (cl_int)s->units,
                                 .time_major = s->time_major,
                                 .reverse = s->reverse};
}

static odlc_status begin(struct gpu_making *m, const struct layer *l, const char *function, struct gpu_call **call)
{
    gpu_option_type(m, "X", &l->x);
    gpu_option(m, "-DGROUP=%d", GROUP);
    TRY(gpu_call_begin(m, "recurrent", function, call));
    gpu_arg(m, *call, &l->x);
    gpu_arg(m, *call, &l->w);
    gpu_arg(m, *call, &l->r);
    gpu_arg(m, *call, &l->bias);
    return ODLC_OK;
}

static odlc_status end(struct gpu_making *m, const struct layer *l, const struct gpu_sequence *s, struct gpu_call *call)
{
    const size_t real = m->math == GPU_MATH_DOUBLE ? sizeof(double) : sizeof(float);
    gpu_arg_bytes(call, s, sizeof(*s));
    gpu_arg_local(call, STATES * (size_t)l->s.units * real);
    return gpu_call_end_groups(m, call, 1, (const size_t[]){(size_t)l->s.batch * GROUP}, (const size_t[]){GROUP});
}

static const char *refuse(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *w = node_input(g, n, 1);
    struct sequence s;
    if (!sequence_read(n, &x->type->shape, &w->type->shape, &s))
        return "its input or weights have the wrong rank";
    for (uint32_t i = 1; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        const bool is_state = n->op->id == OP_Gru ? i == GRU_H : i == LSTM_H || i == LSTM_C;
        if (t && !is_state && t->kind != TENSOR_STATIC)
            return "its weights are no constants";
    }
    if (STATES * (uint64_t)s.units * sizeof(double) > gpu->context->device.local_memory ||
        gpu->context->device.max_group < GROUP)
        return "its states do not fit in the local memory of the device";
    return gpu_refuse_types(gpu, g, n);
}

/* ---- Lstm ---- */

/* One gate behind the other, as gates are; zeros for those that are absent, and for the cell. */
static odlc_status pack_peepholes(struct gpu_making *m, const struct layer *l, struct gpu_operand *out, bool *any)
{
    static const uint32_t operands[LSTM_GATES] = {
        [GATE_I] = LSTM_PEEPHOLE_I, [GATE_F] = LSTM_PEEPHOLE_F, [GATE_O] = LSTM_PEEPHOLE_O};
    const int64_t units = l->s.units;
    float *packed = arena_array(m->scope->scratch, float, (size_t)(LSTM_GATES * units));
    *any = false;
    for (uint32_t g = 0; g < LSTM_GATES; g++)
        if (operands[g] && constant(m, operands[g])) {
            add_bias(m, packed + g * units, operands[g], units);
            *any = true;
        }
    return give_weights(m, packed, &SHAPE(LSTM_GATES * units), out);
}

static odlc_status prepare_lstm(struct gpu_making *m)
{
    struct layer l = {.gates = LSTM_GATES};
    struct gpu_operand h0, c0, peepholes;
    struct gpu_call *call;
    bool has_peepholes;
    TRY(read_layer(m, &l, lstm_w, lstm_r));
    float *bias = arena_array(m->scope->scratch, float, (size_t)(LSTM_GATES * l.s.units));
    for (uint32_t g = 0; g < LSTM_GATES; g++)
        add_bias(m, bias + g * l.s.units, lstm_bias[g], l.s.units);
    TRY(give_weights(m, bias, &SHAPE(LSTM_GATES * l.s.units), &l.bias));
    TRY(pack_peepholes(m, &l, &peepholes, &has_peepholes));
    TRY(gpu_input(m, 0, LSTM_H, &h0));
    TRY(gpu_input(m, 0, LSTM_C, &c0));
    const struct gpu_operand y = gpu_output(m, 0), last_cell = gpu_output(m, 1), last = gpu_output(m, 2);
    struct gpu_sequence s = describe(&l);
    s.has_first = h0.dtype != DT_NONE;
    s.has_cell = c0.dtype != DT_NONE;
    s.has_y = y.dtype != DT_NONE;
    s.has_last_cell = last_cell.dtype != DT_NONE;
    s.has_last = last.dtype != DT_NONE;
    s.has_peepholes = has_peepholes;
    gpu_option_type(m, "S", &h0);
    gpu_option_type(m, "C", &c0);
    gpu_option_type(m, "O", &y);
    gpu_option_type(m, "P", &last_cell);
    gpu_option_type(m, "Q", &last);
    TRY(begin(m, &l, "lstm", &call));
    gpu_arg(m, call, &peepholes);
    gpu_arg(m, call, &h0);
    gpu_arg(m, call, &c0);
    gpu_arg(m, call, &y);
    gpu_arg(m, call, &last_cell);
    gpu_arg(m, call, &last);
    return end(m, &l, &s, call);
}

const struct gpu_op gpu_lstm = {.refuse = refuse, .prepare = prepare_lstm};

/* ---- Gru ---- */

/* Biases of the input and of the state add up, but for the new gate's, of which the state's is on its own. */
static odlc_status pack_gru_biases(struct gpu_making *m, struct layer *l, struct gpu_operand *bias_new)
{
    const int64_t units = l->s.units;
    float *bias = arena_array(m->scope->scratch, float, (size_t)(GRU_GATES * units));
    float *of_state = arena_array(m->scope->scratch, float, (size_t)units);
    for (uint32_t g = 0; g < GRU_GATES; g++) {
        add_bias(m, bias + g * units, GRU_BIAS_W + g, units);
        add_bias(m, g == GATE_NEW ? of_state : bias + g * units, GRU_BIAS_R + g, units);
    }
    TRY(give_weights(m, bias, &SHAPE(GRU_GATES * units), &l->bias));
    return give_weights(m, of_state, &SHAPE(units), bias_new);
}

static odlc_status prepare_gru(struct gpu_making *m)
{
    static const uint8_t w[GRU_GATES] = {GRU_W, GRU_W + 1, GRU_W + 2}, r[GRU_GATES] = {GRU_R, GRU_R + 1, GRU_R + 2};
    struct layer l = {.gates = GRU_GATES};
    struct gpu_operand h0, bias_new;
    struct gpu_call *call;
    TRY(read_layer(m, &l, w, r));
    TRY(pack_gru_biases(m, &l, &bias_new));
    TRY(gpu_input(m, 0, GRU_H, &h0));
    const struct gpu_operand y = gpu_output(m, 0), last = gpu_output(m, 1);
    struct gpu_sequence s = describe(&l);
    s.has_first = h0.dtype != DT_NONE;
    s.has_y = y.dtype != DT_NONE;
    s.has_last = last.dtype != DT_NONE;
    s.is_linear = node_int(gpu_node(m, 0), PARAM_linear_before_reset, 0) != 0;
    gpu_option_type(m, "S", &h0);
    gpu_option_type(m, "O", &y);
    gpu_option_type(m, "P", &last);
    TRY(begin(m, &l, "gru", &call));
    gpu_arg(m, call, &bias_new);
    gpu_arg(m, call, &h0);
    gpu_arg(m, call, &y);
    gpu_arg(m, call, &last);
    return end(m, &l, &s, call);
}

const struct gpu_op gpu_gru = {.refuse = refuse, .prepare = prepare_gru};
