# SPDX-License-Identifier: Apache-2.0
"""One backend case: converted, executed, compared.

A refusal is an error of onnx-to-dlc with status 1 and a reason. A crash is a signal, a sanitizer's report, a status that
the commands do not give, or a hang. All else that is not a match is wrong."""

import json
import pathlib
import re
import subprocess
import tempfile

import dlc_tools
import numpy as np
from checks import patient
from dlc_reader import read_container
from model_case import CHANNELS_LAST, CONTAINER_TYPES, LAST, result, with_filler
from onnx_reader import Array
from prestarted import run

MATCHED, REFUSED, WRONG, CRASHED = "matched", "refused", "WRONG", "CRASHED"
SECONDS = patient(60)
SANITIZER = re.compile(r"Sanitizer|runtime error:")
ASKED = re.compile(r"--freeze_input (.+?)=")
# The ONNX runner's tolerances; its bfloat16 is that of two steps of the type.
RTOL, ATOL, BFLOAT16_RTOL = 1e-3, 1e-7, 2.0**-6
# Published values that are noise, and how far from the exact value they are: an FFT in float32 made these from sums of sines
# that are exactly 0, and published 1.9e-7.
NOISE = dict.fromkeys(("test_dft_inverse", "test_dft_inverse_opset19"), 2e-7)
# Operators that find as much as they find: a container has room for the most, and this in it where nothing is found.
FINDING = {"NonMaxSuppression": 0, "NonZero": -1}
# What a container may store a model's type as. Types below 8 bits and the small floats have no such rule: their values
# must be right.
STORED = {"int64": ("INT_64", "INT_32"), "uint64": ("UINT_64", "UINT_32"), "float64": ("FLOAT_32",),
          "bfloat16": ("FLOAT_32",), "float32": ("FLOAT_32",), "float16": ("FLOAT_16",), "bool": ("BOOL_8",),
          "int8": ("INT_8", "SFXP_8"), "int16": ("INT_16", "SFXP_16"), "int32": ("INT_32", "SFXP_32"),
          "uint8": ("UINT_8", "UFXP_8"), "uint16": ("UINT_16", "UFXP_16"), "uint32": ("UINT_32", "UFXP_32")}


class Verdict(Exception):
    """Ends a case: one of the four outcomes, and why."""

    def __init__(self, outcome, reason=""):
        super().__init__(outcome, reason)
        self.outcome, self.reason = outcome, reason


def finished(name, *arguments):
    """A command's finished process, unless it crashed."""
    try:
        done = run(name, *arguments, timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        raise Verdict(CRASHED, f"{name} did not end within {SECONDS} s") from None
    if done.returncode not in (0, 1) or SANITIZER.search(done.stderr):
        raise Verdict(CRASHED, f"{name}: status {done.returncode}: {done.stderr[-600:]}")
    return done


def errors_of(done):
    """The errors that onnx-to-dlc --json gave."""
    records = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    errors = [record for record in records if record["severity"] == "error"]
    if not errors or any(record["code"] == "internal" for record in errors):
        raise Verdict(CRASHED, f"onnx-to-dlc: status {done.returncode} without a reason: {done.stderr[-600:]}")
    return errors


def reason_of(error):
    """The class of an error: its code and message without what differs from model to model."""
    message = re.sub(r"; \d+ nodes?: .*", "", error["message"])
    message = message.replace(error.get("file") or "\0", "the model")
    message = re.sub(r" \(domain ai\.onnx, version \d+\)|, version \d+(?=\))", "", message)
    message = re.sub(r"\b(value|input|output) ('[^']*'|\S+) (?=has|is not a tensor|is a sequence|is an optional|is of type|holds)", r"\1 ", message)
    return " ".join(f"{error['code']}: {message}".split())[:200]


def open_dims(case, data):
    """Arguments that fix the graph inputs whose dimensions the model leaves open."""
    arguments = []
    for value in case.inputs:
        given = data.inputs[value.name]
        # --input_dim takes no zeros.
        if value.dims is not None and None in value.dims and isinstance(given, Array) and 0 not in given.array.shape:
            arguments += ["--input_dim", value.name, ",".join(map(str, given.array.shape))]
    return arguments


def convert(case, data, dlc, io_layout, *options):
    """Converts, freezing the inputs that the converter asks for, round by round. The names of these, and of the graph
    inputs and outputs that notes say to be stored channels-last."""
    frozen = []
    while True:
        arguments = [f"--freeze_input={name}={data.files[name]}" for name in frozen]
        done = finished("onnx-to-dlc", "-i", case.model, "-o", dlc, "--json", "--debug",
                        "--io_layout", io_layout, *open_dims(case, data), *options, *arguments)
        if done.returncode == 0:
            notes = [json.loads(line) for line in done.stderr.splitlines() if "-layout\"" in line]
            return frozen, {note["node"] for note in notes if note["code"] in ("input-layout", "output-layout")}
        errors = errors_of(done)
        asked = {name for error in errors for name in ASKED.findall(error.get("hint", ""))}
        more = [name for name in data.files if name in asked and name not in frozen]
        if not more:
            raise Verdict(REFUSED, reason_of(errors[0]))
        frozen += more


def in_order(array, tensor, moved):
    """The model's array as the container has it. What notes say, and the axis format, must be the same; volumes have none."""
    if (tensor.axis_format in CHANNELS_LAST) != (tensor.name in moved) and array.ndim != 5:
        raise Verdict(WRONG, f"{tensor.name} has axis format {tensor.axis_format}, notes say otherwise")
    order = array.transpose(LAST[array.ndim]) if tensor.name in moved else array
    if list(order.shape or [1]) != tensor.dims:
        raise Verdict(WRONG, f"{tensor.name} has dims {tensor.dims}, expected {list(order.shape)}")
    return order


def check_moved(container, moved, io_layout):
    """All graph inputs of rank 3 and 4 are channels-last, whatever reads them; or nothing is."""
    wanted = {name for name, tensor in container.tensors.items()
              if tensor.kind == "APP_WRITE" and len(tensor.dims) in (3, 4)} if io_layout == "channels_last" else set()
    if not wanted <= moved or (moved and io_layout == "model"):
        raise Verdict(WRONG, f"{sorted(moved)} are channels-last, expected {sorted(wanted)}")


def write_inputs(data, container, frozen, folder, moved):
    """Raw files of the inputs in the container's types, and a list of them."""
    pairs = []
    for i, (name, value) in enumerate(data.inputs.items()):
        if name in frozen or name not in container.tensors:  # nothing needs what is not there
            continue
        if not isinstance(value, Array):
            raise Verdict(WRONG, f"graph input {name} is no tensor, but converts")
        if value.dtype == "string":
            raise Verdict(WRONG, f"graph input {name} is of strings, but converts")
        tensor = container.tensors[name]
        with np.errstate(over="ignore"):  # doubles become floats
            stored = value.array.astype(CONTAINER_TYPES[tensor.dtype])
        if value.array.dtype.kind in "iu" and not np.array_equal(exact(stored), exact(value.array)):
            raise Verdict(WRONG, f"graph input {name} is {tensor.dtype}, which cannot hold the case's values")
        raw = folder / f"input_{i}.raw"
        in_order(stored, tensor, moved).tofile(raw)
        pairs.append(f"{name}:={raw}")
    (folder / "inputs.txt").write_text(" ".join(pairs) + "\n")


def execute(data, dlc, container, frozen, folder, moved, options):
    write_inputs(data, container, frozen, folder, moved)
    done = finished("net-run", "--container", dlc, "--input_list", folder / "inputs.txt", "--output_dir",
                    folder / "out", "--use_native_input_files", "--use_native_output_files", *options)
    if done.returncode:
        raise Verdict(WRONG, f"does not run: {done.stderr[:300]}")


def exact(array):
    """Numbers that compare as numbers whatever their types: Python's."""
    return array.astype(object)


def difference(found, expected, atol=ATOL):
    """How the found array differs from the expected Array, which is in its order; None when it does not."""
    want = expected.array.reshape(found.shape)
    if want.dtype.kind != "f":
        if found.dtype != want.dtype:
            found, want = exact(found), exact(want)
        return None if np.array_equal(found, want) else f"{int(np.sum(found != want))} of {want.size} elements differ"
    # A double beyond what a float can hold is infinite in a container.
    with np.errstate(over="ignore"):
        want = want.astype(np.float32) if want.dtype == np.float64 else want
    rtol = BFLOAT16_RTOL if expected.dtype == "bfloat16" else RTOL
    found, want = found.astype(np.float64), want.astype(np.float64)
    close = np.isclose(found, want, rtol=rtol, atol=atol, equal_nan=True)
    if np.all(close):
        return None
    with np.errstate(all="ignore"):
        worst = np.max(np.nan_to_num(np.abs(found - want)), initial=0.0)
    return f"{int(np.sum(~close))} of {want.size} elements differ, by up to {worst:g}"


def in_its_room(case, expected, dims):
    """The expected Array with the filler that the container has behind it, of operators that find something."""
    operator = next(iter(case.operators & FINDING.keys()), None)
    if operator is None or not isinstance(expected, Array):
        return expected
    filled = with_filler(expected.array, dims, FINDING[operator])
    return expected if filled is None else Array(filled, expected.dtype)


def compare(case, data, container, folder, moved):
    atol = NOISE.get(case.name, ATOL)
    for name, expected in data.outputs.items():
        if name not in container.tensors:
            raise Verdict(WRONG, f"the container has no output {name}")
        if not isinstance(expected, Array):
            raise Verdict(WRONG, f"graph output {name} is no tensor, but converts")
        tensor = container.tensors[name]
        expected = in_its_room(case, expected, tensor.dims)
        expected = Array(in_order(expected.array, tensor, moved), expected.dtype)
        if tensor.dtype not in STORED.get(expected.dtype, CONTAINER_TYPES):
            raise Verdict(WRONG, f"{name} is {tensor.dtype}, expected {expected.dtype}")
        try:
            found = result(folder, container, name)
        except FileNotFoundError:
            raise Verdict(WRONG, f"net-run wrote no {name}") from None
        except ValueError:
            raise Verdict(WRONG, f"net-run wrote another number of elements for {name}") from None
        wrong = difference(found, expected, atol)
        if wrong:
            raise Verdict(WRONG, f"{name}: {wrong}")


def try_data_sets(case, folder, io_layout, options):
    dlc, container, frozen, moved = folder / "model.dlc", None, [], set()
    for number, data in enumerate(case.data_sets()):
        if container is None or frozen:  # what is frozen differs from set to set
            frozen, moved = convert(case, data, dlc, io_layout)
            container = read_container(dlc, data=False)
            check_moved(container, moved, io_layout)
            refusal = dlc_tools.refusal_of_some(dlc)
            if refusal:
                raise Verdict(WRONG, f"others do not read the container: {refusal}")
        place = folder / str(number)
        place.mkdir()
        execute(data, dlc, container, frozen, place, moved, options)
        compare(case, data, container, place, moved)
    if container is None:
        raise Verdict(WRONG, "the case has no data set")


def try_case(case, io_layout="model", options=()):
    """(outcome, reason) of a case, in one of the two orders of graph inputs and outputs; options are net-run's."""
    with tempfile.TemporaryDirectory() as temporary:
        try:
            try_data_sets(case, pathlib.Path(temporary), io_layout, options)
        except Verdict as verdict:
            return verdict.outcome, verdict.reason
        except Exception as error:  # what a reader of the tests stumbles over fails this case, not the run
            return WRONG, f"cannot be read: {error!r}"
    return MATCHED, ""
