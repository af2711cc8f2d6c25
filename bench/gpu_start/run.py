#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the first start of net-run on a device with OpenCL against one from a context cache.
usage: run.py [--smoke] [--build FOLDER] [--rounds N] [NAME...]

Networks are generated (../execute/networks.py). Each start is a process of its own, with one inference of noise. Shown are
seconds of the wall and of the processor, medians of the rounds, in two situations:

kept     The caches of PoCL and of NVIDIA's driver are as these keep them, in a folder that is empty at a cold start, which
         also writes the context cache. Then come a start from the cache, another one, and a plain one without it.
emptied  They are empty folders in each start, so that what drivers keep is not what is measured.

A ratio is that of a start from the cache to a cold one; the status is 0 when each one of the processor's time is at most 0.2.
--smoke: the network of examples/digits, one round."""

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

    def empty_folder(self):
        """For what drivers keep."""
        kept = self.folder / f"driver{self.count}"
        kept.mkdir()
        return kept

    def start(self, kept, *options):
        """Seconds of the wall and of the processor, with the driver's caches in a folder."""
        self.count += 1
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

    def kept(self):
        """A cold start, one from the cache, another one, and a plain one, with what the driver keeps between them."""
        folder, file = self.empty_folder(), self.folder / f"net{self.count}.cache"
        cache = ("--context_cache", file)
        return [self.start(folder, *options) for options in (cache, cache, cache, ())]

    def emptied(self):
        """A cold start and one from the cache."""
        file = self.folder / "net.cache"
        if not file.exists():
            self.start(self.empty_folder(), "--context_cache", file)
        return [self.start(self.empty_folder(), *options) for options in ((), ("--context_cache", file))]


def medians(rounds):
    """Of each start, over the rounds: seconds of the wall, and of the processor."""
    return [[statistics.median(times) for times in zip(*kind)] for kind in
            ([[start[i] for start in starts] for starts in rounds] for i in range(2))]


def show(name, situation, wall, processor):
    cells = []
    for times in (wall, processor):
        then, plain = (f"{time:.2f}" for time in times[2:]) if len(times) > 2 else ("", "")
        cells.append(f"{times[0]:10.2f}{times[1]:10.2f}{then:>10}{plain:>10}{times[1] / times[0]:8.3f}")
    print(f"{name:12}{situation:8}{'   '.join(cells)}", flush=True)


def measure(name):
    """Whether the ratios are small enough."""
    right = True
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        network = Network(name, pathlib.Path(scratch))
        for situation in (network.kept, network.emptied):
            wall, processor = medians([situation() for _ in range(OPTIONS.rounds)])
            show(name, situation.__name__, wall, processor)
            right &= processor[1] / processor[0] <= LIMIT
        if any(network.results(number) != network.results(1) for number in range(2, network.count + 1)):
            sys.exit(f"run.py: {name}: results differ")
        print(f"{'':20}the context cache has {(network.folder / 'net.cache').stat().st_size / 1e6:.1f} MB", flush=True)
    return right


def main():
    columns = "".join(f"{title:>10}" for title in ("cold s", "cache s", "then", "plain")) + f"{'ratio':>8}"
    print(f"{'':20}{columns}   {columns}  of the processor")
    right = [measure(name) for name in OPTIONS.names]
    print(f"starts from a context cache take at most {LIMIT} of the processor's time of a cold one: {all(right)}")
    sys.exit(0 if all(right) else 1)


main()
