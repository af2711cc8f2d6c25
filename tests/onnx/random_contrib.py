#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares random nodes of ONNX Runtime's own operators with ONNX Runtime, which it needs.
usage: random_contrib.py [--count N] [--seed N] [OPERATOR...]

A line an operator: nodes that both computed, the largest difference (of the largest value), nodes that only one refuses."""

import argparse
import collections
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
import contrib_draw  # noqa: E402
import contrib_draw_attention  # noqa: E402
import contrib_draw_classic  # noqa: E402
import contrib_draw_layers  # noqa: E402
import contrib_draw_quant  # noqa: E402
from make_contrib import compute  # noqa: E402
from one_node import Case, as_stored, convert, execute, np, result  # noqa: E402


DRAWS = {**contrib_draw.DRAWS, **contrib_draw_attention.DRAWS, **contrib_draw_classic.DRAWS, **contrib_draw_layers.DRAWS,
         **contrib_draw_quant.DRAWS}


def difference(found, expected):
    """Of the largest finite value; infinity where NaNs, infinities or integers differ."""
    found, expected = found.astype("f8"), expected.astype("f8")
    finite = np.isfinite(expected)
    if found.shape != expected.shape or not np.array_equal(found[~finite], expected[~finite], equal_nan=True):
        return np.inf
    largest = np.max(np.abs(expected[finite]), initial=1e-3)
    return np.max(np.abs(found[finite] - expected[finite]), initial=0) / largest


def ours(node, expected, folder):
    """(differences, message)"""
    given = node.save(folder / "model.onnx")
    outputs = {f"out{i}": array for i, array in enumerate(expected) if array is not None}
    case = Case(node.name, folder / "model.onnx", given, outputs)
    done, dlc = convert(case, folder, options=["--io_layout", "model"] if node.lengths is not None else ())
    if done.returncode:
        return None, done.stderr
    done, container = execute(case, dlc, folder)
    if done.returncode:
        return None, done.stderr
    worst = 0
    for name, array in outputs.items():
        stored = as_stored(array, container.tensors[name])
        if stored is None:
            return np.inf, f"dims of {name}: {container.tensors[name].dims} for {array.shape}"
        found, i = result(folder, container, name), int(name[3:])
        if node.lengths is not None:
            found, stored = node.defined(i, found), node.defined(i, stored)
        worst = max(worst, difference(found, stored))
    return worst, ""


def try_node(op, seed, totals):
    node = DRAWS[op](np.random.RandomState(seed))
    node.name = f"{op} {seed}"
    try:
        expected, theirs = compute(node), None
    except Exception as error:  # whatever the runtime does not take
        expected, theirs = [code and np.zeros(1, code) for code in node.outputs], str(error)
    with tempfile.TemporaryDirectory() as folder:
        try:
            worst, message = ours(node, expected, pathlib.Path(folder))
        except AssertionError:  # dims of a volume that do not tell its layout
            totals["skipped"] += 1
            return
    shapes = [array if array is None else (array.dtype.str, array.shape) for array in node.arrays()]
    if theirs:
        totals["both refuse" if worst is None else "only they refuse"] += 1
        if worst is not None:
            print(f"{node.name}: only they refuse {shapes} {node.attributes}: {theirs[-200:]}")
    elif worst is None:
        totals["only we refuse"] += 1
        print(f"{node.name}: only we refuse {shapes} {node.attributes}: {message[:300]}")
    else:
        totals["computed"] += 1
        if worst > node.within:
            totals["differ"] += 1
            print(f"{node.name}: differs by {worst} {shapes} {node.attributes} {message}")
        totals["worst"] = max(totals["worst"], worst)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("operators", nargs="*")
    arguments = parser.parse_args()
    for op in arguments.operators or sorted(DRAWS):
        totals = collections.Counter()
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            try_node(op, seed, totals)
        print(f"{op}: {dict(totals)}", flush=True)


if __name__ == "__main__":
    main()
