# SPDX-License-Identifier: Apache-2.0
"""tensorflow-to-dlc: what the user says about a model's inputs and outputs."""

from tf_workshop import (Func, Graph, Shape, Tensor, chain, meta_graph, np, op_types, run_parts, save_saved_model, signature,
                         tensor_message, tensor_name)
from tf_writer import DType


def scaled(data_format=None, shape=(1, 1, 3, 2)):
    """x -> a 1x1 convolution of two channels by 2 -> y."""
    g = Graph()
    x = g.placeholder("x", np.float32, list(shape))
    g.node("Conv2D", [x, g.const("w", 2 * np.eye(2, dtype=np.float32).reshape(1, 1, 2, 2))], name="y", padding="VALID",
           strides=[1, 1, 1, 1], data_format=data_format)
    return g


def dims_of(container, name="x"):
    return container and container.tensors[tensor_name(name)].dims


def outputs_of(container):
    return [tensor.name for tensor in container.tensors.values() if tensor.kind == "APP_READ"]


def fixed_dims(w):
    equal, rows = w.checks.equal, chain("Relu", shape=[None, 2, None])
    for label, args, expected in (
            ("-d", ["-d", "x", "4,2,5"], [4, 2, 5]), ("-d with :0", ["-d", "x:0", "4,2,5"], [4, 2, 5]),
            ("--input_dim", ["--input_dim", "x", "4,2,5"], [4, 2, 5])):
        container, messages = w.convert(label, rows, *args)
        equal(f"{label}: dims", (dims_of(container), dims_of(container, "n0")), (expected, expected))
        equal(f"{label}: quiet", messages.count("warning"), 0)
    container, _ = w.convert("batch", chain("Relu", shape=[None, 3]), "-b", "6")
    equal("batch", dims_of(container), [6, 3])
    container, messages = w.convert("other dims", chain("Relu", shape=[1, 3]), "-d", "x", "1,5")
    equal("other dims", dims_of(container), [1, 5])
    w.checks.check("other dims are warned of", "dimension 1 is 3 in the model, 5 is used" in messages, messages)
    container, _ = w.convert("unknown rank", chain("Relu", shape=Shape.UNKNOWN), "-d", "x", "1,7")
    equal("unknown rank", dims_of(container), [1, 7])


def wrong_dims(w):
    w.fails("open dims", 1, ["x:0 has open dimensions: [?,2]", "--input_dim x"], chain("Relu", shape=[None, 2]))
    w.fails("unknown rank", 1, ["x:0 has open dimensions", "--input_dim x"], chain("Relu", shape=Shape.UNKNOWN))
    w.fails("wrong rank", 2, ["3 dimensions given", "has 2"], chain("Relu"), "-d", "x", "1,2,3")
    for name in ("y", "n", "x:1", "x:a"):
        w.fails(f"no value {name}", 2, [f"no input {name}", "x"], chain("Relu"), "-d", name, "1,2")
    for text in ("1,a", "0,2", "1,-1", ""):
        w.fails(f"dims {text!r}", 2, ["is not a list of dimensions"], chain("Relu", shape=[None, 2]), "-d=x", text)


def old_scalars(w):
    """Old graphs, and those that do not say how old they are, say {} of an unknown shape and of a scalar's alike."""
    for producer, known in ((None, False), (0, False), (21, False), (22, True)):
        g = chain("Relu", shape=[])
        g.producer = producer
        label = f"producer {producer}"
        if known:
            w.fails(f"{label}: a scalar", 2, ["2 dimensions given", "has 0"], g, "-d", "x", "1,2")
            container, _ = w.convert(f"{label}: without -d", g)
            w.checks.equal(f"{label}: without -d", dims_of(container), [1])
            continue
        w.fails(f"{label}: without -d", 1, ["x:0 has open dimensions: [unknown rank]", "[] for a scalar"], g)
        w.gives(f"{label}: rank 2", g, {"x": [3, -4]}, {"n0": [3, 0]}, "-d", "x", "1,2")
        w.gives(f"{label}: a scalar", g, {"x": [3]}, {"n0": [3]}, "-d", "x", "[]")


def unneeded(w):
    """Options about a value that no output needs do no harm, and a note says so; other names stay errors."""
    g = chain("Relu", "Neg")
    g.placeholder("labels", np.int32, [None])
    g.node("OneHot", ["labels", "depth", "on", "off"], name="hot", T=np.float32, TI=np.int32)
    for args in (["-d", "labels", "4"], ["-d", "labels:0", "4", "--input_dtype", "labels", "int32"],
                 ["-d", "labels", "4", "-l", "labels", "NONTRIVIAL"]):
        container, messages = w.convert(f"unneeded {args}", g, "--out_node", "n1", *args, "--debug")
        w.checks.equal(f"unneeded {args}: inputs", container and [t.name for t in container.tensors.values()
                                                                  if t.kind == "APP_WRITE"], ["x:0"])
        w.checks.check(f"unneeded {args}: note", "note: node 'labels': --input_dim labels:" in messages and "no output needs it" in messages, messages)
        _, messages = w.convert(f"unneeded {args}: quietly", g, "--out_node", "n1", *args)
        w.checks.check(f"unneeded {args}: no note without --debug", "note" not in messages, messages)
    w.fails("neither", 2, ["no input label"], g, "--out_node", "n1", "-d", "label", "4")


def cut_in_front(w):
    """-d at a value inside of the graph makes it an input; what is before it need not be known."""
    strange = Graph()
    raw = strange.placeholder("file", np.float32, [1, 9])
    decoded = strange.node("Strange", [raw], name="decode", outputs={"a": np.float32, "b": np.float32})
    strange.node("Neg", [strange.node("AddV2", [decoded, decoded[1]], name="sum")], name="y")
    for label, args, inputs, expected in (
            ("at a node", ["-d", "sum", "1,2"], {"sum": [3, -4]}, {"y": [-3, 4]}),
            ("spelled with :0", ["-d", "sum:0", "1,2"], {"sum": [3, -4]}, {"y": [-3, 4]}),
            ("at two outputs", ["-d", "decode", "1,2", "-d", "decode:1", "1,2"], {"decode": [1, 2], "decode_1": [3, 4]},
             {"y": [-4, -6]})):
        types = [word for name in inputs if "decode" in name for word in ("--input_dtype", name.replace("_", ":"), "float32")]
        container, _ = w.convert(label, strange, *args, *types)
        if not container:
            continue
        found = sorted(tensor.name for tensor in container.tensors.values() if tensor.kind == "APP_WRITE")
        w.checks.equal(f"{label}: inputs", found, sorted(tensor_name(name.replace("_", ":")) for name in inputs))
        values = {name.replace("_", ":"): value for name, value in inputs.items()}
        w.checks.equal(f"{label}: results", w.execute(label, container, **values), expected)
    w.fails("one of two outputs", 1, ["op Strange is not supported", "decode"], strange, "-d", "decode", "1,2")


def cut_types(w):
    """The type of a value that becomes an input is what its operator says, or an option."""
    w.fails("unknown", 1, ["n0:0 has no element type", "--input_dtype"], chain("Strange", "Neg"), "-d", "n0", "1,2")
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 2])
    cast = g.node("Cast", [x], name="cast", DstT=np.int32)
    g.node("Neg", [g.node("Identity", [cast], name="inside")], name="y")
    container, _ = w.convert("by attribute", g, "-d", "inside", "1,2")
    w.checks.equal("by attribute", container and container.tensors["inside:0"].dtype, "INT_32")
    container, _ = w.convert("given", g, "-d", "cast", "1,2", "--input_dtype", "cast:0", "int32")
    w.checks.equal("given", container and container.tensors["cast:0"].dtype, "INT_32")
    w.fails("unknown type", 2, ["there is no type floaty"], g, "--input_dtype", "x", "floaty")
    w.fails("type of no input", 2, ["no input cast"], g, "--input_dtype", "cast", "int32")


def cut_behind(w):
    m = chain("Relu", "Neg", "Abs", "Neg")
    for label, args, expected in (
            ("by node", ["--out_node", "n1"], {"n1": [-3, 0]}), ("spelled with :0", ["--out_node", "n1:0"], {"n1": [-3, 0]}),
            ("--out_name", ["--out_name", "n0"], {"n0": [3, 0]}), ("two", ["--out_node", "n0", "n2:0"], {"n0": [3, 0],
                                                                                                      "n2": [3, 0]}),
            ("two options", ["--out_node", "n0", "--out_node=n2"], {"n0": [3, 0], "n2": [3, 0]}),
            ("twice", ["--out_node", "n1", "n1:0"], {"n1": [-3, 0]}), ("the end", ["--out_node", "n3"], {"n3": [-3, 0]}),
            ("no word", [], {"n3": [-3, 0]})):
        container = w.gives(f"cut {label}", m, {"x": [3, -4]}, expected, *args)
        if container:
            w.checks.equal(f"cut {label}: outputs", outputs_of(container), list(map(tensor_name, expected)))
    for label, names, words in (
            ("nothing", ["n_1"], ["no value or node n_1", "did you mean n"]),
            ("two", ["far_off_name", "other_strange_word"], ["node far_off_name", "node other_strange_word", "n3"])):
        w.fails(f"cut at {label}", 2, words, m, "--out_node", *names)
    w.fails("cut at an output too many", 1, ["n1:7", "its node does not give that output"], m, "--out_node", "n1:7")
    strange = chain("Relu", "Strange")
    w.gives("before an unsupported op", strange, {"x": [1, -1]}, {"n0": [1, 0]}, "--out_node", "n0")
    both = w.convert("both ends", chain("Strange", "Neg", "Abs", "Odd"), "-d", "n0", "1,2", "--input_dtype", "n0", "float32",
                     "--out_node", "n2")[0]
    w.checks.equal("both ends", both and w.execute("both ends", both, n0=[3, -4]), {"n2": [3, 4]})


def names_inside_of_calls(w):
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 2])
    f = g.function("body", {"a": np.float32})
    inner = f.node("Relu", [f.args["a"]], name="inner")
    f.returns(out=f.node("Neg", [inner], name="last"))
    g.node("StatefulPartitionedCall", [x], name="call", f=Func("body"), Tin=[np.float32], Tout=[np.float32])
    w.gives("whole", g, {"x": [3, -4]}, {"call": [-3, 0]})
    w.gives("out_node inside", g, {"x": [3, -4]}, {"call/inner": [3, 0]}, "--out_node", "call/inner")
    w.gives("cut inside", g, {"call/inner": [5, 6]}, {"call": [-5, -6]}, "-d", "call/inner:0", "1,2")


def frozen(w):
    """--freeze_input, by .npy, raw and TensorProto files."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 2])
    g.node("AddV2", [x, g.placeholder("c", np.float32, [2])], name="y")
    values = np.float32([10, 20])
    np.save(w.folder / "c.npy", values)
    (w.folder / "c.raw").write_bytes(values.tobytes())
    (w.folder / "c.pb").write_bytes(b"".join(tensor_message(Tensor(values)).parts))
    for name in ("c.npy", "c.raw", "c.pb"):
        container = w.gives(f"frozen {name}", g, {"x": [1, 2]}, {"y": [11, 22]}, f"--freeze_input=c:0={w.folder / name}")
        w.checks.equal(f"frozen {name}: inputs", container and [t.name for t in container.tensors.values()
                                                                if t.kind == "APP_WRITE"], ["x:0"])


def layouts(w):
    """NHWC models stay as they are; NCHW ones are stored channels-last, unless asked otherwise."""
    last, result = [1, 4, 2, 5, 3, 6], [2, 8, 4, 10, 6, 12]
    first, first_result = [1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]
    for args in ([], ["--preserve_io"], ["--preserve_io", "layout"], ["-l", "x", "NHWC"], ["-l", "x", "NONTRIVIAL"]):
        container = w.gives(f"NHWC {args}", scaled(), {"x": last}, {"y": result}, *args)
        w.checks.equal(f"NHWC {args}: ops", container and op_types(container), ["Conv2d"])
        w.checks.equal(f"NHWC {args}: dims", dims_of(container), [1, 1, 3, 2])
    nchw = scaled("NCHW", (1, 2, 1, 3))
    for args in ([], ["-l", "x", "NCHW"]):
        container = w.gives(f"NCHW {args}", nchw, {"x": last}, {"y": result}, *args)
        w.checks.equal(f"NCHW {args}: ops", container and op_types(container), ["Conv2d"])
        w.checks.equal(f"NCHW {args}: dims", dims_of(container), [1, 1, 3, 2])
    container = w.gives("NCHW preserved", nchw, {"x": first}, {"y": first_result}, "--preserve_io", "layout")
    w.checks.equal("NCHW preserved: ops", container and op_types(container), ["Transpose", "Conv2d", "Transpose"])
    w.fails("layout of no input", 2, ["no input z", "x"], scaled(), "-l", "z", "NHWC")
    w.fails("unknown layout", 2, ["no layout HWC"], scaled(), "-l", "x", "HWC")
    w.fails("preserved unknown", 2, ["no input or output yy", "did you mean y?"], scaled(), "--preserve_io", "layout", "yy")


def deep_nchw(w):
    """Inside of a network whose data_format is NCHW there is no Transpose."""
    g = Graph()
    value = g.placeholder("x", np.float32, [1, 2, 6, 8])
    for i in range(4):
        weights = g.const(f"w{i}", np.full([3, 3, 2, 2], 0.25, np.float32))
        conv = g.node("Conv2D", [value, weights], name=f"conv{i}", strides=[1, 1, 1, 1], padding="SAME", data_format="NCHW")
        bias = g.node("BiasAdd", [conv, g.const(f"b{i}", np.float32([i, 1]))], name=f"bias{i}", data_format="NCHW")
        value = g.node("AddV2", [g.node("Relu", [bias], name=f"relu{i}"), value], name=f"sum{i}")
    g.node("MaxPool", [value], name="y", ksize=[1, 1, 2, 2], strides=[1, 1, 2, 2], padding="VALID", data_format="NCHW")
    for args, transposes in (([], 0), (["--preserve_io", "layout"], 2)):
        container, _ = w.convert(f"deep {args}", g, *args)
        w.checks.equal(f"deep {args}", container and op_types(container).count("Transpose"), transposes)


def types_of_inputs(w):
    """64-bit integers become 32-bit ones, unless types are preserved."""
    m = chain("Neg", shape=[3], dtype=np.int64)
    for args, dtype in (([], "INT_32"), (["--preserve_io", "datatype"], "INT_64")):
        container = w.gives(f"integers {args}", m, {"x": [5, -7, 0]}, {"n0": [-5, 7, 0]}, *args)
        w.checks.equal(f"integers {args}: types", container and [container.tensors[name].dtype for name in ("x:0", "n0:0")],
                       [dtype, dtype])


def folders(w):
    """A folder's container is called like the folder; its files are the conversion's inputs."""
    g = chain("Relu", shape=[None, 2])
    x, y = g.nodes[0].outputs[0], g.nodes[1].outputs[0]
    sign = signature({"in": (x, [None, 2])}, {"out": (y, [None, 2])})
    other = signature({"in": (x, [None, 2])}, {"out": (x, [None, 2])})
    save_saved_model(w.folder / "net", meta_graph(g, {"serving_default": sign, "other": other}))
    for name in ("net", "net/", "./net", str(w.folder / "net")):
        done = w.converter("-i", name, "-d", "x", "1,2", cwd=w.folder)
        w.checks.equal(f"folder {name}: {done.stderr}", done.returncode, 0)
        w.checks.check(f"folder {name}: container", (w.folder / "net.dlc").exists())
        (w.folder / "net.dlc").unlink(missing_ok=True)
    done = w.converter("-i", "net", "-d", "x", "1,2", "-o", "o.dlc", "--depfile", "o.d", cwd=w.folder)
    text = (w.folder / "o.d").read_text()
    w.checks.check("folder: depfile", "net/saved_model.pb" in text and text.startswith("o.dlc:"), text)
    done = w.converter("-i", "net", "-d", "x", "1,2", "--saved_model_signature_key", "othr", cwd=w.folder)
    w.checks.check("unknown signature", done.returncode != 0 and "other" in done.stderr, done.stderr)
    done = w.converter("-i", "net", "-d", "x", "1,2", "--saved_model_tag", "train", cwd=w.folder)
    w.checks.check("unknown tag", done.returncode != 0 and "serve" in done.stderr, done.stderr)


def other_outputs(w):
    """Nodes whose readers want more outputs than their operators have, or fewer."""
    g = Graph()
    shapes = ([2, 3], [2, 4], [7, 8], [7, 4], [8], [4])
    g.node("GRUBlockCell", [g.placeholder(f"in{i}", np.float32, dims) for i, dims in enumerate(shapes)], name="cell")
    g.node("Abs", ["cell:9"], name="y")
    w.fails("an output too many", 1, ["cell:9", "does not give that output"], g)
    g = Graph()
    x = g.node("Cast", [g.placeholder("x", np.float32, [2])], DstT=np.uint8)
    bounds = [g.const(name, np.array(bound, np.float32)) for name, bound in (("low", -1), ("high", 4))]
    g.node("Cast", [g.node("QuantizedRelu", [x, *bounds], out_type=DType("quint8"))], name="y", DstT=np.float32)
    w.gives("no range is read", g, {"x": [0, 200]}, {"y": [51, 200]})


run_parts(fixed_dims, wrong_dims, old_scalars, unneeded, cut_in_front, cut_types, cut_behind, names_inside_of_calls, frozen,
          layouts, deep_nchw, types_of_inputs, folders, other_outputs)
