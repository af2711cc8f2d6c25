# SPDX-License-Identifier: Apache-2.0
"""How cases are written."""

import numpy as np
from case import Cases

CASES = Cases()


def identities():
    for dtype in (np.float32, np.float16, np.int32, np.int64, np.bool_):
        c = CASES.new(f"identity of {np.dtype(dtype).name}")
        x = c.input([2, 3], dtype)
        c.gives(c.node("Identity", [x]))


def relu():
    for shape in ([], [5], [2, 3, 4], [1, 4, 4, 3]):
        c = CASES.new(f"relu of rank {len(shape)}")
        c.gives(c.node("Relu", [c.input(shape)]), within=0)
    c = CASES.new("relu of an open batch")
    c.gives(c.node("Relu", [c.input([2, 3], shape=[None, 3])]), within=0)
    c = CASES.new("relu of a constant")
    c.gives(c.node("Relu", [c.node("Identity", [c.random_const([2, 3])])]), within=0)


def variables():
    c = CASES.new("a variable")
    read = c.node("ReadVariableOp", [c.variable(c.random([3]))], dtype=np.float32)
    c.gives(c.node("Relu", [read]), c.node("AddV2", [c.input([2, 3]), read]))


def refusals():
    c = CASES.new("an audio file")
    c.node("DecodeWav", [c.const(np.array("bytes"))])
    c.refused("cut the graph behind it with --input_dim")


identities()
relu()
variables()
refusals()
