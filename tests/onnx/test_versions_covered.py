# SPDX-License-Identifier: Apache-2.0
"""Every version of every operator of ONNX's default domain either has a row that covers it, or stands in onnx_refusals.def."""

import csv
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

SHARED = pathlib.Path(os.environ.get("ODLC_SHARED", SOURCE.parent / "shared"))
ROW = re.compile(r'^ONNX_ROW\("(?!com\.)[^"]*", "([^"]+)", (\d+), (\d+|LATEST), ')
REFUSAL = re.compile(r'^ONNX_REFUSAL\("(?!com\.)[^"]*", "([^"]+)", ', re.M)
NEWEST = 28

def spans():
    """{operator: [(first version, last version)]} of the rows."""
    found = {}
    for line in (SOURCE / "converters" / "onnx" / "lower" / "onnx_rows.def").read_text().splitlines():
        match = ROW.match(line)
        if match:
            last = NEWEST if match.group(3) == "LATEST" else int(match.group(3))
            found.setdefault(match.group(1), []).append((int(match.group(2)), last))
    return found


def main():
    checks = Checks()
    table = SHARED / "reference" / "onnx-ops.tsv"
    if not table.exists():
        checks.skip("operators of ONNX", f"{table} is not there")
        checks.finish()
    history = {}
    with open(table, encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if line["domain"] == "ai.onnx":
                history.setdefault(line["op"], []).append((int(line["since_version"]), bool(line["deprecated"])))
    covered = spans()
    refused = set(REFUSAL.findall((SOURCE / "converters" / "onnx" / "lower" / "onnx_refusals.def").read_text()))
    for op, versions in sorted(history.items()):
        versions.sort()
        ends = [since - 1 for since, _ in versions[1:]] + [NEWEST]
        for (since, deprecated), end in zip(versions, ends):
            # A row has to know all opsets in which this version of the operator is the valid one.
            whole = all(any(lo <= v <= hi for lo, hi in covered.get(op, [])) for v in range(since, end + 1))
            if not deprecated and op not in refused:
                checks.check(f"{op} {since} to {end}", whole, "no row covers it, and no reason is given")
    checks.check("there are operators", len(history) > 200, len(history))
    checks.finish()


main()
