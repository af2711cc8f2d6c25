/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers, as shape rules and kernels read them (op_recurrent.c). */
#ifndef OP_SEQUENCE_H
#define OP_SEQUENCE_H

#include "op/params.h"

/* The extents of a layer: inputs of `in` elements become states of `units` elements. */
struct sequence {
    int64_t steps, batch, in, units;
    bool time_major, reverse;
};

/* From the input and the weights of the input. False when their ranks do not fit. */
bool sequence_read(const struct node *n, const struct shape *x, const struct shape *w, struct sequence *s);

enum lstm_gate { GATE_I, GATE_F, GATE_C, GATE_O, LSTM_GATES };
/* The operands of each gate. */
extern const uint8_t lstm_w[LSTM_GATES], lstm_r[LSTM_GATES], lstm_bias[LSTM_GATES];

/* Other operands, by their index. */
enum { LSTM_H = 10, LSTM_C = 11, LSTM_PEEPHOLE_I = 18, LSTM_PEEPHOLE_F, LSTM_PEEPHOLE_O };
enum { GRU_W = 1, GRU_R = 4, GRU_BIAS_W = 7, GRU_BIAS_R = 10, GRU_H = 13 };

enum gru_gate { GATE_UPDATE, GATE_RESET, GATE_NEW, GRU_GATES };

#endif
