# SPDX-License-Identifier: Apache-2.0
"""A case is converted, executed and compared, or refused."""

import pathlib
import tempfile

import numpy as np
from case import difference, same
from dlc_reader import read_container
from model_case import CONTAINER_TYPES, as_stored, complaints, has_two_readings, run_on, with_filler
from prestarted import run
from tf_writer import tensor_name

# What the conversion narrows.
NARROWED = {"float64": "float32", "int64": "int32", "uint64": "uint32"}


class Outcome:
    """What became of a case: checks as (name, holds, detail), which a thread collects."""

    def __init__(self, name):
        self.name, self.checks = name, []

    def check(self, what, holds, detail=""):
        self.checks.append((f"{what} {self.name}", bool(holds), detail))
        return bool(holds)


def convert(case, expected, folder):
    dlc = folder / "model.dlc"
    arguments = ["-i", case.save_model(folder), "-o", dlc]
    for name, dims in case.dims.items():
        arguments += ["-d", name, ",".join(map(str, dims))]
    for value in case.fetched:
        arguments += ["--out_node", value.name]
    arrays = [*case.given.values(), *(expected[case.key(value)] for value in case.fetched)]
    if case.has_channels_first() and any(map(has_two_readings, arrays)):
        arguments += ["--preserve_io", "layout"]
    return run("tensorflow-to-dlc", *arguments, *case.options), dlc


def compare(outcome, case, value, expected, container, folder):
    name = tensor_name(value.name)
    tensor = container.tensors.get(name)
    if not outcome.check(f"there is {value.name}:", tensor is not None, sorted(container.tensors)):
        return
    own = expected.dtype.name
    stored = CONTAINER_TYPES[tensor.dtype]
    outcome.check(f"type of {value.name}:", np.dtype(stored).name in (own, NARROWED.get(own)), tensor.dtype)
    filled = with_filler(expected, tensor.dims, case.if_none) if case.if_none is not None else None
    order = as_stored(expected if filled is None else filled, tensor, model_has_channels_last=True)
    if not outcome.check(f"dims of {value.name}:", order is not None, f"{tensor.dims} for {expected.shape}"):
        return
    file = folder / "out" / "Result_0" / f"{name}.raw"
    if outcome.check(f"net-run wrote {value.name}:", file.exists()):
        found = np.fromfile(file, stored).reshape(tensor.dims)
        holds = same(found, order, case.tolerance(expected.dtype))
        outcome.check(f"numbers of {value.name}:", holds, "" if holds else difference(found, order))


def execute(outcome, case, expected, dlc, folder):
    container = read_container(dlc, data=False)
    given = {tensor_name(name): as_stored(values, container.tensors[tensor_name(name)], model_has_channels_last=True)
             for name, values in case.given.items() if tensor_name(name) in container.tensors}
    done = run_on(given, dlc, folder)
    if outcome.check("execute", done.returncode == 0, complaints(done)):
        for value in case.fetched:
            compare(outcome, case, value, expected[case.key(value)], container, folder)


def try_case(case, expected):
    """The Outcome of a case; expected: arrays by case.key of the outputs, None when there are none."""
    outcome = Outcome(case.name)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if expected is None and not case.message_part:
            outcome.check("expected numbers of", False, "are missing or of another graph: see tests/reference/README.md")
            return outcome
        done, dlc = convert(case, expected, folder)
        if case.message_part:
            outcome.check("status when refused:", done.returncode == 1, done.returncode)
            holds = case.message_part in done.stderr
            outcome.check("reason:", holds, f"{case.message_part!r} not in {done.stderr!r}")
        elif outcome.check("convert", done.returncode == 0, complaints(done)):
            execute(outcome, case, expected, dlc, folder)
    return outcome
