# SPDX-License-Identifier: Apache-2.0
"""Each JSON that a command prints or writes, against its schema in docs; and that no writer of JSON is without one."""

import json
import pathlib
import shutil
import sys
import tempfile

import schema
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, run  # noqa: E402

DIGITS, EXAMPLES = SOURCE / "examples" / "digits", SOURCE / "examples"
# Who writes JSON, and what describes it: a name of docs/NAME.schema.json; None: it is no output of its own, as the remark says.
WRITERS = {
    "src/api/diag_format.c": "diagnostic", "src/tools/print_diags.c": "diagnostic",
    "src/backend/gpu/gpu_performance.c": "gpu-performance",  # tests/backend/test_gpu_config.py
    "src/plugin/explain_json.c": "net-run-explain",
    "src/report/diff_json.c": "dlc-diff", "src/report/info_json.c": "dlc-info",
    "src/report/info_tensor.c": "dlc-info", "src/report/info_verify.c": "dlc-info",
    "src/report/viewer/model.c": None,  # of the page, which is the reader
    "src/tools/check_json.c": "udo-check", "src/tools/convert_json.c": "conversion", "src/tools/encodings_out.c": "encodings",
    "src/tools/quantize_report_json.c": "quantize-report",
    "src/tools/run_pairs.c": "net-run-compare", "src/tools/run_report.c": ("net-run-explain", "net-run-profile", "net-run-trace"),
    "src/udo/config_schema.c": None,  # a schema itself: tests/tools/test_udo_schema.py
}


def names_of(value):
    return {value} if isinstance(value, str) else set(value or ())


def rules(name):
    return json.loads((SOURCE / "docs" / f"{name}.schema.json").read_text())


def table(checks):
    found = {path.relative_to(SOURCE).as_posix() for folder in ("src", "converters") for path in (SOURCE / folder).rglob("*.c")
             if "json_out_to(" in path.read_text() and path.name != "json_out.c"}
    checks.equal("who writes JSON", sorted(found), sorted(WRITERS))
    files = {path.name.removesuffix(".schema.json") for path in (SOURCE / "docs").glob("*.schema.json")}
    checks.equal("schemas", files, set().union(*map(names_of, WRITERS.values())))


class Room:
    def __init__(self, checks, folder):
        self.checks, self.folder, self.seen = checks, folder, set()

    def fits(self, label, text, name):
        report = json.loads(text)
        self.seen.add(name)
        self.checks.equal(f"{label}: by {name}", schema.faults(report, rules(name)), [])
        if isinstance(report, dict):
            self.checks.check(f"{label}: a member that is not described", schema.faults({**report, "no member": 1}, rules(name)))
        return report

    def prints(self, name, status, *words):
        done = run(*words, cwd=self.folder)
        self.checks.equal(f"{words}: status", (done.returncode, done.stderr if status == 0 else ""), (status, ""))
        return self.fits(" ".join(words), done.stdout, name)

    def does(self, *words):
        done = run(*words, cwd=self.folder)
        self.checks.equal(f"{words}: status {done.stderr}", done.returncode, 0)
        return done.stdout

    def writes(self, name, file):
        return self.fits(file, (self.folder / file).read_text(), name)

    def complains(self, status, *words):
        done = run(*words, cwd=self.folder)
        self.checks.equal(f"{words}: status", done.returncode, status)
        self.checks.check(f"{words}: lines", done.stderr)
        for line in done.stderr.splitlines():
            self.fits(f"{words[0]}: a diagnostic", line, "diagnostic")


def of_containers(room):
    room.prints("conversion", 0, "onnx-to-dlc", "digits.onnx", "d.dlc", "--json", "-q")
    room.prints("conversion", 0, "onnx-to-dlc", "digits.onnx", "--json", "--dry_run", "-q")
    room.complains(1, "onnx-to-dlc", "example.onnx", "--json")
    list_and = ("--input_list", "list.txt")
    room.does("dlc-quantize", "d.dlc", "q.dlc", *list_and, "--use_per_channel_quantization", "--report", "r.json", "--dump_encodings", "e.json")
    room.writes("quantize-report", "r.json")
    encodings = room.writes("encodings", "e.json")
    room.checks.check("encodings of both kinds", encodings["activation_encodings"] and encodings["param_encodings"])
    room.prints("dlc-info", 0, "dlc-info", "q.dlc", "--json", "--target", "htp")
    room.prints("dlc-info", 0, "dlc-info", "q.dlc", "--json", "--tensor", "w0")
    room.prints("dlc-info", 0, "dlc-info", "q.dlc", "--json", "--verify")
    room.complains(1, "dlc-info", "digits.onnx", "--json")
    found = room.prints("dlc-diff", 1, "dlc-diff", "d.dlc", "q.dlc", "--json")
    room.checks.check("differences with and without numbers", len({"statistics" in d for d in found["differences"]}) == 2)
    room.prints("dlc-diff", 0, "dlc-diff", "d.dlc", "d.dlc", "--json", "--hits", "-w")


def of_executions(room):
    room.does("net-run", "d.dlc", "list.txt", "-q", "--profile_json", "p.json", "--trace", "t.json", "--output_dir", "wanted")
    room.writes("net-run-profile", "p.json")
    room.checks.check("a trace of steps", room.writes("net-run-trace", "t.json")["traceEvents"])
    room.fits("net-run --explain=json", room.does("net-run", "d.dlc", "list.txt", "-q", "--output_dir", "out", "--explain=json"), "net-run-explain")
    room.does("net-run", "q.dlc", "list.txt", "-q", "--output_dir", "out", "--compare", "wanted", "--compare_json", "c.json", "--compare_tolerance", "1")
    room.checks.check("results are compared", room.writes("net-run-compare", "c.json")["tensors"])


def of_definitions(room):
    alone = room.prints("udo-check", 0, "udo-check", "ops.json", "--json")
    room.checks.equal("no model", (alone["model"], alone["kernels"]), (None, None))
    claimed = room.prints("udo-check", 0, "udo-check", "ops.json", "--json", "--model", "example.onnx")
    room.checks.check("a node", claimed["definitions"][0]["nodes"])


def main():
    checks = Checks()
    table(checks)
    with tempfile.TemporaryDirectory() as folder:
        room = Room(checks, pathlib.Path(folder))
        for file in (DIGITS / "digits.onnx", DIGITS / "digit.raw", EXAMPLES / "example.onnx", EXAMPLES / "ops.json"):
            shutil.copy(file, folder)
        (room.folder / "list.txt").write_text("digit.raw\n")
        of_containers(room)
        of_executions(room)
        of_definitions(room)
        elsewhere = {"gpu-performance"}
        checks.equal("schemas that no output was held to", set().union(*map(names_of, WRITERS.values())) - room.seen - elsewhere, set())
    checks.finish()


main()
