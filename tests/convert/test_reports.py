# SPDX-License-Identifier: Apache-2.0
"""What onnx-to-dlc tells: usage, names of options, dry runs, unsupported ops, diagnostics, dependency files, dumps."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

from conversion import Workshop, chain, onnx, op_types, scaled, scaling, udo
from checks import BUILD, SOURCE, Checks, command
from dlc_reader import read_container


def option_names(w):
    model = w.save(chain("Relu"))
    for label, args in (("prefixes", ["--input_n", model, "--output", "out.dlc"]),
                        ("attached", [f"--input_network={model}", "--output_path=out.dlc"]),
                        ("short", ["-i", model, "-o", "out.dlc"])):
        done = w.converter(*args, cwd=w.folder)
        w.checks.equal(f"{label}: {done.stderr}", (done.returncode, done.stdout), (0, ""))
        w.checks.check(f"{label}: file", (w.folder / "out.dlc").exists())
        (w.folder / "out.dlc").unlink()
    done = w.converter("-i", model, "--out=out.dlc", cwd=w.folder)
    w.checks.equal("ambiguous", done.returncode, 2)
    w.checks.check("ambiguous: candidates", "--output_path, --out_node" in done.stderr, done.stderr)
    config, custom = w.config(udo("Thing")), chain("Thing")
    for form in (["-udo", config], [f"-udo={config}"], ["--udo_config_paths", config], ["--udo_c", config]):
        container, _ = w.convert(f"{form[0]}", custom, *form)
        w.checks.equal(f"{form[0]}: ops", container and op_types(container), ["Thing"])
    two = chain("Thing", "Other")
    other = w.config(udo("Other"), name="other.json", package="Q")
    container, _ = w.convert("two configs", two, "-udo", config, other)
    w.checks.equal("two configs", container and [op.package for op in container.ops], ["P", "Q"])


def usage(w):
    model = w.save(chain("Relu"))
    for label, args, words in (
            ("nothing", [], ["--input_network", "required"]),
            ("unknown option", ["-i", model, "--udo_config_pahts", "x"], ["did you mean --udo_config_paths?"]),
            ("missing value", ["-i"], ["--input_network", "needs a value"]),
            ("stray", [model, "out.dlc", "third"], ["unexpected argument 'third'"]),
            ("params format", ["-i", model, "--params_format", "nr32"], ["no format nr32", "nr64 or netp"]),
            ("dump form", ["-i", model, "--dump_ir", "remove_dead"], ["after=PASS"]),
            ("unknown pass", ["-i", model, "--dump_ir", "after=nothing"], ["no pass nothing", "track_axes"]),
            ("model version", ["-i", model, "--model_version", "v" * 65], ["longer than 64 bytes"])):
        done = w.converter(*args, cwd=w.folder)
        w.checks.equal(f"{label}: status", done.returncode, 2)
        for word in words:
            w.checks.check(f"{label}: says {word!r}", word in done.stderr, done.stderr)
        w.checks.equal(f"{label}: stdout", done.stdout, "")
    w.checks.check("no file of wrong usage", not (w.folder / "m.dlc").exists())
    for option, word in (("--help", "--udo_config_paths"), ("-h", "--dry_run"), ("--version", "onnx-to-dlc (OpenDLC)")):
        done = w.converter(option)
        w.checks.equal(f"{option}: status", (done.returncode, done.stderr), (0, ""))
        w.checks.check(f"{option}: text", word in done.stdout, done.stdout)


def ignored(w):
    args = ["-t", "x", "default", "-e", "x", "bgr", "--validation_target", "cpu", "chip", "--strict", "-p", "pkg",
            "--op_package_lib", "a.so",
            "--expand_lstm_op_structure", "-n", "-e", "x", "rgb", "--input_encoding", "x", "yuv"]
    container, messages = w.convert("ignored options", chain("Relu"), *args)
    w.checks.check("ignored options convert", container)
    names = ["input_type", "input_encoding", "validation_target", "strict", "package_name", "op_package_lib",
             "expand_lstm_op_structure",
             "no_simplification"]
    for name in names:
        found = messages.count(f"option --{name} has no effect")
        w.checks.equal(f"--{name}: notes", found, 1)


def unsupported_model():
    m = onnx.Model(opset=13, domains=["org.example"])
    m.input("x", onnx.FLOAT, [1, 4])
    m.node("Strange", ["x"], ["a"], name="first", alpha=0.5, mode="fast", sizes=[1, 2])
    m.node("Relu", ["a"], ["b"], name="plain")
    m.node("Odd", ["b"], ["c"], name="second", domain="org.example", count=3)
    m.node("Strange", ["c"], ["y"], name="third", alpha=0.25, mode="slow", sizes=[3])
    m.output("y", onnx.FLOAT, [1, 4])
    return m


def all_unsupported(w):
    messages = w.fails("unsupported", 1, [
        "op Strange (domain ai.onnx, version 13) is not supported; 2 nodes: first, third",
        "op Odd (domain org.example, version 1) is not supported; 1 node: second",
        "--udo_config_paths", "--udo_stub"], unsupported_model())
    w.checks.equal("unsupported: one error a type", messages.count("error:"), 2)


def stub_of(stdout):
    return json.loads(stdout[stdout.index("{"):])


def dry_run(w):
    model = w.save(unsupported_model(), "dry.onnx")
    before = sorted(os.listdir(w.folder))
    done = w.converter("-i", model, "--dry_run", cwd=w.folder)
    w.checks.equal("dry run: status with unsupported ops", done.returncode, 1)
    w.checks.equal("dry run writes nothing", sorted(os.listdir(w.folder)), before)
    for line in ("unsupported  Strange (version 13)  first", "native       Relu (version 13)  plain",
                 "unsupported  org.example::Odd (version 1)  second", "unsupported  Strange (version 13)  third",
                 "4 ops: 1 native, 0 UDO, 3 unsupported"):
        w.checks.check(f"dry run: {line}", line in done.stdout.splitlines(), done.stdout)
    stub = w.folder / "stub.json"
    w.checks.check("dry run: says how to have a config", "--udo_stub FILE writes a UDO config" in done.stdout, done.stdout)
    wrote = w.converter("-i", model, "--udo_stub", stub, cwd=w.folder)
    w.checks.equal("stub: the list is that of a dry run", (wrote.returncode, wrote.stdout), (1, done.stdout))
    to_stdout = w.converter("-i", model, "--udo_stub", "-", cwd=w.folder)
    w.checks.equal("stub: on standard output it is alone", (to_stdout.returncode, to_stdout.stdout), (1, stub.read_text()))
    again = w.converter("-i", model, "--dry_run", "-udo", stub, "-o", w.folder / "dry.dlc", cwd=w.folder)
    w.checks.equal(f"dry run with the stub {again.stderr}", again.returncode, 0)
    w.checks.check("dry run with the stub", "4 ops: 1 native, 3 UDO, 0 unsupported" in again.stdout, again.stdout)
    w.checks.check("dry run with the stub: package", "UDO          Strange (version 13)  first  package MyUdoPackage"
                   in again.stdout, again.stdout)
    w.checks.check("dry run with the stub: no config", "{" not in again.stdout, again.stdout)
    w.checks.check("dry run writes no container", not (w.folder / "dry.dlc").exists())
    container, _ = w.convert("the stub", unsupported_model(), "-udo", stub)
    if container:
        params = {name: param.value for name, param in container.ops[0].params.items() if not param.tensor}
        w.checks.equal("the stub: scalar params", (params["alpha"], params["mode"]), (0.5, "fast"))
        w.checks.equal("the stub: tensor param", container.ops[3].params["sizes"].tensor.dims, [1])


def model_of_strangers():
    """Ops that nobody knows, in the default domain and in others; of one type in two domains; nodes of one type that differ in
    what they take, give and say; and namesakes of a native op and of no op at all."""
    m = onnx.Model(opset=13, domains=["org.example", "com.other"])
    m.input("x", onnx.FLOAT, [1, 4])
    m.input("i", onnx.INT64, [2])
    m.tensor("w", onnx.FLOAT, [2], [1.0, 2.0])
    m.tensor("k", onnx.INT64, [3], [7, 8, 9])
    m.node("Constant", [], ["list"], value_ints=[4, 5])
    m.node("Strange", ["x", "w"], ["a"], name="s1", alpha=0.5, mode="fast", sizes=[1, 2], count=3, names=["p", "qq"],
           scales=[0.5, 0.25], table=onnx.tensor("", onnx.DOUBLE, [2, 2], [1.0, 2.0, 3.0, 4.0]))
    m.node("Strange", ["a", "", "k"], ["b", "b2"], name="s2", alpha=1, mode="slow", sizes=3, extra=7)
    m.node("Strange", ["b", "list"], ["c"], name="s3", domain="org.example", gain=2.0)
    m.node("Relu", ["c"], ["d"], name="native")
    m.node("Relu", ["d"], ["e"], name="namesake", domain="com.other", slope=[0.5])
    m.node("Odd", ["e", "i", "b2"], ["f"], name="o1", domain="org.example", count=3)
    m.node("Odd", ["f", "i", "b2"], ["y"], name="o2", domain="org.example", count=4)
    m.output("y", onnx.FLOAT, [1, 4])
    return m


def fill_in(stub):
    """What the author of these ops knows: the shapes of outputs, and defaults of attributes that nodes may leave out."""
    defaults = {"count": 1, "extra": 0, "sizes": [0], "names": ["none"], "scales": [1.5], "table": [[0.5]]}
    for op in stub["UdoPackage_0"]["Operators"]:
        for tensor in op["outputs"]:
            tensor["shape"] = "same_as in0"
        for param in op["scalar_params"] + op["tensor_params"]:
            if param["name"] in defaults and op["type"] == "Strange":
                param["default_value"] = defaults[param["name"]]
    return stub


def values_of(op):
    """{param: value, or list of values} of a UDO node without the supplemental ones."""
    forms = {"FLOAT_32": "f", "INT_32": "i"}
    found = {}
    for name, param in op.params.items():
        if name.startswith("udo_") or name == "packageName":
            continue
        if not param.tensor:
            found[name] = param.value
        elif param.tensor.dtype == "STRING":
            found[name] = param.tensor.data
        else:
            form = forms[param.tensor.dtype]
            found[name] = list(struct.unpack(f"<{len(param.tensor.data) // 4}{form}", param.tensor.data))
    return found


def filled_stub(w):
    """One report lists all nodes that nobody knows, with domain and version; the stub, filled in, converts the model."""
    m = model_of_strangers()
    w.fails("strangers", 1, [
        "op Strange (domain ai.onnx, version 13) is not supported; 2 nodes: s1, s2",
        "op Strange (domain org.example, version 1) is not supported; 1 node: s3",
        "op Relu (domain com.other, version 1) is not supported; 1 node: namesake",
        "op Odd (domain org.example, version 1) is not supported; 2 nodes: o1, o2"], m)
    stub = stub_of(w.converter("-i", w.save(m), "--udo_stub", "-").stdout)
    ops = stub["UdoPackage_0"]["Operators"]
    w.checks.equal("stub: definitions", [(op["type"], op.get("domain")) for op in ops],
                   [("Strange", "ai.onnx"), ("Strange", "org.example"), ("Relu", "com.other"), ("Odd", "org.example")])
    path = w.folder / "stub.json"
    path.write_text(json.dumps(stub))
    w.fails("stub as it is", 1, ["nothing tells the shape of output 0", "stub.json:", "give a default_value"], m, "-udo",
            path)
    path.write_text(json.dumps(fill_in(stub)))
    container, messages = w.convert("filled stub", m, "-udo", path)
    if not container:
        return
    w.checks.equal("filled stub: no warnings", messages.count("warning:"), 0)
    native = "qti.aisw"
    w.checks.equal("filled stub: packages", [op.package for op in container.ops],
                   ["MyUdoPackage"] * 3 + [native] + ["MyUdoPackage"] * 3)
    found = [values_of(op) for op in container.ops]
    names = found[0].pop("names"), found[1].pop("names")
    w.checks.check("filled stub: texts", b"qq" in names[0] and b"none" in names[1], names)
    w.checks.equal("filled stub: s1", found[0], {"alpha": 0.5, "mode": "fast", "sizes": [1, 2], "count": 3, "extra": 0,
                                                 "scales": [0.5, 0.25], "table": [1, 2, 3, 4]})
    w.checks.equal("filled stub: s2", found[1], {"alpha": 1, "mode": "slow", "sizes": [3], "count": 1, "extra": 7,
                                                 "scales": [1.5], "table": [0.5]})
    w.checks.equal("filled stub: others", found[2:3] + found[4:],
                   [{"gain": 2.0}, {"slope": [0.5]}, {"count": 3}, {"count": 4}])
    w.checks.equal("filled stub: inputs", [[name for name in op.inputs if name] for op in container.ops],
                   [["x", "w"], ["a", "k.int32"], ["b", "list.int32"], ["c"], ["d"], ["e", "i", "b2"], ["f", "i", "b2"]])


def names_of_all_nodes(w):
    nodes = [f"t{i}_node" for i in range(29)] + ["y_node"]
    w.fails("thirty nodes", 1, [f"30 nodes: {', '.join(nodes)}"], chain(*["Strange"] * 30))


def stub_types(w):
    """The stub has the types that the model shows, and says which inputs are data of the model or may be absent."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2])
    m.input("i", onnx.INT64, [2])
    m.input("b", onnx.BOOL, [2])
    m.tensor("w", onnx.INT64, [2], [5, 6])
    m.node("Constant", [], ["k"], value=onnx.tensor("", onnx.UINT8, [2], [7, 8]))
    m.node("Strange", ["x", "i", "w", "", "k", "b"], ["y"])
    m.output("y", onnx.INT32, [2])
    done = w.converter("-i", w.save(m), "--udo_stub", "-")
    op = stub_of(done.stdout)["UdoPackage_0"]["Operators"][0]
    w.checks.equal("stub: input types", [tensor["data_type"] for tensor in op["inputs"]],
                   ["FLOAT_32", "INT_32", "INT_32", "FLOAT_32", "UINT_8", "BOOL_8"])
    w.checks.equal("stub: static", [tensor.get("static", False) for tensor in op["inputs"]],
                   [False, False, True, False, True, False])
    w.checks.equal("stub: optional", [tensor.get("optional", False) for tensor in op["inputs"]],
                   [False, False, False, True, False, False])
    w.checks.equal("stub: output type", op["outputs"][0]["data_type"], "INT_32")
    (w.folder / "stub.json").write_text(done.stdout[done.stdout.index("{"):])
    container, _ = w.convert("stub of types", m, "-udo", w.folder / "stub.json")
    if container:
        static = [container.tensors[name] for name in container.ops[0].inputs
                  if name and container.tensors[name].kind == "STATIC"]
        w.checks.equal("stub of types: data", [list(t.data) for t in static], [[5, 0, 0, 0, 6, 0, 0, 0], [7, 8]])


def json_lines(w):
    for label, model, args, status, codes in (
            ("errors", unsupported_model(), [], 1, ["unsupported-op", "unsupported-op"]),
            ("warnings", chain("Relu", dims=[1, 3]), ["-d", "x", "1,2"], 0, ["dims-overridden"]),
            ("ignored", chain("Relu"), ["--strict"], 0, ["option-ignored"]),
            ("open dims", chain("Relu", dims=["N"]), [], 1, ["open-dims"])):
        out = w.folder / f"json-{label}.dlc"
        done = w.converter("-i", w.save(model), "-o", out, "--json", *args)
        w.checks.equal(f"json {label}: status", done.returncode, status)
        try:
            lines = [json.loads(line) for line in done.stderr.splitlines()]
        except ValueError:
            w.checks.check(f"json {label}: lines parse", False, done.stderr)
            continue
        w.checks.equal(f"json {label}: codes", [line["code"] for line in lines], codes)
        severity = "error" if status else "note" if codes == ["option-ignored"] else "warning"
        w.checks.equal(f"json {label}: severities", {line["severity"] for line in lines}, {severity})
    for label, args, codes in (("unknown", ["--nonsense", "--json"], ["option-unknown"]),
                               ("two", ["--json", "a", "b", "stray", "--debug", "1", "2"], ["argument-stray"] * 2),
                               ("missing", ["--js"], ["option-missing"]), ("value", ["--json", "-i"], ["option-value"])):
        done = w.converter(*args)
        w.checks.equal(f"json usage, {label}: status", done.returncode, 2)
        w.checks.equal(f"json usage, {label}", [json.loads(line)["code"] for line in done.stderr.splitlines()], codes)
    model = chain("Strange")
    done = w.converter("-i", w.save(model), "--json")
    line = json.loads(done.stderr)
    w.checks.equal("json: node", line["node"], "y_node")
    w.checks.check("json: message, hint", line["message"] and line["hint"], line)
    w.checks.check("json: file", line["file"].endswith("m.onnx"), line)


def external_model(w, location="data file.bin"):
    """x + a constant that is kept in a file of its own."""
    (w.folder / location).write_bytes(b"\0\0\x80\x3f\0\0\0\x40")
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2])
    t = onnx.Message().integer(1, 2).integer(2, onnx.FLOAT).data(8, "c").integer(14, 1)
    t.message(13, onnx.Message().data(1, "location").data(2, location))
    m.graph.message(5, t)
    m.node("Add", ["x", "c"], ["y"])
    m.output("y", onnx.FLOAT, [2])
    return m


def depfile(w):
    model = w.save(external_model(w), "dep.onnx")
    license_text = w.folder / "license.txt"
    license_text.write_text("all rights")
    config = w.config(udo("Unused"))
    done = w.converter("-i", "dep.onnx", "-o", "out.dlc", "--depfile", "dep.d", "-udo", config.name, "--copyright_file",
                       license_text.name, cwd=w.folder)
    w.checks.equal(f"depfile: status {done.stderr}", done.returncode, 0)
    text = (w.folder / "dep.d").read_text()
    rule = text.replace("\\\n", " ").replace("\\ ", "\0").split()
    files = [name.replace("\0", " ").removeprefix("./") for name in rule]
    w.checks.equal("depfile", sorted(files),
                   sorted(["out.dlc:", "dep.onnx", config.name, "data file.bin", license_text.name]))
    w.checks.equal("depfile: target first", files[0], "out.dlc:")
    (w.folder / "failed.d").unlink(missing_ok=True)
    done = w.converter("-i", w.save(chain("Strange")), "-o", "o.dlc", "--depfile", "failed.d", cwd=w.folder)
    w.checks.check("depfile of a failure", done.returncode == 1 and not (w.folder / "failed.d").exists())
    w.checks.check("depfile: model", model.exists())


def dump_ir(w):
    passes = w.converter("-i", w.save(scaled()), "--dump_ir", "after=?").stderr
    names = passes.split("the passes are: ")[1].strip().split(", ")
    w.checks.check("dump: names of passes", "track_axes" in names and "remove_dead" in names, names)
    w.checks.equal("dump: names that stand twice", [name for name in names if names.count(name) > 1], [])
    options = (SOURCE / "include" / "opendlc" / "convert_options.def").read_text()
    w.checks.equal("dump: passes in the manual", re.findall(r"`(\w+)`", options.split('"PASS is ')[1].split(')')[0]), names)
    table = (SOURCE / "docs" / "graphs-and-passes.md").read_text().split("## The passes")[1].split("\n\n")[1]
    w.checks.equal("dump: passes in graphs-and-passes.md", re.findall(r"^\| (\w+) \|", table, re.M)[1:], names)
    reader = BUILD / "tests" / "convert" / "read_ir"
    for name in names:
        done = w.converter("-i", w.folder / "m.onnx", "-o", w.folder / "dump.dlc", "--dump_ir", f"after={name}")
        w.checks.equal(f"dump after {name}", done.returncode, 0)
        read = subprocess.run([reader], input=done.stdout, capture_output=True, text=True, check=False)
        w.checks.equal(f"dump after {name} parses {read.stderr}", read.returncode, 0)
        w.checks.equal(f"dump after {name} prints the same", read.stdout, done.stdout)
        w.checks.equal(f"dump after {name}: convolutions", done.stdout.count("Conv2d"), 1)
    before, after = (w.converter("-i", w.folder / "m.onnx", "-o", w.folder / "dump.dlc", "--dump_ir", f"after={name}")
                     .stdout for name in ("remove_dead", names[-1]))
    w.checks.check("dump: another text after other passes", before != after)


def metadata(w):
    notice = w.folder / "copyright.txt"
    notice.write_text("Copyright of the model's author\nsecond line\n")
    container, _ = w.convert("metadata", chain("Relu"), "--model_version", "v" * 64, "--copyright_file", notice)
    if container:
        text = " ".join(f"{key}={value}" for key, value in container.metadata.items())
        w.checks.check("model version", "v" * 64 in text, text)
        info = subprocess.run([command("dlc-info"), "-i", container.path], capture_output=True, text=True, check=False)
        for word in ("v" * 64, "Copyright of the model's author", "second line", "onnx-to-dlc", "input_network="):
            w.checks.check(f"dlc-info has {word}", word in info.stdout, info.stdout)
    w.fails("no copyright file", 1, ["nowhere.txt", "cannot open"], chain("Relu"), "--copyright_file", "nowhere.txt")


def data_of(container):
    return {name: (t.dtype, t.dims, t.data) for name, t in container.tensors.items() if t.kind == "STATIC"}


def params_format(w):
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, 2, 4, 4])
    scaling(m, "x", "a")
    m.tensor("c", onnx.FLOAT, [1, 2, 1, 1], [0.5, -3])
    m.node("Relu", ["a"], ["r"])
    m.node("Mul", ["r", "c"], ["b"])
    m.node("Transpose", ["b"], ["y"], perm=[0, 2, 3, 1])
    m.output("y", onnx.FLOAT, [1, 4, 4, 2])
    forms = [w.convert(form, m, "--params_format", form)[0] for form in ("nr64", "netp")]
    default, _ = w.convert("default params", m)
    if all(forms) and default:
        w.checks.equal("netp and nr64: tensors", data_of(forms[0]), data_of(forms[1]))
        w.checks.check("netp and nr64: there are tensors", len(data_of(forms[0])) >= 2)
        params = [[(name, p.tensor and p.tensor.data) for op in c.ops for name, p in op.params.items()] for c in forms]
        w.checks.equal("netp and nr64: params", *params)
        sizes = [read_container(c.path, data=False).entries for c in (*forms, default)]
        w.checks.check("all have params", all("model.params" in entries for entries in sizes), sizes)


def folding(w):
    """y = 2 x through a convolution and a normalization that halves: 2 · (v − 1) / sqrt(16) + 3."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, 2, 1, 1])
    scaling(m, "x", "a")
    for name, value in (("scale", 2.0), ("bias", 3.0), ("mean", 1.0), ("var", 16.0)):
        m.tensor(name, onnx.FLOAT, [2], [value] * 2)
    m.node("BatchNormalization", ["a", "scale", "bias", "mean", "var"], ["y"], epsilon=0.0)
    m.output("y", onnx.FLOAT, [1, 2, 1, 1])
    for args, types in (([], ["Conv2d"]), (["--disable_batchnorm_folding"], ["Conv2d", "Batchnorm"])):
        container = w.gives(f"batch norm {args}", m, {"x": [5, -3]}, {"y": [7.5, -0.5]}, *args)
        w.checks.equal(f"batch norm {args}: ops", container and op_types(container), types)


def disconnected(w):
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2])
    m.node("Relu", ["x"], ["y"])
    m.node("Neg", ["x"], ["unused"])
    m.output("y", onnx.FLOAT, [2])
    container, _ = w.convert("dead node", m)
    w.checks.equal("dead node", container and [op.outputs for op in container.ops], [["y"]])
    container, _ = w.convert("kept node", m, "--keep_disconnected_nodes")
    w.checks.equal("kept node", container and [op.outputs for op in container.ops], [["y"], ["unused"]])


def opsets(w):
    container, messages = w.convert("opset 29", chain("Relu", "Neg", opset=29))
    w.checks.check("opset 29 converts", container)
    w.checks.equal("opset 29: one warning", messages.count("warning:"), 1)
    w.checks.check("opset 29 is named", "29" in messages and "28" in messages, messages)
    container, messages = w.convert("opset 1", chain("Relu", opset=1))
    w.checks.check("opset 1: no warning", "warning:" not in messages, messages)


def quiet(w):
    model = w.save(chain("Relu"))
    w.checks.equal("quiet", w.converter("-i", model, "-o", w.folder / "q.dlc", "-q").stderr, "")
    loud = w.converter("-i", w.save(scaled()), "-o", w.folder / "q.dlc", "--debug").stderr
    for word in ("note: ", "graph input x is stored channels-last", "graph output y is stored channels-last",
                 "--preserve_io layout"):
        w.checks.check(f"--debug says {word}", word in loud, loud)


def main():
    checks = Checks()
    parts = (option_names, usage, ignored, all_unsupported, dry_run, filled_stub, names_of_all_nodes, stub_types,
             json_lines, depfile, dump_ir, metadata, params_format, folding, disconnected, opsets, quiet)
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in parts:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(w)
    checks.finish()


main()
