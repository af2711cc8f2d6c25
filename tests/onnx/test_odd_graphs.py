# SPDX-License-Identifier: Apache-2.0
"""Graphs within nodes and functions that do not fit their nodes, each refused with the reason; and rare forms that are
right and must give right numbers."""

import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "convert")]
from conversion import Workshop, onnx, op_types  # noqa: E402
from checks import Checks  # noqa: E402

BOOL, FLOAT, INT32, INT64 = onnx.BOOL, onnx.FLOAT, onnx.INT32, onnx.INT64
X = [("x", FLOAT, [2])]


def fill(m, nodes, constants):
    for name, data_type, dims, values in constants:
        m.tensor(name, data_type, dims, values)
    for op, sources, targets, *attributes in nodes:
        m.node(op, sources, targets, **(attributes[0] if attributes else {}))
    return m


def graph(*outputs, inputs=(), nodes=(), constants=(), values=()):
    """A graph that a node holds; of inputs, outputs and values (name, type, dims)."""
    g = onnx.Model()
    for name in inputs:
        g.input(name, FLOAT, None)
    for name in outputs:
        g.output(name, FLOAT, None)
    for value in values:
        g.value(*value)
    return fill(g, nodes, constants)


def model(inputs, outputs, *nodes, constants=(), opset=18):
    m = onnx.Model(opset=opset)
    for name, data_type, dims in inputs:
        m.input(name, data_type, dims)
    for name in outputs:
        m.output(name, FLOAT, None)
    return fill(m, nodes, constants)


NEG = [("Neg", ["x"], ["v"])]


# ---- what does not fit ----


def conditions(w):
    both = {"then_branch": graph("v", nodes=NEG), "else_branch": graph("v", nodes=NEG)}
    for label, words, m in (
            ("two conditions", ["input 0 (cond) has [2] elements instead of one"],
             model([*X, ("k", BOOL, [2])], ["y"], ("If", ["k"], ["y"], both))),
            ("a result too many", ["the graph gives 1 outputs, the node has 2"],
             model([*X, ("k", BOOL, [1])], ["y", "z"], ("If", ["k"], ["y", "z"], both))),
            ("no branch", ["attribute else_branch is missing"],
             model([*X, ("k", BOOL, [1])], ["y"], ("If", ["k"], ["y"], {"then_branch": graph("v", nodes=NEG)}))),
            ("a branch that gives nothing", ["nothing", "v"],
             model([*X, ("k", BOOL, [1])], ["y"], ("If", ["k"], ["y"], {**both, "else_branch": graph("v")}))),
    ):
        w.fails(label, 1, words, m)


ON = [("Identity", ["go"], ["on"])]


def loops(w):
    def loop(body, sources=("n", "", "x"), results=("y",), n=(1,)):
        return model(X, results, ("Loop", list(sources), list(results), {"body": body}),
                     constants=[("n", INT64, [len(n)] if len(n) > 1 else [], n)])

    body = graph("on", "s", inputs=["i", "go", "s"], nodes=ON)
    no_tensor = [("SequenceEmpty", [], ["none"])]
    for label, words, m in (
            ("a loop without its variable", ["the body takes 3 inputs, the node has 2"], loop(body, ("n", ""))),
            ("a body of one result", ["the body gives 1 outputs, the node has 1"],
             loop(graph("on", inputs=["i", "go", "s"], nodes=ON))),
            ("two numbers of trips", ["input 0 (M) has 2 elements instead of one"], loop(body, n=(1, 2))),
            ("a sequence as condition", ["the body's condition is no tensor"],
             loop(graph("none", "s", inputs=["i", "go", "s"], nodes=no_tensor))),
            ("a sequence that is collected", ["output 2 of the body is collected, but is no tensor"],
             loop(graph("on", "s", "none", inputs=["i", "go", "s"], nodes=ON + no_tensor), results=("y", "z"))),
    ):
        w.fails(label, 1, words, m)
    collected = graph("on", "s", "s", inputs=["i", "go", "s"], nodes=ON)
    m = model(X, ["y"], ("Loop", ["n", "", "x"], ["y", ""], {"body": collected}), constants=[("n", INT64, [], [2])])
    w.gives("a collected result that is not wanted", m, {"x": [1, 2]}, {"y": [1, 2]})


def scans(w):
    def scan(body, sources=("x",), results=("y",), dims=(2, 3), opset=18, **attributes):
        return model([("x", FLOAT, dims)], results,
                     ("Scan", list(sources), list(results), {"body": body, "num_scan_inputs": 1, **attributes}),
                     opset=opset)

    body = graph("v", inputs=["e"], nodes=[("Neg", ["e"], ["v"])])
    sequence = graph("v", inputs=["e"], nodes=[("SequenceEmpty", [], ["v"])])
    for label, words, m in (
            ("a body of two inputs", ["the body's inputs and outputs are not those of the node"],
             scan(graph("v", inputs=["e", "f"], nodes=[("Neg", ["e"], ["v"])]))),
            ("directions of two", ["scan_input_directions has 2 entries for 1 tensors"],
             scan(body, scan_input_directions=[0, 0])),
            ("an absent state", ["input 0 is missing"],
             scan(graph("s", "v", inputs=["s", "e"], nodes=[("Neg", ["e"], ["v"])]), ("", "x"), ("z", "y"))),
            ("nothing to scan", ["the scanned axis is empty"], scan(body, dims=(0, 3))),
            ("a sequence as a result", ["output 0 of the body is no tensor"], scan(sequence)),
            ("no axis behind the batch", ["input 1 has the shape [2], which lacks the batch or the scanned axis"],
             scan(body, ("", "x"), dims=(2,), opset=8)),
            ("lengths", ["sequence lengths are not supported"], scan(body, ("x", "x"), opset=8)),
    ):
        w.fails(label, 1, words, m)


def sequences(w):
    """Positions and parts that are none."""
    split = ("SplitToSequence", ["x", "p"], ["s"])
    first = ("SequenceAt", ["s", "i"], ["y"])
    zero = ("i", INT64, [], [0])
    body = {"body": graph("v", inputs=["a", "b"], nodes=[("Add", ["a", "b"], ["v"])])}
    pair, single = ("SequenceConstruct", ["x", "x"], ["s"]), ("SequenceConstruct", ["x"], ["t"])
    for label, words, nodes, constants in (
            ("parts of too much", ["the parts do not add up to an axis of 2"], [split, first],
             [zero, ("p", INT64, [2], [1, 2])]),
            ("parts of nothing", ["parts of 0 elements are not possible"], [split, first],
             [zero, ("p", INT64, [], [0])]),
            ("two positions", ["input 1 (position) has 2 elements instead of one"], [pair, first],
             [("i", INT64, [2], [0, 1])]),
            ("sequences of other lengths", ["input 1 has 1 items, input 0 has 2"],
             [pair, single, ("SequenceMap", ["s", "t"], ["m"], body), ("SequenceAt", ["m", "i"], ["y"])], [zero]),
    ):
        w.fails(label, 1, words, model(X, ["y"], *nodes, constants=constants))


def declarations(w):
    m = model(X, ["y"], ("Cast", ["x"], ["i"], {"to": INT32}), ("Cast", ["i"], ["y"], {"to": FLOAT}))
    m.value("i", INT64, [2])
    w.fails("another type than is declared", 1, ["the model declares i as int64, but Cast gives int32"], m)
    m = model(X, ["y", "z"], ("Neg", ["x"], ["y"]))
    w.fails("an output that nothing gives", 1, ["z"], m)
    m = model(X, ["y"], ("Constant", [], ["c"], {"value": graph("x")}), ("Add", ["x", "c"], ["y"]))
    many = model(X, ["y"], ("Relu", ["x", "x"], ["a"]), ("Neg", ["a"], ["y", "z"]))
    w.fails("nodes with more than they may have", 1, ["Relu: the node has 2 inputs", "Neg: the node has 2 outputs"], many)
    w.gives("what tools keep for themselves", model(X, ["y"], ("Relu", ["x", "", ""], ["y", ""], {"__tool": 1})), {"x": [1, -2]}, {"y": [1, 0]})
    w.fails("a graph as a constant", 1, ["value", "attribute value is not a tensor"], m)


def orders_of_outputs(w):
    """A graph output whose dims do not tell the order: the axis format says whether it is the model's."""
    last, first, dims = [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 2, 2]
    count_up = [float(i) for i in range(8)]
    turned = [count_up[4 * c + 2 * h + v] for h in range(2) for v in range(2) for c in range(2)]

    def formats(label, nodes, results, *args):
        m = onnx.Model()
        m.input("x", FLOAT, dims)
        m.tensor("w", FLOAT, [2, 2, 1, 1], [1.0, 0.0, 0.0, 1.0])
        for op, source, target, attributes in nodes:
            m.node(op, [source, "w"] if op == "Conv" else [source], [target], **attributes)
        for name in results:
            m.output(name, FLOAT, dims)
        container, _ = w.convert(label, m, *args)
        x = container.tensors["x"]
        found = w.execute(label, container, x=turned if x.axis_format == 3 else count_up)
        w.checks.equal(f"{label}: formats", {name: container.tensors[name].axis_format for name in results}, results)
        return found

    conv, to_last, to_first = ("Conv", "x", "c", {"kernel_shape": [1, 1]}), {"perm": last}, {"perm": first}
    found = formats("channels last in the end", [conv, ("Transpose", "c", "y", to_last)], {"y": 11})
    w.checks.equal("channels last in the end", found, {"y": turned})
    found = formats("both orders", [conv, ("Transpose", "c", "y", to_last)], {"y": 11, "c": 3})
    w.checks.equal("both orders", found, {"y": turned, "c": turned})
    found = formats("both orders, kept", [conv, ("Transpose", "c", "y", to_last)], {"y": 11, "c": 2}, "--preserve_io",
                    "layout")
    w.checks.equal("both orders, kept", found, {"y": turned, "c": count_up})
    found = formats("channels last all the way", [("Transpose", "x", "a", to_first),
                                                  ("Conv", "a", "c", {"kernel_shape": [1, 1]}),
                                                  ("Transpose", "c", "y", to_last)], {"y": 11})
    w.checks.equal("channels last all the way", found, {"y": count_up})
    formats("no Transpose", [conv], {"c": 3})
    formats("computed behind it", [conv, ("Transpose", "c", "t", to_last), ("Relu", "t", "y", {})], {"y": 11})


def lines(w):
    """Of rank 3, channels-first to channels-last and back are one permutation: axis formats are not mixed up. What a
    Conv over one axis gives is called as the vendor's converters call it, whether its Transpose is left or not."""
    constants = [(name, FLOAT, [2], values) for name, values in zip("sbmv", ([1, 2], [0, 1], [0, 0], [1, 1]))]
    norm = ("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], {"epsilon": 0.0})
    m = model([("x", FLOAT, [1, 2, 3])], ["y"], norm, constants=constants)
    container = w.gives("a kept line", m, {"x": [1, 2, 3, 4, 5, 6]}, {"y": [1, 2, 3, 9, 11, 13]}, "--preserve_io",
                        "layout")
    inner = {name: container.tensors[name].axis_format for op in container.ops if op.type == "Batchnorm"
             for name in (op.inputs[0], op.outputs[0])}
    w.checks.equal("a kept line: what Batchnorm reads and gives", list(inner.values()), [5, 5])
    w.checks.check("a kept line: x is not channels-last", container.tensors["x"].axis_format not in (3, 5))
    conv = ("Conv", ["x", "w"], ["c"], {"kernel_shape": [2]})
    for label, node in (("a Transpose follows", ("Neg", ["c"], ["y"])),
                        ("none does", ("Transpose", ["c"], ["y"], {"perm": [0, 2, 1]}))):
        m = model([("x", FLOAT, [1, 2, 3])], ["y"], conv, node, constants=[("w", FLOAT, [4, 2, 2], [1] * 16)])
        container, _ = w.convert(f"a line, {label}", m, "--preserve_io", "layout")
        ops = {op.type: op for op in container.ops}
        w.checks.equal(f"a line, {label}: names", (ops["Conv2d"].name, ops["Conv2d"].outputs),
                       ("c_2d", ["c_intermediate"]))


def wrapping(w):
    """Integers of 64 bits become ones of 32 bits: one warning when what the container computes of them may not fit."""
    def warnings(label, dtype, *nodes, constants=(), x=(2**31 - 1, -2), expected):
        m = onnx.Model(opset=18)
        m.input("x", dtype, [2])
        fill(m, nodes, constants)
        m.output("y", dtype, [2])
        container, messages = w.convert(label, m)
        if expected:
            w.checks.equal(f"{label}: results", w.execute(label, container, x=list(x)), {"y": expected})
        return [line.split("warning: ")[1] for line in messages.splitlines() if "wrap" in line]

    said = "node '{0}': integers of 64 bits become ones of 32 bits, beyond which results wrap: those of {1} nodes, {0} first"
    add, double = ("Add", ["x", "x"], ["y"], {"name": "sum"}), ("Add", ["x", "x"], ["t"], {"name": "double"})
    w.checks.equal("a sum", warnings("a sum", INT64, add, expected=[-2, -4]), [said.format("sum", 1)])
    two = warnings("two of them", INT64, double, ("Mul", ["t", "x"], ["y"]), expected=[2 - 2**32 + 2**32, 8])
    w.checks.equal("two of them", two, [said.format("double", 2)])
    w.checks.equal("32 bits in the model", warnings("32 bits in the model", INT32, add, expected=[-2, -4]), [])
    known = warnings("known values", INT64, ("Shape", ["x"], ["n"]), ("Mul", ["n", "n"], ["p"]),
                     ("Max", ["x", "p"], ["y"]), expected=[2**31 - 1, 4])
    w.checks.equal("known values", known, [])
    index = warnings("an index", INT64, ("Gather", ["c", "x"], ["y"]), constants=[("c", INT64, [2], [7, 8])], x=(1, -2),
                     expected=[8, 7])
    w.checks.equal("an index", index, [])


def declared_dims(w):
    """Dimensions that the model declares otherwise than they are: a warning for each output, and one for all inside."""
    def warnings(label, inner, outer, *args, x=(2, 3)):
        m = onnx.Model()
        m.input("x", FLOAT, x)
        m.node("Neg", ["x"], ["a"], name="first")
        m.node("Transpose", ["a"], ["b"], name="second", perm=[1, 0])
        m.node("Neg", ["b"], ["y"], name="third")
        for name, dims in inner.items():
            m.value(name, FLOAT, dims)
        m.output("y", FLOAT, outer)
        _, messages = w.convert(label, m, *args)
        return [line.split("warning: ")[1] for line in messages.splitlines() if "declares" in line]

    w.checks.equal("right dims", warnings("right dims", {"a": [2, 3], "b": [3, "k"]}, [3, 2]), [])
    w.checks.equal("an output of other dims", warnings("an output", {"b": [3, 2]}, [3, 4]),
                   ["node 'third': the model declares y as [3,4], but Neg gives [3,2]"])
    w.checks.equal("an output of another rank", warnings("another rank", {}, ["k"]),
                   ["node 'third': the model declares y as [k], but Neg gives [3,2]"])
    w.checks.equal("a value inside", warnings("a value inside", {"b": [2, 3]}, [3, 2]),
                   ["node 'second': the model declares b as [2,3], but Transpose gives [3,2]"])
    w.checks.equal("values inside", warnings("values inside", {"a": [], "b": [2, 3]}, [2, 3]),
                   ["node 'third': the model declares y as [2,3], but Neg gives [3,2]",
                    "node 'first': the model declares a as [], but Neg gives [2,3]: 2 values inside of the model are "
                    "declared otherwise, this one first"])
    w.checks.equal("an option changes the input", warnings("changed", {"a": [2, 3]}, [3, 2], "-d", "x", "4,3"), [])
    symbols = warnings("symbols", {}, ["n", 2], "--define_symbol", "n", "2", x=("n", 3))
    w.checks.equal("symbols say what they like", symbols, [])


def shapes(w):
    for label, words, nodes, constants in (
            ("strings padded", ["strings cannot be padded with a constant"],
             [("Pad", ["s", "p"], ["t"]), ("Shape", ["t"], ["n"])], [("p", INT64, [2], [0, 1])]),
            ("strings made unique", ["the input holds strings"],
             [("Unique", ["s"], ["t"]), ("Shape", ["t"], ["n"])], []),
    ):
        m = model([("x", INT64, [1])], ["y"], ("Constant", [], ["s"], {"value_strings": ["a", "b"]}), *nodes,
                  ("Add", ["x", "n"], ["y"]), constants=constants)
        w.fails(label, 1, words, m)
    equation = {"equation": "abcdefghi->a"}
    w.fails("nine axes", 1, ["a term has more than 8 axes"],
            model(X, ["y"], ("Einsum", ["x"], ["y"], equation)))
    equation = {"equation": "abcde,fghij->abcdefghij"}
    w.fails("ten axes in the result", 1, ["more than 8 axes"],
            model([("x", FLOAT, [1] * 5), ("z", FLOAT, [1] * 5)], ["y"], ("Einsum", ["x", "z"], ["y"], equation)))


# ---- rare, and right ----


def strings(w):
    """Texts that only their number matters of."""
    m = model([("x", INT64, [1])], ["y"], ("Constant", [], ["s"], {"value_strings": ["a", "b", "c"]}),
              ("Shape", ["s"], ["n"]), ("Mul", ["x", "n"], ["p"]), ("Cast", ["p"], ["y"], {"to": FLOAT}))
    w.gives("how many strings", m, {"x": [5]}, {"y": [15]})
    m = model([("x", INT64, [])], ["y"], ("Constant", [], ["s"], {"value_string": "text"}), ("Size", ["s"], ["n"]),
              ("Add", ["x", "n"], ["p"]), ("Cast", ["p"], ["y"], {"to": FLOAT}))
    w.gives("one string", m, {"x": [5]}, {"y": [6]})


def large_words(w):
    """Beyond int64 the order is that of uint64."""
    m = model([("x", FLOAT, [3])], ["y"], ("Unique", ["c"], ["u"]), ("Cast", ["u"], ["f"], {"to": FLOAT}),
              ("Mul", ["x", "f"], ["y"]), constants=[("c", onnx.UINT64, [4], [1 << 63, 5, 1 << 63, 1])])
    w.gives("uint64 in order", m, {"x": [1, 1, 1]}, {"y": [1, 5, float(1 << 63)]})


def masks(w):
    """Dropout outside of training keeps everything, and its mask says so."""
    for opset, data_type in ((9, FLOAT), (10, BOOL), (11, BOOL), (12, BOOL), (13, BOOL)):
        m = onnx.Model(opset=opset)
        m.input("x", FLOAT, [2])
        m.node("Dropout", ["x"], ["d", "mask"])
        m.node("Cast", ["mask"], ["kept"], to=FLOAT)
        m.node("Sub", ["d", "kept"], ["y"])
        m.output("y", FLOAT, [2])
        m.value("mask", data_type, [2])
        w.gives(f"Dropout-{opset}", m, {"x": [3, -4]}, {"y": [2, -5]})


def transposed_convolutions(w):
    """output_shape with batch and channels."""
    m = model([("x", FLOAT, [1, 1, 2, 2])], ["y"],
              ("ConvTranspose", ["x", "w"], ["y"], {"output_shape": [1, 1, 3, 3], "kernel_shape": [2, 2]}),
              constants=[("w", FLOAT, [1, 1, 2, 2], [1, 10, 100, 1000])])
    w.gives("output_shape of four", m, {"x": [1, 2, 3, 4]}, {"y": [1, 12, 20, 103, 1234, 2040, 300, 3400, 4000]})


def function_node(op_type, inputs, outputs, **attributes):
    n = onnx.Message()
    for value in inputs:
        n.data(1, value)
    for value in outputs:
        n.data(2, value)
    n.data(4, op_type)
    for key, value in attributes.items():
        n.message(5, onnx.attribute(key, value))
    return n


def functions(w):
    """A function whose node holds graphs, with constants and declarations of their own; called twice, so that all names
    in them must become others."""
    yes = graph("v", nodes=[("Add", ["a", "c"], ["t"]), ("Mul", ["t", "c"], ["v"])], constants=[("c", FLOAT, [1], [2])],
                values=[("t", FLOAT, [2])])
    no = graph("v", nodes=[("Sub", ["a", "c"], ["v"])], constants=[("c", FLOAT, [1], [10])])
    f = onnx.Message().data(1, "Choose").data(4, "k").data(4, "a").data(5, "r").data(10, "test")
    f.message(7, function_node("If", ["k"], ["r"], then_branch=yes, else_branch=no))
    f.message(9, onnx.Message().data(1, "").integer(2, 18))
    for label, k, expected in (("taken", 1, [16, 20]), ("not taken", 0, [-19, -18])):
        m = onnx.Model(opset=18, domains=["test"])
        m.input("x", FLOAT, [2])
        m.input("k", BOOL, [1])
        m.node("Choose", ["k", "x"], ["first"], domain="test")
        m.node("Choose", ["k", "first"], ["y"], domain="test")
        m.output("y", FLOAT, [2])
        m.functions.append(f)
        w.gives(f"graphs in a function, {label}", m, {"x": [1, 2], "k": [k]}, {"y": expected})


def empty_past(w):
    """Attention whose past has no positions is attention without a past."""
    m = model([("q", FLOAT, [1, 1, 1, 2]), ("k", FLOAT, [1, 1, 1, 2]), ("v", FLOAT, [1, 1, 1, 2])], ["y"],
              ("Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "present_k", "present_v"]),
              constants=[("pk", FLOAT, [1, 1, 0, 2], []), ("pv", FLOAT, [1, 1, 0, 2], [])], opset=23)
    w.gives("an empty past", m, {"q": [1, 2], "k": [3, 4], "v": [5, 6]}, {"y": [5, 6]})


def known_regions(w):
    """Regions of a known image are pooled while the model is converted."""
    m = model(X, ["y"], ("MaxRoiPool", ["image", "rois"], ["p"], {"pooled_shape": [1, 1]}), ("Add", ["x", "p"], ["y"]),
              constants=[("image", FLOAT, [1, 1, 2, 2], [1, 2, 3, 4]), ("rois", FLOAT, [1, 5], [0, 0, 0, 1, 0])])
    container = w.gives("a known image", m, {"x": [1, -1]}, {"y": [3, 1]})
    w.checks.equal("a known image: ops", op_types(container) if container else None, ["Eltwise_Binary"])


def nothing_left(w):
    """Operators that have nothing to do leave no op."""
    m = model(X, ["y"], ("Resize", ["x", "", "", "s"], ["r"]), ("Mean", ["r"], ["m"]),
              ("Split", ["m"], ["p"], {"num_outputs": 1}), ("Neg", ["p"], ["y"]), constants=[("s", INT64, [1], [2])])
    container = w.gives("one Neg", m, {"x": [3, -5]}, {"y": [-3, 5]})
    if container:
        w.checks.equal("one Neg: ops", op_types(container), ["Eltwise_Unary"])


def tied_weights(w):
    """An embedding that is, transposed, the last product's weights is stored once."""
    rows, depth, ids = 40, 32, [3, 39]
    table = [[(7 * i + 3 * j) % 11 - 5 for j in range(depth)] for i in range(rows)]
    m = model([("ids", INT64, [2])], ["y"], ("Gather", ["table", "ids"], ["e"]), ("Relu", ["e"], ["r"]),
              ("Transpose", ["table"], ["t"], {"perm": [1, 0]}), ("MatMul", ["r", "t"], ["y"]),
              constants=[("table", FLOAT, [rows, depth], sum(table, []))])
    expected = [sum(max(a, 0) * b for a, b in zip(table[i], row)) for i in ids for row in table]
    container = w.gives("tied weights", m, {"ids": ids}, {"y": expected})
    if container:
        readers = [op.type for op in container.ops if "table" in op.inputs]
        w.checks.equal("tied weights: readers", readers, ["Gather", "FullyConnected"])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in (conditions, loops, scans, sequences, declarations, orders_of_outputs, lines, wrapping,
                     declared_dims, shapes, strings, large_words, masks, transposed_convolutions, functions, empty_past,
                     known_regions, nothing_left, tied_weights):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(w)
    checks.finish()


main()
