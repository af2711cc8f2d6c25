# SPDX-License-Identifier: Apache-2.0
"""The tables of operators are sorted and list no row twice; those of ONNX have opset ranges that do not overlap. The tables of
refused operators are sorted, and name none that has a row."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

ONNX_ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), (\w+), (.+)\)$')
ONNX_REFUSAL = re.compile(r'^ONNX_REFUSAL\("([^"]*)", "([^"]+)", .+\)$')
TF_ROW = re.compile(r'^TF_ROW\("([^"]+)", (\w+), (.+)\)$')
TF_REFUSAL = re.compile(r'^TF_REFUSAL\("([^"]+)", .+\)$')
LATEST = 1 << 30


def read(checks, file, macro, form):
    """Groups of each line that starts with the macro."""
    found = []
    for number, line in enumerate((SOURCE / "converters" / file).read_text().splitlines(), 1):
        match = form.match(line)
        if line.startswith(macro) and checks.check(f"{file}:{number}", match, f"is not in the form of {macro}"):
            found.append(match.groups())
    checks.check(f"there are lines in {file}", found)
    return found


def check_refusals(checks, what, refused, converted):
    checks.equal(f"refusals of {what} are sorted, none twice", refused, sorted(set(refused)))
    checks.equal(f"refused operators of {what} with a row", set(refused) & set(converted), set())


def check_onnx(checks):
    rows = [(domain, op, int(lo), LATEST if hi == "LATEST" else int(hi))
            for domain, op, lo, hi, _, _ in read(checks, "onnx/lower/onnx_rows.def", "ONNX_ROW", ONNX_ROW)]
    for row in rows:
        checks.check(f"range of {row[1]}", row[2] <= row[3], f"{row[2]} > {row[3]}")
    for before, after in zip(rows, rows[1:]):
        # Bytes decide the order, as in the binary search: "Add" < "And".
        checks.check(f"order of {after[1]}", before[:3] < after[:3], f"{before} stands before {after}")
        if before[:2] == after[:2]:
            checks.check(f"ranges of {after[1]}", before[3] < after[2], f"{before} overlaps {after}")
    check_refusals(checks, "ONNX", read(checks, "onnx/lower/onnx_refusals.def", "ONNX_REFUSAL", ONNX_REFUSAL),
                   [row[:2] for row in rows])


def check_tensorflow(checks):
    ops = [row[0] for row in read(checks, "tensorflow/lower/tf_rows.def", "TF_ROW", TF_ROW)]
    for before, after in zip(ops, ops[1:]):
        checks.check(f"order of {after}", before < after, f"{before} stands before it")
    refused = [row[0] for row in read(checks, "tensorflow/lower/tf_refusals.def", "TF_REFUSAL", TF_REFUSAL)]
    check_refusals(checks, "TensorFlow", refused, ops)


def main():
    checks = Checks()
    check_onnx(checks)
    check_tensorflow(checks)
    checks.finish()


main()
