# SPDX-License-Identifier: Apache-2.0
"""Processes that execute when they are told to, in turns with others. Python's standard library is enough for them."""

import functools
import json
import math
import os
import pathlib
import subprocess
import time

from verdicts import Figures

# Milliseconds that the executions of a round take at least; seconds in which the other side's threads come to rest.
ROUND, REST = 20, 0.1


@functools.cache  # before anything runs that looks busy
def turns(threads):
    """How long threads wait for each other, by net-run's rule (src/tools/run_threads.c)."""
    running = int(pathlib.Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[0])
    return "100000" if running - 1 + threads <= os.cpu_count() else "1000"


class Side:
    """A process that executes when it is told to."""

    def __init__(self, command, threads, environment=()):
        environment = {**os.environ, "GOMP_SPINCOUNT": turns(threads), **dict(environment)}
        self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.start = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read().strip()[-300:] or "it ended")
        return json.loads(line)

    def figures(self, count):
        """All that is said of so many executions."""
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return self.answer()

    def run(self, count):
        """Milliseconds of an execution."""
        return self.figures(count)["run"]

    def end(self):
        """The peak of its memory, beyond what was resident before it loaded anything."""
        self.process.stdin.close()
        peak = self.answer()["peak"]
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        return (peak - self.start["resident"]) * 1024


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
