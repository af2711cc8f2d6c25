# SPDX-License-Identifier: Apache-2.0
"""Activation functions."""

import numpy as np
from case import Cases

CASES = Cases()
LINE = np.concatenate([np.linspace(-4, 8, 25), [-0.0, 0, np.inf, -np.inf, np.nan]])


def functions():
    for op in ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign", "Sigmoid", "Tanh"):
        within = 0 if op in ("Relu", "Relu6") else None
        for constant in (False, True):
            # Softsign of infinity is NaN in TensorFlow, too.
            c = CASES.new(f"{op}{', constant' * constant}")
            c.gives(c.node(op, [c.either(constant, LINE.astype(np.float32))]), within=within)
        c = CASES.new(f"{op} of halves")
        c.gives(c.node(op, [c.input(LINE[:25].astype(np.float16))]), within=2e-3)
        c = CASES.new(f"{op} of an image")
        c.gives(c.node(op, [c.input([1, 3, 4, 2], low=-4, high=8)]), within=within)
        c = CASES.new(f"{op} of a scalar")
        c.gives(c.node(op, [c.input([])]), within=within)
    for op in ("Relu", "Relu6"):
        c = CASES.new(f"{op} of integers")
        c.gives(c.node(op, [c.input([8], np.int32, low=-5, high=12)]))
    for alpha in (0.0, 0.01, 1.5):
        c = CASES.new(f"LeakyRelu with alpha {alpha}")
        c.gives(c.node("LeakyRelu", [c.input([20])], alpha=alpha))


def along_the_last_axis():
    for op in ("Softmax", "LogSoftmax"):
        for dims in ([5], [2, 5], [2, 3, 4], [1, 2, 3, 4], [2, 1], [0, 3]):
            c = CASES.new(f"{op} of {dims}")
            c.gives(c.node(op, [c.input(dims, low=-6, high=6)]))
        c = CASES.new(f"{op} of a constant")
        c.gives(c.node(op, [c.random_const([2, 5])]))
        c = CASES.new(f"{op} of large numbers")
        c.gives(c.node(op, [c.input(np.array([[1000, 1001, -1000]], np.float32))]))
        c = CASES.new(f"{op} of halves")
        c.gives(c.node(op, [c.input([2, 5], np.float16)]), within=2e-3)
        c = CASES.new(f"{op} of float64")
        c.gives(c.node(op, [c.input([2, 5], np.float64)]))
    c = CASES.new("Softmax of a scalar")
    c.node("Softmax", [c.input([])])
    c.refused("the input is a scalar")


functions()
along_the_last_axis()
