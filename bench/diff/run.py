#!/usr/bin/env python3
"""Measures dlc-diff of two containers of 1 GB against cmp of two equal ones, in the same run: medians of five rounds.
usage: run.py [--smoke] [--build FOLDER]   (default: build/release; --smoke: small models, one round)

Prints for equal containers, for two of which one layer differs, and for two that differ in every weight: elapsed time,
its ratio to cmp's, CPU time, and peak memory (resident, mapped pages counted). The status is 0 when the limits below hold (with
--smoke: when dlc-diff's own status is right)."""

import argparse
import array
import multiprocessing
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "support"))
from onnx_writer import FLOAT, Model  # noqa: E402

MAX_RATIO, MAX_MEMORY = 1.3, 64  # of cmp's time; MiB
SIDE, LAYERS, SMOKE_DIVISOR, ROUNDS = 2048, 60, 16, 5
STATUSES = {"same": 0, "one layer": 1, "every weight": 1}
LIMITED = {"same", "one layer"}


def noise(seed, size):
    source = random.Random(seed)
    block = array.array("f", (source.uniform(-0.05, 0.05) for _ in range(1 << 16))).tobytes()
    return (block * (size // len(block) + 1))[:size]


def write_model(path, side, seeds):
    """Fully connected layers of side × side weights, one for each seed."""
    m = Model(opset=13)
    m.input("x0", FLOAT, [1, side])
    weights = {seed: noise(seed, 4 * side * side) for seed in set(seeds)}
    for i, seed in enumerate(seeds):
        w = m.tensor(f"w{i}", FLOAT, [side, side], raw=weights[seed])
        m.node("Gemm", [f"x{i}", w], [f"x{i + 1}"], name=f"layer{i}", transB=1)
    m.output(f"x{len(seeds)}", FLOAT, [1, side])
    m.save(path)


def measure(command, expected):
    """(elapsed seconds, CPU seconds, peak MiB) of a command whose status must be as expected."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != expected:
        sys.exit(f"{command[0]} ended with status {process.returncode} instead of {expected}")
    return elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def make_containers(build, folder, smoke):
    """Paths of containers: the first, a copy, one with another layer, one with other weights."""
    side, layers = (SIDE // SMOKE_DIVISOR, 4) if smoke else (SIDE, LAYERS)
    seeds = {"first": [1] * layers, "one layer": [1] * (layers - 1) + [2], "every weight": [2] * layers}
    paths = {}
    for name, list_of_seeds in seeds.items():
        model, paths[name] = os.path.join(folder, "model.onnx"), os.path.join(folder, name.replace(" ", "-"), "m.dlc")
        os.mkdir(os.path.dirname(paths[name]))
        # In a process of its own: a command's peak memory is at least that of the process that starts it.
        writer = multiprocessing.Process(target=write_model, args=(model, side, list_of_seeds))
        writer.start()
        writer.join()
        subprocess.run([build / "converters" / "onnx-to-dlc", "-i", model, "-o", paths[name], "--quiet"], check=True)
        os.remove(model)
    paths["same"] = os.path.join(folder, "copy.dlc")
    shutil.copyfile(paths["first"], paths["same"])
    return paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=HERE.parents[1] / "build" / "release", type=pathlib.Path)
    arguments = parser.parse_args()
    build, held = arguments.build, True
    with tempfile.TemporaryDirectory() as folder:
        paths = make_containers(build, folder, arguments.smoke)
        rounds = {name: [] for name in ["cmp", *STATUSES]}
        for _ in range(1 if arguments.smoke else ROUNDS):
            rounds["cmp"].append(measure(["cmp", paths["first"], paths["same"]], 0))
            for name, status in STATUSES.items():
                command = [build / "src" / "tools" / "dlc-diff", "-i1", paths["first"], "-i2", paths[name]]
                rounds[name].append(measure(command, status))
        print(f"two containers of {os.path.getsize(paths['first']) / 1e6:.1f} MB")
    medians = {name: [statistics.median(column) for column in zip(*times)] for name, times in rounds.items()}
    reference = medians["cmp"][0]
    print(f"cmp          {reference:.3f} s, CPU {medians['cmp'][1]:.3f} s")
    for name in STATUSES:
        elapsed, cpu, _ = medians[name]
        memory = max(times[2] for times in rounds[name])
        ratio, limit = elapsed / reference, f" (limit {MAX_RATIO})" if name in LIMITED else ""
        print(f"{name:12} {elapsed:.3f} s, ratio {ratio:.2f}{limit}, CPU {cpu:.3f} s, peak memory {memory:.1f} MiB "
              f"(limit {MAX_MEMORY})")
        held &= memory <= MAX_MEMORY and (name not in LIMITED or ratio <= MAX_RATIO)
    sys.exit(0 if arguments.smoke or held else 1)


if __name__ == "__main__":
    main()
