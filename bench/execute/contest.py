# SPDX-License-Identifier: Apache-2.0
"""The two sides of a measurement: a process with a container and one with its model."""

import math
import pathlib
import sys

import numpy as np
from dlc_reader import read_container
from model_case import as_stored, complaint, convert, in_order_of
from sides import Side

HERE = pathlib.Path(__file__).resolve().parent
# How far ONNX Runtime's sigmoid is from the exact one at most, where that is near zero.
NOISE = 1.4e-7


class Contest:
    """A case, made ready for both sides in a folder."""

    def __init__(self, case, folder):
        self.case, self.folder = case, folder
        done, self.dlc = convert(case, folder)
        if done.returncode:
            raise RuntimeError(complaint(done))
        self.container = read_container(self.dlc, data=False)
        self.inputs = {name: folder / f"in{i}" for i, name in enumerate(case.inputs)}
        self.outputs = {name: folder / f"out{i}" for i, name in enumerate(case.outputs)}
        for name, file in self.inputs.items():
            np.save(f"{file}.npy", case.inputs[name])
            if self.is_given(name):
                as_stored(case.inputs[name], self.container.tensors[name]).tofile(f"{file}.raw")

    def is_given(self, name):
        return name not in self.case.frozen and name in self.container.tensors

    def words(self, option, files, ending):
        return [word for name, file in files.items() for word in (option, name, f"{file}{ending}")]

    def ours(self, program, threads):
        given = {name: file for name, file in self.inputs.items() if self.is_given(name)}
        return Side([program, self.dlc, threads, *self.words("-i", given, ".raw"),
                     *self.words("-o", self.outputs, ".raw")], threads)

    def theirs(self, threads):
        return Side([sys.executable, HERE / "timed_ort.py", self.case.model, threads,
                     *self.words("-i", self.inputs, ".npy"), *self.words("-o", self.outputs, ".npy")], threads)

    def error(self):
        """The largest difference between both sides' results, as a part of the largest value of the tensor."""
        worst = 0.0
        for name, file in self.outputs.items():
            expected = in_order_of(np.load(f"{file}.npy"), self.container.tensors[name]).astype("f8").ravel()
            found = np.fromfile(f"{file}.raw", "f4").astype("f8")
            largest = np.max(np.abs(expected), initial=0.0) or 1.0
            differs = float(np.max(np.abs(found - expected), initial=0.0))
            worst = max(worst, (differs - NOISE) / largest)
            worst = worst if np.all(np.isfinite(found)) else math.inf
        return worst
