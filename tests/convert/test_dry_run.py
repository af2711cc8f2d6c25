# SPDX-License-Identifier: Apache-2.0
"""--dry_run: it says what the conversion does, whichever step of it finds the reason; and what it says of open dimensions, of
values that must be known, and of ops that hold graphs."""

import json
import re
import tempfile

from conversion import Workshop, chain, onnx, udo
from checks import Checks


def sizes_of_inputs():
    """A reshape whose sizes are computed from two graph inputs, one of them by way of another node."""
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [2, 3])
    m.input("rows", onnx.INT64, [1])
    m.input("columns", onnx.INT64, [1])
    m.tensor("one", onnx.INT64, [1], [1])
    m.node("Add", ["columns", "one"], ["wide"], name="widen")
    m.node("Concat", ["wide", "rows"], ["sizes"], name="join", axis=0)
    m.node("Reshape", ["x", "sizes"], ["t"], name="change")
    m.node("Relu", ["t"], ["y"], name="relu")
    m.output("y", onnx.FLOAT, None)
    return m


def large_constant():
    """The lowering takes it, narrowing to 32 bits does not."""
    m = onnx.Model(opset=13)
    m.input("x", onnx.INT64, [1])
    m.tensor("big", onnx.INT64, [1], [1 << 40])
    m.node("Add", ["x", "big"], ["y"], name="sum")
    m.output("y", onnx.INT64, [1])
    return m


def many_zeros():
    """A few bytes that stand for 4 GiB: the writer refuses them."""
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1])
    m.tensor("sizes", onnx.INT64, [2], [1 << 15, 1 << 15])
    m.node("ConstantOfShape", ["sizes"], ["zeros"], name="zeros")
    m.node("Add", ["x", "zeros"], ["y"], name="sum")
    m.output("y", onnx.FLOAT, None)
    return m


def unknown_and_refused():
    """An op that nobody knows, one that the lowering refuses, and one behind the first, which is not looked at."""
    m = sizes_of_inputs()
    m.node("Strange", ["x"], ["s"], name="strange")
    m.node("Reshape", ["s", "sizes"], ["t2"], name="behind")
    m.output("t2", onnx.FLOAT, None)
    return m


def holder():
    """A node with a graph, and one that nobody knows."""
    body = onnx.Model()
    body.input("i", onnx.FLOAT, [1, 2])
    body.node("Relu", ["i"], ["o"], name="inner")
    body.output("o", onnx.FLOAT, [1, 2])
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, 2])
    m.node("Holder", ["x"], ["t"], name="holder", body=body)
    m.node("Strange", ["t"], ["y"], name="strange")
    m.output("y", onnx.FLOAT, [1, 2])
    return m


def messages_of(done):
    records = [json.loads(line) for line in done.stderr.splitlines()]
    return [(record["severity"], record["code"], record["message"], record.get("hint", "")) for record in records]


def same_verdict(w, label, model, *args):
    """Runs both, compares them, and gives the dry run, with what it lists for people."""
    file, out = w.save(model), w.folder / "same.dlc"
    dry = w.converter("-i", file, "-o", out, "--json", "--dry_run", *args)
    w.checks.check(f"{label}: a dry run writes nothing", not out.exists())
    converted = w.converter("-i", file, "-o", out, "--json", *args)
    w.checks.equal(f"{label}: status", dry.returncode, converted.returncode)
    w.checks.equal(f"{label}: JSON says whether it converts", json.loads(dry.stdout)["converts"], converted.returncode == 0)
    missing = set(messages_of(converted)) - set(messages_of(dry))
    w.checks.check(f"{label}: says as much", not missing, missing)
    out.unlink(missing_ok=True)
    dry.listed = w.converter("-i", file, "-o", out, "--dry_run", *args).stdout
    w.checks.equal(f"{label}: 0 unsupported", ", 0 unsupported\n" in dry.listed, converted.returncode == 0)
    return dry


def verdicts(w):
    """A refusal of each step of the conversion, and models that convert."""
    config = w.config(udo("Thing"))
    for label, model, args, status, last in (
            ("converts", chain("Relu", "Neg"), [], 0, "2 ops: 2 native, 0 UDO, 0 unsupported"),
            ("claimed", chain("Thing"), ["-udo", config], 0, "1 ops: 0 native, 1 UDO, 0 unsupported"),
            ("lowering", sizes_of_inputs(), [], 1, "4 ops: 3 native, 0 UDO, 1 unsupported"),
            ("passes", large_constant(), [], 1, "1 ops: 1 native, 0 UDO, not converted: the errors say why"),
            ("writer", many_zeros(), [], 1, "2 ops: 2 native, 0 UDO, not converted: the errors say why"),
            ("open", chain("Relu", dims=["N"]), [], 1, "1 ops: 1 native, 0 UDO, not converted: the errors say why"),
            ("an unknown pass", chain("Relu"), ["--dump_ir", "after=no"], 2, "0 ops: 0 native, 0 UDO, not converted")):
        dry = same_verdict(w, label, model, *args)
        w.checks.equal(f"{label}: ends with", dry.returncode, status)
        w.checks.check(f"{label}: counts", last in dry.listed, dry.listed)
    output = w.save(chain("Relu"), "same.onnx")
    done = w.converter("-i", output, "-o", output, "--dry_run")
    w.checks.equal("the output is the input", (done.returncode, "output" in done.stderr),
                   (2, True))


def refused_nodes(w):
    """A node of a known operator that cannot be converted is listed as unsupported; all reasons come in one run."""
    dry = same_verdict(w, "unknown and refused", unknown_and_refused())
    lines = dry.listed.splitlines()
    for line in ("unsupported  Reshape (version 13)  change", "unsupported  Strange (version 13)  strange",
                 "native       Reshape (version 13)  behind", "native       Concat (version 13)  join"):
        w.checks.check(f"refused: {line}", line in lines, dry.listed)
    w.checks.equal("refused: errors", [code for severity, code, _, _ in messages_of(dry) if severity == "error"],
                   ["unsupported-op", "unsupported-node"])
    stub = json.loads(w.converter("-i", w.save(unknown_and_refused()), "--udo_stub", "-").stdout)
    w.checks.equal("refused: stub", [op["type"] for op in stub["UdoPackage_0"]["Operators"]], ["Strange"])


def inputs_that_matter(w):
    """What a value must be known for names all graph inputs that it comes from, and no other."""
    dry = same_verdict(w, "values", sizes_of_inputs())
    (_, _, message, hint), = messages_of(dry)
    w.checks.check("values: the op's input", "Reshape: input 1 (shape) is not a constant" in message, message)
    w.checks.check("values: graph inputs", "depends on the graph inputs rows, columns: fix them with "
                   "--freeze_input rows=FILE --freeze_input columns=FILE" in hint, hint)


def open_dimensions(w):
    """One message has all of them, and the ways to fix them that work."""
    m = onnx.Model(opset=13)
    for name, dims in (("x", ["N", "T", 2]), ("mask", ["N", "T", 1]), ("fixed", [1, 1, 1]), ("any", None)):
        m.input(name, onnx.FLOAT, dims)
    m.node("Sum", ["x", "mask", "fixed", "any"], ["y"])
    m.output("y", onnx.FLOAT, None)
    dry = same_verdict(w, "open dims", m)
    (severity, code, message, hint), = messages_of(dry)
    w.checks.equal("open dims", (severity, code, message), ("error", "open-dims", "3 graph inputs have open dimensions: "
                                                            "x [N,T,2], mask [N,T,1], any [unknown rank]"))
    for way in ("--input_dim x <N>,<T>,2 --input_dim mask <N>,<T>,1 --input_dim any <dimensions, [] for a scalar>",
                "--define_symbol N <size> --define_symbol T <size>", "--batch <size> for the first"):
        w.checks.check(f"open dims: {way}", way in hint, hint)
    ways = re.findall(r"--\w+", hint)
    w.checks.equal("open dims: each symbol once", ways.count("--define_symbol"), 2)
    for args in (["-d", "x", "1,4,2", "-d", "mask", "1,4,1", "-d", "any", "1"], ["-s", "N", "1", "-s", "T", "4", "-d", "any", "1"],
                 ["-b", "1", "-s", "T", "4", "-d", "any", "1"]):
        w.checks.equal(f"open dims: {args}", same_verdict(w, f"{args}", m, *args).returncode, 0)
    dry = same_verdict(w, "last open", chain("Relu", dims=[1, ""]))
    hint = messages_of(dry)[0][3]
    w.checks.check("last open: the other ways do not help", "--input_dim x 1,<size>" in hint and "-b" not in hint and
                   "-s" not in hint, hint)


def graphs_in_attributes(w):
    """No definition can claim them, so none is offered, and the hint says so."""
    m = holder()
    done = w.converter("-i", w.save(m), "--dry_run")
    stub = json.loads(w.converter("-i", w.save(m), "--udo_stub", "-").stdout)
    w.checks.equal("graphs: stub", [op["type"] for op in stub["UdoPackage_0"]["Operators"]], ["Strange"])
    w.checks.check("graphs: hint", "its attribute body holds a graph, which no UDO can carry" in done.stderr, done.stderr)
    w.fails("graphs: claimed all the same", 1, ["attribute body holds a graph, which no UDO node can carry"], m, "-udo",
            w.config(udo("Holder"), udo("Strange")))
    only = onnx.Model(opset=13)
    only.input("x", onnx.FLOAT, [1, 2])
    body = onnx.Model()
    body.output("x", onnx.FLOAT, [1, 2])
    only.node("Holder", ["x"], ["y"], name="holder", body=body)
    only.output("y", onnx.FLOAT, [1, 2])
    done = w.converter("-i", w.save(only), "--udo_stub", w.folder / "none.json")
    w.checks.equal("graphs: no stub", (done.returncode, (w.folder / "none.json").exists(), "there is no config to write" in done.stderr),
                   (1, False, True))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in (verdicts, refused_nodes, inputs_that_matter, open_dimensions, graphs_in_attributes):
            part(w)
    checks.finish()


main()
