# SPDX-License-Identifier: Apache-2.0
"""Makers of random nodes, as in random_nodes.py: colours, gradients, bits, quantization, matrices, Fourier transforms, recurrent
layers."""

import numpy as np
from tf_writer import DType, Shape

from random_nodes import F32, I32, broadcast, dims, fixed, leave_out, maker, maybe, pick, value

COMPLEX = DType("complex64")


# ---- elementwise ----


@maker("RGBToHSV", "HSVToRGB", "AdjustContrastv2", "AdjustHue", "AdjustSaturation")
def colours(c, r, op):
    shape = [*dims(r, 2), int(r.randint(1, 4)) if op == "AdjustContrastv2" else 3]
    x = value(c, r, c.random(shape, F32, 0, 1))
    c.gives(c.node(op, [x, *([] if "To" in op else [value(c, r, [], F32, -1 if op == "AdjustHue" else 0, 2)])]),
            within=2e-5 if "Adjust" in op else None)


@maker("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "SigmoidGrad", "TanhGrad", "SqrtGrad",
       "RsqrtGrad", "ReciprocalGrad", "InvGrad")
def gradient(c, r, op):
    shape = dims(r)
    low = 0.5 if "sqrt" in op.lower() else -2
    more = leave_out(r, alpha=float(r.randint(0, 9) / 8)) if op == "LeakyReluGrad" else {}
    c.gives(c.node(op, [value(c, r, c.random(shape, F32, low, 8 if op == "Relu6Grad" else 2)) for _ in range(2)], **more))


@maker("BiasAddGrad", "L2Loss", "CheckNumerics", "CheckNumericsV2", "StopGradient", "PreventGradient", "Snapshot", "GuaranteeConst",
       "Invert", "LogicalNot", "EnsureShape", "BiasAddV1")
def of_one(c, r, op):
    shape = dims(r, 2 if "Bias" in op else 0)
    dtype = pick(r, I32, np.int8, np.uint8, np.int16) if op == "Invert" else np.bool_ if op == "LogicalNot" else F32
    more = {"message": "m"} if op.startswith("Check") else {}
    if op == "EnsureShape":
        more = {"shape": Shape(shape), "T": dtype}
    if op in ("StopGradient", "PreventGradient", "Snapshot"):
        more = {"T": dtype}
    if op == "BiasAddGrad" and len(shape) > 2 and maybe(r):
        more = {"data_format": "NCHW"}
    inputs = [value(c, r, shape, dtype)] + ([value(c, r, shape[-1:])] if op == "BiasAddV1" else [])
    c.gives(c.node(op, inputs, **more))


@maker("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")
def bits(c, r, op):
    dtype = pick(r, I32, np.uint8, np.int8, np.int16)
    a, b = broadcast(r)
    x, y = c.random(a, dtype, -9, 99), c.random(b, dtype, 0, 5)
    c.gives(c.node(op, [value(c, r, x), value(c, r, y)]))


@maker("ApproximateEqual")
def near(c, r, op):
    shape = dims(r)
    c.gives(c.node(op, [value(c, r, shape) for _ in range(2)], **leave_out(r, tolerance=0.5)))


@maker("Bucketize")
def buckets(c, r, op):
    c.gives(c.node(op, [value(c, r, dims(r), pick(r, F32, I32))], boundaries=[float(b) for b in np.sort(c.random([int(r.randint(1, 6))]))]))


@maker("Cross")
def cross(c, r, op):
    shape = [*dims(r), 3]
    c.gives(c.node(op, [value(c, r, shape) for _ in range(2)]))


@maker("LinSpace")
def steps(c, r, op):
    c.gives(c.node("AddV2", [c.node(op, [c.random_const([]), c.random_const([]), fixed(c, r, int(r.randint(1, 9)))]), c.input([1])]))


@maker("Bitcast")
def bit_cast(c, r, op):
    source, target = pick(r, (I32, np.uint32), (np.int8, np.uint8), (np.uint8, np.int8), (np.int16, np.uint16))
    c.gives(c.node(op, [value(c, r, dims(r), source, -9, 9)], type=target))


@maker("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant(c, r, op):
    shape = dims(r, 1)
    how = leave_out(r, num_bits=int(r.randint(2, 17)), narrow_range=maybe(r))
    x = c.input(c.random(shape) + F32(1e-5))  # halves are rounded in another way, which the guide to quantization says
    if op.endswith("Args"):
        c.gives(c.node(op, [x], min=-float(r.randint(1, 9)) / 7, max=float(r.randint(1, 9)) / 7, **how))
        return
    size = shape[-1:] if op.endswith("Channel") else []
    c.gives(c.node(op, [x, fixed(c, r, c.random(size, F32, -1.9, -0.3), F32), fixed(c, r, c.random(size, F32, 0.3, 1.9), F32)], **how))


@maker("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
def round_trip(c, r, op):
    shape = dims(r, 1)
    axis = int(r.randint(-1, len(shape))) if maybe(r) else -1
    size = [shape[axis]] if axis >= 0 and op.endswith("V3") else []
    inputs = [c.input(c.random(shape) + F32(1e-5)), *(fixed(c, r, c.random(size, F32, *ends), F32) for ends in ((-1.9, -0.3), (0.3, 1.9)))]
    inputs += [fixed(c, r, int(r.randint(2, 12)))] if op.endswith("V3") else []
    how = leave_out(r, signed_input=maybe(r), narrow_range=maybe(r))
    how.update({} if op.endswith("V3") else {**leave_out(r, num_bits=int(r.randint(2, 12))), **leave_out(r, round_mode=pick(r, "HALF_TO_EVEN", "HALF_UP"))})
    c.gives(c.node(op, inputs, range_given=True, **({"axis": axis} if axis >= 0 else {}), **how))


@maker("CumulativeLogsumexp")
def running_logarithm(c, r, op):
    shape = dims(r, 1)
    c.gives(c.node(op, [value(c, r, shape), fixed(c, r, int(r.randint(-len(shape), len(shape))), None)],
                   **leave_out(r, exclusive=maybe(r), reverse=maybe(r))))


# ---- matrices ----


@maker("MatrixDeterminant", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve", "Cholesky")
def matrices(c, r, op):
    batch, n, columns = dims(r, 0, 2, 3), int(r.randint(1, 5)), int(r.randint(1, 4))
    x = c.random([*batch, n, n], F32, -1, 1) + 3 * np.eye(n, dtype=F32)
    if op == "Cholesky":
        x = np.matmul(x, np.swapaxes(x, -1, -2)).astype(F32)
    more = {} if op in ("MatrixDeterminant", "Cholesky") else leave_out(r, adjoint=maybe(r))
    more.update(leave_out(r, lower=maybe(r)) if "Triangular" in op else {})
    c.gives(c.node(op, [value(c, r, x), *([value(c, r, [*batch, n, columns])] if "Solve" in op else [])], **more), within=1e-4)


def band_of(r, rows, columns):
    """One diagonal, or the first and the last of several."""
    low = int(r.randint(1 - rows, columns))
    return low, low if maybe(r) else int(r.randint(low, columns))


def diagonals(r, rows, columns, low, high):
    longest = max(min(rows + min(k, 0), columns - max(k, 0)) for k in range(low, high + 1))
    return [high - low + 1, longest] if high > low else [longest]


def alignment(r):
    return leave_out(r, align=pick(r, "LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"))


def band_input(c, r, low, high):
    return fixed(c, r, low if low == high and maybe(r) else [low, high])


@maker("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonal_of(c, r, op):
    batch, (rows, columns), dtype = dims(r, 0, 2, 3), map(int, r.randint(1, 6, 2)), pick(r, F32, I32)
    x = value(c, r, [*batch, rows, columns], dtype)
    if op == "MatrixDiagPart":
        c.gives(c.node(op, [x]))
        return
    more = alignment(r) if op.endswith("V3") else {}
    c.gives(c.node(op, [x, band_input(c, r, *band_of(r, rows, columns)), c.random_const([], dtype)], **more))


@maker("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def matrix_of(c, r, op):
    batch, (rows, columns), dtype = dims(r, 0, 2, 3), map(int, r.randint(1, 6, 2)), pick(r, F32, I32)
    if op == "MatrixDiag":
        c.gives(c.node(op, [value(c, r, [*batch, rows], dtype)]))
        return
    low, high = band_of(r, rows, columns)
    more = alignment(r) if op.endswith("V3") else {}
    x = value(c, r, [*batch, *diagonals(r, rows, columns, low, high)], dtype)
    size = (rows, columns) if maybe(r) else (-1, -1)
    c.gives(c.node(op, [x, band_input(c, r, low, high), *(fixed(c, r, n) for n in size), c.random_const([], dtype)], **more))


@maker("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def set_diagonal(c, r, op):
    batch, (rows, columns), dtype = dims(r, 0, 2, 3), map(int, r.randint(1, 6, 2)), pick(r, F32, I32)
    low, high = (0, 0) if op == "MatrixSetDiag" else band_of(r, rows, columns)
    x, y = value(c, r, [*batch, rows, columns], dtype), value(c, r, [*batch, *diagonals(r, rows, columns, low, high)], dtype)
    c.gives(c.node(op, [x, y, *([] if op == "MatrixSetDiag" else [band_input(c, r, low, high)])], **(alignment(r) if op.endswith("V3") else {})))


@maker("Diag", "DiagPart")
def whole_diagonal(c, r, op):
    shape = dims(r, 1, 2, 4)
    c.gives(c.node(op, [value(c, r, shape * 2 if op == "DiagPart" else shape, pick(r, F32, I32))]))


@maker("ConjugateTranspose")
def conjugate(c, r, op):
    shape = dims(r)
    c.gives(c.node(op, [value(c, r, shape), fixed(c, r, r.permutation(len(shape)), None)]))


@maker("Einsum")
def einsum(c, r, op):
    letters = "abcde"
    size = {letter: int(r.randint(1, 5)) for letter in letters}
    parts = ["".join(r.permutation(list(letters))[:r.randint(1, 4)]) for _ in range(2)]
    used = sorted(set("".join(parts)))
    out = "".join(r.permutation(used)[:r.randint(0, len(used) + 1)])
    lead = pick(r, "", "...")
    more = dims(r, 0, 2, 3) if lead else []
    inputs = [value(c, r, [*more, *(size[letter] for letter in part)]) for part in parts]
    c.gives(c.node(op, inputs, equation=f"{lead}{parts[0]},{lead}{parts[1]}->{lead}{out}"))


# ---- complex numbers ----


def pair(c, z):
    return c.node("Real", [z]), c.node("Imag", [z])


def complex_of(c, r, shape):
    return c.node("Complex", [value(c, r, shape), value(c, r, shape)])


@maker("Complex", "Real", "Imag", "Conj")
def parts(c, r, op):
    z = complex_of(c, r, dims(r))
    c.gives(*pair(c, c.node("Conj", [z], T=COMPLEX) if op == "Conj" else c.node("Mul", [z, z], T=COMPLEX) if maybe(r) else z))


@maker("ComplexAbs", "Angle")
def sizes(c, r, op):
    c.gives(c.node(op, [complex_of(c, r, dims(r))]))


@maker("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")
def transform(c, r, op):
    rank = int(op[-2]) if op[-1] == "D" else 1
    c.gives(*pair(c, c.node(op, [complex_of(c, r, dims(r, rank, rank + 2))])))


@maker("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D")
def real_transform(c, r, op):
    rank = int(op[-2]) if op[-1] == "D" else 1
    shape = dims(r, rank, rank + 2, 8)
    last = shape[-1] if not op.startswith("I") else 2 * shape[-1] - 1
    lengths = fixed(c, r, [*(int(r.randint(1, n + 1)) for n in shape[-rank:-1]), int(r.randint(1, last + 1))])
    if op.startswith("I"):
        c.gives(c.node(op, [complex_of(c, r, shape), lengths]))
    else:
        c.gives(*pair(c, c.node(op, [value(c, r, shape), lengths])))


# ---- recurrent ----


@maker("LSTMBlockCell", "BlockLSTM", "BlockLSTMV2")
def lstm(c, r, op):
    batch, width, units, count = (int(v) for v in r.randint(1, 5, 4))
    weights = [value(c, r, shape, F32, -1, 1) for shape in ([width + units, 4 * units], [units], [units], [units], [4 * units])]
    states = [value(c, r, [batch, units]) for _ in range(2)]
    how = leave_out(r, use_peephole=maybe(r), cell_clip=pick(r, 0.0, 0.5, 3.0))
    if op == "LSTMBlockCell":
        y = c.node(op, [c.input([batch, width]), *states, *weights], **how, **leave_out(r, forget_bias=0.25))
    else:
        how.update(leave_out(r, forget_bias=0.25) if op == "BlockLSTM" else {})
        y = c.node(op, [c.const(np.int64(count)), c.input([count, batch, width]), *states, *weights], **how)
    c.gives(*(y[i] for i in range(7)))


@maker("GRUBlockCell")
def gru(c, r, op):
    batch, width, units = (int(v) for v in r.randint(1, 5, 3))
    weights = [value(c, r, shape, F32, -1, 1) for shape in ([width + units, 2 * units], [width + units, units], [2 * units], [units])]
    y = c.node(op, [c.input([batch, width]), value(c, r, [batch, units]), *weights])
    c.gives(*(y[i] for i in range(4)), within=2e-4)  # sums may cancel
