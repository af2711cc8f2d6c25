# SPDX-License-Identifier: Apache-2.0
"""If, Loop and Scan: branches taken, loops unrolled; and sequences and optionals, which leave nothing in the container."""

import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "convert")]
from conversion import Workshop, onnx  # noqa: E402
from checks import Checks  # noqa: E402

BOOL, FLOAT, INT64 = onnx.BOOL, onnx.FLOAT, onnx.INT64


def graph(*outputs, inputs=(), nodes=(), constants=()):
    """A graph that a node holds; inputs and outputs are names, or (name, type, dims)."""
    g = onnx.Model()
    for name in inputs:
        g.input(*(name if isinstance(name, tuple) else (name, FLOAT, None)))
    for name, data_type, dims, values in constants:
        g.tensor(name, data_type, dims, values)
    for op, sources, targets, *attributes in nodes:
        g.node(op, sources, targets, **(attributes[0] if attributes else {}))
    for name in outputs:
        g.output(*(name if isinstance(name, tuple) else (name, FLOAT, None)))
    return g


def model(inputs, outputs, *nodes, constants=(), opset=18):
    m = onnx.Model(opset=opset)
    for name, data_type, dims in inputs:
        m.input(name, data_type, dims)
    for name, data_type, dims, values in constants:
        m.tensor(name, data_type, dims, values)
    for op, sources, targets, *attributes in nodes:
        m.node(op, sources, targets, **(attributes[0] if attributes else {}))
    for name, data_type in outputs:
        m.output(name, data_type, None)
    return m


X, Y = [("x", FLOAT, [2])], [("y", FLOAT)]


def types_of(container):
    return [op.type for op in container.ops] if container else None


# ---- If ----


def branches(w):
    # Both branches read x from around them, and both call their value v.
    one = graph("v", nodes=[("Neg", ["x"], ["v"])])
    other = graph("v", nodes=[("Add", ["x", "c"], ["t"]), ("Mul", ["t", "x"], ["v"])], constants=[("c", FLOAT, [1], [1])])
    taken = {"then_branch": one, "else_branch": other}
    for condition, expected, ops in ((1, [-3, 5], ["Eltwise_Unary"]), (0, [12, 20], ["Eltwise_Binary"] * 2)):
        m = model(X, Y, ("If", ["k"], ["y"], taken), constants=[("k", BOOL, [], [condition])])
        container = w.gives(f"If {condition}", m, {"x": [3, -5]}, {"y": expected})
        w.checks.equal(f"If {condition}: ops", types_of(container), ops)
    # Not known: both are computed.
    m = model([*X, ("k", BOOL, [1])], Y, ("If", ["k"], ["y"], taken))
    w.gives("If of an input, true", m, {"x": [3, -5], "k": [1]}, {"y": [-3, 5]})
    w.gives("If of an input, false", m, {"x": [3, -5], "k": [0]}, {"y": [12, 20]})
    longer = graph("v", nodes=[("Concat", ["x", "x"], ["v"], {"axis": 0})])
    m = model([*X, ("k", BOOL, [])], Y, ("If", ["k"], ["y"], {"then_branch": one, "else_branch": longer}))
    w.fails("branches of other shapes", 1, ["differ in the type of output 0", "--freeze_input k=FILE"], m)
    attributes = {"then_branch": one, "else_branch": graph("v", nodes=[("Strange", ["x"], ["v"])])}
    m = model([*X, ("k", BOOL, [])], Y, ("If", ["k"], ["y"], attributes))
    w.fails("a branch that cannot be converted", 1, ["op Strange", "a branch cannot be converted", "--freeze_input k=FILE"], m)
    # What a branch that is not taken holds does not matter, and is reported where it is taken.
    strange = graph("v", nodes=[("Strange", ["x"], ["v"])])
    attributes = {"then_branch": one, "else_branch": strange}
    m = model(X, Y, ("If", ["k"], ["y"], attributes), constants=[("k", BOOL, [], [1])])
    w.gives("unknown op in the other branch", m, {"x": [3, -5]}, {"y": [-3, 5]})
    m = model(X, Y, ("If", ["k"], ["y"], attributes), constants=[("k", BOOL, [], [0])])
    w.fails("unknown op in the branch taken", 1, ["op Strange", "version 18"], m)
    done = w.converter("-i", w.save(m), "--dry_run")
    w.checks.check("a dry run lists the ops of branches", "Strange" in done.stdout and "--udo_stub FILE" in done.stdout, done.stdout)
    # A branch may hand through what is around it, an input here, and nested ones see all graphs around them.
    inner = graph("w", nodes=[("Add", ["x", "t"], ["w"])])
    nested = graph("v", nodes=[("Abs", ["x"], ["t"]), ("If", ["k"], ["v"], {"then_branch": inner, "else_branch": inner})])
    m = model(X, [("y", FLOAT), ("z", FLOAT)], ("If", ["k"], ["y"], {"then_branch": nested, "else_branch": one}),
              ("If", ["k"], ["z"], {"then_branch": graph("x"), "else_branch": one}), constants=[("k", BOOL, [], [1])])
    w.gives("nested", m, {"x": [3, -5]}, {"y": [6, 0], "z": [3, -5]})
    live = model(X, Y, ("Neg", ["x"], ["n"]), ("If", ["k"], ["y"], {"then_branch": graph("v", nodes=[("Abs", ["n"], ["v"])]),
                                                                    "else_branch": one}), constants=[("k", BOOL, [], [1])])
    w.gives("a value that only a branch reads", live, {"x": [3, -5]}, {"y": [3, 5]})


# ---- Loop ----

BODY_INPUTS = [("i", INT64, []), ("go", BOOL, []), "s"]


def loops(w):
    # s = s * 2 + i, collected after each trip; four trips from x.
    doubled = [("Cast", ["i"], ["f"], {"to": FLOAT}), ("Mul", ["s", "two"], ["d"]), ("Add", ["d", "f"], ["t"]),
               ("Identity", ["go"], ["on"])]
    body = graph("on", "t", "t", inputs=BODY_INPUTS, nodes=doubled, constants=[("two", FLOAT, [], [2])])
    m = model(X, [("y", FLOAT), ("all", FLOAT)], ("Loop", ["n", "", "x"], ["y", "all"], {"body": body}),
              constants=[("n", INT64, [], [4])])
    w.gives("Loop", m, {"x": [1, -1]}, {"y": [27, -5], "all": [2, -2, 5, -3, 12, -4, 27, -5]})
    # It ends when its condition says so: while i < 2.
    ends = graph("on", "t", inputs=BODY_INPUTS, nodes=[*doubled[:3], ("Less", ["i", "last"], ["on"])],
                 constants=[("two", FLOAT, [], [2]), ("last", INT64, [], [2])])
    for label, sources in (("while", ["", "k", "x"]), ("while, limited", ["n", "k", "x"])):
        m = model(X, Y, ("Loop", sources, ["y"], {"body": ends}), constants=[("n", INT64, [], [9]), ("k", BOOL, [], [1])])
        w.gives(label, m, {"x": [1, -1]}, {"y": [12, -4]})
    m = model(X, Y, ("Loop", ["n", "k", "x"], ["y"], {"body": ends}), constants=[("n", INT64, [], [9]), ("k", BOOL, [], [0])])
    w.gives("not even once", m, {"x": [1, -1]}, {"y": [1, -1]})
    m = model([*X, ("n", INT64, []), ("k", BOOL, [])], Y, ("Loop", ["n", "k", "x"], ["y"], {"body": ends}))
    w.fails("trips of an input", 1, ["input 0 (M)", "--freeze_input n=FILE", "input 1 (cond)", "--freeze_input k=FILE"], m)
    depends = graph("on", "t", inputs=BODY_INPUTS, nodes=[*doubled[:3], ("ReduceSum", ["t"], ["r"], {"keepdims": 0}),
                                                         ("Less", ["r", "two"], ["on"])], constants=[("two", FLOAT, [], [2])])
    m = model(X, Y, ("Loop", ["n", "k", "x"], ["y"], {"body": depends}), constants=[("n", INT64, [], [9]), ("k", BOOL, [], [1])])
    w.fails("condition of values", 1, ["the condition after trip 0 is not a constant", "--freeze_input x=FILE"], m)
    m = model(X, Y, ("Loop", ["", "", "x"], ["y"], {"body": body}))
    w.fails("endless", 1, ["expand to more than 100000 nodes"], m)
    declared = graph("on", "t", ("t", FLOAT, [2]), inputs=BODY_INPUTS, nodes=doubled, constants=[("two", FLOAT, [], [2])])
    m = model(X, [("y", FLOAT), ("n_all", INT64)], ("Loop", ["n", "", "x"], ["y", "all"], {"body": declared}),
              ("Shape", ["all"], ["n_all"]), constants=[("n", INT64, [], [0])])
    w.gives("no trips", m, {"x": [1, -1]}, {"y": [1, -1], "n_all": [0, 2]})
    m = model(X, [("y", FLOAT), ("all", FLOAT)], ("Loop", ["n", "", "x"], ["y", "all"], {"body": body}),
              constants=[("n", INT64, [], [0])])
    w.fails("no trips of unknown shape", 1, ["makes no trip", "not declared"], m)


# ---- Scan ----


def scans(w):
    # Running sums along the scanned axis; x is 2 x 3.
    x = [("x", FLOAT, [2, 3])]
    sums = graph("t", "t", inputs=["s", "e"], nodes=[("Add", ["s", "e"], ["t"])])
    outputs = [("last", FLOAT), ("all", FLOAT)]
    values = {"x": [1, 2, 3, 10, 20, 30]}
    for label, start, attributes, last, everything in (
            ("rows", [3], {}, [11, 22, 33], [1, 2, 3, 11, 22, 33]),
            ("rows backwards", [3], {"scan_input_directions": [1]}, [11, 22, 33], [10, 20, 30, 11, 22, 33]),
            ("rows, results backwards", [3], {"scan_output_directions": [1]}, [11, 22, 33], [11, 22, 33, 1, 2, 3]),
            ("columns", [2], {"scan_input_axes": [1]}, [6, 60], [1, 10, 3, 30, 6, 60]),
            ("columns, last axis", [2], {"scan_input_axes": [-1], "scan_output_axes": [1]}, [6, 60], [1, 3, 6, 10, 30, 60])):
        m = model(x, outputs, ("Scan", ["zero", "x"], ["last", "all"], {"body": sums, "num_scan_inputs": 1, **attributes}),
                  constants=[("zero", FLOAT, start, [0] * start[0])])
        w.gives(f"Scan of {label}", m, values, {"last": last, "all": everything})
    # Opset 8 has a batch in front of everything.
    batched = model([("x", FLOAT, [2, 3, 1])], outputs,
                    ("Scan", ["", "zero", "x"], ["last", "all"], {"body": sums, "num_scan_inputs": 1}),
                    constants=[("zero", FLOAT, [2, 1], [0, 100])], opset=8)
    w.gives("Scan of opset 8", batched, values, {"last": [6, 160], "all": [1, 3, 6, 110, 130, 160]})
    m = model([*x, ("z", FLOAT, [4, 3])], [("y", FLOAT)],
              ("Scan", ["x", "z"], ["y"], {"body": graph("t", inputs=["a", "e"], nodes=[("Add", ["a", "e"], ["t"])]),
                                           "num_scan_inputs": 2}))
    w.fails("Scan of other lengths", 1, ["2 and 4 elements"], m)
    m = model(x, outputs, ("Scan", ["x"], ["last", "all"], {"body": sums, "num_scan_inputs": 2}))
    w.fails("Scan of more than there is", 1, ["num_scan_inputs", "2 of 1 inputs"], m)


# ---- sequences and optionals ----


def sequences(w):
    a, b = ("a", FLOAT, [2]), ("b", FLOAT, [2])
    given = {"a": [1, 2], "b": [3, 4]}
    first, last = ("zero", INT64, [], [0]), ("end", INT64, [], [-1])
    made = ("SequenceConstruct", ["a", "b"], ["s"])
    for label, expected, *nodes in (
            ("at", [1, 2], made, ("SequenceAt", ["s", "zero"], ["y"])),
            ("at the end", [3, 4], made, ("SequenceAt", ["s", "end"], ["y"])),
            ("insert", [3, 4, 1, 2, 3, 4], made, ("SequenceInsert", ["s", "b", "zero"], ["t"]),
             ("ConcatFromSequence", ["t"], ["y"], {"axis": 0})),
            ("insert before the last", [1, 2, 1, 2, 3, 4], made, ("SequenceInsert", ["s", "a", "end"], ["t"]),
             ("ConcatFromSequence", ["t"], ["y"], {"axis": 0})),
            ("append", [1, 2, 3, 4, 1, 2], made, ("SequenceInsert", ["s", "a"], ["t"]),
             ("ConcatFromSequence", ["t"], ["y"], {"axis": 0})),
            ("stack", [1, 3, 2, 4], made, ("ConcatFromSequence", ["s"], ["y"], {"axis": -1, "new_axis": 1})),
            ("erase", [3, 4], made, ("SequenceErase", ["s", "zero"], ["t"]), ("SequenceAt", ["t", "zero"], ["y"])),
            ("erase the last", [1, 2], made, ("SequenceErase", ["s"], ["t"]), ("SequenceAt", ["t", "end"], ["y"])),
            ("from nothing", [1, 2], ("SequenceEmpty", [], ["e"]), ("SequenceInsert", ["e", "a"], ["s"]),
             ("Identity", ["s"], ["t"]), ("SequenceAt", ["t", "zero"], ["y"])),
            ("split", [2], ("SplitToSequence", ["a"], ["s"], {"axis": 0}), ("SequenceAt", ["s", "end"], ["y"])),
            ("split without the axis", [2, 1], ("SplitToSequence", ["a"], ["s"], {"axis": 0, "keepdims": 0}),
             ("SequenceAt", ["s", "end"], ["t"]), ("SequenceAt", ["s", "zero"], ["u"]), ("SequenceConstruct", ["t", "u"], ["v"]),
             ("ConcatFromSequence", ["v"], ["y"], {"axis": 0, "new_axis": 1})),
            ("map", [1, 4, 9, 16], made, ("SequenceMap", ["s"], ["t"], {
                "body": graph("q", inputs=["e"], nodes=[("Mul", ["e", "e"], ["q"])])}),
             ("ConcatFromSequence", ["t"], ["y"], {"axis": 0})),
            ("optional", [1, 2], ("Optional", ["a"], ["o"]), ("OptionalGetElement", ["o"], ["y"]))):
        w.gives(label, model([a, b], Y, *nodes, constants=[first, last]), given, {"y": expected})
    w.gives("length", model([a, b], [("y", INT64)], made, ("SequenceLength", ["s"], ["y"])), given, {"y": [2]})
    split = model([("x", FLOAT, [5])], [("y", FLOAT), ("z", FLOAT)], ("SplitToSequence", ["x", "two"], ["s"], {"axis": 0}),
                  ("SequenceAt", ["s", "end"], ["y"]), ("SplitToSequence", ["x", "parts"], ["t"]),
                  ("SequenceAt", ["t", "end"], ["z"]),
                  constants=[last, ("two", INT64, [], [2]), ("parts", INT64, [3], [1, 0, 4])])
    w.gives("split by sizes", split, {"x": [1, 2, 3, 4, 5]}, {"y": [5], "z": [2, 3, 4, 5]})
    carried = graph("on", "t", inputs=[("i", INT64, []), ("go", BOOL, []), "s"],
                    nodes=[("SequenceInsert", ["s", "a"], ["t"]), ("Identity", ["go"], ["on"])])
    m = model([a], Y, ("SequenceEmpty", [], ["e"]), ("Loop", ["n", "", "e"], ["s"], {"body": carried}),
              ("ConcatFromSequence", ["s"], ["y"], {"axis": 0}), constants=[("n", INT64, [], [3])])
    w.gives("carried through a Loop", m, {"a": [1, 2]}, {"y": [1, 2] * 3})
    for label, words, *nodes in (
            ("outside", ["position 2 is outside a sequence of 2"], made, ("SequenceAt", ["s", "two"], ["y"])),
            ("unknown position", ["--freeze_input p=FILE"], made, ("SequenceAt", ["s", "p"], ["y"])),
            ("a sequence for a tensor", ["input 0 is a sequence instead of a tensor"], made, ("Neg", ["s"], ["y"])),
            ("a tensor for a sequence", ["input 0 is not a sequence"], ("SequenceAt", ["a", "zero"], ["y"])),
            ("a sequence as a result", ["graph output y is a sequence"], ("SequenceConstruct", ["a", "b"], ["y"])),
            ("nothing in it", ["the optional holds nothing"], ("Optional", [], ["o"]), ("OptionalGetElement", ["o"], ["y"])),
            ("an empty one", ["the sequence is empty"], ("SequenceEmpty", [], ["s"]),
             ("ConcatFromSequence", ["s"], ["y"], {"axis": 0}))):
        w.fails(label, 1, words, model([a, b, ("p", INT64, [])], Y, *nodes, constants=[first, ("two", INT64, [], [2])]))
    for label, nodes, expected in (("there", [("Optional", ["a"], ["o"])], 1), ("not there", [("Optional", [], ["o"])], 0)):
        m = model([a], [("y", BOOL), ("z", FLOAT)], *nodes, ("OptionalHasElement", ["o"], ["y"]), ("Neg", ["a"], ["z"]))
        w.gives(f"has an element: {label}", m, {"a": [1, 2]}, {"y": [bool(expected)], "z": [-1, -2]})


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in (branches, loops, scans, sequences):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(w)
    checks.finish()


main()
