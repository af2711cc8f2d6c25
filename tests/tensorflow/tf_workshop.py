# SPDX-License-Identifier: Apache-2.0
"""tests/convert's folder in which models are converted and executed, for TensorFlow models. Without NumPy the script that
imports this ends as skipped."""

import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "convert")]
from checks import SKIPPED, SOURCE, Checks, command  # noqa: E402,F401
from conversion import Workshop, op_types, params_of, udo, value_of  # noqa: E402,F401
from opdef_writer import opdef_xml  # noqa: E402,F401
from prestarted import run  # noqa: E402,F401

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not there")
    sys.exit(SKIPPED)
from tf_bundle_writer import save_bundle  # noqa: E402,F401
from tf_writer import (BFLOAT16, STRING, Func, Graph, Shape, Tensor, meta_graph, op_def, save_meta_graph,  # noqa: E402,F401
                       save_saved_model, signature, tensor_message, tensor_name)


class TensorflowWorkshop(Workshop):
    """Tests name tensors as their nodes; the container's names are "node:0"."""

    command, suffix = "tensorflow-to-dlc", ".pb"

    def execute(self, label, container, **inputs):
        results = super().execute(label, container, **{tensor_name(name): values for name, values in inputs.items()})
        plain = [name for name in results if ":" not in name]
        self.checks.equal(f"{label}: names of results end in :0", plain, [])
        return {name.removesuffix(":0"): values for name, values in results.items()}


def run_parts(*parts):
    """Calls each part with a workshop; arguments of the script name those that are wanted."""
    checks = Checks()
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(TensorflowWorkshop(checks, folder))
    checks.finish()


def chain(*ops, shape=(1, 2), dtype=np.float32, **attributes):
    """x -> op -> ...; the nodes are called n0, n1, ..."""
    g = Graph()
    value = g.placeholder("x", dtype, shape if shape is Shape.UNKNOWN else list(shape))
    for i, op in enumerate(ops):
        value = g.node(op, [value], name=f"n{i}", **attributes)
    return g
