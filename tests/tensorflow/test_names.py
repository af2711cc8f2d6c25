# SPDX-License-Identifier: Apache-2.0
"""What tensors of TensorFlow models are called, "node:0", and by which names options, input lists and reports take them: with
the suffix and without, keys of signatures, and names of the graph around the function that a signature serves."""

import json

from tf_workshop import (Func, Graph, meta_graph, np, run, run_parts, save_bundle, save_meta_graph, save_saved_model,
                         signature, udo)
import onnx_writer as onnx  # on the path that tf_workshop adds
from onnx_writer import Message
from checks import SHARED
from tf_writer import RESOURCE

F = np.float32
BOTH = ("x", "x:0")


def tensors(container, kind):
    return sorted(tensor.name for tensor in container.tensors.values() if tensor.kind == kind)


def ends(container):
    """([inputs], [outputs])"""
    return container and (tensors(container, "APP_WRITE"), tensors(container, "APP_READ"))


# ---- graphs ----


def frozen(dims=(2, 3)):
    """x -> Split -> Sub of its parts, plus a constant that is read through an Identity, times one that is not."""
    g = Graph()
    x = g.placeholder("x", F, list(dims))
    parts = g.node("Split", [g.const("axis", np.int32(0)), x], name="split", num_split=2)
    read = g.node("Identity", [g.const("scope/b", F([10, 20, 30]))], name="scope/b/read")
    g.node("Mul", [g.node("AddV2", [g.node("Sub", [parts[0], parts[1]], name="sub"), read], name="sum"),
                   g.const("k", F([2, 4, 8]))], name="y")
    return g


def names_of_a_graph(w):
    container = w.gives("frozen", frozen(), {"x": [1, 2, 3, 4, 6, 8]}, {"y": [14, 64, 200]})
    if not container:
        return
    w.checks.equal("frozen: ends", ends(container), (["x:0"], ["y:0"]))
    named = {op.name: (op.inputs, op.outputs) for op in container.ops}
    w.checks.equal("frozen: ops", named, {
        "split": (["x:0"], ["split:0", "split:1"]), "sub": (["split:0", "split:1"], ["sub:0"]),
        "sum": (["sub:0", "scope/b/read:0"], ["sum:0"]), "y": (["sum:0", "k:0"], ["y:0"])})
    g = Graph()
    v = g.node("VariableV2", [], name="v", dtype=F, shape=[2])
    g.node("AddV2", [g.placeholder("x", F, [2]), g.node("Identity", [v], name="v/read")], name="y")
    save_meta_graph(w.folder / "net.meta", g)
    save_bundle(w.folder / "net", {"v": F([1, 2])})
    container = w.gives("checkpoint", w.folder / "net.meta", {"x": [3, 4]}, {"y": [4, 6]})
    w.checks.equal("checkpoint: ops", container and [(op.name, op.inputs, op.outputs) for op in container.ops],
                   [("y", ["x:0", "v/read:0"], ["y:0"])])


def readings_of_a_constant(w):
    """A constant goes by the first reading of it, to the end of a chain of Identities."""
    g = Graph()
    x, c = g.placeholder("x", F, [2]), g.const("c", F([1, 2]))
    chain = g.node("Identity", [g.node("StopGradient", [c], name="stop")], name="last")
    other = g.node("Identity", [c], name="other")
    g.node("AddV2", [g.node("AddV2", [x, chain], name="a"), g.node("Mul", [other, x], name="b")], name="y")
    container = w.gives("readings", g, {"x": [3, 4]}, {"y": [7, 14]})
    w.checks.equal("readings: constants", container and tensors(container, "STATIC"), ["last:0"])


def suffixes_in_options(w):
    np.save(w.folder / "one.npy", np.ones(3, F))
    for x in BOTH:
        container, _ = w.convert(f"-d {x}", frozen((None, 3)), "-d", x, "4,3")
        w.checks.equal(f"-d {x}", container and container.tensors["x:0"].dims, [4, 3])
        g = Graph()
        given = g.placeholder("x", F, [3])
        g.node("AddV2", [given, g.placeholder("z", F, [3])], name="y")
        container = w.gives(f"--freeze_input {x}", g, {"z": [1, 2, 3]}, {"y": [2, 3, 4]},
                            f"--freeze_input={x}={w.folder / 'one.npy'}")
        w.checks.equal(f"--freeze_input {x}", ends(container), (["z:0"], ["y:0"]))
        g = Graph()
        g.node("Neg", [g.node("Strange", [g.placeholder("file", F, [3])], name="x")], name="y")
        container, _ = w.convert(f"--input_dtype {x}", g, "-d", "x", "1,2", "--input_dtype", x, "int32")
        w.checks.equal(f"--input_dtype {x}", container and container.tensors["x:0"].dtype, "INT_32")
        g = Graph()
        weights = g.const("w", np.ones((1, 1, 2, 2), F))
        g.node("Conv2D", [g.placeholder("x", F, [1, 2, 3, 4]), weights], name="y", strides=[1, 1, 1, 1], padding="VALID",
               data_format="NCHW")
        for options, dims in ((["--input_layout", x, "NCHW"], [1, 3, 4, 2]), (["--preserve_io", "layout", x], [1, 2, 3, 4])):
            container, _ = w.convert(f"{options}", g, *options)
            w.checks.equal(f"{options}", container and container.tensors["x:0"].dims, dims)
    for name, value in (("split:1", [4, 6, 8]), ("split", [1, 2, 3]), ("split:0", [1, 2, 3])):
        done = w.gives(f"--out_node {name}", frozen(), {"x": [1, 2, 3, 4, 6, 8]}, {name.removesuffix(":0"): value}, "--out_node",
                       name)
        expected = name if ":" in name else f"{name}:0"
        w.checks.equal(f"--out_node {name}: ends", ends(done), (["x:0"], [expected]))
    w.fails("no such input", 2, ["no input z", "the graph inputs are: x"], frozen(), "-d", "z:0", "1")


def names_of_user_defined_ops(w):
    g = Graph()
    thing = g.node("Thing", [g.placeholder("x", F, [1, 2])], name="scope/thing", outputs={"a": F, "b": F})
    g.node("AddV2", [thing[0], thing[1]], name="y")
    definition = udo("Thing")
    definition["outputs"] *= 2
    container, _ = w.convert("udo", g, "-udo", w.config(definition))
    w.checks.equal("udo", container and [(op.name, op.inputs, op.outputs) for op in container.ops if op.package == "P"],
                   [("scope/thing", ["x:0"], ["scope/thing:0", "scope/thing:1"])])
    done = run("udo-check", w.folder / "ops.json", "--model", w.save(g))
    w.checks.check("udo-check: node", "node scope/thing\n" in done.stdout, done.stdout)
    w.checks.check("udo-check: tensors", "x:0" in done.stdout and "scope/thing:1" in done.stdout, done.stdout)


def names_at_execution(w):
    container, _ = w.convert("to execute", frozen())
    if not container:
        return
    raw = w.folder / "x.raw"
    raw.write_bytes(F([1, 2, 3, 4, 6, 8]).tobytes())
    sub = F([-3, -4, -5]).tolist()
    for line, options, file, value in (
            (f"x:={raw}", [], "y:0.raw", [14, 64, 200]), (f"x:0:={raw}", [], "y:0.raw", [14, 64, 200]),
            (f"%sub\nx:0:={raw}", [], "sub:0.raw", sub), (f"%sub:0\nx:={raw}", [], "sub:0.raw", sub),
            (f"#sub\n{raw}", [], "sub:0.raw", sub),
            (f"{raw}", ["--set_output_tensors", "sub"], "sub:0.raw", sub),
            (f"{raw}", ["--set_output_tensors", "sub:0"], "sub:0.raw", sub)):
        (w.folder / "list.txt").write_text(line + "\n")
        out = w.folder / f"out{w.checks.passed}"
        done = run("net-run", "--container", container.path, "--input_list", w.folder / "list.txt", "--output_dir", out, *options)
        found = [path.name for path in (out / "Result_0").iterdir()] if done.returncode == 0 else done.stderr
        if w.checks.equal(f"net-run {line.split(str(raw))[0]!r} {options}", found, [file]):
            w.checks.equal("its numbers", np.fromfile(out / "Result_0" / file, F).tolist(), value)
    for name in ("x", "x:0", "scope/b/read"):
        done = run("dlc-info", "-i", container.path, "--tensor", name)
        w.checks.check(f"dlc-info --tensor {name}", done.returncode == 0 and name in done.stdout, done.stderr)
    for name in ("x:1", "split:2", "scope"):
        done = run("dlc-info", "-i", container.path, "--tensor", name)
        w.checks.equal(f"dlc-info --tensor {name}", done.returncode, 1)


def other_spellings(w):
    """Tensors of other models are found by the other spelling, too, where no tensor has the very name."""
    m = onnx.Model()
    m.input("a", onnx.FLOAT, [1])
    m.input("b", onnx.FLOAT, [1])
    m.input("b:0", onnx.FLOAT, [1])
    m.node("Sum", ["a", "b"], ["t"], name="n")
    m.node("Sub", ["t", "b:0"], ["y"], name="o")
    m.output("y", onnx.FLOAT, [1])
    m.save(w.folder / "m.onnx")
    done = run("onnx-to-dlc", "-i", w.folder / "m.onnx", "-o", w.folder / "m.dlc")
    w.checks.equal(f"onnx: {done.stderr}", done.returncode, 0)
    for i, value in enumerate((1, 10, 100)):
        (w.folder / f"{i}.raw").write_bytes(F([value]).tobytes())
    line = f"a:0:={w.folder}/0.raw b:={w.folder}/1.raw b:0:={w.folder}/2.raw"
    (w.folder / "list.txt").write_text(line + "\n")
    done = run("net-run", "--container", w.folder / "m.dlc", "--input_list", w.folder / "list.txt", "--output_dir", w.folder / "o")
    w.checks.equal(f"the very name comes first {done.stderr}", np.fromfile(w.folder / "o/Result_0/y.raw", F).tolist(), [-89])


# ---- saved models of the first version ----


def first_version(folder):
    """p - q under the keys a and b; the graph has another value of the name a, which is no part of it, and q goes by b."""
    g = Graph()
    p, q = g.placeholder("p", F, [None]), g.placeholder("q", F, [None])
    g.node("Neg", [p], name="a")
    y = g.node("Sub", [p, q], name="difference")
    z = g.node("Mul", [p, q], name="y")
    keys = signature({"a": (p, [None]), "b": (q, [None])}, {"y": (y, [None]), "z": (z, [None])})
    save_saved_model(folder / "first", meta_graph(g, {"serving_default": keys}))
    return folder / "first"


def keys_of_the_first_version(w):
    model = first_version(w.folder)
    fixed = ["-d", "p", "2", "-d", "b", "2"]
    given = {"p": [5, 6], "q": [2, 3]}
    container = w.gives("v1", model, given, {"difference": [3, 3], "y": [10, 18]}, *fixed)
    w.checks.equal("v1: tensors keep their names", ends(container), (["p:0", "q:0"], ["difference:0", "y:0"]))
    for key, name, value in (("z", "y", [10, 18]), ("difference", "difference", [3, 3]), ("a", "a", [-5, -6])):
        one = given if name != "a" else {"p": [5, 6]}
        for spelled in (key, f"{key}:0"):
            w.gives(f"v1: --out_node {spelled}", model, one, {name: value}, *fixed, "--out_node", spelled)
    np.save(w.folder / "two.npy", F([2, 3]))
    container = w.gives("v1: --freeze_input b", model, {"p": [5, 6]}, {"difference": [3, 3]}, *fixed, "--out_node",
                        "difference", f"--freeze_input=b={w.folder / 'two.npy'}")
    w.checks.equal("v1: frozen", ends(container), (["p:0"], ["difference:0"]))
    # The key y is the difference, and the graph has a value y: the key wins, and says so.
    container, messages = w.convert("v1: --out_node y", model, *fixed, "--out_node", "y")
    w.checks.equal("v1: --out_node y", ends(container), (["p:0", "q:0"], ["difference:0"]))
    w.checks.check("v1: y is ambiguous", "warning" in messages and "--out_node y: difference:0 is meant, not y:0" in messages,
                   messages)
    container, messages = w.convert("v1: -d a", model, "-d", "a", "2", "-d", "b", "2", "--out_node", "z")
    w.checks.equal("v1: -d a", ends(container), (["p:0", "q:0"], ["y:0"]))
    w.checks.check("v1: a is ambiguous", "--input_dim a: p:0 is meant, not a:0" in messages, messages)
    w.fails("v1: no key", 2, ["no input c", "the graph inputs are: a, b"], model, "-d", "c", "2")
    w.fails("v1: no output", 2, ["no value or node c", "keys of the signature and last nodes are: y, z"], model, "--out_node", "c")


# ---- functions that signatures serve ----


def second_version(folder, key="input_input", variable="v", first="output"):
    """Two results whose order is not that of the inner call: (x + v) * k and Selu of that. Names are of all kinds: the outer graph
    has a variable, a constant and calls, of which one loads; the function's own call has the name of the outer one."""
    g = Graph()
    x = g.placeholder(f"serving_default_{key}", F, [None, 2])
    handle = g.node("VarHandleOp", [], name=variable, dtype=F, shape=[2], shared_name="v")
    k = g.const("Const", F([2, 3]))
    inner = g.function("__inference__wrapped_model", {"x": F, "v": RESOURCE, "k": F})
    read = inner.node("ReadVariableOp", [inner.args["v"]], name="net/sum/ReadVariableOp", dtype=F)
    total = inner.node("AddV2", [inner.args["x"], read], name="net/sum")
    product = inner.node("Mul", [total, inner.args["k"]], name="net/Const")
    selu = inner.node("Selu", [product], name="net/output/Selu")
    inner.returns(identity=inner.node("Identity", [selu], name="Identity"),
                  identity_1=inner.node("Identity", [product], name="Identity_1"))
    wrapper = g.function("__inference_signature_wrapper", {key: F, "unknown": RESOURCE, "unknown_0": F})
    call = wrapper.node("StatefulPartitionedCall", list(wrapper.args.values()), name="StatefulPartitionedCall",
                        f=Func(inner.name), Tin=[F, RESOURCE, F], Tout=[F, F])
    wrapper.returns(identity=wrapper.node("Identity", [call[1]], name="Identity"),
                    identity_1=wrapper.node("Identity", [call[0]], name="Identity_1"))
    y = g.node("StatefulPartitionedCall", [x, handle, k], name="StatefulPartitionedCall", f=Func(wrapper.name),
               Tin=[F, RESOURCE, F], Tout=[F, F])
    keys = signature({key: (x, [None, 2])}, {"before": (y[0], [None, 2]), first: (y[1], [None, 2])})
    save_saved_model(folder / "second", meta_graph(g, {"serving_default": keys}))
    save_bundle(folder / "second/variables/variables", {"v": F([1, -9])})
    return folder / "second"


X = {"input_input": [1, 2]}
PRODUCT, SELU = "StatefulPartitionedCall/net/Const", "StatefulPartitionedCall/net/output/Selu"
BEFORE, AFTER = [4.0, -21.0], [4.2028, -1.7581]


def near(w, label, found, expected):
    w.checks.equal(f"{label}: outputs", sorted(found), sorted(expected))
    for name, values in expected.items():
        w.checks.check(f"{label}: {name}", np.allclose(found.get(name, []), values, atol=1e-4), found)


def served(w, label, model, expected, *options, fixed=("-d", "input_input", "1,2")):
    container, messages = w.convert(label, model, *fixed, *options)
    if container:
        near(w, label, w.execute(label, container, **X), expected)
    return container, messages


def keys_of_a_function(w):
    model = second_version(w.folder)
    container, messages = served(w, "served", model, {PRODUCT: BEFORE, SELU: AFTER}, "--debug")
    if container:
        w.checks.equal("served: ends", ends(container), (["input_input:0"], [f"{PRODUCT}:0", f"{SELU}:0"]))
        w.checks.equal("served: ops", [op.name for op in container.ops], ["StatefulPartitionedCall/net/sum", PRODUCT, f"{SELU}.Elu", SELU])
        w.checks.equal("served: constants", tensors(container, "STATIC"),
                       [f"{SELU}.constant", "StatefulPartitionedCall/net/sum/ReadVariableOp:0", "outer/Const:0"])
    w.checks.check("served: note", f"outputs of the signature: before is {PRODUCT}:0, output is {SELU}:0" in messages, messages)
    _, messages = served(w, "served quietly", model, {PRODUCT: BEFORE, SELU: AFTER})
    w.checks.check("served quietly: no note", "note" not in messages, messages)
    for name, expected in (
            ("output", {SELU: AFTER}), ("before", {PRODUCT: BEFORE}), ("output:0", {SELU: AFTER}),
            (SELU, {SELU: AFTER}), (f"{PRODUCT}:0", {PRODUCT: BEFORE}),
            ("Identity", {"Identity": BEFORE}), ("Identity_1:0", {"Identity_1": AFTER}),
            ("StatefulPartitionedCall/StatefulPartitionedCall/net/output/Selu", {SELU: AFTER}),
            ("StatefulPartitionedCall/net/sum", {"StatefulPartitionedCall/net/sum": [2.0, -7.0]})):
        served(w, f"--out_node {name}", model, expected, "--out_node", name)
    served(w, "two outputs", model, {PRODUCT: BEFORE, SELU: AFTER}, "--out_node", "output", "before")
    served(w, "one output twice", model, {SELU: AFTER}, "--out_node", "output", "StatefulPartitionedCall:1", "--out_node", SELU)


def graph_names_of_a_function(w):
    """The graph's own names mean what they did; the function's call has the same name, and its results in another order."""
    model = second_version(w.folder)
    outer = "serving_default_input_input"
    for name in (outer, f"{outer}:0", "input_input:0"):
        served(w, f"-d {name}", model, {SELU: AFTER}, "--out_node", "output", fixed=("-d", name, "1,2"))
    for name, expected, meant in (("StatefulPartitionedCall", {PRODUCT: BEFORE}, (PRODUCT, SELU)),
                                  ("StatefulPartitionedCall:0", {PRODUCT: BEFORE}, (PRODUCT, SELU)),
                                  ("StatefulPartitionedCall:1", {SELU: AFTER}, (SELU, PRODUCT))):
        _, messages = served(w, f"--out_node {name}", model, expected, "--out_node", name)
        w.checks.check(f"--out_node {name} is ambiguous", "warning" in messages and
                       f": {meant[0]}:0 is meant, not " in messages, messages)
    for name in ("input_input", outer):
        container, _ = w.convert(f"--input_dtype {name}", model, "-d", name, "1,2", "--input_dtype", name, "float32",
                                 "--input_layout", name, "NONTRIVIAL", "--preserve_io", "layout", name, "output", "before")
        w.checks.equal(f"--input_dtype {name}", container and ends(container)[0], ["input_input:0"])
        np.save(w.folder / "x.npy", F([[1, 2]]))
        label = f"--freeze_input {name}"
        container, _ = w.convert(label, model, "-d", name, "1,2", f"--freeze_input={name}={w.folder / 'x.npy'}")
        w.checks.equal(label, container and ends(container)[0], [])
    container = w.gives("cut inside", model, {"StatefulPartitionedCall/net/sum": [3, -4]}, {PRODUCT: [6, -12]}, "-d",
                        "StatefulPartitionedCall/net/sum", "1,2", "--out_node", "before")
    w.checks.equal("cut inside", container and ends(container)[0], ["StatefulPartitionedCall/net/sum:0"])


def errors_of_a_function(w):
    model = second_version(w.folder)
    w.fails("no key", 2, ["no input inputs", "the graph inputs are: input_input"], model, "-d", "inputs", "1,2")
    w.fails("a key almost", 2, ["no value or node outptu", "did you mean output?", "are: before, output"], model, "--out_node",
            "outptu")
    w.fails("open dims", 1, ["graph input input_input:0 has open dimensions: [?,2]", "--input_dim input_input:0"], model)
    w.fails("unknown in preserve_io", 2, ["no input or output ouput", "are: input_input, before, output"], model, "-d",
            "input_input", "1,2", "--preserve_io", "layout", "ouput")


def names_that_clash(w):
    """A variable of the key's name, and functions whose names are those of the graph around."""
    model = second_version(w.folder, variable="input_input")
    _, messages = served(w, "a variable of the key's name", model, {SELU: AFTER}, "--out_node", "output")
    w.checks.check("a variable of the key's name: warning", "--input_dim input_input: input_input:0 is meant, not outer/" in messages,
                   messages)
    model = second_version(w.folder, first="StatefulPartitionedCall")
    container, messages = served(w, "a key of a call's name", model, {SELU: AFTER}, "--out_node", "StatefulPartitionedCall")
    w.checks.check("a key of a call's name: warning", f"{SELU}:0 is meant, not {PRODUCT}:0" in messages, messages)
    container, _ = w.convert("both ways", second_version(w.folder, first="Identity"), "-d", "input_input", "1,2", "--out_node",
                             "Identity")
    w.checks.equal("a key of a node's name", ends(container), (["input_input:0"], [f"{SELU}:0"]))


def free_scopes(w):
    """No name inside of the function begins as those of the graph around it."""
    for inner, scope in (("outer/Const", "outer_1"), ("outer", "outer_1"), ("outer_7/x", "outer_8"), ("outermost/x", "outer"),
                         ("outer_x", "outer")):
        g = Graph()
        x, k = g.placeholder("serving_default_x", F, [2]), g.const("Const", F([2, 3]))
        f = g.function("f", {"x": F, "k": F})
        total = f.node("AddV2", [f.args["x"], f.const(inner, F([10, 20]))], name="sum")
        f.returns(out=f.node("Mul", [total, f.args["k"]], name="y"))
        y = g.node("PartitionedCall", [x, k], name="call", f=Func("f"), Tin=[F, F], Tout=[F])
        keys = signature({"x": (x, [2])}, {"out": (y, [2])})
        save_saved_model(w.folder / "scope", meta_graph(g, {"serving_default": keys}))
        container = w.gives(f"scope beside {inner}", w.folder / "scope", {"x": [1, 2]}, {"y": [22, 66]})
        w.checks.equal(f"scope beside {inner}", container and tensors(container, "STATIC"), sorted([f"{inner}:0", f"{scope}/Const:0"]))


def results_that_are_inputs(w):
    """What the function gives back as it got it is an output under the name that the graph has for it."""
    g = Graph()
    x = g.placeholder("serving_default_x", F, [2])
    f = g.function("f", {"x": F})
    f.returns(same=f.args["x"], other=f.node("Neg", [f.args["x"]], name="neg"))
    y = g.node("StatefulPartitionedCall", [x], name="call", f=Func("f"), Tin=[F], Tout=[F, F])
    save_saved_model(w.folder / "same", meta_graph(g, {"serving_default": signature(
        {"x": (x, [2])}, {"same": (y[0], [2]), "other": (y[1], [2])})}))
    container = w.gives("an input given back", w.folder / "same", {"x": [3, -4]}, {"outer/call": [3, -4], "neg": [-3, 4]})
    w.checks.equal("an input given back: ops", container and sorted(op.name for op in container.ops), ["neg", "outer/call"])


def user_defined_ops_in_functions(w):
    g = Graph()
    x = g.placeholder("serving_default_x", F, [1, 2])
    f = g.function("f", {"x": F})
    f.returns(out=f.node("Thing", [f.args["x"]], name="net/thing", outputs={"y": F}, T=F))
    y = g.node("PartitionedCall", [x], name="call", f=Func("f"), Tin=[F], Tout=[F])
    keys = signature({"x": (x, [1, 2])}, {"out": (y, [1, 2])})
    save_saved_model(w.folder / "udo", meta_graph(g, {"serving_default": keys}))
    container, _ = w.convert("udo in a function", w.folder / "udo", "-udo", w.config(udo("Thing")), "--out_node", "out")
    w.checks.equal("udo in a function", container and [(op.name, op.inputs, op.outputs) for op in container.ops],
                   [("net/thing", ["x:0"], ["net/thing:0"])])


def unneeded_inputs(w):
    """A key whose input no output needs, two keys of one input, and a key that is no tensor."""
    g = Graph()
    x, z = g.placeholder("serving_default_x", F, [None]), g.placeholder("serving_default_z", F, [None])
    f = g.function("f", {"x": F, "z": F})
    f.returns(out=f.node("Neg", [f.args["x"]], name="y"), sum=f.node("AddV2", [f.args["x"], f.args["z"]], name="sum"))
    y = g.node("PartitionedCall", [x, z], name="call", f=Func("f"), Tin=[F, F], Tout=[F, F])
    keys = signature({"x": (x, [None]), "z": (z, [None]), "x_again": (x, [None])}, {"out": (y[0], [None]), "sum": (y[1], [None])})
    sparse = Message().message(4, Message().data(1, "a:0").data(2, "b:0").data(3, "c:0"))
    keys.message(1, Message().data(1, "sparse").message(2, sparse))
    save_saved_model(w.folder / "unneeded", meta_graph(g, {"serving_default": keys}))
    for name in ("z", "z:0", "serving_default_z"):
        container, messages = w.convert(f"unneeded {name}", w.folder / "unneeded", "-d", "x", "2", "-d", name, "2", "--out_node",
                                        "out", "--debug")
        w.checks.equal(f"unneeded {name}", ends(container), (["x:0"], ["y:0"]))
        w.checks.check(f"unneeded {name}: note", "note: node 'z': --input_dim z: no output needs it" in messages, messages)
    container = w.gives("two keys", w.folder / "unneeded", {"x": [1, 2]}, {"y": [-1, -2]}, "-d", "x_again", "2", "--out_node", "out")
    w.fails("no tensor", 2, ["no input sparse", "the graph inputs are: x"], w.folder / "unneeded", "-d", "x", "2", "-d", "sparse",
            "2", "--out_node", "out")
    done = w.converter("-i", w.folder / "unneeded", "-d", "x", "2", "--out_node", "out", "--show_unconsumed_nodes", "-o",
                       w.folder / "o.dlc")
    w.checks.equal("unconsumed", [name for name in ("sum", "z", "x", "y") if f" {name}\n" in done.stdout], ["sum", "z"])


# ---- a container of the vendor's ----


def keras_classifier(folder):
    """What the container's converter had: a network that Keras saved, with Selu as a user-defined op."""
    g = Graph()
    source = np.random.RandomState(1)
    shapes = {"input/kernel": (3, 3, 1, 4), "input/bias": (4,), "dense/kernel": (13 * 13 * 4, 8), "dense/bias": (8,),
              "output/kernel": (8, 3), "output/bias": (3,)}
    values = {name: source.standard_normal(shape).astype(F) for name, shape in shapes.items()}
    handles = [g.node("VarHandleOp", [], name=name, dtype=F, shape=list(value.shape), shared_name=name)
               for name, value in values.items()]
    arguments = {f"unknown_{i}": RESOURCE for i in range(len(handles))}
    f = g.function("__inference__wrapped_model", {"input_input": F, **arguments})

    def read(i, name):
        return f.node("ReadVariableOp", [f.args[f"unknown_{i}"]], name=f"sequential/{name}/ReadVariableOp", dtype=F)

    def dense(x, name, i):
        product = f.node("MatMul", [x, read(i, f"{name}/MatMul")], name=f"sequential/{name}/MatMul")
        return f.node("BiasAdd", [product, read(i + 1, f"{name}/BiasAdd")], name=f"sequential/{name}/BiasAdd")

    x = f.node("Conv2D", [f.args["input_input"], read(0, "input/Conv2D")], name="sequential/input/Conv2D",
               strides=[1, 1, 1, 1], padding="VALID")
    x = f.node("BiasAdd", [x, read(1, "input/BiasAdd")], name="sequential/input/BiasAdd")
    x = f.node("MaxPool", [x], name="sequential/max_pooling2d/MaxPool", ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    x = f.node("Reshape", [x, f.const("sequential/flatten/Const", np.int32([-1, 13 * 13 * 4]))], name="sequential/flatten/Reshape")
    x = f.node("Relu", [dense(x, "dense", 2)], name="sequential/dense/Relu")
    x = f.node("Selu", [dense(x, "output", 4)], name="sequential/output/Selu")
    f.returns(identity=f.node("Identity", [x], name="Identity"))
    wrapper = g.function("__inference_signature_wrapper", {"input_input": F, **arguments})
    types = {"Tin": [F] + [RESOURCE] * len(handles), "Tout": [F]}
    inner = wrapper.node("StatefulPartitionedCall", list(wrapper.args.values()), name="StatefulPartitionedCall", f=Func(f.name),
                         **types)
    wrapper.returns(identity=wrapper.node("Identity", [inner], name="Identity"))
    x = g.placeholder("serving_default_input_input", F, [None, 28, 28, 1])
    y = g.node("StatefulPartitionedCall", [x, *handles], name="StatefulPartitionedCall", f=Func(wrapper.name), **types)
    keys = signature({"input_input": (x, [None, 28, 28, 1])}, {"output": (y, [None, 3])})
    save_saved_model(folder / "keras", meta_graph(g, {"serving_default": keys}))
    save_bundle(folder / "keras/variables/variables", values)
    return folder / "keras"


def names_of_the_vendor(w):
    """The same command gives all names that the container has of that model."""
    captured = SHARED / "corpus" / "dlc" / "selu-udo.v3.dlc"
    if not captured.exists():
        w.checks.skip("names of the vendor", f"{captured} is not there")
        return
    graph = json.loads(run("dlc-info", "-i", captured, "--json").stdout)["graphs"][0]
    expected = {node["name"]: node["outputs"] for node in graph["nodes"] if node["type"] != "Input"}
    selu = {**udo("Selu"), "type": "Selu"}
    container, _ = w.convert("as the vendor", keras_classifier(w.folder), "-d", "input_input", "1,28,28,1", "--out_node", "output",
                             "-udo", w.config(selu))
    if container:
        found = {op.name: op.outputs for op in container.ops}
        w.checks.equal("as the vendor: ops", {name: found.get(name) for name in expected}, expected)
        w.checks.equal("as the vendor: others", sorted(set(found) - set(expected)),
                       ["StatefulPartitionedCall/sequential/flatten/Reshape"])
        w.checks.equal("as the vendor: ends", ends(container), (graph["inputs"], graph["outputs"]))


def graphs_around_functions(w):
    """Where the signature's outputs are not those of one call, the graph is what is converted, under its names."""
    g = Graph()
    x = g.placeholder("serving_default_x", F, [2])
    f = g.function("f", {"x": F})
    f.returns(out=f.node("Neg", [f.args["x"]], name="neg"))
    y = g.node("PartitionedCall", [x], name="call", f=Func("f"), Tin=[F], Tout=[F])
    z = g.node("Relu", [y], name="z")
    keys = signature({"x": (x, [2])}, {"out": (y, [2]), "z": (z, [2])})
    save_saved_model(w.folder / "around", meta_graph(g, {"serving_default": keys}))
    container = w.gives("a graph around", w.folder / "around", {"serving_default_x": [3, -4]}, {"call": [-3, 4], "z": [0, 4]})
    w.checks.equal("a graph around: ops", container and sorted(op.name for op in container.ops), ["call/neg", "z"])
    container = w.gives("a graph around, by keys", w.folder / "around", {"serving_default_x": [3, -4]}, {"call": [-3, 4]},
                        "-d", "x", "2", "--out_node", "out")


run_parts(names_of_a_graph, readings_of_a_constant, suffixes_in_options, names_of_user_defined_ops, names_at_execution,
          other_spellings, keys_of_the_first_version, keys_of_a_function, graph_names_of_a_function, errors_of_a_function,
          names_that_clash, free_scopes, results_that_are_inputs, user_defined_ops_in_functions, unneeded_inputs, graphs_around_functions,
          names_of_the_vendor)
