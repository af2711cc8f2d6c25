# SPDX-License-Identifier: Apache-2.0
"""Operators between tensors of quantized types, as tools that quantize graphs write them. Graphs do not give quantized types, so
integers are compared as floats: sums of products are exact, and bytes that were rounded on the way are, too, but for the rare
ones beside a half."""

import numpy as np
from case import Cases
from tf_writer import DType

CASES = Cases()
F32, I32 = np.float32, np.int32
BYTE, SUM = DType("quint8"), DType("qint32")
# Of two sums that were rounded to the steps of int32, of which 16384 are the larger range.
A_STEP = 1e-4


def scalar(c, value):
    return c.const(np.array(value, F32))


def bytes_of(c, dims, low, high, constant=False, dtype=BYTE):
    """Random bytes that stand for reals of a range."""
    x = c.either(constant, dims, low=low, high=high)
    return c.node("QuantizeV2", [x, scalar(c, low), scalar(c, high)], T=dtype, mode="MIN_FIRST")


def moving_bytes(c, dims, low, high):
    """The same with a range that the graph computes, as in graphs that were never calibrated. TensorFlow takes no scalars here."""
    q = bytes_of(c, dims, low, high)
    return [q, *(c.node("Add", [c.node("Mul", [c.input(np.array(1, F32)), bound]), scalar(c, 0)]) for bound in (q[1], q[2]))]


def integers(c, q, dtype):
    return c.node("Cast", [q], SrcT=dtype, DstT=F32)


def gives(c, q, dtype, within=0, ranges=1e-6):
    """Integers as they are, and bounds of ranges, which are floats that were multiplied."""
    bounds = c.node("Pack", [q[1], q[2]], N=2)
    c.gives(integers(c, q, dtype), bounds, within=within or ranges if ranges else within)


def both_operands(c, op, a, b, **attributes):
    return c.node(op, [a[0], b[0], a[1], a[2], b[1], b[2]], **attributes)


def convolution(c, x, w, **attributes):
    return both_operands(c, "QuantizedConv2D", x, w, **{"Tinput": BYTE, "Tfilter": BYTE, "strides": [1, 1, 1, 1],
                                                        "padding": "SAME", **attributes})


def convolutions():
    for padding in ("SAME", "VALID"):
        for strides in ([1, 1, 1, 1], [1, 2, 2, 1]):
            for ranges in ((-1, 1, -1, 1), (0, 6, -0.7, 0.3), (-0.3, 2.5, 0, 1), (0.5, 3, -2, -1)):
                c = CASES.new(f"QuantizedConv2D {padding} {strides} {ranges}")
                x = bytes_of(c, [1, 5, 6, 3], *ranges[:2])
                w = bytes_of(c, [3, 2, 3, 4], *ranges[2:], constant=True)
                gives(c, convolution(c, x, w, padding=padding, strides=strides), SUM)
    c = CASES.new("QuantizedConv2D of a filter that is computed")
    gives(c, convolution(c, bytes_of(c, [2, 4, 4, 2], -1, 3), bytes_of(c, [1, 1, 2, 3], -1, 1)), SUM)
    c = CASES.new("QuantizedConv2D of ranges that are computed")
    gives(c, convolution(c, moving_bytes(c, [2, 4, 4, 2], -1, 3), moving_bytes(c, [1, 1, 2, 3], -1, 1)), SUM)


def products():
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            c = CASES.new(f"QuantizedMatMul {transpose_a=} {transpose_b=}")
            a = bytes_of(c, [5, 3] if transpose_a else [3, 5], -0.4, 2)
            b = bytes_of(c, [4, 5] if transpose_b else [5, 4], -1, 0.2, constant=not transpose_a)
            gives(c, both_operands(c, "QuantizedMatMul", a, b, T1=BYTE, T2=BYTE, Toutput=SUM, transpose_a=transpose_a,
                                   transpose_b=transpose_b), SUM)
    for name, dims in (("tensors", ([2, 3, 4], [2, 3, 4])), ("a scalar", ([2, 3], [])), ("a vector", ([2, 3, 4], [4]))):
        c = CASES.new(f"QuantizedMul of {name}")
        a, b = (bytes_of(c, d, *bounds) for d, bounds in zip(dims, ((-1, 3), (0, 0.7))))
        gives(c, both_operands(c, "QuantizedMul", a, b, T1=BYTE, T2=BYTE), SUM)


def sums():
    for name, dims in (("tensors", ([2, 3, 4], [2, 3, 4])), ("a scalar", ([2, 3], [])), ("a vector", ([2, 3, 4], [4]))):
        for ranges in ((-1, 3, 0, 0.7), (0, 1, 0, 1), (0.5, 3, -8, -2), (-100, 30, 0, 0.01)):
            c = CASES.new(f"QuantizedAdd of {name} {ranges}")
            a, b = bytes_of(c, dims[0], *ranges[:2]), bytes_of(c, dims[1], *ranges[2:])
            gives(c, both_operands(c, "QuantizedAdd", a, b, T1=BYTE, T2=BYTE), SUM, A_STEP)
    for ranges in ((-1, 3, 0, 0.7), (0.5, 3, -8, -2), (-2.53, 1.17, -0.61, 1.3), (-0.71, 5.31, 0.2, 3.1)):
        for constant in (False, True):
            c = CASES.new(f"QuantizedBiasAdd {ranges}, {constant=}")
            a, b = bytes_of(c, [2, 3, 4], *ranges[:2]), bytes_of(c, [4], *ranges[2:], constant=constant)
            gives(c, both_operands(c, "QuantizedBiasAdd", a, b, T1=BYTE, T2=BYTE, out_type=SUM), SUM, A_STEP)
    c = CASES.new("QuantizedAdd of ranges that are computed")
    a, b = moving_bytes(c, [2, 3], -1, 3), moving_bytes(c, [2, 3], -2, 1)
    gives(c, both_operands(c, "QuantizedAdd", a, b, T1=BYTE, T2=BYTE), SUM, A_STEP)


def requantized():
    def products_of(c, moving=False):
        make = moving_bytes if moving else bytes_of
        return both_operands(c, "QuantizedMatMul", make(c, [3, 5], -0.4, 2), make(c, [5, 4], -1, 0.2), T1=BYTE, T2=BYTE, Toutput=SUM)

    for low, high in ((-4, 4), (-8, 0), (0, 3), (-0.5, 0.25), (0, 0)):
        c = CASES.new(f"Requantize to {low} … {high}")
        y = products_of(c)
        gives(c, c.node("Requantize", [y, y[1], y[2], scalar(c, low), scalar(c, high)], Tinput=SUM, out_type=BYTE), BYTE)
    for moving in (False, True):
        c = CASES.new(f"RequantizationRange, {moving=}")
        y = products_of(c, moving)
        bounds = c.node("RequantizationRange", [y, y[1], y[2]], Tinput=SUM)
        c.gives(bounds, bounds[1])
        c = CASES.new(f"Requantize to the range that is used, {moving=}")
        y = products_of(c, moving)
        bounds = c.node("RequantizationRange", [y, y[1], y[2]], Tinput=SUM)
        gives(c, c.node("Requantize", [y, y[1], y[2], bounds, bounds[1]], Tinput=SUM, out_type=BYTE), BYTE, ranges=1e-5)
        c = CASES.new(f"QuantizeDownAndShrinkRange, {moving=}")
        y = products_of(c, moving)
        gives(c, c.node("QuantizeDownAndShrinkRange", [y, y[1], y[2]], Tinput=SUM, out_type=BYTE), BYTE, ranges=1e-5)


def pools():
    for op in ("QuantizedMaxPool", "QuantizedAvgPool"):
        for padding in ("SAME", "VALID"):
            for size, stride in ((2, 2), (3, 1), (3, 2)):
                c = CASES.new(f"{op} {padding} {size} by {stride}")
                x = bytes_of(c, [1, 6, 5, 3], -1, 2)
                gives(c, c.node(op, [x, x[1], x[2]], T=BYTE, ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding=padding), BYTE)
    c = CASES.new("QuantizedAvgPool of the greatest bytes")
    x = c.node("QuantizeV2", [c.input(np.full([1, 7, 7, 1], 2, F32)), scalar(c, 0), scalar(c, 2)], T=BYTE, mode="MIN_FIRST")
    gives(c, c.node("QuantizedAvgPool", [x, x[1], x[2]], T=BYTE, ksize=[1, 7, 7, 1], strides=[1, 1, 1, 1], padding="VALID"), BYTE)


def normalized():
    for dims in ([1, 4, 5, 3], [2, 3, 3, 2]):
        for attributes in ({}, {"output_range_given": True, "given_y_min": -1.5, "given_y_max": 2.25}, {"variance_epsilon": 0.5},
                           {"min_separation": 20.0}):
            c = CASES.new(f"QuantizedInstanceNorm {dims} {attributes}")
            q = bytes_of(c, dims, -1, 3)
            y = c.node("QuantizedInstanceNorm", [q, q[1], q[2]], T=BYTE, **attributes)
            reals = c.node("Dequantize", [y, y[1], y[2]], T=BYTE, mode="MIN_FIRST")
            c.gives(reals, y[1], y[2], within=1 / 255)
    for scaled in (False, True):
        for low, high in ((-1, 3), (-20.5, 7)):
            c = CASES.new(f"QuantizedBatchNormWithGlobalNormalization {scaled=} {low} to {high}")
            x = bytes_of(c, [1, 3, 2, 4], low, high)
            lines = [bytes_of(c, [4], *ends, constant=True) for ends in ((-1, 1), (0.25, 4), (-2, 3), (0.5, 2))]
            given = [tensor for q in (x, *lines) for tensor in (q[0], q[1], q[2])]
            y = c.node("QuantizedBatchNormWithGlobalNormalization", given, Tinput=BYTE, out_type=SUM, variance_epsilon=0.001,
                       scale_after_normalization=scaled)
            gives(c, y, SUM)


def resized():
    for size in ([7, 9], [2, 3], [4, 5], [1, 1]):
        for attributes in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            c = CASES.new(f"QuantizedResizeBilinear to {size} {attributes}")
            q = bytes_of(c, [2, 4, 5, 3], -1, 2)
            y = c.node("QuantizedResizeBilinear", [q, c.const(np.array(size, I32)), q[1], q[2]], T=BYTE, **attributes)
            gives(c, y, BYTE)


def joined():
    ranges = ((-1, 2), (-1, 2), (0, 0.7), (0.5, 2.9))
    for count, form in ((2, "of one range"), (3, ""), (4, "")):
        c = CASES.new(f"QuantizedConcat of {count} {form}")
        parts = [bytes_of(c, [2, 1 + k, 3], *ranges[k]) for k in range(count)]
        bounds = [*(p[1] for p in parts), *(p[2] for p in parts)]
        gives(c, c.node("QuantizedConcat", [c.const(np.array(1, I32)), *parts, *bounds], N=count, T=BYTE), BYTE)


def network():
    """A layer as quantize_graph writes it, to floats again."""
    c = CASES.new("a quantized layer from floats to floats")
    y = convolution(c, bytes_of(c, [1, 6, 6, 3], -1, 1), bytes_of(c, [3, 3, 3, 4], -0.5, 0.5, constant=True))
    bounds = c.node("RequantizationRange", [y, y[1], y[2]], Tinput=SUM)
    y = c.node("Requantize", [y, y[1], y[2], bounds, bounds[1]], Tinput=SUM, out_type=BYTE)
    bias = bytes_of(c, [4], -0.2, 0.2, constant=True)
    y = both_operands(c, "QuantizedBiasAdd", y, bias, T1=BYTE, T2=BYTE, out_type=SUM)
    y = c.node("Requantize", [y, y[1], y[2], scalar(c, -8), scalar(c, 8)], Tinput=SUM, out_type=BYTE)
    y = c.node("QuantizedRelu", [y, y[1], y[2]], Tinput=BYTE, out_type=BYTE)
    y = c.node("QuantizedMaxPool", [y, y[1], y[2]], T=BYTE, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    c.gives(c.node("Dequantize", [y, y[1], y[2]], T=BYTE, mode="MIN_FIRST"), within=1 / 255)


def moving():
    """Ranges that nobody looked at before: those of the values."""
    axes = [0, 1, 2, 3]
    c = CASES.new("QuantizeV2 and Dequantize of the range of the values")
    x = c.input([1, 2, 3, 4])
    bounds = [c.node(op, [x, c.const(np.array(axes, I32))]) for op in ("Min", "Max")]
    q = c.node("QuantizeV2", [x, *bounds], T=BYTE, mode="MIN_FIRST")
    reals = [c.node("Dequantize", [q, q[1], q[2]], T=BYTE, mode=mode) for mode in ("MIN_FIRST", "MIN_COMBINED")]
    c.gives(integers(c, q, BYTE), q[1], q[2], *reals, within=1e-6)
    for low, high in ((0, 0), (0.5, 3), (-3, -2)):
        c = CASES.new(f"QuantizeV2 of a computed range {low} to {high}")
        bounds = [c.input(np.array(bound, F32)) for bound in (low, high)]
        q = c.node("QuantizeV2", [c.input([2, 3], low=low, high=high + 0.5), *bounds], T=BYTE, mode="MIN_FIRST")
        gives(c, q, BYTE)
    for op in ("QuantizedRelu", "QuantizedRelu6"):
        c = CASES.new(f"{op} of a range that is computed")
        q = moving_bytes(c, [3, 5], -3, 12)
        gives(c, c.node(op, q, Tinput=BYTE, out_type=BYTE), BYTE)


def refused():
    c = CASES.new("QuantizedMatMul of signed matrices")
    q, w = bytes_of(c, [2, 2], -1, 1), bytes_of(c, [2, 2], -1, 1, dtype=DType("qint8"))
    both_operands(c, "QuantizedMatMul", q, w, T1=BYTE, T2=DType("qint8"), Toutput=SUM)
    c.refused("the second operand is of int8: TensorFlow computes with other quantized types")
    c = CASES.new("QuantizedMatMul to bytes")
    q = bytes_of(c, [2, 2], -1, 1)
    both_operands(c, "QuantizedMatMul", q, q, T1=BYTE, T2=BYTE, Toutput=BYTE)
    c.refused("a result of quint8, not of qint32")
    c = CASES.new("Requantize of bytes")
    q = bytes_of(c, [2, 2], -1, 1)
    c.node("Requantize", [q, q[1], q[2], q[1], q[2]], Tinput=BYTE, out_type=BYTE)
    c.refused("the input is of uint8")
    c = CASES.new("Requantize to a list of ranges")
    q = bytes_of(c, [2, 2], -1, 1)
    y = both_operands(c, "QuantizedMatMul", q, q, T1=BYTE, T2=BYTE, Toutput=SUM)
    c.node("Requantize", [y, y[1], y[2], c.const(np.zeros(2, F32)), c.const(np.ones(2, F32))], Tinput=SUM, out_type=BYTE)
    c.refused("requested_output_min is [2] of float32, not one float32")
    c = CASES.new("QuantizedConcat along an axis that is computed")
    q = bytes_of(c, [2, 2], -1, 1)
    c.node("QuantizedConcat", [c.input(np.array(0, I32)), q[0], q[0], q[1], q[1], q[2], q[2]], N=2, T=BYTE)
    c.refused("input 0 (axis) is not a constant")


convolutions()
products()
sums()
requantized()
pools()
normalized()
resized()
joined()
network()
moving()
refused()
