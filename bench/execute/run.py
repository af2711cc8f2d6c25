#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures executions of networks against ONNX Runtime, where the Python that runs this has it, in the same run.
usage: run.py [--smoke] [--build FOLDER] [--threads N,...] [--rounds N] [--markdown] [--list] [NAME...]

Networks are those of ../shared/corpus (or of ODLC_SHARED) and generated ones (networks.py), in float32 and in 8 bits; NAME is
a shell pattern. Shown are milliseconds of an execution and up to the first result (opening, preparing, executing once), and
the peak of the memory beyond what the process had before it opened anything; ratios are ours to ONNX Runtime's.

The last lines say for each limit whether it holds; the status is 0 when all of those that were measured do. --smoke:
small generated networks, one round, no limits but those on results."""

import argparse
import fnmatch
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "tests" / "support")]
from measure import DEFAULT_BUILD, machine  # noqa: E402


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", default=7, type=int)
    parser.add_argument("--starts", default=3, type=int)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*", default=["*"], metavar="NAME")
    options = parser.parse_args()
    if options.smoke:
        options.rounds = options.starts = 1
    options.threads = [int(number) for number in options.threads.split(",")]
    return options


OPTIONS = read_arguments()
os.environ["ODLC_BUILD_ROOT"] = str(OPTIONS.build)  # before checks.py reads it
try:
    import numpy as np
except ImportError:
    print("run.py: python3-numpy is not there")
    sys.exit(77)  # skipped, as tests say it
import networks  # noqa: E402
from checks import SHARED  # noqa: E402
from contest import Contest  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from model_case import Case, case_of_arrays, case_of_light, complaint, convert, execute, result  # noqa: E402
from onnx_reader import graph_inputs, graph_of, graph_outputs
from sides import in_turns  # noqa: E402
from verdicts import Row, errors, kind_of, limits, table  # noqa: E402

CORPUS = SHARED / "corpus"
SMOKE_DIVISOR = {"resnet50": 8, "mobilenet": 2, "yolo": 2, "transformer": 8}
FROZEN = {"silero-vad-v5": ["sr"]}


def corpus_names():
    folders = [folder for part in ("first", "second") for folder in sorted((CORPUS / "onnx").glob(f"{part}/*"))]
    return {path.stem if path.suffix == ".onnx" else path.name: path
            for path in [*folders, *sorted((CORPUS / "onnx-backend" / "light").glob("*.onnx"))]}


def generated_names():
    return {name + ending: name for ending in ("", "-8bit") for name in networks.GENERATED}


def case_of_corpus(name, path):
    return case_of_light(path) if path.suffix == ".onnx" else case_of_arrays(path, FROZEN.get(name, ()))


def float_case(name, folder):
    """A generated network with an input of noise."""
    divisor = SMOKE_DIVISOR[name] if OPTIONS.smoke else 1
    folder.mkdir(exist_ok=True)
    networks.write_float(name, folder, divisor)
    graph, random = graph_of(folder / "model.onnx"), np.random.default_rng(1)
    noise = {value.name: random.uniform(-1, 1, value.dims).astype("f4") for value in graph_inputs(graph)}
    return Case(name, folder / "model.onnx", noise, {value.name: None for value in graph_outputs(graph)})


def ranges_of(case, folder):
    """{tensor: (least, most)} of all that the float network computes."""
    done, dlc = convert(case, folder)
    if done.returncode:
        raise RuntimeError(complaint(done))
    done, container = execute(case, dlc, folder, options=["--debug"])
    if done.returncode:
        raise RuntimeError(complaint(done))
    computed = [name for op in container.ops for name in op.outputs]
    arrays = {name: result(folder, container, name) for name in computed} | case.inputs
    return {name: (float(array.min()), float(array.max())) for name, array in arrays.items()}


def byte_case(name, folder):
    """The 8-bit form of a generated network, with the ranges that its tensors have for that input."""
    case = float_case(name, folder)
    ranges = ranges_of(case, folder)
    networks.write_bytes(name, folder, SMOKE_DIVISOR[name] if OPTIONS.smoke else 1, ranges)
    return case


def case_of(name, folder):
    generated = generated_names()
    if name not in generated:
        return case_of_corpus(name, corpus_names()[name])
    make = byte_case if name != generated[name] else float_case
    return make(generated[name], folder)


def measure(name, rival):
    """Rows of one network, one for each number of threads."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        folder = pathlib.Path(scratch)
        contest, rows = Contest(case_of(name, folder), folder), []
        for threads in OPTIONS.threads:
            openers = [lambda threads=threads: contest.ours(OPTIONS.build / "bench" / "timed_run", threads)]
            openers += [lambda threads=threads: contest.theirs(threads)] if rival else []
            figures = in_turns(openers, OPTIONS.rounds, OPTIONS.starts)
            rows.append(Row(name, kind_of(name), threads, *figures, *([contest.error()] if rival else [])))
        return rows


def version_of_rival():
    """Of ONNX Runtime; None: it is not there."""
    if not importlib.util.find_spec("onnxruntime"):
        return None
    asked = subprocess.run([sys.executable, HERE / "timed_ort.py"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or None


def busy_seconds():
    """(all processors' since the machine's start, this process's and its ended children's): seconds of work."""
    fields = pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    user, nice, system, _, _, *interrupts = map(int, fields[1:8])
    own = os.times()
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


def others_work(before, after, seconds):
    """How many processors other processes kept busy."""
    return max(0.0, (after[0] - before[0] - (after[1] - before[1])) / seconds)


def main():
    names = [*(generated_names() if OPTIONS.smoke else [*corpus_names(), *generated_names()])]
    names = [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in OPTIONS.names)]
    if OPTIONS.list:
        print("\n".join(f"{name}: {kind_of(name)}" for name in names))
        return
    rival, rows, failed = version_of_rival(), [], []
    print(machine(HERE))
    print(f"ONNX Runtime {rival}" if rival else "ONNX Runtime is not there: our figures alone")
    busy, begin = busy_seconds(), time.monotonic()
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            rows += measure(name, rival)
        except RuntimeError as error:
            failed.append(f"{name}: {error}")
    print(f"other processes kept {others_work(busy, busy_seconds(), time.monotonic() - begin):.1f} processors busy")
    for threads in OPTIONS.threads:
        print(f"\n{table([row for row in rows if row.threads == threads], OPTIONS.markdown)}")
    for line in failed:
        print(f"FAILED {line}")
    found = errors(rows) + ([] if OPTIONS.smoke else limits(rows)) if rival and rows else []
    if found:
        head = "| limit | measured | allowed | |\n|---|---:|---:|---|\n" if OPTIONS.markdown else ""
        print("\n" + head + "\n".join(limit.line(OPTIONS.markdown) for limit in found))
    sys.exit(0 if not failed and all(limit.holds for limit in found) else 1)


main()
