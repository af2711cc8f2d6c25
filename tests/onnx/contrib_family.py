# SPDX-License-Identifier: Apache-2.0
"""Cases whose numbers ONNX Runtime computed (make_contrib.py), by family."""

import importlib
import pathlib

from one_node import gives, np

HERE = pathlib.Path(__file__).resolve().parent


def expected_of(node, arrays):
    """None where the numbers are of another node."""
    if f"{node.name}|{node.digest()}" not in arrays["digests"]:
        return None
    return [code and arrays[f"{node.name}|{i}"] for i, code in enumerate(node.outputs[:node.compared])]


def try_family(checks, family):
    arrays, cases = np.load(HERE / f"contrib_{family}.npz"), importlib.import_module(f"contrib_{family}_cases").CASES
    checks.equal(f"names of {family} differ", len({node.name for node in cases}), len(cases))
    for node in cases:
        expected = expected_of(node, arrays)
        if checks.check(f"there are numbers for {node.name}", expected is not None, "run make_contrib.py"):
            gives(checks, node.op.removeprefix("::"), node.opset, node.inputs, expected, node.within, **node.attributes)
