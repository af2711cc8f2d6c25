#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures onnx-to-dlc against copying the same bytes, and against the other converters that this machine has.
usage: run.py [--smoke] [--build FOLDER] [--tools FOLDER] [--folder SCRATCH] [--rounds N] [--markdown] [--keep] [--alone]
              [--patience SECONDS] [NAME...]

Models are written to SCRATCH (default: the system's folder for temporary files; 15 GB). A round runs every command
once, one after another, so that what disturbs the machine disturbs all; ratios are taken within rounds. A first round
that does not count brings the models into the page cache. Outputs are removed after each run, models after their
measurement (--keep: models are left there, and those that are there are used).

--tools: the build whose programs of bench are used (default: that of --build).

The last lines say for each limit whether it holds; the status is 0 when all of those that were measured do. --smoke:
small models, one round, no limits. --alone: without other converters. --patience: another converter is ended
after so many seconds of CPU time (120). NAME: a group of models, as --list shows."""

import argparse
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import models  # noqa: E402
import others  # noqa: E402
import report  # noqa: E402
from limits import INFO, OURS, PERMUTED, PERMUTED_LIMITS, Limits  # noqa: E402
from measure import DEFAULT_BUILD, Meter, machine, medians  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
UNPACK = "protobuf-c unpack"
# Models that are measured side by side; each with the divisor of a smoke run.
GROUPS = {"resnet50": {"resnet50": 16}, "transformer": {"transformer": 16}, "single1.9": {"single1.9": 16},
          "single3": {"single3": 16}, "external3": {"external3": 16}, "open": {"external5": 16},
          "chains": {"chain10k": 100, "chain100k": 100, "tfchain100k": 100, "chain1m": 200}, "udo": {"native": 100, "udo": 100},
          "conv20k": {"conv20k": 20, "tfconv20k": 20, "depthwise20k": 20, "dense20k": 20}}
# Another converter that takes more seconds of CPU time than this is measured once only. One may wait, for a network
# that is not there or on a busy machine, for this many times the CPU time that it may take.
REPEATED, WAITING = 10, 10


class Model:
    """A model in its folder, and the commands for it."""

    def __init__(self, name, folder, divisor, settings):
        self.name, self.divisor, self.settings = name, divisor, settings
        self.folder = folder / name
        self.out = self.folder / "out"
        self.model = self.folder / ("model.pb" if name.startswith("tf") else "model.onnx")
        self.nodes = models.NODES.get(name, 0) // divisor
        self.runs, self.failures = {}, {}

    def write(self):
        if not self.model.exists():
            subprocess.run([sys.executable, HERE / "models.py", self.name, self.folder, str(self.divisor)], check=True)
        self.inputs = [path for name in (self.model.name, "weights.bin") if (path := self.folder / name).exists()]
        self.size = sum(path.stat().st_size for path in self.inputs)
        self.weights = 0 if self.nodes else self.size
        self.out.mkdir(exist_ok=True)
        if self.name in PERMUTED_LIMITS:
            with open(self.folder / "pieces", "w", encoding="ascii") as out:
                subprocess.run([sys.executable, HERE / "pieces.py", self.model], stdout=out, check=True)

    def remove(self):
        if not self.settings.keep:
            shutil.rmtree(self.folder)

    def written(self):
        """How many bytes the folder of outputs holds; it is emptied."""
        files = list(self.out.iterdir())
        size = sum(path.stat().st_size for path in files)
        for path in files:
            path.unlink()
        return size

    def conversion(self):
        config = self.folder / "ops.json"
        command = "tensorflow-to-dlc" if self.model.suffix == ".pb" else "onnx-to-dlc"
        return [self.settings.build / "converters" / command, "-i", self.model, "-o",
                self.out / "model.dlc", "--quiet", *(["--udo_config_paths", config] if config.exists() else [])]

    def record(self, title, run):
        self.runs.setdefault(title, []).append(run)
        self.written()

    def copy(self, meter):
        return meter.must(["cp", *self.inputs, self.out])

    def attempt(self, meter, title, command):
        """A run of a command that may fail, unless it has failed before."""
        if title in self.failures:
            return
        run = meter.run(command)
        if run.status:
            self.failures[title] = others.failure(run, 1, 0, self.folder)
            self.runs.pop(title, None)
            self.written()
        else:
            self.record(title, run)

    def warm_up(self, meter):
        self.copy(meter)
        self.written()
        self.attempt(meter, OURS, self.conversion())
        self.runs.clear()

    def measure(self, meter):
        """A round without other converters."""
        self.record("cp", self.copy(meter))
        self.attempt(meter, OURS, self.conversion())
        self.record("cat", meter.must(["cat", *self.inputs], stdout=self.out / "copy"))
        if self.name in PERMUTED_LIMITS:
            self.attempt(meter, PERMUTED, [self.settings.tools / "bench" / "permuted", self.model, self.folder / "pieces",
                                           self.out / "permuted"])
        if len(self.inputs) == 1 and self.model.suffix == ".onnx":
            self.attempt(meter, UNPACK, [self.settings.tools / "bench" / "unpack", *self.inputs])

    def measure_other(self, meter, other):
        """A run of another converter, unless it failed before or took long. It gets the model under a second name among
        its outputs: some write beside the model."""
        before = self.runs.get(other.title, [])
        if self.model.suffix != ".onnx":
            return
        if other.title in self.failures or any(run.cpu > REPEATED for run in before):
            return
        for path in self.inputs:
            os.link(path, self.out / path.name)
        patience = self.settings.patience
        run = meter.run(other.command(self.out / "model.onnx", self.out / "other"), None, patience, patience * WAITING)
        why = others.failure(run, self.written() - self.size, self.weights, self.folder)
        if why:
            self.failures[other.title] = why
        else:
            self.runs.setdefault(other.title, []).append(others.inner(run) if other.inner else run)

    def heading(self):
        nodes = f", {self.nodes:,} nodes" if self.nodes else ""
        return f"{self.name}: {self.size / 1e6:.1f} MB{nodes}"


class Container(Model):
    """A model whose container is looked at: no conversion is timed."""

    def warm_up(self, meter):
        meter.must(self.conversion())

    def measure(self, meter):
        info = [self.settings.build / "src" / "tools" / "dlc-info", "-i", self.out / "model.dlc"]
        self.runs.setdefault(INFO, []).append(meter.must(info))

    def measure_other(self, meter, other):
        pass

    def heading(self):
        return f"{self.name}: dlc-info of its container, {(self.out / 'model.dlc').stat().st_size / 1e6:.1f} MB"


def measure_group(name, settings, meter, found):
    """The models of a group, measured."""
    group = []
    for model, divisor in GROUPS[name].items():
        kind = Container if name == "open" else Model
        group.append(kind(model, settings.folder, divisor if settings.smoke else 1, settings))
    for model in group:
        print(f"{model.name} ...", file=sys.stderr)
        model.write()
        model.warm_up(meter)
    for _, model in itertools.product(range(settings.rounds), group):
        model.measure(meter)
        for other in found:
            model.measure_other(meter, other)
    return group


def show(group, markdown):
    mark = "### " if markdown else ""
    for model in group:
        if isinstance(model, Container):
            middle = medians(model.runs[INFO])
            print(f"\n{mark}{model.heading()}\n\n{1000 * middle.wall:.1f} ms elapsed, {1000 * middle.cpu:.1f} ms CPU, "
                  f"{middle.peak / 1e6:.1f} MB peak memory")
            continue
        rows = report.table(model.runs, model.failures, model.nodes)
        print(f"\n{mark}{model.heading()}\n\n{(report.as_markdown if markdown else report.as_text)(rows)}", flush=True)


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--tools", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--folder", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--patience", default=120, type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *GROUPS])
    settings = parser.parse_args()
    settings.rounds = 1 if settings.smoke else settings.rounds
    settings.tools = settings.tools or settings.build
    return settings


def main():
    settings = read_arguments()
    if settings.list:
        print("\n".join(f"{name}: {', '.join(group)}" for name, group in GROUPS.items()))
        return
    meter, measured = Meter(settings.tools), []
    found, missing = ([], []) if settings.alone else others.find()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        settings.folder = settings.folder or pathlib.Path(scratch)
        os.makedirs(settings.folder, exist_ok=True)
        print(machine(settings.folder))
        print(f"{settings.rounds} rounds: medians; ratios with those of the least and most round; MB are 10⁶ bytes")
        if missing:
            print(f"not found: {', '.join(missing)}")
        for name in settings.names or GROUPS:
            group = measure_group(name, settings, meter, found)
            show(group, settings.markdown)
            for model in group:
                model.written()
                model.remove()
            measured += group
            found = [] if settings.smoke else found
    if settings.smoke:
        held = not any(OURS in model.failures for model in measured)
    else:
        limits = Limits(measured)
        heading = "### Limits\n\n" if settings.markdown else ""
        print(f"\n{heading}{limits.lines(settings.markdown)}")
        held = limits.hold()
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
