# SPDX-License-Identifier: Apache-2.0
"""Which ops the container has for TensorFlow graphs of products, normalizations, dropouts and fake quantization, and how
fake-quantized tensors are stored. The numbers of single operators are tests/reference's."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import Checks  # noqa: E402
from prestarted import run  # noqa: E402

try:
    import numpy as np
    from dlc_reader import read_container
    from model_case import result, run_on
    from tf_writer import Graph, tensor_name
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None


class Place:
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, pathlib.Path(folder)
        self.source = np.random.RandomState(3)

    def random(self, *dims, low=-1, high=1):
        return self.source.uniform(low, high, dims).astype(np.float32)

    def convert(self, label, graph, output, *options):
        """The container, or None."""
        model, dlc = self.folder / "model.pb", self.folder / "model.dlc"
        dlc.unlink(missing_ok=True)
        graph.save(model)
        done = run("tensorflow-to-dlc", "-i", model, "-o", dlc, "--out_node", output.name, *options)
        if not self.checks.check(f"{label}: converts", done.returncode == 0, done.stderr):
            return None
        return read_container(dlc)

    def ops(self, label, graph, output, expected, *options):
        container = self.convert(label, graph, output, *options)
        if container:
            self.checks.equal(f"{label}: ops", [op.type for op in container.ops], expected)
        return container

    def numbers(self, container, inputs, output):
        done = run_on({tensor_name(name): values for name, values in inputs.items()}, self.folder / "model.dlc", self.folder)
        self.checks.check("net-run", done.returncode == 0, done.stderr)
        return result(self.folder, container, tensor_name(output.name))


def products(place):
    w = place.random(3, 4)
    for transpose in (False, True):
        g = Graph()
        x = g.placeholder("x", np.float32, [2, 3])
        known = g.const("w", w.T if transpose else w)
        y = g.node("MatMul", [x, known], name="y", transpose_b=transpose)
        c = place.ops(f"a product with weights, transposed {transpose}", g, y, ["FullyConnected"])
        if c:
            weights = c.tensors[c.ops[0].inputs[1]]
            place.checks.equal("weights are output by input", weights.dims, [4, 3])
            place.checks.check("their values", np.array_equal(np.frombuffer(weights.data, np.float32).reshape(4, 3), w.T))
    g = Graph()
    x, w2 = g.placeholder("x", np.float32, [2, 3]), g.placeholder("w", np.float32, [3, 4])
    place.ops("a product of inputs", g, g.node("MatMul", [x, w2], name="y"), ["MatMul"])
    g = Graph()
    x, bias = g.placeholder("x", np.float32, [2, 3]), g.const("bias", place.random(4))
    y = g.node("_FusedMatMul", [x, g.const("w", w), bias], name="y", num_args=1, fused_ops=["BiasAdd", "Relu"])
    c = place.ops("a fused product", g, y, ["FullyConnected", "Neuron"])
    if c:
        place.checks.equal("its bias is the layer's", c.ops[0].inputs[2], "bias:0")


def rows_of_batches(place):
    """A product with a known matrix is a layer whatever the rows' axes are, also when a vector is added."""
    x, w, bias = place.random(2, 3, 4), place.random(4, 5), place.random(5)
    for turned in (False, True):
        g = Graph()
        rows = g.placeholder("x", np.float32, x.shape)
        product = g.node("BatchMatMulV2", [rows, g.const("w", w.T if turned else w)], name="product", adj_y=turned)
        y = g.node("AddV2", [product, g.const("bias", bias)], name="y")
        c = place.ops(f"rows of batches, turned {turned}", g, y, ["Reshape", "FullyConnected", "Reshape"])
        if c:
            place.checks.equal("three operands", len(c.ops[1].inputs), 3)
            found = place.numbers(c, {c.ops[0].inputs[0]: x}, y)
            place.checks.check("their numbers", np.abs(found - (x @ w + bias)).max() < 1e-5, found)


def root_mean_squares(place):
    """T5's norm, from the release on that has the operator."""
    x, gamma = place.random(2, 3, 4), place.random(4)
    g = Graph()
    rows = g.placeholder("x", np.float32, x.shape)
    mean = g.node("Mean", [g.node("Square", [rows]), g.const("axes", np.array([-1], np.int32))], keep_dims=True)
    inverse = g.node("Rsqrt", [g.node("AddV2", [mean, g.const("epsilon", np.array(1e-6, np.float32))])])
    y = g.node("Mul", [g.const("gamma", gamma), g.node("Mul", [rows, inverse])], name="y")
    c = place.ops("a norm of 2.47", g, y, ["RmsNorm"], "--target_release", "2.47")
    if c:
        found = place.numbers(c, {c.ops[0].inputs[0]: x}, y)
        exact = x / np.sqrt(np.mean(x.astype("f8") ** 2, axis=-1, keepdims=True) + 1e-6) * gamma
        place.checks.check("its numbers", np.abs(found - exact).max() < 1e-5, found)
    c = place.convert("a norm of 2.20", g, y)
    place.checks.check("a norm of 2.20: no RmsNorm", c and "RmsNorm" not in [op.type for op in c.ops], c)


def normalizations(place):
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 4])
    total = g.node("Sum", [g.node("Square", [x]), g.const("axes", np.array([1], np.int32))], keep_dims=True)
    factor = g.node("Rsqrt", [g.node("Maximum", [total, g.const("epsilon", np.array(0.25, np.float32))])])
    y = g.node("Mul", [x, factor], name="y")
    c = place.ops("a normalization", g, y, ["L2Norm"])
    if c:
        place.checks.equal("its bound", c.ops[0].params["epsilon"].value, 0.25)
        place.checks.equal("its axis", c.ops[0].params["axis"].value, 1)


def dropouts(place):
    g = Graph()
    x, keep = g.placeholder("x", np.float32, [2, 3]), g.placeholder("keep_prob", np.float32, [])
    shape = g.const("shape", np.array([2, 3], np.int32))
    numbers = g.node("RandomUniform", [shape], name="numbers", dtype=np.float32)
    mask = g.node("Floor", [g.node("Add", [keep, numbers])])
    dropped = g.node("Mul", [g.node("RealDiv", [x, keep]), mask])
    y = g.node("Relu", [dropped], name="y")
    (place.folder / "one.raw").write_bytes(np.array(1, np.float32).tobytes())
    c = place.ops("a dropout that keeps everything", g, y, ["Neuron"], f"--freeze_input=keep_prob={place.folder}/one.raw")
    if c:
        place.checks.equal("its reader reads the input", c.ops[0].inputs, ["x:0"])


BOUNDS = {"x": (-1.0, 1.5), "w": (-0.5, 0.5), "y": (-1.0, 1.5)}


def fake(g, name, value, **attributes):
    low, high = (g.const(f"{name}/{i}", np.array(bound, np.float32)) for i, bound in enumerate(BOUNDS[name]))
    return g.node("FakeQuantWithMinMaxVars", [value, low, high], name=f"{name}/quant", **attributes)


def quantized_layer(w):
    g = Graph()
    x = fake(g, "x", g.placeholder("x", np.float32, [2, 3]))
    known = fake(g, "w", g.const("w", w), narrow_range=True)
    return g, fake(g, "y", g.node("MatMul", [x, known], name="product"))


def scale(name, narrow=False):
    low, high = BOUNDS[name]
    return (high - low) / (255 - narrow)


def fake_quantization(place):
    w, x = place.random(3, 4, low=-0.5, high=0.5), place.random(2, 3)
    g, y = quantized_layer(w)
    c = place.ops("a quantized layer", g, y, ["Quantize", "FullyConnected", "Dequantize"])
    if not c:
        return
    checks, layer = place.checks, c.ops[1]
    data, weights, out = (c.tensors[name] for name in (*layer.inputs[:2], layer.outputs[0]))
    checks.equal("types", [t.dtype for t in (data, weights, out)], ["UFXP_8", "SFXP_8", "UFXP_8"])
    for label, tensor, step, offset in (("data", data, scale("x"), -102), ("weights", weights, scale("w", True), 0),
                                        ("result", out, scale("y"), -102)):
        found, place_of_zero = tensor.encodings[0]
        checks.check(f"scale of the {label}", abs(found - step) < 1e-7 * step, (found, step))
        checks.equal(f"offset of the {label}", place_of_zero, offset)
    rounded = np.floor(w / scale("w", True) + 0.5)
    checks.check("integers of the weights", np.array_equal(np.frombuffer(weights.data, np.int8).reshape(4, 3), rounded.T))
    near_x = np.round(np.clip(x, *BOUNDS["x"]) / scale("x")) * scale("x")
    exact = np.clip(near_x @ (rounded * scale("w", True)), *BOUNDS["y"])
    error = np.abs(place.numbers(c, {"x": x}, y) - exact).max() / scale("y")
    checks.check("results are within half a step, or the end of the range", error < 0.51, error)
    options = "--keep_quant_nodes"
    place.ops("a quantized layer whose nodes are kept", *quantized_layer(w), [
        "Quantize", "Dequantize", "FullyConnected", "Quantize", "Dequantize"], options)


def fake_quantization_as_encodings(place):
    """Floats that carry what TensorFlow computes of the ranges, weights as TensorFlow rounds them."""
    w, x = place.random(3, 4, low=-0.5, high=0.5), place.random(2, 3)
    g, y = quantized_layer(w)
    c = place.ops("a layer with encodings", g, y, ["FullyConnected"], "--qdq", "encodings")
    if not c:
        return
    checks, layer = place.checks, c.ops[0]
    for label, name, step, offset in (("data", layer.inputs[0], scale("x"), -102), ("weights", layer.inputs[1], scale("w", True), 0),
                                      ("result", layer.outputs[0], scale("y"), -102)):
        tensor = c.tensors[name]
        checks.equal(f"the {label} are floats", (tensor.dtype, tensor.overridden), ("FLOAT_32", True))
        found, place_of_zero = tensor.encodings[0]
        checks.check(f"given scale of the {label}", abs(found - step) < 1e-7 * step, (found, step))
        checks.equal(f"given offset of the {label}", place_of_zero, offset)
    rounded = np.floor(w / scale("w", True) + 0.5) * scale("w", True)
    stored = np.frombuffer(c.tensors[layer.inputs[1]].data, np.float32).reshape(4, 3).T
    checks.check("floats of the weights", np.abs(stored - rounded).max() < 1e-7, np.abs(stored - rounded).max())
    error = np.abs(place.numbers(c, {"x": x}, y) - x @ rounded).max()
    checks.check("nothing else is rounded", error < 1e-6, error)
    g = Graph()
    few = fake(g, "x", g.placeholder("x", np.float32, [2, 3]), num_bits=7)
    y = g.node("Neg", [few], name="y")
    c = place.ops("fewer integers than a type has", g, y, ["Eltwise_Unary"], "--qdq", "encodings")
    if c:
        found, place_of_zero = c.tensors[c.ops[0].inputs[0]].encodings[0]
        checks.check("scale of 7 bits", abs(found - 2.5 / 127) < 1e-8, found)
        checks.equal("offset of 7 bits", place_of_zero, -51)


def given_encodings(place):
    """Names of a file are the model's nodes, with or without the output's number."""
    g = Graph()
    y = g.node("Neg", [g.node("Abs", [g.placeholder("x", np.float32, [2])], name="a")], name="y")
    place.folder.joinpath("given.json").write_text(json.dumps({"activation_encodings": {
        "x": {"bitwidth": 8, "min": 0, "max": 25.5}, "a:0": {"bitwidth": 16, "min": 0, "max": 65.535}}}))
    c = place.ops("given encodings", g, y, ["Eltwise_Unary", "Eltwise_Unary"], "--quantization_overrides",
                  place.folder / "given.json")
    if c:
        found = {name: t.encoding_forms[0][0] for name, t in c.tensors.items() if t.encodings}
        place.checks.equal("bits by name", found, {c.ops[0].inputs[0]: 8, c.ops[0].outputs[0]: 16})


def ranges_along_an_axis(place):
    """TensorFlow has no kernel of this for the host: the numbers are those of its formula, in float32."""
    low, high = np.array([-1, -2, -0.5], np.float32), np.array([1, 1, 2], np.float32)
    x = place.random(2, 3, 4, low=-2, high=2)
    step = np.maximum(low / np.float32(-128), high / np.float32(127)).reshape(3, 1)
    factor = np.minimum(np.float32(-128) / low, np.float32(127) / high).reshape(3, 1)
    bounded = np.clip(x, np.float32(-128) * step, np.float32(127) * step)
    for mode, rounded in (("HALF_TO_EVEN", np.rint(bounded * factor)),
                          ("HALF_UP", np.floor(bounded * factor + np.float32(0.5)))):
        for constant in (False, True):
            g = Graph()
            known = g.placeholder("x", np.float32, x.shape) if not constant else g.const("x", x)
            y = g.node("QuantizeAndDequantizeV2", [known, g.const("low", low), g.const("high", high)], name="y",
                       range_given=True, axis=1, round_mode=mode)
            z = g.node("Add", [y, g.placeholder("zero", np.float32, [1])], name="z")
            label = f"ranges along an axis, {mode}{', constant' * constant}"
            container = place.convert(label, g, z)
            if container:
                given = {"zero": np.zeros(1, np.float32), **({} if constant else {"x": x})}
                error = np.abs(place.numbers(container, given, z) - rounded * step).max()
                place.checks.check(f"{label}: numbers", error < 1e-6, error)


def main():
    checks = Checks()
    if np is None:
        checks.skip("graphs", "python3-numpy is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(checks, folder)
        products(place)
        rows_of_batches(place)
        root_mean_squares(place)
        normalizations(place)
        dropouts(place)
        fake_quantization(place)
        fake_quantization_as_encodings(place)
        given_encodings(place)
        ranges_along_an_axis(place)
    checks.finish()


main()
