# SPDX-License-Identifier: Apache-2.0
"""Cells of recurrent layers: LSTMBlockCell, GRUBlockCell, and BlockLSTM, which has steps."""

import numpy as np
from case import Cases

CASES = Cases()
BATCH, IN, UNITS, STEPS = 3, 4, 5, 6


def weights(c, constant, dtype, dims, scale):
    values = c.random(dims, np.float32, -scale, scale).astype(dtype)
    return c.either(constant, values)


def operands(c, x, constant=True, dtype=np.float32, scale=1):
    """x, the states and the weights of an LSTM: x's last axis and those of units differ, so that none can be taken for another."""
    states = [c.input([BATCH, UNITS], dtype), c.input([BATCH, UNITS], dtype, -1, 1)]
    return [x, *states, weights(c, constant, dtype, [IN + UNITS, 4 * UNITS], scale), *(weights(c, constant, dtype, [UNITS], 1) for _ in range(3)),
            weights(c, constant, dtype, [4 * UNITS], 1)]


def lstm_cells():
    for constant in (True, False):
        for attributes in ({}, {"use_peephole": True}, {"forget_bias": -0.5}, {"cell_clip": 0.75}, {"cell_clip": -1.0},
                           {"use_peephole": True, "cell_clip": 0.5, "forget_bias": 0.0}):
            c = CASES.new(f"LSTM cell {attributes}, {constant=}")
            y = c.node("LSTMBlockCell", operands(c, c.input([BATCH, IN]), constant), **attributes)
            c.gives(*(y[i] for i in range(7)))
    c = CASES.new("LSTM cell of which one output is read")
    c.gives(c.node("LSTMBlockCell", operands(c, c.input([BATCH, IN])))[6])
    c = CASES.new("LSTM cell whose states grow")
    y = c.node("LSTMBlockCell", operands(c, c.input([BATCH, IN]), scale=9), cell_clip=0.0)
    c.gives(*(y[i] for i in range(7)))
    c = CASES.new("LSTM cell of known numbers")
    known = [c.random_const([2, 1]), c.random_const([2, 2]), c.random_const([2, 2]), c.random_const([3, 8]), *(c.random_const([2]) for _ in range(3)),
             c.random_const([8])]
    y = c.node("LSTMBlockCell", known)
    c.gives(*(y[i] for i in range(7)))


def lstm_layers():
    for op in ("BlockLSTM", "BlockLSTMV2"):
        for steps in (0, 1, 4, STEPS):
            for constant in (True, False):
                c = CASES.new(f"{op} of {steps} steps, {constant=}")
                y = c.node(op, [c.either(constant, np.array(steps, np.int64)), *operands(c, c.input([STEPS, BATCH, IN]))])
                # behind the last step TensorFlow sets states and results alone: other outputs are what was in memory
                c.gives(*(y[i] for i in (range(7) if steps == STEPS else (1, 6))))
        for attributes in ({"use_peephole": True}, {"cell_clip": 0.5}, {"cell_clip": 0.0}, {"use_peephole": True, "cell_clip": 0.25}):
            c = CASES.new(f"{op} {attributes}")
            y = c.node(op, [c.const(np.int64(STEPS)), *operands(c, c.input([STEPS, BATCH, IN]), constant=False)], **attributes)
            c.gives(*(y[i] for i in range(7)))
        c = CASES.new(f"results of {op}")
        y = c.node(op, [c.const(np.int64(STEPS)), *operands(c, c.input([STEPS, BATCH, IN]))])
        c.gives(y[6])
        c = CASES.new(f"{op} of one step")
        y = c.node(op, [c.const(np.int64(1)), *operands(c, c.input([1, BATCH, IN]))])
        c.gives(y[1], y[6])
        c = CASES.new(f"{op} of more steps than there are")
        c.node(op, [c.const(np.int64(STEPS + 1)), *operands(c, c.input([STEPS, BATCH, IN]))])
        c.refused("seq_len_max is 7, and x has 6 steps")
        c = CASES.new(f"{op} of several lengths")
        c.node(op, [c.input(np.array([1, 2], np.int64)), *operands(c, c.input([STEPS, BATCH, IN]))])
        c.refused("input 0 (seq_len_max) is not one number")
        c = CASES.new(f"{op} without steps")
        c.node(op, [c.const(np.int64(1)), *operands(c, c.input([BATCH, IN]))])
        c.refused("input 1 (x) has the shape [3,4] instead of one of rank 3")
    c = CASES.new("BlockLSTM that forgets")
    y = c.node("BlockLSTM", [c.const(np.int64(STEPS)), *operands(c, c.input([STEPS, BATCH, IN]))], forget_bias=-2.0)
    c.gives(*(y[i] for i in range(7)))


def gru_cells():
    def of(c, constant, dims=None, h=None):
        x, h = c.input([BATCH, IN]), c.input(h or [BATCH, UNITS])
        dims = {"w_ru": [IN + UNITS, 2 * UNITS], "w_c": [IN + UNITS, UNITS], "b_ru": [2 * UNITS], "b_c": [UNITS], **(dims or {})}
        return c.node("GRUBlockCell", [x, h, *(weights(c, constant, np.float32, of, 1) for of in dims.values())])

    for constant in (True, False):
        c = CASES.new(f"GRU cell, {constant=}")
        y = of(c, constant)
        c.gives(*(y[i] for i in range(4)))
    c = CASES.new("GRU cell of which one output is read")
    c.gives(of(c, True)[3])
    for name, dims, part in (("w_ru", [9, 5], "input 2 (w_ru) has the shape [9,5] instead of [9,10]"),
                             ("w_c", [5, 5], "input 3 (w_c) has the shape [5,5] instead of [9,5]"),
                             ("b_ru", [5], "input 4 (b_ru) has the shape [5] instead of [10]"),
                             ("b_c", [1], "input 5 (b_c) has the shape [1] instead of [5]")):
        c = CASES.new(f"GRU cell with another {name}")
        of(c, True, {name: dims})
        c.refused(part)
    c = CASES.new("GRU cell of another batch")
    of(c, True, h=[2, UNITS])
    c.refused("input 1 (h_prev) has the shape [2,5] instead of [3,5]")


def odd_cells():
    for i, name, dims, part in ((1, "state", [2, UNITS], "input 1 (cs_prev) has the shape [2,5] instead of [3,5]"),
                                (2, "result", [BATCH, 4], "input 2 (h_prev) has the shape [3,4] instead of [3,5]"),
                                (3, "weight", [IN, 4 * UNITS], "input 3 (w) has the shape [4,20] instead of [9,20]"),
                                (4, "peephole", [1], "input 4 (wci) has the shape [1] instead of [5]"),
                                (7, "bias", [UNITS], "input 7 (b) has the shape [5] instead of [20]")):
        c = CASES.new(f"LSTM cell with another {name}")
        given = operands(c, c.input([BATCH, IN]))
        given[i] = c.input(dims)
        c.node("LSTMBlockCell", given, use_peephole=True)
        c.refused(part)


lstm_cells()
lstm_layers()
gru_cells()
odd_cells()
