#!/usr/bin/python3
"""Damaged containers through every command that reads containers.

    tests/fuzz/mutate_containers.py --build BUILD [--build BUILD2] [--count 10000] [--seed N] [--jobs N] [--keep FOLDER]

Each copy of a container is damaged in one way (mutations.py) and given to dlc-info, net-run and, where they are
built, dlc-diff and dlc-viewer. Wrong are: a signal, a sanitizer's report, a status that the commands do not give, more
than a second of processor time (ten under sanitizers), and, in builds without sanitizers, more address space than four
times the file and 64 MiB. net-run may run out of memory, but cleanly: it needs what the container's dimensions say.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import mutations
from checks import BUILD, COMMAND_FOLDERS, SHARED, SOURCE

MIB = 1 << 20
CHUNK = 50  # copies that one process tries before its findings are printed
INPUT_LIMIT = 16 * MIB  # larger inputs are not made for net-run
SANITIZED_SECONDS, PLAIN_SECONDS = 10, 1


class Build:
    """A build folder; with sanitizers there can be no limit of address space."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        probe = self.call([self.path("dlc-info"), "--version"], 256 * MIB, 10)
        self.sanitized = probe.returncode != 0
        self.commands = [name for name in ("dlc-info", "dlc-diff", "dlc-viewer") if self.path(name).exists()]
        said = self.call([self.path("dlc-info"), "--help"], None, 10).stdout
        self.verifies = b"--verify" in said

    def path(self, name):
        return self.folder / COMMAND_FOLDERS.get(name, "src/tools") / name

    @staticmethod
    def call(arguments, memory, seconds):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        return subprocess.run([str(argument) for argument in arguments], capture_output=True, check=False,
                              preexec_fn=limit, stdin=subprocess.DEVNULL)

    def run(self, name, arguments, size):
        """The finished process, and what is wrong with it (None: nothing)."""
        memory = None if self.sanitized else 4 * size + 64 * MIB
        done = self.call([self.path(name), *arguments], memory, SANITIZED_SECONDS if self.sanitized else PLAIN_SECONDS)
        return done, complaint(name, done)


def complaint(name, done):
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "takes too long"
    if done.returncode < 0:
        return f"dies of {signal.Signals(-done.returncode).name}"
    if b"Sanitizer" in done.stderr or b"runtime error:" in done.stderr:
        return "has a sanitizer's report"
    if done.returncode not in ((0, 1, 2) if name == "dlc-diff" else (0, 1)):
        return f"ends with status {done.returncode}"
    if b"memory ran out" in done.stderr and name != "net-run":
        return "runs out of memory"
    if b"internal error" in done.stderr:
        return "has an internal error"
    failed = done.returncode == 2 or (done.returncode == 1 and name != "dlc-diff")
    if failed and not done.stderr and b"--verify" not in b" ".join(map(str.encode, done.args)):
        return "fails without a word"
    return None


def make_inputs(folder, report):
    """An input list with zeros for each input that the report names; None when there is too much."""
    try:
        graph = json.loads(report)["graphs"][0]
        dims = {tensor["name"]: tensor["dims"] for tensor in graph["tensors"]}
        sizes = {name: 4 * math.prod(dims[name]) for name in graph["inputs"]}
    except (ValueError, KeyError, IndexError):
        return None
    if sum(sizes.values()) > INPUT_LIMIT or any(set(name) & set(" \n:=") for name in sizes):
        return None
    words = []
    for i, (name, size) in enumerate(sizes.items()):
        (folder / f"{i}.raw").write_bytes(bytes(size))
        words.append(f"{name}:={folder / f'{i}.raw'}")
    (folder / "list.txt").write_text(" ".join(words) + "\n")
    return folder / "list.txt"


def try_copy(build, folder, original, damaged, size):
    """Complaints about one damaged container, and how many processes ran."""
    calls = [("dlc-info", ["-i", damaged, "--display_all_encodings", "--display_memory", "-s", folder / "table.csv"]),
             ("dlc-info", ["-i", damaged, "--json", "--display_all_encodings", "--display_memory"])]
    if build.verifies:
        calls.append(("dlc-info", ["-i", damaged, "--verify"]))
    if "dlc-diff" in build.commands:
        calls.append(("dlc-diff", ["-i1", original, "-i2", damaged]))
    if "dlc-viewer" in build.commands:
        calls.append(("dlc-viewer", ["-i", damaged, "-s", folder / "page.html"]))
    found, report, readable = [], b"", False
    for name, arguments in calls:
        done, wrong = build.run(name, arguments, 2 * size if name == "dlc-diff" else size)
        if wrong:
            found.append((name, arguments[2:], wrong, done.stderr.decode(errors="replace")))
        if "--json" in arguments and done.returncode == 0:
            report, readable = done.stdout, True
    inputs = make_inputs(folder, report) if readable else None
    if inputs:
        arguments = ["--container", damaged, "--input_list", inputs, "--output_dir", folder / "out", "--debug"]
        done, wrong = build.run("net-run", arguments, size)
        if wrong:
            found.append(("net-run", [], wrong, done.stderr.decode(errors="replace")))
    return found, len(calls) + bool(inputs), readable


def try_range(options, numbers):
    """The copies of those numbers; returns counts and findings."""
    builds = [Build(folder) for folder in options.build]
    files = sorted(path for folder in options.seeds for path in pathlib.Path(folder).glob("*.dlc"))
    originals = [path.read_bytes() for path in files]
    counts, findings = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="mutate") as name:
        folder = pathlib.Path(name)
        for i in numbers:
            rng = random.Random(f"{options.seed}/{i}")
            source = rng.randrange(len(files))
            data, change = mutations.mutate(rng, originals[source], originals)
            damaged = folder / "damaged.dlc"
            damaged.write_bytes(data)
            for build in builds:
                found, processes, readable = try_copy(build, folder, files[source], damaged, len(data))
                counts["processes"] += processes
                counts["readable"] += readable
                for finding in found:
                    findings.append((i, files[source].name, change, build.folder.name, *finding))
                    if options.keep:
                        (options.keep / f"{i}.dlc").write_bytes(data)
            counts["copies"] += 1
            counts[change] += 1
    return counts, findings


def print_findings(findings):
    for i, source, change, build, name, arguments, wrong, said in findings:
        print(f"FAILED copy {i} ({change} of {source}): {name} {' '.join(map(str, arguments))} of {build} {wrong}")
        print("\n".join("    " + line for line in said.splitlines()[:30]), flush=True)


def print_totals(counts, failed, seconds):
    for change in sorted({change.__name__ for change in mutations.OUTER + mutations.INNER}):
        print(f"{change:<16} {counts[change]:>7}")
    print(f"{counts['copies']} copies, {counts['processes']} processes ({counts['processes'] / seconds:.0f}/s), "
          f"{counts['readable']} times readable nevertheless")
    print(f"{counts['copies'] - failed} passed, {failed} failed, 0 skipped")


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--seeds", action="append", default=[])
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    options.build = options.build or [BUILD]
    options.seeds = options.seeds or [SHARED / "corpus" / "dlc", SOURCE / "testdata"]
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = read_options()
    start, counts, failed = time.monotonic(), collections.Counter(), set()
    ranges = [range(first, min(first + CHUNK, options.count)) for first in range(0, options.count, CHUNK)]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for part, findings in pool.map(try_range, [options] * len(ranges), ranges):
            counts += part
            failed |= {finding[0] for finding in findings}
            print_findings(findings)
            print(f"{counts['copies']} copies", file=sys.stderr)
    print_totals(counts, len(failed), time.monotonic() - start)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
