# SPDX-License-Identifier: Apache-2.0
"""Weights that a model computes from constants too large for memory: they are constants of the container."""

import tempfile

import numpy

from conversion import Workshop, onnx
from checks import Checks

SIDE = 1600  # 10 MB of floats: several parts
DATA_TYPES = {"float32": onnx.FLOAT, "float16": 10, "int8": 3, "int64": onnx.INT64, "bool": 9}
RANDOM = numpy.random.default_rng(1)


def matrix(*shape):
    return RANDOM.integers(-64, 64, shape or (SIDE, SIDE)).astype("float32") / 8


def product(constants, nodes):
    """y = x W, of a W that nodes compute."""
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, SIDE])
    for name, value in constants.items():
        value = numpy.asarray(value)
        m.tensor(name, DATA_TYPES[value.dtype.name], value.shape, raw=value.tobytes())
    for op_type, inputs, attributes in nodes:
        m.node(op_type, inputs[1:], inputs[:1], **attributes)
    m.node("MatMul", ["x", "W"], ["y"])
    m.output("y", onnx.FLOAT, [1, SIDE])
    return m


def cases():
    """(label, constants, nodes as (type, [result, operands …], attributes), weights as numpy computes them)."""
    w, row, column = matrix(), matrix(SIDE), matrix(SIDE, 1)
    half = w.astype("float16")
    mask = RANDOM.integers(0, 2, (SIDE, SIDE)).astype(bool)
    order = RANDOM.permutation(SIDE)
    codes = RANDOM.integers(-128, 128, (SIDE, SIDE)).astype("int8")
    two, zero = numpy.float32(2), numpy.float32(0)
    norm = numpy.sqrt((w.astype("float64") ** 2).sum(1, keepdims=True)).astype("float32")
    a, b = matrix(SIDE, 4), matrix(4, SIDE)
    yield "a factor", {"w": w, "c": two}, [("Mul", ["W", "w", "c"], {})], w * two
    yield "a factor a row", {"w": w, "c": column}, [("Mul", ["W", "w", "c"], {})], w * column
    yield "an offset a column", {"w": w, "c": row}, [("Sub", ["W", "c", "w"], {})], row - w
    yield ("half precision", {"w": half, "c": two},
           [("Cast", ["f", "w"], {"to": onnx.FLOAT}), ("Div", ["W", "f", "c"], {})], w / two)
    yield ("transposed, then scaled", {"w": w, "c": row},
           [("Transpose", ["t", "w"], {"perm": [1, 0]}), ("Mul", ["W", "t", "c"], {})], w.T * row)
    yield ("transposed, then reshaped", {"w": w.reshape(4, -1, SIDE), "s": numpy.array([SIDE, SIDE])},
           [("Transpose", ["t", "w"], {"perm": [1, 0, 2]}), ("Reshape", ["W", "t", "s"], {})],
           w.reshape(4, -1, SIDE).transpose(1, 0, 2).reshape(SIDE, SIDE))
    yield ("weight normalization", {"w": w, "g": column},
           [("ReduceL2", ["n", "w"], {"axes": [1], "keepdims": 1}), ("Div", ["d", "w", "n"], {}),
            ("Mul", ["W", "d", "g"], {})], w / norm * column)
    yield "a mask", {"w": w, "m": mask, "c": zero}, [("Where", ["W", "m", "w", "c"], {})], numpy.where(mask, w, zero)
    yield ("two halves", {"a": w[:, :700].copy(), "b": w[:, 700:].copy()}, [("Concat", ["W", "a", "b"], {"axis": 1})],
           w)
    yield ("a slice", {"w": numpy.vstack([w, w]), "from": numpy.array([800]), "to": numpy.array([800 + SIDE]),
                       "axis": numpy.array([0])}, [("Slice", ["W", "w", "from", "to", "axis"], {})],
           numpy.vstack([w, w])[800:800 + SIDE])
    yield ("both axes cut", {"w": numpy.pad(w, 9), "from": numpy.array([9, -10]), "to": numpy.array([9 + SIDE, 8]),
                             "axis": numpy.array([0, 1]), "step": numpy.array([1, -1])},
           [("Slice", ["W", "w", "from", "to", "axis", "step"], {})], w[:, ::-1])
    yield ("both axes padded", {"w": w[5:, :-7].copy(), "p": numpy.array([2, 4, 3, 3]), "c": two},
           [("Pad", ["W", "w", "p", "c"], {})], numpy.pad(w[5:, :-7], ((2, 3), (4, 3)), constant_values=2))
    yield ("both axes mirrored", {"w": w[5:, :-7].copy(), "p": numpy.array([2, 4, 3, 3])},
           [("Pad", ["W", "w", "p"], {"mode": "reflect"})], numpy.pad(w[5:, :-7], ((2, 3), (4, 3)), "reflect"))
    yield ("both axes repeated", {"w": w[:SIDE // 2, :SIDE // 4].copy(), "r": numpy.array([2, 4])},
           [("Tile", ["W", "w", "r"], {})], numpy.tile(w[:SIDE // 2, :SIDE // 4], (2, 4)))
    scattered = w.copy()
    scattered[[3, 7]] = w[:2] * two
    yield ("rows that are others", {"w": w, "i": numpy.array([[3], [7]]), "u": w[:2] * two},
           [("ScatterND", ["W", "w", "i", "u"], {})], scattered)
    yield ("rows by coordinates", {"w": w, "i": order.reshape(-1, 1)}, [("GatherND", ["W", "w", "i"], {})], w[order])
    yield "chosen columns", {"w": w, "i": order}, [("Gather", ["W", "w", "i"], {"axis": 1})], w[:, order]
    yield ("codes", {"w": codes, "z": numpy.float32(3), "s": column},
           [("Cast", ["f", "w"], {"to": onnx.FLOAT}), ("Sub", ["d", "f", "z"], {}), ("Mul", ["W", "d", "s"], {})],
           (codes.astype("float32") - 3) * column)
    yield ("a product of low rank", {"w": w, "a": a, "b": b},
           [("MatMul", ["p", "a", "b"], {}), ("Add", ["W", "w", "p"], {})], w + a @ b)


def stored_weights(w, label, model):
    """The weights of the container's only op, as [inputs, outputs]."""
    container, _ = w.convert(label, model)
    if not container:
        return None
    ops = container.ops
    if not w.checks.equal(f"{label}: ops", [op.type for op in ops], ["FullyConnected"]):
        return None
    weights = container.tensors[ops[0].inputs[1]]
    return numpy.frombuffer(weights.data, "float32").reshape(weights.dims).T


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for label, constants, nodes, expected in cases():
            found = stored_weights(w, label, product(constants, nodes))
            if found is not None:
                apart = float(numpy.abs(found - expected).max() / numpy.abs(expected).max())
                exact = label != "weight normalization"
                checks.check(f"{label}: weights", apart == 0 if exact else apart < 3e-7, apart)
        files = {path.suffix for path in w.folder.iterdir()}
        checks.equal("no other files are left", files, {".onnx", ".dlc"})
    checks.finish()


main()
