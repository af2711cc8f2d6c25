# SPDX-License-Identifier: Apache-2.0
"""What the measured figures must be, and whether they are."""

import math
import statistics

import models
import others
import report
from measure import medians, paired

OURS, INFO, PERMUTED = "onnx-to-dlc", "dlc-info", "bare permuting copy"
# Largest ratio to cp's time, of CPU and elapsed alike. The weights of all of them are permuted.
COPY_LIMITS = {"resnet50": 2.0, "transformer": 1.15, "single1.9": 2.3, "external3": 2.3}
# Largest ratio of CPU time to that of a bare copy that permutes the same tensors.
PERMUTED_LIMITS = {"resnet50": 1.1, "transformer": 1.1}
LIMITED_MEMORY = [*COPY_LIMITS, "single3"]
NODE_BYTES, CHAIN_SECONDS, EXPONENT, UDO_RATIO, OPEN_SECONDS = 600, 0.15, 1.1, 1.15, 0.05
TENSORFLOW_RATIO = 1.3
RIVALS = ("onnx2ncnn", others.PYTHON_TITLES["onnx"])


class Limits:
    """The limits on what was measured: on models with a name, a number of nodes, `runs` ({title: list of Run}) and
    `failures` ({title: what went wrong}). Those on models that were not measured are left out."""

    def __init__(self, measured):
        self.measured = {model.name: model for model in measured}
        self.rows = []
        for part in (self.conversions, self.copies, self.nodes, self.rivals, self.opening):
            part()

    def runs(self, name, title=OURS):
        return self.measured[name].runs.get(title, []) if name in self.measured else []

    def limit(self, text, value, most, shown="{:.2f}"):
        spread = f" ({value.least:.2f}..{value.most:.2f})" if hasattr(value, "least") else ""
        value = getattr(value, "median", value)
        self.rows.append((value <= most, text, shown.format(value) + spread, "≤ " + shown.format(most)))

    def copies(self):
        for name, most in COPY_LIMITS.items():
            for key, word in (("cpu", "CPU time"), ("wall", "elapsed time")):
                if self.runs(name):
                    self.limit(f"{name}: {word} ÷ cp's", paired(self.runs(name), self.runs(name, "cp"), key), most)
        for name, most in PERMUTED_LIMITS.items():
            if self.runs(name) and self.runs(name, PERMUTED):
                ratio = paired(self.runs(name), self.runs(name, PERMUTED), "cpu")
                self.limit(f"{name}: CPU time ÷ a {PERMUTED}'s", ratio, most)
        for name in filter(self.runs, LIMITED_MEMORY):
            self.limit(f"{name}: peak MB", medians(self.runs(name)).peak / 1e6, report.MARGIN / 1e6, "{:.1f}")

    def nodes(self):
        for name in filter(self.runs, models.NODES):
            peak, nodes = medians(self.runs(name)).peak, self.measured[name].nodes
            self.limit(f"{name}: peak bytes a node over 32 MB", report.bytes_a_node(peak, nodes), NODE_BYTES, "{:.0f}")
        if self.runs("chain100k"):
            self.limit("chain100k: CPU s", medians(self.runs("chain100k")).cpu, CHAIN_SECONDS)
        for onnx, tensorflow in (("chain100k", "tfchain100k"), ("conv20k", "tfconv20k")):
            if self.runs(onnx) and self.runs(tensorflow):
                ratio = paired(self.runs(tensorflow), self.runs(onnx), "cpu")
                self.limit(f"{tensorflow}: CPU time ÷ {onnx}'s", ratio, TENSORFLOW_RATIO)
        if self.runs("chain10k") and self.runs("chain1m"):
            times = [medians(self.runs(name)).cpu for name in ("chain10k", "chain1m")]
            growth = self.measured["chain1m"].nodes / self.measured["chain10k"].nodes
            exponent = math.log(times[1] / times[0]) / math.log(growth)
            self.limit("10k to 1M nodes: exponent of CPU time", exponent, EXPONENT)
        if self.runs("udo") and self.runs("native"):
            ratio = paired(self.runs("udo"), self.runs("native"), "cpu")
            self.limit("5 % UDOs: CPU time ÷ native's", ratio, UDO_RATIO)

    def rivals(self):
        """Faster than other converters, wherever those succeed."""
        for name, model in self.measured.items():
            for title, runs in model.runs.items():
                if title.startswith(RIVALS) and OURS in model.runs:
                    own = model.runs[OURS][:len(runs)]
                    self.limit(f"{name}: CPU time ÷ {title}'s", paired(own, runs, "cpu"), 1.0)

    def opening(self):
        runs = self.runs("external5", INFO)
        if runs:
            self.limit("dlc-info, 5 GB: elapsed s", statistics.median(run.wall for run in runs), OPEN_SECONDS, "{:.3f}")
            self.limit("dlc-info, 5 GB: peak MB", medians(runs).peak / 1e6, report.MARGIN / 1e6, "{:.1f}")

    def conversions(self):
        for name, model in self.measured.items():
            if OURS in model.failures:
                self.rows.append((False, f"{name}: is converted", model.failures[OURS], ""))

    def hold(self):
        return all(held for held, *_ in self.rows)

    def lines(self, markdown):
        """A line for each limit, as text or as a Markdown table."""
        lines = ["| limit | measured | allowed | |", "|---|---:|---:|---|"] if markdown else []
        for held, text, value, most in self.rows:
            word = "holds" if held else "DOES NOT HOLD"
            line = f"| {text} | {value} | {most} | {word} |" if markdown else f"{word:13}  {text}: {value} {most}"
            lines.append(line.rstrip())
        return "\n".join(lines)
