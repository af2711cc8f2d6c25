#!/usr/bin/env python3
"""Measures onnx-to-dlc against cp of the same model, in the same run: medians of five rounds.
usage: run.py [--smoke] [--build FOLDER]   (default: build/release; --smoke: small models, one round)

Prints for each model: its size, CPU time and elapsed time of both, their ratios, and the peak memory of the conversion.
The status is 0 when the limits below hold (with --smoke: when the conversions succeed)."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Ratio of CPU time to cp's, and peak memory in MiB.
LIMITS = {"resnet50": (4.0, 96), "transformer": (3.0, 96)}
SMOKE_DIVISOR, ROUNDS = 16, 5


def measure(command):
    """(CPU seconds, elapsed seconds, peak MiB) of a command that must succeed."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, elapsed, usage.ru_maxrss / 1024


def medians(rounds):
    return [statistics.median(column) for column in zip(*rounds)]


def bench(name, converter, folder, smoke):
    """Prints one model's line; True when its limits hold."""
    model, copy, out = (os.path.join(folder, file) for file in ("m.onnx", "copy.onnx", "m.dlc"))
    generator = [sys.executable, HERE / "models.py", name, model]
    subprocess.run(generator + ([str(SMOKE_DIVISOR)] if smoke else []), check=True)
    copies, conversions = [], []
    for _ in range(1 if smoke else ROUNDS):
        copies.append(measure(["cp", model, copy]))
        conversions.append(measure([converter, "-i", model, "-o", out, "--quiet"]))
    cp, own = medians(copies), medians(conversions)
    ratio = own[0] / max(cp[0], 1e-3)
    max_ratio, max_memory = LIMITS[name]
    print(f"{name:12} {os.path.getsize(model) / 1e6:6.1f} MB   cpu: cp {cp[0]:.3f} s, onnx-to-dlc {own[0]:.3f} s, "
          f"ratio {ratio:.2f} (limit {max_ratio:g})   elapsed: cp {cp[1]:.3f} s, onnx-to-dlc {own[1]:.3f} s, "
          f"ratio {own[1] / cp[1]:.2f}   peak memory {own[2]:.1f} MiB (limit {max_memory})")
    for file in (model, copy, out):
        os.remove(file)
    return smoke or (ratio <= max_ratio and own[2] <= max_memory)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=HERE.parents[1] / "build" / "release", type=pathlib.Path)
    arguments = parser.parse_args()
    converter = arguments.build / "converters" / "onnx-to-dlc"
    with tempfile.TemporaryDirectory() as folder:
        held = [bench(name, converter, folder, arguments.smoke) for name in LIMITS]
    sys.exit(0 if all(held) else 1)


main()
