# SPDX-License-Identifier: Apache-2.0
"""Models of QuantizeLinear and DequantizeLinear pairs as floats with encodings (--qdq encodings), and with nodes that are
kept (--keep_quant_nodes): what their tensors carry by the definition of the two operators, and the numbers of the model
without rounding."""

import json
import pathlib
import tempfile

from one_node import np, run_model
from checks import SHARED, Checks
from onnx_writer import FLOAT, INT8, INT16, INT32, UINT8, UINT16, Model
from prestarted import run
from quantized_models import back_and_forth, f4, pair, quantized, spread

try:
    from dlc_reader import read_container
except ImportError:
    read_container = None

ENCODINGS = ["--qdq", "encodings"]
MATMUL = SHARED / "corpus" / "fidelity" / "matmul-int8"
UINT4, INT4 = 21, 22


def encoding(scale, zero, bits=8, signed=False):
    """(scale, offset), (bit width, symmetric), (least, greatest) of the reals (q - zero) · scale."""
    scale, low = float(np.float32(scale)), -(1 << bits - 1) if signed else 0
    ends = (low - zero) * scale, (low + (1 << bits) - 1 - zero) * scale
    return (scale, -zero), (bits, signed and zero == 0), tuple(float(np.float32(end)) for end in ends)


def carried(tensor):
    """Encodings that a float tensor is to be quantized with; None where it is of another type, or they are no overrides."""
    if tensor.dtype != "FLOAT_32" or not (tensor.overridden or tensor.encoding == 0x7FFFFFFF):
        return None
    return list(zip(tensor.encodings, tensor.encoding_forms, tensor.encoding_ranges))


def expect(checks, label, container, encodings):
    """Which tensors of the container have encodings: by name a list of them and the axis that they are along (or None)."""
    found = {name: (carried(t), t.axis) for name, t in container.tensors.items() if t.encoding != 0x7FFFFFFF}
    checks.equal(f"{label}: encodings", found, encodings)


def types(container):
    return [op.type for op in container.ops]


def constant(m, name, array, code, scale, zero, **attributes):
    """A known tensor of integers that is dequantized; the name of the reals."""
    m.tensor(f"{name}_q", code, array.shape, raw=array.tobytes())
    m.tensor(f"{name}_scale", FLOAT, np.shape(scale), np.ravel(scale).tolist())
    m.tensor(f"{name}_zero", code, np.shape(zero), np.ravel(zero).tolist())
    m.node("DequantizeLinear", [f"{name}_q", f"{name}_scale", f"{name}_zero"], [name], **attributes)
    return name


class Layer:
    """x → pair → 1 × 1 convolution of dequantized weights and bias; its float numbers without rounding."""

    def __init__(self, rng, scale, zero):
        self.x = spread(rng, 1, 3, 2, 4, low=-3, high=3)
        self.w = rng.integers(-128, 127, (4, 3, 1, 1)).astype("i1")
        self.bias = rng.integers(-3000, 3000, 4).astype("i4")
        self.scale, self.zero = f4(scale), np.array(zero, "i1")
        m = self.model = Model(opset=13)
        m.input("x", FLOAT, self.x.shape)
        weights = constant(m, "weights", self.w, INT8, self.scale, self.zero, axis=0)
        bias = constant(m, "bias", self.bias, INT32, f4(0.001), np.int32(0))
        m.node("Conv", [pair(m, "x", 6 / 255, 128, 0), weights, bias], ["c"], name="conv")

    def numbers(self, factor=1.0, shift=0.0):
        real = (self.w[:, :, 0, 0].astype("f8") - np.reshape(self.zero, (-1, 1))) * np.reshape(self.scale, (-1, 1))
        y = np.einsum("nchw,oc->nohw", self.x.astype("f8"), real) + (self.bias * 0.001).reshape(4, 1, 1)
        return (y * np.reshape(factor, (-1, 1, 1)) + np.reshape(shift, (-1, 1, 1))).astype("f4")

    def carried(self, factor=1.0):
        scales = np.broadcast_to(self.scale, factor.shape if np.ndim(factor) else self.scale.shape)
        zeros = np.broadcast_to(self.zero, scales.shape)
        each = [encoding(s * f, int(z), signed=True) for s, z, f in
                zip(np.ravel(scales).astype("f8"), np.ravel(zeros), np.broadcast_to(factor, max(scales.size, 1)))]
        return each, 3 if scales.ndim else None


INPUT = [encoding(6 / 255, 128)], None
BIAS = [encoding(0.001, 0, 32, True)], None


def test_layers(checks):
    rng = np.random.default_rng(1)
    for scale, zero in ((0.01, 5), ([0.01, 0.02, 0.005, 0.03], [3, -7, 0, 100])):
        layer, label = Layer(rng, scale, zero), f"layer with scale {scale}"
        layer.model.output(pair(layer.model, "c", 0.15, 120, 1), FLOAT, [1, 4, 2, 4])
        for options in ([], ["--preserve_io", "layout"]):
            c = run_model(checks, label, layer.model, {"x": layer.x}, {"d1": layer.numbers()}, ENCODINGS + options, 1e-4)
            if not c:
                continue
            result = [encoding(0.15, 120)], None
            stored = next(o for o in c.ops if o.type == "Conv2d").outputs[0]  # channels-last, before a Transpose or without
            expect(checks, f"{label} {options}", c,
                   {"x": INPUT, "weights": layer.carried(), "bias": BIAS, stored: result, "d1": result})
            checks.equal(f"{label} {options}: ops", types(c), ["Transpose", "Conv2d", "Transpose"] if options else ["Conv2d"])


def test_batch_normalizations(checks):
    """The scales of weights are multiplied by what is folded into them, where that is positive."""
    rng = np.random.default_rng(2)
    for scale, zero in ((0.01, 5), ([0.01, 0.02, 0.005, 0.03], [3, -7, 0, 100])):
        for sign in (1, -1):
            layer = Layer(rng, scale, zero)
            m, label = layer.model, f"batch normalization, scale {scale}, sign {sign}"
            gamma, beta = f4([1.5, 2 * sign, 0.5, 1]), f4([1, -2, 0, 3])
            for name, values in (("gamma", gamma), ("beta", beta), ("mean", f4([0] * 4)), ("variance", f4([1] * 4))):
                m.tensor(name, FLOAT, [4], values.tolist())
            m.node("BatchNormalization", ["c", "gamma", "beta", "mean", "variance"], ["n"], epsilon=0.0)
            m.output(pair(m, "n", 0.15, 120, 1), FLOAT, [1, 4, 2, 4])
            c = run_model(checks, label, m, {"x": layer.x}, {"d1": layer.numbers(gamma, beta)}, ENCODINGS, 1e-4)
            if c:
                weights = {"weights": layer.carried(gamma.astype("f8"))} if sign > 0 else {}
                expect(checks, label, c, {"x": INPUT, **weights, "d1": ([encoding(0.15, 120)], None)})
                checks.equal(f"{label}: ops", types(c), ["Conv2d"])


def test_activations(checks):
    """A least number of zero is an activation where nothing else keeps values from being negative."""
    rng = np.random.default_rng(3)
    layer = Layer(rng, 0.01, 0)
    m = layer.model
    inner = pair(m, "c", 0.02, 0, 1)
    m.node("MaxPool", [inner], ["p"], kernel_shape=[1, 1])
    m.node("Add", [pair(m, "p", 0.03, 0, 2), inner], ["s"])
    m.node("Sigmoid", [pair(m, "s", 0.04, 0, 3)], ["g"])
    m.output(pair(m, "g", 1 / 256, 0, 4), FLOAT, [1, 4, 2, 4])
    clamped = np.clip(layer.numbers(), 0, np.float32(0.02) * np.float32(255))
    expected = 1 / (1 + np.exp(-2 * clamped.astype("f8")))
    c = run_model(checks, "activation", m, {"x": layer.x}, {"d4": expected.astype("f4")}, ENCODINGS, 1e-5)
    if c:
        checks.equal("activation: ops", types(c), ["Conv2d", "Neuron", "Pool", "Eltwise_Binary", "Neuron"])
        expect(checks, "activation", c, {
            "x": INPUT, "weights": layer.carried(), "bias": BIAS, "c": ([encoding(0.02, 0)], None),
            "d1": ([encoding(0.02, 0)], None), "p": ([encoding(0.03, 0)], None), "s": ([encoding(0.04, 0)], None),
            "d4": ([encoding(1 / 256, 0)], None)})
    x = f4([-1, 0.5, 9])
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.node("Abs", [pair(m, "x", 0.02, 0, 0)], ["a"])
    m.node("Neg", ["a"], ["n"])
    m.output(pair(m, "n", 0.02, 0, 1), FLOAT, x.shape)
    c = run_model(checks, "an input of zero and more", m, {"x": x}, {"d1": f4([0, 0, 0])}, ENCODINGS)
    checks.equal("an input of zero and more: ops", c and types(c), ["Eltwise_Unary", "Eltwise_Unary", "Neuron"])
    image = f4([[[[0, 1], [2, 3]]]])
    for mode, ops in (("linear", ["Neuron", "Resize"]), ("cubic", ["Neuron", "Resize", "Neuron"])):
        m = Model(opset=13)
        m.input("x", FLOAT, image.shape)
        m.tensor("scales", FLOAT, [4], [1.0, 1.0, 2.0, 2.0])
        m.node("Relu", ["x"], ["r"])
        m.node("Resize", ["r", "", "scales"], ["s"], mode=mode, coordinate_transformation_mode="align_corners")
        m.output(pair(m, "s", 0.02, 0, 0), FLOAT, [1, 1, 4, 4])
        expected = f4([[[[(2 * i + k) / 3 for k in range(4)] for i in range(4)]]]) if mode == "linear" else None
        c = run_model(checks, f"resized, {mode}", m, {"x": image}, {} if expected is None else {"d0": expected}, ENCODINGS, 1e-6)
        checks.equal(f"resized, {mode}: ops", c and [op for op in types(c) if op != "Transpose"], ops)
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.node("Neg", ["x"], ["n"])
    m.output(pair(m, "n", 0.5, 100, 0), FLOAT, x.shape)
    m.output(pair(m, "n", 0.02, 0, 1), FLOAT, x.shape)
    c = run_model(checks, "the activation and the value", m, {"x": x}, {"d0": -x, "d1": f4([1, 0, 0])}, ENCODINGS)
    if c:
        expect(checks, "the activation and the value", c, {"d0": ([encoding(0.5, 100)], None), "d1": ([encoding(0.02, 0)], None)})


def test_readers(checks):
    """One value, and who else reads it: pairs of two encodings one after the other, the real value, the graph itself."""
    x = f4([-1.25, 0.5, 3, 100])
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.node("Neg", ["x"], ["n"])
    m.node("Abs", [pair(m, pair(m, "n", 0.5, 100, 0), 0.25, 50, 1)], ["y"])
    m.node("Add", ["d0", "n"], ["z"])
    for name in ("y", "z", "n", "d0"):
        m.output(name, FLOAT, x.shape)
    outputs = {"y": np.abs(x), "z": -2 * x, "n": -x, "d0": -x}
    c = run_model(checks, "two encodings", m, {"x": x}, outputs, ENCODINGS)
    if c:
        first = [encoding(0.5, 100)], None
        expect(checks, "two encodings", c, {"n": first, "d0": first})
        checks.equal("two encodings: ops", sorted(types(c)), ["Eltwise_Binary", "Eltwise_Unary", "Eltwise_Unary", "Reshape"])
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.output(pair(m, "x", 0.5, 100, 0), FLOAT, x.shape)
    c = run_model(checks, "an input that is an output", m, {"x": x}, {"d0": x}, ENCODINGS)
    if c:
        expect(checks, "an input that is an output", c, {name: ([encoding(0.5, 100)], None) for name in ("x", "d0")})


def test_integers(checks):
    """Integers that the model itself uses stay what they are, by ONNX's own numbers; the reals between them carry on."""
    q = np.array([[0, 7, 100, 255]], "u1")
    m = Model(opset=13)
    m.input("x", UINT8, q.shape)
    for name, values, code in (("s", 0.5, FLOAT), ("z", 100, UINT8), ("t", 0.25, FLOAT), ("u", 3, UINT8)):
        m.tensor(name, code, [], [values])
    m.node("DequantizeLinear", ["x", "s", "z"], ["d"])
    m.node("Abs", ["d"], ["a"])
    m.node("QuantizeLinear", ["a", "t", "u"], ["y"])
    m.output("y", UINT8, q.shape)
    expected = quantized(np.abs((q.astype("f4") - 100) * f4(0.5)), f4(0.25), 3, "u1")
    c = run_model(checks, "integers around", m, {"x": q}, {"y": expected}, ENCODINGS)
    if c:
        checks.equal("integers around: types", [c.tensors[name].dtype for name in "xy"], ["UINT_8"] * 2)
        expect(checks, "integers around", c, {"d": ([encoding(0.5, 100)], None), "a": ([encoding(0.25, 3)], None)})
    a, b = np.array([[1, 200]], "u1"), np.array([[3], [-5]], "i1")
    m = Model(opset=10)
    m.input("a", UINT8, a.shape)
    m.tensor("b", INT8, b.shape, raw=b.tobytes())
    for name, values, code in (("s", 0.5, FLOAT), ("z", 2, UINT8), ("i", 0, INT8), ("t", 2.0, FLOAT)):
        m.tensor(name, code, [], [values])
    m.node("QLinearMatMul", ["a", "s", "z", "b", "s", "i", "t", "z"], ["y"])
    m.output("y", UINT8, [1, 1])
    total = (a.astype("i4") - 2) @ b.astype("i4")
    expected = np.clip(np.round(total.astype("f4") * f4(0.125)) + 2, 0, 255).astype("u1")
    c = run_model(checks, "QLinearMatMul", m, {"a": a}, {"y": expected}, ENCODINGS)
    if c:
        checks.equal("QLinearMatMul: border", [c.tensors[name].dtype for name in "ay"], ["UINT_8"] * 2)
        expect(checks, "QLinearMatMul", c, {"y.dequantized": ([encoding(0.5, 2)], None), "y.real": ([encoding(2.0, 2)], None),
                                            "b": ([encoding(0.5, 0, signed=True)], None)})


def test_widths(checks):
    x = f4([-1, 0.5, 3, 100])
    for code, bits, signed, zero in ((INT16, 16, True, -5), (UINT16, 16, False, 300), (INT4, 4, True, 0), (UINT4, 4, False, 7)):
        m = Model(opset=21, ir_version=10)
        m.input("x", FLOAT, x.shape)
        m.tensor("s", FLOAT, [], [0.25])
        m.tensor("z", code, [], [zero] if bits == 16 else None, raw=bytes([zero]) if bits == 4 else None)
        m.node("QuantizeLinear", ["x", "s", "z"], ["q"])
        m.node("DequantizeLinear", ["q", "s", "z"], ["d"])
        m.node("Neg", ["d"], ["y"])
        m.output("y", FLOAT, x.shape)
        c = run_model(checks, f"type {code}", m, {"x": x}, {"y": -x}, ENCODINGS)
        if c:
            expect(checks, f"type {code}", c, {"x": ([encoding(0.25, zero, bits, signed)], None)})


def test_large_biases(checks):
    """DequantizeLinear makes a float32 of an int32 before it multiplies: two roundings."""
    q = np.array([16777217, -2147483647, 123456789, 7], "i4")
    x = np.zeros(4, "f4")
    for options in ([], ENCODINGS, ["--keep_quant_nodes"]):
        m = Model(opset=13)
        m.input("x", FLOAT, x.shape)
        m.node("Add", ["x", constant(m, "b", q, INT32, f4(0.3), np.int32(0))], ["y"])
        m.output("y", FLOAT, x.shape)
        run_model(checks, f"large biases {options}", m, {"x": x}, {"y": q.astype("f4") * f4(0.3)}, options)


def test_kept_nodes(checks):
    """Nodes and tensors are called as in the model; constants are floats."""
    rng = np.random.default_rng(4)
    layer = Layer(rng, [0.01, 0.02, 0.005, 0.03], [3, -7, 0, 100])
    m = layer.model
    m.output(pair(m, "c", 0.15, 120, 1), FLOAT, [1, 4, 2, 4])
    layer.x = back_and_forth(layer.x, 6 / 255, 128)
    expected = back_and_forth(layer.numbers(), 0.15, 120)
    c = run_model(checks, "kept", m, {"x": layer.x}, {"d1": expected}, ["--keep_quant_nodes"], 0.15)
    if c:
        checks.equal("kept: nodes", [(o.type, o.outputs) for o in c.ops],
                     [("Quantize", ["q0"]), ("Dequantize", ["d0"]), ("Conv2d", ["c"]), ("Quantize", ["q1"]), ("Dequantize", ["d1"])])
        checks.equal("kept: operands", next(o for o in c.ops if o.type == "Conv2d").inputs, ["d0", "weights", "bias"])
        checks.equal("kept: constants", [(c.tensors[n].dtype, c.tensors[n].encodings) for n in ("weights", "bias")],
                     [("FLOAT_32", [])] * 2)
        checks.equal("kept: encodings", [c.tensors[n].encodings for n in ("q0", "q1")],
                     [[encoding(6 / 255, 128)[0]], [encoding(0.15, 120)[0]]])


def test_notes(checks):
    """What is lost of the encodings is said."""
    rng = np.random.default_rng(5)
    layer = Layer(rng, 0.01, 0)
    m = layer.model
    for name, value in (("gamma", -1.0), ("zeros", 0.0), ("ones", 1.0)):
        m.tensor(name, FLOAT, [4], [value] * 4)
    m.node("BatchNormalization", [pair(m, pair(m, "c", 0.5, 100, 1), 0.25, 50, 2), "gamma", "zeros", "zeros", "ones"], ["y"])
    m.output("y", FLOAT, [1, 4, 2, 4])
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder, "model.onnx")
        m.save(model)
        done = run("onnx-to-dlc", "-i", model, "-o", model.with_suffix(".dlc"), "--debug", *ENCODINGS)
        for text in ("warning: node 'conv': the weights lose the encodings that the model gives them: 4 of the 4 factors",
                     "note: node 'conv': the bias loses the encoding",
                     "note: node 'c': tensor c is quantized more than once: it keeps the encoding of scale 0.5 and offset -100",
                     "note: node 'c': tensor c is not in the container"):
            checks.check(f"says: {text}", text in done.stderr, done.stderr)
        for arguments, text in ((["--qdq", "other"], "--qdq other: there is no such form"),
                                ([*ENCODINGS, "--keep_quant_nodes"], "--qdq encodings leaves no quantizing op")):
            done = run("onnx-to-dlc", "-i", model, "-o", model.with_suffix(".dlc"), *arguments)
            checks.check(f"refuses {arguments}", done.returncode == 2 and text in done.stderr, done.stderr)


def of_json(params):
    """Encodings of the vendor's JSON, and their axis."""
    along = params.get("axis_scale_offset")
    entries = along["scale_offsets"] if along else [params["scale_offset"]]
    return [((e["scale"], e["offset"]), (e["bitwidth"], e["is_symmetric"]), (e["minimum"], e["maximum"])) for e in entries], \
        along["axis"] if along else None


def test_vendor_result(checks):
    """The encodings, all numbers of them, and the ops that the vendor's converter makes of a real model. (Tensors that change
    their layout have another name there.)"""
    if not MATMUL.exists():
        checks.skip("the vendor's QDQ result", f"no {MATMUL}")
        return
    vendor = json.loads((MATMUL / "vendor_qdq_net.json").read_text())["graph"]
    with tempfile.TemporaryDirectory() as folder:
        dlc = pathlib.Path(folder, "model.dlc")
        done = run("onnx-to-dlc", "-i", MATMUL / "model_qdq.onnx", "-o", dlc, *ENCODINGS)
        if not checks.check("convert the vendor's model", done.returncode == 0, done.stderr):
            return
        c = read_container(dlc)
    wanted = {name.removesuffix("_nchw"): of_json(t["quant_params"]) for name, t in vendor["tensors"].items()
              if t["quant_params"]["is_overridden"]}
    found = {name.removesuffix("_nchw"): (carried(t), t.axis) for name, t in c.tensors.items() if t.encoding != 0x7FFFFFFF}
    checks.equal("tensors with encodings", sorted(found), sorted(wanted))
    for name, (encodings, axis) in wanted.items():
        checks.equal(f"axis of {name}", found[name][1], axis)
        for i, numbers in enumerate(encodings):
            checks.equal(f"encoding {i} of {name}", found[name][0][i], numbers)
    product = next(o for o in c.ops if o.type == "MatMul")
    checks.equal("the product's name", product.name, next(n for n, o in vendor["nodes"].items() if o["type"] == "MatMul"))
    checks.check("no op quantizes", not any("uantize" in o.type for o in c.ops), types(c))
    stored = np.frombuffer(c.tensors[product.inputs[1]].data, "f4").reshape(256, 256)
    steps = f4([e[0][0] for e in wanted["rhs_dequantized"][0]])
    integers = np.rint(stored / steps)
    checks.check("weights are whole steps", np.array_equal(stored, integers.astype("f4") * steps) and np.abs(integers).max() == 127)


def main():
    checks = Checks()
    if np is None:
        checks.skip("encodings of quantizing models", "python3-numpy is not there")
    else:
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                test(checks)
    checks.finish()


main()
