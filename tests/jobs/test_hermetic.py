# SPDX-License-Identifier: Apache-2.0
"""Commands touch nothing but what they are given: they read their inputs (and the system's libraries), write into the
output's folder, start no program, and open no connection."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from checks import Checks, command  # noqa: E402
from confined import lay_out, surroundings, tree  # noqa: E402

STRACE = shutil.which("strace")
CALL = re.compile(r"^\d+\s+(\w+)\((.*)$")
# A path behind the folder that it is relative to, where the call has one.
PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
# The dynamic linker, the number of processors, a sanitizer's look at itself.
SYSTEM = re.compile(r"/(lib|lib64|usr/lib|usr/local/lib|etc/ld\.so|sys/devices/system/cpu|sys/fs/cgroup|proc/(self|\d+|sys|cpuinfo|"
                    r"stat|meminfo)\b)|/$")
READ_CALLS = {"access", "faccessat", "faccessat2", "stat", "lstat", "newfstatat", "statx", "readlink", "readlinkat",
              "getcwd", "statfs"}
OPEN_CALLS = {"open", "openat", "openat2"}
WRITE_CALLS = {"link", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "chmod",
               "fchmodat", "symlink", "symlinkat", "truncate", "utimensat", "chown", "fchownat", "mknodat", "creat"}


def folders(names):
    """The names, and all folders above them but the base."""
    return {str(above) for name in names for above in (pathlib.PurePath(name), *pathlib.PurePath(name).parents)} - {"."}


class Trace:
    def __init__(self, checks, label, base):
        self.checks, self.label, self.base = checks, label, base
        self.reads, self.writes, self.programs = set(), set(), 0

    def place(self, folder, path):
        """A path as the test's folders see it; None for the system's."""
        full = os.path.normpath(os.path.join(folder or self.base / "cwd", path))
        if full.startswith(str(self.base) + "/"):
            return os.path.relpath(full, self.base)
        return None if SYSTEM.match(path) or full == str(self.base) else path

    def call(self, name, rest):
        found = PATH.findall(rest)
        if name.startswith("readlink"):  # what it gives is quoted, too
            found = found[:1]
        paths = {self.place(folder, path) for folder, path in found if path} - {None}
        if name == "execve":
            self.programs += 1
        elif name in OPEN_CALLS:
            writing = re.search(r"O_(WRONLY|RDWR|CREAT|TMPFILE|TRUNC|APPEND)", rest)
            (self.writes if writing else self.reads).update(paths)
        elif name in WRITE_CALLS:
            self.writes.update(paths)
        elif name in READ_CALLS:
            self.reads.update(paths)
        elif name in ("clone", "clone3"):
            self.checks.check(f"{self.label}: clone makes a thread", "CLONE_THREAD" in rest, rest)
        elif name != "exit_group":
            self.checks.check(f"{self.label}: {name} is a call that is known", False, rest)


def trees(checks, base, runs):
    """What is there afterwards."""
    for run in runs:
        before = tree(base)
        done = subprocess.run(run.words(), cwd=base / "cwd", env=surroundings(base), capture_output=True, text=True, check=False)
        checks.equal(f"{run.label}: status {done.stderr}", done.returncode, run.status)
        after = tree(base)
        checks.equal(f"{run.label}: new files", set(after) - set(before), run.makes)
        checks.equal(f"{run.label}: changed files", [name for name in before if after.get(name) != before[name]], [])


def trace(base, words, what):
    """What strace writes about the calls; None where it cannot trace."""
    log = base.parent / "trace"
    done = subprocess.run([STRACE, "-f", "-y", "-o", log, "-e", f"trace={what}", "-e", "signal=none", *words],
                          cwd=base / "cwd", env=surroundings(base), capture_output=True, text=True, check=False)
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    there = any("execve" in line for line in lines) and "PTRACE" not in done.stderr
    return done, lines if there else None


def traced(checks, base, runs):
    """All calls about files, processes and connections."""
    for run in runs:
        done, lines = trace(base, run.words(), "%file,%network,%process")
        if lines is None:
            checks.skip("traced", f"strace cannot trace here: {done.stderr.strip()}")
            return
        t = Trace(checks, run.label, base)
        for line in lines:
            match = CALL.match(line)
            if match and match[1] not in ("wait4", "exit", "arch_prctl"):
                t.call(match[1], match[2])
        checks.equal(f"{run.label}: status when traced {done.stderr}", done.returncode, run.status)
        checks.equal(f"{run.label}: programs that were started", t.programs, 1)
        checks.check(f"{run.label}: written to", run.makes <= t.writes <= folders(run.makes), t.writes)
        found = t.reads - t.writes - folders(run.makes)
        files = {name for name in run.reads if (base / name).is_file()}
        checks.check(f"{run.label}: read", files <= found <= folders(run.reads), found)


def drawn(checks, base, _):
    """The one exception: a drawing is made by Graphviz, without a shell."""
    words = [command("dlc-viewer"), "-i", "../in/a.dlc", "--svg", "-s", "../out/a.svg"]
    done, lines = trace(base, words, "execve,%network")
    if lines is None or not shutil.which("dot"):
        checks.skip("drawing", "strace cannot trace here" if lines is None else "Graphviz's dot is not there")
        return
    started = [os.path.basename(PATH.search(line)[2]) for line in lines if "execve(" in line and line.endswith("= 0")]
    checks.equal("drawing: status", done.returncode, 0)
    checks.equal("drawing: programs that were started", started, ["dlc-viewer", "dot"])
    checks.check("drawing: connections", not any("socket" in line for line in lines), lines)


def main():
    checks = Checks()
    for part in (trees, traced, drawn):
        if part is not trees and not STRACE:
            checks.skip(part.__name__, "strace is not installed")
            continue
        with tempfile.TemporaryDirectory() as name:
            base = pathlib.Path(name).resolve() / "base"
            part(checks, base, lay_out(checks, base))
    checks.finish()


main()
