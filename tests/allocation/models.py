# SPDX-License-Identifier: Apache-2.0
"""ONNX models and configs that bring a conversion to as much of its code as small ones can."""

import json
import random
import struct

import onnx_writer as onnx

F, I64, DOMAIN = onnx.FLOAT, onnx.INT64, "test"
TENSOR = {"data_type": "FLOAT_32"}
THING = {"type": "Thing", "inputs": [TENSOR, {**TENSOR, "static": True}], "outputs": [{**TENSOR, "shape": "same_as in0"}],
         "scalar_params": [{"name": "mode", "data_type": "STRING"},
                           {"name": "k", "data_type": "INT_32", "default_value": 3}],
         "tensor_params": [{"name": "axes", "data_type": "INT_32"}], "core_types": ["CPU", "DSP"]}


def write_config(path, *operators):
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "P", "Operators": list(operators)}}))


def floats(count, seed="values"):
    noise = random.Random(seed)
    return [noise.uniform(-1, 1) for _ in range(count)]


def node(op_type, inputs, outputs, *attributes, domain=""):
    n = onnx.Message()
    for value in inputs:
        n.data(1, value)
    for value in outputs:
        n.data(2, value)
    n.data(4, op_type).data(7, domain)
    for attribute in attributes:
        n.message(5, attribute)
    return n


def twice():
    """test::Twice(v) = v + v · factor."""
    f = onnx.Message().data(1, "Twice").data(4, "v").data(5, "r").data(6, "factor").data(10, DOMAIN)
    f.message(7, node("Constant", [], ["k"], onnx.Message().data(1, "value_float").data(21, "factor").integer(20, 1)))
    f.message(7, node("Mul", ["v", "k"], ["t"])).message(7, node("Add", ["v", "t"], ["r"]))
    return f.message(9, onnx.Message().data(1, "").integer(2, 13))


def graph(inputs, outputs, *nodes):
    g = onnx.Model()
    for given in inputs:
        g.input(*given)
    for given in nodes:
        g.node(*given)
    for given in outputs:
        g.output(*given)
    return g


def control(m, x, dims):
    """A branch of a known condition, a loop of two trips, a sequence."""
    m.tensor("yes", onnx.BOOL, [], [1])
    m.tensor("trips", I64, [], [2])
    taken = graph([], [("r", F, dims)], ("Neg", [x], ["r"]))
    other = graph([], [("s", F, dims)], ("Abs", [x], ["s"]))
    m.node("If", ["yes"], ["chosen"], name="if", then_branch=taken, else_branch=other)
    body = graph([("i", I64, []), ("c", onnx.BOOL, []), ("v", F, dims)], [("c", onnx.BOOL, []), ("t", F, dims)],
                 ("Tanh", ["v"], ["t"]))
    m.node("Loop", ["trips", "", "chosen"], ["looped"], name="loop", body=body)
    m.node("SequenceConstruct", ["chosen", "looped"], ["list"])
    m.node("SequenceAt", ["list", "trips_less"], ["last"])
    m.tensor("trips_less", I64, [], [1])
    return "last"


def network(folder):
    """Convolutions whose layouts change, a user-defined op, a function, control flow, values of shapes, a frozen input,
    external and sparse data."""
    (folder / "weights.bin").write_bytes(struct.pack("<64f", *floats(64)))
    (folder / "shape.raw").write_bytes(struct.pack("<2q", 2, -1))
    (folder / "notice.txt").write_text("Copyright of the model's author\n")
    write_config(folder / "ops.json", THING)
    m = onnx.Model(domains=[DOMAIN], opset=13)
    m.input("x", F, [1, 4, 4, 4])
    m.input("shape", I64, [2])
    m.tensor("filter", F, [4, 4, 1, 1], floats(16))
    for name in ("scale", "bias", "mean", "var"):
        m.tensor(name, F, [4], [1 + value / 2 for value in floats(4, name)])
    m.node("Conv", ["x", "filter"], ["a"], name="conv")
    m.node("BatchNormalization", ["a", "scale", "bias", "mean", "var"], ["b"], name="bn")
    m.node("Relu", ["b"], ["c"])
    m.node("Constant", [], ["offsets"], sparse_value=onnx.Sparse("", F, [4], {1: 0.5}))
    m.node("Thing", ["c", "offsets"], ["d"], name="thing", domain=DOMAIN, mode="fast", axes=[1, 2])
    m.value("d", F, [1, 4, 4, 4])
    m.node("Twice", ["d"], ["e"], name="call", domain=DOMAIN, factor=0.5)
    m.node("MaxPool", [control(m, "e", [1, 4, 4, 4])], ["f"], kernel_shape=[2, 2], strides=[2, 2])
    m.node("Concat", ["f", "f"], ["g"], axis=1)
    m.node("Transpose", ["g"], ["h"], perm=[0, 2, 3, 1])
    m.node("Reshape", ["h", "shape"], ["flat"])
    m.graph.message(5, onnx.tensor("matrix", F, [16, 4], external=("weights.bin", 0, 256)))
    m.node("MatMul", ["flat", "matrix"], ["i"])
    m.node("Softmax", ["i"], ["y"], axis=1)
    m.output("y", F, None)
    m.functions.append(twice())
    m.save(folder / "net.onnx")


def quantized(folder):
    """A convolution and a sum between Dequantize and Quantize, and weights that are quantized by channel."""
    m = onnx.Model(opset=13)
    m.input("x", F, [1, 2, 4, 4])
    m.tensor("step", F, [], [0.05])
    m.tensor("zero", onnx.UINT8, [], [128])
    m.tensor("steps", F, [3], [0.01, 0.02, 0.03])
    m.tensor("zeros", onnx.INT8, [3], [0, 0, 0])
    m.tensor("filter", onnx.INT8, [3, 2, 1, 1], [1, -2, 3, -4, 5, -6])

    def rounded(value, to):
        m.node("QuantizeLinear", [value, "step", "zero"], [f"{to}_q"])
        m.node("DequantizeLinear", [f"{to}_q", "step", "zero"], [to])
        return to

    m.node("DequantizeLinear", ["filter", "steps", "zeros"], ["w"], axis=0)
    m.node("Conv", [rounded("x", "x1"), "w"], ["a"], name="conv")
    m.node("Add", [rounded("a", "a1"), "a1"], ["b"])
    m.node("Relu", [rounded("b", "b1")], ["c"])
    rounded("c", "y")
    m.output("y", F, None)
    m.save(folder / "quantized.onnx")


def plain(folder, change=0.0, name="plain.onnx"):
    """What net-run can execute: two inputs, layers of several kinds, an output that is quantized."""
    m = onnx.Model(opset=13)
    m.input("x", F, [1, 2, 4, 4])
    m.input("n", F, [1, 3])
    m.tensor("filter", F, [3, 2, 3, 3], [value + change for value in floats(54)])
    m.tensor("half", onnx.FLOAT16, [3, 3], [0x3800 + i for i in range(9)])
    m.node("Conv", ["x", "filter"], ["a"], name="conv", pads=[1, 1, 1, 1])
    m.node("Relu", ["a"], ["b"], name="relu")
    m.node("GlobalAveragePool", ["b"], ["c"], name="pool")
    m.node("Flatten", ["c"], ["d"], name="flatten")
    m.node("Cast", ["half"], ["wide"], to=F)
    m.node("MatMul", ["d", "wide"], ["e"], name="dense")
    m.node("Add", ["e", "n"], ["f"], name="sum")
    m.node("Softmax", ["f"], ["y"], name="softmax", axis=1)
    m.output("y", F, [1, 3])
    m.save(folder / name)


def large(folder):
    """Constants for which a second thread is started: a file of zeros that takes no space."""
    size = 9 << 20
    with open(folder / "zeros.bin", "wb") as out:
        out.truncate(size)
    m = onnx.Model(opset=13)
    m.input("x", F, [1, 1024])
    m.graph.message(5, onnx.tensor("matrix", F, [1024, size // 4096], external=("zeros.bin", 0, size)))
    m.node("MatMul", ["x", "matrix"], ["y"])
    m.output("y", F, None)
    m.save(folder / "large.onnx")
