# SPDX-License-Identifier: Apache-2.0
"""Layouts and types that users' inputs and outputs have (--custom_io): shapes and types of the container, numbers against
those of the model as it is, and what a file is refused for."""

import pathlib
import tempfile

from one_node import np
from checks import Checks
from onnx_writer import FLOAT, INT64, Model
from prestarted import run
from quantized_models import spread

try:
    from dlc_reader import read_container
except ImportError:
    read_container = None

LAST = (0, 2, 3, 1)
SCALE, OFFSET = 0.015625, -128


class Network:
    """x → Conv → Relu → y, and n → Neg → m."""

    def __init__(self, folder):
        rng, m = np.random.default_rng(5), Model(opset=13)
        self.folder = folder
        self.weights = spread(rng, 6, 3, 3, 3, low=-1, high=1)
        m.tensor("w", FLOAT, [6, 3, 3, 3], self.weights.ravel().tolist())
        m.input("x", FLOAT, [1, 3, 4, 5])
        m.input("n", INT64, [2])
        m.node("Conv", ["x", "w"], ["c"], pads=[1] * 4, name="conv")
        m.node("Relu", ["c"], ["y"], name="relu")
        m.node("Neg", ["n"], ["m"], name="neg")
        m.output("y", FLOAT, [1, 6, 4, 5])
        m.output("m", INT64, [2])
        m.save(folder / "m.onnx")
        self.integers = rng.integers(0, 256, (1, 3, 4, 5), np.uint8)
        self.x = ((self.integers.astype(np.float64) + OFFSET) * SCALE).astype(np.float32)

    def convert(self, text, *options):
        (self.folder / "io.yaml").write_text(text)
        return run("onnx-to-dlc", "--quiet", "-i", "m.onnx", "-o", "m.dlc", "--custom_io", "io.yaml", *options, cwd=self.folder)

    def expected(self):
        """The convolution, written out."""
        padded = np.pad(self.x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
        y = sum(np.einsum("nchw,oc->nohw", padded[:, :, i:i + 4, j:j + 5], self.weights[:, :, i, j].astype(np.float64))
                for i in range(3) for j in range(3))
        return np.maximum(y, 0)

    def outputs(self, x, n=np.array([7, -9], np.int32)):
        (self.folder / "x.raw").write_bytes(np.ascontiguousarray(x).tobytes())
        (self.folder / "n.raw").write_bytes(n.tobytes())
        (self.folder / "list.txt").write_text("x:=x.raw n:=n.raw\n")
        done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out",
                   "--use_native_input_files", "--use_native_output_files", cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return {p.name.split(".")[0].removesuffix("_native"): p.read_bytes() for p in (self.folder / "out/Result_0").glob("*.raw")}


def item(name, layouts=None, dtype=None, quant=None):
    text = f"- IOName: {name}\n"
    if layouts:
        text += f"  Layout:\n    Model: {layouts[0]}\n    Custom: {layouts[1]}\n"
    if dtype:
        text += f"  Datatype: {dtype}\n"
    if quant:
        text += f"  QuantParam:\n    Type: QNN_DEFINITION_DEFINED\n    Scale: {quant[0]}\n    Offset: {quant[1]}\n"
    return text


def close(checks, label, found, expected, step=0.0):
    found = found.astype(np.float64)
    worst = np.abs(found - expected).max() if found.shape == expected.shape else np.inf
    checks.check(label, worst <= step + 1e-5 * np.abs(expected).max(), f"{worst} apart")


def converted(checks, label, network, text, *options):
    done = network.convert(text, *options)
    if not checks.equal(f"{label}: status", (done.returncode, done.stderr), (0, "")):
        return None
    return read_container(network.folder / "m.dlc").tensors


def test_layouts(checks, network):
    """Every pair of orders of the input's and the output's axes, also such as no operator has."""
    expected = network.expected()
    for custom in ("NCHW", "NHWC", "NWHC", "CNHW", "HWNC"):
        order = ["NCHW".index(axis) for axis in custom]
        tensors = converted(checks, custom, network, item("x", ("NCHW", custom)) + item("y", ("NCHW", custom)))
        if not tensors:
            continue
        x = network.x.transpose(order)
        checks.equal(f"{custom}: shape of x", tensors["x"].dims, list(x.shape))
        checks.equal(f"{custom}: shape of y", tensors["y"].dims, list(expected.transpose(order).shape))
        y = np.frombuffer(network.outputs(x)["y"], np.float32).reshape(expected.transpose(order).shape)
        close(checks, f"{custom}: y", y, expected.transpose(order))


def test_no_more_transposes(checks, network):
    """Where the container would have that order anyway, nothing is added."""
    network.convert(item("x", ("NCHW", "NHWC")) + item("y", ("NCHW", "NHWC")))
    found = [op.type for op in read_container(network.folder / "m.dlc").ops]
    checks.equal("ops", sorted(found), ["Conv2d", "Eltwise_Unary", "ElementWiseNeuron"] if "ElementWiseNeuron" in found
                 else ["Conv2d", "Eltwise_Unary", "Neuron"])


def test_integers(checks, network):
    """A camera's bytes in, bytes out: the reals are (integer + offset) · scale."""
    expected = network.expected().transpose(LAST)
    step = 0.0625
    tensors = converted(checks, "bytes", network, item("x", ("NCHW", "NHWC"), "uint8", (SCALE, OFFSET)) +
                        item("y", ("NCHW", "NHWC"), "uint8", (step, 0)))
    if not tensors:
        return
    checks.equal("types", (tensors["x"].dtype, tensors["y"].dtype), ("UFXP_8", "UFXP_8"))
    checks.equal("encodings", (tensors["x"].encodings, tensors["y"].encodings), ([(SCALE, OFFSET)], [(step, 0)]))
    y = np.frombuffer(network.outputs(network.integers.transpose(LAST))["y"], np.uint8).reshape(expected.shape)
    checks.equal("y", y.tolist(), np.clip(np.rint(expected / step), 0, 255).astype(np.uint8).tolist())


def test_widths(checks, network):
    """Floats of half the width, integers of another."""
    expected = network.expected()
    tensors = converted(checks, "widths", network, item("x", ("NCHW", "NCHW"), "float16") + item("y", ("NCHW", "NCHW"), "float16") +
                        item("n", None, "int32") + item("m", None, "int32"))
    if not tensors:
        return
    checks.equal("types", [tensors[name].dtype for name in "xynm"], ["FLOAT_16", "FLOAT_16", "INT_32", "INT_32"])
    found = network.outputs(network.x.astype(np.float16))
    close(checks, "y", np.frombuffer(found["y"], np.float16).reshape(expected.shape), expected, 0.001 * expected.max())
    checks.equal("m", np.frombuffer(found["m"], np.int32).tolist(), [-7, 9])


def test_configuration(checks, network):
    """The other form of the file says the same."""
    network.convert(item("x", ("NCHW", "NHWC"), "uint8", (SCALE, OFFSET)) + item("y", ("NCHW", "NCHW")))
    first = read_container(network.folder / "m.dlc").tensors
    tensors = converted(checks, "configuration", network, f"""
Converted Graph:
  - Input Tensors:
  - Output Tensors:
Input Tensor Configuration:
  # the camera
  - Name: x
    Src Model Parameters:
      DataType: float32
      Layout: NCHW
    Desired Model Parameters:
      DataType: uint8
      Layout: NHWC
      Shape:
      QuantParams:
        Scale: {SCALE}
        Offset: {OFFSET}
Output Tensor Configuration:
  - Name: y
    Src Model Parameters: {{Layout: NCHW}}
    Desired Model Parameters: {{Layout: NCHW}}
""")
    if tensors:
        for name in "xy":
            checks.equal(f"configuration: {name}", (tensors[name].dims, tensors[name].dtype, tensors[name].encodings),
                         (first[name].dims, first[name].dtype, first[name].encodings))


REFUSED = (
    ("name", item("z"), "io.yaml:1:3: error: z is no input or output of the model"),
    ("key", "- IOName: x\n  DataType: int8\n", "io.yaml:2:3: error: there is no setting DataType here"),
    ("type", item("x", None, "float8"), "io.yaml:2:13: error: there is no type float8 of inputs and outputs"),
    ("layout", item("x", ("NCHW", "NHWD")), "io.yaml:3:5: error: the two layouts do not have the same axes"),
    ("half of a layout", "- IOName: x\n  Layout: {Custom: NHWC}\n", "io.yaml:2:11: error: the two layouts do not have the same axes"),
    ("letters", item("x", ("NCHH", "NCHH")), "io.yaml:3:12: error: there is no layout NCHH"),
    ("rank", item("x", ("NCF", "NFC")), "x has the shape [1,3,4,5], and not the 3 axes of NCF"),
    ("no scale", item("x", None, "uint8"), "x is of float32 in the model, which does not become uint8"),
    ("scale of floats", item("x", None, "float16", (1, 0)), "x has a scale, but no integers of 8 or 16 bits"),
    ("scale of integers", item("n", None, "uint8", (1, 0)), "n has a scale, but is of int64 in the model"),
    ("scale of 0", item("x", None, "uint8", (0, 0)), "x has a scale or offset that is none"),
    ("offset", item("x", None, "uint8", (1, 5)), "x has a scale or offset that is none"),
    ("kind of scale", "- IOName: x\n  QuantParam: {Type: QNN_DEFINITION_IMPL_GENERATED}\n", "is not known before the quantizer ran"),
    ("reals of integers", item("n", None, "float32"), "n is of int64 in the model, which does not become float32"),
    ("twice", item("x") + item("x"), "io.yaml:2:3: error: x is there twice"),
    ("no list", "x\n", "io.yaml:1:1: error: this is neither a list of tensors nor a configuration of them"),
    ("nothing", "", "this is neither a list"),
    ("indentation", "- IOName: x\n   Layout: y\n  Datatype: z\n", "io.yaml:2:10: error: "),
    ("alias", "- IOName: &a x\n- IOName: *a\n", "io.yaml:2:11: error: aliases are not read"),
    ("documents", "- IOName: x\n---\n- IOName: y\n", "io.yaml:2:1: error: there is a second document"),
    ("shape", "Input Tensor Configuration:\n  - Name: x\n    Desired Model Parameters: {Shape: 1}\n", "shapes are not read"),
    ("source", "Input Tensor Configuration:\n  - Name: x\n    Src Model Parameters: {DataType: int8}\n", "x is of float32 in the model, not of int8"),
    ("cut", "Converted Graph:\n  - Output Tensors: [c]\n", "Output Tensors are not read"),
)


def test_refused(checks, network):
    (network.folder / "m.dlc").unlink(missing_ok=True)
    for label, text, expected in REFUSED:
        done = network.convert(text)
        checks.equal(f"{label}: status", done.returncode, 1)
        checks.check(f"{label}: said", expected in done.stderr, done.stderr)
        checks.check(f"{label}: no file", not (network.folder / "m.dlc").exists())
    done = network.convert(item("z") + item("n", None, "float32"))
    checks.equal("all are said", done.stderr.count("error: "), 2)
    missing = run("onnx-to-dlc", "-i", "m.onnx", "-o", "m.dlc", "--custom_io", "none.yaml", cwd=network.folder)
    checks.check("no such file", missing.returncode == 1 and "none.yaml" in missing.stderr, missing.stderr)


def main():
    checks = Checks()
    if np is None or read_container is None:
        checks.skip("custom inputs and outputs", "python3-numpy is not there")
    else:
        with tempfile.TemporaryDirectory() as folder:
            network = Network(pathlib.Path(folder))
            for test in (test_layouts, test_no_more_transposes, test_integers, test_widths, test_configuration, test_refused):
                test(checks, network)
    checks.finish()


main()
