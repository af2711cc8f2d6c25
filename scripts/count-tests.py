#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Totals of a meson test log in test cases: "N passed, N failed, N skipped".
usage: count-tests.py BUILD/meson-logs/testlog.json [PASSED FAILED SKIPPED]   (the numbers are added)

The line before tells of cases that tests of each n-th case left out ("left out: N of N …").
A script ends its output with such a line of its own; Check prints "…%: Checks: …"; anything else counts as one case.
"""

import json
import re
import sys

TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
LEFT_OUT = re.compile(r"^left out: (\d+) of \d+ ", re.MULTILINE)
CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.MULTILINE)


def count(entry):
    """(passed, failed, skipped) of one test."""
    output = entry.get("stdout", "")
    totals = TOTALS.findall(output)
    runs = CHECK.findall(output)
    if totals:
        passed, failed, skipped = map(int, totals[-1])
    elif runs:
        failed = sum(int(failures) + int(errors) for _, failures, errors in runs)
        passed, skipped = sum(int(checks) for checks, _, _ in runs) - failed, 0
    else:
        passed, failed, skipped = int(entry["result"] == "OK"), 0, int(entry["result"] == "SKIP")
    if entry["result"] not in ("OK", "SKIP") and not failed:
        failed = 1  # it crashed, timed out, or its sanitizer spoke after the last case
    if not passed + failed + skipped:
        print(f"{entry['name']} ran no case")
        failed = 1
    return passed, failed, skipped


def main():
    sums = [int(argument) for argument in sys.argv[2:5]] or [0, 0, 0]
    left_out = 0
    with open(sys.argv[1], encoding="utf-8") as log:
        for entry in map(json.loads, log):
            sums = [a + b for a, b in zip(sums, count(entry))]
            left_out += sum(map(int, LEFT_OUT.findall(entry.get("stdout", ""))))
    if left_out:
        print(f"{left_out} cases are left to scripts/test.sh --long")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    sys.exit(1 if sums[1] or not sums[0] else 0)


main()
