# SPDX-License-Identifier: Apache-2.0
"""What the test scripts share: counting checks, and finding sources, commands and the real data."""

import fnmatch
import itertools
import math
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("ODLC_SOURCE_ROOT", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ODLC_BUILD_ROOT", SOURCE / "build" / "test"))
SHARED = pathlib.Path(os.environ.get("ODLC_SHARED", SOURCE.parent / "shared"))

COMMAND_FOLDERS = {**dict.fromkeys(("onnx-to-dlc", "tensorflow-to-dlc", "udo-check"), "converters"),
                   **dict.fromkeys(("dlc-diff", "dlc-info", "dlc-quantize", "dlc-viewer", "net-run",
                                   "qnn-op-package-generator", "udo-package-generator"), "src/tools")}
SKIPPED = 77
LONG = os.environ.get("ODLC_LONG") == "1"  # scripts/test.sh --long: what is tried in part otherwise is tried whole
CASES = os.environ.get("ODLC_CASES", "").split()  # shell patterns: tests that take them try the cases with such names alone
LEAK_STEP = 4  # of runs of commands each so-manieth looks for leaks, which takes a third of a short one
RUNS = itertools.count()
# Without it net-run starts itself anew, which libraries that are preloaded into it do not expect.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
LEFT_OUT = {}  # what → [how many of it are left to ODLC_LONG=1, how many there are]


def patient(seconds):
    """A limit that only what hangs reaches, on a machine that does other things as well: it costs nothing otherwise."""
    return 10 * seconds


def when_busy(seconds):
    """A time in which something must be done, where the test waits for its end: longer while more processes want to run than
    there are cores. A whole number."""
    return math.ceil(seconds * min(10, max(1, os.getloadavg()[0] / os.cpu_count())))


def case_chosen(name):
    return not CASES or any(fnmatch.fnmatchcase(name, pattern) for pattern in CASES)


def leave_out(count, total, what):
    """Notes what is left to ODLC_LONG=1."""
    sums = LEFT_OUT.setdefault(what, [0, 0])
    sums[0] += count
    sums[1] += total


def print_left_out():
    """scripts/count-tests.py adds the lines up."""
    for what, (count, total) in LEFT_OUT.items():
        if count:
            print(f"left out: {count} of {total} {what}")


def share_of(cases, step, what="cases"):
    """All cases with ODLC_LONG=1; each step-th one otherwise, and the rest is said to be left out."""
    cases = list(cases)
    share = cases[::1 if LONG else step]
    leave_out(len(cases) - len(share), len(cases), what)
    return share


def case_at_work():
    """The outermost function of the script, but main, in which a check is made; None: there is none."""
    names, frame = [], sys._getframe(1)
    while frame:
        if frame.f_globals.get("__name__") == "__main__" and frame.f_code.co_name not in ("main", "<module>"):
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names[-1] if names else None


class Checks:
    """Counts checks; failures are printed as they come, with the function that made them, the totals at the end."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            case = case_at_work()
            print("FAILED " + (f"in {case}: " if case else "") + name + (f": {detail}" if detail else ""))
        return bool(holds)

    def equal(self, name, found, expected):
        return self.check(name, found == expected, f"found {found!r}, expected {expected!r}")

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skipped {name}: {reason}")

    def finish(self):
        print_left_out()
        if CASES and not (self.passed or self.failed or self.skipped):
            self.skip("all cases", "ODLC_CASES names none of them")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        if not (self.passed or self.failed or self.skipped):
            print("FAILED: no check was made")
            sys.exit(1)
        if self.failed:
            sys.exit(1)
        sys.exit(SKIPPED if self.skipped and not self.passed else 0)


def command(name):
    """Path of a built command."""
    return str(BUILD / COMMAND_FOLDERS[name] / name)


def looks_for_leaks():
    """Whether the next run of a command does; with ODLC_LONG=1 all do."""
    return LONG or next(RUNS) % LEAK_STEP == 0


def asan_options(leaks, more=""):
    """Options of this process, and further ones, with leaks looked for where these options say so, or not at all."""
    return os.environ.get("ASAN_OPTIONS", "") + more + ("" if leaks else ":detect_leaks=0")


def run(name, *args, **more):
    """Runs a built command; returns the completed process with text output."""
    if "env" not in more:
        more["env"] = {**os.environ, "ASAN_OPTIONS": asan_options(looks_for_leaks())}
    return subprocess.run([command(name), *map(str, args)], capture_output=True, text=True, check=False, **more)
