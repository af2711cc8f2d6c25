# SPDX-License-Identifier: Apache-2.0
"""Networks of matrix products, Softmax and norms: which ops the container has and how they are called, and what comes out
by NumPy's arithmetic."""

from one_node import np, run_model
from checks import SHARED, Checks
from onnx_reader import graph_of, tensor_of, wire_fields
from onnx_writer import BOOL, FLOAT, INT8, INT32, INT64, UINT8, Model

NEAR = 1e-5  # of the largest value
LAYOUT = ("--preserve_io", "layout")
NEW = (*LAYOUT, "--target_release", "2.47")


def noise(seed, *shape):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("f4")


class Network(Model):
    """A model with its inputs' values."""

    def __init__(self, opset=17, **inputs):
        super().__init__(opset=opset)
        self.inputs = inputs
        for name, array in inputs.items():
            self.input(name, FLOAT, array.shape)

    def floats(self, name, array):
        self.tensor(name, FLOAT, np.shape(array), raw=np.asarray(array, "f4").tobytes())
        return name

    def ints(self, name, values):
        self.tensor(name, INT64, [len(values)], values)
        return name

    def gives(self, checks, label, options=LAYOUT, **outputs):
        """The container; the outputs are near the arrays."""
        for name, array in outputs.items():
            self.output(name, FLOAT, array.shape)
        largest = max(np.max(np.abs(array)) for array in outputs.values())
        expected = {name: np.asarray(array, "f4") for name, array in outputs.items()}
        return run_model(checks, label, self, self.inputs, expected, options, NEAR * largest)


def ops(container):
    return container and [(op.name, op.type, op.inputs, op.outputs) for op in container.ops]


def types(container):
    return container and [op.type for op in container.ops]


# ---- products ----


def test_layers(checks):
    """Two products of one tensor: one has a bias and a Reshape of the model behind it, one stands behind another."""
    x, w, v, b = noise(1, 2, 3, 4), noise(2, 4, 6), noise(3, 4, 5), noise(4, 6)
    m = Network(x=x)
    m.node("Relu", ["x"], ["r"], name="relu")
    m.node("MatMul", ["r", m.floats("w", w)], ["p"], name="first")
    m.node("Add", [m.floats("b", b), "p"], ["s"], name="add")
    m.node("Reshape", ["s", m.ints("heads", [2, 3, 3, 2])], ["y"], name="cut")
    m.node("Reshape", ["r", m.ints("rows", [6, 1, 4])], ["flat"], name="lay")
    m.node("MatMul", ["flat", m.floats("v", v)], ["z"], name="second")
    relu = np.maximum(x, 0)
    c = m.gives(checks, "layers", y=(relu @ w + b).reshape(2, 3, 3, 2), z=(relu @ v).reshape(6, 1, 5))
    checks.equal("layers: ops", ops(c), [
        ("relu", "Neuron", ["x"], ["r"]),
        ("first_pre_reshape", "Reshape", ["r"], ["first_pre_reshape"]),
        ("first", "FullyConnected", ["first_pre_reshape", "w", "b"], ["s_fc"]),
        ("first_post_reshape", "Reshape", ["s_fc"], ["y"]),
        ("lay", "Reshape", ["r"], ["second_pre_reshape"]),
        ("second", "FullyConnected", ["second_pre_reshape", "v"], ["z_fc"]),
        ("second_post_reshape", "Reshape", ["z_fc"], ["z"])])
    checks.equal("layers: weights", c and c.tensors["w"].dims, [6, 4])


def test_what_is_added(checks):
    """One value for each column, or one for all, is the layer's bias; all else is added."""
    x, w = noise(5, 2, 6, 4), noise(6, 4, 6)
    for shape, is_bias in (((6,), True), ((1, 6), True), ((1, 1, 6), True), ((), True), ((1,), True), ((6, 6), False),
                           ((6, 1), False), ((2, 1, 1), False), ((1, 1, 1, 6), False)):
        b = noise(7, *shape)
        m = Network(x=x)
        m.node("MatMul", ["x", m.floats("w", w)], ["p"], name="product")
        m.node("Add", ["p", m.floats("b", b)], ["y"], name="add")
        c = m.gives(checks, f"sum with {shape}", y=x @ w + b)
        if c:
            layer, = (op for op in c.ops if op.type == "FullyConnected")
            checks.equal(f"sum with {shape}: inputs", layer.inputs, ["product_pre_reshape", "w", "b"][:2 + is_bias])
            checks.equal(f"sum with {shape}: ops", len(c.ops), 3 if is_bias else 4)
    one = noise(8, 4, 1)
    m = Network(x=x)
    m.node("MatMul", ["x", m.floats("w", one)], ["p"], name="product")
    m.node("Add", ["p", m.floats("b", [0.5])], ["y"], name="add")
    checks.equal("one column", types(m.gives(checks, "one column", y=x @ one + np.float32(0.5))),
                 ["Reshape", "FullyConnected", "Reshape"])


def test_products_that_are_read_elsewhere(checks):
    """The weights serve two layers and, as they are, a Gather; the first product is an output as well."""
    x, w, b = noise(9, 5, 4), noise(10, 4, 4), noise(11, 4)
    m = Network(x=x)
    m.node("MatMul", ["x", m.floats("w", w)], ["p"], name="first")
    m.node("Add", ["p", m.floats("b", b)], ["s"], name="add")
    m.node("MatMul", ["s", "w"], ["y"], name="second")
    m.node("Gather", ["w", m.ints("rows", [2, 0])], ["taken"], name="gather")
    m.node("Gemm", ["taken", "s"], ["z"], name="gemm", transB=1)
    product = x @ w
    c = m.gives(checks, "shared weights", p=product, y=(product + b) @ w, z=w[[2, 0]] @ (product + b).T)
    if c:
        layers = [op for op in c.ops if op.type == "FullyConnected"]
        checks.equal("shared weights: layers", [(op.name, len(op.inputs)) for op in layers], [("first", 2), ("second", 2)])
        checks.equal("shared weights: once", layers[0].inputs[1], layers[1].inputs[1])


def test_ranks(checks):
    """Operands of all products have equal ranks."""
    for a, b, known in (((2, 1, 3, 4), (5, 4, 2), ""), ((4, 3), (2, 3, 5), ""), ((3, 4), (2, 4, 5), "b"), ((4,), (2, 4, 5), ""),
                        ((2, 3, 4), (4,), ""), ((3, 4), (2, 4, 5), "a"), ((1, 2, 3, 4), (4, 5), "a")):
        left, right = noise(12, *a), noise(13, *b)
        m = Network(**{name: array for name, array in (("a", left), ("b", right)) if name != known})
        if known:
            m.floats(known, left if known == "a" else right)
        m.node("MatMul", ["a", "b"], ["y"], name="product")
        c = m.gives(checks, f"{a} by {b}, {known} known", y=left @ right)
        for op in c.ops if c else ():
            if op.type == "MatMul":
                checks.equal(f"{a} by {b}: ranks", *(len(c.tensors[name].dims) for name in op.inputs))
            checks.check(f"{a} by {b}: a product", op.type in ("MatMul", "Reshape"), op.type)


def test_quantized_product(checks):
    """A product of quantized rows with quantized weights, and with a quantized bias, is one layer on fixed-point tensors."""
    rng = np.random.default_rng(14)
    x, w, b = noise(15, 2, 3, 8), rng.integers(-128, 128, (8, 5)).astype("i1"), rng.integers(-2000, 2000, 5).astype("i4")
    step, coarse, scales = np.float32(2 / 255), np.float32(0.05), np.array([0.01, 0.02, 0.004, 0.03, 0.01], "f4")
    inner = (np.clip(np.round(x / step) + 128, 0, 255) - 128) * step
    for bias in (False, True):
        m = Network(x=x)
        m.tensor("w", INT8, w.shape, raw=w.tobytes())
        m.tensor("b", INT32, b.shape, raw=b.tobytes())
        m.tensor("zero", UINT8, [], [128])
        for name, value in (("x_scale", step), ("w_scale", scales), ("b_scale", np.float32(0.001)), ("y_scale", coarse)):
            m.floats(name, value)
        m.node("QuantizeLinear", ["x", "x_scale", "zero"], ["x_q"])
        m.node("DequantizeLinear", ["x_q", "x_scale", "zero"], ["x_d"])
        m.node("DequantizeLinear", ["w", "w_scale"], ["w_d"], axis=1)
        m.node("MatMul", ["x_d", "w_d"], ["p"], name="product")
        if bias:
            m.node("DequantizeLinear", ["b", "b_scale"], ["b_d"])
            m.node("Add", ["p", "b_d"], ["s"], name="add")
        m.node("QuantizeLinear", ["s" if bias else "p", "y_scale", "zero"], ["y_q"])
        m.node("DequantizeLinear", ["y_q", "y_scale", "zero"], ["y"])
        m.output("y", FLOAT, [2, 3, 5])
        exact = inner.astype("f8") @ (w * scales.astype("f8")) + (b * 0.001 if bias else 0)
        expected = ((np.clip(np.round(exact / coarse) + 128, 0, 255) - 128) * coarse).astype("f4")
        label = f"quantized product, bias {bias}"
        c = run_model(checks, label, m, {"x": x}, {"y": expected}, LAYOUT, coarse)
        checks.equal(f"{label}: ops", types(c), ["Quantize", "Reshape", "FullyConnected", "Reshape", "Dequantize"])
        if c and len(c.ops) == 5:
            layer = c.ops[2]
            checks.equal(f"{label}: types", [c.tensors[name].dtype for name in (*layer.inputs, *layer.outputs)],
                         ["UFXP_8", "SFXP_8", *["SFXP_32"] * bias, "UFXP_8"])
            weights = c.tensors[layer.inputs[1]]
            checks.equal(f"{label}: weights", (weights.dims, [round(scale, 6) for scale, _ in weights.encodings]),
                         ([5, 8], [round(float(scale), 6) for scale in scales]))


# ---- Softmax ----


def softmax(x):
    e = np.exp(x.astype("f8") - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_factors_of_softmax(checks):
    """Factors before a Softmax, and a Where between that chooses the product everywhere."""
    x = noise(16, 2, 3, 5) * 8
    for op, value, beta in (("Mul", 0.25, 0.25), ("Div", 8.0, 0.125), ("Div", 3.0, np.float32(1) / np.float32(3)),
                            ("Mul", -1.0, None), ("Mul", 0.0, None)):
        scaled = (x * np.float32(value) if op == "Mul" else x / np.float32(value))
        for soft in ("Softmax", "LogSoftmax"):
            m = Network(x=x)
            m.node(op, ["x", m.floats("c", value)], ["s"], name="scale")
            m.tensor("all", BOOL, [1, 5], [True] * 5)
            m.node("Where", ["all", "s", m.floats("low", -1e9)], ["w"], name="mask")
            m.node(soft, ["w"], ["y"], name="soft", axis=-1)
            expected = softmax(scaled) if soft == "Softmax" else np.log(softmax(scaled))
            label = f"{soft} of {op} by {value}"
            c = m.gives(checks, label, y=expected)
            checks.equal(f"{label}: ops", types(c), [soft] if beta else ["Eltwise_Binary", soft])
            if c:
                checks.equal(f"{label}: beta", np.float32(c.ops[-1].params["beta"].value), np.float32(beta or 1))
    # What some elements are masked with, and a factor that another op reads, stay.
    m = Network(x=x)
    m.node("Mul", ["x", m.floats("c", 0.5)], ["s"], name="scale")
    m.tensor("some", BOOL, [5], [True, False, True, True, True])
    m.node("Where", ["some", "s", m.floats("low", -1e9)], ["w"], name="mask")
    m.node("Softmax", ["w"], ["y"], name="soft", axis=-1)
    m.node("Softmax", ["s"], ["z"], name="soft too", axis=-1)
    masked = np.where([True, False, True, True, True], x / 2, -1e9)
    checks.equal("masked: ops", types(m.gives(checks, "masked", y=softmax(masked), z=softmax(x / 2))),
                 ["Eltwise_Binary", "Eltwise_Ternary", "Softmax", "Softmax"])


# ---- norms ----


def rms(x, gamma, epsilon, axis=-1):
    axes = tuple(range(axis % x.ndim, x.ndim))
    wide = x.astype("f8")
    return wide / np.sqrt(np.mean(wide * wide, axis=axes, keepdims=True) + epsilon) * gamma


def test_norms_of_releases(checks):
    """Spelled out in steps, or by ONNX's operator: one op from the release on that has it."""
    x, gamma = noise(17, 2, 3, 8) * 3, noise(18, 8)
    for options, fused in ((LAYOUT, False), ((*LAYOUT, "--target_release", "2.46"), False), (NEW, True)):
        m = Network(x=x)
        m.node("Mul", ["x", "x"], ["x2"])
        m.node("ReduceMean", ["x2"], ["mean"], axes=[-1], keepdims=1)
        m.node("Add", ["mean", m.floats("eps", 1e-5)], ["shifted"])
        m.node("Sqrt", ["shifted"], ["root"])
        m.node("Div", [m.floats("one", 1.0), "root"], ["inverse"])
        m.node("Mul", ["x", "inverse"], ["normal"])
        m.node("Mul", [m.floats("gamma", gamma), "normal"], ["block/y"], name="last")
        c = m.gives(checks, f"steps of a norm {options}", options, **{"block/y": rms(x, gamma, 1e-5)})
        checks.equal(f"steps of a norm {options}: is one op", types(c) == ["RmsNorm"], fused)
        if c and fused:
            op = c.ops[0]
            checks.equal("steps of a norm: the op", (op.name, op.inputs, op.outputs),
                         ("rms_norm_block/y", ["x", "gamma", "gamma_bias"], ["block/y"]))
            checks.equal("steps of a norm: epsilon", np.float32(op.params["epsilon"].value), np.float32(1e-5))
            axes = op.params["axes"]
            checks.equal("steps of a norm: axes", (axes.dtype, axes.tensor.dims), ("UINT_32", [1]))
            checks.equal("steps of a norm: beta", c.tensors["gamma_bias"].dims, [8])


def test_norm_operator(checks):
    x = noise(19, 2, 3, 4) * 3
    for axis, shape in ((-1, (4,)), (1, (3, 4)), (-2, (3, 4)), (-1, (3, 4)), (-2, (4,))):
        gamma = noise(20, *shape)
        for options in (LAYOUT, NEW):
            m = Network(opset=23, x=x)
            m.node("RMSNormalization", ["x", m.floats("gamma", gamma)], ["y"], name="norm", axis=axis, epsilon=0.01)
            c = m.gives(checks, f"operator {axis} {shape} {options}", options, y=rms(x, gamma, 0.01, axis))
            one = options == NEW and shape == x.shape[axis:]
            checks.equal(f"operator {axis} {shape} {options}: is one op", types(c) == ["RmsNorm"], one)


# ---- names ----


def test_weights_by_identity(checks):
    """Each layer's weights have their own name, also where an exporter wrote equal ones once."""
    x, w = noise(21, 5, 4), noise(22, 4, 4)
    m = Network(x=x)
    m.node("Identity", [m.floats("w.first", w)], ["w.second"])
    m.node("MatMul", ["x", "w.first"], ["p"], name="first")
    m.node("MatMul", ["p", "w.second"], ["y"], name="second")
    c = m.gives(checks, "equal weights", y=x @ w @ w)
    checks.equal("equal weights: names", c and [op.inputs[1] for op in c.ops], ["w.first", "w.second"])


# ---- a whole block ----


BLOCK = SHARED / "corpus" / "fidelity" / "prefill-block" / "model.onnx"


def constants_of(graph):
    """Initializers, the values of Constant nodes, and what Identity gives of them, by name."""
    found = {}
    for field, data in graph:
        if field == 5:
            found[dict(wire_fields(data))[8].decode()] = tensor_of(data).array
    for field, data in graph:
        node = dict(wire_fields(data)) if field == 1 else {4: b""}
        if node[4] == b"Constant":
            found[node[2].decode()] = tensor_of(dict(wire_fields(node[5]))[5]).array
        elif node[4] == b"Identity":
            found[node[2].decode()] = found[node[1].decode()]
    return found


def turned(x, angles):
    """Rotary positions: pairs of halves of the last axis."""
    a, b = x[..., :16], x[..., 16:]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1)


def block(hidden, c):
    """The outputs of BLOCK: attention with two heads of keys for eight of queries, and a gated layer."""
    def heads(name, count):
        rows = normal @ c[f"{name}_weight"] + c[f"{name}_bias"]
        return rows.reshape(1, 32, count, 32).transpose(0, 2, 1, 3)

    normal = rms(hidden, c["input_norm_weight"], c["/Constant_output_0"])
    angles = c["/Constant_5_output_0"].astype("f8")
    queries, keys, values = turned(heads("q_proj", 8), angles), turned(heads("k_proj", 2), angles), heads("v_proj", 2)
    scores = queries @ np.repeat(keys, 4, axis=1).swapaxes(2, 3) * c["/Constant_44_output_0"]
    past = np.tril(np.ones((32, 32), bool))
    seen = softmax(np.where(past, scores, c["/Constant_49_output_0"])) @ np.repeat(values, 4, axis=1)
    sums = hidden + seen.transpose(0, 2, 1, 3).reshape(1, 32, 256) @ c["o_proj_weight"]
    normal = rms(sums, c["post_attention_norm_weight"], c["/Constant_51_output_0"])
    gate = normal @ c["gate_proj_weight"]
    layer = gate / (1 + np.exp(-gate)) * (normal @ c["up_proj_weight"]) @ c["down_proj_weight"]
    return {"hidden_out": sums + layer, "present_key": keys, "present_value": values}


class File:
    """A model that is there already."""

    def save(self, path):
        path.write_bytes(BLOCK.read_bytes())


def test_block(checks):
    if not BLOCK.exists():
        print(f"left out: {BLOCK} is not there")
        return
    hidden = noise(23, 1, 32, 256)
    expected = {name: array.astype("f4") for name, array in block(hidden, constants_of(graph_of(BLOCK))).items()}
    for options, norms in ((LAYOUT, 0), (NEW, 2)):
        c = run_model(checks, f"block {options}", File(), {"hidden_states": hidden}, expected, options, NEAR)
        checks.equal(f"block {options}: norms", c and types(c).count("RmsNorm"), norms)
        checks.equal(f"block {options}: layers", c and types(c).count("FullyConnected"), 7)


def main():
    checks = Checks()
    if np is None:
        checks.skip("products", "python3-numpy is not there")
    else:
        for test in (test_layers, test_what_is_added, test_products_that_are_read_elsewhere, test_ranks,
                     test_quantized_product, test_factors_of_softmax, test_norms_of_releases, test_norm_operator,
                     test_weights_by_identity, test_block):
            test(checks)
    checks.finish()


if __name__ == "__main__":
    main()
