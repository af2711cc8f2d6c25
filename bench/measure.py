# SPDX-License-Identifier: Apache-2.0
"""Measures commands: what one run used, medians, ratios of runs that belong together, and on what machine.

Times are seconds, memory is bytes. A MB is 10⁶ bytes."""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEFAULT_BUILD = ROOT / "build" / "release"


class Run(NamedTuple):
    """What a command used. status is its exit status, or 128 and the signal; late: it was ended because it took
    too long."""

    cpu: float
    wall: float
    peak: int
    status: int = 0
    late: bool = False
    output: str = ""
    error: str = ""


class Meter:
    """Runs commands under the launcher that a build holds."""

    def __init__(self, build):
        self.launcher = pathlib.Path(build) / "bench" / "usage"
        if not self.launcher.exists():
            sys.exit(f"{self.launcher} is not there: name the build with --build")

    def run(self, command, stdout=None, cpu_seconds=3600, seconds=3600):
        """A run, ended when it takes longer; its standard output goes to the file `stdout`, or is kept."""
        with tempfile.NamedTemporaryFile("r") as report, tempfile.TemporaryFile("w+") as kept, \
                tempfile.TemporaryFile("w+", errors="replace") as errors, open(stdout or os.devnull, "wb") as out:
            launch = [self.launcher, str(cpu_seconds), str(seconds), report.name, *map(str, command)]
            if subprocess.run(launch, stdout=out if stdout else kept, stderr=errors, check=False).returncode:
                sys.exit(f"{self.launcher} cannot run {command[0]}")
            cpu, wall, peak, status, late = report.read().split()
            for stream in (kept, errors):
                stream.seek(0)
            return Run(float(cpu), float(wall), int(peak) * 1024, int(status), late == "1", kept.read(), errors.read())

    def must(self, command, expected=0, stdout=None):
        """A run of a command whose status must be as expected."""
        run = self.run(command, stdout)
        if run.status != expected:
            sys.exit(f"{run.error}{command[0]} ended with status {run.status} instead of {expected}")
        return run


def medians(runs):
    """A Run of the medians of CPU and elapsed time, and of the largest peak."""
    return Run(statistics.median(run.cpu for run in runs), statistics.median(run.wall for run in runs),
               max(run.peak for run in runs))


class Ratio(NamedTuple):
    """The median of ratios within rounds, and the smallest and largest."""

    median: float
    least: float
    most: float

    def __str__(self):
        return f"{self.median:.2f} ({self.least:.2f}..{self.most:.2f})"


def paired(runs, references, key):
    """The Ratio of `key` ("cpu" or "wall") of runs to references, round by round; a round that lacks one is left out.
    Less than a millisecond counts as one: the ratio of two start-ups says nothing."""
    ratios = [getattr(run, key) / max(getattr(reference, key), 1e-3) for run, reference in zip(runs, references)]
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))


def first_match(path, pattern):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found.group(1) if found else None


def file_system(folder):
    """The type of the file system that holds a folder."""
    asked = subprocess.run(["df", "--output=fstype", folder], capture_output=True, text=True, check=False)
    return (asked.stdout.split() or ["unknown"])[-1]


def machine(folder):
    """What figures depend on, in a sentence: processor, cores, memory, kernel, file system."""
    model = first_match("/proc/cpuinfo", r"^model name\s*:\s*(.*)$") or os.uname().machine
    memory = int(first_match("/proc/meminfo", r"^MemTotal:\s*(\d+) kB") or 0) / (1 << 20)
    return (f"{' '.join(model.split())}, {len(os.sched_getaffinity(0))} cores, {memory:.1f} GiB of memory, "
            f"Linux {re.match(r'[0-9.]*', os.uname().release).group().rstrip('.')}, {file_system(folder)}")
