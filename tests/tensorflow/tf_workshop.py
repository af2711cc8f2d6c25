"""tests/convert's folder in which models are converted and executed, for TensorFlow models."""

import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "convert")]
from checks import Checks  # noqa: E402
from conversion import Workshop, op_types, udo  # noqa: E402,F401

try:
    import numpy as np
    from tf_bundle_writer import save_bundle  # noqa: F401
    from tf_writer import BFLOAT16, STRING, Func, Graph, Shape, Tensor, save_meta_graph  # noqa: F401
except ImportError as error:
    if error.name != "numpy":
        raise
    np = BFLOAT16 = STRING = Func = Graph = Shape = Tensor = save_bundle = save_meta_graph = None  # run_parts skips then


class TensorflowWorkshop(Workshop):
    command, suffix = "tensorflow-to-dlc", ".pb"


def run_parts(what, *parts):
    """Calls each part with a workshop; arguments of the script name those that are wanted."""
    checks = Checks()
    if np is None:
        checks.skip(what, "python3-numpy is not there")
        checks.finish()
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(TensorflowWorkshop(checks, folder))
    checks.finish()
