#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets ONNX Runtime compute the cases of its own operators, and writes contrib_FAMILY.npz.
usage: make_contrib.py [FAMILY...]      default: all

Needs onnxruntime. Operators that it has no kernel of for a CPU are computed by their definitions (contrib_by_hand.py)."""

import importlib
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "reference")]
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

FAMILIES = ("attention", "classic", "layer", "norm", "qlinear", "quant")


def compute(node):
    """The arrays of the outputs, None for absent ones."""
    if node.by_hand:
        present = iter(node.by_hand(node))
        return [code and next(present).astype(code) for code in node.outputs]
    with tempfile.TemporaryDirectory() as folder:
        given = node.save(f"{folder}/m.onnx")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(f"{folder}/m.onnx", options, providers=["CPUExecutionProvider"])
    results = iter(session.run(None, given))
    return [code and next(results) for code in node.outputs]


def make(family):
    arrays, cases = {}, importlib.import_module(f"contrib_{family}_cases").CASES
    arrays["digests"] = np.array([f"{node.name}|{node.digest()}" for node in cases])
    for node in cases:
        for i, array in enumerate(compute(node)[:node.compared]):
            if array is not None:
                arrays[f"{node.name}|{i}"] = array
    np.savez_compressed(HERE / f"contrib_{family}.npz", **arrays)


if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        make(family)
