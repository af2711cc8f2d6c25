# SPDX-License-Identifier: Apache-2.0
"""--pad_dynamic: Unique, Compress and NonZero of values that are not known give room for the most that there can be, and a graph
output that counts the valid rows. NumPy says what they are; the rest repeats the last of them."""

import pathlib
import tempfile

from one_node import Const, dlc_tools, np, refuses, write_model
from checks import Checks
from onnx_writer import FLOAT, INT64, Model

try:
    from dlc_reader import read_container
    from model_case import CONTAINER_TYPES, result, run_on, with_filler
    from prestarted import run
except ImportError:
    pass


def pads(checks, name, op, inputs, expected, count, if_none=None, **attributes):
    """expected: the valid part of each output; if_none: output 0 where that is empty."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, dlc = pathlib.Path(temporary), pathlib.Path(temporary) / "model.dlc"
        given = write_model(folder / "model.onnx", 13, op, inputs, attributes, [np.zeros(array.ndim * [1], array.dtype) for array in expected])
        done = run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", dlc, "--pad_dynamic", "--preserve_io", "layout")
        if not checks.check(f"convert {name}", done.returncode == 0, done.stderr):
            return
        checks.check(f"note of {name}", "out0_count says how many rows are valid" in done.stderr, done.stderr)
        checks.equal(f"others read {name}", dlc_tools.refusal_of_some(dlc), None)
        container = read_container(dlc, data=False)
        done = run_on({key: value.astype(CONTAINER_TYPES[container.tensors[key].dtype]) for key, value in given.items()}, dlc, folder)
        if not checks.check(f"execute {name}", done.returncode == 0, done.stderr):
            return
        tensor = container.tensors["out0_count"]
        checks.equal(f"type of the count of {name}", [tensor.dtype, tensor.dims], ["UINT_32", [1]])
        checks.equal(f"count of {name}", result(folder, container, "out0_count").tolist(), [count])
        for i, array in enumerate(expected):
            dims, found = container.tensors[f"out{i}"].dims, result(folder, container, f"out{i}")
            if i == 0 and count == 0:
                array = if_none
            elif list(array.shape) != dims:
                array = with_filler(array, dims, 0)
            if checks.check(f"room of {name}: out{i}", array is not None and list(array.shape) == dims, dims):
                checks.equal(f"{name}: out{i}", found.tolist(), array.astype(found.dtype).tolist())


def unique(x, axis, is_sorted):
    """Slices, places, inverse and counts, as the operator's definition has them."""
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1).tolist()
    first = [i for i, row in enumerate(rows) if row not in rows[:i]]
    order = sorted(first, key=lambda i: rows[i]) if is_sorted else first
    slices = [rows[i] for i in order]
    return [np.take(x, order, axis), np.array(order), np.array([slices.index(row) for row in rows]),
            np.array([rows.count(row) for row in slices])]


def test_unique(checks):
    source = np.random.RandomState(5)
    for shape in ([1], [6], [2, 3], [3, 2, 2], [4, 1, 2]):
        for dtype in ("f4", "i8", "b1", "u1", "f2"):
            x = source.randint(0, 3, shape).astype(dtype)
            for axis in (None, 0, len(shape) - 1, -len(shape)):
                for is_sorted in (0, 1):
                    expected = unique(x, axis, is_sorted)
                    of_axis = {} if axis is None else {"axis": axis}
                    pads(checks, f"Unique of {shape} {dtype} {axis} {is_sorted}", "Unique", [x], expected, len(expected[1]),
                         sorted=is_sorted, **of_axis)
    for x in (np.zeros(4, "f4"), np.arange(5, dtype="f4")[::-1].copy(), np.array([np.inf, -np.inf, -0.0, 0, np.inf], "f4")):
        expected = unique(x, None, 1)
        pads(checks, f"Unique of {x.tolist()}", "Unique", [x], expected, len(expected[1]))
    x = np.array([3, 1, 3, 3, 2], "f4")
    expected = unique(x, None, 0)
    pads(checks, "Unique of com.microsoft", "com.microsoft::Unique", [x], [expected[0], *expected[2:]], 3)


def test_compress(checks):
    source = np.random.RandomState(6)
    for shape in ([5], [3, 4], [2, 3, 2]):
        x = source.randint(-9, 9, shape).astype("f4")
        for axis in (None, 0, -1):
            flat, along = (x.reshape(-1), 0) if axis is None else (x, axis)
            for length in (flat.shape[along], max(1, flat.shape[along] - 2)):
                for flags in (source.randint(0, 2, length), np.zeros(length), np.ones(length)):
                    flags = flags.astype("b1")
                    kept = np.compress(flags, flat, along)
                    none = np.repeat(np.take(flat, [0], along), length, along)
                    pads(checks, f"Compress of {shape} {axis} {flags}", "Compress", [x, flags], [kept], int(flags.sum()), none,
                         **({} if axis is None else {"axis": axis}))
    pads(checks, "Compress of known data", "Compress", [Const([1, 2, 3], "f4"), np.array([False, True, True])],
         [np.array([2, 3], "f4")], 2)


def test_nonzero(checks):
    for x in (np.array([[0, 2, 0], [1, 0, 0]], "f4"), np.array([True, True]), np.zeros((2, 2), "i4"), np.array([np.nan, -0.0], "f4")):
        found = np.array(np.nonzero(x), "i8")
        pads(checks, f"NonZero of {x.tolist()}", "NonZero", [x], [found], found.shape[1], np.zeros((x.ndim, x.size), "i8"))


def model_of(*nodes, shape=(6,)):
    m = Model(opset=13)
    m.input("x", FLOAT, list(shape))
    for op, inputs, outputs, attributes in nodes:
        m.node(op, inputs.split(), outputs.split(), name=f"{op} node", **attributes)
    m.output("y", FLOAT, None)
    return m


def converted(model, *options):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        model.save(folder / "m.onnx")
        return run("onnx-to-dlc", "-i", folder / "m.onnx", "-o", folder / "m.dlc", *options)


def test_behind(checks):
    """Nodes behind the filler are told of as behind NonZero."""
    done = converted(model_of(("Unique", "x", "u", {}), ("Relu", "u", "y", {})), "--pad_dynamic")
    checks.check("a function of what is different", done.returncode == 0 and "which are filler" not in done.stderr, done.stderr)
    done = converted(model_of(("Unique", "x", "u", {}), ("ReduceMean", "u", "y", {"axes": [0]})), "--pad_dynamic")
    checks.check("a mean of what is different", done.returncode == 0 and "which are filler" in done.stderr, done.stderr)
    sizes = model_of(("Unique", "x", "u", {}), ("Size", "u", "n", {}), ("Cast", "n", "y", {"to": FLOAT}))
    done = converted(sizes, "--pad_dynamic")
    checks.check("how many are different", done.returncode == 1 and "is a size that depends" in done.stderr, done.stderr)
    counts = model_of(("Unique", "x", "u i v c", {}), ("Cast", "c", "f", {"to": FLOAT}), ("ReduceSum", "f", "y", {}))
    done = converted(counts, "--pad_dynamic")
    checks.check("a sum of counts", done.returncode == 0 and "which are filler" in done.stderr, done.stderr)


def test_known(checks):
    """What is known has its own shape, and no count."""
    m = Model(opset=13)
    m.tensor("x", INT64, [4], [2, 1, 2, 1])
    m.input("z", FLOAT, [2])
    m.node("Unique", ["x"], ["u"], name="unique")
    m.node("Cast", ["u"], ["f"], to=FLOAT)
    m.node("Add", ["f", "z"], ["y"])
    m.output("y", FLOAT, [2])
    done = converted(m, "--pad_dynamic")
    checks.check("different known values", done.returncode == 0 and "worst-case" not in done.stderr, done.stderr)


def test_names(checks):
    """An output of the model keeps its name, whichever comes first, and each count has one."""
    for nodes in ([("Unique", "x", "y"), ("Relu", "x", "y_count")], [("Relu", "x", "y_count"), ("Unique", "x", "y")]):
        with tempfile.TemporaryDirectory() as temporary:
            folder, dlc = pathlib.Path(temporary), pathlib.Path(temporary) / "m.dlc"
            m = model_of(*((op, given, made, {}) for op, given, made in nodes), shape=[4])
            m.output("y_count", FLOAT, [4])
            m.save(folder / "m.onnx")
            done = run("onnx-to-dlc", "-i", folder / "m.onnx", "-o", dlc, "--pad_dynamic")
            name = "y_count.value" if nodes[0][0] == "Unique" else "y_count.1"
            if not checks.check("convert outputs that are called as counts are", done.returncode == 0, done.stderr):
                continue
            checks.check(f"{name} is told", name in done.stderr, done.stderr)
            done = run_on({"x": np.array([3, -1, 3, 2], "f4")}, dlc, folder)
            container = read_container(dlc, data=False)
            checks.equal("the model's output", result(folder, container, "y_count").tolist(), [3, 0, 3, 2])
            checks.equal(f"the count {name}", result(folder, container, name).tolist(), [3])


def test_refused(checks):
    x = np.zeros(3, "f4")
    refuses(checks, "--pad_dynamic makes room for all", "Unique", 11, [x])
    refuses(checks, "--pad_dynamic makes room for all", "com.microsoft::Unique", 11, [x])
    refuses(checks, "--pad_dynamic makes room for all", "Compress", 11, [x, np.zeros(3, "b1")])
    for name, model, part in (
            ("too many", model_of(("Unique", "x", "y", {}), shape=[10000]), "are more than 67108864 pairs"),
            ("nothing", model_of(("Unique", "x", "y", {}), shape=[2, 0]), "the input has no elements"),
            ("an axis outside", model_of(("Unique", "x", "y", {"axis": 1})), "axis"),
            ("flags of a matrix", model_of(("Cast", "x", "b", {"to": 9}), ("Compress", "x b", "y", {}), shape=[2, 2]), "do not fit axis 0"),
            ("no flags", model_of(("Cast", "x", "b", {"to": 9}), ("Compress", "x b", "y", {}), shape=[0]), "the list of flags is empty")):
        done = converted(model, "--pad_dynamic")
        checks.check(f"{name} is refused", done.returncode == 1 and part in done.stderr, done.stderr)


def main():
    checks = Checks()
    if np is None:
        checks.skip("results as large as values say", "python3-numpy is not there")
        checks.finish()
    for test in (test_unique, test_compress, test_nonzero, test_behind, test_known, test_names, test_refused):
        test(checks)
    checks.finish()


main()
