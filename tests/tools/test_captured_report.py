# SPDX-License-Identifier: Apache-2.0
"""Our report of a container that mirrors a captured report of the vendor's tool: structure and cells are the same.

The container has the ops that the capture shows, with their tensors, encodings and attributes. Rows that were cut from the
capture are stood in for by one layer that carries the rest of the weights, so that totals and shares come out the same,
and by an op of a foreign package that gives the tensors that the rows below the cut read."""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import SHARED, Checks, run  # noqa: E402
from dlc_writer import (APP_READ, APP_WRITE, FLOAT_32, INT_32, NATIVE, STATIC, SUPPLEMENTAL, UFXP_8, UINT_8, Graph,  # noqa: E402
                        Numbers, text, whole, write_container)
from reports import COLUMNS, TENSOR, rows_of  # noqa: E402

CAPTURES = SHARED / "corpus" / "dlc-info"
KINDS = {"APP_WRITE": APP_WRITE, "APP_READ": APP_READ, "NATIVE": NATIVE, "STATIC": STATIC}
DTYPES = {"uFxp_8": UFXP_8, "Float_32": FLOAT_32}
ENCODING = re.compile(r"(?P<name>.*) encoding : bitwidth (\d+), min (\S+), max (\S+), scale (\S+), offset (\S+)")
SUPPLEMENTS = {"bias_op_name", "packageName", "padding_size_strategy", "neuron_type", "eltwise_type", "shape"}
PARAMETERS = 7225885  # of the captured report, whose first two convolutions have 3488 and 18496


def numbers(value):
    return [int(number) for number in re.findall(r"-?\d+", value)]


class Mirror:
    def __init__(self, rows):
        self.rows, self.graph, self.added = rows, Graph("yolov5s"), set()
        self.encodings = {}
        for row in rows:
            for line in row[7]:
                match = ENCODING.fullmatch(line)
                if match:
                    bits, low, high, scale, offset = match.groups()[1:]
                    self.encodings[match["name"]] = (int(bits), float(low), float(high), float(scale), int(float(offset)))

    def tensor(self, line):
        match = TENSOR.fullmatch(line)
        name = match["name"]
        if name not in self.added:
            self.added.add(name)
            dims = [int(dim) for dim in match["dims"].split(",")]
            encoding = self.encodings.get(name, (8, 0.0, 255.0, 1.0, 0))
            self.graph.tensor(name, KINDS[match["kind"]], DTYPES[match["dtype"]], dims, encoding)
        return name

    def attribute(self, op, line):
        name, value = line.split(": ", 1)
        usage = SUPPLEMENTAL if name in SUPPLEMENTS else 1
        if value.startswith("[["):
            return Numbers(name, [len(value.split("], [")), 2], numbers(value))
        if value.startswith("["):
            return Numbers(name, [len(numbers(value))], numbers(value), INT_32 if name == "shape" else 0x0132, usage)
        if value.isdigit():
            return whole(name, int(value), UINT_8 if name == "padding_size_strategy" else 0x0132, usage)
        return text(name, value, usage)

    def row(self, row):
        attributes = [self.attribute(row[2][0], line) for line in row[7]
                      if not ENCODING.fullmatch(line) and not line.startswith(("param count", "MACs per inference"))]
        inputs, outputs = [self.tensor(line) for line in row[3]], [self.tensor(line) for line in row[4]]
        self.graph.op(row[1][0], row[2][0], inputs, outputs, attributes)

    def missing(self, rows):
        """The tensors that rows read and nothing before them gives, as they are written in the cells."""
        given, missing = set(self.added), {}
        for row in rows:
            for line in row[3]:
                match = TENSOR.fullmatch(line)
                if match["name"] not in given and match["kind"] == "NATIVE":
                    missing[match["name"]] = line
            given |= {TENSOR.fullmatch(line)["name"] for line in row[4]}
        return missing

    def stand_in(self, count, below, last):
        """`count` ops for the rows that were cut: the first has the remaining weights, the second gives what is read."""
        width, batch = PARAMETERS - 3488 - 18496 - 1, 1026
        self.graph.tensor("rest", NATIVE, UFXP_8, [batch, width], (8, 0.0, 255.0, 1.0, 0))
        self.graph.tensor("rest.weight", STATIC, UFXP_8, [1, width], (8, 0.0, 255.0, 1.0, 0))
        self.graph.tensor("rest.bias", STATIC, UFXP_8, [1], (8, 0.0, 255.0, 1.0, 0))
        self.graph.tensor("rest.out", NATIVE, UFXP_8, [batch, 1], (8, 0.0, 255.0, 1.0, 0))
        self.graph.op("cut_0", "Cut", [last], ["rest"], [text("packageName", "cut")])
        self.graph.op("cut_1", "FullyConnected", ["rest", "rest.weight", "rest.bias"], ["rest.out"],
                      [text("packageName", "qti.aisw"), text("bias_op_name", "rest.bias")])
        names = [self.tensor(line) for line in self.missing(below).values()]
        for i in range(2, count - 1):
            self.graph.tensor(f"cut_{i}", NATIVE, UFXP_8, [1], (8, 0.0, 255.0, 1.0, 0))
            self.graph.op(f"cut_{i}", "Cut", ["rest.out"], [f"cut_{i}"], [text("packageName", "cut")])
        self.graph.op(f"cut_{count - 1}", "Cut", ["rest.out"], names, [text("packageName", "cut")])


def mirror_of(captured, path):
    ids = [int(row[0][0]) for row in captured]
    gap = next(i for i in range(1, len(ids)) if ids[i] != ids[i - 1] + 1)
    mirror = Mirror(captured)
    for row in captured[:gap]:
        mirror.row(row)
    last = TENSOR.fullmatch(captured[gap - 1][4][0])["name"]
    mirror.stand_in(ids[gap] - gap, captured[gap:], last)
    for row in captured[gap:]:
        mirror.row(row)
    write_container(path, mirror.graph)


def compare_rows(checks, captured, ours):
    by_id = {row[0][0]: row for row in ours}
    for row in captured:
        own = by_id.get(row[0][0])
        if not checks.check(f"row {row[0][0]}", own is not None):
            continue
        for column, header in enumerate(COLUMNS):
            if header == "Runtimes":
                checks.check(f"row {row[0][0]}: a runtime", own[column] in (["C"], ["-"]), own[column])
                continue
            checks.equal(f"row {row[0][0]}: {header}", own[column], row[column])


def compare_lines(checks, captured, ours):
    """The lines around the table that do not name the file, the commands or the ops that were cut."""
    for start in ("Info of graph: ", "Total MACs per inference: ", "Model Version: ", "Model Copyright:"):
        wanted = next(line for line in captured if line.startswith(start))
        checks.check(f"line '{wanted}'", wanted in ours)
    for start in ("DLC info of: ", "Converter command: ", "Quantizer command: ", "DLC created with converter version: ",
                  "Key : ", "Total parameters: 7225885 (27 MB assuming single precision float", "Ops used by Graph: ",
                  "Est. Steady-State Memory Needed to Run: "):
        checks.check(f"line '{start}…' in the capture", any(line.startswith(start) for line in captured))
        checks.check(f"line '{start}…' in ours", any(line.startswith(start) for line in ours))
    order = [next(i for i, line in enumerate(lines) if line.startswith(start)) for lines in (captured, ours)
             for start in ("DLC info of", "Model Version", "Model Copyright", "Converter command", "Quantizer command",
                           "DLC created", "====", "Info of graph", "| Id", "Note: ", "Key :", "| Input Name",
                           "| Output Name", "Total parameters", "Total MACs", "Ops used", "Est. Steady")]
    half = len(order) // 2
    checks.check("order of the capture", order[:half] == sorted(order[:half]))
    checks.check("order of ours", order[half:] == sorted(order[half:]))


def compare_io(checks, captured, ours):
    for title in ("Input Name", "Output Name"):
        tables = []
        for lines in (captured, ours):
            start = next(i for i, line in enumerate(lines) if line.startswith(f"| {title}"))
            tables.append([[cell.strip() for cell in line[1:-1].split("|")] for line in (lines[start], lines[start + 2])])
            checks.check(f"rules around {title}", all(set(lines[i]) == {"-"} for i in (start - 1, start + 1, start + 3)))
        checks.equal(f"table of {title}", tables[1], tables[0])


def quantized(checks, folder):
    captured, captured_lines = rows_of((CAPTURES / "release-2.22-yolov5s-quantized.txt").read_text())
    path = folder / "mirror.dlc"
    mirror_of(captured, path)
    done = run("dlc-info", "-i", path, "-m")
    checks.equal("status", (done.returncode, done.stderr), (0, ""))
    ours, our_lines = rows_of(done.stdout)
    checks.equal("rows", len(ours), 239)
    header = next(line for line in our_lines if line.startswith("| Id"))
    checks.equal("columns", [cell.strip() for cell in header[1:-1].split("|")], COLUMNS)
    checks.check("one width", {len(line) for line in our_lines if line.startswith("|") and line.count("|") >= 9} == {len(header)})
    compare_rows(checks, captured, ours)
    compare_lines(checks, captured_lines, our_lines)
    compare_io(checks, captured_lines, our_lines)


def main():
    checks = Checks()
    if not CAPTURES.is_dir():
        checks.skip("captured reports", f"{CAPTURES} is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as name:
        quantized(checks, pathlib.Path(name))
    checks.finish()


main()
