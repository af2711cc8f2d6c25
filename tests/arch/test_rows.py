"""The table of ONNX operators is sorted, lists no row twice, and its opset ranges do not overlap; that of refused operators is
sorted, and names none that has a row."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), (\w+), (.+)\)$')
REFUSAL = re.compile(r'^ONNX_REFUSAL\("([^"]*)", "([^"]+)", .+\)$')
LATEST = 1 << 30


def refusals(checks, rows):
    lines = (SOURCE / "converters/onnx/refusals.def").read_text().splitlines()
    refused = [match.groups() for match in map(REFUSAL.match, lines) if match]
    checks.equal("every line is read", len(refused), sum(line.startswith("ONNX_REFUSAL") for line in lines))
    checks.equal("refusals are sorted, none twice", refused, sorted(set(refused)))
    checks.equal("refused operators with a row", set(refused) & {row[:2] for row in rows}, set())


def main():
    checks = Checks()
    rows = []
    for number, line in enumerate((SOURCE / "converters/onnx/rows.def").read_text().splitlines(), 1):
        if not line.startswith("ONNX_ROW"):
            continue
        match = ROW.match(line)
        if checks.check(f"rows.def:{number}", match, "is not ONNX_ROW(domain, op, lo, hi, function, arg)"):
            domain, op, lo, hi = match.group(1, 2, 3, 4)
            rows.append((domain, op, int(lo), LATEST if hi == "LATEST" else int(hi)))
    checks.check("there are rows", rows)
    for row in rows:
        checks.check(f"range of {row[1]}", row[2] <= row[3], f"{row[2]} > {row[3]}")
    for before, after in zip(rows, rows[1:]):
        # Bytes decide the order, as in the binary search: "Add" < "And".
        checks.check(f"order of {after[1]}", before[:3] < after[:3], f"{before} stands before {after}")
        if before[:2] == after[:2]:
            checks.check(f"ranges of {after[1]}", before[3] < after[2], f"{before} overlaps {after}")
    refusals(checks, rows)
    checks.finish()


main()
