# SPDX-License-Identifier: Apache-2.0
"""Each row of the table of TensorFlow operators is reached by a case of tests/reference that is converted: test_reference.py
compares its numbers."""

import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
from checks import SOURCE, Checks  # noqa: E402

try:
    from case import cases_of, families
except ImportError as error:
    if error.name != "numpy":
        raise
    cases_of = families = None

# TensorFlow has given these up and computes no numbers: a case that is refused reaches them.
GONE = {"TopK"}
ROW = re.compile(r'^TF_ROW\("([^"]+)", ')


def reached():
    """Operators of the graphs and functions of all cases that are converted."""
    found = set()
    for family in families():
        for case in cases_of(family):
            for nodes in (case, *case.functions):
                found.update(node.op for node in nodes.nodes if case.fetched or node.op in GONE)
    return found


def main():
    checks = Checks()
    if families is None:
        checks.skip("rows", "python3-numpy is not there")
        checks.finish()
    found = reached()
    for line in (SOURCE / "converters" / "tensorflow" / "lower" / "tf_rows.def").read_text().splitlines():
        match = ROW.match(line)
        if match:
            checks.check(f"a case has {match.group(1)}", match.group(1) in found)
    checks.check("there are rows", checks.passed)
    checks.finish()


main()
