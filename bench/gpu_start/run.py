#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the first start of net-run on a device with OpenCL against one from a context cache.
usage: run.py [--smoke] [--build FOLDER] [--rounds N] [NAME...]

Networks are generated (../execute/networks.py). Each start is a process of its own, with one inference of noise. The caches of
PoCL and of NVIDIA's driver are empty folders in each start, so that what the driver keeps is not what is measured. Shown are
seconds of the wall and of the processor, medians of the rounds, and the ratios. The status is 0 when each ratio of the processor's
time is at most 0.2. --smoke: the network of examples/digits, one round, whose first start also writes the cache."""

import argparse
import array
import json
import math
import os
import pathlib
import random
import resource
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tests" / "support"), str(HERE.parent), str(HERE.parent / "execute")]
from measure import DEFAULT_BUILD  # noqa: E402

LIMIT = 0.2
EXAMPLE = HERE.parents[1] / "examples" / "digits" / "digits.onnx"


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    options.rounds = 1 if options.smoke else options.rounds
    options.names = options.names or (["digits"] if options.smoke else ["resnet50", "mobilenet", "yolo", "transformer"])
    return options


OPTIONS = read_arguments()
os.environ["ODLC_BUILD_ROOT"] = str(OPTIONS.build)  # before checks.py reads it
import networks  # noqa: E402
from checks import run  # noqa: E402


def succeed(*command, **more):
    done = run(*command, **more)
    if done.returncode:
        sys.exit(f"run.py: {command[0]}: {done.stderr}")
    return done


class Network:
    """A container, and an inference of noise."""

    def __init__(self, name, folder):
        self.folder, self.count = folder, 0
        model = EXAMPLE if OPTIONS.smoke else folder / "model.onnx"
        if not OPTIONS.smoke:
            networks.write_float(name, folder, 1)
        succeed("onnx-to-dlc", "-i", model, "-o", folder / "net.dlc")
        graph = json.loads(succeed("dlc-info", "-i", folder / "net.dlc", "--json").stdout)["graphs"][0]
        noise, line = random.Random(1), []
        for tensor in (t for t in graph["tensors"] if t["name"] in graph["inputs"]):
            values = array.array("f", (noise.random() for _ in range(math.prod(tensor["dims"]))))
            (folder / f"{tensor['name']}.raw").write_bytes(values.tobytes())
            line.append(f"{tensor['name']}:={folder / tensor['name']}.raw")
        (folder / "list.txt").write_text(" ".join(line) + "\n")

    def start(self, *options):
        """Seconds of the wall and of the processor, with the driver's caches in an empty folder."""
        self.count += 1
        kept = self.folder / f"driver{self.count}"
        kept.mkdir()
        environment = os.environ | {"POCL_CACHE_DIR": str(kept), "CUDA_CACHE_PATH": str(kept)}
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        succeed("net-run", "--container", self.folder / "net.dlc", "--input_list", self.folder / "list.txt", "--output_dir",
                self.folder / f"out{self.count}", "--use_gpu", "--threads", "1", *options, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (time.monotonic() - began,
                after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    def results(self, number):
        folder = self.folder / f"out{number}"
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.raw")}


def measure(name):
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        network, cold, warm = Network(name, pathlib.Path(scratch)), [], []
        cache = ("--context_cache", network.folder / "net.cache")
        first = network.start(*cache)
        for _ in range(OPTIONS.rounds):
            cold.append(first if OPTIONS.smoke else network.start())
            warm.append(network.start(*cache))
            if network.results(network.count) != network.results(network.count - 1):
                sys.exit(f"run.py: {name}: results differ")
        size = (network.folder / "net.cache").stat().st_size
    medians = [[statistics.median(times) for times in zip(*starts)] for starts in (cold, warm)]
    ratio = [warm / cold for cold, warm in zip(*medians)]
    print(f"{name:12}{medians[0][0]:10.2f}{medians[1][0]:10.2f}{ratio[0]:8.3f}{medians[0][1]:12.2f}{medians[1][1]:10.2f}"
          f"{ratio[1]:8.3f}{size / 1e6:10.1f}", flush=True)
    return ratio[1] <= LIMIT


def main():
    print(f"{'':12}{'cold s':>10}{'cache s':>10}{'ratio':>8}{'cold CPU s':>12}{'cache s':>10}{'ratio':>8}{'cache MB':>10}")
    right = [measure(name) for name in OPTIONS.names]
    print(f"starts from a context cache take at most {LIMIT} of the processor's time of a cold one: {all(right)}")
    sys.exit(0 if all(right) else 1)


main()
