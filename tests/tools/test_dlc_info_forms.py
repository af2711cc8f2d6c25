# SPDX-License-Identifier: Apache-2.0
"""Text, CSV and JSON of dlc-info give the same values: those that are recorded for the real containers."""

import collections
import csv
import io
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import schema  # noqa: E402
from checks import SHARED, Checks, run  # noqa: E402
from reports import COLUMNS, TENSOR, rows_of  # noqa: E402

CONTAINERS = SHARED / "corpus" / "dlc"

# version, graph, converter version, ops by type, tensors by kind, some tensors, elements of constants, other entries
RECORDED = {
    "add2_float.v2.dlc": {
        "version": (4, 0), "graph": "model", "converter": "2.18.0.231229151826_79175", "ops": {"Eltwise_Binary": 1},
        "kinds": {"APP_WRITE": 1, "STATIC": 1, "APP_READ": 1}, "constants": 1,
        "tensors": {"input": ("APP_WRITE", "Float_32", [1]), "add/y": ("STATIC", "Float_32", [1]),
                    "Identity": ("APP_READ", "Float_32", [1])},
        "parameters": {"elementwise_sum_0": ["eltwise_type: ElementWiseAdd", "packageName: qti.aisw"]}},
    "add2_uint8.v2.dlc": {
        "version": (4, 0), "graph": "model", "converter": "2.18.0.231229151826_79175", "ops": {"Eltwise_Binary": 1},
        "kinds": {"APP_WRITE": 1, "STATIC": 1, "APP_READ": 1}, "constants": 1,
        "tensors": {"input": ("APP_WRITE", "uFxp_8", [1]), "add/y": ("STATIC", "uFxp_8", [1]),
                    "Identity": ("APP_READ", "uFxp_8", [1])},
        "parameters": {"elementwise_sum_0": ["eltwise_type: ElementWiseAdd"]}},
    "zipformer-decoder.v4.0.dlc": {
        "version": (4, 0), "graph": "decoder-epoch-4-avg-1.fix", "converter": "2.20.0.240223161333_83920",
        "ops": {"Transpose": 4, "Reshape": 3, "Neuron": 2, "Eltwise_Binary": 2, "Gather": 1, "Cast": 1, "Conv2d": 1,
                "FullyConnected": 1},
        "kinds": {"APP_WRITE": 1, "NATIVE": 14, "STATIC": 5, "APP_READ": 1}, "constants": 522753,
        "tensors": {"y": ("APP_WRITE", "Int_32", [1, 2]), "decoder_out": ("APP_READ", "Float_32", [1, 512]),
                    "/decoder/GreaterOrEqual_output_0": ("NATIVE", "Bool_8", [1, 2])},
        "parameters": {"/decoder/Transpose": ["packageName: qti.aisw", "perm: [0, 2, 1]"]}},
    "block_32_quantized.v4.1.dlc": {
        "version": (4, 1), "graph": "block_32", "converter": "2.47.0.260601114230", "ops": {"MatMul": 1},
        "kinds": {"APP_WRITE": 1, "STATIC": 1, "APP_READ": 1}, "constants": 65536, "warnings": 1,
        "tensors": {"lhs": ("APP_WRITE", "Float_16", [1, 1, 128, 256]), "output": ("APP_READ", "Float_16", [1, 1, 128, 256])},
        "parameters": {"MatMul": ["transpose_in0: False", "transpose_in1: False"]}},
    "selu-udo.v3.dlc": {
        "version": (3, 0), "graph": "", "ops": {"Input": 1, "Convolutional": 1, "Pooling": 1, "FullyConnected": 2,
                                                "Neuron": 1, "UDO": 1},
        "tensors": {},
        "parameters": {"StatefulPartitionedCall/sequential/output/Selu": ["udo_type: Selu", "package_name: SeluUdoPackage"]}},
    "test_abs_q.v3.dlc": {
        "version": (3, 0), "graph": "", "ops": {"Input": 1, "ElementwiseUnaryOp": 1},
        "tensors": {"x": ("APP_WRITE", "uFxp_8", [3, 4, 5]), "y": ("APP_READ", "uFxp_8", [3, 4, 5])}, "parameters": {}},
    "mobilenetv3-htp-cache.v3.dlc": {
        "version": (3, 0), "graph": "", "extra": ["backend.metadata0"], "tensors": {}, "parameters": {},
        "ops": {"Neuron": 41, "Convolutional": 34, "ElementwiseBinaryOp": 24, "Permute": 18, "FullyConnected": 18,
                "Pooling": 9, "Const": 9, "Reshape": 9, "Input": 1}},
}


def cells_of_csv(path):
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
    return rows[0], [[[line for line in cell.split("\n") if line] for cell in row] for row in rows[1:]]


def tensors_of_cells(rows):
    found = {}
    for row in rows:
        for match in filter(None, (TENSOR.fullmatch(line) for line in row[3] + row[4])):
            dims = [int(dim) for dim in match["dims"].split(",")]
            found[match["name"]] = (match["kind"], match["dtype"], dims)
    return found


def encodings_of_cells(rows):
    return {line for row in rows for line in row[7] if " encoding : bitwidth " in line}


def encodings_of_json(graph):
    lines = set()
    for t in graph["tensors"]:
        for e in t.get("quantization", {}).get("encodings", []):
            lines.add(f"{t['name']} encoding : bitwidth {e['bitwidth']}, min {e['min']:.12f}, max {e['max']:.12f}, "
                      f"scale {e['scale']:.12f}, offset {e['offset']:.12f}")
    return lines


def check_cells(checks, name, rows, recorded, graph):
    """Text and CSV: the table's cells."""
    counts = collections.Counter(row[2][0] for row in rows)
    checks.equal(f"{name}: ops", dict(counts), recorded["ops"])
    tensors = tensors_of_cells(rows)
    for tensor, wanted in recorded["tensors"].items():
        checks.equal(f"{name}: {tensor}", tensors.get(tensor), wanted)
    for tensor, found in tensors.items():
        own = next(t for t in graph["tensors"] if t["name"] == tensor)
        checks.equal(f"{name}: {tensor} as JSON", found, (own["kind"], own["dtype"], own["dims"]))
    for node, lines in recorded["parameters"].items():
        row = next(row for row in rows if row[1][0] == node)
        for line in lines:
            checks.check(f"{name}: {node} has '{line}'", line in row[7], row[7])
    checks.equal(f"{name}: encodings", encodings_of_cells(rows), encodings_of_json(graph))
    checks.equal(f"{name}: names", [row[1] for row in rows], [[node["name"]] for node in graph["nodes"]])


def check_json(checks, name, report, recorded):
    graph = report["graphs"][0]
    checks.equal(f"{name}: schema", schema.faults(report), [])
    checks.equal(f"{name}: version", (report["format"]["major"], report["format"]["minor"]), recorded["version"])
    checks.equal(f"{name}: graph", graph["name"], recorded["graph"])
    checks.equal(f"{name}: ops", dict(collections.Counter(n["type"] for n in graph["nodes"])), recorded["ops"])
    tensors = {t["name"]: (t["kind"], t["dtype"], t["dims"]) for t in graph["tensors"]}
    for tensor, wanted in recorded["tensors"].items():
        checks.equal(f"{name}: {tensor}", tensors.get(tensor), wanted)
    if "kinds" in recorded:
        checks.equal(f"{name}: kinds", dict(collections.Counter(t["kind"] for t in graph["tensors"])), recorded["kinds"])
        constants = sum(t["elements"] for t in graph["tensors"] if t["kind"] == "STATIC")
        checks.equal(f"{name}: constants", constants, recorded["constants"])
    for extra in recorded.get("extra", []):
        checks.check(f"{name}: entry {extra}", extra in [entry["name"] for entry in report["entries"]])
    return graph


def check_text(checks, name, lines, recorded, report):
    graph = report["graphs"][0]
    metadata = {entry["key"]: entry["value"] for entry in report["metadata"]}
    for start, key in (("Converter command: ", "converter-command"), ("Quantizer command: ", "quantizer-command"),
                       ("DLC created with converter version: ", "converter-version")):
        checks.check(f"{name}: {key}", start + metadata.get(key, "N/A") in lines)
    if "converter" in recorded:
        checks.check(f"{name}: converter", f"DLC created with converter version: {recorded['converter']}" in lines)
    checks.check(f"{name}: graph", f"Info of graph: {recorded['graph']}" in lines)
    checks.check(f"{name}: types", "Ops used by Graph: " + ", ".join(sorted(recorded["ops"])) in lines)
    checks.check(f"{name}: parameters", any(line.startswith(f"Total parameters: {graph['parameters']} (") for line in lines))
    for title, key in (("Input", "inputs"), ("Output", "outputs")):
        start = next(i for i, line in enumerate(lines) if line.startswith(f"| {title} Name"))
        for i, tensor in enumerate(graph[key]):
            own = next(t for t in graph["tensors"] if t["name"] == tensor)
            cells = [cell.strip() for cell in lines[start + 2 + i][1:-1].split("|")]
            checks.equal(f"{name}: {tensor}", cells[:3], [tensor, ",".join(map(str, own["dims"])), own["dtype"]])
    for entry in recorded.get("extra", []):
        size = next(e["size"] for e in report["entries"] if e["name"] == entry)
        checks.check(f"{name}: {entry}", any(line.split() == ["|", entry, "|", str(size), "|"] for line in lines))


def forms(checks, folder):
    checks.equal("all containers", sorted(RECORDED), sorted(path.name for path in CONTAINERS.glob("*.dlc")))
    for name, recorded in RECORDED.items():
        path, table = CONTAINERS / name, folder / "nodes.csv"
        done = run("dlc-info", "-i", path, "-s", table, "-d")
        checks.equal(f"{name}: status", (done.returncode, done.stderr.count("warning: ")), (0, recorded.get("warnings", 0)))
        report = json.loads(run("dlc-info", "-i", path, "--json").stdout)
        graph = check_json(checks, f"{name} JSON", report, recorded)
        rows, lines = rows_of(done.stdout)
        check_text(checks, f"{name} text", lines, recorded, report)
        check_cells(checks, f"{name} text", rows, recorded, graph)
        header, csv_rows = cells_of_csv(table)
        checks.equal(f"{name} CSV: columns", header, COLUMNS)
        check_cells(checks, f"{name} CSV", csv_rows, recorded, graph)


def main():
    checks = Checks()
    if not CONTAINERS.is_dir():
        checks.skip("real containers", f"{CONTAINERS} is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as name:
        forms(checks, pathlib.Path(name))
    checks.finish()


main()
