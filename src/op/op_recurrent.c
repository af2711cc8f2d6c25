/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers over a sequence: Gru, Lstm. */
#include "op/families.h"
#include "op/infer.h"
#include "op/sequence.h"

/* ---- operands ---- */

/* What an operand is, by its index, one letter each: x the input, w weights of it, r weights of the state, v a vector
 * of units, s a state, S a state with an axis of 1 before it. '-': the operand must be absent. */
static const char lstm_operands[] = "xwwwrrrvvvss----wrvvvv---";
static const char gru_operands[] = "xwwwrrrvvvvvvS-";

bool sequence_read(const struct node *n, const struct shape *x, const struct shape *w, struct sequence *s)
{
    if (x->rank < 2 || x->rank > 3 || w->rank != 2)
        return false;
    s->time_major = node_int(n, PARAM_time_major, 1) != 0;
    s->reverse = node_int(n, PARAM_direction, 0) != 0;
    s->steps = x->rank == 3 ? x->dims[!s->time_major] : 1;
    s->batch = x->dims[x->rank == 3 && s->time_major];
    s->in = x->dims[x->rank - 1];
    s->units = w->dims[0];
    return true;
}

static struct shape operand_shape(const struct sequence *s, char kind, const struct shape *x)
{
    switch (kind) {
    case 'w':
        return SHAPE(s->units, s->in);
    case 'r':
        return SHAPE(s->units, s->units);
    case 'v':
        return SHAPE(s->units);
    case 's':
        return SHAPE(s->batch, s->units);
    case 'S':
        return SHAPE(1, s->batch, s->units);
    default:
        return *x;
    }
}

/* Checks the operands and gives the type of the sequence of states; `s` is read from them. */
static odlc_status infer_sequence(const struct infer *c, const char *operands, struct sequence *s)
{
    const struct type *x = infer_in(c, 0);
    if (!sequence_read(c->node, &x->shape, &infer_in(c, 1)->shape, s))
        return infer_error(c, "the input or the weights have the wrong rank");
    for (uint32_t i = 0; i < c->node->n_inputs; i++) {
        const struct tensor *in = node_input(c->graph, c->node, i);
        if (!in)
            continue;
        if (operands[i] == '-')
            return infer_error(c, "a layer normalization, a projection or a reset flag is not supported");
        struct shape wanted = operand_shape(s, operands[i], &x->shape);
        if (!shape_equal(&in->type->shape, &wanted))
            return infer_error(c, "input %u has the shape %s instead of %s", i,
                               shape_text(c->diags->arena, &in->type->shape), shape_text(c->diags->arena, &wanted));
    }
    TRY(need_real(c));
    c->out[0] = *x;
    c->out[0].shape.dims[x->shape.rank - 1] = s->units;
    return ODLC_OK;
}

static uint64_t macs_of_gates(const struct graph *g, const struct node *n, uint64_t gates)
{
    const struct shape *w = &node_input(g, n, 1)->type->shape;
    uint64_t per_unit = (uint64_t)(w->dims[0] + w->dims[1]);
    return sat_mul(shape_count(&node_output(g, n, 0)->type->shape), gates * per_unit);
}

/* ---- Lstm ---- */

const uint8_t lstm_w[] = {16, 1, 2, 3}, lstm_r[] = {17, 4, 5, 6}, lstm_bias[] = {21, 7, 8, 9};

static odlc_status infer_lstm(const struct infer *c)
{
    struct sequence s;
    for (size_t i = 0; i < COUNT_OF(lstm_w); i++)
        if (!node_input(c->graph, c->node, lstm_w[i]) || !node_input(c->graph, c->node, lstm_r[i]) ||
            !node_input(c->graph, c->node, lstm_bias[i]))
            return infer_error(c, "a gate has no weights or no bias");
    if (node_float(c->node, PARAM_cell_clip_threshold, 0) != 0 ||
        node_float(c->node, PARAM_output_clip_threshold, 0) != 0)
        return infer_error(c, "clipping is not supported");
    TRY(infer_sequence(c, lstm_operands, &s));
    for (uint32_t i = 1; i < c->node->n_outputs; i++)
        c->out[i] = (struct type){c->out[0].dtype, SHAPE(s.batch, s.units)};
    return ODLC_OK;
}

static uint64_t macs_lstm(const struct graph *g, const struct node *n)
{
    return macs_of_gates(g, n, LSTM_GATES);
}

/* ---- Gru ---- */

static odlc_status infer_gru(const struct infer *c)
{
    struct sequence s;
    if (infer_in(c, 0)->shape.rank != 3)
        return infer_error(c, "the input has the wrong rank");
    TRY(infer_sequence(c, gru_operands, &s));
    c->out[1] = (struct type){c->out[0].dtype, SHAPE(1, s.batch, s.units)};
    return ODLC_OK;
}

static uint64_t macs_gru(const struct graph *g, const struct node *n)
{
    return macs_of_gates(g, n, GRU_GATES);
}

/* ---- rows ---- */

#define RANGE_MASK(first, last) (((1u << ((last) - (first) + 1)) - 1) << (first))

static const struct param_def lstm_params[] = {
    {PARAM_NAMED(direction), .dtype = DT_UINT32, .presence = PARAM_DEFAULT},
    {PARAM_NAMED(cell_clip_threshold), .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT},
    {PARAM_NAMED(output_clip_threshold), .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT},
    {PARAM_NAMED(time_major), .dtype = DT_BOOL, .presence = PARAM_DEFAULT, .def = 1},
    {PARAM_NAMED(input_gate_qscale), .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL},
    {PARAM_NAMED(forget_gate_qscale), .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL},
    {PARAM_NAMED(cell_gate_qscale), .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL},
    {PARAM_NAMED(output_gate_qscale), .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL},
    {PARAM_NAMED(hidden_state_offset), .dtype = DT_NONE, .presence = PARAM_OPTIONAL},
    {PARAM_NAMED(hidden_state_qscale), .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL},
};

static const struct param_def gru_params[] = {
    {PARAM_NAMED(direction), .dtype = DT_UINT32, .presence = PARAM_DEFAULT},
    {PARAM_NAMED(linear_before_reset), .dtype = DT_UINT32, .presence = PARAM_DEFAULT},
    {PARAM_NAMED(time_major), .dtype = DT_BOOL, .presence = PARAM_DEFAULT, .def = 1},
};

const struct op op_rows_recurrent[] = {
    {.id = OP_Gru,
     .name = "Gru",
     .dlc_type = "Gru",
     .min_inputs = 7,
     .max_inputs = sizeof gru_operands - 1,
     .min_outputs = 2,
     .max_outputs = 2,
     .params = gru_params,
     .n_params = COUNT_OF(gru_params),
     .infer = infer_gru,
     .macs = macs_gru,
     .weights = RANGE_MASK(1, 12)},
    {.id = OP_Lstm,
     .name = "Lstm",
     .dlc_type = "Lstm",
     .min_inputs = 10,
     .max_inputs = sizeof lstm_operands - 1,
     .min_outputs = 3,
     .max_outputs = 3,
     .params = lstm_params,
     .n_params = COUNT_OF(lstm_params),
     .infer = infer_lstm,
     .macs = macs_lstm,
     .weights = RANGE_MASK(1, 9) | RANGE_MASK(16, 23)},
};
const size_t op_rows_recurrent_count = COUNT_OF(op_rows_recurrent);
