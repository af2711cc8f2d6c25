"""A model with inputs and expected outputs: reading it from the folders in which such cases are published, converting it,
executing it, and finding the results in the container's own order and types."""

import json
import re

import numpy as np
from checks import run
from dlc_reader import read_container

CHANNELS_LAST = (3, 5)  # axis formats NHWC and NFC
LAST = {3: (0, 2, 1), 4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
# Codes of TensorProto.data_type that NumPy has, and which field holds them when they are not raw.
ONNX_TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}
CONTAINER_TYPES = {"FLOAT_32": "f4", "FLOAT_16": "f2", "INT_8": "i1", "INT_16": "i2", "INT_32": "i4", "INT_64": "i8",
                   "UINT_8": "u1", "UINT_16": "u2", "UINT_32": "u4", "UINT_64": "u8", "BOOL_8": "?"}


class Case:
    """Arrays by name of graph input and output; dims: what an open graph input is fixed to."""

    def __init__(self, name, model, inputs, outputs, dims=()):
        self.name, self.model, self.inputs, self.outputs = name, model, inputs, outputs
        self.dims = list(dims)


# ---- protobuf, as much as is needed to read tensors and names ----


def wire_fields(data):
    """(field number, value) pairs of a message; a value is an int or bytes."""
    pos = 0

    def varint():
        nonlocal pos
        value = shift = 0
        while True:
            byte = data[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while pos < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[pos:pos + size]
            pos += size


def tensor_of(data):
    """The array of a serialised TensorProto; None for types that NumPy has not."""
    dims, code, raw, packed, varints = [], 0, None, b"", []
    for field, value in wire_fields(data):
        if field == 1:
            dims += [value] if isinstance(value, int) else list(packed_varints(value))
        elif field == 2:
            code = value
        elif field == 9:
            raw = value
        elif field in (4, 10):
            packed += value
        elif field in (5, 7, 11):
            varints += [value] if isinstance(value, int) else list(packed_varints(value))
    if code not in ONNX_TYPES:
        return None
    dtype = np.dtype("<" + ONNX_TYPES[code])
    if raw is not None or packed:
        return np.frombuffer(packed if raw is None else raw, dtype).reshape(dims)
    signed = np.array([v - (1 << 64) if v >> 63 else v for v in varints], object)
    values = signed.astype(np.uint16).view(np.float16) if code == 10 else signed.astype(dtype)
    return values.reshape(dims)


def packed_varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def graph_of(model):
    """The fields of a model file's graph."""
    return list(wire_fields(next(value for field, value in wire_fields(model.read_bytes()) if field == 7)))


def graph_inputs(graph):
    """(name, dims) of each graph input that is not an initializer; dims None where the model leaves one open."""
    constant = {dict(wire_fields(value)).get(8) for field, value in graph if field == 5}
    for value_info in (dict(wire_fields(value)) for field, value in graph if field == 11):
        if value_info[1] in constant:
            continue
        tensor_type = dict(wire_fields(dict(wire_fields(value_info[2])).get(1, b"")))
        dims = [dict(wire_fields(dim)).get(1) for _, dim in wire_fields(tensor_type.get(2, b""))]
        yield value_info[1].decode(), dims


def graph_outputs(graph):
    return [dict(wire_fields(value))[1].decode() for field, value in graph if field == 12]


# ---- cases ----


def case_of_arrays(folder):
    """A folder with model.onnx, io.json, input_<i>.npy and output_<i>.npy."""
    io = json.loads((folder / "io.json").read_text())

    def arrays(kind):
        return {v["name"]: np.load(folder / f"{kind[:-1]}_{i}.npy") for i, v in enumerate(io[kind])}

    dims = [(v["name"], ",".join(map(str, v["dims"]))) for v in io["inputs"]]
    return Case(folder.name, folder / "model.onnx", arrays("inputs"), arrays("outputs"), dims)


def case_of_light(model):
    """A network of the ONNX project's backend tests, in one file. Its input is by that suite's convention 0/n, 1/n, ..."""
    graph = graph_of(model)
    (name, dims), = graph_inputs(graph)
    n = np.prod(dims)
    expected = tensor_of(model.with_name(model.stem + "_output_0.pb").read_bytes())
    inputs = {name: (np.arange(n).reshape(dims) / n).astype(np.float32)}
    return Case(model.stem, model, inputs, {graph_outputs(graph)[0]: expected})


def case_of_backend(folder):
    """A case of the ONNX project's backend tests; None when it has values that are no tensors of numbers."""
    data = folder / "test_data_set_0"
    graph = graph_of(folder / "model.onnx")

    def arrays(kind, names):
        files = (data / f"{kind}_{i}.pb" for i in range(len(names)))
        return {name: tensor_of(file.read_bytes()) for name, file in zip(names, files) if name}

    try:
        inputs = arrays("input", [name for name, _ in graph_inputs(graph)])
        outputs = arrays("output", graph_outputs(graph))
    except (ValueError, KeyError, TypeError, IndexError, FileNotFoundError):
        return None
    if any(array is None for array in [*inputs.values(), *outputs.values()]):
        return None
    return Case(folder.name, folder / "model.onnx", inputs, outputs)


# ---- running ----


def as_stored(array, tensor):
    """The model's array in the order and type of a container's tensor; None when its dims are of neither order."""
    orders = [array, array.transpose(LAST[array.ndim])] if array.ndim in LAST else [array]
    if tensor.axis_format in CHANNELS_LAST:
        orders.reverse()
    for order in orders:
        if list(order.shape) == tensor.dims or (order.ndim == 0 and tensor.dims == [1]):
            with np.errstate(over="ignore"):  # doubles become floats
                return order.reshape(tensor.dims).astype(CONTAINER_TYPES[tensor.dtype])
    return None


def convert(case, folder, config=None, options=()):
    """(finished onnx-to-dlc, path of the container)."""
    out = folder / "model.dlc"
    arguments = ["-i", case.model, "-o", out]
    for name, dims in case.dims:
        arguments += ["-d", name, dims]
    if config:
        arguments += ["--udo_config_paths", config]
    return run("onnx-to-dlc", *arguments, *options), out


def execute(case, dlc, folder, tensors=()):
    """(finished net-run, container) with the case's inputs, in the container's own types."""
    container = read_container(dlc, data=False)
    pairs = []
    for i, (name, array) in enumerate(case.inputs.items()):
        if name not in container.tensors:
            continue  # nothing needs it
        tensor = container.tensors[name]
        raw = folder / f"input_{i}.raw"
        as_stored(array, tensor).tofile(raw)
        pairs.append(f"{name}:={raw}")
    (folder / "inputs.txt").write_text(" ".join(pairs) + "\n")
    arguments = ["--container", dlc, "--input_list", folder / "inputs.txt", "--output_dir", folder / "out",
                 "--use_native_input_files", "--use_native_output_files"]
    if tensors:
        arguments += ["--set_output_tensors", ",".join(tensors)]
    return run("net-run", *arguments), container


def result(folder, container, name):
    """What net-run wrote for a tensor, in the container's order."""
    tensor = container.tensors[name]
    array = np.fromfile(folder / "out" / "Result_0" / f"{name}.raw", CONTAINER_TYPES[tensor.dtype])
    return array.reshape(tensor.dims)


def complaint(process):
    """The first error that a command gave, or its status."""
    lines = [line for line in process.stderr.splitlines() if re.search(r"\berror\b|ERROR|runtime error", line)]
    return lines[0] if lines else f"status {process.returncode} {process.stderr[-300:]}"
