#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged containers through every command that reads containers.

    tests/fuzz/mutate_containers.py --build BUILD [--build BUILD2] [--count 10000] [--seed N] [--jobs N] [--keep FOLDER]

Each copy of a container is damaged in one way (mutations.py) and given to dlc-info, dlc-diff, dlc-viewer and net-run. Wrong
are: a signal, a sanitizer's report, a status that the commands do not give, more than a second of processor time (ten under
sanitizers), and, in builds without sanitizers, more address space than four times the file and 64 MiB. net-run may run out of
memory, but cleanly: it needs what the container's dimensions say.
"""

import json
import math
import pathlib

import mutants
import mutations
from checks import SHARED, SOURCE

INPUT_LIMIT = 16 * mutants.MIB  # larger inputs are not made for net-run


class Source:
    def __init__(self, path):
        self.path, self.name, self.data = path, path.name, path.read_bytes()


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


class Containers:
    seconds = (1, 10)

    @staticmethod
    def sources(options):
        folders = options.seeds or [SHARED / "corpus" / "dlc", SOURCE / "testdata"]
        return [Source(path) for path in sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.dlc"))]

    @staticmethod
    def choose(rng, sources):
        return rng.choice(sources)

    @staticmethod
    def mutate(rng, source, sources):
        return mutations.mutate(rng, source.data, [other.data for other in sources])

    @staticmethod
    def attempt(build, folder, source, data):
        damaged = folder / "damaged.dlc"
        damaged.write_bytes(data)
        calls = [("dlc-info", ["-i", damaged, "--display_all_encodings", "--display_memory", "-s", folder / "table.csv"]),
                 ("dlc-info", ["-i", damaged, "--json", "--display_all_encodings", "--display_memory"]),
                 ("dlc-info", ["-i", damaged, "--verify"]),
                 ("dlc-diff", ["-i1", source.path, "-i2", damaged]),
                 ("dlc-viewer", ["-i", damaged, "-s", folder / "page.html"])]
        found, inputs, readable = [], None, False
        for name, arguments in calls:
            files = 2 if name == "dlc-diff" else 1
            done, wrong = build.run(name, arguments, 4 * files * len(data) + 64 * mutants.MIB)
            if wrong:
                found.append(mutants.Finding(name, arguments[2:], wrong, done.stderr))
            if "--json" in arguments and done.returncode == 0:
                inputs, readable = make_inputs(folder, done.stdout), True
        if inputs:
            arguments = ["--container", damaged, "--input_list", inputs, "--output_dir", folder / "out", "--debug"]
            done, wrong = build.run("net-run", arguments, 4 * len(data) + 64 * mutants.MIB)
            if wrong:
                found.append(mutants.Finding("net-run", [], wrong, done.stderr))
        return found, len(calls) + bool(inputs), readable


if __name__ == "__main__":
    mutants.run(Containers, __doc__)
