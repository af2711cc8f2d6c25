# SPDX-License-Identifier: Apache-2.0
"""Single operators on graph inputs of rank 3 and 4, in each form of inputs and outputs: which ops there are, what their axes
are then, how inputs and outputs are stored, and the numbers, which NumPy says."""

import collections
import pathlib
import struct
import sys
import tempfile

from one_node import FLOAT, Case, Const, as_stored, code_of, convert, np, result
from checks import Checks
from dlc_reader import read_container
from onnx_writer import Model

if np is not None:
    from model_case import run_on

NFC, NHWC, NONTRIVIAL = 5, 3, 11
LAST = {3: [0, 2, 1], 4: [0, 2, 3, 1]}
# ops: of the container with channels last: (type, {param: value}); alone: of those in the model's order.
# y: axis format of the output with channels last.
Op = collections.namedtuple("Op", "name inputs attributes expected ops alone y")


def numbers(*dims, start=0):
    return np.arange(start, start + np.prod(dims), dtype="f4").reshape(dims)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def cases():
    image, rows = numbers(2, 3, 4, 5) / 8, numbers(2, 3, 4) / 8
    plane, factors = numbers(3, 4, start=1), numbers(4, 2, start=-3)
    to_first = {3: [0, 2, 1], 4: [0, 3, 1, 2]}
    back = [("Transpose", {"perm": to_first[3]})]
    return (
        Op("Relu", [rows - 1], {}, np.maximum(rows - 1, 0), [("Neuron", {})], [("Neuron", {})], NFC),
        Op("Add", [image, Const(numbers(3, 1, 1), "f4")], {}, image + numbers(3, 1, 1),
           [("Eltwise_Binary", {})], [("Eltwise_Binary", {})], NHWC),
        Op("Add", [rows, Const(plane, "f4")], {}, rows + plane, [("Eltwise_Binary", {})], [("Eltwise_Binary", {})], NFC),
        Op("Add", [image, numbers(2, 3, 1, 5)], {}, image + numbers(2, 3, 1, 5), [("Eltwise_Binary", {})],
           [("Eltwise_Binary", {})], NHWC),
        Op("ReduceMean", [image], {"axes": [1], "keepdims": 1}, image.mean(1, keepdims=True), [("Reduce", {"axes": [3]})],
           [("Reduce", {"axes": [1]})], NHWC),
        Op("ReduceMean", [rows], {"axes": [-1], "keepdims": 1}, rows.mean(2, keepdims=True), [("Reduce", {"axes": [1]})],
           [("Reduce", {"axes": [2]})], NFC),
        Op("Softmax", [image], {"axis": 2}, softmax(image, 2), [("Softmax", {"axis": 1})], [("Softmax", {"axis": 2})],
           NHWC),
        Op("Concat", [rows, rows * 2], {"axis": 2}, np.concatenate([rows, rows * 2], 2), [("Concat", {"axis": 1})],
           [("Concat", {"axis": 2})], NFC),
        Op("Gather", [image, Const([2, 0])], {"axis": 1}, image[:, [2, 0]], [("Gather", {"axis": 3})],
           [("Gather", {"axis": 1})], NHWC),
        Op("MatMul", [rows, Const(numbers(2, 4, 2, start=-5), "f4")], {}, rows @ numbers(2, 4, 2, start=-5),
           [*back, ("MatMul", {})], [("MatMul", {})], NONTRIVIAL),
        Op("MatMul", [image, Const(numbers(2, 3, 5, 2, start=-5), "f4")], {}, image @ numbers(2, 3, 5, 2, start=-5),
           [("Transpose", {"perm": to_first[4]}), ("MatMul", {})], [("MatMul", {})], NONTRIVIAL),
        Op("Reshape", [rows, Const([3, 8])], {}, rows.reshape(3, 8), [*back, ("Reshape", {})], [("Reshape", {})],
           NONTRIVIAL),
        Op("Transpose", [image], {"perm": [0, 2, 3, 1]}, image.transpose(0, 2, 3, 1), [("Reshape", {})],
           [("Transpose", {"perm": [0, 2, 3, 1]})], NONTRIVIAL),
        Op("Cast", [(image * 8).astype("i4")], {"to": FLOAT}, np.round(image * 8), [("Cast", {})], [("Cast", {})], NHWC),
        Op("Not", [rows > 1], {}, rows <= 1, [("Eltwise_Unary", {})], [("Eltwise_Unary", {})], NFC),
    )


def write(op, path):
    m, given, names = Model(opset=13), {}, []
    for i, value in enumerate(op.inputs):
        names.append(f"x{i}")
        array = value.array if isinstance(value, Const) else np.ascontiguousarray(value)
        if isinstance(value, Const):
            m.tensor(names[i], code_of(array), array.shape, raw=array.tobytes())
        else:
            m.input(names[i], code_of(array), array.shape)
            given[names[i]] = array
    m.node(op.name, names, ["y"], name="node", **op.attributes)
    m.output("y", code_of(op.expected), op.expected.shape)
    m.save(path)
    return given


def value_of(param):
    if param.tensor is None:
        return param.value
    return list(struct.unpack(f"<{len(param.tensor.data) // 4}I", param.tensor.data))


def check_form(checks, op, label, options, ops, formats, moved=False):
    """formats: of the inputs and of the output. moved: the inputs are channels-last, the model's are not."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        given = write(op, folder / "model.onnx")
        case = Case(label, folder / "model.onnx", given, {"y": op.expected})
        done, dlc = convert(case, folder, options=options)
        if not checks.check(f"{label} converts", done.returncode == 0, done.stderr):
            return
        container = read_container(dlc)
        fed = {name: np.ascontiguousarray(array.transpose(LAST[array.ndim])) if moved else array
               for name, array in given.items()}
        done = run_on(fed, dlc, folder)
        if not checks.check(f"{label} runs", done.returncode == 0, done.stderr):
            return
        found = [(o.type, {name: value_of(o.params[name]) for name in wanted[1]}) for o, wanted in zip(container.ops, ops)]
        checks.equal(f"{label}: ops", (len(container.ops), found), (len(ops), list(ops)))
        stored = {name: container.tensors[name] for name in [*given, "y"]}
        checks.equal(f"{label}: axis formats", [t.axis_format for t in stored.values()], formats)
        for name, array in fed.items():
            checks.equal(f"{label}: dims of {name}", stored[name].dims, list(array.shape))
        values, expected = result(folder, container, "y"), as_stored(op.expected, stored["y"])
        holds = expected is not None and np.allclose(values, expected, 1e-6, 1e-6)
        checks.check(f"{label}: numbers", holds, f"{values.tolist()} for {op.expected.tolist()}")


def forms(checks, op):
    label = f"{op.name} {[list(np.shape(getattr(i, 'array', i))) for i in op.inputs]} {op.attributes}"
    ranks = [i.ndim for i in op.inputs if not isinstance(i, Const)]
    names = [f"x{i}" for i, value in enumerate(op.inputs) if not isinstance(value, Const)]
    last = [NFC if rank == 3 else NHWC for rank in ranks]
    own = [NONTRIVIAL for _ in ranks]
    check_form(checks, op, f"{label}, default", [], op.ops, [*last, op.y], moved=True)
    check_form(checks, op, f"{label}, told", ["--io_layout", "channels_last"], op.ops, [*last, op.y], moved=True)
    check_form(checks, op, f"{label}, model", ["--io_layout", "model"], op.alone, [*own, NONTRIVIAL])
    check_form(checks, op, f"{label}, kept", ["--preserve_io", "layout", *names], op.alone, [*own, NONTRIVIAL])
    for layout, format_ in (("NONTRIVIAL", NONTRIVIAL), (None, None)):
        layouts = [layout or ("NFC" if rank == 3 else "NHWC") for rank in ranks]
        options = [word for name, of in zip(names, layouts) for word in ("--input_layout", name, of)]
        formats = own if layout else last
        check_form(checks, op, f"{label}, {layouts[0]}", options, op.alone, [*formats, NONTRIVIAL])


def main():
    checks = Checks()
    if np is None:
        checks.skip("layouts of inputs and outputs", "python3-numpy is not there")
    else:
        for op in cases():
            forms(checks, op)
    checks.finish()


if __name__ == "__main__":
    main()
