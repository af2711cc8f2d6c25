/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's fused cells of recurrent layers: LSTMBlockCell and GRUBlockCell, one step each, and BlockLSTM, whose
 * steps are written out one by one. The container's Lstm has no form for clipped states, and gives no gates. */
#include "converters/lowering/constants.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* ODLC_ERR_INVALID unless input i has the shape. */
static odlc_status need_shape(const struct lower *l, uint32_t i, const char *what, struct shape wanted, tensor_id *out)
{
    TRY(lower_need(l, i, what, out));
    const struct shape *shape = &build_type(l->b, *out)->shape;
    if (!shape_equal(shape, &wanted))
        return lower_invalid(l, what, NULL, "input %u (%s) has the shape %s instead of %s", i, what,
                             shape_text(l->diags->arena, shape), shape_text(l->diags->arena, &wanted));
    return ODLC_OK;
}

static odlc_status need_rank(const struct lower *l, uint32_t i, const char *what, uint32_t rank, struct shape *out)
{
    tensor_id in;
    TRY(lower_need(l, i, what, &in));
    *out = build_type(l->b, in)->shape;
    if (out->rank != rank)
        return lower_invalid(l, what, NULL, "input %u (%s) has the shape %s instead of one of rank %u", i, what,
                             shape_text(l->diags->arena, out), rank);
    return ODLC_OK;
}

/* (x, h) · weights + bias */
static tensor_id gates_of(struct emit *s, tensor_id x, tensor_id h, tensor_id weights, tensor_id bias)
{
    tensor_id both = emit_concat(s, (const tensor_id[]){x, h}, 2, 1);
    return emit_binary(s, OP_ElementWiseAdd, emit_matmul(s, both, weights, false, false), bias);
}

/* a · b + c · d */
static tensor_id sum_of_products(struct emit *s, tensor_id a, tensor_id b, tensor_id c, tensor_id d)
{
    tensor_id first = emit_binary(s, OP_ElementWiseMultiply, a, b);
    return emit_binary(s, OP_ElementWiseAdd, first, emit_binary(s, OP_ElementWiseMultiply, c, d));
}

/* ---- LSTM ---- */

/* The outputs, as the operators list them. */
enum { INPUT_GATE, STATE, FORGET_GATE, OUTPUT_GATE, CANDIDATE, SQUASHED_STATE, RESULT, OUTPUTS };

struct lstm {
    tensor_id x, state, result; /* before the step */
    tensor_id weights, bias;
    tensor_id peepholes[3]; /* of the gates input, forget and output; NO_TENSOR: none */
    double forget_bias, clip;
    bool forget_second; /* among the gates, before the candidate */
    int64_t batch, units;
};

/* The operands from input `first` on, of which x, the first one, has the shape given. */
static odlc_status read_lstm(const struct lower *l, uint32_t first, const struct shape *x, struct lstm *c)
{
    static const char *const names[] = {"wci", "wcf", "wco"};
    struct shape weights;
    bool peepholes;
    c->batch = x->dims[x->rank - 2];
    TRY(need_rank(l, first + 3, "w", 2, &weights));
    c->units = weights.dims[1] / 4;
    TRY(need_shape(l, first + 3, "w", SHAPE(x->dims[x->rank - 1] + c->units, 4 * c->units), &c->weights));
    TRY(need_shape(l, first + 1, "cs_prev", SHAPE(c->batch, c->units), &c->state));
    TRY(need_shape(l, first + 2, "h_prev", SHAPE(c->batch, c->units), &c->result));
    TRY(need_shape(l, first + 7, "b", SHAPE(4 * c->units), &c->bias));
    TRY(lower_attr_bool(l, "use_peephole", false, &peepholes));
    for (uint32_t i = 0; i < COUNT_OF(names); i++) {
        c->peepholes[i] = NO_TENSOR;
        if (peepholes)
            TRY(need_shape(l, first + 4 + i, names[i], SHAPE(c->units), &c->peepholes[i]));
    }
    c->forget_second = l->variant != NULL;
    TRY(lower_attr_float(l, "forget_bias", c->forget_second ? 0 : 1, &c->forget_bias));
    return lower_attr_float(l, "cell_clip", c->forget_second ? 0 : 3, &c->clip);
}

/* Part i of the gates, to which a peephole adds what the state weighs. */
static tensor_id part(struct emit *s, const struct lstm *c, tensor_id gates, int64_t i)
{
    return emit_slice(s, gates, 1, i * c->units, (i + 1) * c->units);
}

static tensor_id opened(struct emit *s, tensor_id gate, tensor_id state, tensor_id peephole)
{
    if (peephole != NO_TENSOR)
        gate = emit_binary(s, OP_ElementWiseAdd, gate, emit_binary(s, OP_ElementWiseMultiply, state, peephole));
    return emit_unary(s, OP_Sigmoid, gate);
}

static void step(struct emit *s, const struct lstm *c, tensor_id *out)
{
    tensor_id gates = gates_of(s, c->x, c->result, c->weights, c->bias);
    tensor_id forget = part(s, c, gates, c->forget_second ? 1 : 2);
    if (c->forget_bias != 0)
        forget = emit_binary(s, OP_ElementWiseAdd, forget, emit_scalar(s, forget, c->forget_bias));
    out[INPUT_GATE] = opened(s, part(s, c, gates, 0), c->state, c->peepholes[0]);
    out[FORGET_GATE] = opened(s, forget, c->state, c->peepholes[1]);
    out[CANDIDATE] = emit_unary(s, OP_Tanh, part(s, c, gates, c->forget_second ? 2 : 1));
    out[STATE] = sum_of_products(s, out[CANDIDATE], out[INPUT_GATE], out[FORGET_GATE], c->state);
    if (c->clip > 0)
        out[STATE] = emit_clamp(s, out[STATE], -c->clip, c->clip);
    out[SQUASHED_STATE] = emit_unary(s, OP_Tanh, out[STATE]);
    out[OUTPUT_GATE] = opened(s, part(s, c, gates, 3), out[STATE], c->peepholes[2]);
    out[RESULT] = emit_binary(s, OP_ElementWiseMultiply, out[OUTPUT_GATE], out[SQUASHED_STATE]);
}

odlc_status tf_lstm_cell(struct lower *l)
{
    struct emit s = {.l = l};
    struct lstm c;
    struct shape x;
    tensor_id out[OUTPUTS];
    TRY(lower_need(l, 0, "x", &c.x));
    TRY(need_rank(l, 0, "x", 2, &x));
    TRY(read_lstm(l, 0, &x, &c));
    step(&s, &c, out);
    for (uint32_t i = 0; i < OUTPUTS; i++)
        TRY(emit_give(&s, i, out[i]));
    return s.status;
}

/* How many steps are computed: as many as seq_len_max says, or all where it is not known. */
static odlc_status read_steps(const struct lower *l, int64_t all, int64_t *out)
{
    tensor_id given;
    *out = all;
    TRY(lower_need(l, 0, "seq_len_max", &given));
    if (shape_count(&build_type(l->b, given)->shape) != 1)
        return lower_invalid(l, "seq_len_max", NULL, "input 0 (seq_len_max) is not one number");
    if (build_is_const(l->b, given))
        TRY(lower_one_int(l, 0, "seq_len_max", out));
    if (*out < 0 || *out > all)
        return lower_invalid(l, "seq_len_max", NULL, "seq_len_max is %lld, and x has %lld steps", (long long)*out,
                             (long long)all);
    return lower_check_trips(l, "steps", (uint64_t)all);
}

/* Output i: the parts of all steps, with zeros where is_step, if it is there, says that a step is beyond seq_len_max.
 */
static odlc_status give_steps(struct emit *s, uint32_t i, const tensor_id *parts, uint32_t all, tensor_id is_step)
{
    tensor_id steps = emit_stack(s, parts, all, 0);
    if (is_step != NO_TENSOR)
        steps = emit_select(s, is_step, steps, emit_scalar(s, steps, 0));
    return emit_give(s, i, steps);
}

/* Which of the steps there are when seq_len_max is not known: [steps, 1, 1] */
static tensor_id steps_that_are(struct emit *s, int64_t all)
{
    if (build_is_const(s->l->b, s->l->in[0]))
        return NO_TENSOR;
    tensor_id end = emit_reshape(s, emit_cast(s, s->l->in[0], DT_INT32), &SHAPE(1));
    tensor_id positions = emit_reshape(s, emit_positions(s, all), &SHAPE(all, 1, 1));
    return emit_binary(s, OP_ElementWiseLess, positions, end);
}

odlc_status tf_block_lstm(struct lower *l)
{
    struct emit s = {.l = l};
    struct lstm c;
    struct shape x;
    tensor_id all_x, out[OUTPUTS], *parts;
    int64_t steps;
    TRY(lower_need(l, 1, "x", &all_x));
    TRY(need_rank(l, 1, "x", 3, &x));
    TRY(read_lstm(l, 1, &x, &c));
    TRY(read_steps(l, x.dims[0], &steps));
    const enum dtype dtype = build_type(l->b, all_x)->dtype;
    const uint32_t all = (uint32_t)x.dims[0];
    const struct shape of_step = SHAPE(c.batch, c.units), of_all = SHAPE(all, c.batch, c.units);
    if (steps == 0) {
        for (uint32_t i = 0; i < OUTPUTS && i < l->n_out; i++)
            l->out[i] = lower_splat(l, lower_out_name(l, i), dtype, &of_all, 0);
        return ODLC_OK;
    }
    parts = arena_array(l->arena, tensor_id, (size_t)all * OUTPUTS);
    tensor_id zeros = lower_splat(l, step_name(l, "zeros"), dtype, &of_step, 0);
    for (uint32_t k = 0; k < all; k++) {
        if (k < steps) {
            c.x = emit_element(&s, all_x, 0, k);
            step(&s, &c, out);
            c.state = out[STATE];
            c.result = out[RESULT];
        }
        for (uint32_t i = 0; i < OUTPUTS; i++)
            parts[(size_t)i * all + k] = k < steps ? out[i] : zeros;
    }
    tensor_id is_step = steps_that_are(&s, all);
    for (uint32_t i = 0; i < OUTPUTS && i < l->n_out; i++)
        TRY(give_steps(&s, i, &parts[(size_t)i * all], all, is_step));
    return s.status;
}

/* ---- GRU ---- */

/* The next state is u · h + (1 − u) · candidate, whose part of the state the other gate r lets through. */
odlc_status tf_gru_cell(struct lower *l)
{
    struct emit s = {.l = l};
    struct shape of_x, state;
    tensor_id x, h, weights, candidate_weights, bias, candidate_bias;
    TRY(lower_need(l, 0, "x", &x));
    TRY(need_rank(l, 0, "x", 2, &of_x));
    TRY(need_rank(l, 1, "h_prev", 2, &state));
    const int64_t units = state.dims[1], in = of_x.dims[1] + units;
    TRY(need_shape(l, 1, "h_prev", SHAPE(of_x.dims[0], units), &h));
    TRY(need_shape(l, 2, "w_ru", SHAPE(in, 2 * units), &weights));
    TRY(need_shape(l, 3, "w_c", SHAPE(in, units), &candidate_weights));
    TRY(need_shape(l, 4, "b_ru", SHAPE(2 * units), &bias));
    TRY(need_shape(l, 5, "b_c", SHAPE(units), &candidate_bias));
    tensor_id gates = emit_unary(&s, OP_Sigmoid, gates_of(&s, x, h, weights, bias));
    tensor_id r = emit_slice(&s, gates, 1, 0, units), u = emit_slice(&s, gates, 1, units, 2 * units);
    tensor_id let = emit_binary(&s, OP_ElementWiseMultiply, h, r);
    tensor_id c = emit_unary(&s, OP_Tanh, gates_of(&s, x, let, candidate_weights, candidate_bias));
    tensor_id rest = emit_binary(&s, OP_ElementWiseSubtract, emit_scalar(&s, u, 1), u);
    const tensor_id out[] = {r, u, c, sum_of_products(&s, u, h, rest, c)};
    for (uint32_t i = 0; i < COUNT_OF(out); i++)
        TRY(emit_give(&s, i, out[i]));
    return s.status;
}
