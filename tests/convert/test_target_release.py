# SPDX-License-Identifier: Apache-2.0
"""What --target_release decides: biases of layers, the spelling of ops, notes of types that no container is known to have;
and what a folded batch normalization leaves in its layer. Expected results are computed by hand."""

import json
import math
import re
import struct
import sys
import tempfile

from conversion import Workshop, chain, onnx, op_types
from checks import SHARED, Checks
from prestarted import run

FACTS = SHARED / "corpus" / "fidelity"
NOT_IN_JSON = {"bias_op_name", "padding_size_strategy"}

# ONNX operator and its attributes, the op's name in older containers, its number in newer ones, and what it computes.
NEURONS = [
    ("Elu", {"alpha": 0.5}, "Elu", 0, lambda x: x if x > 0 else 0.5 * (math.exp(x) - 1)),
    ("Gelu", {}, "Gelu", 1, lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
    ("HardSigmoid", {"alpha": 0.25, "beta": 0.5}, "HardSigmoid", 2, lambda x: min(max(x / 4 + 0.5, 0), 1)),
    ("HardSwish", {}, "HardSwish", 3, lambda x: x * min(max(x / 6 + 0.5, 0), 1)),
    ("Relu", {}, "Relu", 4, lambda x: max(x, 0)),
    ("Sigmoid", {}, "Sigmoid", 6, lambda x: 1 / (1 + math.exp(-x))),
    ("Softplus", {}, "ElementWiseSoftplus", 7, lambda x: math.log(1 + math.exp(x))),
    ("Tanh", {}, "Tanh", 8, math.tanh)]
UNARIES = [
    ("Abs", 0, "Abs", abs), ("Asin", 1, "Asin", math.asin), ("Atan", 2, "Atan", math.atan), ("Ceil", 3, "Ceil", math.ceil),
    ("Cos", 4, "Cos", math.cos), ("Exp", 5, "Exp", math.exp), ("Floor", 6, "Floor", math.floor), ("Log", 7, "Log", math.log),
    ("Neg", 8, "Neg", lambda x: -x), ("Round", 11, "Round", round),
    ("Sign", 13, "Sign", lambda x: math.copysign(1, x)), ("Sin", 14, "Sin", math.sin), ("Sqrt", 15, "SquareRoot", math.sqrt)]
BINARIES = [
    ("Add", 0, "Add", lambda x, y: x + y), ("Div", 2, "Divide", lambda x, y: x / y), ("Max", 10, "Maximum", max),
    ("Min", 11, "Minimum", min), ("Mul", 13, "Multiply", lambda x, y: x * y), ("Pow", 16, "Power", lambda x, y: x**y),
    ("Sub", 18, "Subtract", lambda x, y: x - y), ("Mod", 5, "Fmod", math.fmod)]
COMPARISONS = [
    ("Equal", 3, "Equal", lambda x, y: x == y), ("Greater", 6, "Greater", lambda x, y: x > y),
    ("GreaterOrEqual", 7, "GreaterEqual", lambda x, y: x >= y), ("Less", 8, "Less", lambda x, y: x < y),
    ("LessOrEqual", 9, "LessEqual", lambda x, y: x <= y)]
LOGIC = [("And", 1, "And", lambda x, y: x and y), ("Or", 15, "Or", lambda x, y: x or y),
         ("Xor", 19, "Xor", lambda x, y: x != y)]


def near(found, expected):
    return len(found) == len(expected) and all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(found, expected))


def spelled(w, label, model, inputs, expected, older, newer):
    """The same numbers in both spellings: (type, its own param, value) of the only op."""
    given = {}
    for release, (type_, param, value) in (("2.18", older), ("2.20", older), ("2.22", newer), ("2.47", newer)):
        container, _ = w.convert(f"{label} of {release}", model, "--target_release", release)
        if not container:
            continue
        op = container.ops[0]
        others = {"eltwise_type", "neuron_type", "operation"} - {param}
        w.checks.equal(f"{label} of {release}: type", [op.type for op in container.ops], [type_])
        if not w.checks.check(f"{label} of {release}: params", param in op.params and not others & set(op.params), list(op.params)):
            continue
        w.checks.equal(f"{label} of {release}: {param}", op.params[param].value, value)
        if param == "operation":
            w.checks.equal(f"{label}: type and usage of {param}", (op.params[param].dtype, op.params[param].usage), ("UINT_32", 1))
        given[release] = w.execute(f"{label} of {release}", container, **inputs).get("y")
        w.checks.check(f"{label} of {release}: results", near(given[release] or [], expected), given[release])
    w.checks.equal(f"{label}: the same to the bit", len({tuple(values or []) for values in given.values()}), 1)


def node(op, types, result, attributes=None, opset=20, count=4):
    m = onnx.Model(opset=opset)
    names = ["x", "z"][:len(types)]
    for name, type_ in zip(names, types):
        m.input(name, type_, [count])
    m.node(op, names, ["y"], name="node", **(attributes or {}))
    m.output("y", result, [count])
    return m


def spellings(w):
    x = [-2.0, 0.75, 3.5, -0.25]
    for op, attributes, name, number, f in NEURONS:
        spelled(w, op, node(op, [onnx.FLOAT], onnx.FLOAT, attributes, opset=20), {"x": x}, [f(v) for v in x],
                ("Neuron", "neuron_type", name), ("ElementWiseNeuron", "operation", number))
    clip = onnx.Model(opset=6)
    clip.input("x", onnx.FLOAT, [4])
    clip.node("Clip", ["x"], ["y"], min=-1.0, max=3.0)
    clip.output("y", onnx.FLOAT, [4])
    spelled(w, "Clip", clip, {"x": x}, [-1, 0.75, 3, -0.25], ("Neuron", "neuron_type", "ReluMinMax"),
            ("ElementWiseNeuron", "operation", 5))
    for op, number, name, f in UNARIES:
        values = [0.25, 0.5, 0.875, 0.125] if op in ("Asin", "Log", "Sqrt") else x
        spelled(w, op, node(op, [onnx.FLOAT], onnx.FLOAT), {"x": values}, [f(v) for v in values],
                ("Eltwise_Unary", "eltwise_type", f"ElementWise{name}"), ("Eltwise_Unary", "operation", number))
    spelled(w, "Not", node("Not", [onnx.BOOL], onnx.BOOL), {"x": [1, 0, 1, 0]}, [0, 1, 0, 1],
            ("Eltwise_Unary", "eltwise_type", "ElementWiseNot"), ("Eltwise_Unary", "operation", 9))


def pairs(w):
    x, z = [2.0, 0.75, 3.5, 1.0], [1.5, 0.75, 4.0, 0.25]
    for group, type_, result, (x, z) in ((BINARIES, onnx.FLOAT, onnx.FLOAT, (x, z)), (COMPARISONS, onnx.FLOAT, onnx.BOOL, (x, z)),
                                         (LOGIC, onnx.BOOL, onnx.BOOL, ([1, 0, 1, 0], [1, 1, 0, 0]))):
        for op, number, name, f in group:
            attributes = {"fmod": 1} if op == "Mod" else {}
            spelled(w, op, node(op, [type_] * 2, result, attributes), {"x": x, "z": z}, [f(a, b) for a, b in zip(x, z)],
                    ("Eltwise_Binary", "eltwise_type", f"ElementWise{name}"), ("Eltwise_Binary", "operation", number))
    spelled(w, "integer Mod", node("Mod", [onnx.INT32] * 2, onnx.INT32), {"x": [7, -7, 5, 4], "z": [3, 3, -3, 2]},
            [1, 2, -1, 0], ("Eltwise_Binary", "eltwise_type", "ElementWiseMod"), ("Eltwise_Binary", "operation", 12))


def unchanged(w):
    """Types that newer containers name as older ones do."""
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, 1, 2, 2])
    m.input("c", onnx.BOOL, [1])
    m.node("GlobalAveragePool", ["x"], ["p"])
    m.node("ReduceSum", ["p"], ["r"])
    m.node("Where", ["c", "r", "p"], ["y"])
    m.output("y", onnx.FLOAT, [1, 1, 1, 1])
    for release in ("2.20", "2.47"):
        container, _ = w.convert(f"unchanged in {release}", m, "--target_release", release)
        if container:
            pool, reduce, select = (op.params for op in container.ops)
            w.checks.equal(f"{release}: types", op_types(container), ["Pool", "Reduce", "Eltwise_Ternary"])
            w.checks.equal(f"{release}: selectors", [pool["pool_type"].value, reduce["reduce_type"].value,
                                                     select["eltwise_type"].value],
                           ["PoolAvg2d", "ReduceSum", "ElementWiseSelect"])


# ---- layers ----

def layers(bias, norm=False, conv_name="conv"):
    """x → 1×1 convolution by 2 and 3 [+ bias] [→ batch normalization] → y; y = scale · (x · w + b − mean) / 2 + offset."""
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, 1, 1, 2])
    m.tensor("w", onnx.FLOAT, [2, 1, 1, 1], [2, 3])
    if bias:
        m.tensor("b", onnx.FLOAT, [2], [10, 20])
    m.node("Conv", ["x", "w", *(["b"] if bias else [])], ["c" if norm else "y"], name=conv_name)
    if norm:
        for name, values in (("scale", [4, -2]), ("offset", [0.5, 1]), ("mean", [1, 3]), ("var", [4, 4])):
            m.tensor(name, onnx.FLOAT, [2], values)
        m.node("BatchNormalization", ["c", "scale", "offset", "mean", "var"], ["y"], name="norm", epsilon=0.0)
    m.output("y", onnx.FLOAT, [1, 2, 1, 2])
    return m


def floats(tensor):
    return list(struct.unpack(f"<{len(tensor.data) // 4}f", tensor.data))


def layer(w, label, model, release, inputs, results, bias, note, *options):
    """The only op has that bias (name and values, or None) and notes its origin. Gives the op."""
    label = f"{label} of {release}"
    container = w.gives(label, model, inputs, results, "--target_release", release, *options)
    if not container:
        return None
    op = container.ops[0]
    w.checks.equal(f"{label}: number of inputs", len(op.inputs), 3 if bias else 2)
    if bias and len(op.inputs) == 3:
        name, values = bias
        w.checks.equal(f"{label}: bias", (op.inputs[2], floats(container.tensors[op.inputs[2]])), (name, values))
        w.checks.equal(f"{label}: its axes", container.tensors[op.inputs[2]].axis_format, 10)
    w.checks.equal(f"{label}: bias_op_name", op.params["bias_op_name"].value, note)
    return op


def biases(w):
    x = {"x": [1, -1]}
    for release, zeros in (("2.18", None), ("2.20", None), ("2.21", ("conv_bias", [0, 0])), ("2.47", ("conv_bias", [0, 0]))):
        layer(w, "convolution", layers(False), release, x, {"y": [2, 3, -2, -3]}, zeros, "")
        layer(w, "convolution with a bias", layers(True), release, x, {"y": [12, 23, 8, 17]}, ("b", [10, 20]), "b")


def taken_name(w):
    """Another tensor has the name that the bias would have."""
    m = onnx.Model(opset=13)
    m.input("conv_bias", onnx.FLOAT, [1, 1, 1, 2])
    m.tensor("w", onnx.FLOAT, [1, 1, 1, 1], [2])
    m.node("Conv", ["conv_bias", "w"], ["y"], name="conv")
    m.output("y", onnx.FLOAT, [1, 1, 1, 2])
    layer(w, "bias whose name is taken", m, "2.47", {"conv_bias": [1, -1]}, {"y": [2, -2]}, ("conv_bias.1", [0]), "")


def other_layers(w):
    """Each op with a window gets its zeros; a fully connected layer has none at any release."""
    for release, with_zeros in (("2.20", False), ("2.47", True)):
        m = onnx.Model(opset=13)
        m.input("x", onnx.FLOAT, [1, 2, 1, 2])
        m.tensor("w", onnx.FLOAT, [2, 1, 1, 1], [2, 3])
        m.tensor("v", onnx.FLOAT, [2, 1, 1, 1], [1, 10])
        m.node("Conv", ["x", "w"], ["d"], name="depthwise", group=2)
        m.node("ConvTranspose", ["d", "v"], ["y"], name="turned")
        m.output("y", onnx.FLOAT, [1, 1, 1, 2])
        container = w.gives(f"layers of {release}", m, {"x": [1, 2, -1, 4]}, {"y": [62, 118]}, "--target_release", release)
        if container:
            w.checks.equal(f"types of {release}", op_types(container), ["DepthWiseConv2d", "TransposeConv2d"])
            w.checks.equal(f"biases of {release}", [op.inputs[2:] for op in container.ops],
                           [["depthwise_bias"], ["turned_bias"]] if with_zeros else [[], []])
        m = onnx.Model(opset=13)
        m.input("x", onnx.FLOAT, [1, 2])
        m.tensor("w", onnx.FLOAT, [2, 2], [1, 2, 3, 4])
        m.node("Gemm", ["x", "w"], ["y"], name="dense")
        m.output("y", onnx.FLOAT, [1, 2])
        layer(w, "fully connected", m, release, {"x": [1, 10]}, {"y": [31, 42]}, None, "")


def gemm_biases(w):
    """What C stands for is called C, however C says it."""
    for label, dims, values, beta, bias in (("of a row", [2], [1, 2], 1.0, [1, 2]), ("of a matrix", [1, 2], [1, 2], 1.0, [1, 2]),
                                            ("times beta", [2], [1, 2], 4.0, [4, 8]), ("of one value", [1], [5], 1.0, [5, 5])):
        m = onnx.Model(opset=13)
        m.input("x", onnx.FLOAT, [1, 2])
        m.tensor("w", onnx.FLOAT, [2, 2], [1, 2, 3, 4])
        m.tensor("C", onnx.FLOAT, dims, values)
        m.node("Gemm", ["x", "w", "C"], ["y"], name="dense", beta=beta)
        m.output("y", onnx.FLOAT, [1, 2])
        layer(w, f"bias {label}", m, "2.20", {"x": [1, 10]}, {"y": [31 + bias[0], 42 + bias[1]]}, ("C", bias), "C")


# ---- batch normalization ----

def normalized(w):
    """The layer notes offset and scale as the model has them, not the factors that its weights got."""
    x = {"x": [1, -1]}
    for release in ("2.20", "2.47"):
        # 4 · (2x − 1) / 2 + 0.5 and −2 · (3x − 3) / 2 + 1
        op = layer(w, "normalized", layers(False, True), release, x, {"y": [2.5, 1, -5.5, 7]}, ("conv_bias", [-1.5, 4]), "")
        if op:
            w.checks.equal("beta", floats(op.params["beta"].tensor), [0.5, 1])
            w.checks.equal("gamma", floats(op.params["gamma"].tensor), [4, -2])
        for name in ("beta", "gamma") if op else ():
            param = op.params[name]
            w.checks.equal(f"{name}: tensor", (param.tensor.name, param.tensor.dims, param.dtype, param.usage, param.tensor.axis_format,
                                               param.tensor.encoding), (name, [2], "FLOAT_32", 2, 10, 0x7FFFFFFF))
        if op:
            w.checks.equal("order of params", op.param_order, sorted(op.param_order))
        layer(w, "normalized with a bias", layers(True, True), release, x, {"y": [22.5, -19, 14.5, -13]}, ("b", [18.5, -16]), "b")


def shown_and_compared(w):
    """Reports have these params, and differences of them."""
    first, _ = w.convert("first", layers(False, True))
    second, _ = w.convert("second", layers(False, True), "--disable_batchnorm_folding")
    if first and second:
        shown = run("dlc-info", "-i", first.path).stdout
        w.checks.check("dlc-info shows them", "beta: [0.5, 1]" in shown and "gamma: [4, -2]" in shown, shown)
        compared = run("dlc-diff", "-i1", first.path, "-i2", second.path, "--parameters").stdout
        w.checks.check("dlc-diff compares them", all(f" {name} " in compared for name in ("beta", "gamma")), compared)


def not_folded(w):
    """Without folding there are no notes, neither in the layer nor in the normalization."""
    op = layer(w, "apart", layers(False, True), "2.20", {"x": [1, -1]}, {"y": [2.5, 1, -5.5, 7]}, None, "",
               "--disable_batchnorm_folding")
    w.checks.check("no notes in the layer", op and not {"beta", "gamma"} & set(op.params))
    container, _ = w.convert("apart", layers(False, True), "--disable_batchnorm_folding")
    if container:
        w.checks.equal("apart: ops", op_types(container), ["Conv2d", "Batchnorm"])
        w.checks.equal("apart: params", list(container.ops[1].params), ["packageName"])
    m = layers(True, False)
    container, _ = w.convert("plain", m)
    w.checks.check("no notes without a normalization", container and not {"beta", "gamma"} & set(container.ops[0].params))


# ---- releases ----

def notes(w):
    m = chain("Relu", "Softmax", "LpNormalization", "Softmax", dims=[1, 2])
    for release, known in (("2.18", False), ("2.20", False), ("2.46", False), ("2.47", True), ("3.0", True)):
        _, said = w.convert(f"notes of {release}", m, "--target_release", release, "--debug")
        lines = [line for line in said.splitlines() if "not known from containers" in line]
        types = [line.split("op type ")[1].split()[0] for line in lines]
        w.checks.equal(f"{release}: one note for each type", types, ["L2Norm"] if known else ["Softmax", "L2Norm"])
        w.checks.check(f"{release} is named", all(line.endswith(f"of release {release}") for line in lines), said)
        w.checks.equal(f"{release}: hint", "hint: those of 2.47 have it: --target_release 2.47" in said, not known)
    w.checks.check("notes are for --debug", "not known" not in w.convert("quiet", m)[1])


# ---- the vendor's own results ----

def vendor_nodes(name):
    """The nodes of a network JSON; its names have "_" for whatever is no letter or digit."""
    return json.loads((FACTS / name).read_text())["graph"]["nodes"]


def plain(name):
    return re.sub(r"[^A-Za-z0-9]", "_", name).lstrip("_")


def like_the_vendor(w, label, container, nodes):
    """Each of the vendor's ops is there with its type, scalar params, number of inputs and bias."""
    ops = {plain(op.name): op for op in container.ops} if container else {}
    for name, expected in nodes.items():
        if not w.checks.check(f"{label}: there is {name}", plain(name) in ops):
            continue
        op = ops[plain(name)]
        scalars = {key: next(iter(value.values())) for key, value in expected["scalar_params"].items()}
        ours = {key: param.value for key, param in op.params.items() if param.tensor is None and key not in NOT_IN_JSON}
        w.checks.equal(f"{label}: {name}: type", op.type, expected["type"])
        w.checks.equal(f"{label}: {name}: scalar params", ours, scalars)
        w.checks.equal(f"{label}: {name}: number of inputs", len(op.inputs), len(expected["input_names"]))
        w.checks.equal(f"{label}: {name}: bias", [plain(i) for i in op.inputs[2:]], [plain(i) for i in expected["input_names"][2:]])


def networks(w):
    if not FACTS.is_dir():
        w.checks.skip("the vendor's results", f"{FACTS} is not there")
        return
    container, _ = w.convert("image filter", FACTS / "naf-block" / "model.onnx", "--target_release", "2.33")
    like_the_vendor(w, "image filter", container, vendor_nodes("naf-block/vendor_net.json"))
    m = onnx.Model(opset=13)
    m.input("input", onnx.FLOAT, [1, 3, 288, 384])
    m.tensor("/Constant_output_0", onnx.FLOAT, [3, 1, 9, 9], [1 / 81] * 243)
    m.node("Conv", ["input", "/Constant_output_0"], ["output"], name="/Conv", group=3, pads=[4] * 4)
    m.output("output", onnx.FLOAT, [1, 3, 288, 384])
    container, _ = w.convert("blur", m, "--target_release", "2.47")
    like_the_vendor(w, "blur", container, vendor_nodes("conv-io/blur_conv_net.json"))


def default(w):
    """Without the option: 2.20."""
    plain, _ = w.convert("default", chain("Sigmoid", "Sigmoid"))
    asked, _ = w.convert("asked", chain("Sigmoid", "Sigmoid"), "--target_release", "2.20.0.240223161333")
    for container in (plain, asked):
        w.checks.equal("types", container and op_types(container), ["Neuron", "Neuron"])


def bad_releases(w):
    for text in ("2.17", "1.68", "2", "two", "2.x", "2.20x", "", "-2.20"):
        w.fails(f"release {text!r}", 2, [f"--target_release {text}: containers are written for releases from 2.18 on",
                                         "2.18, 2.20 or a later one"], chain("Relu"), f"--target_release={text}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in (spellings, pairs, unchanged, biases, taken_name, other_layers, gemm_biases, normalized, shown_and_compared,
                     not_folded, notes, networks, default, bad_releases):
            part(w)
    checks.finish()


if __name__ == "__main__":
    sys.exit(main())
