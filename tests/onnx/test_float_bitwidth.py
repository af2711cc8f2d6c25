# SPDX-License-Identifier: Apache-2.0
"""--float_bitwidth 16: which tensors are halves, which stay, and the numbers, which are those that NumPy computes of operands
that are rounded to halves."""

import pathlib
import tempfile

from one_node import np
from checks import Checks
from onnx_writer import FLOAT, INT64, Model
from prestarted import run
from quantized_models import pair, spread

try:
    from dlc_reader import read_container
except ImportError:
    read_container = None

X = [1, 3, 4, 4]


def network(rng, values=None):
    """x → Conv → Relu → mean → Gemm → y, and x's constants."""
    m = Model(opset=13)
    values = values or {}
    shapes = {"w": [5, 3, 1, 1], "b": [5], "v": [4, 5], "u": [4]}
    arrays = {name: values.get(name, spread(rng, *shape, low=-1, high=1)) for name, shape in shapes.items()}
    for name, array in arrays.items():
        m.tensor(name, FLOAT, array.shape, array.ravel().tolist())
    m.input("x", FLOAT, X)
    m.node("Conv", ["x", "w", "b"], ["c"], name="conv")
    m.node("Relu", ["c"], ["r"], name="relu")
    m.node("ReduceMean", ["r"], ["g"], axes=[2, 3], keepdims=0, name="mean")
    m.node("Gemm", ["g", "v", "u"], ["y"], transB=1, name="gemm")
    m.output("y", FLOAT, [1, 4])
    return m, arrays


def computed(x, arrays):
    x, w, b, v, u = (array.astype("f2").astype("f8") for array in (x, *arrays.values()))
    mean = np.maximum(np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]) + b.reshape(5, 1, 1), 0).mean((2, 3))
    return mean @ v.T + u


class Place:
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, folder

    def convert(self, model, *options, bits="16"):
        model.save(self.folder / "m.onnx")
        return run("onnx-to-dlc", "--quiet", "-i", "m.onnx", "-o", "m.dlc", "--float_bitwidth", bits, *options, cwd=self.folder)

    def container(self, label, model, *options, said=""):
        done = self.convert(model, *options)
        self.checks.check(f"{label}: status", done.returncode == 0 and (said in done.stderr if said else not done.stderr), done.stderr)
        return read_container(self.folder / "m.dlc")

    def numbers(self, x):
        (self.folder / "x.raw").write_bytes(x.transpose(0, 2, 3, 1).astype("f4").tobytes())
        (self.folder / "list.txt").write_text("x.raw\n")
        done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out", cwd=self.folder)
        self.checks.equal("net-run", (done.returncode, done.stderr), (0, ""))
        return np.fromfile(self.folder / "out/Result_0/y.raw", "f4")


def types_of(container):
    return {name: t.dtype for name, t in container.tensors.items()}


def floats_of(container):
    return {name for name, dtype in types_of(container).items() if dtype == "FLOAT_32"}


def test_all(place):
    rng = np.random.default_rng(4)
    m, arrays = network(rng)
    x = spread(rng, *X, low=-1, high=1)
    expected = computed(x, arrays)
    for options, left in (([], set()), (["--float_bias_bitwidth", "16"], set()), (["--float_bias_bitwidth", "32"], {"b", "u"})):
        c = place.container(f"all {options}", m, *options)
        place.checks.equal(f"all {options}: floats of 32 bits", floats_of(c), left)
        place.checks.equal(f"all {options}: weights", np.frombuffer(c.tensors["w"].data, "f2").tolist(),
                           arrays["w"][:, :, 0, 0].T.astype("f2").ravel().tolist())
        error = np.abs(place.numbers(x) - expected).max()
        place.checks.check(f"all {options}: numbers", error < 2e-3 * np.abs(expected).max(), error)
    place.checks.equal("32", place.convert(m, bits="32").returncode, 0)
    place.checks.equal("32: halves", [n for n, t in types_of(read_container(place.folder / "m.dlc")).items() if t == "FLOAT_16"], [])


def test_ends(place):
    """Graph inputs and outputs keep their types where they are asked to, all or by name."""
    rng = np.random.default_rng(5)
    m, arrays = network(rng)
    x = spread(rng, *X, low=-1, high=1)
    for options, ends, casts in (([], {"x", "y"}, 2), (["y"], {"y"}, 1)):
        c = place.container(f"ends {options}", m, "--preserve_io", "datatype", *options)
        place.checks.equal(f"ends {options}: floats of 32 bits", floats_of(c), ends)
        place.checks.equal(f"ends {options}: casts", [op.type for op in c.ops].count("Cast"), casts)
        place.checks.check(f"ends {options}: numbers", np.abs(place.numbers(x) - computed(x, arrays)).max() < 5e-3)


def test_large(place):
    rng = np.random.default_rng(6)
    large = np.array([1e9, -3.4e38, np.inf, -np.inf, 65504], "f4")
    m, _ = network(rng, {"b": large})
    c = place.container("large", m, said="constants have numbers beyond 65504, which float16 does not have: they become "
                                         "that (1 constants, b first)")
    place.checks.equal("large: numbers", np.frombuffer(c.tensors["b"].data, "f2").tolist(), [65504, -65504, np.inf, -np.inf, 65504])


def test_others(place):
    """Integers, and fixed-point tensors with what stands around them."""
    m = Model(opset=13)
    m.input("x", FLOAT, [2, 3])
    m.tensor("axis", INT64, [1], [1])
    m.node("Relu", [pair(m, "x", 0.5, 0, 0)], ["r"])
    m.node("Exp", [pair(m, "r", 0.5, 0, 1)], ["e"])
    m.node("TopK", ["e", m.tensor("k", INT64, [1], [2])], ["y", "i"])
    m.output("y", FLOAT, [2, 2])
    m.output("i", INT64, [2, 2])
    c = place.container("others", m)
    found = set(types_of(c).values())
    place.checks.check("others: types", {"FLOAT_16", "UFXP_8", "INT_32"} <= found and "FLOAT_32" not in found, types_of(c))


def test_refusals(place):
    m, _ = network(np.random.default_rng(7))
    for label, bits, options, words in (("24 bits", "24", [], "there are no floats of 24 bits"),
                                        ("biases", "32", ["--float_bias_bitwidth", "16"], "biases of 16 bits do not go with floats of 32")):
        done = place.convert(m, *options, bits=bits)
        place.checks.check(f"{label}", done.returncode == 2 and words in done.stderr, done.stderr)
    (place.folder / "e.json").write_text('{"activation_encodings": {"x": {"dtype": "float", "bitwidth": 16}, '
                                         '"c": {"bitwidth": 8, "min": 0, "max": 1}}}')
    c = place.container("encodings", m, "--quantization_overrides", "e.json")
    place.checks.equal("encodings: of halves", [(n, t.dtype, t.overridden) for n, t in c.tensors.items() if t.encodings],
                       [("c", "FLOAT_16", True)])


def main():
    checks = Checks()
    if read_container is None:
        checks.skip("halves", "the reader of containers is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(checks, pathlib.Path(folder))
        for test in (test_all, test_ends, test_large, test_others, test_refusals):
            test(place)
    checks.finish()


main()
