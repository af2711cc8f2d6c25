# SPDX-License-Identifier: Apache-2.0
"""Reductions, positions of extremes, running sums and products, the normalization by a root of squares."""

import numpy as np
from case import Cases

CASES = Cases()
F32, F16, F64, I32, I64, U8, BOOL = np.float32, np.float16, np.float64, np.int32, np.int64, np.uint8, np.bool_
NUMBERS = ("Sum", "Mean", "Prod", "Max", "Min")


def label(dtype):
    return np.dtype(dtype).name


def reductions():
    for op in (*NUMBERS, "All", "Any", "EuclideanNorm"):
        dtype = BOOL if op in ("All", "Any") else F32
        for axes in (0, -1, [1], [0, 2], [-1, 0], [0, 1, 2], []):
            for keep in (None, False, True):
                attributes = {} if keep is None else {"keep_dims": keep}
                c = CASES.new(f"{op} along {axes}, keep {keep}")
                c.gives(c.node(op, [c.input([2, 3, 4], dtype), c.const(np.array(axes, I32))], **attributes))
        c = CASES.new(f"{op} of a constant, axes of int64")
        c.gives(c.node(op, [c.const(c.random([2, 3], dtype)), c.const(np.array([1], I64))]))
        c = CASES.new(f"{op} of a scalar")
        c.gives(c.node(op, [c.input([], dtype), c.const(np.array([], I32))]))
    for op in NUMBERS:
        for dtype in (F16, F64, I32, I64, U8):
            for constant in (False, True):
                c = CASES.new(f"{op} of {label(dtype)}{', constant' * constant}")
                x = c.either(constant, [2, 3, 4], dtype, low=-9, high=9) if op != "Prod" else c.either(constant, [2, 3], dtype)
                c.gives(c.node(op, [x, c.const(np.array([1], I32))]), within=2e-3)
        c = CASES.new(f"{op} of an image")
        c.gives(c.node(op, [c.input([1, 3, 4, 2]), c.const(np.array([1, 2], I32))]))
    for op in ("Max", "Min", "Sum"):
        c = CASES.new(f"{op} of special values")
        values = np.array([[1, np.nan, 3], [np.inf, 2, 3], [-np.inf, 0, 1]], F32)
        c.gives(c.node(op, [c.input(values), c.const(np.array([1], I32))]))


def reductions_refused():
    c = CASES.new("Sum along an axis twice")
    c.node("Sum", [c.input([2, 3]), c.const(np.array([1, -1], I32))])
    c.refused("has axis 1 twice")
    c = CASES.new("Sum along an axis that there is not")
    c.node("Sum", [c.input([2, 3]), c.const(np.array(2, I32))])
    c.refused("reduction_indices 2 is outside a tensor of rank 2")
    c = CASES.new("Sum along computed axes")
    c.node("Sum", [c.input([2, 3]), c.input(np.array([1], I32), name="axes")])
    c.refused("--freeze_input axes:0=FILE")
    c = CASES.new("EuclideanNorm of integers")
    c.node("EuclideanNorm", [c.input([2, 3], I32), c.const(np.array(1, I32))])
    c.refused("a root of int32 is not supported")


def losses():
    for dims in ([], [3], [2, 3], [0]):
        for constant in (False, True):
            c = CASES.new(f"L2Loss of {dims}{', constant' * constant}")
            c.gives(c.node("L2Loss", [c.either(constant, dims)]))


def extremes():
    values = np.array([[3, 7, 7, 1], [0, 0, -2, -2]])
    for op in ("ArgMax", "ArgMin"):
        for dtype in (F32, F16, I32, U8):
            for axis in (0, 1, -1):
                for to in (None, I32, I64):
                    attributes = {} if to is None else {"output_type": to}
                    for constant in (False, True):
                        c = CASES.new(f"{op} of {label(dtype)} along {axis} to {to and label(to)}{', constant' * constant}")
                        x = c.either(constant, np.abs(values).astype(dtype) if dtype == U8 else values.astype(dtype))
                        c.gives(c.node(op, [x, c.const(np.array(axis, I32))], **attributes))
        c = CASES.new(f"{op} of rank 4")
        c.gives(c.node(op, [c.input([1, 3, 4, 2]), c.const(np.array(3, I64))], Tidx=I64))
    c = CASES.new("ArgMax to int16")
    c.gives(c.node("ArgMax", [c.input([2, 3]), c.const(np.array(1, I32))], output_type=np.uint16))


def running():
    for op in ("Cumsum", "Cumprod"):
        for exclusive in (None, False, True):
            for reverse in (None, False, True):
                attributes = {name: value for name, value in (("exclusive", exclusive), ("reverse", reverse))
                              if value is not None}
                c = CASES.new(f"{op} {exclusive} {reverse}")
                c.gives(c.node(op, [c.input([2, 4]), c.const(np.array(1, I32))], **attributes))
        for axis in (0, -2, 2):
            c = CASES.new(f"{op} along {axis}")
            c.gives(c.node(op, [c.input([2, 3, 4]), c.const(np.array(axis, I64))]))
        for dtype in (I32, I64, F16):
            for constant in (False, True):
                c = CASES.new(f"{op} of {label(dtype)}{', constant' * constant}")
                c.gives(c.node(op, [c.either(constant, [5], dtype), c.const(np.array(0, I32))]), within=2e-3)


def normalizations():
    """x · rsqrt(max(Σ x², ε)), which is one op of the container."""
    for axes in ([1], [0, 1], -1, [3], [1, 2]):
        for swap in (False, True):
            c = CASES.new(f"L2 norm along {axes} {swap}")
            x = c.input([2, 3, 4, 5] if axes in ([3], [1, 2]) else [2, 3])
            squares = c.node("Square", [x])
            total = c.node("Sum", [squares, c.const(np.array(axes, I32))], keep_dims=True)
            bound = c.const(np.array(1e-12, F32))
            bounded = c.node("Maximum", [bound, total] if swap else [total, bound])
            factor = c.node("Rsqrt", [bounded])
            c.gives(c.node("Mul", [factor, x] if swap else [x, factor]))
    c = CASES.new("L2 norm of a small vector, bounded")
    x = c.input(np.array([[0.1, -0.2], [3, 4]], F32))
    total = c.node("Sum", [c.node("Square", [x]), c.const(np.array(1, I32))], keep_dims=True)
    factor = c.node("Rsqrt", [c.node("Maximum", [total, c.const(np.array(1, F32))])])
    c.gives(c.node("Mul", [x, factor]))
    c = CASES.new("L2 norm whose factor is an output, too")
    x = c.input([2, 3])
    total = c.node("Sum", [c.node("Square", [x]), c.const(np.array(1, I32))], keep_dims=True)
    factor = c.node("Rsqrt", [c.node("Maximum", [total, c.const(np.array(1e-6, F32))])])
    c.gives(c.node("Mul", [x, factor]), factor)
    c = CASES.new("a product with another factor")
    x = c.input([3, 3])
    total = c.node("Sum", [c.node("Square", [x]), c.const(np.array(1, I32))])
    factor = c.node("Rsqrt", [c.node("Maximum", [total, c.const(np.array(1e-6, F32))])])
    c.gives(c.node("Mul", [x, factor]))


reductions()
reductions_refused()
losses()
extremes()
running()
normalizations()
