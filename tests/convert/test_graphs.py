# SPDX-License-Identifier: Apache-2.0
"""Models whose inputs, outputs and constants meet in unusual ways, converted and executed. Expected results are computed
by hand."""

import sys
import tempfile

from conversion import Workshop, chain, onnx, op_types, scaled, scaling, udo
from checks import Checks


def tensors_of(container, kind):
    return [t.name for t in container.tensors.values() if t.kind == kind] if container else None


def initializer_and_input(w):
    """Older models list initializers among the inputs: they are constants all the same."""
    m = onnx.Model(ir_version=3, opset=8)
    m.input("x", onnx.FLOAT, [2])
    m.input("w", onnx.FLOAT, [2])
    m.tensor("w", onnx.FLOAT, [2], [10, 20])
    m.node("Add", ["x", "w"], ["y"])
    m.output("y", onnx.FLOAT, [2])
    container = w.gives("initializer and input", m, {"x": [1, 2]}, {"y": [11, 22]})
    w.checks.equal("initializer and input: inputs", tensors_of(container, "APP_WRITE"), ["x"])
    w.fails("initializer is no input", 2, ["no input w", "the graph inputs are: x"], m, "-d", "w", "2")


def input_that_is_output(w):
    """A container's tensor is one or the other."""
    m = onnx.Model(ir_version=8, opset=13)
    m.input("x", onnx.FLOAT, [2])
    m.node("Relu", ["x"], ["y"])
    m.output("y", onnx.FLOAT, [2])
    m.output("x", onnx.FLOAT, [2])
    w.fails("input that is an output", 1, ["x is a graph input and a graph output under one name"], m)


FUNCTION_DOMAIN = "org.example"


def with_function(model):
    """org.example::Twice(v) = v + v · factor, with an attribute."""
    def call(op_type, inputs, output, *attributes):
        n = onnx.Message()
        for value in inputs:
            n.data(1, value)
        n.data(2, output).data(4, op_type)
        for attribute in attributes:
            n.message(5, attribute)
        return n

    f = onnx.Message().data(1, "Twice").data(4, "v").data(5, "r").data(6, "factor").data(10, FUNCTION_DOMAIN)
    reference = onnx.Message().data(1, "value_float").data(21, "factor").integer(20, 1)
    f.message(7, call("Constant", [], "k", reference))
    f.message(7, call("Mul", ["v", "k"], "t"))
    f.message(7, call("Add", ["v", "t"], "r"))
    f.message(9, onnx.Message().data(1, "").integer(2, 13))
    save = model.save

    def save_with_function(path):
        save(path)
        with open(path, "ab") as out:  # the fields of a message may come in any order
            out.writelines(onnx.Message().message(25, f).parts)

    model.save = save_with_function
    return model


def functions(w):
    def model():
        m = onnx.Model(opset=13, domains=[FUNCTION_DOMAIN])
        m.input("x", onnx.FLOAT, [2])
        m.node("Twice", ["x"], ["a"], name="call1", domain=FUNCTION_DOMAIN, factor=2.0)
        m.node("Twice", ["a"], ["y"], name="call2", domain=FUNCTION_DOMAIN, factor=-0.5)
        m.output("y", onnx.FLOAT, [2])
        return with_function(m)

    container = w.gives("inlined function", model(), {"x": [2, -4]}, {"y": [3, -6]})
    w.checks.equal("inlined function: ops", container and len(container.ops), 4)
    scalar = [{"name": "factor", "data_type": "FLOAT_32"}]
    claimed, _ = w.convert("claimed function", model(), "-udo",
                           w.config(udo("Twice", domain=FUNCTION_DOMAIN, scalar_params=scalar)))
    if claimed:
        w.checks.equal("claimed function", [(op.type, op.name, op.params["factor"].value) for op in claimed.ops],
                       [("Twice", "call1", 2.0), ("Twice", "call2", -0.5)])
    elsewhere = w.gives("function of another domain", model(), {"x": [2, -4]}, {"y": [3, -6]}, "-udo",
                        w.config(udo("Twice", domain="elsewhere", scalar_params=scalar)))
    w.checks.equal("function of another domain: ops", elsewhere and len(elsewhere.ops), 4)
    done = w.converter("-i", w.save(model()), "--dry_run")
    w.checks.check("dry run looks into functions", "6 ops: 6 native" in done.stdout, done.stdout)


def constant_forms(w):
    """y = x op c for a constant of every form."""
    for label, op_type, form, expected in (
            ("value", "Add", {"value": onnx.tensor("", onnx.FLOAT, [2], [1, 2])}, [4, 6]),
            ("value, one element", "Add", {"value": onnx.tensor("", onnx.FLOAT, [], [1])}, [4, 5]),
            ("value_float", "Mul", {"value_float": 0.5}, [1.5, 2]),
            ("value_floats", "Sub", {"value_floats": [1.0, 8.0]}, [2, -4])):
        m = onnx.Model()
        m.input("x", onnx.FLOAT, [2])
        m.node("Constant", [], ["c"], **form)
        m.node(op_type, ["x", "c"], ["y"])
        m.output("y", onnx.FLOAT, [2])
        w.gives(f"Constant {label}", m, {"x": [3, 4]}, {"y": expected})
    for label, form, expected in (("value_int", {"value_int": 1}, [4]), ("value_ints", {"value_ints": [1, 0]}, [4, 3])):
        m = onnx.Model()
        m.input("x", onnx.FLOAT, [2])
        m.node("Constant", [], ["c"], **form)
        m.node("Gather", ["x", "c"], ["y"], axis=0)
        m.output("y", onnx.FLOAT, [] if label == "value_int" else [2])
        w.gives(f"Constant {label}", m, {"x": [3, 4]}, {"y": expected})
    for label, form in (("value_string", {"value_string": "abc"}), ("value_strings", {"value_strings": ["abc", "d"]})):
        m = chain("Relu")
        m.node("Constant", [], ["c"], **form)
        w.gives(f"Constant {label}, unused", m, {"x": [3, -4]}, {"y": [3, 0]})
    sparse = onnx.Model()
    sparse.input("x", onnx.FLOAT, [2])
    sparse.node("Constant", [], ["c"], sparse_value=onnx.Sparse("", onnx.FLOAT, [2], {1: 5}))
    sparse.graph.message(15, onnx.Sparse("s", onnx.FLOAT, [3, 2], {3: 2, 4: 10}))
    sparse.node("Add", ["x", "c"], ["a"])
    sparse.node("Add", ["a", "s"], ["y"])
    sparse.output("y", onnx.FLOAT, [3, 2])
    w.gives("sparse constants", sparse, {"x": [1, 2]}, {"y": [1, 7, 1, 9, 11, 7]})
    empty = onnx.Model()
    empty.input("x", onnx.FLOAT, [2])
    empty.node("Constant", [], ["c"], name="hollow")
    empty.node("Add", ["x", "c"], ["y"])
    empty.output("y", onnx.FLOAT, [2])
    w.fails("Constant of nothing", 1, ["hollow", "there is no value"], empty)


def output_models():
    """(label, nodes, outputs, results for x = [3, -4])"""
    constant = ("c", [7, 8])
    yield "Identity of an input", [("Identity", "x", "y")], ["y"], {"y": [3, -4]}
    yield "initializer as output", [("Relu", "x", "y")], ["y", "c"], {"y": [3, 0], "c": constant[1]}
    yield "Identity of a constant", [("Relu", "x", "y"), ("Identity", "c", "z")], ["y", "z"], {"y": [3, 0], "z": [7, 8]}
    yield ("Identity of another output", [("Relu", "x", "y"), ("Identity", "y", "z")], ["y", "z"],
           {"y": [3, 0], "z": [3, 0]})
    yield "Identity first", [("Relu", "x", "y"), ("Identity", "y", "z")], ["z", "y"], {"y": [3, 0], "z": [3, 0]}
    yield ("two Identities", [("Relu", "x", "a"), ("Identity", "a", "y"), ("Identity", "a", "z")], ["y", "z"],
           {"y": [3, 0], "z": [3, 0]})
    yield ("chain of Identities", [("Relu", "x", "a"), ("Identity", "a", "b"), ("Identity", "b", "y")], ["y", "b", "a"],
           {"y": [3, 0], "b": [3, 0], "a": [3, 0]})
    yield ("output read further", [("Relu", "x", "y"), ("Neg", "y", "z")], ["y", "z"], {"y": [3, 0], "z": [-3, 0]})
    yield ("Identity of an output read further", [("Relu", "x", "y"), ("Identity", "y", "i"), ("Neg", "i", "z")],
           ["y", "z"], {"y": [3, 0], "z": [-3, 0]})
    yield ("two Identities of an input", [("Identity", "x", "y"), ("Identity", "x", "z")], ["y", "z"],
           {"y": [3, -4], "z": [3, -4]})


def outputs(w):
    for label, nodes, names, expected in output_models():
        m = onnx.Model()
        m.input("x", onnx.FLOAT, [2])
        m.tensor("c", onnx.FLOAT, [2], [7, 8])
        for op_type, source, target in nodes:
            m.node(op_type, [source], [target], name=f"{target}_node")
        for name in names:
            m.output(name, onnx.FLOAT, [2])
        container = w.gives(label, m, {"x": [3, -4]}, expected)
        if container:
            w.checks.equal(f"{label}: outputs", sorted(tensors_of(container, "APP_READ")), sorted(names))


def spatial_outputs(w):
    """The same with convolutions, whose results the container keeps channels-last: x has channels 1 2 3 and 4 5 6."""
    last, twice = [1, 4, 2, 5, 3, 6], [2, 8, 4, 10, 6, 12]
    for label, args, x, y in (("channels-last", [], last, twice),
                              ("preserved", ["--preserve_io", "layout"], [1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12])):
        m = scaled()
        m.node("Identity", ["y"], ["z"])
        m.node("Relu", ["y"], ["r"])
        m.node("Identity", ["x"], ["i"])
        for name in ("z", "r", "i"):
            m.output(name, onnx.FLOAT, [1, 2, 1, 3])
        w.gives(f"spatial outputs, {label}", m, {"x": x}, {"y": y, "z": y, "r": y, "i": x}, *args)


def output_twice(w):
    m = chain("Relu", dims=[2])
    m.output("y", onnx.FLOAT, [2])
    container = w.gives("output listed twice", m, {"x": [3, -4]}, {"y": [3, 0]})
    w.checks.equal("output listed twice: outputs", tensors_of(container, "APP_READ"), ["y"])


def undefined_output(w):
    m = chain("Relu")
    m.output("ghost", onnx.FLOAT, [1])
    w.fails("undefined output", 1, ["ghost"], m)


def node_without_outputs(w):
    """Nothing needs it, so it goes away before it is looked at; where it is kept it cannot be converted."""
    m = chain("Relu")
    m.node("Neg", ["x"], [], name="idle")
    w.gives("a node without outputs", m, {"x": [3, -4]}, {"y": [3, 0]})
    w.fails("a kept node without outputs", 1, ["node 'idle'", "the node has no outputs"], m, "--keep_disconnected_nodes")


def udo_places(w):
    """A UDO at both ends and between; its results may be graph outputs and be read further."""
    config = w.config(udo("Thing"), udo("Relu"))
    m = chain("Thing", "Relu", "Thing")
    m.output("t0", onnx.FLOAT, [1, 2])
    container, _ = w.convert("UDOs at the ends", m, "-udo", config)
    if container:
        w.checks.equal("UDOs at the ends", [(op.type, op.inputs, op.outputs, op.package) for op in container.ops],
                       [("Thing", ["x"], ["t0"], "P"), ("Relu", ["t0"], ["t1"], "P"), ("Thing", ["t1"], ["y"], "P")])
        w.checks.equal("UDOs at the ends: outputs", sorted(tensors_of(container, "APP_READ")), ["t0", "y"])
    native = chain("Neg", "Thing", "Abs")
    native.output("t0", onnx.FLOAT, [1, 2])
    container, _ = w.convert("an output that a UDO reads", native, "-udo", config)
    if container:
        w.checks.equal("an output that a UDO reads", [(op.inputs, op.outputs) for op in container.ops],
                       [(["x"], ["t0"]), (["t0"], ["t1"]), (["t1"], ["y"])])
        w.checks.equal("an output that a UDO reads: outputs", sorted(tensors_of(container, "APP_READ")), ["t0", "y"])


def layouts_of_chain(w):
    """convolution -> NCHW -> NHWC -> none -> NCHW -> convolution."""
    m = onnx.Model(domains=["test"])
    m.input("x", onnx.FLOAT, [1, 2, 3, 4])
    scaling(m, "x", "a")
    for op_type, source, target in (("First", "a", "b"), ("Last", "b", "c"), ("Free", "c", "d"), ("First", "d", "e")):
        m.node(op_type, [source], [target], name=target, domain="test")
    scaling(m, "e", "y")
    m.output("y", onnx.FLOAT, [1, 2, 3, 4])
    config = w.config(udo("First", "NCHW"), udo("Last", "NHWC"), udo("Free"))
    container, messages = w.convert("chain of layouts", m, "-udo", config)
    if not container:
        return
    w.checks.equal("chain of layouts", op_types(container),
                   ["Conv2d", "Transpose", "First", "Transpose", "Last", "Free", "Transpose", "First", "Transpose",
                    "Conv2d"])
    seen = {op.name: container.tensors[op.inputs[0]].dims for op in container.ops}
    w.checks.equal("chain of layouts: dims", [seen[name] for name in "bcde"],
                   [[1, 2, 3, 4], [1, 3, 4, 2], [1, 3, 4, 2], [1, 2, 3, 4]])
    w.checks.equal("chain of layouts: warnings", messages.count("is inserted for tensor"), 4)


def graph_input_of_nchw(w):
    """A graph input that only NCHW UDOs read is brought to their order once, or stays in it when it is told to."""
    m = onnx.Model(domains=["test"])
    m.input("x", onnx.FLOAT, [1, 2, 3, 4])
    m.node("First", ["x"], ["a"], domain="test")
    m.node("First", ["x"], ["b"], domain="test")
    m.node("Both", ["a", "b"], ["y"], domain="test")
    m.output("y", onnx.FLOAT, [1, 2, 3, 4])
    config = w.config(udo("First", "NCHW"), udo("Both", "NCHW", inputs=2))
    container, messages = w.convert("NCHW input", m, "-udo", config)
    if container:
        w.checks.equal("NCHW input: ops", op_types(container), ["Transpose", "First", "First", "Both"])
        w.checks.equal("NCHW input: dims", container.tensors["x"].dims, [1, 3, 4, 2])
        w.checks.equal("NCHW input: read", [op.inputs[0] for op in container.ops[1:3]], ["x.nchw"] * 2)
        w.checks.equal("NCHW input: warnings", messages.count("is inserted"), 1)
        w.checks.check("NCHW input: way out", "--input_layout x NONTRIVIAL" in messages, messages)
    for args in (("-l", "x", "NONTRIVIAL"), ("--io_layout", "model")):
        container, messages = w.convert(f"NCHW input {args}", m, "-udo", config, *args)
        if container:
            w.checks.equal(f"NCHW input {args}: ops", op_types(container), ["First", "First", "Both"])
            w.checks.equal(f"NCHW input {args}: dims", container.tensors["x"].dims, [1, 2, 3, 4])
            w.checks.check(f"NCHW input {args}: no warning", "is inserted" not in messages, messages)
    last = w.config(udo("First", "NHWC"), udo("Both", "NHWC", inputs=2))
    container, _ = w.convert("NHWC input", m, "-udo", last)
    if container:
        udos = [op for op in container.ops if op.type in ("First", "Both")]
        seen = [[container.tensors[name].dims for name in op.inputs] for op in udos]
        w.checks.equal("NHWC input: dims", seen, [[[1, 3, 4, 2]], [[1, 3, 4, 2]], [[1, 3, 4, 2]] * 2])


def output_and_udo_input(w):
    """A convolution's result that is a graph output and goes into an NCHW UDO."""
    m = scaled()
    m.node("First", ["y"], ["z"], domain="test")
    m.output("z", onnx.FLOAT, [1, 2, 1, 3])
    for args, dims in (([], [1, 1, 3, 2]), (["--preserve_io", "layout"], [1, 2, 1, 3])):
        container, _ = w.convert(f"output and UDO input {args}", m, "-udo", w.config(udo("First", "NCHW")), *args)
        if not container:
            continue
        first = next(op for op in container.ops if op.type == "First")
        y = container.tensors["y"]
        w.checks.equal(f"output and UDO input {args}: output", (y.kind, y.dims), ("APP_READ", dims))
        w.checks.equal(f"output and UDO input {args}: UDO", container.tensors[first.inputs[0]].dims, [1, 2, 1, 3])
        w.checks.equal(f"output and UDO input {args}: outputs", sorted(tensors_of(container, "APP_READ")), ["y", "z"])
        if args:  # one permute serves the output and the UDO
            w.checks.equal("output and UDO input: shared", first.inputs, ["y"])


def main():
    checks = Checks()
    parts = (initializer_and_input, input_that_is_output, functions, constant_forms, outputs,
             spatial_outputs, output_twice, undefined_output, node_without_outputs, udo_places, layouts_of_chain,
             graph_input_of_nchw, output_and_udo_input)
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in parts:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(w)
    checks.finish()


main()
