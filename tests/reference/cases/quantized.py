# SPDX-License-Identifier: Apache-2.0
"""Tensors of quantized types that the graph computes."""

import numpy as np
from case import Cases
from tf_writer import DType

CASES = Cases()
F32, I32 = np.float32, np.int32
TYPES = ("quint8", "qint8", "quint16", "qint16")
RANGES = ((-1, 1), (-0.3, 2.5), (0, 6), (0.5, 3), (-3, -1), (2, 2), (0, 0))


def away_from_halves(c, low, high, step, dims):
    """Reals a part of a step beside its multiples, not so near to the middle that rounding errors matter; the ends and some
    outside."""
    low, high = min(low, 0), max(high, 0)
    k = c.source.randint(int(np.floor(low / step)), int(np.ceil(high / step)) + 1, dims)
    values = (k + c.source.choice([-0.3, -0.1, 0, 0.2, 0.35], dims)) * step
    values.reshape(-1)[:4] = [low - 1, high + 1, 0, (low + high) / 2 + 0.2 * step]
    return values.astype(F32)


def bounds(c, low, high):
    return [c.const(np.array(bound, F32)) for bound in (low, high)]


def quantize(c, x, low, high, dtype, **attributes):
    return c.node("QuantizeV2", [x, *bounds(c, low, high)], T=DType(dtype), **attributes)


def reals(c, q, dtype, **attributes):
    """The integers of a quantized type as floats: graphs do not give quantized types."""
    return c.node("Dequantize", [q, q[1], q[2]], T=DType(dtype), **attributes)


def integers(c, q, dtype):
    return c.node("Cast", [q], SrcT=DType(dtype), DstT=F32)


def step_of(dtype, low, high, mode, narrow=False):
    """Reals from one integer to the next, as QuantizeV2 makes the range; its formula in the documentation."""
    kind = np.iinfo(dtype[1:])
    bottom = min(low, 0)
    top = max(0, high, bottom + 0.01 * max(1, abs(low), abs(high)))
    if mode == "SCALED":
        least = kind.min + narrow
        scales = [end / bound for end, bound in ((least, bottom), (kind.max, top)) if end * bound > 0]
        return 1 / min(scales)
    return (top - bottom) / (kind.max - kind.min)


def quantize_v2():
    for dtype in TYPES:
        for mode in (None, "MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for low, high in RANGES:
                attributes = {"mode": mode} if mode else {}
                if mode == "SCALED" and dtype.startswith("quint") and high < 0:
                    continue
                c = CASES.new(f"QuantizeV2 {dtype} {mode} {low} to {high}")
                step = step_of(dtype, low, high, mode)
                # 16 bits in floats: only few of them have a distance to the middle that rounding does not take.
                x = away_from_halves(c, low, high, step if dtype.endswith("8") else 37.4 * step, [3, 5])
                q = quantize(c, c.input(x), low, high, dtype, **attributes)
                c.gives(reals(c, q, dtype, **attributes), q[1], q[2], within=1e-6 if dtype.endswith("8") else 2e-5)


def options():
    for dtype in ("quint8", "qint8"):
        for round_mode in ("HALF_TO_EVEN", "HALF_AWAY_FROM_ZERO"):
            for narrow in (False, True):
                for constant in (False, True):
                    c = CASES.new(f"QuantizeV2 {dtype} halves {round_mode}{', narrow' * narrow}{', constant' * constant}")
                    x = np.array([-130, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 3.25, 130, 300], F32)
                    top = 127 if dtype == "qint8" else 255
                    q = quantize(c, c.either(constant, x), -top if dtype == "qint8" else 0, top, dtype, mode="SCALED",
                                 round_mode=round_mode, narrow_range=narrow)
                    c.gives(integers(c, q, dtype), q[1], q[2], within=0)
    for dtype in ("quint8", "qint8"):
        for mode in ("MIN_COMBINED", "SCALED"):
            for axis, dims in ((0, [3, 4]), (1, [2, 3, 2]), (2, [2, 2, 3])):
                c = CASES.new(f"QuantizeV2 {dtype} {mode} along axis {axis}")
                low, high = np.array([-1, -0.5, -3], F32), np.array([1, 2, 0.1], F32)
                x = np.moveaxis(np.stack([away_from_halves(c, a, b, step_of(dtype, a, b, mode), [4])
                                          for a, b in zip(low.tolist(), high.tolist())]).reshape([3, *np.delete(dims, axis)]), 0, axis)
                q = c.node("QuantizeV2", [c.input(np.ascontiguousarray(x)), c.const(low), c.const(high)], T=DType(dtype), mode=mode, axis=axis)
                c.gives(reals(c, q, dtype, mode=mode, axis=axis), q[1], q[2], within=1e-6)
    c = CASES.new("QuantizeV2 with a least range")
    q = quantize(c, c.input(np.array([-1, 0, 0.11, 0.3, 0.52], F32)), 0, 0.1, "quint8", ensure_minimum_range=0.5)
    c.gives(integers(c, q, "quint8"), q[1], q[2], within=0)


def others():
    for op in ("QuantizedRelu", "QuantizedRelu6"):
        for low, high in ((-3, 12), (-3, 5), (0, 8), (7, 9), (-5, -1)):
            c = CASES.new(f"{op} {low} to {high}")
            x = c.input(np.arange(0, 256, 5).astype(np.float32))
            q = quantize(c, x, 0, 255, "quint8", mode="SCALED")
            y = c.node(op, [q, *bounds(c, low, high)], Tinput=DType("quint8"), out_type=DType("quint8"))
            c.gives(integers(c, y, "quint8"), y[1], y[2], within=0)
    c = CASES.new("QuantizedReshape")
    q = quantize(c, c.input(np.array([[0, 1, 2], [3, 4, 200]], F32)), 0, 255, "quint8", mode="SCALED")
    y = c.node("QuantizedReshape", [q, c.const(np.array([3, -1], I32)), q[1], q[2]], T=DType("quint8"))
    c.gives(integers(c, y, "quint8"), y[1], y[2], within=0)
    c = CASES.new("a quantized layer in floats")
    q = quantize(c, c.input(np.array([[0.5, 1, 2], [3, 4, 6.25]], F32)), 0, 8, "quint8", mode="MIN_FIRST")
    y = c.node("MatMul", [reals(c, q, "quint8", mode="MIN_FIRST"), c.random_const([3, 4])])
    c.gives(c.node("Relu", [y]))


def refused():
    c = CASES.new("QuantizeV2 of a computed range")
    x = c.input([3], name="x")
    c.node("QuantizeV2", [x, c.node("Min", [x, c.const(np.array([0], I32))]), c.const(np.array(1, F32))], T=DType("quint8"))
    c.refused("input 1 (min_range) is not a constant")
    c = CASES.new("QuantizeV2 to qint32")
    quantize(c, c.input([3]), -1, 1, "qint32")
    c.refused("elements of type qint32 are not supported")
    c = CASES.new("QuantizeV2 of no range")
    quantize(c, c.input([3]), 1, -1, "qint8")
    c.refused("the range from 1 to -1 is none")
    c = CASES.new("QuantizeV2 of a range that no integer is for")
    quantize(c, c.input([3]), -3, -1, "quint8", mode="SCALED")
    c.refused("mode SCALED has no integers for the range from -3 to 0")
    c = CASES.new("QuantizeV2 of other ranges than the axis has")
    c.node("QuantizeV2", [c.input([2, 3]), *(c.const(np.array([bound] * 2, F32)) for bound in (-1, 1))], T=DType("qint8"), axis=1)
    c.refused("min_range has 2 elements instead of 3")
    c = CASES.new("QuantizeV2 with halves to even in another mode")
    quantize(c, c.input([3]), -1, 1, "qint8", round_mode="HALF_TO_EVEN")
    c.refused("round_mode HALF_TO_EVEN is there for mode SCALED alone")


quantize_v2()
options()
others()
refused()
