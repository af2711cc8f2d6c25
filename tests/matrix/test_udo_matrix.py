# SPDX-License-Identifier: Apache-2.0
"""Every combination of what a UDO description can say about a tensor and a parameter, converted by onnx-to-dlc and
checked in the container's bytes: {dynamic, static} x {NCHW, NHWC, no layout} x rank 1 to 5 x {FLOAT_32, FLOAT_16,
INT_32, UINT_8} x {scalar int, float, string; tensor ints, floats}.

Each cell is described in JSON and as an XML OpDef, and both must give the same bytes.

In a dynamic cell the tensor is the op's activation, in a static cell a constant beside a plain activation."""

import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import dlc_tools  # noqa: E402
import onnx_writer as onnx  # noqa: E402
from checks import Checks, share_of  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from opdef_writer import opdef_xml  # noqa: E402
from prestarted import run  # noqa: E402

DIMS = [2, 3, 4, 5, 6]
TO_LAST = {3: [0, 2, 1], 4: [0, 2, 3, 1]}
STEP = 7  # no divisor of the numbers of layouts, ranks, types and params: each comes with each
LAYOUTS = ["NCHW", "NHWC", None]
# Declared type → (struct code, ONNX type of an activation, ONNX type that a constant comes in).
DTYPES = {
    "FLOAT_32": ("f", onnx.FLOAT, onnx.FLOAT),
    "FLOAT_16": ("e", onnx.FLOAT16, onnx.FLOAT),
    "INT_32": ("i", onnx.INT32, onnx.INT64),
    "UINT_8": ("B", onnx.UINT8, onnx.FLOAT),
}
# Kind → (config member, declared type, the attribute's value, struct code of tensor data).
PARAMS = {
    "scalar int": ("scalar_params", "INT_32", 7, None),
    "scalar float": ("scalar_params", "FLOAT_32", 0.375, None),
    "scalar string": ("scalar_params", "STRING", "fast", None),
    "tensor ints": ("tensor_params", "INT_32", [3, -1, 2], "i"),
    "tensor floats": ("tensor_params", "FLOAT_32", [0.5, -1.25], "f"),
}


def permuted(values, dims, perm):
    """Row-major values of a tensor, and its dims, after a transposition."""
    strides = [math.prod(dims[i + 1:]) for i in range(len(dims))]
    new_dims = [dims[axis] for axis in perm]
    places = itertools.product(*(range(dim) for dim in new_dims))
    return [values[sum(i * strides[axis] for i, axis in zip(place, perm))] for place in places], new_dims


def values_of(dtype, count):
    """Values that the type holds exactly, all different as far as it can."""
    if dtype == "UINT_8":
        return [i % 251 for i in range(count)]
    if dtype == "INT_32":
        return [i * 70001 - 1000000 for i in range(count)]
    return [(i - 40) / 8 for i in range(count)]


def config_of(cell):
    static, layout, _, dtype, kind = cell
    tensor = {"name": "tensor", "data_type": dtype}
    if layout:
        tensor["tensor_layout"] = layout
    plain = {"name": "plain", "data_type": "FLOAT_32"}
    inputs = [plain, dict(tensor, static=True)] if static else [tensor]
    output = dict(plain if static else tensor, name="out", shape="same_as in0")
    member, param_type, _, _ = PARAMS[kind]
    op = {"type": "Thing", "inputs": inputs, "outputs": [output], member: [{"name": "amount", "data_type": param_type}]}
    return {"UdoPackage_0": {"UDO_PACKAGE_NAME": "MatrixPackage", "Operators": [op]}}


def write_model(cell, path):
    static, _, rank, dtype, kind = cell
    dims = DIMS[:rank]
    _, activation, constant = DTYPES[dtype]
    m = onnx.Model(opset=13, domains=["test"])
    x_type = onnx.FLOAT if static else activation
    m.input("x", x_type, dims)
    inputs = ["x"]
    if static:
        values = values_of(dtype, math.prod(dims))
        m.tensor("w", constant, dims, [int(v) for v in values] if constant == onnx.INT64 else values)
        inputs.append("w")
    m.node("Thing", inputs, ["y"], name="thing", domain="test", amount=PARAMS[kind][2])
    m.output("y", x_type, dims)
    m.save(path)


def check_param(checks, label, op, kind):
    _, dtype, value, code = PARAMS[kind]
    param = op.params["amount"]
    checks.equal(f"{label}: param's type", param.dtype, dtype)
    checks.equal(f"{label}: param's usage", param.usage, 1)
    if code is None:
        checks.equal(f"{label}: param's value", param.value, value)
    else:
        checks.equal(f"{label}: param's dims", param.tensor.dims, [len(value)])
        checks.equal(f"{label}: param's data", param.tensor.data, struct.pack(f"<{len(value)}{code}", *value))


def check_static(checks, label, container, op, cell):
    _, layout, rank, dtype, _ = cell
    tensor = container.tensors[op.inputs[1]]
    dims = DIMS[:rank]
    values = values_of(dtype, math.prod(dims))
    if layout == "NHWC" and rank == 4:
        values, dims = permuted(values, dims, TO_LAST[rank])
    checks.equal(f"{label}: kind", tensor.kind, "STATIC")
    checks.equal(f"{label}: type", tensor.dtype, dtype)
    checks.equal(f"{label}: dims", tensor.dims, dims)
    checks.equal(f"{label}: data", tensor.data, struct.pack(f"<{len(values)}{DTYPES[dtype][0]}", *values))
    checks.equal(f"{label}: no permute", len(container.ops), 1)


def axes_at(container, name):
    """For each axis of an activation, the model's axis that it is: follows Transposes to the graph input or output.

    The graph's own tensor may be stored either way; its dims, all different, say how."""
    model_axis = {dim: axis for axis, dim in enumerate(DIMS)}
    tensor = container.tensors[name]
    for op in container.ops:
        if op.type != "Transpose":
            continue
        perm = op.params["perm"].tensor.data
        perm = struct.unpack(f"<{len(perm) // 4}I", perm)
        if op.outputs[0] == name:
            before = axes_at(container, op.inputs[0])
            return [before[axis] for axis in perm]
        if op.inputs[0] == name and tensor.kind == "NATIVE":
            after = container.tensors[op.outputs[0]].dims
            back = [None] * len(perm)
            for i, axis in enumerate(perm):
                back[axis] = model_axis[after[i]]
            return back
    return [model_axis[dim] for dim in tensor.dims]


def check_dynamic(checks, label, container, op, cell):
    _, layout, rank, dtype, _ = cell
    own = list(range(rank))
    stored = TO_LAST.get(rank, own)  # the graph input
    expected = own if layout == "NCHW" else stored
    for name in (op.inputs[0], op.outputs[0]):
        tensor = container.tensors[name]
        checks.equal(f"{label}: {name} type", tensor.dtype, dtype)
        checks.equal(f"{label}: {name} dims", tensor.dims, [DIMS[axis] for axis in expected])
        checks.equal(f"{label}: {name} axes", axes_at(container, name), expected)
    checks.equal(f"{label}: graph input", [axes_at(container, name) for name in ("x", "y")], [stored, expected])
    # Only NCHW asks for another order than the graph input has; the graph output is what the op gives.
    checks.equal(f"{label}: ops", len(container.ops), 1 + (layout == "NCHW" and stored != own))


def check_xml(checks, label, cell, model, config, out):
    """The XML form, under the same name because the container records the command, gives the same container."""
    with open(out, "rb") as f:
        expected = f.read()
    with open(config, "w", encoding="utf-8") as f:
        f.write(opdef_xml(config_of(cell)["UdoPackage_0"]))
    done = run("onnx-to-dlc", "-i", model, "--udo_config_paths", config, "-o", out)
    with open(out, "rb") as f:
        found = f.read() if done.returncode == 0 else b""
    checks.check(f"{label}: XML gives the same bytes", found == expected, done.stderr)


def check_cell(cell):
    """Checks of one cell, as (passed, failed, text)."""
    checks = Checks()
    label = " ".join(str(part) for part in (("static" if cell[0] else "dynamic",) + cell[1:]))
    with tempfile.TemporaryDirectory() as folder:
        model, config, out = (os.path.join(folder, name) for name in ("m.onnx", "ops.json", "m.dlc"))
        write_model(cell, model)
        with open(config, "w", encoding="utf-8") as f:
            json.dump(config_of(cell), f)
        done = run("onnx-to-dlc", "-i", model, "--udo_config_paths", config, "-o", out)
        if not checks.check(f"{label}: converts", done.returncode == 0, done.stderr):
            return checks
        check_xml(checks, label, cell, model, config, out)
        container = read_container(out)
        op = next(op for op in container.ops if op.type == "Thing")
        checks.equal(f"{label}: package", op.package, "MatrixPackage")
        checks.equal(f"{label}: name", op.name, "thing")
        check_param(checks, label, op, cell[4])
        (check_static if cell[0] else check_dynamic)(checks, label, container, op, cell)
        if dlc_tools.UNZIP:
            checks.equal(f"{label}: unzip -t", dlc_tools.unzip_accepts(out), None)
        if dlc_tools.FLATC:
            checks.equal(f"{label}: flatc", dlc_tools.flatc_decodes(out), None)
    return checks


def main():
    checks = Checks()
    cells = list(itertools.product([False, True], LAYOUTS, range(1, 6), DTYPES, PARAMS))
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for done in pool.map(check_cell, share_of(cells, STEP, "cells")):
            checks.passed += done.passed
            checks.failed += done.failed
    checks.check("all cells were tried", len(cells) == 2 * 3 * 5 * 4 * 5, len(cells))
    for tool in ("UNZIP", "FLATC"):
        if not getattr(dlc_tools, tool):
            checks.skip(f"{tool.lower()} on every container", "not installed")
    checks.finish()


main()
