# SPDX-License-Identifier: Apache-2.0
"""What --target says of ops that published lists do not have, in the converters and in dlc-info, and that the config of
user-defined ops that a dry run prints replaces them. What lists say is written down here by hand, from the lists."""

import csv
import json
import pathlib
import re
import sys
import tempfile

from conversion import Workshop, value_of
from checks import SHARED, SOURCE, Checks
from prestarted import run
from onnx_writer import FLOAT, Model

sys.path.insert(0, str(SOURCE / "tests" / "tools"))
import schema  # noqa: E402

PROCESSORS = ("cpu", "gpu", "dsp", "aip", "htp")
# ONNX operator, the master list's name, and what the lists say of it for cpu, gpu, dsp, aip, htp.
OPERATORS = (("Relu", "Relu", ("yes",) * 5), ("Ceil", "ElementWiseCeil", ("yes", "no", "yes", "yes", "yes")),
             ("Softplus", "ElementWiseSoftplus", ("yes", "no", "no", "no", "no")),
             ("HardSigmoid", "HardSigmoid", ("unknown",) * 5),
             ("LogSoftmax", "LogSoftmax", ("yes", "yes", "no", "no", "yes")),
             ("Asin", "ElementWiseAsin", ("yes", "no", "no", "no", "yes")))
# Types of the network's floats with which a processor is not said to compute.
UNLISTED = {"cpu": None, "gpu": None, "dsp": "Float_32", "aip": "Float_32", "htp": None}


def network():
    m = Model(opset=17)
    m.input("x", FLOAT, [2, 6])
    for i, (op, _, _) in enumerate(OPERATORS):
        m.node(op, [f"t{i - 1}" if i else "x"], [f"t{i}"], name=f"n{i}")
    m.output(f"t{len(OPERATORS) - 1}", FLOAT, [2, 6])
    return m


def table(checks):
    """Each operator once, by a name of the master list, and as many as the page has: five columns, YES where it says YES."""
    rows = re.findall(r"^LISTED\((\w+), (\w+), (\w+), (\w+), (\w+), (\w+), (\w+)\)$", (SOURCE / "src/op/processors.def").read_text(), re.M)
    names = [row[0] for row in rows]
    checks.equal("each operator once, sorted", names, sorted(set(names)))
    page = [row for row in rows if row[6] in ("LAYERS", "BOTH")]
    checks.equal("operators of the page", len(page), 134)
    checks.check("the page speaks of all processors", all("UNKNOWN" not in row for row in page))
    checks.check("the other list is of one", all(row[1:6] == ("UNKNOWN",) * 4 + ("YES",) for row in rows if row not in page))
    checks.equal("of GPUs", sum(row[2] == "YES" for row in page), 89)
    master = SHARED / "reference" / "qnn-ops.tsv"
    if master.exists():
        known = {line.split("\t")[0] for line in master.read_text().splitlines()} | {"IsInf", "IsNan", "RandomUniformLike"}
        checks.equal("names of the master list", set(names) - known, set())


def listed(said, processor, code):
    """{operator: number of nodes} of the warning."""
    start = {"no": f"the published list of {processor} lacks ", "unknown": f"no published list says whether {processor} has "}[code]
    line = next((line.split(start)[1] for line in said.splitlines() if start in line), "")
    return {name: int(count) for name, count in re.findall(r"(\w+) \((\d+)\)", line)}


def warnings(w, m):
    for k, processor in enumerate(PROCESSORS):
        _, said = w.convert(f"target {processor}", m, "--target", processor)
        for code in ("no", "unknown"):
            wanted = {name: 1 for _, name, lists in OPERATORS if lists[k] == code}
            w.checks.equal(f"{processor}: {code}", listed(said, processor, code), wanted)
    _, said = w.convert("several targets", m, "--target", "gpu", "htp")
    w.checks.check("several targets", listed(said, "gpu", "no") and listed(said, "htp", "no"), said)
    _, said = w.convert("no target", m)
    w.checks.check("no target, no word", "published list" not in said, said)
    w.fails("no processor", 2, ["--target: there is no processor npu", "cpu, gpu, dsp, aip or htp"], m, "--target", "npu")


def configs(w, m):
    """The config of a dry run makes user-defined ops of what is not listed, and of nothing else."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        m.save(folder / "model.onnx")
        for k, processor in enumerate(PROCESSORS):
            done = run("onnx-to-dlc", "-i", folder / "model.onnx", "--dry_run", "--target", processor)
            config = done.stdout.partition("<?xml")[1:]
            (folder / "ops.xml").write_text("".join(config))
            container, said = w.convert(f"config of {processor}", m, "--udo_config_paths", folder / "ops.xml")
            found = container and [o.type for o in container.ops if value_of(o.params["packageName"])[1] == "MyUdoPackage"]
            w.checks.equal(f"config of {processor}", found, [name for _, name, lists in OPERATORS if lists[k] != "yes"])
            w.checks.check(f"config of {processor} without complaints", "warning" not in said, said)
        run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", folder / "a.dlc")
        a = (folder / "a.dlc").read_bytes()
        run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", folder / "a.dlc", "--target", "gpu")
        w.checks.check("the container does not depend on targets", a == (folder / "a.dlc").read_bytes())


def reports(w, m):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        m.save(folder / "model.onnx")
        run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", folder / "a.dlc")
        report = json.loads(run("dlc-info", "-i", folder / "a.dlc", "--json", "--target", *PROCESSORS).stdout)
        w.checks.equal("schema", schema.faults(report), [])
        nodes = report["graphs"][0]["nodes"]
        w.checks.equal("operators", [n["operator"] for n in nodes], [name for _, name, _ in OPERATORS])
        for node, (_, operator, lists) in zip(nodes, OPERATORS):
            wanted = {p: {"listed": said, "unlisted_type": UNLISTED[p]} for p, said in zip(PROCESSORS, lists)}
            w.checks.equal(f"{operator} as JSON", node["targets"], wanted)
        run("dlc-info", "-i", folder / "a.dlc", "-s", folder / "a.csv", "--target", "dsp", "--target", "htp")
        rows = list(csv.reader((folder / "a.csv").read_text().splitlines(keepends=True)))
        w.checks.equal("the column", rows[0][-1], "Target")
        for row, (_, operator, lists) in zip(rows[1:], OPERATORS):
            w.checks.equal(f"{operator} as CSV", row[-1].split("\n"), [f"dsp: {lists[2]} (Float_32: unknown)", f"htp: {lists[4]}"])
        plain = run("dlc-info", "-i", folder / "a.dlc", "--json").stdout
        w.checks.check("without the option there is none", '"targets"' not in plain)
        for options, message in ((["--target", "npu"], "there is no processor npu"),
                                 (["--target", "cpu", "--verify"], "--target is about the table of nodes")):
            done = run("dlc-info", "-i", folder / "a.dlc", *options)
            w.checks.check(message, done.returncode == 2 and message in done.stderr, done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w, m = Workshop(checks, folder), network()
        table(checks)
        warnings(w, m)
        configs(w, m)
        reports(w, m)
    checks.finish()


main()
