#!/usr/bin/env python3
"""Writes docs/operators.md, the list of ONNX operators that are converted, from converters/onnx/rows.def.
usage: make-operators-doc.py [--check]     (--check: only says whether the file is up to date)"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), (\w+), (.+)\)$')
HEAD = """# ONNX operators

Operators that `onnx-to-dlc` converts, with the opset versions of their domain. Forms of an operator that the container cannot
express exactly are refused with a message that names node and attribute; `onnx-to-dlc --dry_run` says what holds for a
given model. Everything else can be described as a [user-defined op](udo-config.md).

This file is made by `scripts/make-operators-doc.py` from `converters/onnx/rows.def`.

| Operator | Opset versions |
|---|---|
"""


def document():
    ranges = {}
    for line in (ROOT / "converters" / "onnx" / "rows.def").read_text().splitlines():
        match = ROW.match(line)
        if match:
            domain, op, lo, hi = match.group(1, 2, 3, 4)
            ranges.setdefault(f"{domain}::{op}" if domain else op, []).append((int(lo), hi))
    # Rows that follow on each other are one range: that two functions serve it is nobody's business here.
    rows = (f"| {op} | {spans[0][0]} to {spans[-1][1].replace('LATEST', 'newest')} |\n" for op, spans in ranges.items())
    return HEAD + "".join(rows)


def main():
    path = ROOT / "docs" / "operators.md"
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if path.is_file() and path.read_text() == document() else f"{path} is not up to date")
    path.write_text(document())


main()
