# SPDX-License-Identifier: Apache-2.0
"""User-defined ops in TensorFlow models, whose images are channels-last, or channels-first where data_format says so: which
permutes appear, how they are called, and what the operation sees."""

import struct

from tf_workshop import Graph, np, op_types, run_parts, tensor_name, udo

TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]
LAYOUTS = ("NCHW", "NHWC", None)


def convolution(g, x, name, data_format=None):
    """A 1x1 convolution of 4 channels."""
    weights = g.const(f"{name}/weights", np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) / 16)
    return g.node("Conv2D", [x, weights], name=name, strides=[1, 1, 1, 1], padding="VALID", data_format=data_format)


def between(things, data_format=None):
    """x -> convolution a -> things -> convolution y; all of 4 channels and 6 x 8."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4, 6, 8] if data_format == "NCHW" else [1, 6, 8, 4])
    value = convolution(g, x, "a", data_format)
    for thing in things:
        value = thing(g, value)
    convolution(g, value, "y", data_format)
    return g


def thing(name="b", op="Thing", **attributes):
    return lambda g, x: g.node(op, [x], name=name, **attributes)


def op_of(container, op_type="Thing"):
    return next(op for op in container.ops if op.type == op_type)


def perm_of(op):
    data = op.params["perm"].tensor.data
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def dims_of(container, *names):
    return [container.tensors[tensor_name(name)].dims for name in names]


def one_op(w):
    """In an NHWC model only NCHW costs permutes."""
    for layout in LAYOUTS:
        label = f"one op, {layout}"
        container, messages = w.convert(label, between([thing()]), "-udo", w.config(udo("Thing", layout)))
        if not container:
            continue
        op = op_of(container)
        seen = dims_of(container, op.inputs[0], op.outputs[0])
        if layout != "NCHW":
            w.checks.equal(f"{label}: ops", op_types(container), ["Conv2d", "Thing", "Conv2d"])
            w.checks.equal(f"{label}: dims", seen, [[1, 6, 8, 4]] * 2)
            w.checks.check(f"{label}: no warning", "warning" not in messages, messages)
            continue
        w.checks.equal(f"{label}: ops", op_types(container), ["Conv2d", "Transpose", "Thing", "Transpose", "Conv2d"])
        w.checks.equal(f"{label}: dims", seen, [[1, 4, 6, 8]] * 2)
        before, after = container.ops[1], container.ops[3]
        w.checks.equal(f"{label}: perms", [perm_of(before), perm_of(after)], [TO_NCHW, TO_NHWC])
        w.checks.equal(f"{label}: names", [before.outputs, op.outputs, after.outputs], [["a:0.nchw"], ["b:0.nchw"], ["b:0"]])
        w.checks.equal(f"{label}: warnings", messages.count("warning: node 'b': a permute"), 2)
        w.checks.check(f"{label}: what for", "a permute NHWC → NCHW is inserted for tensor a:0 before UDO Thing" in messages,
                       messages)


def chains(w):
    """Permutes that cancel out, and those that are shared."""
    container, _ = w.convert("chain", between([thing("t"), thing("b")]), "-udo", w.config(udo("Thing", "NCHW")))
    if container:
        w.checks.equal("chain", op_types(container), ["Conv2d", "Transpose", "Thing", "Thing", "Transpose", "Conv2d"])
    container, _ = w.convert("through an activation", between([thing("t"), thing("r", "Relu"), thing("b")]), "-udo",
                             w.config(udo("Thing", "NCHW")))
    if container:
        w.checks.equal("through an activation: transposes", op_types(container).count("Transpose"), 2)

    def both(g, x):
        return g.node("Both", [g.node("Thing", [x], name="t"), g.node("Other", [x], name="u")], name="b")

    config = w.config(udo("Thing", "NCHW"), udo("Other", "NCHW"), udo("Both", "NCHW", inputs=2))
    container, _ = w.convert("shared", between([both]), "-udo", config)
    if container:
        w.checks.equal("shared", [perm_of(op) for op in container.ops if op.type == "Transpose"], [TO_NCHW, TO_NHWC])
        w.checks.equal("shared: input", op_of(container).inputs, op_of(container, "Other").inputs)


def ends(w):
    """A UDO at the graph's input and output: these keep the model's order."""
    for layout in LAYOUTS:
        g = Graph()
        g.node("Thing", [g.placeholder("x", np.float32, [1, 6, 8, 4])], name="b")
        container, _ = w.convert(f"ends, {layout}", g, "-udo", w.config(udo("Thing", layout)))
        if container:
            w.checks.equal(f"ends, {layout}: dims", dims_of(container, "x", "b"), [[1, 6, 8, 4]] * 2)
            expected = ["Transpose", "Thing", "Transpose"] if layout == "NCHW" else ["Thing"]
            w.checks.equal(f"ends, {layout}: ops", op_types(container), expected)


def ranks(w):
    """NCHW moves the channels of ranks 3 to 5; others stay."""
    for shape, seen in (([2, 3], [2, 3]), ([2, 3, 4], [2, 4, 3]), ([2, 3, 4, 5], [2, 5, 3, 4]),
                        ([2, 3, 4, 5, 6], [2, 6, 3, 4, 5])):
        for layout in LAYOUTS:
            label = f"rank {len(shape)}, {layout}"
            g = Graph()
            g.node("Thing", [g.placeholder("x", np.float32, shape)], name="b")
            container, _ = w.convert(label, g, "-udo", w.config(udo("Thing", layout)))
            if container:
                w.checks.equal(label, dims_of(container, op_of(container).inputs[0]), [seen if layout == "NCHW" else shape])


def static_data(w):
    """Data of an NCHW input is permuted when it is stored."""
    values = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    for layout in LAYOUTS:
        for data_format in (None, "NCHW"):
            label = f"static {layout}, model {data_format}"
            definition = udo("Thing", layout, inputs=2)
            definition["inputs"][1] = {**definition["inputs"][1], "static": True}
            g = between([lambda g, x: g.node("Thing", [x, g.const("c", values)], name="b")], data_format)
            container, _ = w.convert(label, g, "-udo", w.config(definition))
            if not container:
                continue
            moved = {("NCHW", None): (0, 3, 1, 2), ("NHWC", "NCHW"): (0, 2, 3, 1)}.get((layout, data_format), (0, 1, 2, 3))
            tensor = container.tensors[op_of(container).inputs[1]]
            expected = np.ascontiguousarray(values.transpose(moved))
            w.checks.equal(label, (tensor.kind, tensor.dims, tensor.data),
                           ("STATIC", list(expected.shape), expected.tobytes()))


def tensor_params(w):
    """A tensor of rank 4 among the attributes is permuted like static data."""
    values = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    for layout, moved in (("NCHW", (0, 3, 1, 2)), ("NHWC", (0, 1, 2, 3)), (None, (0, 1, 2, 3))):
        param = {"name": "table", "data_type": "FLOAT_32", **({"tensor_layout": layout} if layout else {})}
        config = w.config(udo("Thing", tensor_params=[param]))
        container, _ = w.convert(f"param {layout}", between([thing(table=values)]), "-udo", config)
        if container:
            tensor = op_of(container).params["table"].tensor
            expected = np.ascontiguousarray(values.transpose(moved))
            w.checks.equal(f"param {layout}", (tensor.dims, tensor.data), (list(expected.shape), expected.tobytes()))


def channels_first(w):
    """In a model whose data_format is NCHW the operation sees what it would in an ONNX model."""
    for layout in LAYOUTS:
        label = f"NCHW model, {layout}"
        container, _ = w.convert(label, between([thing()], "NCHW"), "-udo", w.config(udo("Thing", layout)))
        if not container:
            continue
        seen = dims_of(container, op_of(container).inputs[0], op_of(container).outputs[0])
        if layout == "NCHW":
            w.checks.equal(f"{label}: ops", op_types(container), ["Conv2d", "Transpose", "Thing", "Transpose", "Conv2d"])
        else:
            w.checks.equal(f"{label}: ops", op_types(container), ["Conv2d", "Thing", "Conv2d"])
        w.checks.equal(f"{label}: dims", seen, [[1, 4, 6, 8] if layout == "NCHW" else [1, 6, 8, 4]] * 2)
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4, 6, 8])
    convolution(g, g.node("Thing", [x], name="b"), "y", "NCHW")
    container, _ = w.convert("NCHW model, input", g, "-udo", w.config(udo("Thing", "NCHW")))
    if container:
        w.checks.equal("NCHW model, input", dims_of(container, "x", op_of(container).inputs[0]), [[1, 4, 6, 8]] * 2)


def own_format(w):
    """An operation that says its data_format is believed, whatever is around it."""
    config = w.config(udo("Thing", "NCHW", scalar_params=[{"name": "data_format", "data_type": "STRING"}]))
    g = Graph()
    g.node("Thing", [g.placeholder("x", np.float32, [1, 4, 6, 8])], name="b", data_format="NCHW")
    container, _ = w.convert("says NCHW", g, "-udo", config)
    if container:
        w.checks.equal("says NCHW", (op_types(container), op_of(container).params["data_format"].value), (["Thing"], "NCHW"))
    g = Graph()
    value = convolution(g, g.placeholder("x", np.float32, [1, 4, 6, 8]), "a", "NCHW")
    value = g.node("Transpose", [value, g.const(np.int32([0, 2, 3, 1]))], name="t")
    g.node("Thing", [value], name="b", data_format="NHWC")
    container, _ = w.convert("says NHWC", g, "-udo", config)
    if container:
        w.checks.equal("says NHWC: dims", dims_of(container, op_of(container).inputs[0]), [[1, 4, 6, 8]])


def transposed(w):
    """The model itself brings an image into the other order: the operation gets no second permute."""
    def there_and_back(g, x):
        first = g.node("Transpose", [x, g.const(np.int32(TO_NCHW))], name="first")
        return g.node("Transpose", [g.node("Thing", [first], name="b"), g.const(np.int32(TO_NHWC))], name="last")

    for layout, seen in (("NCHW", [1, 4, 6, 8]), ("NHWC", [1, 6, 8, 4])):
        container, _ = w.convert(f"transposed, {layout}", between([there_and_back]), "-udo", w.config(udo("Thing", layout)))
        if container:
            op = op_of(container)
            w.checks.equal(f"transposed, {layout}: dims", dims_of(container, op.inputs[0], op.outputs[0]), [seen] * 2)
            w.checks.equal(f"transposed, {layout}: permutes", op_types(container).count("Transpose"),
                           2 if layout == "NCHW" else 0)


def rules(w):
    """Shape rules count in the definition's own layout."""
    for layout, rule in (("NCHW", ["in0[0]", "in0[1] * 2", "in0[2]", "in0[3]"]), ("NHWC", ["in0[0]", "in0[1]", "in0[2]", 8])):
        for data_format in (None, "NCHW"):
            g = Graph()
            x = g.placeholder("x", np.float32, [1, 4, 6, 8] if data_format else [1, 6, 8, 4])
            thing("b")(g, convolution(g, x, "a", data_format))
            definition = udo("Thing", layout)
            definition["outputs"][0]["shape"] = rule
            container, _ = w.convert(f"rule {layout} {data_format}", g, "-udo", w.config(definition))
            if container:
                w.checks.equal(f"rule {layout} {data_format}", dims_of(container, op_of(container).outputs[0]),
                               [[1, 8, 6, 8] if layout == "NCHW" else [1, 6, 8, 8]])


def native_ops(w):
    """Definitions that claim native operators in networks of both formats."""
    pool = {"type": "MaxPool", "inputs": [{"data_type": "FLOAT_32", "tensor_layout": "NHWC"}], "core_types": ["CPU"],
            "outputs": [{"data_type": "FLOAT_32", "tensor_layout": "NHWC"}],
            "tensor_params": [{"name": "ksize", "data_type": "INT_32"}, {"name": "strides", "data_type": "INT_32"}],
            "scalar_params": [{"name": "padding", "data_type": "STRING"}]}
    for data_format, window in ((None, [1, 2, 2, 1]), ("NCHW", [1, 1, 2, 2])):
        g = Graph()
        x = g.placeholder("x", np.float32, [1, 4, 6, 8] if data_format else [1, 6, 8, 4])
        a = convolution(g, x, "a", data_format)
        g.node("MaxPool", [a], name="b", ksize=window, strides=window, padding="SAME", data_format=data_format)
        container, messages = w.convert(f"pool {data_format}", g, "-udo", w.config(pool))
        if container:
            op = op_of(container, "MaxPool")
            w.checks.equal(f"pool {data_format}: dims", dims_of(container, op.inputs[0], op.outputs[0]),
                           [[1, 6, 8, 4], [1, 3, 4, 4]])
            w.checks.equal(f"pool {data_format}: package", (op.package, op.params["padding"].value), ("P", "SAME"))
            w.checks.equal(f"pool {data_format}: ops", op_types(container), ["Conv2d", "MaxPool"])
            w.checks.check(f"pool {data_format}: no shape is assumed", "nothing tells" not in messages, messages)
    conv = {"type": "Conv2D", "core_types": ["CPU"],
            "inputs": [{"data_type": "FLOAT_32", "tensor_layout": "NHWC"}, {"data_type": "FLOAT_32", "static": True}],
            "outputs": [{"data_type": "FLOAT_32", "tensor_layout": "NHWC"}],
            "tensor_params": [{"name": "strides", "data_type": "INT_32"}]}
    container, _ = w.convert("convolutions", between([thing("b", "Relu")]), "-udo", w.config(conv))
    if container:
        w.checks.equal("convolutions", [op.package for op in container.ops], ["P", "qti.aisw", "P"])
        w.checks.equal("convolutions: dims", dims_of(container, "x", "a", "y"), [[1, 6, 8, 4]] * 3)


run_parts(one_op, chains, ends, ranks, static_data, tensor_params, channels_first, own_format,
          transposed, rules, native_ops)
