/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX LSTM, GRU and RNN: what their lowering shares. */
#ifndef CONVERTERS_ONNX_LOWER_RECURRENT_H
#define CONVERTERS_ONNX_LOWER_RECURRENT_H

#include "converters/lowering/emit.h"

#define RECURRENT_FUNCTIONS 3
#define RECURRENT_DIRECTIONS 2

/* An activation function, by its row in the table of recurrent_functions.c. */
struct activation {
    uint32_t function;
    double alpha, beta;
};

/* What tells the three operators apart. */
struct recurrent_kind {
    uint32_t gates, functions;
    bool has_cell;  /* a second state */
    bool has_layer; /* the container has a layer for the operator's default form */
    const char *const *default_functions;
};

/* The node, read and checked. Weights have their gates in ONNX's order, one below the other. */
struct recurrent {
    const struct recurrent_kind *kind;
    int64_t steps, batch, in, units;
    uint32_t directions;
    bool reverse[RECURRENT_DIRECTIONS];
    bool batch_first;         /* layout 1: the batch's axis comes before the steps' and the directions' */
    bool couple_gates;        /* the forget gate is 1 - the input gate */
    bool linear_before_reset; /* the reset gate weighs the product with the state, not the state */
    double clip;              /* of what goes into the gates' functions; 0: none */
    struct activation functions[RECURRENT_DIRECTIONS][RECURRENT_FUNCTIONS];
    tensor_id x, w, r;                  /* w, r: [directions · gates · units, in or units] */
    tensor_id bias, peepholes, lengths; /* bias, peepholes: [elements]; NO_TENSOR: none */
    tensor_id h, c;                     /* initial states, as the node has them, or NO_TENSOR */
};

/* What one direction gives: the state after every step, [steps, batch, units] (batch_first: [batch, steps, units]),
 * and the states after the last step, [batch, units]. c only for LSTM. */
struct recurrent_result {
    tensor_id y, h, c;
};

/* ---- reading (recurrent_read.c) ---- */
/* Reads and checks inputs and attributes of the node. ODLC_ERR_INVALID: shapes or attributes that do not fit each
 * other; ODLC_ERR_UNSUPPORTED: a sequence without steps. */
odlc_status recurrent_read(struct lower *l, const struct recurrent_kind *kind, struct recurrent *r) MUST_USE;

/* `count` gates from `gate` on of the weights (w or r) of a direction, [count · units, in or units]; `label` goes into
 * the constant's name. */
tensor_id recurrent_weights(struct emit *s, const struct recurrent *r, bool of_state, uint32_t direction, uint32_t gate,
                            uint32_t count, const char *label);
/* The same of the biases, [count · units]: of the input's product or the state's. NO_TENSOR when there are none. */
tensor_id recurrent_bias(struct emit *s, const struct recurrent *r, bool of_state, uint32_t direction, uint32_t gate,
                         uint32_t count);
/* Peephole weights, [units], by their place in the node's order; or NO_TENSOR. */
tensor_id recurrent_peephole(struct emit *s, const struct recurrent *r, uint32_t direction, uint32_t place);
/* The initial state (`state` is r->h or r->c) of a direction, [batch, units], or NO_TENSOR. */
tensor_id recurrent_initial(struct emit *s, const struct recurrent *r, tensor_id state, uint32_t direction);

/* ---- activation functions (recurrent_functions.c) ---- */
/* Reads activations, activation_alpha and activation_beta. ODLC_ERR_INVALID: a list of another length, or a function
 * that ONNX does not have; ODLC_ERR_UNSUPPORTED: values that could be of several functions. */
odlc_status recurrent_read_functions(struct lower *l, struct recurrent *r) MUST_USE;
/* Whether all functions of all directions are those that the operator has by default. */
bool recurrent_has_default_functions(const struct recurrent *r);
tensor_id recurrent_activate(struct emit *s, const struct activation *a, tensor_id x);

/* ---- step by step (recurrent_unroll.c) ---- */
/* One step of a direction: from x · Wᵀ + biases, [batch, gates · units], and the states before it to those after it. */
struct recurrent_cell;
typedef void recurrent_step_fn(struct emit *s, const struct recurrent_cell *cell, tensor_id from_x,
                               struct recurrent_result *state);

struct recurrent_cell {
    const struct recurrent *r;
    const struct activation *functions;
    tensor_id weights[2];   /* of the state: all gates, or for GRU its first two and the last */
    tensor_id bias;         /* GRU with linear_before_reset: of the state's product in the last gate, or NO_TENSOR */
    tensor_id peepholes[3]; /* LSTM: of input, output and forget gate, or NO_TENSOR */
    recurrent_step_fn *step;
};

/* Gate `gate` of the sums of several. */
tensor_id recurrent_gate(struct emit *s, const struct recurrent_cell *cell, tensor_id sums, uint32_t gate);
/* Function `function` of the direction, applied to the clipped sum. */
tensor_id recurrent_gate_value(struct emit *s, const struct recurrent_cell *cell, uint32_t function, tensor_id sum);
/* A direction as nodes for every step. */
odlc_status recurrent_unroll(struct lower *l, const struct recurrent_cell *cell, uint32_t direction,
                             struct recurrent_result *out) MUST_USE;

#endif
