#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table of the rooms' coverage from gcovr's JSON, and the functions that nothing reached against the list of them.
usage: coverage-report.py COVERAGE.json UNREACHED.txt [--missing]   (--missing: also every line that nothing reached)

The status is 1 when a room with a limit is below it, when a function that nothing reached is not in the list, or when one in
the list was reached or is gone.
"""

import json
import re
import sys

LIMIT = 90.0  # percent of the lines, for what takes in bytes from outside
LIMITED = {"readers": "src/dlc/", "front ends": "converters/", "UDO": ("src/udo/", "src/text/"), "passes": "src/pass/"}
OTHERS = {
    "base": "src/base/",
    "IR": "src/ir/",
    "operators": "src/op/",
    "kernels": "src/kernel/",
    "building": "src/build/",
    "runtime": "src/runtime/",
    "API": "src/api/",
    "tools": "src/tools/",
}
LISTED = re.compile(r"^(\S+) (\w+): (\S.*)$")


def product_files(path):
    """What gcovr counted, without tests, benchmarks and made sources."""
    with open(path, encoding="utf-8") as text:
        files = json.load(text)["files"]
    return [entry for entry in files if entry["file"].startswith(("src/", "converters/"))]


def share(reached, total):
    return 100.0 * reached / total if total else 0.0


def counts(files):
    """Lines, branches and functions as pairs (reached, all)."""
    lines = [line for entry in files for line in entry["lines"] if not line["gcovr/noncode"]]
    branches = [branch["count"] for line in lines for branch in line["branches"]]
    functions = [function["execution_count"] for entry in files for function in entry["functions"]]
    return [(sum(n > 0 for n in numbers), len(numbers))
            for numbers in ([line["count"] for line in lines], branches, functions)]


def print_room(name, folder, files, limit):
    """True when the room has what its limit asks for."""
    lines, branches, functions = counts(files)
    percent = share(*lines)
    wanted = f">= {limit:.0f} %" if limit else ""
    print(f"{name:<11} {folder:<14} {percent:6.2f} %  {lines[0]:>6} of {lines[1]:>6}  {share(*branches):7.1f} %  "
          f"{functions[0]:>5} of {functions[1]:>5}  {wanted}")
    return percent >= limit


def print_table(files):
    print(f"{'room':<11} {'folder':<14} {'lines':>8}  {'':>16}  {'branches':>9}  {'functions':>14}")
    good = True
    for rooms, limit in ((LIMITED, LIMIT), (OTHERS, 0)):
        for name, folder in rooms.items():
            inside = [entry for entry in files if entry["file"].startswith(folder)]
            good = print_room(name, folder, inside, limit) and good
    print_room("all", "", files, 0)
    return good


def read_list(path):
    """Reasons by (file, function)."""
    reasons = {}
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if not line.strip() or line.startswith("#"):
                continue
            match = LISTED.match(line)
            if not match:
                sys.exit(f"{path}:{number}: not \"FILE FUNCTION: REASON\"")
            reasons[match[1], match[2]] = match[3]
    return reasons


def compare(files, reasons):
    """True when the list says which functions nothing reached, and no others."""
    unreached = {(entry["file"], function["name"])
                 for entry in files for function in entry["functions"] if not function["execution_count"]}
    unlisted = sorted(unreached - reasons.keys())
    untrue = sorted(reasons.keys() - unreached)
    for file, name in sorted(unreached & reasons.keys()):
        print(f"never reached: {file} {name}: {reasons[file, name]}")
    for file, name in unlisted:
        print(f"NEVER REACHED, and not in the list: {file} {name}")
    for file, name in untrue:
        print(f"UNTRUE, reached or gone: {file} {name}")
    return not unlisted and not untrue


def print_missing(files):
    for entry in files:
        missing = [line["line_number"] for line in entry["lines"] if not line["gcovr/noncode"] and not line["count"]]
        if missing:
            print(f"{entry['file']}: {len(missing)}: {' '.join(map(str, missing))}")


def main():
    files = product_files(sys.argv[1])
    if "--missing" in sys.argv[3:]:
        print_missing(files)
    good = print_table(files)
    good = compare(files, read_list(sys.argv[2])) and good
    sys.exit(0 if good else 1)


main()
