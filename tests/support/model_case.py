# SPDX-License-Identifier: Apache-2.0
"""A model with inputs and expected outputs: reading it from the folders in which such cases are published, converting it,
executing it, and finding the results in the container's own order and types."""

import json
import re

import numpy as np
from dlc_reader import read_container
from onnx_reader import graph_inputs, graph_of, graph_outputs, tensor_of
from prestarted import run

CHANNELS_LAST = (3, 5)  # axis formats NHWC and NFC
LAST = {3: (0, 2, 1), 4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
CONTAINER_TYPES = {"FLOAT_32": "f4", "FLOAT_16": "f2", "INT_8": "i1", "INT_16": "i2", "INT_32": "i4", "INT_64": "i8",
                   "UINT_8": "u1", "UINT_16": "u2", "UINT_32": "u4", "UINT_64": "u8", "BOOL_8": "?",
                   "INT_4": "i1", "UINT_4": "u1",
                   "SFXP_4": "i1", "SFXP_8": "i1", "SFXP_16": "i2", "SFXP_32": "i4",
                   "UFXP_4": "u1", "UFXP_8": "u1", "UFXP_16": "u2", "UFXP_32": "u4"}


class Case:
    """Arrays by name of graph input and output; dims: what an open graph input is fixed to; frozen: files by name of graph
    input that is to be a constant."""

    def __init__(self, name, model, inputs, outputs, dims=(), frozen=()):
        self.name, self.model, self.inputs, self.outputs = name, model, inputs, outputs
        self.dims, self.frozen = list(dims), dict(frozen)


# ---- cases ----


def case_of_arrays(folder, frozen=()):
    """A folder with model.onnx, io.json, input_<i>.npy and output_<i>.npy; frozen: names of inputs to make constants."""
    io = json.loads((folder / "io.json").read_text())

    def arrays(kind):
        return {v["name"]: np.load(folder / f"{kind[:-1]}_{i}.npy") for i, v in enumerate(io[kind])}

    dims = [(v["name"], ",".join(map(str, v["dims"]))) for v in io["inputs"] if v["name"] not in frozen]
    files = {v["name"]: folder / f"input_{i}.npy" for i, v in enumerate(io["inputs"]) if v["name"] in frozen}
    return Case(folder.name, folder / "model.onnx", arrays("inputs"), arrays("outputs"), dims, files)


def case_of_light(model):
    """A network of the ONNX project's backend tests, in one file. Its input is by that suite's convention 0/n, 1/n, ..."""
    graph = graph_of(model)
    image, = graph_inputs(graph)
    n = np.prod(image.dims)
    expected = tensor_of(model.with_name(model.stem + "_output_0.pb").read_bytes()).array
    inputs = {image.name: (np.arange(n).reshape(image.dims) / n).astype(np.float32)}
    return Case(model.stem, model, inputs, {graph_outputs(graph)[0].name: expected})


# ---- running ----


def has_two_readings(array):
    """The dims are the same with channels first and last: they do not tell which of them a container has."""
    return array.ndim in LAST and array.shape == array.transpose(LAST[array.ndim]).shape and array.size > array.shape[0]


def in_order_of(array, tensor, model_has_channels_last=False):
    """The model's array in the order of a container's graph input or output; None when its dims are not of that order. Of a
    model with channels first the axis format says which order that is, whatever fits. Where it does not (volumes, models
    with channels last), dims must tell."""
    order = array.reshape(1) if array.ndim == 0 else array
    by_format = order.ndim in (3, 4) and not model_has_channels_last
    if by_format and tensor.axis_format in CHANNELS_LAST:
        order = order.transpose(LAST[order.ndim])
    if not by_format and order.ndim in LAST and list(order.shape) != tensor.dims:
        order = order.transpose(LAST[order.ndim])
    assert order.ndim != 5 or model_has_channels_last or not has_two_readings(order), f"{tensor.name} has two readings"
    return order if list(order.shape) == tensor.dims else None


def as_stored(array, tensor, model_has_channels_last=False):
    """The model's array in the order and type of a container's graph input or output; None when its dims do not fit."""
    order = in_order_of(array, tensor, model_has_channels_last)
    with np.errstate(over="ignore"):  # doubles become floats
        return None if order is None else order.astype(CONTAINER_TYPES[tensor.dtype])


def with_filler(found, dims, if_none):
    """What net-run gives for an op that found these rows (docs/limits.md): behind them the last one again up to the dims of the
    container's tensor, or that number where there is none. None when the dims are no more rows of such ones."""
    longer = [axis for axis in range(found.ndim) if list(found.shape)[axis] < dims[axis]] if found.ndim == len(dims) else []
    if len(longer) != 1 or [*found.shape[:longer[0]], dims[longer[0]], *found.shape[longer[0] + 1:]] != dims:
        return None
    axis, count = longer[0], found.shape[longer[0]]
    last = np.take(found, [count - 1], axis) if count else np.full([1 if i == axis else n for i, n in enumerate(dims)], if_none)
    return np.concatenate([found, np.repeat(last, dims[axis] - count, axis)], axis).astype(found.dtype)


def convert(case, folder, config=None, options=()):
    """(finished onnx-to-dlc, path of the container)."""
    out = folder / "model.dlc"
    arguments = ["-i", case.model, "-o", out]
    for name, dims in case.dims:
        arguments += ["-d", name, dims]
    for name, file in case.frozen.items():
        arguments.append(f"--freeze_input={name}={file}")
    if config:
        arguments += ["--udo_config_paths", config]
    return run("onnx-to-dlc", *arguments, *options), out


def run_on(arrays, dlc, folder, tensors=(), options=()):
    """net-run with arrays by name of graph input that are in the container's order and types."""
    pairs = []
    for i, (name, array) in enumerate(arrays.items()):
        raw = folder / f"input_{i}.raw"
        array.tofile(raw)
        pairs.append(f"{name}:={raw}")
    (folder / "inputs.txt").write_text(" ".join(pairs) + "\n")
    arguments = ["--container", dlc, "--input_list", folder / "inputs.txt", "--output_dir", folder / "out",
                 "--use_native_input_files", "--use_native_output_files"]
    if tensors:
        arguments += ["--set_output_tensors", ",".join(tensors)]
    return run("net-run", *arguments, *options)


def execute(case, dlc, folder, tensors=(), options=()):
    """(finished net-run, container) with the case's inputs, in the container's own types."""
    container = read_container(dlc, data=False)
    needed = {name: as_stored(array, container.tensors[name]) for name, array in case.inputs.items()
              if name not in case.frozen and name in container.tensors}
    return run_on(needed, dlc, folder, tensors, options), container


def result(folder, container, name):
    """What net-run wrote for a tensor, in the container's order."""
    tensor = container.tensors[name]
    array = np.fromfile(folder / "out" / "Result_0" / f"{name}.raw", CONTAINER_TYPES[tensor.dtype])
    return array.reshape(tensor.dims)


def complaint(process):
    """The first error that a command gave, or its status."""
    lines = [line for line in process.stderr.splitlines() if re.search(r"\berror\b|ERROR|runtime error", line)]
    return lines[0] if lines else f"status {process.returncode} {process.stderr[-300:]}"


def complaints(process, width=160):
    """The errors that a command gave, each shortened."""
    lines = [line[:width] for line in process.stderr.splitlines() if "error:" in line]
    return "\n  ".join(lines) or f"status {process.returncode} {process.stderr[-300:]}"
