# SPDX-License-Identifier: Apache-2.0
"""Random nodes of quantized graphs, and of other operators with a family of their own."""

import numpy as np
from random_nodes import maker, maybe, pick
from tf_writer import DType

F32, I32, I64 = np.float32, np.int32, np.int64
BYTE, SUM = DType("quint8"), DType("qint32")


def bounds(r):
    """A range, with 0 or beside it."""
    low = float(np.round(r.uniform(-4, 1), pick(r, 0, 1, 2)))
    return low, low + float(np.round(r.uniform(0.1, 6), 2))


def bytes_of(c, r, dims):
    low, high = bounds(r)
    ends = [c.const(np.array(end, F32)) if maybe(r) else c.input(np.array(end, F32)) for end in (low, high)]
    x = c.either(maybe(r), dims, low=low, high=high)
    return c.node("QuantizeV2", [x, *ends], T=BYTE, mode="MIN_FIRST")


def sizes(r, rank, most=6):
    return [int(size) for size in r.randint(1, most, rank)]


def gives(c, y, dtype, within):
    c.gives(c.node("Cast", [y], SrcT=dtype, DstT=F32), y[1], y[2], within=within)


def both(c, op, a, b, **attributes):
    return c.node(op, [a[0], b[0], a[1], a[2], b[1], b[2]], **attributes)


@maker("QuantizedConv2D")
def convolution(c, r, op):
    height, width, channels, outputs = sizes(r, 4, 7)
    x = bytes_of(c, r, [int(r.randint(1, 3)), height + 2, width + 2, channels])
    w = bytes_of(c, r, [int(r.randint(1, 4)), int(r.randint(1, 4)), channels, outputs])
    stride = int(r.randint(1, 3))
    y = both(c, op, x, w, Tinput=BYTE, Tfilter=BYTE, strides=[1, stride, stride, 1], padding=pick(r, "SAME", "VALID"))
    gives(c, y, SUM, 1e-6)


@maker("QuantizedMatMul")
def product(c, r, op):
    rows, inner, columns = sizes(r, 3, 9)
    turns = maybe(r), maybe(r)
    a = bytes_of(c, r, [inner, rows] if turns[0] else [rows, inner])
    b = bytes_of(c, r, [columns, inner] if turns[1] else [inner, columns])
    gives(c, both(c, op, a, b, T1=BYTE, T2=BYTE, Toutput=SUM, transpose_a=turns[0], transpose_b=turns[1]), SUM, 1e-6)


@maker("QuantizedAdd", "QuantizedMul")
def sum_or_product(c, r, op):
    """The steps of a sum are rounded, of ranges that are computed in float32."""
    dims = sizes(r, 3)
    a, b = bytes_of(c, r, dims), bytes_of(c, r, pick(r, dims, [dims[2]], []))
    gives(c, both(c, op, a, b, T1=BYTE, T2=BYTE), SUM, 4e-3 if op == "QuantizedAdd" else 1e-6)


@maker("QuantizedBiasAdd")
def bias(c, r, op):
    dims = sizes(r, 3)
    gives(c, both(c, op, bytes_of(c, r, dims), bytes_of(c, r, dims[-1:]), T1=BYTE, T2=BYTE, out_type=SUM), SUM, 2e-4)


@maker("Requantize", "QuantizeDownAndShrinkRange")
def requantized(c, r, op):
    """Within a step: bytes beside a half."""
    rows, inner, columns = sizes(r, 3, 9)
    y = both(c, "QuantizedMatMul", bytes_of(c, r, [rows, inner]), bytes_of(c, r, [inner, columns]), T1=BYTE, T2=BYTE, Toutput=SUM)
    ends = [c.const(np.array(end, F32)) for end in bounds(r)] if op == "Requantize" else []
    y = c.node(op, [y, y[1], y[2], *ends], Tinput=SUM, out_type=BYTE)
    c.gives(c.node("Dequantize", [y, y[1], y[2]], T=BYTE, mode="MIN_FIRST"), y[1], y[2], within=0.01)


@maker("QuantizedMaxPool", "QuantizedAvgPool")
def pool(c, r, op):
    x = bytes_of(c, r, [1, *(size + 3 for size in sizes(r, 2)), int(r.randint(1, 5))])
    window, stride = [1, *sizes(r, 2, 5), 1], [1, *sizes(r, 2, 4), 1]
    gives(c, c.node(op, [x, x[1], x[2]], T=BYTE, ksize=window, strides=stride, padding=pick(r, "SAME", "VALID")), BYTE, 1e-6)


@maker("QuantizedConcat")
def joined(c, r, op):
    """Within a step: parts whose range is another one are rounded."""
    dims, axis = sizes(r, 3), int(r.randint(3))
    parts = [bytes_of(c, r, dims[:axis] + [int(r.randint(1, 4))] + dims[axis + 1:]) for _ in range(r.randint(2, 5))]
    ends = [*(p[1] for p in parts), *(p[2] for p in parts)]
    y = c.node(op, [c.const(np.array(axis, I32)), *parts, *ends], N=len(parts), T=BYTE)
    c.gives(c.node("Dequantize", [y, y[1], y[2]], T=BYTE, mode="MIN_FIRST"), y[1], y[2], within=0.01)


@maker("Lgamma", "Digamma")
def gamma(c, r, op):
    c.gives(c.node(op, [c.either(maybe(r), (r.uniform(-6, 20, sizes(r, 2))).astype(F32))]), within=1e-5)


@maker("BesselI0", "BesselI0e", "BesselI1", "BesselI1e")
def bessel(c, r, op):
    c.gives(c.node(op, [c.either(maybe(r), (r.uniform(-20, 20, sizes(r, 2)) * pick(r, 1, 1, 0.1)).astype(F32))]), within=1e-5)


@maker("DenseBincount", "Bincount")
def counts(c, r, op):
    dims = sizes(r, pick(r, 1, 2), 9)
    binary = {"binary_output": True} if op == "DenseBincount" and maybe(r) else {}
    weights = c.input(dims) if maybe(r) and not binary else c.const(np.zeros([0], F32))
    c.gives(c.node(op, [c.either(maybe(r), dims, I32, low=0, high=9), c.const(np.array(r.randint(1, 12), I32)), weights], **binary))


@maker("SparseTensorDenseMatMul")
def sparse(c, r, op):
    rows, inner, columns = sizes(r, 3, 9)
    count, turns = int(r.randint(0, 9)), (maybe(r), maybe(r))
    at = np.stack([r.randint(0, rows, count), r.randint(0, inner, count)], 1).astype(I64)
    b = [rows if turns[0] else inner, columns]
    a = [c.either(maybe(r) or count == 0, at), c.either(maybe(r) or count == 0, [count]), c.const(np.array([rows, inner], I64))]
    c.gives(c.node(op, [*a, c.input(b[::-1] if turns[1] else b)], adjoint_a=turns[0], adjoint_b=turns[1]))


@maker("LogMatrixDeterminant")
def determinant(c, r, op):
    n = int(r.randint(1, 9))
    y = c.node(op, [c.input((r.uniform(-1, 1, [int(r.randint(1, 4)), n, n]) + np.eye(n)[r.permutation(n)] * 2).astype(F32))])
    c.gives(y, y[1], within=1e-4)


@maker("NonMaxSuppressionV5")
def soft_boxes(c, r, op):
    count, sigma = int(r.randint(1, 12)), pick(r, 0.05, 0.5, 2)
    numbers = [np.array(r.randint(1, 15), I32), F32(0.5), F32(pick(r, 0, 0.3)), F32(sigma)]
    inputs = [c.input([count, 4], low=0, high=4), c.input([count], low=-0.5, high=1), *map(c.const, numbers)]
    y = c.node(op, inputs, pad_to_max_output_size=maybe(r))
    c.gives(y, y[1], y[2], if_none=0)
