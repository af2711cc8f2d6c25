# SPDX-License-Identifier: Apache-2.0
"""tensorflow-to-dlc: what it tells: usage, dry runs, unsupported ops, unconsumed nodes, diagnostics, dependency files; and the
reports of udo-check on TensorFlow models."""

import json
import os
import re
import subprocess

from tf_workshop import (SOURCE, Graph, Shape, chain, command, meta_graph, np, op_types, run, run_parts, save_bundle,
                         save_meta_graph, save_saved_model, signature, udo)
from tf_writer import RESOURCE, Tensor


def option_names(w):
    model = w.save(chain("Relu"))
    for label, args in (("short", ["-i", model]), ("long", ["--input_network", model]), ("prefix", ["--input_n", model]),
                        ("another name", ["--graph", model]), ("attached", [f"--input_network={model}"])):
        done = w.converter(*args, cwd=w.folder)
        w.checks.equal(f"{label}: {done.stderr}", done.returncode, 0)
        w.checks.check(f"{label}: the container is beside the model", (w.folder / "m.dlc").exists())
        (w.folder / "m.dlc").unlink(missing_ok=True)
    config, custom = w.config(udo("Thing")), chain("Thing")
    for form in (["-udo", config], ["--udo_config_paths", config], ["-opc", config], ["--op_package_config", config]):
        container, _ = w.convert(form[0], custom, *form)
        w.checks.equal(f"{form[0]}: ops", container and op_types(container), ["Thing"])
    for label, args, words in (
            ("nothing", [], ["--input_network", "required"]), ("stray", [model, "out.dlc", "third"], ["unexpected argument 'third'"]),
            ("unknown", ["-i", model, "--saved_model_tags", "x"], ["did you mean --saved_model_tag?"]),
            ("missing value", ["-i", model, "--out_node"], ["--out_node", "needs a value"])):
        done = w.converter(*args, cwd=w.folder)
        w.checks.equal(f"{label}: status", (done.returncode, done.stdout), (2, ""))
        for word in words:
            w.checks.check(f"{label}: says {word!r}", word in done.stderr, done.stderr)
    for option, word in (("--help", "--show_unconsumed_nodes"), ("-h", "--saved_model_signature_key"),
                         ("--version", "tensorflow-to-dlc (OpenDLC)")):
        done = w.converter(option)
        w.checks.equal(f"{option}: status", (done.returncode, done.stderr), (0, ""))
        w.checks.check(f"{option}: text", word in done.stdout, done.stdout)


def ignored(w):
    container, messages = w.convert("ignored options", chain("Relu"), "--allow_unconsumed_nodes", "--strict", "-t", "x", "default")
    w.checks.check("ignored options convert", container)
    for name in ("allow_unconsumed_nodes", "strict", "input_type"):
        w.checks.equal(f"--{name}: notes", messages.count(f"option --{name} has no effect"), 1)


def not_models(w):
    """What is no TensorFlow model is said to be none."""
    for name, content in (("empty.pb", b""), ("text.pb", b"hello world\n"), ("zeros.pb", bytes(64)), ("broken.pbtxt", b"node {")):
        path = w.folder / name
        path.write_bytes(content)
        w.fails(name, 1, [name, "error:"], path)
    done = w.converter("-i", w.folder / "nowhere.pb", "-o", w.folder / "o.dlc")
    w.checks.equal("no file", done.returncode, 1)
    w.checks.check("no file: says so", "nowhere.pb" in done.stderr and "cannot open" in done.stderr, done.stderr)
    (w.folder / "no model").mkdir()
    w.fails("empty folder", 1, ["no model", "saved_model.pb"], w.folder / "no model")


def unsupported():
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    w = g.const("w", np.float32([1, 2]))
    a = g.node("Strange", [x, g.node("Identity", [w], name="w/read")], name="first", alpha=0.5, mode="fast", sizes=[1, 2],
               T=np.float32, flag=True, shape=Shape([3]), outputs={"out": np.float32}, _class=["loc:@w"])
    b = g.node("Relu", [a], name="plain")
    c = g.node("Odd", [b], name="second", count=3, Tout=[np.float32, np.int64], outputs={"a": np.float32, "b": np.int64})
    g.node("Strange", [c, w], name="third", alpha=0.25, mode="slow", sizes=[3], T=np.float32, flag=False, shape=Shape([4]))
    return g


def all_unsupported(w):
    messages = w.fails("unsupported", 1, ["op Strange is not supported; 2 nodes: first, third",
                                          "op Odd is not supported; 1 node: second", "--udo_config_paths", "--udo_stub"],
                       unsupported())
    w.checks.equal("unsupported: one error a type", messages.count("error:"), 2)
    w.checks.check("unsupported: no versions", "version" not in messages and "domain" not in messages, messages)


def refusals(w):
    """Each operator that is refused for a reason says the reason, the node, and what to do."""
    rows = re.findall(r'^TF_REFUSAL\("([^"]+)", (.+)\)$',
                      (SOURCE / "converters" / "tensorflow" / "lower" / "tf_refusals.def").read_text(), re.M)
    macros = dict(re.findall(r'^#define (\w+) "(.*)"$', (SOURCE / "converters" / "tensorflow" / "lower" / "tf_refusals.def").read_text(),
                             re.M))
    w.checks.check("there are refusals", rows)
    for op, reason in rows:
        reason = macros.get(reason, reason.strip('"'))
        g = chain("Strange", "Neg")  # operators that change variables are no output of a model
        g.nodes[1].op = op
        w.fails(f"refused {op}", 1, [f"op {op} is not supported: {reason}; 1 node: n0", "--udo_stub"], g)


def stub_of(stdout):
    return json.loads(stdout[stdout.index("{"):])


def dry_run(w):
    model = w.save(unsupported(), "dry.pb")
    before = sorted(os.listdir(w.folder))
    done = w.converter("-i", model, "--dry_run", cwd=w.folder)
    w.checks.equal("dry run: status", done.returncode, 1)
    w.checks.equal("dry run writes nothing", sorted(os.listdir(w.folder)), before)
    for line in ("unsupported  Strange  first", "native       Relu  plain", "unsupported  Odd  second",
                 "unsupported  Strange  third"):
        w.checks.check(f"dry run: {line}", line in done.stdout.splitlines(), done.stdout)
    ops = stub_of(w.converter("-i", model, "--udo_stub", "-", cwd=w.folder).stdout)["UdoPackage_0"]["Operators"]
    w.checks.equal("stub: definitions", [(op["type"], op.get("domain")) for op in ops], [("Strange", None), ("Odd", None)])
    strange, odd = ops
    w.checks.equal("stub: scalars", {param["name"]: param["data_type"] for param in strange["scalar_params"]},
                   {"alpha": "FLOAT_32", "mode": "STRING", "flag": "BOOL_8"})
    w.checks.equal("stub: lists", {param["name"]: param["data_type"] for param in strange["tensor_params"]},
                   {"sizes": "INT_32", "shape": "INT_32"})
    w.checks.equal("stub: types are left out", [param["name"] for param in odd["scalar_params"] + odd["tensor_params"]],
                   ["count"])
    w.checks.equal("stub: static", [tensor.get("static", False) for tensor in strange["inputs"]], [False, True])
    stub = w.folder / "stub.json"
    for op in ops:
        op["outputs"][0]["shape"] = "same_as in0"
    stub.write_text(json.dumps({"UdoPackage_0": {"Operators": ops, "UDO_PACKAGE_NAME": "MyUdoPackage"}}))
    container, messages = w.convert("the stub", unsupported(), "-udo", stub)
    w.checks.equal("the stub", container and [op.package for op in container.ops],
                   ["MyUdoPackage", "qti.aisw", "MyUdoPackage", "MyUdoPackage"])
    w.checks.equal("the stub: no warnings", messages.count("warning:"), 0)
    again = w.converter("-i", model, "--dry_run", "-udo", stub)
    w.checks.equal("dry run with the stub", (again.returncode, "3 UDO, 0 unsupported" in again.stdout), (0, True))


def stub_types(w):
    """Inputs in the config to start from have the types that TensorFlow's operators give."""
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 3])
    values = [x, g.node("Cast", [x], DstT=np.int32), g.node("ArgMax", [x, g.const(np.int32(1))]), g.node("Greater", [x, x]),
              g.node("Identity", [g.const(np.uint8([1]))]), g.placeholder("half", np.float16, [1])]
    g.node("Strange", values, name="strange", Tin=[np.float32] * 6)
    op = stub_of(w.converter("-i", w.save(g), "--udo_stub", "-").stdout)["UdoPackage_0"]["Operators"][0]
    w.checks.equal("stub: types", [tensor["data_type"] for tensor in op["inputs"]],
                   ["FLOAT_32", "INT_32", "INT_32", "BOOL_8", "UINT_8", "FLOAT_16"])
    w.checks.equal("stub: data", [tensor.get("static", False) for tensor in op["inputs"]], [i == 4 for i in range(6)])


def constants_without_form(w):
    """They do not keep a dry run from looking at the rest; where nothing needs them they do no harm at all."""
    g = Graph()
    x = g.placeholder("x", np.float32, [2])
    handles = [g.node("Const", [], name=name, value=Tensor(np.zeros(2, np.int32), "content", RESOURCE), dtype=RESOURCE) for name in "wv"]
    g.node("Strange", [g.node("Relu", [x], name="r"), *handles], name="y")
    done = w.converter("-i", w.save(g), "--dry_run")
    w.checks.equal("no form: status", done.returncode, 1)
    for line in ("unsupported  Const  w", "unsupported  Const  v", "native       Relu  r", "unsupported  Strange  y"):
        w.checks.check(f"no form: {line}", line in done.stdout.splitlines(), done.stdout)
    w.checks.equal("no form: stub", [op["type"] for op in stub_of(w.converter("-i", w.save(g), "--udo_stub", "-").stdout)["UdoPackage_0"]["Operators"]], ["Strange"])
    w.checks.equal("no form: reasons", done.stderr.count("the tensor is of the type resource, which is not supported"), 2)
    container, _ = w.convert("no form: cut", g, "--out_node", "r")
    w.checks.equal("no form: cut", container and op_types(container), ["Neuron"])


def json_lines(w):
    for label, model, args, status, codes in (
            ("errors", unsupported(), [], 1, ["unsupported-op", "unsupported-op"]),
            ("warnings", chain("Relu", shape=[1, 3]), ["-d", "x", "1,2"], 0, ["dims-overridden"]),
            ("open dims", chain("Relu", shape=[None]), [], 1, ["open-dims"]),
            ("no output", chain("Relu"), ["--out_node", "z"], 2, ["unknown-output"])):
        done = w.converter("-i", w.save(model), "-o", w.folder / "json.dlc", "--json", *args)
        w.checks.equal(f"json {label}: status", done.returncode, status)
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        w.checks.equal(f"json {label}: codes", [line["code"] for line in lines], codes)
        w.checks.check(f"json {label}: file", all(line["file"].endswith("m.pb") for line in lines), lines)


def unconsumed(w):
    """Nodes that the outputs do not need, in the order of the file."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 2])
    g.node("NoOp", [], name="init")
    y = g.node("Relu", [x, "^init"], name="y")
    g.node("Strange", [y], name="train")
    g.node("Neg", [y], name="other")
    model = w.save(g)
    for args, expected in ((["--out_node", "y"], ["init", "train", "other"]), (["--out_node", "y", "other"], ["init", "train"])):
        done = w.converter("-i", model, "-o", w.folder / "o.dlc", "--show_unconsumed_nodes", *args)
        w.checks.equal(f"unconsumed {args}: status {done.stderr}", done.returncode, 0)
        w.checks.equal(f"unconsumed {args}", [line.split()[1] for line in done.stdout.splitlines()
                                              if line.startswith("unconsumed ")], expected)
        w.checks.check(f"unconsumed {args}: count", f"{len(expected)} nodes are not consumed" in done.stdout, done.stdout)
    done = w.converter("-i", model, "-o", w.folder / "o.dlc", "--out_node", "y")
    w.checks.check("without the option", "unconsumed" not in done.stdout and "other" not in done.stdout, done.stdout)


def depfile(w):
    """The files of a checkpoint are among what the container depends on."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 2])
    v = g.node("VariableV2", [], name="v", dtype=np.float32, shape=Shape([2]))
    y = g.node("AddV2", [x, g.node("Identity", [v], name="v/read")], name="y")
    save_meta_graph(w.folder / "net.meta", g)
    save_bundle(w.folder / "net", {"v": np.float32([1, 2])})
    sign = signature({"in": (x, [1, 2])}, {"out": (y, [1, 2])})
    save_saved_model(w.folder / "saved", meta_graph(g, {"serving_default": sign}))
    save_bundle(w.folder / "saved" / "variables" / "variables", {"v": np.float32([1, 2])})
    config = w.config(udo("Unused"))
    shards = ["net.data-00000-of-00001", "net.index"]
    for model, args, files in (("net.meta", ["--out_node", "y"], ["net.meta", *shards]),
                               ("saved", [], ["saved/saved_model.pb", "saved/variables/variables.data-00000-of-00001",
                                              "saved/variables/variables.index"])):
        done = w.converter("-i", model, "-o", "out.dlc", "--depfile", "out.d", "-udo", config.name, *args, cwd=w.folder)
        w.checks.equal(f"depfile of {model}: status {done.stderr}", done.returncode, 0)
        names = [name.removeprefix("./") for name in (w.folder / "out.d").read_text().replace("\\\n", " ").split()]
        w.checks.equal(f"depfile of {model}: target", names[0], "out.dlc:")
        found = {name for name in names[1:] if not (w.folder / name).is_dir()}
        w.checks.equal(f"depfile of {model}", found, {config.name, *files})


def same_bytes(w):
    """The same model, in whatever form, and the same options give the same container."""
    model, out = w.save(unsupported()), w.folder / "o.dlc"
    config = w.config(udo("Strange", inputs=2, scalar_params=[{"name": "alpha", "data_type": "FLOAT_32"}]), udo("Odd"))
    contents = []
    for _ in range(2):
        done = w.converter("-i", model, "-o", out, "-udo", config, "--udo_promote_static")
        w.checks.equal(f"same bytes: {done.stderr}", done.returncode, 0)
        contents.append(out.read_bytes())
        out.unlink()
    w.checks.check("same bytes", contents[0] == contents[1])


def metadata(w):
    container, _ = w.convert("metadata", chain("Relu"), "--model_version", "v1", "--out_node", "n0")
    info = subprocess.run([command("dlc-info"), "-i", container.path], capture_output=True, text=True, check=False)
    for word in ("v1", "tensorflow-to-dlc", "input_network=", "out_node="):
        w.checks.check(f"dlc-info has {word}", word in info.stdout, info.stdout)


def checked_udos(w):
    """udo-check looks at models of TensorFlow, which it knows by their names."""
    definition = udo("Thing", "NCHW", scalar_params=[{"name": "level", "data_type": "INT_32"}])
    config = w.config(definition)
    g = chain("Relu", shape=[1, 4, 6, 2])
    g.node("Thing", [g.nodes[-1].outputs[0]], name="thing", level=3, T=np.float32)
    frozen, meta, folder = w.folder / "net.pb", w.folder / "net.meta", w.folder / "net"
    g.save(frozen)
    save_meta_graph(meta, g)
    save_bundle(w.folder / "net", {"unused": np.float32([1])})
    sign = signature({"in": (g.nodes[0].outputs[0], [1, 4, 6, 2])}, {"out": (g.nodes[-1].outputs[0], [1, 4, 6, 2])})
    save_saved_model(folder, meta_graph(g, {"serving_default": sign}))
    for model in (frozen, meta, folder, folder / "saved_model.pb"):
        done = run("udo-check", config, "--model", model, "--json")
        w.checks.equal(f"{model.name}: status {done.stderr}", done.returncode, 0)
        report = json.loads(done.stdout)
        node = report["definitions"][0]["nodes"][0]
        w.checks.equal(f"{model.name}: node", node["node"], "thing")
        w.checks.equal(f"{model.name}: permutes", [(p["tensor"], p["to"]) for p in node["permutes"]],
                       [("n0:0", "NCHW"), ("thing:0.nchw", "NHWC")])
        w.checks.check(f"{model.name}: converts", report["model"]["converts"], report["model"])
    done = run("udo-check", config, "--model", frozen)
    for words in ("net.pb", "thing", "level", "attribute"):
        w.checks.check(f"text: {words}", words in done.stdout, done.stdout)
    done = run("udo-check", config, "--model", folder, "--saved_model_tag", "train")
    w.checks.check("a tag that is not there", done.returncode == 2 and "serve" in done.stderr, done.stderr)


run_parts(option_names, ignored, not_models, all_unsupported, refusals, dry_run, stub_types, constants_without_form,
          json_lines, unconsumed, depfile, same_bytes,
          metadata, checked_udos)
