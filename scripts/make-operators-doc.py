#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/operators.md and docs/operators-tensorflow.md, the lists of operators of ONNX and TensorFlow: what they are
lowered to, and limits, from the tables (rows and refusals in converters/onnx/lower and converters/tensorflow/lower) and from the
lowering functions that the rows name.
usage: make-operators-doc.py [--check]     (--check: only says whether the files are up to date)"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ONNX_ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), (\w+), (.+)\)$')
ONNX_REFUSAL = re.compile(r'^ONNX_REFUSAL\("([^"]*)", "([^"]+)", (.+)\)$')
TF_ROW = re.compile(r'^TF_ROW\("([^"]+)", (\w+), (.+)\)$')
TF_REFUSAL = re.compile(r'^TF_REFUSAL\("([^"]+)", (.+)\)$')
MACRO = re.compile(r'^#define (\w+) "(.*)"$')
FUNCTION = re.compile(r"^(?:static )?[a-z][\w ]*?[ *](\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.M | re.S)
TABLE = re.compile(r"^static const [^;={]*?(\w+)(?:\[[^;={]*\])+ = \{(.*?)\};", re.M | re.S)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
REFUSES = re.compile(r"lower_unsupported\(((?:[^;\"]|\"(?:[^\"\\]|\\.)*\")*)\);", re.S)
# Its last argument says what an input must be known for.
NEEDS = re.compile(r'lower_need_const\((?:[^;"]|"[^"]*")*?"([^"]*)"\)')
# The first three arguments, which say where and what to do, then the literals that the format is made of.
MESSAGE = re.compile(r'\s*[\w.>-]+,\s*(?:[^",]|"[^"]*")+,\s*(?:[^",]|"[^"]*")+,((?:\s*(?:PR\w+|"(?:[^"\\]|\\.)*"))+)')

HOW_TO_READ = """*Not with* says in plain words which forms a container cannot express; everything else is converted, and a node whose inputs
are all known is computed during conversion and leaves a constant. What is refused, like any other operator, can be
claimed by a [user-defined op](udo-config.md); `{command} --dry_run` says what holds for a given model, and the error message names the node and the value. A
value that must be known at conversion and is a graph input of the model is fixed with `--freeze_input`.
"""
LICENCE = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
ONNX_HEAD = LICENCE + """# ONNX operators

What `onnx-to-dlc` makes of the operators of ONNX. """ + HOW_TO_READ.format(command="onnx-to-dlc") + """
A node must be as the definition of its operator says, at the version that the model imports: more inputs or outputs, an attribute that the operator does not
have, or one of another kind are errors, as for ONNX's own checker. Attributes that begin with `__` are left to tools. Tables that `scripts/make-onnx-signatures.py`
makes say what is allowed, of ONNX's own operators and of those of com.microsoft and ai.onnx.ml.
BatchNormalization's `spatial`, which exporters write at versions that no longer have it, is left out with a warning.
This file is made by `scripts/make-operators-doc.py` from `converters/onnx/lower/onnx_rows.def`, `onnx_refusals.def`,
`converters/lowering/restrictions.tsv` and the lowering functions.
"""
ONNX_TABLE = """
## What is converted

| Operator | Opset versions | Not with |
|---|---|---|
"""
TF_HEAD = LICENCE + """# TensorFlow operators

What `tensorflow-to-dlc` makes of the operators of TensorFlow. """ + HOW_TO_READ.format(command="tensorflow-to-dlc") + """
Some operators are gone when the graph is lowered, because they say what the graph is: constants (Const), graph inputs
(Placeholder, PlaceholderV2), variables and how they are read, calls of functions (PartitionedCall, StatefulPartitionedCall, and
nodes whose operator is a function of the model). A graph that changes variables which its outputs read is refused. Nodes that the outputs do not need (training, saving, summaries, control
inputs) are never looked at, and may be of any kind.

Indices (Gather, GatherNd, ScatterNd and their relatives) that are outside of a tensor are an error in TensorFlow, negative ones
among them. Those that are known are an error of the conversion. Others are executed as the container's operators do it: `net-run`
counts negative ones from the back, and fails for those beyond. OneHot has no 1 for an index outside, as TensorFlow has it.

A node must have the inputs that the definition of its operator says, and attributes of its kinds: others are errors, as in TensorFlow. An attribute that the
definition does not have is left out with a warning, as TensorFlow leaves it out: later versions add some, whose defaults mean what was before.

This file is made by `scripts/make-operators-doc.py` from `converters/tensorflow/lower/tf_rows.def`, `tf_refusals.def`,
`converters/lowering/restrictions.tsv` and the lowering functions.
"""
TF_TABLE = """
## What is converted

| Operator | Not with |
|---|---|
"""
REFUSED_HEAD = """
## Operators without a lowering

| Operator | Why |
|---|---|
"""
BECOMES_HEAD = """
## What they become

The container's operators that the lowering function, which a family of operators may share, makes use of, by their names in
the target's master list (Reshape, Transpose and Cast between them are left out). [Passes](graphs-and-passes.md#the-passes) make
other ops of some of them: a MatMul of floats with known weights becomes a FullyConnected.

| Operator | Lowered to |
|---|---|
"""
ONNX_DEPARTURES = """
## Where others compute something else

Numbers follow the operator's specification. Where a comparison with another program shows these differences, that is why.

| Operator | Form | Here | Elsewhere |
|---|---|---|---|
| Resize | `align_corners`, and a scale that gives no whole number of elements: 5 · 1.5 = 7.5, of which 7 are there | positions are o · (5 − 1) / (7.5 − 1), as in ONNX's reference implementation | ONNX Runtime divides by 7 − 1 |
| Resize, Upsample | `nearest` and a scale of out / in: element 1 of 14 → 2 is at 7, rounded down | positions are fractions, and rounding is exact | ONNX Runtime computes positions in single precision (6.9999995 there), ONNX's reference implementation in double: of 306 pairs of extents up to 18, `asymmetric` with `floor` differs for 4, `half_pixel` with `floor` for 8, with `ceil` for 1 |
| ReduceLogSumExp | integers | the whole part of the logarithm, as the operator's function in the specification gives it: 2 for a 1 and eleven zeros | ONNX Runtime rounds every exponential to a whole number: 1 |
| AveragePool, LpPool, MaxPool | `auto_pad` VALID with `ceil_mode` | sizes are rounded up, as ONNX's shape inference and ONNX Runtime have it | ONNX's reference implementation rounds down, or refuses it |
"""
TF_DEPARTURES = """
## Where TensorFlow does something else

| Operator | Form | Here | TensorFlow |
|---|---|---|---|
| MatrixInverse, MatrixSolve, MatrixTriangularSolve | a matrix that is singular | results are infinite, or no numbers | fails |
| Cholesky | a matrix that is not positive definite | results are no numbers | fails |
| SparseTensorDenseMatMul | an infinite element, or one that is no number, where the sparse matrix has no element | times 0, which is no number: the matrix is stored with its zeros | is left out |
| Requantize, QuantizeDownAndShrinkRange, QuantizedConcat | a byte that is rounded beside a half | computed in float32, halves up, or away from 0 (QuantizedConcat) | in integers of 48 bits, or floats; a byte may be one apart |
| QuantizedBiasAdd, QuantizedAdd | an operand is brought to the steps of the sum | in float32, but for known ranges of QuantizedAdd: sums may be a few steps apart, and up to 255 of 131,072 where ranges of QuantizedAdd are computed | in floats or doubles |
| Bincount, DenseBincount | a negative number that is computed | is not counted | fails |
| Lgamma, Digamma | float32 | computed in float32: within 3e-6 of the larger of 1 and the result (45,000 numbers from -8 to 1000) | correct to float32 |
| CombinedNonMaxSuppression | equal scores of several classes | the lower class comes first | in no order that is promised |
"""
GLUE = {"Reshape", "Transpose", "Cast"}


class Sources:
    """The lowering functions of a front end: what each says and calls."""

    def __init__(self, frontend):
        self.ops = set(re.findall(r"OP_ID\((\w+)\)", (ROOT / "src" / "op" / "op_ids.def").read_text()))
        self.functions = {}
        folders = (ROOT / "converters" / name for name in ("lowering", f"{frontend}/lower", f"{frontend}/decode"))
        for path in sorted(path for folder in folders for path in folder.glob("*.c")):
            content = path.read_text()
            for name, body in FUNCTION.findall(content) + TABLE.findall(content):
                self.functions.setdefault(name, []).append((path.name, body))

    def bodies(self, name, file):
        """The function's body: that of the same file where several files have one of that name."""
        found = self.functions.get(name, [])
        own = [body for where, body in found if where == file]
        return [(file, own[0])] if own else found[:1]

    def reach(self, name, file, seen):
        """(operators named, refusals) of a function and of all that it calls."""
        ops, limits = [], []
        for where, body in self.bodies(name, file):
            if (where, name) in seen:
                continue
            seen.add((where, name))
            for call in REFUSES.findall(body):
                message = MESSAGE.match(call)
                if message:
                    limits.append(as_limit(message.group(1)))
            limits += [f"an input that is not a constant: {why}" for why in NEEDS.findall(body)]
            rest = NEEDS.sub("", REFUSES.sub("", body))
            ops += [name for name in re.findall(r"\bOP_(\w+)", rest) if name in self.ops]
            for called in re.findall(r"(?<!struct )(?<!\.)(?<!->)\b[a-z]\w+\b", LITERAL.sub("", rest)):
                more_ops, more_limits = self.reach(called, where, seen)
                ops += more_ops
                limits += more_limits
        return ops, limits

    def file_of(self, name):
        return self.functions[name][0][0] if name in self.functions else ""


def as_limit(text):
    """The message of the literals of a format, with … for each value."""
    text = "".join(LITERAL.findall(re.sub(r'%[-0-9.]*"\s*PR\w+', '…"', text)))
    return re.sub(r"%[-0-9.*]*(?:l+|z)?[a-z]", "…", text).replace("|", "\\|").replace('\\"', '"')


def unique(values):
    return list(dict.fromkeys(values))


def lines_of(frontend, name):
    prefix = {"onnx": "onnx", "tensorflow": "tf"}[frontend]
    return (ROOT / "converters" / frontend / "lower" / f"{prefix}_{name}").read_text().splitlines()


def onnx_rows():
    """(operator, versions, function, arg); rows of one operator follow on each other."""
    for match in filter(None, map(ONNX_ROW.match, lines_of("onnx", "rows.def"))):
        domain, op, lo, hi, function, arg = match.groups()
        yield f"{domain}::{op}" if domain else op, (lo, hi), function, arg


def tensorflow_rows():
    for match in filter(None, map(TF_ROW.match, lines_of("tensorflow", "rows.def"))):
        op, function, arg = match.groups()
        yield op, None, function, arg


def plain_words():
    """{message of a refusal: words for people, empty where the operator's own definition does not allow such a model}"""
    lines = (ROOT / "converters" / "lowering" / "restrictions.tsv").read_text().splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


class Page:
    """What the rows of a front end say: for each operator its versions, the ops that it becomes, and its restrictions."""

    def __init__(self, rows, sources, words):
        self.entries = {}
        self.messages = set()
        for op, versions, function, arg in rows:
            spans, targets, restrictions = self.entries.setdefault(op, ([], [], []))
            ops, limits = sources.reach(function, sources.file_of(function), set())
            made = re.fullmatch(r"MAKES\((\w+)\)", arg)
            spans.append(versions)
            targets.extend(([made.group(1)] if made else []) + ops)
            restrictions.extend(filter(None, (words.get(limit) for limit in limits)))
            self.messages.update(limits)

    def rows(self):
        # Rows that follow on each other are one range: that two functions serve it is nobody's business here.
        for op, (spans, _, restrictions) in self.entries.items():
            versions = f"{spans[0][0]} to {spans[-1][1].replace('LATEST', 'newest')} | " if spans[0] else ""
            yield f"| {op} | {versions}{'; '.join(unique(restrictions))} |\n"

    def becomes(self):
        for op, (_, ops, _) in self.entries.items():
            targets = [name for name in unique(ops) if name not in GLUE] or unique(ops)
            yield f"| {op} | {', '.join(targets)} |\n"

    def counts(self, refused):
        limited = sum(1 for _, _, restrictions in self.entries.values() if restrictions)
        return (f"\n**{len(self.entries)} operators are converted**, {len(self.entries) - limited} of them in every form and {limited} with the "
                f"restrictions below; [{len(refused)} have no lowering](#operators-without-a-lowering), and say why.\n")


def refusal_rows(frontend, form):
    reasons = {}
    for line in lines_of(frontend, "refusals.def"):
        macro, refusal = MACRO.match(line), form.match(line)
        if macro:
            reasons[macro.group(1)] = macro.group(2)
        elif refusal:
            *domain, op, reason = refusal.groups()
            yield f"| {domain[0] + '::' if any(domain) else ''}{op} | {reasons.get(reason, reason.strip(chr(34)))} |\n"


def page_text(page, head, table, refused, departures):
    return (head + page.counts(refused) + table + "".join(page.rows()) + REFUSED_HEAD + "".join(refused) + departures + BECOMES_HEAD
            + "".join(page.becomes()))


def documents():
    """{name: text}"""
    words = plain_words()
    onnx = Page(onnx_rows(), Sources("onnx"), words)
    tensorflow = Page(tensorflow_rows(), Sources("tensorflow"), words)
    messages = onnx.messages | tensorflow.messages
    wrong = [f"no words for: {text}" for text in sorted(messages - words.keys())]
    wrong += [f"no refusal says: {text}" for text in sorted(words.keys() - messages)]
    if wrong:
        sys.exit("\n".join(["converters/lowering/restrictions.tsv:"] + wrong))
    return {
        "operators.md": page_text(onnx, ONNX_HEAD, ONNX_TABLE, list(refusal_rows("onnx", ONNX_REFUSAL)), ONNX_DEPARTURES),
        "operators-tensorflow.md": page_text(tensorflow, TF_HEAD, TF_TABLE, list(refusal_rows("tensorflow", TF_REFUSAL)),
                                             TF_DEPARTURES),
    }


def main():
    stale = []
    for name, text in documents().items():
        path = ROOT / "docs" / name
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            stale.append(name)
    sys.exit(f"not up to date: {', '.join(stale)}" if stale else 0)


main()
