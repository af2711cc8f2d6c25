#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures dlc-diff of two containers of 1 GB against cmp of two equal ones, in the same run: medians of five rounds.
usage: run.py [--smoke] [--build FOLDER]   (default: build/release; --smoke: small models, one round)

Prints for equal containers, for two of which one layer differs, and for two that differ in every weight: elapsed time,
its ratio to cmp's, CPU time, and peak memory (resident, mapped pages counted). The status is 0 when the limits below
hold (with --smoke: when dlc-diff's own status is right)."""

import argparse
import array
import os
import pathlib
import random
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tests" / "support")]
from measure import DEFAULT_BUILD, Meter, medians, paired  # noqa: E402
from onnx_writer import FLOAT, Model, Repeated  # noqa: E402

MAX_RATIO, MAX_MEMORY = 1.3, 64  # of cmp's time; MiB
SIDE, LAYERS, SMOKE_DIVISOR, ROUNDS = 2048, 60, 16, 5
STATUSES = {"same": 0, "one layer": 1, "every weight": 1}
LIMITED = {"same", "one layer"}


def noise(seed, size):
    source = random.Random(seed)
    return Repeated(array.array("f", (source.uniform(-0.05, 0.05) for _ in range(1 << 16))).tobytes(), size)


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


def make_containers(meter, build, folder, smoke):
    """Paths of containers: the first, a copy, one with another layer, one with other weights."""
    side, layers = (SIDE // SMOKE_DIVISOR, 4) if smoke else (SIDE, LAYERS)
    seeds = {"first": [1] * layers, "one layer": [1] * (layers - 1) + [2], "every weight": [2] * layers}
    paths = {}
    for name, list_of_seeds in seeds.items():
        model, paths[name] = os.path.join(folder, "model.onnx"), os.path.join(folder, name.replace(" ", "-"), "m.dlc")
        os.mkdir(os.path.dirname(paths[name]))
        write_model(model, side, list_of_seeds)
        meter.must([build / "converters" / "onnx-to-dlc", "-i", model, "-o", paths[name], "--quiet"])
        os.remove(model)
    paths["same"] = os.path.join(folder, "copy.dlc")
    shutil.copyfile(paths["first"], paths["same"])
    return paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD, type=pathlib.Path)
    arguments = parser.parse_args()
    build, meter, held = arguments.build, Meter(arguments.build), True
    with tempfile.TemporaryDirectory() as folder:
        paths = make_containers(meter, build, folder, arguments.smoke)
        rounds = {name: [] for name in ["cmp", *STATUSES]}
        for _ in range(1 if arguments.smoke else ROUNDS):
            rounds["cmp"].append(meter.must(["cmp", paths["first"], paths["same"]]))
            for name, status in STATUSES.items():
                command = [build / "src" / "tools" / "dlc-diff", "-i1", paths["first"], "-i2", paths[name]]
                rounds[name].append(meter.must(command, status))
        print(f"two containers of {os.path.getsize(paths['first']) / 1e6:.1f} MB")
    reference = medians(rounds["cmp"])
    print(f"cmp          {reference.wall:.3f} s, CPU {reference.cpu:.3f} s")
    for name in STATUSES:
        middle, ratio = medians(rounds[name]), paired(rounds[name], rounds["cmp"], "wall")
        memory, limit = middle.peak / (1 << 20), f" (limit {MAX_RATIO})" if name in LIMITED else ""
        print(f"{name:12} {middle.wall:.3f} s, ratio {ratio}{limit}, CPU {middle.cpu:.3f} s, peak memory {memory:.1f} "
              f"MiB (limit {MAX_MEMORY})")
        held &= memory <= MAX_MEMORY and (name not in LIMITED or ratio.median <= MAX_RATIO)
    sys.exit(0 if arguments.smoke or held else 1)


if __name__ == "__main__":
    main()
