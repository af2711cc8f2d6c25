#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lengths of functions and files in lines: median, 95th percentile, longest.
usage: scripts/report-sizes.py [FOLDER...]   (default: include src converters; .c and .h files, without what Meson makes)"""

import importlib.util
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def functions_of():
    """What tests/arch/test_sizes.py finds functions with."""
    spec = importlib.util.spec_from_file_location("test_sizes", ROOT / "tests" / "arch" / "test_sizes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.functions


def print_row(what, lengths):
    """lengths: [(lines, name)]"""
    lines = sorted(length for length, _ in lengths)
    longest, name = max(lengths)
    percentile = lines[min(len(lines) - 1, len(lines) * 95 // 100)]
    print(f"{what:10} {len(lines):6} {statistics.median_low(lines):7} {percentile:7} {longest:8}  {name}")


def main():
    functions, function_lengths, file_lengths = functions_of(), [], []
    for folder in sys.argv[1:] or ("include", "src", "converters"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            name, lines = path.relative_to(ROOT).as_posix(), path.read_text().splitlines()
            file_lengths.append((len(lines), name))
            function_lengths += [(length, f"{name}:{line} {function}") for function, line, length in functions(lines)]
    print(f"{'':10} {'number':>6} {'median':>7} {'95 %':>7} {'longest':>8}")
    print_row("functions", function_lengths)
    print_row("files", file_lengths)


main()
