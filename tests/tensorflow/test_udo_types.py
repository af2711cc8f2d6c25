#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types of what operators that TensorFlow does not have give: by the model's definitions, by what readers take, and by
attributes."""

import json

from tf_workshop import Graph, meta_graph, np, op_def, run_parts, save_saved_model, signature, tensor_name

BARE = {"type": "Thing", "core_types": ["CPU"], "inputs": [{}], "outputs": [{"shape": "same_as in0"}]}


def model(**attributes):
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 3])
    g.node("Thing", [x], name="thing", **attributes)
    return g


def types(container, *names):
    return container and [container.tensors[tensor_name(name)].dtype for name in names]


def readers(w):
    """Nothing but the nodes that read it tells the type: the config need not, and may say it as containers store it."""
    for dtype, stored, wide in ((np.int64, "INT_32", "INT_64"), (np.float64, "FLOAT_32", "FLOAT_64"),
                                (np.int32, "INT_32", "INT_32"), (np.float32, "FLOAT_32", "UINT_8"),
                                (np.uint8, "UINT_8", "UINT_8")):
        for declared in ({}, {"data_type": stored}, {"data_type": wide}):
            g = model()
            g.node("AddV2", [g.nodes[-1].outputs[0], g.const("c", dtype([1, 2, 3]))], name="y", T=dtype)
            definition = {**BARE, "outputs": [{"shape": "same_as in0", **declared}]}
            label = f"{np.dtype(dtype).name} {declared}"
            container, messages = w.convert(label, g, "-udo", w.config(definition))
            w.checks.equal(f"{label}: types", types(container, "thing", "y"), [stored] * 2)
            differs = declared.get("data_type") == "UINT_8" != stored
            w.checks.equal(f"{label}: warnings", messages.count("keep the types of the model"), int(differs))


def fixed_readers(w):
    """Operators whose inputs have one type."""
    g = model()
    thing = g.nodes[-1].outputs[0]
    g.node("LogicalNot", [thing], name="y")
    container, _ = w.convert("bool", g, "-udo", w.config(BARE))
    w.checks.equal("bool: types", types(container, "thing", "y"), ["BOOL_8", "BOOL_8"])


def attributes(w):
    """What the node's own attributes suggest, where nothing reads the result; what the definition says stands above that."""
    for label, given, stored in (
            ("Tout", {"T": np.float32, "Tout": np.int64}, "INT_32"), ("dtype", {"dtype": np.float64}, "FLOAT_32"),
            ("list", {"Tout": [np.bool_]}, "BOOL_8"), ("T", {"T": np.int32}, "INT_32"),
            ("of inputs", {"Tidx": np.int32}, "FLOAT_32")):
        container, _ = w.convert(f"attribute {label}", model(**given), "-udo", w.config(BARE))
        w.checks.equal(f"attribute {label}", types(container, "thing"), [stored])
    declared = {**BARE, "outputs": [{"shape": "same_as in0", "data_type": "INT_32"}]}
    container, messages = w.convert("declared", model(T=np.float32), "-udo", w.config(declared))
    w.checks.equal("declared", types(container, "thing"), ["INT_32"])
    w.checks.check("declared: no warning", "warning" not in messages, messages)


def contradictions(w):
    """A declared type that a reader does not take is an error at the config's place."""
    for dtype, declared, message in ((np.float32, "INT_32", "declared INT_32, but node 'y' takes it as FLOAT_32"),
                                     (np.int64, "FLOAT_32", "declared FLOAT_32, but node 'y' takes it as INT_64"),
                                     (np.float64, "BOOL_8", "declared BOOL_8, but node 'y' takes it as FLOAT_64")):
        g = model(T=dtype)
        g.node("Relu", [g.nodes[-1].outputs[0]], name="y", T=dtype)
        config = w.config({**BARE, "outputs": [{"shape": "same_as in0", "data_type": declared}]})
        w.fails(f"contradiction {declared}", 1, [f"{config}:1:", message, "or no type: the model tells it"], g, "-udo", config)


def definitions(w):
    """A saved model brings definitions of its own operators: of what they give, and of what they take."""
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 3])
    a = g.node("First", [x], name="first")
    b = g.node("Thing", [a], name="thing", kind=np.int64)
    ops = [op_def("Thing", [("index", np.int64)], [("result", "kind")], {})]
    sign = signature({"x": (x, [2, 3])}, {"y": (b, [2, 3])})
    save_saved_model(w.folder / "saved", meta_graph(g, {"serving_default": sign}, ops=ops))
    container, _ = w.convert("definitions", w.folder / "saved", "-udo", w.config(BARE, {**BARE, "type": "First"}))
    w.checks.equal("definitions: types", types(container, "first", "thing"), ["INT_32", "INT_32"])


def stub(w):
    """The config to start from has the same types."""
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 3])
    a, b, c, d = g.node("Strange", [x], name="strange", outputs=dict.fromkeys("abcd", np.float32), Tout=[np.uint8] * 4)
    g.node("AddV2", [a, g.const("k", np.int64([1, 2, 3]))], name="u", T=np.int64)
    g.node("LogicalNot", [b], name="v")
    g.node("Relu", [c], name="w", T=np.float64)
    g.node("Odd", [d, a], name="y")
    done = w.converter("-i", w.save(g), "--udo_stub", "-", "--out_node", "u", "v", "w", "y")
    strange, odd = json.loads(done.stdout[done.stdout.index("{"):])["UdoPackage_0"]["Operators"]
    w.checks.equal("stub: outputs", [tensor["data_type"] for tensor in strange["outputs"]],
                   ["INT_32", "BOOL_8", "FLOAT_32", "UINT_8"])
    w.checks.equal("stub: inputs", [tensor["data_type"] for tensor in odd["inputs"]], ["UINT_8", "INT_32"])


run_parts(readers, fixed_readers, attributes, contradictions, definitions, stub)
