# SPDX-License-Identifier: Apache-2.0
"""Networks that are written both as ONNX and as TensorFlow models with the same weights give the same numbers from both
containers."""

import collections
import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
from checks import Checks  # noqa: E402
from prestarted import run  # noqa: E402

try:
    import numpy as np
    import onnx_writer as onnx
    from case import difference, random_numbers, same
    from dlc_reader import read_container
    from model_case import as_stored, complaints, result, run_on
    from tf_writer import Graph, tensor_name
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None

NEAR = 1e-6
TO_LAST = (0, 2, 3, 1)


def counted(dlc, container):
    """How many there are of each op, and what dlc-info says of parameters and multiply-accumulates."""
    lines = run("dlc-info", "-i", dlc).stdout.splitlines()
    totals = [line for line in lines if line.startswith(("Total parameters", "Total MACs"))]
    return sorted(collections.Counter(op.type for op in container.ops).items()), totals


class Pair:
    """One network in both forms. Images are channels first in ONNX and channels last in TensorFlow; values are pairs of a
    name and a Value."""

    def __init__(self, name):
        self.name = name
        self.source = np.random.RandomState(5)
        self.onnx, self.graph = onnx.Model(opset=13), Graph()
        self.inputs, self.count = {}, 0

    def numbers(self, shape, low=-1, high=1):
        return random_numbers(self.source, shape, np.float32, low, high)

    def input(self, name, values):
        """values as TensorFlow has them."""
        self.inputs[name] = values
        first = values.transpose(0, 3, 1, 2) if values.ndim == 4 else values
        self.onnx.input(name, onnx.FLOAT, first.shape)
        return name, self.graph.placeholder(name, np.float32, values.shape)

    def tensor(self, array):
        name = f"t{self.count}"
        self.count += 1
        array = np.ascontiguousarray(array)
        self.onnx.tensor(name, onnx.INT64 if array.dtype.kind == "i" else onnx.FLOAT, array.shape, raw=array.tobytes())
        return name

    def node(self, op, inputs, value, **attributes):
        """The ONNX node that goes with a TensorFlow value that is there already."""
        name = f"n{self.count}"
        self.count += 1
        self.onnx.node(op, inputs, [name], **attributes)
        return name, value

    # ---- layers: TensorFlow's filters are rows x columns x taken x given ----

    def convolution(self, x, size, taken, given, stride, same_size):
        filters = self.numbers([size, size, taken, given], -0.3, 0.3)
        value = self.graph.node("Conv2D", [x[1], self.graph.const(filters)], strides=[1, stride, stride, 1],
                                padding="SAME" if same_size else "VALID")
        return self.node("Conv", [x[0], self.tensor(filters.transpose(3, 2, 0, 1))], value, strides=[stride, stride],
                         auto_pad="SAME_UPPER" if same_size else "VALID")

    def depthwise(self, x, size, channels, stride):
        filters = self.numbers([size, size, channels, 1])
        value = self.graph.node("DepthwiseConv2dNative", [x[1], self.graph.const(filters)],
                                strides=[1, stride, stride, 1], padding="SAME")
        return self.node("Conv", [x[0], self.tensor(filters.transpose(2, 3, 0, 1))], value, strides=[stride, stride],
                         auto_pad="SAME_UPPER", group=channels)

    def batch_normalization(self, x, channels):
        parts = [self.numbers([channels], low, high) for low, high in ((0.5, 1.5), (-1, 1), (-1, 1), (0.25, 2))]
        value = self.graph.node("FusedBatchNormV3", [x[1], *map(self.graph.const, parts)], epsilon=1e-3,
                                is_training=False)
        return self.node("BatchNormalization", [x[0], *map(self.tensor, parts)], value, epsilon=1e-3)

    def activation(self, x, op):
        return self.node(op, [x[0]], self.graph.node(op, [x[1]]))

    def pool(self, x, kind, size, stride):
        value = self.graph.node(kind, [x[1]], ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding="SAME")
        op = "MaxPool" if kind == "MaxPool" else "AveragePool"
        return self.node(op, [x[0]], value, kernel_shape=[size, size], strides=[stride, stride], auto_pad="SAME_UPPER")

    def add(self, x, y):
        return self.node("Add", [x[0], y[0]], self.graph.node("AddV2", [x[1], y[1]]))

    def concat(self, *parts):
        axis = self.graph.const(np.int32(3))
        value = self.graph.node("ConcatV2", [*(part[1] for part in parts), axis])
        return self.node("Concat", [part[0] for part in parts], value, axis=1)

    def mean_of_image(self, x):
        value = self.graph.node("Mean", [x[1], self.graph.const(np.array([1, 2], np.int32))])
        return self.node("ReduceMean", [x[0]], value, axes=[2, 3], keepdims=0)

    def dense(self, x, taken, given):
        weights, bias = self.numbers([taken, given]), self.numbers([given])
        product = self.graph.node("MatMul", [x[1], self.graph.const(weights)])
        value = self.graph.node("BiasAdd", [product, self.graph.const(bias)])
        return self.node("Gemm", [x[0], self.tensor(weights), self.tensor(bias)], value)

    def softmax(self, x):
        return self.node("Softmax", [x[0]], self.graph.node("Softmax", [x[1]]), axis=-1)

    # ---- sequences ----

    def product(self, x, y):
        return self.node("MatMul", [x[0], y[0]], self.graph.node("BatchMatMulV2", [x[1], y[1]]))

    def constant(self, array):
        return self.tensor(array), self.graph.const(array)

    def arithmetic(self, op, x, y):
        tensorflow = {"Add": "AddV2", "Div": "RealDiv"}.get(op, op)
        return self.node(op, [x[0], y[0]], self.graph.node(tensorflow, [x[1], y[1]]))

    def reshape(self, x, shape):
        value = self.graph.node("Reshape", [x[1], self.graph.const(np.array(shape, np.int32))])
        return self.node("Reshape", [x[0], self.tensor(np.array(shape, np.int64))], value)

    def transpose(self, x, perm):
        value = self.graph.node("Transpose", [x[1], self.graph.const(np.array(perm, np.int32))])
        return self.node("Transpose", [x[0]], value, perm=perm)

    def mean_of_last(self, x):
        value = self.graph.node("Mean", [x[1], self.graph.const(np.array([-1], np.int32))], keep_dims=True)
        return self.node("ReduceMean", [x[0]], value, axes=[-1], keepdims=1)

    def layer_normalization(self, x, channels):
        difference = self.arithmetic("Sub", x, self.mean_of_last(x))
        variance = self.mean_of_last(self.arithmetic("Mul", difference, difference))
        spread = self.activation(self.arithmetic("Add", variance, self.constant(np.float32([1e-3]))), "Sqrt")
        scaled = self.arithmetic("Mul", self.arithmetic("Div", difference, spread), self.constant(self.numbers([channels])))
        return self.arithmetic("Add", scaled, self.constant(self.numbers([channels])))

    def projection(self, x, taken, given):
        return self.arithmetic("Add", self.product(x, self.constant(self.numbers([taken, given], -0.5, 0.5))),
                               self.constant(self.numbers([given])))

    # ---- both containers ----

    def save(self, outputs, folder):
        for name, _ in outputs:
            self.onnx.output(name, onnx.FLOAT, None)
        self.onnx.save(folder / "model.onnx")
        self.graph.save(folder / "model.pb")

    def numbers_of(self, checks, command, model, folder, wanted):
        """([array as the container has it] of the outputs, what dlc-info counts), or None."""
        folder.mkdir()
        dlc = folder / "model.dlc"
        # Images are channels-last in both containers; a sequence would be in that of the ONNX model alone.
        kept = [name for name, values in self.inputs.items() if values.ndim == 3]
        done = run(command, "-i", model, "-o", dlc, *(option for name in wanted for option in ("--out_node", name)),
                   *(option for name in kept for option in ("--input_layout", name, "NONTRIVIAL")))
        if not checks.check(f"{command}: {self.name}", done.returncode == 0, complaints(done)):
            return None
        container = read_container(dlc, data=False)
        stored = str if command == "onnx-to-dlc" else tensor_name
        given = {stored(name): as_stored(values, container.tensors[stored(name)], model_has_channels_last=True)
                 for name, values in self.inputs.items()}
        done = run_on(given, dlc, folder)
        if not checks.check(f"execute {self.name} of {command}", done.returncode == 0, complaints(done)):
            return None
        return [result(folder, container, stored(name)) for name in wanted], counted(dlc, container)

    def compare(self, checks, *outputs):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            self.save(outputs, folder)
            first = self.numbers_of(checks, "onnx-to-dlc", folder / "model.onnx", folder / "onnx",
                                    [name for name, _ in outputs])
            second = self.numbers_of(checks, "tensorflow-to-dlc", folder / "model.pb", folder / "tf",
                                     [value.name for _, value in outputs])
            if not first or not second:
                return
            checks.equal(f"{self.name}: ops, parameters and MACs", second[1], first[1])
            for a, b in zip(first[0], second[0]):
                checks.check(f"{self.name}: both are numbers", np.ptp(a) > 0)
                checks.check(f"{self.name}: same numbers", same(b, a, NEAR), difference(b, a))


def classifier(checks):
    """Convolutions, depthwise ones, pools with uneven padding, a residual, a dense layer."""
    p = Pair("classifier")
    x = p.input("x", p.numbers([1, 15, 18, 3]))
    x = p.activation(p.batch_normalization(p.convolution(x, 3, 3, 8, 2, True), 8), "Relu")
    y = p.activation(p.batch_normalization(p.depthwise(x, 3, 8, 1), 8), "Elu")
    x = p.add(x, p.convolution(y, 1, 8, 8, 1, False))
    x = p.pool(x, "MaxPool", 3, 2)
    x = p.convolution(x, 3, 8, 16, 1, False)
    features = p.mean_of_image(x)
    p.compare(checks, p.softmax(p.dense(features, 16, 10)), features)


def branches(checks):
    """Branches of pools and convolutions that are concatenated by channels."""
    p = Pair("branches")
    x = p.input("x", p.numbers([2, 9, 7, 4]))
    y = p.concat(p.pool(x, "AvgPool", 3, 1), p.activation(p.convolution(x, 5, 4, 6, 1, True), "Sigmoid"),
                 p.pool(p.depthwise(x, 3, 4, 1), "MaxPool", 2, 1))
    p.compare(checks, p.dense(p.mean_of_image(y), 14, 5), p.pool(y, "AvgPool", 2, 2))


def perceptron(checks):
    """Layers without images."""
    p = Pair("perceptron")
    x = p.input("x", p.numbers([5, 12]))
    for taken, given, op in ((12, 20, "Tanh"), (20, 20, "Softplus"), (20, 7, "Sigmoid")):
        x = p.activation(p.dense(x, taken, given), op)
    p.compare(checks, x)


def transformer(checks):
    """Attention of two heads and what follows it, spelled out."""
    p = Pair("transformer")
    x = p.input("x", p.numbers([2, 6, 8]))
    heads = [p.transpose(p.reshape(p.projection(x, 8, 8), [2, 6, 2, 4]), perm)
             for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
    scores = p.softmax(p.arithmetic("Mul", p.product(heads[0], heads[1]), p.constant(np.float32([0.5]))))
    mixed = p.reshape(p.transpose(p.product(scores, heads[2]), [0, 2, 1, 3]), [2, 6, 8])
    x = p.layer_normalization(p.add(x, p.projection(mixed, 8, 8)), 8)
    hidden = p.activation(p.projection(x, 8, 16), "Relu")
    p.compare(checks, p.layer_normalization(p.add(x, p.projection(hidden, 16, 8)), 8), scores)


def main():
    checks = Checks()
    if np is None:
        checks.skip("pairs of models", "python3-numpy is not there")
        checks.finish()
    for test in (classifier, branches, perceptron, transformer):
        test(checks)
    checks.finish()


main()
