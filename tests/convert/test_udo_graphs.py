# SPDX-License-Identifier: Apache-2.0
"""What UDOs do to a graph: where the model may have them, what they may take and give, and what stays as it was."""

import itertools
import struct
import tempfile

from conversion import Workshop, onnx, op_types, scaling, udo
from checks import Checks
from prestarted import run

F, I64 = onnx.FLOAT, onnx.INT64
IMAGE = [1, 4, 6, 8]


def shapes(container, *names):
    return [container.tensors[name].dims for name in names]


def find(container, name):
    return next((op for op in container.ops if op.name == name), None)


def of_type(container, op_type):
    return [op for op in container.ops if op.type == op_type]


def floats(tensor):
    return list(struct.unpack(f"<{len(tensor.data) // 4}f", tensor.data))


def definition(op_type, inputs, outputs, **more):
    return {"type": op_type, "inputs": inputs, "outputs": outputs, **more}


def same(**more):
    return {"shape": "same_as in0", **more}


def start(dims=(2, 3), **more):
    m = onnx.Model(domains=["test"], **more)
    m.input("x", F, dims)
    return m


# ---- operands ----

def variadic(w):
    op = definition("Op", [{}, {"repeated": True, "optional": True}], [same(repeated=True)])
    for inputs, outputs in ((1, 1), (2, 3), (70, 70)):
        m = start()
        names = [f"y{i}" for i in range(outputs)]
        m.node("Op", ["x"] * inputs, names, name="op", domain="test")
        for name in names:
            m.output(name, F, [2, 3])
        container, _ = w.convert(f"variadic {inputs}, {outputs}", m, "-udo", w.config(op))
        found = container and (container.ops[0].inputs, container.ops[0].outputs)
        w.checks.equal(f"variadic {inputs}, {outputs}", found, (["x"] * inputs, names))


def optional_operands(w):
    op = definition("Op", [{}, {"optional": True}, {"optional": True}],
                    [same(), same(optional=True), {"optional": True, "shape": [5]}])
    for inputs, outputs, expected in (
            (["x"], ["y"], (["x"], ["y"])),
            (["x", "", "x"], ["y", "", "z"], (["x", "", "x"], ["y", "", "z"])),
            (["x", "", ""], ["y", "", "", ""], (["x"], ["y"])),
            (["x", "x"], ["y", "z"], (["x", "x"], ["y", "z"])),
            (["x"], ["", "y"], (["x"], ["op_output", "y"]))):
        m = start()
        m.node("Op", inputs, outputs, name="op", domain="test")
        for name in filter(None, outputs):
            m.output(name, F, None)
        label = f"optional {inputs} {outputs}"
        container, _ = w.convert(label, m, "-udo", w.config(op))
        if not container:
            continue
        w.checks.equal(label, (container.ops[0].inputs, container.ops[0].outputs), expected)
        # dlc-info reads such operands, too.
        info = run("dlc-info", "-i", container.path)
        w.checks.equal(f"{label}: dlc-info {info.stderr}", info.returncode, 0)
    m = start()
    m.node("Op", ["x"], ["a", "b", "c", "d"], domain="test")
    m.output("d", F, [2, 3])
    w.fails("surplus outputs", 1, ["4 outputs", "lists 3"], m, "-udo", w.config(op))


def fed_twice(w):
    """One tensor, which two inputs want in two layouts, and which is a graph output, too."""
    op = definition("Op", [{"tensor_layout": layout} for layout in ("NCHW", "NHWC", "NCHW")],
                    [same(tensor_layout="NCHW")])
    m = start(IMAGE)
    scaling(m, "x", "a", channels=4)
    m.node("Op", ["a", "a", "a"], ["y"], name="op", domain="test")
    m.output("a", F, IMAGE)
    m.output("y", F, IMAGE)
    container, _ = w.convert("fed twice", m, "-udo", w.config(op))
    if container:
        w.checks.equal("fed twice: ops", op_types(container), ["Conv2d", "Transpose", "Op"])
        w.checks.equal("fed twice: inputs", find(container, "op").inputs, ["a.nchw", "a", "a.nchw"])
        w.checks.equal("fed twice: dims", shapes(container, "a.nchw", "a", "y"),
                       [IMAGE, [1, 6, 8, 4], IMAGE])


def wide_numbers(w):
    """64 bits in the model, 32 in the container, and readers that know the model's type alone."""
    m = start()
    m.input("d", onnx.DOUBLE, [2])
    m.input("i", I64, [2])
    m.tensor("k", I64, [2], [5, -6])
    m.tensor("e", onnx.DOUBLE, [2], [0.5, 3])
    m.node("Op", ["d", "i", "k", "e"], ["o", "p"], name="op", domain="test")
    m.node("Add", ["o", "e"], ["y"])
    m.node("Add", ["p", "k"], ["z"])
    m.value("o", onnx.DOUBLE, [2])
    m.value("p", I64, [2])
    m.output("y", onnx.DOUBLE, [2])
    m.output("z", I64, [2])
    typed = [{"data_type": "FLOAT_32"}, {"data_type": "INT_32"}]
    static = [{**t, "static": True} for t in reversed(typed)]
    plain = [{}, {}, {"static": True}, {"static": True}]
    for label, op in (("typed", definition("Op", typed + static, typed)),
                      ("untyped", definition("Op", plain, [{}, {}]))):
        container, messages = w.convert(f"wide numbers, {label}", m, "-udo", w.config(op))
        if not container:
            continue
        node = find(container, "op")
        dtypes = [container.tensors[name].dtype for name in node.inputs + node.outputs]
        w.checks.equal(f"wide numbers, {label}", dtypes,
                       ["FLOAT_32", "INT_32", "INT_32", "FLOAT_32", "FLOAT_32", "INT_32"])
        w.checks.equal(f"wide numbers, {label}: data", [container.tensors[name].data for name in node.inputs[2:]],
                       [struct.pack("<2i", 5, -6), struct.pack("<2f", 0.5, 3)])
        w.checks.check(f"wide numbers, {label}: no complaint", "is declared" not in messages, messages)
    top = start()
    top.tensor("k", I64, [1], [2])
    top.node("TopK", ["x", "k"], ["v", "i"], name="top")
    top.node("Add", ["i", "k"], ["y"])
    top.output("y", I64, [2, 2])
    op = definition("TopK", [{}, {"static": True, "data_type": "INT_32"}], [{}, {"data_type": "INT_32"}])
    container, _ = w.convert("indices of a claimed op", top, "-udo", w.config(op))
    w.checks.equal("indices of a claimed op", container and [container.tensors[n].dtype for n in ("i", "y")],
                   ["INT_32", "INT_32"])
    big = start()
    big.tensor("k", I64, [2], [1, 1 << 40])
    big.node("Op", ["x", "k"], ["y"], name="op", domain="test")
    big.output("y", F, [2, 3])
    w.fails("too wide", 1, ["element [1]", "1099511627776", "INT_32"], big, "-udo",
            w.config(definition("Op", [{}, {"static": True}], [{}])))


# ---- attributes ----

def attributes(w):
    def model(**attrs):
        m = start()
        m.node("Op", ["x"], ["y"], name="op", domain="test", **attrs)
        m.output("y", F, [2, 3])
        return m

    op = definition("Op", [{}], [same()], tensor_params=[{"name": "a", "data_type": "FLOAT_32"}])
    for label, value in (("tensor", onnx.tensor("", onnx.DOUBLE, [2, 2], [0, 1.5, 0, -2])),
                         ("sparse tensor", onnx.Sparse("", F, [2, 2], {1: 1.5, 3: -2}))):
        container, _ = w.convert(label, model(a=value), "-udo", w.config(op))
        tensor = container and container.ops[0].params["a"].tensor
        w.checks.equal(f"{label} attribute", tensor and (tensor.dims, floats(tensor)), ([2, 2], [0, 1.5, 0, -2]))
    words = definition("Op", [{}], [same()], tensor_params=[{"name": "a", "data_type": "STRING"}])
    container, _ = w.convert("words", model(a=onnx.tensor("", onnx.STRING, [2], strings=["one", "zwei"])), "-udo",
                             w.config(words))
    w.checks.equal("strings", container and container.ops[0].params["a"].tensor.dims, [2])
    inner = onnx.Model()
    inner.node("Relu", ["x"], ["r"])
    inner.output("r", F, [2, 3])
    for named in (op, definition("Op", [{}], [same()])):
        w.fails("graph attribute", 1, ["node 'op'", "attribute a holds a graph"], model(a=inner), "-udo",
                w.config(named))
    m = onnx.Model(domains=["test"])
    m.input("x", F, [2, 3])
    node = onnx.Message().data(1, "x").data(2, "y").data(3, "op").data(4, "Op").data(7, "test")
    node.message(5, onnx.Message().data(1, "a").message(10, onnx.tensor("", F, [1], [2])).integer(20, 9))
    m.graph.message(1, node)
    m.output("y", F, [2, 3])
    w.fails("list of tensors", 1, ["node 'op'", "attribute a holds", "list of tensors"], m, "-udo", w.config(op))
    _, messages = w.convert("list of tensors, not named", m, "-udo", w.config(definition("Op", [{}], [same()])))
    w.checks.check("list of tensors, not named: a warning", "not serialised: a" in messages, messages)
    numbers = definition("Op", [{}], [same()], tensor_params=[{"name": "a", "data_type": "UINT_32"}])
    largest = onnx.tensor("", onnx.UINT64, [2], [(1 << 32) - 1, 7])
    container, _ = w.convert("large numbers", model(a=largest), "-udo", w.config(numbers))
    w.checks.equal("large numbers", container and container.ops[0].params["a"].tensor.data,
                   struct.pack("<2I", (1 << 32) - 1, 7))
    w.fails("larger numbers", 1, ["node 'op'", "'a'"], model(a=onnx.tensor("", onnx.UINT64, [1], [1 << 32])), "-udo",
            w.config(numbers))
    w.fails("too large numbers", 1, ["node 'op'", "attribute a holds a number of more than 63 bits"],
            model(a=onnx.tensor("", onnx.UINT64, [2], [0, (1 << 64) - 1])), "-udo", w.config(numbers))
    scalar = definition("Op", [{}], [same()], scalar_params=[{"name": "a", "data_type": "STRING"}])
    w.fails("NUL in a text", 1, ["node 'op'", "attribute a holds a NUL byte"], model(a="one\0two"), "-udo",
            w.config(scalar))


def static_strings(w):
    m = start()
    m.tensor("words", onnx.STRING, [2], strings=["one", "zwei"])
    m.node("Op", ["x", "words"], ["y"], name="op", domain="test")
    m.output("y", F, [2, 3])
    op = definition("Op", [{}, {"static": True, "data_type": "STRING"}], [same()])
    container, _ = w.convert("static strings", m, "-udo", w.config(op))
    tensor = container and container.tensors["words"]
    w.checks.equal("static strings", tensor and (tensor.dtype, tensor.dims, tensor.kind), ("STRING", [2], "STATIC"))
    w.checks.check("static strings: data", tensor and b"one" in tensor.data and b"zwei" in tensor.data)
    numbers = definition("Op", [{}, {"static": True, "data_type": "INT_32"}], [same()])
    w.fails("strings as numbers", 1, ["INT_32", "STRING"], m, "-udo", w.config(numbers))


# ---- layouts ----

def chains(w):
    """conv -> three UDOs -> conv: a permute where what is stored and what is declared differ, and no other."""
    for layouts in itertools.product(("NCHW", "NHWC", None), repeat=3):
        m = start(IMAGE)
        scaling(m, "x", "a", channels=4)
        for i, (source, target) in enumerate((("a", "t0"), ("t0", "t1"), ("t1", "b"))):
            m.node(f"Op{i}", [source], [target], domain="test")
        scaling(m, "b", "y", channels=4)
        m.output("y", F, IMAGE)
        ops = [udo(f"Op{i}", layout) for i, layout in enumerate(layouts)]
        container, messages = w.convert(f"chain {layouts}", m, "-udo", w.config(*ops))
        if not container:
            continue
        walk = ["NHWC"]
        expected = ["Conv2d"]
        for i, layout in enumerate(layouts + ("NHWC",)):
            expected += ["Transpose"] * (layout not in (None, walk[-1]))
            walk.append(layout or walk[-1])
            expected.append(f"Op{i}" if i < 3 else "Conv2d")
        w.checks.equal(f"chain {layouts}: ops", op_types(container), expected)
        w.checks.equal(f"chain {layouts}: reports", messages.count("a permute"), expected.count("Transpose"))
        for i, layout in enumerate(walk[1:4]):
            dims = IMAGE if layout == "NCHW" else [1, 6, 8, 4]
            node = of_type(container, f"Op{i}")[0]
            w.checks.equal(f"chain {layouts}: dims of {i}", shapes(container, *node.inputs, *node.outputs), [dims] * 2)


def at_the_edges(w):
    """Graph inputs and outputs: (layouts of a first and a last UDO) -> the ops, and the dims of x and y."""
    last = [1, 6, 8, 4]
    for first, final, ops, dims in (
            ("NCHW", "NCHW", ["Transpose", "Op0", "Transpose", "Conv2d", "Transpose", "Op1"], [last, IMAGE]),
            ("NHWC", "NHWC", ["Op0", "Conv2d", "Op1"], [last, last]),
            (None, None, ["Op0", "Conv2d", "Op1"], [last, last])):
        m = start(IMAGE)
        m.node("Op0", ["x"], ["a"], domain="test")
        scaling(m, "a", "b", channels=4)
        m.node("Op1", ["b"], ["y"], domain="test")
        m.output("y", F, IMAGE)
        label = f"edges {first}, {final}"
        container, _ = w.convert(label, m, "-udo", w.config(udo("Op0", first), udo("Op1", final)))
        if container:
            w.checks.equal(f"{label}: ops", op_types(container), ops)
            w.checks.equal(f"{label}: dims", shapes(container, "x", "y"), dims)


def output_read_further(w):
    """A UDO's output that is a graph output and read by a convolution, a UDO of another layout, and a native op."""
    m = start(IMAGE)
    scaling(m, "x", "a", channels=4)
    m.node("Op0", ["a"], ["y"], domain="test")
    scaling(m, "y", "z", channels=4)
    m.node("Op1", ["y"], ["u"], domain="test")
    m.node("Relu", ["y"], ["v"])
    for name in "yzuv":
        m.output(name, F, IMAGE)
    container, _ = w.convert("read further", m, "-udo", w.config(udo("Op0", "NCHW"), udo("Op1", "NHWC")))
    if container:
        # One permute to NCHW before Op0, one back for both the convolution and Op1.
        w.checks.equal("read further: permutes", len(of_type(container, "Transpose")), 2)
        w.checks.equal("read further: shared", of_type(container, "Op1")[0].inputs[0],
                       of_type(container, "Conv2d")[1].inputs[0])
        w.checks.equal("read further: outputs", sorted(n for n, t in container.tensors.items() if t.kind == "APP_READ"),
                       ["u", "v", "y", "z"])
        w.checks.equal("read further: y", shapes(container, "y", "u"), [IMAGE, [1, 6, 8, 4]])


# ---- beside native ops ----

def normalized():
    m = start(IMAGE)
    scaling(m, "x", "a", channels=4)
    for name, value in (("s", 2.0), ("o", 1.0), ("m", 0.5), ("v", 4.0)):
        m.tensor(name, F, [4], [value, 1, 2, 3])
    m.node("BatchNormalization", ["a", "s", "o", "m", "v"], ["b"], name="bn")
    m.node("Relu", ["b"], ["c"], name="relu")
    scaling(m, "c", "y", channels=4)
    m.output("y", F, IMAGE)
    return m


def fused_patterns(w):
    """A batch normalization is folded into neither a claimed convolution, nor is a claimed one folded."""
    data, static = {"data_type": "FLOAT_32"}, {"data_type": "FLOAT_32", "static": True}
    conv = definition("Conv", [data, static], [data], tensor_params=[{"name": "kernel_shape", "data_type": "INT_32"}])
    norm = definition("BatchNormalization", [data] + [static] * 4, [data])
    native, _ = w.convert("not claimed", normalized())
    w.checks.equal("not claimed", native and op_types(native), ["Conv2d", "Neuron", "Conv2d"])
    container, _ = w.convert("claimed normalization", normalized(), "-udo", w.config(norm))
    if container and native:
        w.checks.equal("claimed normalization: ops", op_types(container),
                       ["Conv2d", "BatchNormalization", "Neuron", "Conv2d"])
        w.checks.equal("claimed normalization: its data", [floats(container.tensors[n]) for n in "somv"],
                       [[value, 1, 2, 3] for value in (2, 1, 0.5, 4)])
        w.checks.equal("claimed normalization: weights", floats(container.tensors["a.w"]),
                       [2.0 if i == k else 0 for i in range(4) for k in range(4)])
        w.checks.equal("claimed normalization: what follows is as it was", container.tensors["y.w"].data,
                       native.tensors["y.w"].data)
    container, _ = w.convert("claimed convolutions", normalized(), "-udo", w.config(conv))
    if container:
        w.checks.equal("claimed convolutions: ops", op_types(container), ["Conv", "Batchnorm", "Neuron", "Conv"])
        w.checks.equal("claimed convolutions: names of weights", [op.inputs[1] for op in of_type(container, "Conv")],
                       ["a.w", "y.w"])
        weights = container.tensors["a.w"]
        w.checks.equal("claimed convolutions: weights", (weights.dims, floats(weights)),
                       ([4, 4, 1, 1], [2.0 if i == k else 0 for i in range(4) for k in range(4)]))


def beside(w):
    """All but the claimed node is what the native conversion gives."""
    native, _ = w.convert("beside: native", normalized())
    container, _ = w.convert("beside: claimed", normalized(), "-udo", w.config(udo("Relu")))
    if not native or not container:
        return
    w.checks.equal("beside: types", [op.type for op in native.ops], ["Conv2d", "Neuron", "Conv2d"])
    w.checks.equal("beside: types, claimed", op_types(container), ["Conv2d", "Relu", "Conv2d"])
    described = [[(op.name, op.inputs, op.outputs) for op in c.ops] for c in (native, container)]
    w.checks.equal("beside: names and operands", *described)
    tensors = [{n: (t.kind, t.dims, t.dtype, t.data) for n, t in c.tensors.items()} for c in (native, container)]
    w.checks.equal("beside: tensors", *tensors)


def constants(w):
    """A claimed op whose inputs are all constant stays, and what follows from it cannot be folded."""
    m = start([2])
    m.tensor("c", F, [2], [1, -2])
    m.node("Neg", ["c"], ["n"])
    m.node("Relu", ["n"], ["r"], name="relu")
    m.node("Abs", ["r"], ["q"])
    m.node("Add", ["x", "q"], ["y"])
    m.output("y", F, [2])
    op = definition("Relu", [{"static": True}], [{}])
    container, _ = w.convert("constants", m, "-udo", w.config(op))
    if container:
        w.checks.equal("constants: ops", op_types(container), ["Relu", "Eltwise_Unary", "Eltwise_Binary"])
        w.checks.equal("constants: computed before", floats(container.tensors["n"]), [-1, 2])
    op["inputs"] = [{}]
    w.fails("constants, not static", 1, ["not static", "relu"], m, "-udo", w.config(op))
    container, _ = w.convert("constants, promoted", m, "-udo", w.config(op), "--udo_promote_static")
    w.checks.equal("constants, promoted", container and op_types(container),
                   ["Relu", "Eltwise_Unary", "Eltwise_Binary"])


# ---- inside of other nodes ----

WITHOUT_SHAPE = definition("Op", [{}], [{}])


def graph(inputs, outputs, nodes, values=()):
    g = onnx.Model()
    for entry in inputs:
        g.input(*entry)
    nodes(g)
    for entry in values:
        g.value(*entry)
    for entry in outputs:
        g.output(*entry)
    return g


def branches(w):
    """A branch's own declarations give the shape; one branch alone is taken."""
    def inner(g):
        g.node("Op", ["x"], ["t"], name="op", domain="test")
        g.node("Relu", ["t"], ["r"])

    for taken in (1, 0):
        m = start()
        m.tensor("c", onnx.BOOL, [], [taken])
        m.node("If", ["c"], ["y"], name="if", then_branch=graph([], [("r", F, None)], inner, [("t", F, [7, 5])]),
               else_branch=graph([], [("s", F, [7, 5])],
                                 lambda g: g.node("Op", ["x"], ["s"], name="op", domain="test")))
        m.output("y", F, [7, 5])
        container, messages = w.convert(f"branch {taken}", m, "-udo", w.config(WITHOUT_SHAPE))
        if container:
            expected = (["Op", "Neuron"], "if/op", "if/t") if taken else (["Op"], "if/op", "y")
            op = container.ops[0]
            w.checks.equal(f"branch {taken}", (op_types(container), op.name, op.outputs[0]), expected)
            w.checks.equal(f"branch {taken}: dims", shapes(container, op.outputs[0]), [[7, 5]])
            w.checks.check(f"branch {taken}: nothing assumed", "nothing tells" not in messages, messages)


def loops(w):
    """Unrolled: one UDO each time, the last one under the loop's own names; static data is stored once."""
    m = start()
    m.tensor("n", I64, [], [3])
    m.tensor("k", F, [2], [0.5, 2])
    body = graph([("i", I64, []), ("c", onnx.BOOL, []), ("s", F, [2, 3])], [("c", onnx.BOOL, []), ("t", F, [2, 3])],
                 lambda g: g.node("Op", ["s", "k", "i"], ["t"], name="op", domain="test"))
    m.node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    m.output("y", F, [2, 3])
    static = {"static": True, "data_type": "FLOAT_16"}
    op = definition("Op", [{}, static, {"static": True, "data_type": "INT_32"}], [{}])
    container, _ = w.convert("loop", m, "-udo", w.config(op))
    if container:
        w.checks.equal("loop: names", [op.name for op in container.ops], ["loop/0/op", "loop/1/op", "loop/2/op"])
        w.checks.equal("loop: values", [op.outputs[0] for op in container.ops], ["loop/0/t", "loop/1/t", "y"])
        w.checks.equal("loop: chained", [op.inputs[0] for op in container.ops], ["x", "loop/0/t", "loop/1/t"])
        w.checks.equal("loop: one constant", len({op.inputs[1] for op in container.ops}), 1)
        data = container.tensors[container.ops[0].inputs[1]].data
        w.checks.equal("loop: its bytes", data, struct.pack("<2e", 0.5, 2))
        counts = [struct.unpack("<i", container.tensors[op.inputs[2]].data)[0] for op in container.ops]
        w.checks.equal("loop: the iteration's number", counts, [0, 1, 2])


def scans(w):
    m = start([3, 2])
    m.input("s", F, [2])
    body = graph([("a", F, [2]), ("e", F, [2])], [("t", F, [2]), ("u", F, [2])],
                 lambda g: g.node("Op", ["a", "e"], ["t", "u"], name="op", domain="test"))
    m.node("Scan", ["s", "x"], ["y", "z"], name="scan", body=body, num_scan_inputs=1)
    m.output("y", F, [2])
    m.output("z", F, [3, 2])
    container, _ = w.convert("scan", m, "-udo", w.config(definition("Op", [{}, {}], [{}, {}])))
    if container:
        ops = of_type(container, "Op")
        w.checks.equal("scan: names", [op.name for op in ops], ["scan/0/op", "scan/1/op", "scan/2/op"])
        w.checks.equal("scan: state", [op.inputs[0] for op in ops], ["s", "scan/0/t", "scan/1/t"])
        w.checks.equal("scan: outputs", shapes(container, "y", "z"), [[2], [3, 2]])


def claimed_graph(w):
    """Ops inside of a node that is claimed itself are not reached: the claim is refused."""
    m = start()
    m.tensor("c", onnx.BOOL, [], [1])
    branch = graph([], [("r", F, [2, 3])], lambda g: g.node("Op", ["x"], ["r"], name="op", domain="test"))
    m.node("If", ["c"], ["y"], name="if", then_branch=branch, else_branch=branch)
    m.output("y", F, [2, 3])
    whole = definition("If", [{"static": True}], [{}])
    w.fails("claimed If", 1, ["node 'if'", "attribute then_branch holds a graph"], m, "-udo",
            w.config(whole, WITHOUT_SHAPE))


def function_model():
    """x -> Call -> Call -> y; test::Call(v) = v + reduce(Op(v)), and says that Op gives [2,7]."""
    def node(op_type, inputs, outputs, **more):
        n = onnx.Message()
        for value in inputs:
            n.data(1, value)
        for value in outputs:
            n.data(2, value)
        return n.data(3, more.get("name", "")).data(4, op_type).data(7, more.get("domain", ""))

    f = onnx.Message().data(1, "Call").data(4, "v").data(5, "r").data(10, "test")
    f.message(7, node("Op", ["v"], ["t"], name="op", domain="test"))
    f.message(7, node("ReduceMax", ["t"], ["m"], name="max"))
    f.message(7, node("Add", ["v", "m"], ["r"], name="add"))
    f.message(9, onnx.Message().data(1, "").integer(2, 13)).message(9, onnx.Message().data(1, "test").integer(2, 1))
    f.message(12, onnx.value_info("t", F, [2, 7]))
    m = start()
    m.node("Call", ["x"], ["a"], name="call1", domain="test")
    m.node("Call", ["a"], ["y"], name="call2", domain="test")
    m.output("y", F, [2, 3])
    m.functions.append(f)
    return m


def functions(w):
    """A UDO in a function that is called twice; the function's own declarations give the shape."""
    container, messages = w.convert("in a function", function_model(), "-udo", w.config(WITHOUT_SHAPE))
    if container:
        ops = of_type(container, "Op")
        w.checks.equal("in a function: names", [op.name for op in ops], ["call1/op", "call2/op"])
        w.checks.equal("in a function: values", [op.outputs[0] for op in ops], ["call1/t", "call2/t"])
        w.checks.equal("in a function: dims", shapes(container, "call1/t", "call2/t"), [[2, 7]] * 2)
        w.checks.check("in a function: nothing assumed", "nothing tells" not in messages, messages)
    container, _ = w.convert("claimed call", function_model(), "-udo", w.config(udo("Call"), WITHOUT_SHAPE))
    w.checks.equal("claimed call", container and [(op.type, op.name) for op in container.ops],
                   [("Call", "call1"), ("Call", "call2")])


# ---- quantized models ----

def quantize(m, source, target, scale, zero=3):
    m.tensor(f"{target}.s", F, [], [scale])
    m.tensor(f"{target}.z", onnx.UINT8, [], [zero])
    m.node("QuantizeLinear", [source, f"{target}.s", f"{target}.z"], [f"{target}.q"], name=f"{target}_q")
    m.node("DequantizeLinear", [f"{target}.q", f"{target}.s", f"{target}.z"], [target], name=f"{target}_dq")


def quantized_model():
    m = start([1, 2, 3, 4])
    quantize(m, "x", "a", 0.5)
    m.tensor("w.i", onnx.INT8, [2], [-7, 9])
    m.tensor("w.s", F, [], [0.25])
    m.tensor("w.z", onnx.INT8, [], [0])
    m.node("DequantizeLinear", ["w.i", "w.s", "w.z"], ["w"], name="w_dq")
    m.node("Op", ["a", "w"], ["u"], name="op", domain="test")
    quantize(m, "u", "b", 0.125)
    m.node("Relu", ["b"], ["c"])
    quantize(m, "c", "y", 0.125)
    m.output("y", F, [1, 2, 3, 4])
    return m


def quantized(w):
    """Operands that are declared fixed-point keep the model's encodings; float ones are dequantized before."""
    def op(data, static):
        return definition("Op", [{"data_type": data}, {"data_type": static, "static": True}],
                          [same(data_type=data)])

    for data, static, args in itertools.product(("FIXED_8", "FLOAT_32"), ("FIXED_8", "FLOAT_32"),
                                                ([], ["--keep_quant_nodes"], ["--qdq", "encodings"])):
        label = f"quantized {data} {static} {args}"
        container, _ = w.convert(label, quantized_model(), "-udo", w.config(op(data, static)), *args)
        if not container:
            continue
        node = find(container, "op")
        x, weights, y = (container.tensors[name] for name in node.inputs + node.outputs)
        fixed = data == "FIXED_8" and not args
        w.checks.equal(f"{label}: activations", [t.dtype for t in (x, y)], ["UFXP_8" if fixed else "FLOAT_32"] * 2)
        given = "encodings" in args
        if fixed or given:
            w.checks.equal(f"{label}: encodings", (x.encodings, y.encodings), ([(0.5, -3)], [(0.125, -3)]))
        stored = {"FIXED_8": ("SFXP_8", [(0.25, 0)], struct.pack("<2b", -7, 9)),
                  "FLOAT_32": ("FLOAT_32", [(0.25, 0)] * given, struct.pack("<2f", -1.75, 2.25))}[static]
        w.checks.equal(f"{label}: data", (weights.kind, weights.dtype, weights.encodings, weights.data),
                       ("STATIC", *stored))
    w.fails("another width", 1, ["FIXED_16", "needs encodings"], quantized_model(), "-udo",
            w.config(op("FLOAT_32", "FIXED_16")))


def quantized_layouts(w):
    """Between quantized convolutions: permutes move integers, and encodings follow the axis that they are along."""
    values = range(24)
    for layout, ops, dims, data in (
            ("NCHW", ["Conv2d", "Transpose", "Op", "Transpose", "Conv2d"], [1, 4, 2, 3], list(values)),
            ("NHWC", ["Conv2d", "Op", "Conv2d"], [1, 2, 3, 4], [c * 6 + i for i in range(6) for c in range(4)])):
        m = start(IMAGE)
        quantize(m, "x", "a", 0.5)
        for source, target in (("a", "b"), ("u", "y")):
            m.tensor(f"{target}.i", onnx.INT8, [4, 4, 1, 1], list(range(16)))
            m.tensor(f"{target}.w.s", F, [], [0.25])
            m.tensor(f"{target}.w.z", onnx.INT8, [], [0])
            m.node("DequantizeLinear", [f"{target}.i", f"{target}.w.s", f"{target}.w.z"], [f"{target}.w"])
            m.node("Conv", [source, f"{target}.w"], [f"{target}.conv"], kernel_shape=[1, 1])
            quantize(m, f"{target}.conv", target, 0.25)
            if target == "b":
                m.tensor("k.i", onnx.INT8, [1, 4, 2, 3], list(values))
                m.tensor("k.s", F, [4], [0.25, 0.5, 1, 2])
                m.tensor("k.z", onnx.INT8, [4], [0, 0, 0, 0])
                m.node("DequantizeLinear", ["k.i", "k.s", "k.z"], ["k"], axis=1)
                m.node("Op", ["b", "k"], ["op"], name="op", domain="test")
                quantize(m, "op", "u", 0.125)
        m.output("y", F, IMAGE)
        fixed = {"data_type": "FIXED_8", "tensor_layout": layout}
        op = definition("Op", [fixed, {**fixed, "static": True}], [same(**fixed)])
        container, messages = w.convert(f"quantized {layout}", m, "-udo", w.config(op))
        if not container:
            continue
        w.checks.equal(f"quantized {layout}: ops", op_types(container), ["Quantize"] + ops + ["Dequantize"])
        w.checks.equal(f"quantized {layout}: reports", messages.count("a permute"), ops.count("Transpose"))
        node = find(container, "op")
        x, k, y = (container.tensors[name] for name in node.inputs + node.outputs)
        w.checks.equal(f"quantized {layout}: activations", (x.dtype, x.encodings, y.dtype, y.encodings),
                       ("UFXP_8", [(0.25, -3)], "UFXP_8", [(0.125, -3)]))
        w.checks.equal(f"quantized {layout}: data", (k.dtype, k.dims, list(k.data)), ("SFXP_8", dims, data))
        w.checks.equal(f"quantized {layout}: scales", (k.axis, k.encodings),
                       (dims.index(4), [(0.25, 0), (0.5, 0), (1, 0), (2, 0)]))


# ---- options ----

def symbolic():
    """x [N,4,H,8] -> Op -> y, whose shape only value_info says."""
    m = onnx.Model(domains=["test"])
    m.input("x", F, ["N", 4, "H", 8])
    m.node("Op", ["x"], ["t"], name="op", domain="test")
    m.node("Relu", ["t"], ["y"], name="relu")
    m.value("t", F, ["H", "N", 5])
    m.output("y", F, ["H", "N", 5])
    return m


def options(w):
    config = w.config(WITHOUT_SHAPE)
    for label, args in (("-d", ["-d", "x", "2,4,6,8"]), ("symbols", ["-s", "N", "2", "-s", "H", "6"])):
        container, messages = w.convert(f"sizes by {label}", symbolic(), "-udo", config, *args)
        w.checks.equal(f"sizes by {label}", container and shapes(container, "t", "y"), [[6, 2, 5]] * 2)
        w.checks.check(f"sizes by {label}: nothing assumed", "nothing tells" not in messages, messages)
    m = start([2, 3])
    m.node("Op", ["x"], ["y"], name="op", domain="test")
    m.output("y", F, [2, 5])
    container, _ = w.convert("shape of the output", m, "-udo", config)
    w.checks.equal("shape of the output", container and shapes(container, "y"), [[2, 5]])
    # The model speaks of other sizes than those asked for: what it says of y is not trusted.
    container, messages = w.convert("overridden size", m, "-udo", config, "-d", "x", "4,3")
    w.checks.equal("overridden size", container and shapes(container, "y"), [[4, 3]])
    w.checks.check("overridden size: says so", "nothing tells the shape" in messages, messages)
    container, messages = w.convert("overridden batch", m, "-udo", config, "-b", "4")
    w.checks.equal("overridden batch", container and shapes(container, "y"), [[4, 3]])
    for names in (["t"], ["op"], ["t", "y"]):
        args = [word for name in names for word in ("--out_node", name)]
        container, _ = w.convert(f"out_node {names}", symbolic(), "-udo", config, "-d", "x", "2,4,6,8", *args)
        w.checks.equal(f"out_node {names}", container and shapes(container, "t"), [[6, 2, 5]])
        w.checks.equal(f"out_node {names}: kind", container and container.tensors["t"].kind, "APP_READ")


def frozen(w):
    """A frozen graph input is data, and fixes the symbols of its dimensions."""
    m = onnx.Model(domains=["test"])
    m.input("x", F, [1, 3])
    m.input("k", F, ["K", 2])
    m.node("Op", ["x", "k"], ["y"], name="op", domain="test")
    m.output("y", F, [1, "K"])
    values = w.folder / "k.pb"
    with open(values, "wb") as out:
        out.writelines(onnx.tensor("k", F, [3, 2], [1, 2, 3, 4, 5, 6]).parts)
    op = definition("Op", [{}, {"static": True}], [{}])
    container, _ = w.convert("frozen", m, "-udo", w.config(op), "--freeze_input", f"k={values}")
    if container:
        w.checks.equal("frozen: data", floats(container.tensors["k"]), [1, 2, 3, 4, 5, 6])
        w.checks.equal("frozen: output", shapes(container, "y"), [[1, 3]])
    w.fails("not frozen", 1, ["static", "the model computes it"], m, "-udo", w.config(op), "-d", "k", "3,2")


TESTS = (variadic, optional_operands, fed_twice, wide_numbers, attributes, static_strings, chains, at_the_edges,
         output_read_further, fused_patterns, beside, constants, branches, loops, scans, claimed_graph, functions,
         quantized, quantized_layouts, options, frozen)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for test in TESTS:
            test(w)
    checks.finish()


main()
