# SPDX-License-Identifier: Apache-2.0
"""The networks of the corpus by the GPU backend and by the reference: results differ by at most 1e-4 of the largest (2e-3 in
float16), and the GPU backend has all nodes. PoCL builds kernels for seconds a network: without ODLC_LONG=1 the smallest one is tried."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SHARED, Checks, run, share_of  # noqa: E402

try:
    import model_case
    import numpy as np
    from model_case import case_of_arrays, complaint, convert, execute, result
except ImportError:
    np = None

if np:
    model_case.run = run  # prestarted commands have a library loaded that PoCL's linker, which they start, cannot load
# Graph inputs that a model needs to be constants: they select a part of it.
FROZEN = {"silero-vad-v5": ["sr"]}
LIMITS = {np.dtype("f2"): 2e-3} if np else {}  # of the model's outputs; others 1e-4


def results_by(checks, case, dlc, folder, backends):
    """{name of a graph output: array}, and what net-run printed."""
    done, container = execute(case, dlc, folder, options=("--backend", backends, "--explain"))
    if done.returncode:
        checks.check(f"{case.name} runs by {backends}", False, complaint(done))
        return {}, ""
    return {name: result(folder, container, name) for name in case.outputs}, done.stdout


def compare(checks, case, folder):
    done, dlc = convert(case, folder)
    if done.returncode:
        checks.check(f"{case.name} converts", False, complaint(done))
        return
    expected, _ = results_by(checks, case, dlc, folder, "reference")
    found, explained = results_by(checks, case, dlc, folder, "gpu,reference")
    for name, array in expected.items():
        a, b = array.astype(np.float64), found.get(name, array * np.nan).astype(np.float64)
        apart = np.max(np.abs(a - b)) / max(np.max(np.abs(a)), 1e-30)
        checks.check(f"{case.name}: {name}", apart <= LIMITS.get(case.outputs[name].dtype, 1e-4), f"{apart:.2g} apart")
    others = [line for line in explained.splitlines() if line.startswith("reference ")]
    checks.equal(f"{case.name}: nodes that the GPU backend does not have", others, [])


def main():
    checks = Checks()
    if np is None:
        checks.skip("the networks", "numpy is not installed")
        checks.finish()
    folders = [folder for kind in ("first", "second") for folder in (SHARED / "corpus" / "onnx" / kind).iterdir()]
    folders.sort(key=lambda folder: (folder / "model.onnx").stat().st_size)
    for folder in share_of(folders, len(folders), "networks"):
        with tempfile.TemporaryDirectory() as temporary:
            compare(checks, case_of_arrays(folder, FROZEN.get(folder.name, ())), pathlib.Path(temporary))
    checks.finish()


main()
