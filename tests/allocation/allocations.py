# SPDX-License-Identifier: Apache-2.0
"""Runs a command again and again, each time with another allocation that fails (see allocations.c), and judges."""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, LONG, SHARED, Checks, command, leave_out, run  # noqa: E402

LIBRARY = BUILD / "tests" / "allocation" / "allocations.so"
SANITIZED = 99  # the status of a command in which a sanitizer found something
OPTIONS = f"exitcode={SANITIZED}:abort_on_error=0:malloc_context_size=8"
REPORTED = 5  # failures of one command line that are described
FEW = 50  # of more allocations than these, every ONCE_STEP-th fails alone, and every REST_STEP-th with all behind it
ONCE_STEP = 1 if LONG else 29
REST_STEP = 1 if LONG else 149


class Run:
    """What became of one copy of the command."""

    def __init__(self, answer, stdout, stderr):
        status, self.count, self.descriptors, self.mapped = map(int, answer.split())
        self.status, self.stdout, self.stderr = os.waitstatus_to_exitcode(status), stdout, stderr

    def result(self):
        return self.status, self.stdout, self.stderr


class Server:
    """A command with its arguments, which waits before main; each run is a copy of it."""

    def __init__(self, folder, name, args):
        requests, self.requests = os.pipe()
        answers, end = os.pipe()
        self.answers = os.fdopen(answers)
        self.streams = [tempfile.TemporaryFile() for _ in range(2)]
        # Appending: what a run prints starts at the end of the file, which is emptied before each.
        ends = [os.open(f"/proc/self/fd/{stream.fileno()}", os.O_WRONLY | os.O_APPEND) for stream in self.streams]
        env = {**os.environ, "LD_PRELOAD": str(LIBRARY), "ALLOC_REQUESTS": str(requests), "ALLOC_ANSWERS": str(end)}
        for sanitizer, options in (("ASAN", f"{OPTIONS}:verify_asan_link_order=0:allocator_may_return_null=1"),
                                   ("LSAN", OPTIONS), ("UBSAN", f"{OPTIONS}:print_stacktrace=1")):
            env[f"{sanitizer}_OPTIONS"] = f"{env.get(f'{sanitizer}_OPTIONS', '')}:{options}"
        self.process = subprocess.Popen([command(name), *map(str, args)], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                        stdout=ends[0], stderr=ends[1], pass_fds=(requests, end))
        for fd in (requests, end, *ends):
            os.close(fd)

    def run(self, number, way="once"):
        for stream in self.streams:
            stream.truncate(0)
        os.write(self.requests, f"{number} {way}\n".encode())
        answer = self.answers.readline()
        for stream in self.streams:
            stream.seek(0)
        stdout, stderr = (stream.read().decode(errors="replace") for stream in self.streams)
        if not answer:
            raise RuntimeError(f"the command ended before main: {stderr}")
        return Run(answer, stdout, stderr)

    def close(self):
        os.close(self.requests)
        self.answers.close()
        self.process.wait()
        for stream in self.streams:
            stream.close()


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Path:
    """A command line in a folder, and what it gives while there is memory."""

    def __init__(self, checks, folder, name, args, trouble, pieces):
        self.checks, self.folder, self.trouble, self.pieces = checks, folder, trouble, pieces
        self.label = " ".join(map(str, (name, *args)))
        self.server = Server(folder, name, args)
        self.inputs = contents(folder)
        self.folders = {path for path in folder.rglob("*") if path.is_dir()}
        self.whole = self.server.run(0)
        self.outputs = self.take_outputs()
        self.failures = 0
        checks.check(f"{self.label}: without failures", self.whole.status not in (SANITIZED, None)
                     and self.whole.status >= 0 and not self.whole.descriptors and not self.whole.mapped,
                     f"{vars(self.whole)}")

    def take_outputs(self):
        """The files that are new, which are removed."""
        found = {path: data for path, data in contents(self.folder).items() if self.inputs.get(path) != data}
        for path in found:
            path.unlink()
        for path in self.folder.iterdir():
            if path.is_dir() and path not in self.folders:
                shutil.rmtree(path)
        return found

    def trouble_with(self, run, outputs):
        """What is wrong with a run, or None."""
        if run.descriptors or run.mapped:
            return f"{run.descriptors} descriptors stay open, {run.mapped} bytes mapped"
        if run.result() == self.whole.result() and outputs == self.outputs:
            return None
        if run.status != self.trouble:
            return "the status, or what is written"
        if run.stderr.count("memory ran out") != 1:
            return "the message"
        if not self.whole.stdout.startswith(run.stdout):
            return "the report"
        pieces = {path: data for path, data in outputs.items() if self.pieces and self.outputs.get(path) == data}
        return f"files: {[str(path) for path in outputs]}" if outputs != pieces else None

    def describe(self, number, way, run, what):
        """The stack is known where a sanitizer prints it."""
        stack = self.server.run(number, "show").stderr.splitlines()
        self.take_outputs()
        frames = [line for line in stack if re.match(r" +#\d", line) and "allocations.c" not in line]
        print(f"{self.label}: {what}: allocation {number} fails {way}: status {run.status}\n{run.stderr[:3000]}"
              f"it is\n" + "\n".join(frames[:14]))

    def try_all(self, way, step):
        """Of every step-th allocation; how many of them end the command, and how many it does without."""
        ended, without, number = 0, 0, 1
        while True:
            run = self.server.run(number, way)
            what = self.trouble_with(run, self.take_outputs())
            if run.count < number:
                self.checks.check(f"{self.label}: all allocations are known", what is None, what)
                return ended, without
            if what:
                self.failures += 1
                if self.failures <= REPORTED:
                    self.describe(number, way, run, what)
            ended += run.status == self.trouble
            without += run.status != self.trouble
            number += step

    def close(self):
        self.server.close()
        self.checks.equal(f"{self.label}: the inputs stay", contents(self.folder), self.inputs)


class Bench:
    def __init__(self, checks, folder):
        self.checks, self.folder, self.started, self.counted = checks, pathlib.Path(folder), processor_time(), 0

    def prepare(self, name, *args):
        done = run(name, *args, cwd=self.folder)
        self.checks.equal(f"{name} {args} prepares: {done.stderr}", done.returncode, 0)

    def every(self, name, *args, trouble=1, status=0, pieces=False):
        """Each allocation of the command fails. status: without failures; trouble: where memory runs out; pieces: some of
        its outputs, whole ones, may be there then."""
        path = Path(self.checks, self.folder, name, args, trouble, pieces)
        if path.whole.count < 5:
            path.close()
            self.checks.skip(path.label, "a library that is preloaded does not see this build's allocations")
            return
        if status is not None:
            self.checks.equal(f"{path.label}: status {path.whole.stderr}", path.whole.status, status)
        count = path.whole.count
        ended, without = path.try_all("once", ONCE_STEP if count > FEW else 1)
        rest = path.try_all("rest", REST_STEP if count > FEW else 1)
        print(f"{path.label}: {count} allocations; of {ended + without} that failed {ended} end it; {sum(rest)} times all "
              "from one on fail", flush=True)
        leave_out(count - ended - without, count, "allocations that fail alone")
        leave_out(count - sum(rest), count, "allocations from which on all fail")
        self.counted += ended + without
        self.checks.equal(f"{path.label}: failures", path.failures, 0)
        self.checks.check(f"{path.label}: most are needed", ended > 0, (ended, without))
        path.close()


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(*parts):
    """Those of the parts that the command line names; all of them without."""
    checks = Checks()
    for part in parts:
        if sys.argv[1:] and part.__name__ not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(checks, folder)
            part(bench)
            if not bench.counted:
                bench.checks.skip(part.__name__, f"nothing is there that it is about (in {SHARED})")
            print(f"{part.__name__}: {bench.counted} allocations failed in {processor_time() - bench.started:.1f} s of a processor", flush=True)
    checks.finish()
