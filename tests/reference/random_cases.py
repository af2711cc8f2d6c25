#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tensorflow-to-dlc with TensorFlow on random nodes: shapes, types and attributes as they come.
usage: random_cases.py [--by-onednn] [--seed N] [--count N] [--keep FOLDER] [OPERATOR...]

Needs TensorFlow (see README.md) and a build (ODLC_BUILD_ROOT). A node that TensorFlow refuses is not counted; one that
tensorflow-to-dlc refuses is listed with the reason. --keep writes the graphs of what is wrong. --by-onednn tries the
operators that TensorFlow has kernels of by oneDNN alone, and no others. The status is 1 when anything
is."""

import argparse
import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import numpy as np  # noqa: E402
from case import Case  # noqa: E402
import random_control  # noqa: E402, F401
import random_fused  # noqa: E402, F401
import random_layers  # noqa: E402, F401
import random_math  # noqa: E402, F401
import random_places  # noqa: E402, F401
import random_quantized  # noqa: E402, F401
from random_nodes import NODES, Skip  # noqa: E402
from run_case import try_case  # noqa: E402
from tensorflow_runs import BY_ONEDNN, compute, tf  # noqa: E402


def make_case(op, number):
    """Same operator and number: same case."""
    case = Case(f"{op} {number}")
    NODES[op](case, case.source, op)
    return case


def reference(case):
    """Arrays by key; None when TensorFlow does not compute the case."""
    try:
        return dict(zip(map(case.key, case.fetched), compute(case)))
    except (tf.errors.OpError, ValueError):
        return None


def attempt(case, counts, reasons, keep):
    expected = reference(case)
    if expected is None:
        counts["TensorFlow refuses"] += 1
        return
    outcome = try_case(case, expected)
    bad = [(name, detail) for name, holds, detail in outcome.checks if not holds]
    if not bad:
        counts["same"] += 1
    elif bad[0][0].startswith("convert ") and "error:" in bad[0][1]:
        counts["refused"] += 1
        op = case.name.split(" ")[0]
        reasons[op, bad[0][1].split("error: ")[1].split("\n")[0][:150].replace(case.name, "")] += 1
    else:
        counts["WRONG"] += 1
        attributes = {node.op: node.attributes for node in case.nodes if node.op not in ("Const", "Placeholder")}
        print(f"WRONG {bad[0][0]}: {bad[0][1]}\n  {attributes}", flush=True)
        if keep:
            case.save(pathlib.Path(keep) / (case.name.replace(" ", "-") + ".pb"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--by-onednn", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=20, help=argparse.SUPPRESS)
    parser.add_argument("--keep", help=argparse.SUPPRESS)
    parser.add_argument("operators", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    counts, reasons = collections.Counter(), collections.Counter()
    for op in options.operators or NODES:
        for number in range(options.seed * options.count, (options.seed + 1) * options.count):
            try:
                case = make_case(op, number)
            except Skip:
                continue
            if case.by_onednn != BY_ONEDNN:
                break
            with np.errstate(all="ignore"):
                attempt(case, counts, reasons, options.keep)
    for (op, reason), count in sorted(reasons.items()):
        print(f"{count:4} refused {op}: {reason}")
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    sys.exit(1 if counts["WRONG"] else 0)


main()
