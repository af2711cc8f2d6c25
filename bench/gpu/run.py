#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures backend gpu on the device that it takes: networks at batch 1, and products of matrices against CLBlast, in the same run.
usage: run.py [--smoke] [--build FOLDER] [--folder SCRATCH] [--rounds N] [--products SIZE,...] [--cpu] [--markdown] [NAME...]

Needs Python's standard library and the commands of a build. Networks are those of bench/execute/networks.py; NAME is a shell
pattern. --folder: where containers stay, else they are removed. --cpu: the CPU backend as well, in turns. --smoke: small
networks, without names the smallest, and small matrices without CLBlast; one round, caches of drivers as they are.

Of a network: milliseconds of an execution, of these what kernels take on the device, which is measured apart since it costs
time; the host's time for a kernel; operations a second, and which share of the device's peak these are; the time up to the
first result, with empty folders of the driver's own cache, without a kernel repository and with a full one; the largest
difference to the CPU backend's results, as a part of the largest value. Of products the operations a second, and CLBlast's
time ÷ ours: ours is what more of a chain of products takes."""

import argparse
import array
import fnmatch
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "execute"), str(HERE.parent), str(HERE.parents[1] / "tests" / "support")]
import models  # noqa: E402
import networks  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from measure import DEFAULT_BUILD, machine  # noqa: E402
from onnx_writer import FLOAT, Model, Repeated  # noqa: E402
from sides import Side, in_turns  # noqa: E402

SMOKE_DIVISOR = {"resnet50": 16, "mobilenet": 4, "yolo": 2, "transformer": 16}
SMALLEST = "dense"  # of which --smoke measures nothing but that it can be measured: builds of kernels take long
CHAINS = (2, 42)  # copies of operands and results vary by milliseconds, of which the difference has a fortieth
ERROR = 1e-3
NO_DEVICE = SKIPPED = 77  # opencl.h; the first is what peak says, the second is said to Meson
HEAD = ["network", "ms", "on the device", "kernels", "host µs a kernel", "TFLOP/s", "of the peak", "first ms", "with repository",
        "error", "CPU ms", "÷ ours"]


class Case:
    """A container, files of its inputs, and commands that execute it."""

    def __init__(self, build, folder, name, write):
        self.build, self.folder, self.name = build, folder / name, name
        self.folder.mkdir()
        write(self.folder)
        self.dlc = self.folder / "model.dlc"
        self.must([build / "converters" / "onnx-to-dlc", "-q", "-i", self.folder / "model.onnx", "-o", self.dlc])
        self.tensors = read_container(self.dlc, data=False).tensors.values()
        self.inputs = []
        for tensor in self.tensors:
            if tensor.kind == "APP_WRITE":
                file = self.folder / f"in{len(self.inputs)}.raw"
                with open(file, "wb") as out:
                    out.writelines(Repeated(models.make_noise(), 4 * math.prod(tensor.dims)).chunks())
                self.inputs += ["-i", tensor.name, file]

    def must(self, command):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{pathlib.Path(command[0]).name}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def operations(self):
        told = self.must([self.build / "src" / "tools" / "dlc-info", "-i", self.dlc, "--json"])
        return 2 * json.loads(told)["graphs"][0]["macs"]

    def outputs(self, side):
        names = [tensor.name for tensor in self.tensors if tensor.kind == "APP_READ"]
        return [(name, self.folder / f"{side}{i}.raw") for i, name in enumerate(names)]

    def side(self, *gpu, **environment):
        """gpu: options of the GPU, and whether kernels are timed; nothing: the CPU."""
        written = [word for pair in self.outputs("gpu" if gpu else "cpu") for word in ("-o", *pair)]
        chosen = ["-g", *gpu] if gpu else []
        return Side([self.build / "bench" / "timed_run", self.dlc, 1, *self.inputs, *written, *chosen], 1,
                    environment)

    def error(self):
        worst = 0.0
        for (_, file), (_, like) in zip(self.outputs("gpu"), self.outputs("cpu")):
            found, expected = (array.array("f", path.read_bytes()) for path in (file, like))
            largest = max(map(abs, expected)) or 1.0
            worst = max(worst, *(abs(a - b) / largest if math.isfinite(a) else math.inf for a, b in zip(found, expected)))
        return worst


def first_times(case, empties):
    """Milliseconds up to the first result without a kernel repository and with a full one; empties: caches of drivers are
    empty."""
    repository, found = case.folder / "kernels", []
    repository.mkdir()
    options = case.folder / "gpu.json"
    options.write_text(json.dumps({"kernel_repo_path": str(repository)}), encoding="utf-8")
    for start in range(2):
        cache = case.folder / f"driver{start}"
        cache.mkdir()
        side = case.side(options, "-", **({"POCL_CACHE_DIR": str(cache), "CUDA_CACHE_DISABLE": "1"} if empties else {}))
        found.append(side.start["start"])
        side.end()
    return found


def device_times(case):
    """(kernels, milliseconds of them on the device, of their steps on the host) of an execution."""
    timed, plain = case.side("-", "kernels"), case.side("-", "-")
    figures = [timed.figures(3) for _ in range(5)]
    host = statistics.median(plain.figures(10)["steps"] for _ in range(9))
    timed.end()
    plain.end()
    return figures[0]["kernels"], statistics.median(f["device"] for f in figures), host


def measure_network(options, name, folder, peak):
    def write(place):
        if name == SMALLEST:
            models.Products(6).save(place)
        else:
            networks.write_float(name, place, SMOKE_DIVISOR[name] if options.smoke else 1)

    case = Case(options.build, folder, name, write)
    cold, warm = first_times(case, not options.smoke)
    kernels, device, host = device_times(case)
    if not options.cpu:
        case.side().end()
    figures = in_turns([lambda: case.side("-", "-")] + ([case.side] if options.cpu else []), options.rounds, 1)
    run = statistics.median(figures[0].runs)
    rate = case.operations() / run * 1e3
    cpu = [f"{statistics.median(figures[1].runs):.3g}", f"{statistics.median(figures[1].runs) / run:.2f}"] if options.cpu else []
    error = case.error()
    return error, [name, f"{run:.3g}", f"{device:.3g}", kernels, f"{host * 1e3 / kernels:.1f}", f"{rate / 1e12:.3g}",
                   f"{rate / peak:.1%}", f"{cold:.0f}", f"{warm:.0f}", f"{error:.0e}", *cpu]


def write_chain(folder, size, count):
    """Products with the same right operand, one after another."""
    m, last = Model(opset=13), "x"
    for name in ("x", "y"):
        m.input(name, FLOAT, [size, size])
    for i in range(count):
        m.node("MatMul", [last, "y"], [f"product{i}"])
        last = f"product{i}"
    m.output(last, FLOAT, [size, size])
    m.save(str(folder / "model.onnx"))


def measure_products(options, size, folder, peak):
    program = options.build / "bench" / "clblast"
    cases = [Case(options.build, folder, f"chain{size}x{count}", lambda place, count=count: write_chain(place, size, count))
             for count in CHAINS]
    openers = [lambda case=case: case.side("-", "-") for case in cases]
    openers += [lambda: Side([program, size], 1)] if program.exists() and not options.smoke else []
    short, long, *others = (figures.runs for figures in in_turns(openers, options.rounds, 1))
    ours = [(b - a) / (CHAINS[1] - CHAINS[0]) for a, b in zip(short, long)]
    rate = 2 * size ** 3 / statistics.median(ours) * 1e3
    theirs = [f"{statistics.median(run):.4g}" for run in others]
    ratios = [f"{statistics.median(theirs / run for theirs, run in zip(others[0], ours)):.2f}"] if others else []
    return [f"{size} × {size}", f"{statistics.median(ours):.4g}", f"{rate / 1e12:.3g}", f"{rate / peak:.1%}", *theirs, *ratios]


def show(title, head, rows, markdown):
    width = max(map(len, rows))
    head, rows = head[:width], [[str(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    if markdown:
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    else:
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        text = "\n".join("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)) for row in [head, *rows])
    print(f"\n{title}\n{text}", flush=True)


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--rounds", default=7, type=int)
    parser.add_argument("--products", default="1024,4096")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("names", nargs="*", default=[], metavar="NAME")
    options = parser.parse_args()
    if options.smoke:
        options.rounds, options.products = 1, "128"
    options.names = options.names or ([SMALLEST] if options.smoke else ["*"])
    options.products = [int(size) for size in options.products.split(",") if size]
    return options


def measure(options, folder, peak):
    """Prints all tables; gives the networks' errors."""
    errors, rows = [], []
    for name in [*networks.GENERATED, *([SMALLEST] if options.smoke else [])]:
        if any(fnmatch.fnmatch(name, pattern) for pattern in options.names):
            try:
                error, row = measure_network(options, name, folder, peak)
            except RuntimeError as failed:
                error, row = math.inf, [name, str(failed)]
            print(*row, file=sys.stderr, flush=True)
            errors.append(error)
            rows.append(row)
    if rows:
        show("networks, batch 1, float32", HEAD, rows, options.markdown)
    rows = [measure_products(options, size, folder, peak) for size in options.products]
    if rows:
        show("products of matrices, float32", ["size", "ms", "TFLOP/s", "of the peak", "CLBlast ms", "÷ ours"], rows,
             options.markdown)
    return errors


def main():
    options = read_arguments()
    asked = subprocess.run([options.build / "bench" / "peak"], capture_output=True, text=True, check=False)
    if asked.returncode:
        print(f"run.py: peak, status {asked.returncode}: {asked.stderr.strip()}")
        sys.exit(SKIPPED if asked.returncode == NO_DEVICE else 1)
    peak = json.loads(asked.stdout)
    print(f"{machine(HERE)}; {peak['device']}: {peak['flops'] / 1e12:.3g} TFLOP/s, {peak['bytes'] / 1e9:.4g} GB/s, a kernel is "
          f"enqueued in {peak['launch'] * 1e3:.2f} µs")
    with tempfile.TemporaryDirectory(prefix="bench-gpu-") as scratch:
        errors = measure(options, options.folder or pathlib.Path(scratch), peak["flops"])
    sys.exit(0 if max(errors, default=0) <= ERROR else 1)


if __name__ == "__main__":
    main()
