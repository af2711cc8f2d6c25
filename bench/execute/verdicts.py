# SPDX-License-Identifier: Apache-2.0
"""What was measured, as tables, and whether it is as it must be."""

import statistics
from typing import NamedTuple

from measure import Ratio

CONVOLUTIONAL, OTHER, HALF, BYTES = "convolutional", "other", "float16", "8 bits"
KINDS = (CONVOLUTIONAL, OTHER, HALF, BYTES)
OTHERS = {"bert-toy", "gpt2-past", "magika", "random-decoder", "self-attention-mnist", "silero-vad-v5", "tfbert-qa",
          "transformer", "transformer-mlm", "ppocrv4-rec-en"}
IN_BYTES = {"bidi-lstm-uint8", "qdq-mobilenet-part"}
# Largest difference to ONNX Runtime's results, as a part of the largest value of a tensor. In 8 bits one step early in a
# network makes several in the end; float16 is rounded after each node here, and at the end there.
ERRORS = {CONVOLUTIONAL: 1e-3, OTHER: 1e-3, HALF: 1e-2, BYTES: 0.1}
# Largest geometric means of ratios; largest ratio of a network in float32.
MEANS, WORST = {CONVOLUTIONAL: 0.8, BYTES: 1.0}, 1.3
FLOAT_MEAN, START, MEMORY = 0.9, 1.0, 1.0
HEAD = ["network", "ms", "ORT ms", "ratio", "start ms", "ORT start", "ratio", "MB", "ORT MB", "ratio", "error"]


def kind_of(name):
    if name.endswith("-8bit") or name in IN_BYTES:
        return BYTES
    return HALF if name.endswith("fp16") else OTHER if name in OTHERS else CONVOLUTIONAL


class Figures(NamedTuple):
    """Of one side: milliseconds of an execution, round by round; milliseconds up to the first result, start by start; bytes."""

    runs: list
    starts: list
    memory: int


def paired(ours, theirs):
    ratios = [a / b for a, b in zip(ours, theirs)]
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))


class Row(NamedTuple):
    """A network with a number of threads."""

    name: str
    kind: str
    threads: int
    ours: Figures
    theirs: Figures = None
    error: float = 0.0

    def ratio(self):
        return paired(self.ours.runs, self.theirs.runs)

    def start(self):
        return statistics.median(self.ours.starts) / statistics.median(self.theirs.starts)

    def memory(self):
        return self.ours.memory / max(self.theirs.memory, 1)

    def cells(self):
        def middle(side, name):
            return f"{statistics.median(getattr(side, name)):.3g}" if side else ""

        def megabytes(side):
            return f"{side.memory / 1e6:.1f}" if side else ""

        ratios = [str(self.ratio()), f"{self.start():.2f}", f"{self.memory():.2f}"] if self.theirs else [""] * 3
        return [self.name, middle(self.ours, "runs"), middle(self.theirs, "runs"), ratios[0],
                middle(self.ours, "starts"), middle(self.theirs, "starts"), ratios[1],
                megabytes(self.ours), megabytes(self.theirs), ratios[2], f"{self.error:.0e}" if self.theirs else ""]


def mean_row(title, rows):
    means = [f"{statistics.geometric_mean(of(row) for row in rows):.2f}"
             for of in (lambda row: row.ratio().median, Row.start, Row.memory)]
    return [title, "", "", means[0], "", "", means[1], "", "", means[2], ""]


def table(rows, markdown):
    """The networks by kind, each kind with its geometric means."""
    lines = []
    for kind in KINDS:
        found = [row for row in rows if row.kind == kind]
        lines += [row.cells() for row in found]
        if found and found[0].theirs:
            lines.append(mean_row(f"mean, {kind}", found))
    threads = f"{rows[0].threads} thread{'s' if rows[0].threads > 1 else ''}" if rows else "nothing was measured"
    if markdown:
        body = [HEAD, ["---", *["---:"] * (len(HEAD) - 1)], *lines]
        return f"### {threads}\n\n" + "\n".join("| " + " | ".join(cells) + " |" for cells in body)
    widths = [max(len(cells[i]) for cells in [HEAD, *lines]) for i in range(len(HEAD))]
    return f"{threads}\n" + "\n".join(f"  {cells[0]:{widths[0]}}" + "".join(
        f"  {cell:>{width}}" for cell, width in zip(cells[1:], widths[1:])) for cells in [HEAD, *lines])


class Limit(NamedTuple):
    text: str
    value: float
    most: float

    @property
    def holds(self):
        return self.value <= self.most

    def line(self, markdown):
        word, value = "holds" if self.holds else "DOES NOT HOLD", f"{self.value:.2g}"
        return (f"| {self.text} | {value} | ≤ {self.most:g} | {word} |" if markdown
                else f"{word:13}  {self.text}: {value} ≤ {self.most:g}")


def worst(text, of, rows, most):
    """The limit on the network with the largest figure, which it names."""
    row = max(rows, key=of)
    return Limit(f"{text} ({row.name})", of(row), most)


def errors(rows):
    return [worst(f"{kind}: largest error", lambda row: row.error, found, ERRORS[kind])
            for kind in KINDS if (found := [row for row in rows if row.kind == kind])]


def speeds(rows):
    """Of one number of threads."""
    def mean(chosen, of=lambda row: row.ratio().median):
        return statistics.geometric_mean(map(of, chosen))

    title = f"{rows[0].threads} thread{'s' if rows[0].threads > 1 else ''}"
    floats = [row for row in rows if row.kind in (CONVOLUTIONAL, OTHER)]
    found = [Limit(f"{title}, {kind}: mean ratio", mean(chosen), most) for kind, most in MEANS.items()
             if (chosen := [row for row in rows if row.kind == kind])]
    if floats:
        found += [Limit(f"{title}, float32: mean ratio", mean(floats), FLOAT_MEAN),
                  worst(f"{title}, float32: largest ratio", lambda row: row.ratio().median, floats, WORST)]
    return [*found, Limit(f"{title}: mean ratio of starts", mean(rows, Row.start), START),
            worst(f"{title}: largest ratio of peak memory", Row.memory, rows, MEMORY)]


def limits(rows):
    return [limit for threads in sorted({row.threads for row in rows})
            for limit in speeds([row for row in rows if row.threads == threads])]
