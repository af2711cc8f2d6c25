/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX LSTM, GRU and RNN: layers of the container where these mean the same, else step by step. Two directions are two
 * layers whose results stand side by side. */
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/recurrent.h"
#include "converters/onnx/lower/onnx_rows.h"

static const char *const rnn_functions[] = {"Tanh"};
static const char *const gru_functions[] = {"Sigmoid", "Tanh"};
static const char *const lstm_functions[] = {"Sigmoid", "Tanh", "Tanh"};

static const struct recurrent_kind rnn = {.gates = 1, .functions = 1, .default_functions = rnn_functions};
static const struct recurrent_kind gru = {
    .gates = 3, .functions = 2, .has_layer = true, .default_functions = gru_functions};
static const struct recurrent_kind lstm = {
    .gates = 4, .functions = 3, .has_cell = true, .has_layer = true, .default_functions = lstm_functions};

/* ---- layers ---- */

/* Layers clip nothing that the node would clip, have one kind of activation, and take all steps. */
static bool is_layer(const struct recurrent *r)
{
    return r->kind->has_layer && recurrent_has_default_functions(r) && r->clip == 0 && !r->couple_gates &&
           r->lengths == NO_TENSOR;
}

static odlc_status end_layer(struct emit *s, const struct recurrent *r, enum op_id op, uint32_t direction,
                             const tensor_id *inputs, uint32_t count, tensor_id *outputs, uint32_t n_outputs)
{
    TRY(s->status);
    build_op(s->l->b, op, step_name(s->l, r->reverse[direction] ? "reverse" : "forward"));
    while (count > 0 && inputs[count - 1] == NO_TENSOR)
        count--;
    for (uint32_t i = 0; i < count; i++)
        build_in(s->l->b, inputs[i]);
    build_int(s->l->b, PARAM_direction, r->reverse[direction]);
    build_int(s->l->b, PARAM_time_major, !r->batch_first);
    if (r->kind == &gru)
        build_int(s->l->b, PARAM_linear_before_reset, r->linear_before_reset);
    return build_end_n(s->l->b, NULL, n_outputs, outputs);
}

static odlc_status gru_layer(struct lower *l, const struct recurrent *r, uint32_t d, struct recurrent_result *out)
{
    static const char *const labels[] = {"z", "r", "h"};
    struct emit s = {.l = l};
    struct shape initial = SHAPE(1, r->batch, r->units), last = SHAPE(r->batch, r->units);
    tensor_id in[14] = {r->x}, results[2];
    for (uint32_t g = 0; g < gru.gates; g++) {
        in[1 + g] = recurrent_weights(&s, r, false, d, g, 1, labels[g]);
        in[4 + g] = recurrent_weights(&s, r, true, d, g, 1, labels[g]);
        in[7 + g] = recurrent_bias(&s, r, false, d, g, 1);
        in[10 + g] = recurrent_bias(&s, r, true, d, g, 1);
    }
    in[13] = out->h == NO_TENSOR ? NO_TENSOR : emit_reshape(&s, out->h, &initial);
    TRY(end_layer(&s, r, OP_Gru, d, in, COUNT_OF(in), results, COUNT_OF(results)));
    out->y = results[0];
    out->h = emit_reshape(&s, results[1], &last);
    return s.status;
}

/* The bias of one gate of the layer, which has one for both products. */
static tensor_id lstm_bias(struct emit *s, const struct recurrent *r, uint32_t direction, uint32_t gate)
{
    if (r->bias != NO_TENSOR) {
        tensor_id input = recurrent_bias(s, r, false, direction, gate, 1);
        return emit_binary(s, OP_ElementWiseAdd, input, recurrent_bias(s, r, true, direction, gate, 1));
    }
    struct view zeros = view_splat_float(s->l->arena, build_type(s->l->b, r->x)->dtype, &SHAPE(r->units), 0);
    return graph_add_constant(s->l->b->graph, step_name(s->l, "bias"), zeros.dtype, &zeros);
}

enum { LSTM_GATE_I, LSTM_GATE_O, LSTM_GATE_F, LSTM_GATE_C };

static odlc_status lstm_layer(struct lower *l, const struct recurrent *r, uint32_t d, struct recurrent_result *out)
{
    /* By ONNX's order of gates: where the layer has them. */
    static const uint8_t w[] = {16, 3, 1, 2}, state[] = {17, 6, 4, 5}, bias[] = {21, 9, 7, 8},
                         peephole[] = {18, 20, 19};
    static const char *const labels[] = {"i", "o", "f", "c"};
    struct emit s = {.l = l};
    tensor_id in[22], results[3];
    for (uint32_t i = 0; i < COUNT_OF(in); i++)
        in[i] = NO_TENSOR;
    in[0] = r->x;
    for (uint32_t g = 0; g < lstm.gates; g++) {
        in[w[g]] = recurrent_weights(&s, r, false, d, g, 1, labels[g]);
        in[state[g]] = recurrent_weights(&s, r, true, d, g, 1, labels[g]);
        in[bias[g]] = lstm_bias(&s, r, d, g);
    }
    for (uint32_t g = 0; g < COUNT_OF(peephole); g++)
        in[peephole[g]] = recurrent_peephole(&s, r, d, g);
    in[10] = out->h;
    in[11] = out->c;
    TRY(end_layer(&s, r, OP_Lstm, d, in, COUNT_OF(in), results, COUNT_OF(results)));
    *out = (struct recurrent_result){results[0], results[2], results[1]};
    return ODLC_OK;
}

/* ---- cells ---- */

static void rnn_step(struct emit *s, const struct recurrent_cell *cell, tensor_id from_x,
                     struct recurrent_result *state)
{
    tensor_id sum = emit_binary(s, OP_ElementWiseAdd, from_x, emit_matmul(s, state->h, cell->weights[0], false, true));
    state->h = recurrent_gate_value(s, cell, 0, sum);
}

/* Products with the state are made of the first two gates together; the last gate's comes after the reset gate. */
static void gru_step(struct emit *s, const struct recurrent_cell *cell, tensor_id from_x,
                     struct recurrent_result *state)
{
    int64_t units = cell->r->units;
    tensor_id of_state = emit_matmul(s, state->h, cell->weights[0], false, true);
    tensor_id sums = emit_binary(s, OP_ElementWiseAdd, emit_slice(s, from_x, 1, 0, 2 * units), of_state);
    tensor_id update = recurrent_gate_value(s, cell, 0, recurrent_gate(s, cell, sums, 0));
    tensor_id reset = recurrent_gate_value(s, cell, 0, recurrent_gate(s, cell, sums, 1)), weighed;
    if (cell->r->linear_before_reset) {
        weighed = emit_matmul(s, state->h, cell->weights[1], false, true);
        if (cell->bias != NO_TENSOR)
            weighed = emit_binary(s, OP_ElementWiseAdd, weighed, cell->bias);
        weighed = emit_binary(s, OP_ElementWiseMultiply, reset, weighed);
    } else {
        weighed =
            emit_matmul(s, emit_binary(s, OP_ElementWiseMultiply, reset, state->h), cell->weights[1], false, true);
    }
    tensor_id sum = emit_binary(s, OP_ElementWiseAdd, recurrent_gate(s, cell, from_x, 2), weighed);
    tensor_id candidate = recurrent_gate_value(s, cell, 1, sum);
    tensor_id rest = emit_binary(s, OP_ElementWiseSubtract, emit_scalar(s, update, 1), update);
    tensor_id renewed = emit_binary(s, OP_ElementWiseMultiply, rest, candidate);
    state->h = emit_binary(s, OP_ElementWiseAdd, renewed, emit_binary(s, OP_ElementWiseMultiply, update, state->h));
}

/* The value of an LSTM's gate that looks at the cell's state. */
static tensor_id lstm_gate(struct emit *s, const struct recurrent_cell *cell, tensor_id sums, uint32_t gate,
                           tensor_id peephole, tensor_id c)
{
    tensor_id sum = recurrent_gate(s, cell, sums, gate);
    if (peephole != NO_TENSOR)
        sum = emit_binary(s, OP_ElementWiseAdd, sum, emit_binary(s, OP_ElementWiseMultiply, peephole, c));
    return recurrent_gate_value(s, cell, 0, sum);
}

static void lstm_step(struct emit *s, const struct recurrent_cell *cell, tensor_id from_x,
                      struct recurrent_result *state)
{
    tensor_id sums = emit_binary(s, OP_ElementWiseAdd, from_x, emit_matmul(s, state->h, cell->weights[0], false, true));
    tensor_id input = lstm_gate(s, cell, sums, LSTM_GATE_I, cell->peepholes[0], state->c), forget;
    if (cell->r->couple_gates)
        forget = emit_binary(s, OP_ElementWiseSubtract, emit_scalar(s, input, 1), input);
    else
        forget = lstm_gate(s, cell, sums, LSTM_GATE_F, cell->peepholes[2], state->c);
    tensor_id candidate = recurrent_gate_value(s, cell, 1, recurrent_gate(s, cell, sums, LSTM_GATE_C));
    tensor_id kept = emit_binary(s, OP_ElementWiseMultiply, forget, state->c);
    state->c = emit_binary(s, OP_ElementWiseAdd, kept, emit_binary(s, OP_ElementWiseMultiply, input, candidate));
    tensor_id output = lstm_gate(s, cell, sums, LSTM_GATE_O, cell->peepholes[1], state->c);
    state->h = emit_binary(s, OP_ElementWiseMultiply, output, recurrent_activate(s, &cell->functions[2], state->c));
}

static odlc_status unroll(struct lower *l, const struct recurrent *r, uint32_t d, struct recurrent_result *out)
{
    struct emit s = {.l = l};
    struct recurrent_cell cell = {.r = r, .functions = r->functions[d], .bias = NO_TENSOR};
    bool is_gru = r->kind == &gru;
    cell.step = is_gru ? gru_step : r->kind == &lstm ? lstm_step : rnn_step;
    cell.weights[0] = recurrent_weights(&s, r, true, d, 0, is_gru ? 2 : r->kind->gates, "gates");
    if (is_gru)
        cell.weights[1] = recurrent_weights(&s, r, true, d, 2, 1, "h");
    if (is_gru && r->linear_before_reset)
        cell.bias = recurrent_bias(&s, r, true, d, 2, 1);
    for (uint32_t i = 0; i < COUNT_OF(cell.peepholes); i++)
        cell.peepholes[i] = recurrent_peephole(&s, r, d, i);
    TRY(s.status);
    return recurrent_unroll(l, &cell, d, out);
}

/* ---- the operators ---- */

/* The directions' results side by side along a new axis. */
static odlc_status give(struct lower *l, uint32_t output, const struct recurrent *r, const tensor_id *parts,
                        uint32_t axis)
{
    struct emit s = {.l = l};
    tensor_id wide[RECURRENT_DIRECTIONS];
    if (!lower_out_name(l, output))
        return ODLC_OK;
    for (uint32_t d = 0; d < r->directions; d++) {
        struct shape shape = build_type(l->b, parts[d])->shape;
        for (uint32_t i = shape.rank++; i > axis; i--)
            shape.dims[i] = shape.dims[i - 1];
        shape.dims[axis] = 1;
        wide[d] = emit_reshape(&s, parts[d], &shape);
    }
    return emit_give(&s, output, emit_concat(&s, wide, r->directions, axis));
}

static odlc_status lower_recurrent(struct lower *l, const struct recurrent_kind *kind)
{
    struct emit s = {.l = l};
    struct recurrent r;
    tensor_id y[RECURRENT_DIRECTIONS], h[RECURRENT_DIRECTIONS], c[RECURRENT_DIRECTIONS];
    TRY(recurrent_read(l, kind, &r));
    for (uint32_t d = 0; d < r.directions; d++) {
        struct recurrent_result out = {.y = NO_TENSOR};
        out.h = recurrent_initial(&s, &r, r.h, d);
        out.c = recurrent_initial(&s, &r, r.c, d);
        TRY(s.status);
        if (!is_layer(&r))
            TRY(unroll(l, &r, d, &out));
        else if (kind == &gru)
            TRY(gru_layer(l, &r, d, &out));
        else
            TRY(lstm_layer(l, &r, d, &out));
        y[d] = out.y;
        h[d] = out.h;
        c[d] = out.c;
    }
    TRY(give(l, 0, &r, y, r.batch_first ? 2 : 1));
    TRY(give(l, 1, &r, h, r.batch_first));
    return kind->has_cell ? give(l, 2, &r, c, r.batch_first) : ODLC_OK;
}

odlc_status lower_gru(struct lower *l)
{
    return lower_recurrent(l, &gru);
}

odlc_status lower_lstm(struct lower *l)
{
    return lower_recurrent(l, &lstm);
}

odlc_status lower_rnn(struct lower *l)
{
    return lower_recurrent(l, &rnn);
}
