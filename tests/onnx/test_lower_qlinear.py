# SPDX-License-Identifier: Apache-2.0
"""Operators on quantized integers: random nodes against their definitions on both backends, and the containers that they
become. --count N nodes of each operator, --seed N."""

import pathlib
import sys
import tempfile

from one_node import Case, Const, as_stored, convert, execute, np, refuses, result, run_model, write_model
from checks import Checks
from onnx_writer import BOOL, FLOAT, INT8, INT32, INT64, UINT8, Model

BACKENDS = ("reference", "cpu,reference")
COUNT = 12


def fixed_types(container):
    """The types of all that is computed."""
    return sorted({container.tensors[name].dtype for o in container.ops for name in o.outputs})


def is_right(found, node, container):
    least, greatest = (as_stored(array, container.tensors["out0"]) for array in node.expected)
    return found.shape == least.shape and bool(np.all((least <= found) & (found <= greatest)))


def try_drawn(checks, name, node, folder):
    given = write_model(folder / "model.onnx", node.opset, node.op, node.inputs, node.attributes, [node.expected[0]])
    case = Case(name, folder / "model.onnx", given, {"out0": node.expected[0]})
    done, dlc = convert(case, folder)
    if not checks.check(f"convert {name}", done.returncode == 0, done.stderr):
        return
    for backend in BACKENDS:
        done, container = execute(case, dlc, folder, options=("--backend", backend))
        if not checks.check(f"execute {name} on {backend}", done.returncode == 0, done.stderr):
            return
        found = result(folder, container, "out0")
        checks.check(f"{name} on {backend}", is_right(found, node, container),
                     f"{node.attributes} found {found.tolist()}, expected {[e.tolist() for e in node.expected]}")
    between = [o.type for o in container.ops if o.type in ("Quantize", "Dequantize", "Cast")]
    checks.equal(f"{name} is one of fixed-point tensors", between, [])
    checks.check(f"types of {name}", container.tensors["out0"].dtype.endswith("FXP_8"), container.tensors["out0"].dtype)


def test_drawn(checks, count, first):
    from qlinear_draw import DRAWS
    for op, draw in DRAWS.items():
        for seed in range(first, first + count):
            with tempfile.TemporaryDirectory() as folder:
                try_drawn(checks, f"{op} {seed}", draw(np.random.RandomState(seed)), pathlib.Path(folder))


def network(r):
    """Bytes → QLinearConv → MaxPool → Transpose → Reshape → QGemm → bytes, with the least and greatest that are right."""
    from qlinear_draw import Tensor, convolution, saturated
    x, w = Tensor(r, [1, 3, 6, 6], "u1", exact=True), Tensor(r, [4, 3, 3, 3], "i1", 0, symmetric=True, exact=True)
    b = Tensor(r, [36, 5], "i1", exact=True)
    y = convolution(x.real, w.real, 1, [1, 1], [1, 1, 1, 1], [1, 1])
    scale = float(2.0**np.round(np.log2(np.abs(y).max() / 120)))
    q = saturated(y / scale, 90, "u1")[:, :, :, :]
    q = np.max([q[:, :, i:i + 5:2, k:k + 5:2] for i in range(2) for k in range(2)], 0)
    flat = np.ascontiguousarray(q.transpose(0, 2, 3, 1)).reshape(1, 36)
    last = ((flat.astype("f8") - 90) * scale) @ b.real
    end = float(2.0**np.round(np.log2(np.abs(last).max() / 120)))
    m = Model(opset=13)
    m.opsets.append(("com.microsoft", 1))
    m.input("x", UINT8, x.q.shape)
    for name, value in (("x", x), ("w", w), ("b", b)):
        m.tensor(f"{name}_scale", FLOAT, [] if value.whole else [len(value.scale)], value.scale.tolist())
        m.tensor(f"{name}_zero", UINT8 if name == "x" else INT8, [] if value.whole else [len(value.zero)], value.zero.tolist())
    m.tensor("w", INT8, w.q.shape, raw=w.q.tobytes())
    m.tensor("b", INT8, b.q.shape, raw=b.q.tobytes())
    m.tensor("y_scale", FLOAT, [], [scale])
    m.tensor("y_zero", UINT8, [], [90])
    m.tensor("z_scale", FLOAT, [], [end])
    m.tensor("z_zero", UINT8, [], [100])
    m.tensor("flat", INT64, [2], [1, 36])
    m.node("QLinearConv", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"], ["y"], name="conv", pads=[1] * 4)
    m.node("MaxPool", ["y"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2])
    m.node("Transpose", ["p"], ["t"], perm=[0, 2, 3, 1])
    m.node("Reshape", ["t", "flat"], ["f"])
    m.node("QGemm", ["f", "y_scale", "y_zero", "b", "b_scale", "b_zero", "", "z_scale", "z_zero"], ["z"], name="gemm",
           domain="com.microsoft")
    return m, x, saturated(last / end, 100, "u1")


def test_network(checks):
    m, x, expected = network(np.random.RandomState(5))
    m.output("z", UINT8, expected.shape)
    c = run_model(checks, "a network of bytes", m, {"x": x.q}, {"z": expected})
    if c:
        checks.equal("its ops", [o.type for o in c.ops], ["Conv2d", "Pool", "Reshape", "FullyConnected"])
        checks.equal("its names", [c.ops[0].outputs, c.ops[-1].outputs], [["y"], ["z"]])
        checks.equal("its types", fixed_types(c), ["UFXP_8"])
    c = run_model(checks, "a network of bytes, types preserved", m, {"x": x.q}, {"z": expected}, ("--preserve_io", "datatype"))
    if c:
        checks.equal("types preserved", [c.tensors[name].dtype for name in "xz"], ["UINT_8", "UINT_8"])
    c = run_model(checks, "a network of floats with encodings", m, {"x": x.q}, {"z": expected}, ("--qdq", "encodings"), 1)
    if c:
        checks.check("no fixed-point tensor", not [t for t in fixed_types(c) if "FXP" in t], fixed_types(c))


def test_integers_in_use(checks):
    """What reads the integers as integers gets them: the graph input stays one of integers, and so does the output."""
    r = np.random.RandomState(6)
    m, x, expected = network(r)
    m.node("Cast", ["x"], ["wide"], to=INT32)
    m.node("Cast", ["z"], ["result"], to=INT32)
    m.output("z", UINT8, expected.shape)
    m.output("wide", INT32, x.q.shape)
    m.output("result", INT32, expected.shape)
    c = run_model(checks, "integers in use", m, {"x": x.q}, {"z": expected, "wide": x.q.astype("i4"), "result": expected.astype("i4")})
    if c:
        checks.equal("integers in use stay", [c.tensors[name].dtype for name in "xz"], ["UINT_8", "UINT_8"])
        checks.check("what comes behind is fixed-point all the same", "UFXP_8" in fixed_types(c), fixed_types(c))


def between_products(checks, name, inner, op, inputs, shape, dtype="u1", **attributes):
    """x → QLinearMul by 1 → op on the integers → QLinearAdd of 0 → y"""
    code, z = (UINT8, 100) if dtype == "u1" else (INT8, -28)
    x = (np.random.RandomState(8).randint(0, 256, (1, 3, 4, 6)) + (0 if dtype == "u1" else -128)).astype(dtype)
    m = Model(opset=14)
    m.opsets.append(("com.microsoft", 1))
    m.input("x", code, x.shape)
    by = ["scale", "zero"]
    m.tensor("scale", FLOAT, [], [0.5])
    m.tensor("zero", code, [], [z])
    m.tensor("two", code, [1], [z + 2])
    m.tensor("none", code, [1], [z])
    m.tensor("scales", FLOAT, [4], [1.0, 1.0, 2.0, 2.0])
    m.tensor("pads", INT64, [8], [0, 0, 1, 2, 0, 1, 0, 3])
    m.tensor("low", code, [], [z - 40])
    m.tensor("high", code, [], [z + 50])
    m.tensor("row", code, [6], [z - 60, z, z + 10, z + 90, z - 1, z + 1])
    m.tensor("chosen", BOOL, [4, 1], [1, 0, 0, 1])
    for tensor, values in (("starts", [1]), ("ends", [3]), ("axes", [3])):
        m.tensor(tensor, INT64, [1], values)
    m.node("QLinearMul", ["x", *by, "two", *by, *by], ["a"], domain="com.microsoft")
    m.node(op, ["a", *inputs] if op != "Where" else ["chosen", "a", *inputs], ["b"], **attributes)
    m.node("QLinearAdd", ["b", *by, "none", *by, *by], ["y"], domain="com.microsoft")
    m.output("y", code, shape)
    c = run_model(checks, name, m, {"x": x}, {"y": inner(x)}, ("--io_layout", "model"))
    if c:
        checks.equal(f"{name}: types", fixed_types(c), ["UFXP_8" if dtype == "u1" else "SFXP_8"])
        checks.check(f"{name}: ops", not {"Quantize", "Dequantize", "Cast"} & {o.type for o in c.ops}, [o.type for o in c.ops])


def test_moved_integers(checks):
    between_products(checks, "resized", lambda x: x.repeat(2, 2).repeat(2, 3), "Resize", ["", "scales"], [1, 3, 8, 12], mode="nearest",
                     coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    between_products(checks, "sliced", lambda x: x[..., 1:3], "Slice", ["starts", "ends", "axes"], [1, 3, 4, 2])
    between_products(checks, "joined", lambda x: np.concatenate([x, x], 1), "Concat", ["a"], [1, 6, 4, 6],
                     axis=1)
    between_products(checks, "transposed", lambda x: x.transpose(0, 3, 1, 2), "Transpose", [], [1, 6, 3, 4], perm=[0, 3, 1, 2])
    between_products(checks, "pooled", lambda x: np.maximum(x[..., :-1], x[..., 1:]), "MaxPool", [], [1, 3, 4, 5], kernel_shape=[1, 2])


def test_picked_integers(checks):
    """What picks some of the integers, or puts in known ones, whatever these stand for."""
    around = ((0, 0), (0, 1), (1, 0), (2, 3))
    for dtype, z in (("u1", 100), ("i1", -28)):
        least = np.iinfo(dtype).min
        row = np.array([z - 60, z, z + 10, z + 90, z - 1, z + 1], dtype)
        for value, given in ((z, "zero"), (z - 40, "low"), (z + 50, "high"), (0, None)):
            between_products(checks, f"padded {dtype} {given}", lambda x: np.pad(x, around, constant_values=value), "Pad",
                             ["pads", given] if given else ["pads"], [1, 4, 5, 11], dtype)
        between_products(checks, f"reflected {dtype}", lambda x: np.pad(x, around, "reflect"), "Pad", ["pads"], [1, 4, 5, 11], dtype,
                         mode="reflect")
        between_products(checks, f"clipped {dtype}", lambda x: x.clip(z - 40, z + 50), "Clip", ["low", "high"], [1, 3, 4, 6], dtype)
        between_products(checks, f"from below {dtype}", lambda x: x.clip(z - 40), "Clip", ["low"], [1, 3, 4, 6], dtype)
        between_products(checks, f"most {dtype}", lambda x: np.maximum(x, row), "Max", ["row"], [1, 3, 4, 6], dtype)
        between_products(checks, f"least {dtype}", lambda x: np.minimum(x, row), "Min", ["row"], [1, 3, 4, 6], dtype)
        between_products(checks, f"chosen {dtype}", lambda x: np.where([[True], [False], [False], [True]], x, row), "Where", ["row"],
                         [1, 3, 4, 6], dtype)
        between_products(checks, f"largest {dtype}", lambda x: x.max(2, keepdims=True), "ReduceMax", [], [1, 3, 1, 6], dtype, axes=[2])
        between_products(checks, f"smallest {dtype}", lambda x: x.min(2, keepdims=True), "ReduceMin", [], [1, 3, 1, 6], dtype, axes=[2])
        between_products(checks, f"pooled and padded {dtype}", lambda x: np.max(
            [np.pad(x, ((0, 0), (0, 0), (1, 1), (2, 0)), constant_values=least)[:, :, i:i + 4, k:k + 7:2] for i in range(3)
             for k in range(2)], 0), "MaxPool", [], [1, 3, 4, 4], dtype, kernel_shape=[3, 2], pads=[1, 2, 1, 0], strides=[1, 2])
    between_products(checks, "not negative", lambda x: x.clip(0), "Relu", [], [1, 3, 4, 6], "i1")


def doubled(q):
    """Integers of images by halves of pixels, as the operator rounds them: to zero."""
    for axis in (2, 3):
        before, after = (np.take(q, range(n, n + q.shape[axis]), axis, mode="clip") for n in (-1, 1))
        sides = np.stack([0.25 * before + 0.75 * q, 0.75 * q + 0.25 * after], axis + 1)
        q = sides.reshape(*q.shape[:axis], 2 * q.shape[axis], *q.shape[axis + 1:])
    return np.trunc(q)


def between_layers(r, skip):
    """bytes → QLinearConv → Resize of integers → QLinearConcat (with what the first layer gives, enlarged, too) → QLinearConv."""
    from qlinear_draw import saturated
    x = r.randint(0, 256, (1, 3, 4, 6)).astype("u1")
    w, v = r.randint(-7, 8, (2, 3, 1, 1)).astype("i1"), r.randint(-7, 8, (4, 4 if skip else 2, 1, 1)).astype("i1")
    m = Model(opset=13)
    m.opsets.append(("com.microsoft", 1))
    m.input("x", UINT8, x.shape)
    for name, scale, zero, code in (("x", 0.5, 9, UINT8), ("w", 0.25, 0, INT8), ("v", 0.5, 0, INT8), ("y", 4, 120, UINT8),
                                    ("c", 8, 110, UINT8), ("z", 64, 100, UINT8)):
        m.tensor(f"{name}_scale", FLOAT, [], [scale])
        m.tensor(f"{name}_zero", code, [], [zero])
    m.tensor("w", INT8, w.shape, raw=w.tobytes())
    m.tensor("v", INT8, v.shape, raw=v.tobytes())
    m.tensor("scales", FLOAT, [4], [1, 1, 2, 2])
    m.tensor("back", FLOAT, [4], [1, 1, 0.5, 0.5])
    m.node("QLinearConv", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"], ["y"], name="first")
    m.node("Resize", ["y", "", "scales"], ["larger"], mode="linear", coordinate_transformation_mode="half_pixel")
    parts = ["larger", "y_scale", "y_zero"]
    y = saturated(np.einsum("nchw,oc->nohw", (x.astype("f8") - 9) * 0.5, w[:, :, 0, 0] * 0.25) / 4, 120, "u1")
    joined = [doubled(y.astype("f8"))]
    if skip:
        m.node("Resize", ["y", "", "scales"], ["nearest"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        parts += ["nearest", "y_scale", "y_zero"]
        joined.append(np.repeat(np.repeat(y, 2, 2), 2, 3).astype("f8"))
    m.node("QLinearConcat", ["c_scale", "c_zero", *parts], ["c"], name="concat", domain="com.microsoft", axis=1)
    m.node("QLinearConv", ["c", "c_scale", "c_zero", "v", "v_scale", "v_zero", "z_scale", "z_zero"], ["z"], name="last")
    c = saturated((np.concatenate(joined, 1) - 120) * 4 / 8, 110, "u1")
    z = saturated(np.einsum("nchw,oc->nohw", (c.astype("f8") - 110) * 8, v[:, :, 0, 0] * 0.5) / 64, 100, "u1")
    return m, x, z


def test_resized_integers(checks):
    """Integers that a Resize interpolates stay such, and the nodes around work on fixed-point tensors."""
    for seed, skip in ((1, False), (2, True)):
        m, x, expected = between_layers(np.random.RandomState(seed), skip)
        m.output("z", UINT8, expected.shape)
        c = run_model(checks, f"resized integers, {skip=}", m, {"x": x}, {"z": expected})
        found = c and [(o.type, c.tensors[o.outputs[0]].dtype) for o in c.ops if o.type in ("Conv2d", "Concat", "Cast", "Resize")]
        more = {("Concat", "UFXP_8"), ("Resize", "UFXP_8")} if skip else set()  # of one part there is no Concat
        checks.equal(f"resized integers, {skip=}: types", found and set(found),
                     {("Cast", "FLOAT_32"), ("Cast", "UINT_8"), ("Conv2d", "UFXP_8"), ("Resize", "FLOAT_32"), *more})
        c = run_model(checks, f"quantizers kept, {skip=}", m, {"x": x}, {"z": expected}, ("--keep_quant_nodes",), 1)
        checks.check(f"quantizers kept, {skip=}: types", c and "UFXP_8" not in [c.tensors[o.outputs[0]].dtype for o in c.ops if o.type == "Conv2d"], "")


def test_border(checks):
    """Graph inputs and outputs that DequantizeLinear and QuantizeLinear alone stand next to."""
    m, x = Model(opset=13), np.arange(0, 240, 10).astype("u1").reshape(2, 12)
    m.input("x", UINT8, x.shape)
    m.tensor("scale", FLOAT, [], [0.5])
    m.tensor("zero", UINT8, [], [100])
    m.tensor("out", FLOAT, [], [1.0])
    m.node("DequantizeLinear", ["x", "scale", "zero"], ["d"])
    m.node("Abs", ["d"], ["a"])
    m.node("QuantizeLinear", ["a", "out", "zero"], ["y"])
    m.output("y", UINT8, x.shape)
    expected = np.clip(np.rint(np.abs(x.astype("f4") - 100) * 0.5) + 100, 0, 255).astype("u1")
    c = run_model(checks, "border", m, {"x": x}, {"y": expected})
    if c:
        checks.equal("border: ops", [(o.inputs, o.outputs) for o in c.ops], [(["x"], ["y"])])
        checks.equal("border: types", fixed_types(c), ["UFXP_8"])
    c = run_model(checks, "border, kept", m, {"x": x}, {"y": expected}, ("--keep_quant_nodes",))
    checks.equal("border, kept: ops", c and [o.type for o in c.ops], ["Dequantize", "Eltwise_Unary", "Quantize"])


def test_rows_of_few_bits(checks):
    """MatMulNBits between quantizers, a block a row."""
    r = np.random.RandomState(7)
    x, q, scale = r.randint(0, 256, (2, 16)).astype("u1"), r.randint(0, 16, (5, 16)), 2.0**r.randint(-4, 1, 5)
    m = Model(opset=13)
    m.opsets.append(("com.microsoft", 1))
    m.input("x", UINT8, x.shape)
    m.tensor("half", FLOAT, [], [0.5])
    m.tensor("zero", UINT8, [], [100])
    m.tensor("one", FLOAT, [], [16.0])
    m.tensor("w", UINT8, [5, 1, 8], raw=(q[:, ::2] | q[:, 1::2] << 4).astype("u1").tobytes())
    m.tensor("scales", FLOAT, [5, 1], scale.tolist())
    m.node("DequantizeLinear", ["x", "half", "zero"], ["d"])
    m.node("MatMulNBits", ["d", "w", "scales"], ["r"], domain="com.microsoft", K=16, N=5, bits=4, block_size=16)
    m.node("QuantizeLinear", ["r", "one", "zero"], ["y"])
    m.output("y", UINT8, [2, 5])
    y = ((x - 100.0) * 0.5) @ ((q - 8.0) * scale[:, None]).T
    c = run_model(checks, "rows of few bits", m, {"x": x}, {"y": np.clip(np.rint(y / 16) + 100, 0, 255).astype("u1")})
    if c:
        checks.equal("rows of few bits: ops", [o.type for o in c.ops], ["FullyConnected"])
        checks.equal("rows of few bits: weights", c.tensors[c.ops[0].inputs[1]].dtype, "UFXP_8")


def test_float_bias(checks):
    """A layer between quantizers whose bias the model has as floats: its integers have 32 bits and a scale of their own."""
    from qlinear_draw import Tensor, power_of_two, result as drawn_result, saturated
    for seed in range(20):
        r = np.random.RandomState(seed)
        x, w = Tensor(r, [3, 7], "u1"), Tensor(r, [7, 5], "i1", 1 if seed % 2 else None, symmetric=True)
        bias = (r.uniform(-3, 3, 5) * 10.0**r.randint(-3, 2)).astype("f4")
        y = x.real @ w.real + bias.astype("f8")
        scale, zero, _ = drawn_result(r, y, "u1")
        m = Model(opset=13)
        m.input("x", UINT8, x.q.shape)
        for name, value, code in (("x", x, UINT8), ("w", w, INT8)):
            m.tensor(f"{name}_scale", FLOAT, [] if value.whole else [5], value.scale.tolist())
            m.tensor(f"{name}_zero", code, [] if value.whole else [5], value.zero.tolist())
        m.tensor("w", INT8, w.q.shape, raw=w.q.tobytes())
        m.tensor("bias", FLOAT, [5], raw=bias.tobytes())
        m.tensor("y_scale", FLOAT, [], [float(scale)])
        m.tensor("y_zero", UINT8, [], [zero])
        m.node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["xr"])
        m.node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["wr"], axis=1)
        m.node("Gemm", ["xr", "wr", "bias"], ["yr"])
        m.node("QuantizeLinear", ["yr", "y_scale", "y_zero"], ["y"])
        m.output("y", UINT8, y.shape)
        near = np.abs(y / float(scale) % 1 - 0.5).min() > 1e-4 or power_of_two(y, float(scale))
        c = run_model(checks, f"float bias {seed}", m, {"x": x.q}, {"y": saturated(y / float(scale), zero, "u1")}, step=0 if near else 1)
        if c:
            checks.equal(f"float bias {seed}: ops", [o.type for o in c.ops], ["FullyConnected"])
            checks.equal(f"float bias {seed}: type", c.tensors[c.ops[0].inputs[2]].dtype, "SFXP_32")


def test_refused(checks):
    x, one, zero = np.ones((1, 2, 3, 4), "u1"), Const(1, "f4"), Const(0, "u1")
    for op, inputs, more, message in (
            ("QLinearSoftmax", [x, one, zero, one, zero], {"axis": 1}, "which version of Softmax"),
            ("QLinearConcat", [one, zero], {}, "there is nothing to join"),
            ("QLinearSigmoid", [x, None, zero, one, zero], {}, "the scale of A"),
            ("QLinearGlobalAveragePool", [x, one, zero, one, zero], {"channels_last": 2}, "neither 0 nor 1"),
            ("QLinearAdd", [x, one, Const(0, "i1"), x, one, zero, one, zero], {}, "the zero point is int8, the tensor uint8")):
        refuses(checks, message, f"com.microsoft::{op}", 17, inputs, **more)


def number(name, absent):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else absent


def main():
    checks = Checks()
    if np is None:
        checks.skip("operators on quantized integers", "python3-numpy is not there")
        checks.finish()
    for test in (test_network, test_integers_in_use, test_moved_integers, test_picked_integers, test_resized_integers, test_border, test_rows_of_few_bits, test_float_bias, test_refused):
        test(checks)
    test_drawn(checks, number("--count", COUNT), number("--seed", 0))
    checks.finish()


main()
