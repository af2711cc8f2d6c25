# SPDX-License-Identifier: Apache-2.0
"""Kernels for GPUs that tests fill into generated packages."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "package"))
import workshop  # noqa: E402, F401


def between(text, first, last, new):
    before, rest = text.split(first, 1)
    return before + first + new + last + rest.split(last, 1)[1]


def fill_in_gpu(package, op, source, info=None, ops="jni/src/GPU/src/ops", head=""):
    """The text of the op's kernels, and its setKernelInfo behind the generated line that adds the first one."""
    path = package / ops / f"{op}.cpp"
    text = between(path.read_text(), 'kernelSource = R"(', ')";', source)
    if info is not None:
        text = between(text, f"void {op}Operation::setKernelInfo()\n{{", "\n}\n\nstd::unique_ptr", info)
    path.write_text(head + text)
