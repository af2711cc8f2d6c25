# SPDX-License-Identifier: Apache-2.0
"""What the scripts have in common that give damaged copies of files to commands: running a command within limits, what is
wrong with how it ended, dividing the copies among processes, and the totals."""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from checks import BUILD, COMMAND_FOLDERS, LONG, leave_out, print_left_out  # noqa: E402

MIB = 1 << 20
CHUNK = 50  # copies that one process tries before its findings are printed
LARGEST_OUTPUT = 2048 * MIB
TESTS_SHARE = 30  # with ODLC_LONG=1 tests try so many times the copies


class Build:
    """A build folder; with sanitizers there can be no limit of address space. seconds: of processor time that a command
    may take, without sanitizers and with them."""

    def __init__(self, folder, seconds):
        self.folder = pathlib.Path(folder)
        probe = self.call([self.path("dlc-info"), "--version"], 256 * MIB, 10)
        self.sanitized = probe.returncode != 0
        self.seconds = seconds[self.sanitized]

    def path(self, name):
        return self.folder / COMMAND_FOLDERS[name] / name

    @staticmethod
    def call(arguments, memory, seconds):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_OUTPUT, LARGEST_OUTPUT))
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        return subprocess.run([str(argument) for argument in arguments], capture_output=True, check=False,
                              preexec_fn=limit, stdin=subprocess.DEVNULL)

    def run(self, name, arguments, memory):
        """The finished process, and what is wrong with it (None: nothing). memory: bytes of address space."""
        done = self.call([self.path(name), *arguments], None if self.sanitized else memory, self.seconds)
        return done, complaint(name, done)


def complaint(name, done):
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "takes too long"
    if done.returncode < 0:
        return f"dies of {signal.Signals(-done.returncode).name}"
    if b"Sanitizer" in done.stderr or b"runtime error:" in done.stderr:
        return "has a sanitizer's report"
    if done.returncode not in ((0, 1) if name in ("dlc-info", "dlc-viewer", "net-run") else (0, 1, 2)):
        return f"ends with status {done.returncode}"
    if b"memory ran out" in done.stderr and name != "net-run":
        return "runs out of memory"
    if b"internal error" in done.stderr:
        return "has an internal error"
    failed = done.returncode == 2 or (done.returncode == 1 and name != "dlc-diff")
    if failed and not done.stderr and b"--verify" not in b" ".join(map(str.encode, done.args)):
        return "fails without a word"
    return None


class Finding:
    """What a command did wrong: its name, the arguments that matter, what, and what it said."""

    def __init__(self, command, arguments, wrong, said):
        self.command, self.arguments, self.wrong = command, arguments, wrong
        self.said = said.decode(errors="replace")


def try_range(kind, options, numbers):
    """The copies of those numbers; returns counts and findings. kind: what is damaged and how it is tried:
        kind.seconds           see Build
        kind.sources(options)  what copies are made of, each with a name and data
        kind.mutate(rng, source, sources)        a damaged copy's bytes and the name of what was done to it
        kind.attempt(build, folder, source, data)  findings, how many processes ran, and whether the copy was still good"""
    builds = [Build(folder, kind.seconds) for folder in options.build]
    sources = kind.sources(options)
    counts, findings = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="mutate") as name:
        for i in numbers:
            rng = random.Random(f"{options.seed}/{i}")
            source = kind.choose(rng, sources)
            data, change = kind.mutate(rng, source, sources)
            for build in builds:
                found, processes, good = kind.attempt(build, pathlib.Path(name), source, data)
                counts["processes"] += processes
                counts["good"] += good
                for finding in found:
                    findings.append((i, source.name, change, build.folder.name, finding))
                    if options.keep:
                        (options.keep / f"{i}-{source.name.replace('/', '-')}").write_bytes(data)
            counts["copies"] += 1
            counts["change " + change] += 1
    return counts, findings


def print_findings(findings):
    for i, source, change, build, finding in findings:
        print(f"FAILED copy {i} ({change} of {source}): {finding.command} {' '.join(map(str, finding.arguments))} "
              f"of {build} {finding.wrong}")
        print("\n".join("    " + line for line in finding.said.splitlines()[:30]), flush=True)


def print_totals(counts, failed, seconds):
    for change in sorted(name for name in counts if name.startswith("change ")):
        print(f"{change.removeprefix('change '):<16} {counts[change]:>7}")
    print(f"{counts['copies']} copies, {counts['processes']} processes ({counts['processes'] / seconds:.0f}/s), "
          f"{counts['good']} times good nevertheless")
    print_left_out()
    print(f"{counts['copies'] - failed} passed, {failed} failed, 0 skipped")


def read_options(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--seeds", action="append", default=[])
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--share", type=int, help="of a test: so many copies, or with ODLC_LONG=1 some times as many")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if options.share:
        options.count = options.share * (TESTS_SHARE if LONG else 1)
        leave_out(options.share * TESTS_SHARE - options.count, options.share * TESTS_SHARE, "damaged copies")
    options.build = options.build or [BUILD]
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    return options


def run(kind, description):
    options = read_options(description)
    start, counts, failed = time.monotonic(), collections.Counter(), set()
    ranges = [range(first, min(first + CHUNK, options.count)) for first in range(0, options.count, CHUNK)]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for part, findings in pool.map(try_range, [kind] * len(ranges), [options] * len(ranges), ranges):
            counts += part
            failed |= {finding[0] for finding in findings}
            print_findings(findings)
            print(f"{counts['copies']} copies", file=sys.stderr)
    print_totals(counts, len(failed), time.monotonic() - start)
    sys.exit(1 if failed else 0)
