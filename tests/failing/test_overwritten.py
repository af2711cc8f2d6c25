# SPDX-License-Identifier: Apache-2.0
"""Containers that another process writes to in place, by a mapping of its own, while a command reads them. What the
command says of them is open, but it says it: it neither dies nor hangs, and sanitizers find nothing."""

import random
import shutil
import struct
import subprocess
import sys
import tempfile

from scene import Checks, Scene, onnx
from checks import LONG, SOURCE, patient
from prestarted import run

# Each of the nine command lines has 100, or 2,000.
ROUNDS = 18000 if LONG else 900

# The writer: one place after the other gets a byte and then, mostly, what it had before, so that the container stays
# one for long enough to be read on. It ends with its standard input.
WRITER = """
import mmap, os, random, select, sys
seed, path, *spans = sys.argv[1:]
noise = random.Random(seed)
spans = [tuple(map(int, span.split("-"))) for span in spans]
with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    before = bytes(m)
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _ in range(200):
            start, end = noise.choice(spans)
            at = noise.randrange(start, end)
            m[at] = noise.choice((0, 1, 4, 127, 128, 255, noise.randrange(256)))
            if noise.random() < 0.9:
                m[at] = before[at]
            if noise.random() < 0.01:
                m[:] = before
"""


def index_model(path):
    """Positions are constants, and there are enough names for a reader to be at them for a while."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [64, 4])
    m.tensor("rows", onnx.INT64, [64], raw=struct.pack("<64q", *range(64)))
    m.tensor("narrow", onnx.INT32, [64, 1], raw=struct.pack("<64i", *range(64)))
    value = "x"
    for i in range(60):
        m.node(("Gather", "GatherND", "Relu")[i % 3], [value, *(["rows"], ["narrow"], [])[i % 3]], [f"value{i}"])
        value = f"value{i}"
    m.output(value, onnx.FLOAT, [64, 4])
    m.save(path)


def spans_of(data):
    """Where a byte changes what is read: the zip's records, the entries but for weights, and the first payloads."""
    spans = [(max(0, len(data) - 400), len(data))]
    at = data.find(b"PK\3\4")
    while at >= 0:
        spans.append((at, min(len(data), at + 128)))
        spans.append((at, min(len(data), at + 20000)))
        at = data.find(b"PK\3\4", at + 1)
    return spans


class Subject:
    """A container, the command lines that read it, and the writer."""

    def __init__(self, scene, name, data, runs):
        self.scene, self.name, self.data, self.runs = scene, name, data, runs
        self.path = scene.folder / name
        (scene.folder / "same.dlc").write_bytes(data)

    def commands(self):
        lines = [("dlc-info", "-i", self.name), ("dlc-info", "-i", self.name, "--json"),
                 ("dlc-info", "-i", self.name, "--verify"), ("dlc-info", "-i", self.name, "--display_all_encodings"),
                 ("dlc-diff", "-i1", self.name, "-i2", "same.dlc"), ("dlc-viewer", "-i", self.name, "-s", "page.html"),
                 ("dlc-viewer", "-i", self.name, "--dot")]
        if self.runs:
            run_line = ("net-run", "--container", self.name, "--input_list", "list.txt")
            lines += [run_line, run_line]
        return lines

    def tried(self, checks, seed, times):
        """Runs commands while the container is written to; the statuses that were found."""
        self.path.write_bytes(self.data)
        (self.scene.folder / "same.dlc").write_bytes(self.data)
        spans = [f"{start}-{end}" for start, end in spans_of(self.data)]
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(seed), str(self.path), *spans],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        statuses = []
        try:
            writer.stdout.readline()
            lines = self.commands()
            for i in range(times):
                line = lines[(seed + i) % len(lines)]
                done = run(*line, cwd=self.scene.folder, timeout=patient(120), errors="replace")
                checks.check(f"{self.name}: {' '.join(line)} (seed {seed})",
                             done.returncode in (0, 1, 2) and "Sanitizer" not in done.stderr
                             and "runtime error" not in done.stderr,
                             f"status {done.returncode}: {done.stderr[-3000:]}")
                statuses.append(done.returncode)
        finally:
            writer.communicate(b"end", timeout=patient(60))
        checks.equal(f"{self.name}: the writer's status", writer.returncode, 0)
        return statuses


def subjects(scene):
    folder = scene.folder
    index_model(folder / "index.onnx")
    done = run("onnx-to-dlc", "-i", "index.onnx", "-o", "index.dlc", cwd=folder)
    scene.checks.equal(f"index: {done.stderr}", done.returncode, 0)
    (folder / "x.raw").write_bytes(struct.pack("<f", 0.5) * 256)
    (folder / "list.txt").write_text("x:=x.raw\n")
    done = run("net-run", "--container", "index.dlc", "--input_list", "list.txt", cwd=folder)
    scene.checks.equal(f"index runs: {done.stderr}", done.returncode, 0)
    yield Subject(scene, "index.dlc", (folder / "index.dlc").read_bytes(), True)
    yield Subject(scene, "net.dlc", scene.container, False)
    for name in ("netp", "nr64", "v3", "v41"):
        yield Subject(scene, f"{name}.dlc", (SOURCE / "testdata" / f"{name}.dlc").read_bytes(), False)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(checks, folder)
        shutil.rmtree(scene.inputs)
        every = list(subjects(scene))
        noise, found, left, seed = random.Random("written"), [], ROUNDS, 0
        while left > 0:
            # Half of all rounds are for the container that has most to read and is run.
            subject = every[0] if seed % 2 == 0 else noise.choice(every[1:])
            found += subject.tried(checks, seed, min(10, left))
            left -= 10
            seed += 1
        checks.check("some containers were found damaged", any(found), found)
        checks.check("some were still read", 0 in found, found)
    checks.finish()


main()
