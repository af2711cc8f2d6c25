# SPDX-License-Identifier: Apache-2.0
"""The two sides of a measurement: a process with a container and one with its model, which execute in turns."""

import functools
import json
import math
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
from dlc_reader import read_container
from model_case import as_stored, complaint, convert, in_order_of
from verdicts import Figures

HERE = pathlib.Path(__file__).resolve().parent
# Milliseconds that the executions of a round take at least; seconds in which the other side's threads come to rest.
ROUND, REST = 20, 0.1
# How far ONNX Runtime's sigmoid is from the exact one at most, where that is near zero.
NOISE = 1.4e-7


@functools.cache  # before anything runs that looks busy
def turns(threads):
    """How long threads wait for each other, by net-run's rule (src/tools/run_threads.c)."""
    running = int(pathlib.Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[0])
    return "100000" if running - 1 + threads <= os.cpu_count() else "1000"


class Side:
    """A process that executes when it is told to."""

    def __init__(self, command, threads):
        environment = {**os.environ, "GOMP_SPINCOUNT": turns(threads)}
        self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.start = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read().strip()[-300:] or "it ended")
        return json.loads(line)

    def run(self, count):
        """Milliseconds of an execution."""
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return self.answer()["run"]

    def end(self):
        """The peak of its memory, beyond what was resident before it loaded anything."""
        self.process.stdin.close()
        peak = self.answer()["peak"]
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        return (peak - self.start["resident"]) * 1024


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


def in_turns(openers, rounds, starts):
    """Figures of the sides that the functions open; executions of a round follow each other."""
    began = [[] for _ in openers]
    for _ in range(starts - 1):
        for times, opener in zip(began, openers):
            side = opener()
            times.append(side.start["start"])
            side.end()
    sides = [opener() for opener in openers]
    for times, side in zip(began, sides):
        times.append(side.start["start"])
    counts = [max(1, math.ceil(ROUND / max(side.run(1), 1e-3))) for side in sides]
    runs = [[] for _ in sides]
    for _ in range(rounds):
        for times, side, count in zip(runs, sides, counts):
            time.sleep(REST)
            times.append(side.run(count))
    return [Figures(*figures) for figures in zip(runs, began, [side.end() for side in sides])]
