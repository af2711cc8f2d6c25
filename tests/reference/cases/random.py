# SPDX-License-Identifier: Apache-2.0
"""Random numbers: results that do not depend on them, and refusals."""

import numpy as np
from case import Cases

CASES = Cases()
F32, F16, F64, I32, I64, BOOL = np.float32, np.float16, np.float64, np.int32, np.int64, np.bool_


def uniform(c, op, dims, dtype):
    shape = c.const(np.array(dims, I32))
    if op == "RandomUniform":
        return c.node(op, [shape], dtype=dtype)
    if op == "StatelessRandomUniform":
        return c.node(op, [shape, c.const(np.array([1, 2], I64))], dtype=dtype)
    key, counter = c.const(np.array([1], np.uint64)), c.const(np.array([1, 2], np.uint64))
    return c.node(op, [shape, key, counter, c.const(np.array(1, I32))], dtype=dtype)


def scaled(c, numbers, dtype):
    """As graphs make numbers between 0 and 1 of those."""
    low, high = c.const(np.array(0, dtype)), c.const(np.array(1, dtype))
    return c.node("Add", [c.node("Mul", [numbers, c.node("Sub", [high, low])]), low])


def dropouts():
    for op in ("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"):
        for dtype in (F32, F16, F64):
            for add in ("Add", "AddV2"):
                c = CASES.new(f"dropout by {op} {np.dtype(dtype).name} {add}")
                x, keep = c.input([2, 3], dtype), c.const(np.array(1, dtype))
                numbers = scaled(c, uniform(c, op, [2, 3], dtype), dtype)
                mask = c.node("Floor", [c.node(add, [keep, c.node("Identity", [numbers])])])
                c.gives(c.node("Mul", [c.node("RealDiv", [x, keep]), mask]))
    for rate in (0.0, 1.0, -0.5):
        c = CASES.new(f"dropout that compares with {rate}")
        x = c.input([2, 3])
        mask = c.node("GreaterEqual", [uniform(c, "RandomUniform", [2, 3], F32), c.const(np.array(rate, F32))])
        c.gives(c.node("Mul", [x, c.node("Cast", [mask], SrcT=BOOL, DstT=F32)]))
    c = CASES.new("a number that random ones are below")
    mask = c.node("GreaterEqual", [c.const(np.array([1, 2], F32)), uniform(c, "RandomUniform", [3, 1], F32)])
    c.gives(mask)
    c = CASES.new("random numbers after and before known ones")
    numbers = c.node("Sub", [c.const(np.array([4.5, 4], F32)), uniform(c, "RandomUniform", [2], F32)])
    numbers = c.node("Sub", [c.node("Mul", [numbers, c.const(np.array(-0.125, F32))]), c.const(np.array(0.25, F32))])
    c.gives(c.node("Floor", [numbers]))


def refusals():
    c = CASES.new("a dropout that drops")
    x, keep = c.input([2, 3]), c.const(np.array(0.5, F32))
    mask = c.node("Floor", [c.node("Add", [keep, uniform(c, "RandomUniform", [2, 3], F32)])])
    c.node("Mul", [x, mask])
    c.refused("its result depends on random numbers between 0.5 and 1.5")
    c = CASES.new("a dropout whose keep_prob is a graph input")
    keep = c.input(np.array(1, F32), name="keep_prob")
    c.node("Floor", [c.node("Add", [keep, uniform(c, "RandomUniform", [2, 3], F32)])])
    c.refused("--freeze_input keep_prob:0=FILE")
    c = CASES.new("a comparison with random numbers")
    c.node("GreaterEqual", [uniform(c, "RandomUniform", [2, 3], F32), c.const(np.array(0.25, F32))])
    c.refused("its result depends on random numbers between 0 and 1")
    c = CASES.new("a sum of random numbers")
    c.node("Add", [uniform(c, "RandomUniform", [2], F32), uniform(c, "RandomUniform", [2], F32)])
    c.refused("both inputs are random numbers")
    c = CASES.new("a function of random numbers")
    c.node("Exp", [uniform(c, "RandomUniform", [2], F32)])
    c.refused("input 0 is made of random numbers instead of a tensor")
    c = CASES.new("random numbers as output")
    uniform(c, "RandomUniform", [2], F32)
    c.refused("is made of random numbers: a container holds tensors alone")
    c = CASES.new("normal numbers")
    c.node("RandomStandardNormal", [c.const(np.array([2], I32))], dtype=F32)
    c.refused("its result is random")


dropouts()
refusals()
