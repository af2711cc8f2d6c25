# SPDX-License-Identifier: Apache-2.0
"""Executions with the same number of threads give the same bits, a hundred times in a process and in another one."""

import pathlib
import random
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, run  # noqa: E402
from onnx_writer import FLOAT, INT8, UINT8, Model  # noqa: E402

SIDE, RUNS, THREADS = 48, 100, 3


class Network:
    """Nodes one after another, each large enough for all threads."""

    def __init__(self):
        self.m, self.random, self.last = Model(opset=13), random.Random(7), "image"
        self.m.input("image", FLOAT, [1, 8, SIDE, SIDE])

    def weights(self, name, dims, size):
        count = 1
        for dim in dims:
            count *= dim
        return self.m.tensor(name, FLOAT, dims, [self.random.uniform(-size, size) for _ in range(count)])

    def then(self, op_type, name, *operands, **attributes):
        self.m.node(op_type, [self.last, *operands], [name], **attributes)
        self.last = name

    def save(self, path, dims):
        self.m.output(self.last, FLOAT, dims)
        self.m.save(path)


def write_float(path):
    n = Network()
    n.then("Conv", "wide", n.weights("w1", [64, 8, 3, 3], 0.3), pads=[1] * 4)
    n.then("Sigmoid", "gate")
    n.then("Mul", "gated", "wide")
    n.then("Conv", "deep", n.weights("w2", [64, 1, 5, 5], 0.3), pads=[2] * 4, group=64)
    n.then("Add", "sum", "gated")
    n.then("MaxPool", "pool", kernel_shape=[2, 2], strides=[2, 2])
    n.m.tensor("rows", 7, [2], [64, SIDE * SIDE // 4])
    n.then("Reshape", "flat", "rows")
    n.then("MatMul", "product", n.weights("w3", [SIDE * SIDE // 4, 300], 0.1))
    n.then("Softmax", "shares", axis=-1)
    n.save(path, [64, 300])


def quantize(n, name, scale, zero):
    encoding = [n.m.tensor(f"{name}.scale", FLOAT, [], [scale]), n.m.tensor(f"{name}.zero", UINT8, [], [zero])]
    n.then("QuantizeLinear", f"{name}.quantized", *encoding)
    n.then("DequantizeLinear", name, *encoding)


def quantized_weights(n, name, dims):
    count = 1
    for dim in dims:
        count *= dim
    n.m.tensor(f"{name}.bytes", INT8, dims, [n.random.randrange(-127, 128) for _ in range(count)])
    n.m.tensor(f"{name}.scale", FLOAT, [], [0.002])
    n.m.tensor(f"{name}.zero", INT8, [], [0])
    n.m.node("DequantizeLinear", [f"{name}.bytes", f"{name}.scale", f"{name}.zero"], [name])
    return name


def write_bytes(path):
    n = Network()
    quantize(n, "input", 2 / 255, 128)
    n.then("Conv", "wide.real", quantized_weights(n, "w1", [64, 8, 3, 3]), pads=[1] * 4)
    quantize(n, "wide", 4 / 255, 128)
    n.then("Conv", "deep.real", quantized_weights(n, "w2", [64, 1, 3, 3]), pads=[1] * 4, group=64)
    quantize(n, "deep", 2 / 255, 128)
    n.then("Conv", "narrow.real", quantized_weights(n, "w3", [16, 64, 1, 1]))
    quantize(n, "narrow", 2 / 255, 128)
    n.save(path, [1, 16, SIDE, SIDE])


def results(checks, folder, dlc, lines, threads):
    """What the inferences of a list of so many equal lines give, as bytes."""
    (folder / "list.txt").write_text(f"{folder / 'image.raw'}\n" * lines)
    done = run("net-run", "--container", dlc, "--input_list", folder / "list.txt", "--output_dir", folder / "out",
               "--threads", threads)
    checks.equal("net-run", (done.returncode, done.stderr), (0, ""))
    return [next((folder / "out" / f"Result_{i}").glob("*.raw")).read_bytes() for i in range(lines)]


def same_bits(checks, folder, name, write):
    write(folder / "model.onnx")
    dlc = folder / f"{name}.dlc"
    done = run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", dlc, "--quiet")
    checks.equal(f"{name} converts", done.returncode, 0)
    found = results(checks, folder, dlc, RUNS, THREADS) + results(checks, folder, dlc, 2, THREADS)
    checks.equal(f"{name}: different results of {THREADS} threads", len(set(found)), 1)
    numbers = [struct.unpack(f"<{len(data) // 4}f", data) for data in (found[0], *results(checks, folder, dlc, 1, 1))]
    checks.check(f"{name}: results differ among themselves", len(set(numbers[0])) > 100)
    largest = max(map(abs, numbers[1]))
    apart = max(abs(a - b) for a, b in zip(*numbers))
    checks.check(f"{name}: one thread gives the same numbers", apart <= 1e-5 * largest, f"{apart} of {largest}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = random.Random(3)
        count = 8 * SIDE * SIDE
        (folder / "image.raw").write_bytes(struct.pack(f"<{count}f", *(source.uniform(-1, 1) for _ in range(count))))
        same_bits(checks, folder, "float32", write_float)
        same_bits(checks, folder, "8bit", write_bytes)
    checks.finish()


main()
