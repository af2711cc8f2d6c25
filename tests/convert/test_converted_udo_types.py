# SPDX-License-Identifier: Apache-2.0
"""Types that definitions declare for processors, and types that the container has: through the whole conversion."""

import json
import tempfile

from conversion import Workshop, onnx, op_types, udo
from checks import Checks
from prestarted import run

F, I32, I64 = onnx.FLOAT, onnx.INT32, onnx.INT64


def typed(op_type, inputs, outputs, **more):
    return {"type": op_type, "inputs": inputs, "outputs": outputs, "core_types": ["CPU", "DSP"], "dsp_arch_types": ["v68"], **more}


def stub_of(stdout):
    return json.loads(stdout[stdout.index("{"):])["UdoPackage_0"]["Operators"]


def float_model(with_values=True):
    """x -> Op -> t -> Add(w) -> y: a native op reads what the UDO gives."""
    m = onnx.Model(domains=["test"])
    m.input("x", F, [1, 4])
    m.tensor("w", F, [4], [1, 2, 3, 4])
    m.node("Op", ["x"], ["t"], name="op", domain="test")
    m.node("Add", ["t", "w"], ["y"], name="add")
    if with_values:
        m.value("t", F, [1, 4])
    m.output("y", F, [1, 4])
    return m


def float_models(w):
    """Declared types are kept on the node, activations stay float; one warning names the config and both types."""
    for declared in ("UINT_8", "UINT_16", "INT_8", "INT_16", "FIXED_4", "FIXED_8", "FIXED_16", "FLOAT_16"):
        for with_values in (True, False):
            label = f"{declared}, {'declared' if with_values else 'undeclared'}"
            config = w.config(typed("Op", [{"data_type": declared}], [{"data_type": declared, "shape": "same_as in0"}]))
            container, messages = w.convert(label, float_model(with_values), "-udo", config)
            if not container:
                continue
            w.checks.equal(f"{label}: types", [container.tensors[name].dtype for name in "xty"], ["FLOAT_32"] * 3)
            kept = container.ops[0].params.get("udo_data_types")
            w.checks.equal(f"{label}: kept", kept and kept.value, f"in0: {declared}; out0: {declared}")
            w.checks.equal(f"{label}: warnings", messages.count("warning:"), 1)
            warning = f"activations of 'Op' keep the types of the model: input 0 is FLOAT_32, declared {declared}; " \
                      f"output 0 is FLOAT_32, declared {declared}"
            w.checks.check(f"{label}: the warning", f"{config}:1:" in messages and warning in messages, messages)
            shown = run("dlc-info", "-i", container.path).stdout if declared == "UINT_8" else ""
            w.checks.check(f"{label}: dlc-info", declared != "UINT_8" or "in0: UINT_8; out0: UINT_8" in shown, shown)


def per_core(w):
    """A table is kept as it is; no warning where a core takes the model's type."""
    for table, warnings in (({"CPU": "FLOAT_32", "DSP": "UINT_8"}, 0), ({"DSP": "UINT_8"}, 1)):
        config = w.config(typed("Op", [{}], [{"per_core_data_types": table, "shape": "same_as in0"}]))
        container, messages = w.convert(f"table {table}", float_model(), "-udo", config)
        if container:
            w.checks.equal(f"table {table}: warnings", messages.count("warning:"), warnings)
            w.checks.equal(f"table {table}: type", container.tensors["t"].dtype, "FLOAT_32")
            w.checks.equal(f"table {table}: kept", container.ops[0].params["udo_per_core_data_types"].value,
                           "out0: " + ",".join(f"{core}={name}" for core, name in table.items()))
            w.checks.check(f"table {table}: once", "udo_data_types" not in container.ops[0].params)


def native_names(w):
    """A claimed native operator has its own types: integers and truth values stay, and so do floats."""
    m = onnx.Model()
    m.input("x", F, [2, 3])
    m.node("ArgMax", ["x"], ["i"], name="argmax", axis=1)
    m.tensor("one", I64, [1], [1])
    m.node("Add", ["i", "one"], ["y"], name="add")
    m.node("Greater", ["x", "x"], ["g"], name="greater")
    m.node("Not", ["g"], ["z"], name="not")
    m.output("y", I64, None)
    m.output("z", onnx.BOOL, None)
    for declared in ("FLOAT_32", "UINT_8", "INT_32", "INT_64"):
        config = w.config(typed("ArgMax", [{}], [{"data_type": declared, "shape": [2, 1]}], scalar_params=[
            {"name": "axis", "data_type": "INT_32"}]), typed("Greater", [{}, {}], [{"data_type": declared}]))
        container, messages = w.convert(f"native {declared}", m, "-udo", config)
        if container:
            w.checks.equal(f"native {declared}: types", [container.tensors[name].dtype for name in "iygz"],
                           ["INT_32", "INT_32", "BOOL_8", "BOOL_8"])
            w.checks.equal(f"native {declared}: warnings", messages.count("keep the types of the model"),
                           1 if declared in ("INT_32", "INT_64") else 2)


def contradictions(w):
    """A type that a reader cannot take is an error at its place in the config."""
    for declared in ("INT_32", "BOOL_8", "UINT_32", "STRING", "INT_64"):
        config = w.config(typed("Op", [{}], [{"data_type": declared, "shape": "same_as in0"}]))
        message = f"output 0 of 'Op' is declared {declared}, but node 'add' takes it as FLOAT_32"
        w.fails(f"contradiction {declared}", 1, [f"{config}:1:", message], float_model(False), "-udo", config)
    chain = onnx.Model(opset=13, domains=["test"])
    chain.input("i", I32, [4])
    chain.node("Op", ["i"], ["t"], name="op", domain="test")
    chain.node("Softmax", ["t"], ["u"], name="softmax")
    chain.output("u", F, [4])
    config = w.config(typed("Op", [{}], [{"data_type": "INT_32", "shape": "same_as in0"}]))
    w.fails("a float is needed", 1, ["declared INT_32, but node 'softmax' takes it as FLOAT_32"], chain, "-udo", config)
    container, _ = w.convert("no type", chain, "-udo", w.config(typed("Op", [{}], [{"shape": "same_as in0"}])))
    w.checks.equal("no type: float", container and container.tensors["t"].dtype, "FLOAT_32")


def readers(w):
    """Without a type, an output has the one that its readers take, also through others."""
    m = onnx.Model(domains=["test"])
    m.input("x", F, [4])
    m.tensor("k", I64, [4], [1, 2, 3, 4])
    m.node("Op", ["x"], ["a", "b"], name="op", domain="test")
    m.node("Neg", ["a"], ["c"])
    m.node("Mul", ["c", "k"], ["y"])
    m.node("Where", ["b", "x", "x"], ["z"])
    m.output("y", I64, [4])
    m.output("z", F, [4])
    config = w.config(typed("Op", [{}], [{"shape": "same_as in0"}, {"shape": "same_as in0"}]))
    container, messages = w.convert("readers", m, "-udo", config)
    if container:
        w.checks.equal("readers: types", [container.tensors[name].dtype for name in "abcyz"],
                       ["INT_32", "BOOL_8", "INT_32", "INT_32", "FLOAT_32"])
        w.checks.equal("readers: no warning", messages.count("warning:"), messages.count("beyond which results wrap"))


def wide_types(w):
    """Types of 64 bits in JSON and XML: data is stored in 32 bits, tensors have the framework's for their readers."""
    m = onnx.Model(domains=["test"])
    m.input("x", F, [2])
    m.tensor("k", I64, [2], [5, -6])
    m.node("Op", ["x", "k"], ["t", "u", "v"], name="op", domain="test", n=3)
    for name in "tuv":
        m.output(name, (I64, onnx.UINT64, onnx.DOUBLE)["tuv".index(name)], [2])
    inputs = [{"name": "x", "data_type": "FLOAT_32"}, {"name": "k", "data_type": "INT_64", "static": True}]
    wide = zip("tuv", ("INT_64", "UINT_64", "FLOAT_64"))
    definition = typed("Op", inputs, [{"name": name, "data_type": data_type} for name, data_type in wide],
                       scalar_params=[{"name": "n", "data_type": "FLOAT_64"}])
    definition["core_types"] = ["CPU"]
    config = w.config(definition)
    container, messages = w.convert("wide", m, "-udo", config)
    if not container:
        return
    w.checks.equal("wide: outputs", [container.tensors[name].dtype for name in "tuv"],
                   ["INT_32", "UINT_32", "FLOAT_32"])
    w.checks.equal("wide: data", [(t.dtype, bytes(t.data)) for t in [container.tensors[container.ops[0].inputs[1]]]],
                   [("INT_32", bytes([5, 0, 0, 0, 250, 255, 255, 255]))])
    param = container.ops[0].params["n"]
    w.checks.equal("wide: param", (param.dtype, param.value), ("FLOAT_32", 3.0))
    w.checks.check("wide: nothing differs", "keep the types" not in messages, messages)
    xml = w.folder / "ops.xml"
    done = run("udo-check", "--convert", "xml", config, "-o", xml)
    w.checks.equal(f"wide: as XML {done.stderr}", done.returncode, 0)
    for word in ("INT_64", "UINT_64", "FLOAT_64"):
        w.checks.check(f"wide: {word} in XML", f"QNN_DATATYPE_{word}" in xml.read_text(), xml.read_text())
    again, _ = w.convert("wide XML", m, "-udo", xml)
    w.checks.equal("wide: both forms", again and [(t.name, t.dtype, t.dims) for t in again.tensors.values()],
                   [(t.name, t.dtype, t.dims) for t in container.tensors.values()])


def stub_types(w):
    """The stub has the types that operators give, where nothing declares them."""
    m = onnx.Model(opset=13, domains=["test"])
    m.input("x", F, [1, 2, 3, 3])
    for name, values, kind in (("s", [0.5], F), ("zu", [3], onnx.UINT8), ("zi", [3], onnx.INT8),
                               ("w", [1, 2, 3, 4], onnx.INT8), ("k", [1], I64)):
        m.tensor(name, kind, [2, 2, 1, 1] if name == "w" else [1] if name == "k" else [], values)
    m.node("Cast", ["x"], ["cast"], to=I32)
    m.node("QuantizeLinear", ["x", "s", "zu"], ["q"])
    m.node("QuantizeLinear", ["x", "s"], ["q0"])
    m.node("QLinearConv", ["q", "s", "zu", "w", "s", "zi", "s", "zi"], ["conv"])
    m.node("Shape", ["x"], ["shape"])
    m.node("TopK", ["x", "k"], ["top", "at"])
    m.node("Greater", ["x", "x"], ["more"])
    m.node("Where", ["more", "cast", "cast"], ["either"])
    m.node("Relu", ["x"], ["relu"])
    m.node("ConvInteger", ["q", "w"], ["sum"])
    m.node("DequantizeLinear", ["conv", "s", "zi"], ["real"])
    m.node("Cast", ["x"], ["half"], to=onnx.FLOAT16)
    values = ["cast", "q", "q0", "conv", "shape", "top", "at", "more", "either", "relu", "sum", "real", "half"]
    m.node("Strange", values, ["a", "b", "c", "d"], name="strange", domain="test")
    m.node("Add", ["a", "cast"], ["ya"])
    m.node("Where", ["b", "x", "x"], ["yb"])
    m.node("ConvInteger", ["c", "w", "zu"], ["yc"])
    m.node("Odd", ["d"], ["yd"], domain="test")
    for name in ("ya", "yb", "yc", "yd"):
        m.output(name, I32 if name in ("ya", "yc") else F, None)
    strange, odd = stub_of(w.converter("-i", w.save(m), "--udo_stub", "-").stdout)
    w.checks.equal("stub: inputs", dict(zip(values, (tensor["data_type"] for tensor in strange["inputs"]))), {
        "cast": "INT_32", "q": "UINT_8", "q0": "UINT_8", "conv": "INT_8", "shape": "INT_32", "top": "FLOAT_32",
        "at": "INT_32", "more": "BOOL_8", "either": "INT_32", "relu": "FLOAT_32", "sum": "INT_32", "real": "FLOAT_32",
        "half": "FLOAT_16"})
    w.checks.equal("stub: outputs", [tensor["data_type"] for tensor in strange["outputs"]],
                   ["INT_32", "BOOL_8", "UINT_8", "FLOAT_32"])
    w.checks.equal("stub: behind", [odd["inputs"][0]["data_type"], odd["outputs"][0]["data_type"]], ["FLOAT_32", "FLOAT_32"])


def conv(m, source, target):
    m.tensor(f"{target}.w", F, [3, 3, 1, 1], [1] * 9)
    m.node("Conv", [source, f"{target}.w"], [target])


def check_permutes(w, label, model, config, expected):
    """The warnings and udo-check's report of node 'op' say the same."""
    container, messages = w.convert(label, model, "-udo", config)
    report = json.loads(run("udo-check", config, "--model", w.save(model, "permutes"), "--json").stdout)
    node, = report["definitions"][0]["nodes"]
    w.checks.equal(f"{label}: permutes", [(p["tensor"], p["from"], p["to"], p["where"]) for p in node["permutes"]], expected)
    warnings = [line for line in messages.splitlines() if "permute" in line and "warning" in line]
    w.checks.equal(f"{label}: warnings {warnings}", len(warnings), len(expected))
    return container


def permutes_of_fewer_axes(w):
    """What a UDO gives for each channel is spread over an image that is stored channels-last."""
    m = onnx.Model(opset=13, domains=["test"])
    m.input("x", F, [1, 3, 4, 4])
    m.input("s", F, [3, 2, 1])
    m.node("Op", ["s"], ["u"], name="op", domain="test")
    m.node("ReduceMax", ["u"], ["v"], axes=[1])
    conv(m, "x", "t")
    m.node("Mul", ["v", "t"], ["y"])
    m.output("y", F, [1, 3, 4, 4])
    container = check_permutes(w, "scales of channels", m, w.config(udo("Op", "NCHW")),
                               [("s", "NHWC", "NCHW", "before"), ("v", "NCHW", "NHWC", "after")])
    w.checks.equal("scales of channels", container and op_types(container).count("Transpose"), 2)


def permutes_behind(w):
    """A permute behind a UDO's output is reported, also where it stands behind what reads that."""
    def reshape(m, source, target):
        m.tensor("s", I64, [2], [3, 16])
        m.node("Reshape", [source, "s"], [target])

    def relu(m, source, target):
        m.node("Relu", [source], [target])

    def add(m, source, target):
        m.node("Add", [source, "t"], [target])

    before, image, rows = ("t", "NHWC", "NCHW", "before"), [1, 3, 4, 4], [3, 16]
    for label, layout, first, steps, dims, expected in (
            ("direct", "NCHW", conv, [conv], image, [before, ("u0", "NCHW", "NHWC", "after")]),
            ("one op", "NCHW", conv, [relu, conv], image, [before, ("u1", "NCHW", "NHWC", "after")]),
            ("two ops", "NCHW", conv, [relu, relu, conv], image, [before, ("u2", "NCHW", "NHWC", "after")]),
            ("sum", "NCHW", conv, [relu, add], image, [before, ("u1", "NCHW", "NHWC", "after")]),
            ("to rows", "NHWC", None, [relu, reshape], rows, [("u1", "NHWC", "NCHW", "after")]),
            ("the convolution's own", "NHWC", conv, [relu, add, reshape], rows, []),
            ("an input alone", "NCHW", None, [relu, reshape], rows, [("x", "NHWC", "NCHW", "before")])):
        m = onnx.Model(opset=13, domains=["test"])
        m.input("x", F, image)
        source = "x"
        if first:
            first(m, "x", "t")
            source = "t"
        m.node("Op", [source], ["u0"], name="op", domain="test")
        for i, step in enumerate(steps):
            step(m, f"u{i}", "y" if step is steps[-1] and i == len(steps) - 1 else f"u{i + 1}")
        m.output("y", F, dims)
        container = check_permutes(w, label, m, w.config(udo("Op", layout)), expected)
        if container and label != "the convolution's own":
            w.checks.equal(f"{label}: Transposes", op_types(container).count("Transpose"), len(expected))


TESTS = (float_models, per_core, native_names, contradictions, readers, wide_types, stub_types, permutes_behind, permutes_of_fewer_axes)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for test in TESTS:
            test(w)
    checks.finish()


main()
