# SPDX-License-Identifier: Apache-2.0
"""The other converters that are measured: how they are found and called, and whether what they wrote can be whole."""

import json
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
PYTHON_TITLES = {"onnx": "onnx Python load + save", "onnxruntime": "ONNX Runtime, save optimized"}
# Found on PATH by the first of the names; MODEL and OUT stand for the model and the path of an output without its
# ending.
COMMANDS = {
    "onnx2ncnn": (["onnx2ncnn"], "MODEL OUT.param OUT.bin"),
    "pnnx": (["pnnx"], "MODEL pnnxparam=OUT.pnnx.param pnnxbin=OUT.pnnx.bin pnnxpy=OUT.py pnnxonnx=OUT.pnnx.onnx "
                       "ncnnparam=OUT.param ncnnbin=OUT.bin ncnnpy=OUT_ncnn.py"),
    "MNNConvert": (["MNNConvert", "mnnconvert"], "-f ONNX --modelFile MODEL --MNNModel OUT.mnn --bizCode bench"),
}


class Other(NamedTuple):
    title: str
    arguments: tuple
    inner: bool  # Prints what its work took, as JSON, in its last line.

    def command(self, model, output):
        """The call for a model file; output is a path without an ending."""
        return [argument.replace("MODEL", str(model)).replace("OUT", str(output)) for argument in self.arguments]


def find():
    """(the others that are there, names of those that are not)"""
    found, missing = [], []
    script = str(HERE / "python_tools.py")
    listed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False).stdout
    versions = dict(line.split(" ", 1) for line in listed.splitlines() if " " in line)
    for tool in ("onnx", "onnxruntime", "onnxsim", "onnxslim", "onnxoptimizer"):
        title = PYTHON_TITLES.get(tool, tool)
        if tool in versions:
            arguments = (sys.executable, script, tool, "MODEL", "OUT.onnx")
            found.append(Other(f"{title} ({versions[tool]})", arguments, True))
        else:
            missing.append(title)
    for title, (names, arguments) in COMMANDS.items():
        path = next(filter(None, map(shutil.which, names)), None)
        if path:
            found.append(Other(title, (path, *arguments.split()), False))
        else:
            missing.append(title)
    return found, missing


def inner(run):
    """A run of a command that printed what its work took, with that instead of what the process took."""
    try:
        took = json.loads(run.output.splitlines()[-1])
        return run._replace(cpu=took["cpu"], wall=took["wall"])
    except (IndexError, ValueError, KeyError):
        return run


def failure(run, written, weights, folder):
    """What is wrong with a run, in some words; None when nothing is. `written` and `weights` are bytes: of a model that
    is mostly weights, a converter must write about as much."""
    if run.late:
        return f"ended after {run.cpu:.0f} s of CPU time, {run.wall:.0f} s"
    lines = [line.strip().replace(str(folder), "") for line in (run.error + run.output).splitlines() if line.strip()]
    if run.status:
        return f"fails with status {run.status}: {lines[-1][:90] if lines else 'no message'}"
    if not written:
        return "status 0, but no output"
    if written < weights * 0.4:
        return f"status 0, but only {written / 1e6:.1f} MB written"
    return None
