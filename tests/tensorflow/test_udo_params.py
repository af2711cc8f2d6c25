# SPDX-License-Identifier: Apache-2.0
"""User-defined ops of TensorFlow models: attributes of every kind become params; inputs, outputs and their shapes are what the
definition and the model say."""

import json

from tf_workshop import (BFLOAT16, STRING, Func, Graph, Shape, Tensor, meta_graph, np, op_def, op_types, opdef_xml, run_parts,
                         save_bundle, save_meta_graph, save_saved_model, signature, udo, value_of)


def model(op="Thing", shape=(1, 4), constants=(), **attributes):
    """x -> op(x, constants) -> thing"""
    g = Graph()
    x = g.placeholder("x", np.float32, list(shape))
    g.node(op, [x, *(g.const(f"c{i}", value) for i, value in enumerate(constants))], name="thing", **attributes)
    return g


def op_of(container, op_type="Thing"):
    return next(op for op in container.ops if op.type == op_type)


def given(name, data_type, **more):
    return {"name": name, "data_type": data_type, **more}


def scalars():
    """(label, attribute, declared type, what the container has)."""
    return (
        ("int", 7, "INT_32", 7), ("negative int", -70000, "INT_32", -70000), ("int as float", 7, "FLOAT_32", 7.0),
        ("float", 0.375, "FLOAT_32", 0.375), ("float as float16", 0.375, "FLOAT_16", 0.375), ("whole float", 3.0, "INT_32", 3),
        ("true", True, "BOOL_8", 1), ("false", False, "BOOL_8", 0), ("bool as int", True, "INT_32", 1),
        ("bool as float", True, "FLOAT_32", 1.0), ("string", "fast", "STRING", "fast"), ("no text", "", "STRING", ""),
        ("type as number", np.float16, "INT_32", 19), ("type as text", np.float16, "STRING", "DT_HALF"),
        ("type without NumPy's", BFLOAT16, "STRING", "DT_BFLOAT16"), ("type of strings", STRING, "UINT_8", 7),
        ("tensor of one", np.array(2.5, np.float64), "FLOAT_32", 2.5), ("list of one", [9], "INT_32", 9),
        ("shape of one", Shape([5]), "INT_32", 5))


def tensors():
    ints, floats = np.array([[1, 2], [3, 400]], np.int64), np.array([0.5, -2.25], np.float64)
    return (
        ("ints", [3, -1, 2], "INT_32", [3, -1, 2]), ("floats", [0.5, -1.25], "FLOAT_32", [0.5, -1.25]),
        ("bools", [True, False], "BOOL_8", [1, 0]), ("bools as ints", [True, False], "INT_32", [1, 0]),
        ("strings", ["a", "bc"], "STRING", ["a", "bc"]), ("shape", Shape([1, 224, 3]), "INT_32", [1, 224, 3]),
        ("open shape", Shape([None, 3]), "INT_32", [-1, 3]), ("no list", [], "INT_32", []), ("rank 0", Shape(), "INT_32", []),
        ("types", [np.float32, np.int64], "INT_32", [1, 9]), ("types as text", [np.float32, np.bool_], "STRING",
                                                             ["DT_FLOAT", "DT_BOOL"]),
        ("tensor", ints, "INT_32", [1, 2, 3, 400]), ("values of a tensor", Tensor(floats, "values"), "FLOAT_32", [0.5, -2.25]),
        ("splat", Tensor(np.full([2, 2], 3, np.int32), "splat"), "UINT_8", [3, 3, 3, 3]),
        ("half", np.array([1, 0.5], np.float16), "FLOAT_16", [1, 0.5]), ("scalar", 4, "INT_32", [4]))


def params(w):
    for label, value, data_type, expected in scalars():
        config = w.config(udo("Thing", scalar_params=[given("a", data_type)]))
        container, _ = w.convert(label, model(a=value), "-udo", config)
        if container:
            w.checks.equal(f"{label}: param", value_of(op_of(container).params["a"]), (data_type, expected))
    for label, value, data_type, expected in tensors():
        config = w.config(udo("Thing", tensor_params=[given("a", data_type)]))
        container, _ = w.convert(f"list of {label}", model(a=value), "-udo", config)
        if container:
            w.checks.equal(f"list of {label}: param", value_of(op_of(container).params["a"]), (data_type, expected))


def both_forms(w):
    """A definition in JSON and as an XML OpDef gives the same bytes."""
    attributes = {"a": 7, "b": True, "c": "fast", "d": np.float16, "e": [1, 2], "f": Shape([None, 3]), "g": [0.5]}
    for layout in ("NCHW", "NHWC", None):
        definition = udo("Thing", layout, inputs=2, scalar_params=[
            given("a", "FLOAT_32"), given("b", "BOOL_8"), given("c", "STRING"), given("d", "STRING")], tensor_params=[
                given("e", "INT_32"), given("f", "INT_32"), given("g", "FLOAT_16")])
        definition["inputs"][1] = {**definition["inputs"][1], "static": True}
        del definition["outputs"][0]["shape"]  # OpDefs have no rules
        package = {"UDO_PACKAGE_NAME": "P", "Operators": [definition]}
        model(shape=(1, 2, 3, 4), constants=[np.ones([1, 2, 3, 4], np.float32)], _output_shapes=[Shape([1, 2, 3, 4])],
              **attributes).save(w.folder / "m.pb")
        contents = []
        for text in (json.dumps({"P": package}), opdef_xml(package)):
            (w.folder / "ops.config").write_text(text)
            done = w.converter("-i", "m.pb", "-udo", "ops.config", "-o", "m.dlc", cwd=w.folder)
            w.checks.equal(f"both forms, {layout}: status {done.stderr}", done.returncode, 0)
            contents.append((w.folder / "m.dlc").read_bytes())
        w.checks.check(f"both forms, {layout}: the same bytes", contents[0] == contents[1])


def params_refused(w):
    listed = [Shape([1]), Shape([2])]
    for label, value, words in (
            ("unknown rank", Shape.UNKNOWN, ["attribute a holds a type, an open shape, or a list"]),
            ("shapes", listed, ["attribute a holds a type, an open shape, or a list"]),
            ("tensors", [np.float32([1]), np.float32([2])], ["attribute a holds a type, an open shape"]),
            ("too many", [1, 2], ["'a' is a scalar param, but the attribute holds 2 values"]),
            ("fraction", 0.5, ["param 'a': 0.5 does not fit INT_32"]),
            ("text", "x", ["param 'a'", "INT_32"]),
            ("NUL", b"a\0b", ["attribute a holds a NUL byte"])):
        config = w.config(udo("Thing", scalar_params=[given("a", "INT_32")]))
        w.fails(label, 1, ["node 'thing'", *words], model(a=value), "-udo", config)
    w.fails("absent", 1, ["the node has no attribute 'a'", "give a default_value"], model(), "-udo",
            w.config(udo("Thing", scalar_params=[given("a", "INT_32")])))
    w.fails("function", 1, ["attribute f holds a graph"], model(f=Func("body")), "-udo", w.config(udo("Thing")))
    container, _ = w.convert("default", model(), "-udo",
                             w.config(udo("Thing", scalar_params=[given("a", "FLOAT_32", default_value=0.25)])))
    w.checks.equal("default", value_of(op_of(container).params["a"]), ("FLOAT_32", 0.25))


def own_defaults(w):
    """What TensorFlow says that an attribute of its own operator is when a node leaves it out."""
    names = {"depth_radius": "INT_32", "bias": "FLOAT_32", "alpha": "FLOAT_32", "beta": "FLOAT_32", "T": "STRING"}
    config = w.config(udo("LRN", scalar_params=[given(name, data_type) for name, data_type in names.items() if name != "T"]))
    container, messages = w.convert("own defaults", model("LRN", shape=(1, 2, 3, 4), alpha=0.5), "-udo", config)
    if container:
        params = op_of(container, "LRN").params
        w.checks.equal("own defaults", [value_of(params[name])[1] for name in ("depth_radius", "bias", "alpha", "beta")],
                       [5, 1.0, 0.5, 0.5])
        w.checks.equal("own defaults: shape", container.tensors["thing:0"].dims, [1, 2, 3, 4])
        w.checks.check("own defaults: no warning", "warning" not in messages, messages)


def models_defaults(w):
    """A saved model leaves out attributes that have their defaults, and brings the definitions of its own operators."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    g.node("Thing", [x, g.const("c", np.float32([1, 2]))], name="thing", level=7)
    definition = op_def("Thing", ["image", "table"], ["result"], {
        "level": 3, "mode": "fast", "flag": True, "scale": 0.5, "sizes": [1, 2], "T": np.float32, "open": Shape.UNKNOWN})
    sign = signature({"x": (x, [1, 4])}, {"y": (g.nodes[-1].outputs[0], [1, 4])})
    save_saved_model(w.folder / "saved", meta_graph(g, {"serving_default": sign}, ops=[definition]))
    config = udo("Thing", inputs=2, tensor_params=[given("sizes", "INT_32")],
                 scalar_params=[given("level", "INT_32"), given("mode", "STRING"), given("flag", "BOOL_8"),
                                given("scale", "FLOAT_32")])
    config["inputs"][1] = {"data_type": "FLOAT_32", "static": True}
    container, messages = w.convert("the model's defaults", w.folder / "saved", "-udo", w.config(config))
    if container:
        params = op_of(container).params
        w.checks.equal("the model's defaults", [value_of(params[name])[1] for name in ("level", "mode", "flag", "scale", "sizes")],
                       [7, "fast", 1, 0.5, [1, 2]])
        w.checks.check("the model's defaults: no warning", "warning" not in messages, messages)
    config["scalar_params"].append(given("open", "INT_32"))
    w.fails("a default that is no value", 1, ["no attribute 'open'"], w.folder / "saved", "-udo", w.config(config))
    done = w.converter("-i", w.folder / "saved", "--udo_stub", "-")
    stub = json.loads(done.stdout[done.stdout.index("{"):])["UdoPackage_0"]["Operators"][0]
    w.checks.equal("stub: names", [tensor["name"] for tensor in stub["inputs"]], ["image", "table"])
    w.checks.equal("stub: static", [tensor.get("static", False) for tensor in stub["inputs"]], [False, True])
    w.checks.equal("stub: params", [param["name"] for param in stub["scalar_params"] + stub["tensor_params"]],
                   ["level", "mode", "flag", "scale", "sizes"])


def large_definitions(w):
    for count in (1024, 1025):
        g = Graph()
        x = g.placeholder("x", np.float32, [1, 4])
        y = g.node("Neg", [x], name="y")
        definition = op_def("Thing", ["image"], [f"result{i}" for i in range(count)], {})
        sign = signature({"x": (x, [1, 4])}, {"y": (y, [1, 4])})
        save_saved_model(w.folder / "saved", meta_graph(g, {"serving_default": sign}, ops=[definition]))
        if count == 1024:
            w.convert("a definition of 1024 outputs", w.folder / "saved")
        else:
            w.fails("a definition of 1025 outputs", 1, ["has 1025 inputs, outputs or attributes, more than 1024"], w.folder / "saved")


def wide_outputs(w):
    """An output that TensorFlow gives in 64 bits has 64 bits for the native operators that read it."""
    definition = {"type": "Where", "core_types": ["CPU"], "inputs": [{"data_type": "FLOAT_32"}],
                  "outputs": [{"data_type": "INT_32", "shape": [3, 2]}]}
    g = model("Where")
    g.node("AddV2", [g.nodes[-1].outputs[0], g.const(np.int64([10, 20]))], name="y")
    container, messages = w.convert("int64", g, "-udo", w.config(definition))
    w.checks.equal("int64: stored", container and [container.tensors[name].dtype for name in ("thing:0", "y:0")], ["INT_32"] * 2)
    w.checks.check("int64: the sum may wrap", "beyond which results wrap: those of 1 nodes, y first" in messages, messages)
    w.checks.check("int64: no other warning", messages.count("warning") == 1, messages)


def unnamed_attributes(w):
    """Types are not worth a word; what the operation computes with is."""
    quiet = {"T": np.float32, "Tidx": np.int32, "out_types": [np.float32], "_class": ["loc:@w"],
             "_output_shapes": [Shape([1, 4])]}
    container, messages = w.convert("types alone", model(**quiet), "-udo", w.config(udo("Thing")))
    w.checks.check("types: no warning", "warning" not in messages, messages)
    w.checks.equal("types: no params", sorted(op_of(container).params),
                   ["packageName", "udo_core_types"])
    _, messages = w.convert("other attributes", model(mode="fast", shapes=[Shape([1])], level=3, **quiet), "-udo",
                            w.config(udo("Thing")))
    w.checks.equal("one warning", messages.count("warning:"), 1)
    w.checks.check("it names them", "not serialised: mode, shapes, level" in messages, messages)


def static_inputs(w):
    """Constants, also behind Identities, in the declared type."""
    weights = np.arange(6, dtype=np.float64).reshape(2, 3)
    definition = udo("Thing", inputs=2)
    for data_type in ("FLOAT_32", "INT_32", "UINT_8", "FLOAT_16"):
        definition["inputs"][1] = {"data_type": data_type, "static": True}
        g = Graph()
        x, c = g.placeholder("x", np.float32, [1, 4]), g.const("w", weights)
        read = g.node("Identity", [g.node("Identity", [c], name="w/read")], name="w/again")
        g.node("Thing", [x, read], name="thing")
        container, _ = w.convert(f"static {data_type}", g, "-udo", w.config(definition))
        if container:
            tensor = container.tensors[op_of(container).inputs[1]]
            w.checks.equal(f"static {data_type}", (tensor.kind, tensor.dims, value_of(tensor)),
                           ("STATIC", [2, 3], (data_type, [0, 1, 2, 3, 4, 5])))
            w.checks.equal(f"static {data_type}: ops", op_types(container), ["Thing"])
    definition["inputs"][1] = {"data_type": "FLOAT_32"}
    config = w.config(definition)
    w.fails("not static", 1, ["input 1 of 'Thing' is not static", '"static": true', "thing"],
            model(constants=[np.float32([1, 2])]), "-udo", config)
    container, messages = w.convert("promoted", model(constants=[np.float32([1, 2])]), "-udo", config,
                                    "--udo_promote_static")
    w.checks.check("promoted: warns", "is not static, but the data" in messages, messages)
    definition["inputs"] = [{"data_type": "FLOAT_32", "static": True}]
    w.fails("no data", 1, ["input 0 is static, but the model computes it"], model(), "-udo", w.config(definition))
    w.fails("surplus", 1, ["the node has 2 inputs, but the definition of 'Thing' lists 1"],
            model(constants=[np.float32([1])]), "-udo", w.config(udo("Thing")))


def variables(w):
    """Variables of both kinds are data: the values are the checkpoint's."""
    values = {"old": np.float32([[1, 2], [3, 4]]), "new": np.float32([5, 6, 7])}
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    old = g.node("VariableV2", [], name="old", dtype=np.float32, shape=Shape([2, 2]))
    new = g.node("VarHandleOp", [], name="new", dtype=np.float32, shape=Shape([3]), shared_name="new")
    read = g.node("ReadVariableOp", [new], name="new/read", dtype=np.float32)
    g.node("Thing", [x, g.node("Identity", [old], name="old/read"), read], name="thing")
    save_meta_graph(w.folder / "model.meta", g)
    save_bundle(w.folder / "model", values)
    definition = udo("Thing", inputs=3)
    for i in (1, 2):
        definition["inputs"][i] = {"data_type": "FLOAT_32", "static": True}
    container, _ = w.convert("variables", w.folder / "model.meta", "-udo", w.config(definition), "--out_node", "thing")
    if container:
        found = [container.tensors[name] for name in op_of(container).inputs[1:]]
        w.checks.equal("variables", [(tensor.kind, tensor.dims, tensor.data) for tensor in found],
                       [("STATIC", list(array.shape), array.tobytes()) for array in values.values()])


def control_inputs(w):
    """They are no operands."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    g.node("NoOp", [], name="init")
    g.node("Thing", [x, "^init"], name="thing")
    container, _ = w.convert("control input", g, "-udo", w.config(udo("Thing")))
    w.checks.equal("control input", container and op_of(container).inputs, ["x:0"])


def bare(**more):
    """A definition that says nothing of the output's shape."""
    return {"type": "Thing", "inputs": [{"data_type": "FLOAT_32"}], "outputs": [{"data_type": "FLOAT_32"}],
            "core_types": ["CPU"], **more}


def shapes(w):
    two = [{"data_type": "FLOAT_32"}] * 2
    container, messages = w.convert("by _output_shapes", model(_output_shapes=[Shape([1, 9])]), "-udo", w.config(bare()))
    w.checks.equal("by _output_shapes", container and container.tensors["thing:0"].dims, [1, 9])
    w.checks.check("by _output_shapes: no warning", "warning" not in messages, messages)
    ruled = bare(outputs=[{"data_type": "FLOAT_32", "shape": ["in0[0]", "in0[1] * 2"]}])
    container, messages = w.convert("by rule", model(_output_shapes=[Shape([1, 9])]), "-udo", w.config(ruled))
    w.checks.equal("by rule", container and container.tensors["thing:0"].dims, [1, 8])
    w.checks.check("by rule: contradiction", "the shape rule gives [1,8]" in messages, messages)
    w.fails("an open shape", 1, ["nothing tells the shape of output 0: the model leaves it open, [?,9]", 'such as ["in0[0]", 9]'],
            model(_output_shapes=[Shape([None, 9])]), "-udo", w.config(bare()))
    container, messages = w.convert("like the input", model(_output_shapes=[Shape([None, 4])]), "-udo", w.config(bare()))
    w.checks.equal("like the input", container and container.tensors["thing:0"].dims, [1, 4])
    w.checks.check("like the input: says so", "nothing tells the shape" in messages, messages)
    several = bare(inputs=two)
    several["inputs"] = [{"data_type": "FLOAT_32"}, {"data_type": "FLOAT_32", "static": True}]
    w.fails("unknown", 1, ["nothing tells the shape of output 0", 'add "shape" at', '"same_as in0"'],
            model(constants=[np.float32([1])]), "-udo", w.config(several))
    container, _ = w.convert("by the native operator", model("Relu"), "-udo", w.config(bare(type="Relu")))
    w.checks.equal("by the native operator", container and container.tensors["thing:0"].dims, [1, 4])
    w.checks.equal("claims a native operator", container and [op.package for op in container.ops], ["P"])
    # What the model declares is not trusted where an option changes a dimension.
    container, messages = w.convert("other dims", model(_output_shapes=[Shape([1, 9])]), "-udo", w.config(bare()), "-d", "x",
                                    "1,5")
    w.checks.equal("other dims", container and container.tensors["thing:0"].dims, [1, 5])


def cut_values(w):
    """A value that an option makes an input has the shape that the model declares, unless the option says another one."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    first = g.node("Strange", [x], name="first", T=np.float32, _output_shapes=[Shape([1, 6])])
    g.node("Thing", [first], name="thing", _output_shapes=[Shape([1, 3])])
    config = w.config(bare())
    for dims, expected, warned in (("1,6", [1, 3], False), ("1,7", [1, 7], True)):
        container, messages = w.convert(f"cut {dims}", g, "-udo", config, "-d", "first", dims, "--input_dtype", "first",
                                        "float32")
        w.checks.equal(f"cut {dims}", container and container.tensors["thing:0"].dims, expected)
        w.checks.equal(f"cut {dims}: warned", "dimension 1 is 6 in the model" in messages, warned)


def outputs(w):
    """Several outputs, of which the model reads some."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    thing = g.node("Thing", [x], name="thing", outputs={"a": np.float32, "b": np.float32, "c": np.float32},
                   _output_shapes=[Shape([1, 4]), Shape([1, 2]), Shape([1, 3])])
    g.node("Relu", [thing[1]], name="y")
    config = w.config(bare(outputs=[{"data_type": "FLOAT_32"}, {"data_type": "FLOAT_32"}]))
    container, _ = w.convert("two of three", g, "-udo", config)
    if container:
        w.checks.equal("two of three", op_of(container).outputs, ["thing:0", "thing:1"])
        w.checks.equal("two of three: dims", [container.tensors[name].dims for name in ("thing:1", "y:0")], [[1, 2], [1, 2]])
    ruled = bare(outputs=[{"data_type": "FLOAT_32", "shape": [2]}, {"shape": [3]},
                          {"data_type": "FLOAT_32", "shape": [4]}])
    container, _ = w.convert("all of three", g, "-udo", w.config(ruled))
    if container:
        names = op_of(container).outputs
        w.checks.equal("all of three", [container.tensors[name].dims for name in names], [[2], [3], [4]])
    w.fails("one of three", 1, ["the node has 2 outputs, but the definition of 'Thing' lists 1"], g, "-udo",
            w.config(bare()))
    container, _ = w.convert("an output of the graph", g, "-udo", w.config(ruled), "--out_node", "thing:1", "thing:0")
    if container:
        found = [tensor.name for tensor in container.tensors.values() if tensor.kind == "APP_READ"]
        w.checks.equal("an output of the graph", sorted(found), ["thing:0", "thing:1"])


def functions(w):
    """Nodes inside of calls, and functions that go by the name of an op."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    f = g.function("body", {"a": np.float32})
    f.returns(out=f.node("Identity", [f.node("Thing", [f.args["a"]], name="inner", level=3)]))
    call = g.node("PartitionedCall", [x], name="call", f=Func("body"), Tin=[np.float32], Tout=[np.float32])
    g.node("Relu", [call], name="y")
    leveled = udo("Thing", scalar_params=[given("level", "INT_32")])
    container, _ = w.convert("inside of a call", g, "-udo", w.config(leveled))
    if container:
        w.checks.equal("inside of a call", [(op.package, op.name) for op in container.ops],
                       [("P", "call/inner"), ("qti.aisw", "y")])
        w.checks.equal("inside of a call: param", op_of(container).params["level"].value, 3)

    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    f = g.function("Thing", {"a": np.float32})
    f.returns(out=f.node("Relu", [f.args["a"]], name="inner"))
    g.node("Thing", [x], name="thing", outputs={"out": np.float32})
    container, _ = w.convert("a function", g)
    w.checks.equal("a function", container and [op.package for op in container.ops], ["qti.aisw"])
    container, _ = w.convert("a function that is claimed", g, "-udo", w.config(udo("Thing")))
    w.checks.equal("a function that is claimed", container and [(op.type, op.package, op.name) for op in container.ops],
                   [("Thing", "P", "thing")])


def in_a_domain(w):
    """TensorFlow's ops have no domain."""
    container, _ = w.convert("default domain", model(), "-udo", w.config(udo("Thing", domain="")))
    w.checks.equal("default domain", container and op_types(container), ["Thing"])
    w.fails("another domain", 1, ["op Thing is not supported"], model(), "-udo", w.config(udo("Thing", domain="my.ops")))


run_parts(params, both_forms, params_refused, own_defaults, models_defaults, large_definitions, wide_outputs,
          unnamed_attributes, static_inputs, variables, control_inputs, shapes, cut_values, outputs, functions,
          in_a_domain)
