# SPDX-License-Identifier: Apache-2.0
"""ONNX shape, slice, index and constant operators, each as a model of one node that is converted and executed; NumPy says
what must come out. What cannot be converted must be refused with the reason."""

import pathlib
import tempfile

from one_node import Case, Const, as_stored, code_of, convert, execute, gives, np, onnx_tensor, refuses, result, same
from checks import Checks
from onnx_writer import INT32, Model

INF = float("inf")
BIG = (1 << 63) - 1


def ramp(*shape, dtype="f4"):
    return np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def test_reshapes(checks):
    x = ramp(2, 3, 4)
    gives(checks, "Reshape", 6, [x, Const([0, -1])], x.reshape(2, 12))
    gives(checks, "Reshape", 14, [x, Const([4, 0, 2])], x.reshape(4, 3, 2), allowzero=0)
    gives(checks, "Reshape", 13, [ramp(1), Const(np.zeros(0))], ramp(1).reshape(()))
    gives(checks, "Flatten", 9, [x], x.reshape(2, 12))
    gives(checks, "Flatten", 13, [x], x.reshape(6, 4), axis=-1)
    gives(checks, "Flatten", 13, [x], x.reshape(24, 1), axis=3)
    y = ramp(1, 3, 1, 2)
    gives(checks, "Squeeze", 11, [y], y.reshape(3, 2))
    gives(checks, "Squeeze", 11, [y], y.reshape(1, 3, 2), axes=[-2])
    gives(checks, "Squeeze", 13, [y, Const([0])], y.reshape(3, 1, 2))
    gives(checks, "Unsqueeze", 11, [x], x.reshape(1, 2, 3, 4, 1), axes=[4, 0])
    gives(checks, "Unsqueeze", 13, [x, Const([-2])], x.reshape(2, 3, 1, 4))
    refuses(checks, "has -1 twice", "Reshape", 13, [x, Const([-1, -1])])
    refuses(checks, "no value for -1", "Reshape", 13, [x, Const([5, -1])])
    refuses(checks, "has none there", "Reshape", 13, [x, Const([2, 3, 4, 0])])
    refuses(checks, "cannot be given the shape", "Reshape", 13, [x, Const([2, 3])])
    refuses(checks, "rank 9 is beyond 8", "Reshape", 13, [x, Const([1] * 9)])
    refuses(checks, "depends on the graph input in1", "Reshape", 13, [x, np.array([24])])
    refuses(checks, "axis 1 of [2,3,4] is not 1", "Squeeze", 13, [x, Const([1])])
    refuses(checks, "axes has axis 0 twice", "Unsqueeze", 13, [x, Const([0, -5])])


def test_order(checks):
    x = ramp(2, 3, 4, dtype="i8")
    gives(checks, "Transpose", 6, [x], x.transpose(2, 1, 0))
    gives(checks, "Transpose", 13, [x], x.transpose(1, 2, 0), perm=[1, 2, 0])
    gives(checks, "Concat", 6, [x, x], np.concatenate([x, x], 2), axis=2)
    gives(checks, "Concat", 13, [x, Const(np.zeros((2, 0, 4))), x[:, :1]], np.concatenate([x, x[:, :1]], 1), axis=-2)
    gives(checks, "Split", 11, [x], [x[:, :, :2], x[:, :, 2:]], axis=2)
    gives(checks, "Split", 11, [x], [x[:, :1], x[:, 1:]], axis=1, split=[1, 2])
    gives(checks, "Split", 13, [x, Const([3, 1])], [x[:, :, :3], x[:, :, 3:]], axis=-1)
    gives(checks, "Split", 18, [x], [x[:, :2], x[:, 2:]], axis=1, num_outputs=2)
    gives(checks, "Tile", 13, [x, Const([1, 2, 3])], np.tile(x, (1, 2, 3)))
    gives(checks, "Expand", 13, [x[:, :1], Const([5, 1, 3, 1])], np.broadcast_to(x[:, :1], (5, 2, 3, 4)))
    gives(checks, "Expand", 8, [np.array([np.nan, INF], "f4"), Const([2, 2])], np.array([[np.nan, INF]] * 2, "f4"))
    gives(checks, "Identity", 16, [x], x)
    gives(checks, "Dropout", 6, [ramp(2, 2)], ramp(2, 2), is_test=1)
    gives(checks, "Dropout", 13, [ramp(2, 2), Const(0.5, "f4"), Const(False, "?")], ramp(2, 2))
    refuses(checks, "perm has 2 axes", "Transpose", 13, [x], perm=[0, 1])
    refuses(checks, "perm has axis 1 twice", "Transpose", 13, [x], perm=[0, 1, 1])
    refuses(checks, "axis is missing", "Concat", 13, [x, x])
    refuses(checks, "cannot be joined", "Concat", 13, [x, x[:1]], axis=1)
    refuses(checks, "3 elements cannot be split into 2", "Split", 13, [x], n_outputs=2, axis=1)
    refuses(checks, "the parts have 5 elements in all", "Split", 13, [x, Const([2, 3])], n_outputs=2, axis=1)
    refuses(checks, "cannot be broadcast", "Expand", 13, [x, Const([2, 2, 4])])
    refuses(checks, "training mode", "Dropout", 6, [ramp(2, 2)])
    refuses(checks, "training mode", "Dropout", 13, [ramp(2, 2), Const(0.5, "f4"), Const(True, "?")])


def test_slices(checks):
    x = ramp(5, 6, dtype="f2")
    gives(checks, "Slice", 9, [x], x[1:3, -2:], axes=[0, 1], starts=[1, -2], ends=[3, BIG])
    gives(checks, "Slice", 9, [x], x[2:], starts=[2], ends=[1000])
    gives(checks, "Slice", 10, [x, Const([4], "i4"), Const([0], "i4")], x[4:0])
    gives(checks, "Slice", 13, [x, Const([-1]), Const([-BIG - 1]), Const([1]), Const([-2])], x[:, ::-2])
    gives(checks, "Slice", 13, [x, Const([4, 5]), Const([0, -7]), None, Const([-1, -1])], x[4:0:-1, ::-1])
    gives(checks, "Slice", 13, [x, Const([0]), Const([BIG]), Const([-1]), Const([BIG])], x[:, :1])
    # What ONNX Runtime gives backward to the largest int64 and int32, which the one below is not.
    gives(checks, "Slice", 13, [x, Const([-2]), Const([BIG]), Const([1]), Const([-1])], x[:, -2::-1])
    gives(checks, "Slice", 13, [x, Const([3], "i4"), Const([2**31 - 1], "i4"), Const([0], "i4"), Const([-2], "i4")],
          x[3::-2])
    gives(checks, "Slice", 13, [x, Const([-1]), Const([2**31 - 2]), Const([1]), Const([-1])], x[:, :0])
    refuses(checks, "differ in length", "Slice", 13, [x, Const([0]), Const([1, 2])])
    refuses(checks, "the step of axis 1 is 0", "Slice", 13, [x, Const([0]), Const([1]), Const([1]), Const([0])])
    refuses(checks, "axes has axis 0 twice", "Slice", 13, [x, Const([0, 0]), Const([1, 1]), Const([0, -2])])


def test_pads(checks):
    x = ramp(3, 4)
    wide = np.pad(x, ((1, 0), (0, 2)), constant_values=2.5)
    gives(checks, "Pad", 6, [x], wide, pads=[1, 0, 0, 2], value=2.5)
    gives(checks, "Pad", 11, [x, Const([1, 0, 0, 2]), Const(2.5, "f4")], wide)
    gives(checks, "Pad", 18, [x, Const([1, 2]), None, Const([-1])], np.pad(x, ((0, 0), (1, 2))))
    gives(checks, "Pad", 11, [x, Const([-1, 1, 0, -2])], np.pad(x[1:, :2], ((0, 0), (1, 0))))
    gives(checks, "Pad", 11, [x, Const([0, -1, -1, 0])], x[:2, 1:])
    ints = ramp(2, 2, dtype="i8")
    gives(checks, "Pad", 11, [ints, Const([0, 0, 0, 1]), Const(-7)], np.pad(ints, ((0, 0), (0, 1)), constant_values=-7))
    for mode in ("reflect", "edge"):
        gives(checks, "Pad", 11, [x, Const([2, 1, 0, 3])], np.pad(x, ((2, 0), (1, 3)), mode), mode=mode)
    gives(checks, "Pad", 13, [x, Const([5, 0, 4, 9])], np.pad(x, ((5, 4), (0, 9)), "reflect"), mode="reflect")
    # Not np.pad: NumPy before 1.25 does not repeat the tensor as a whole.
    wrapped = x.take(range(-4, 5), 0, mode="wrap").take(range(9), 1, mode="wrap")
    gives(checks, "Pad", 19, [x, Const([4, 0, 2, 5])], wrapped, mode="wrap")
    refuses(checks, "loses more than it has", "Pad", 11, [x, Const([-2, 0, -2, 0])])
    refuses(checks, "unknown mode spiral", "Pad", 11, [x, Const([1, 0, 0, 0])], mode="spiral")
    refuses(checks, "3 pads for 2 axes", "Pad", 11, [x, Const([1, 0, 0])])


def test_gathers(checks):
    x = ramp(3, 4)
    where = np.array([[2, -1], [0, 1]])
    gives(checks, "Gather", 11, [x, Const(where)], x[where])
    gives(checks, "Gather", 13, [x, where], x[where])
    gives(checks, "Gather", 13, [x, Const(-2)], x[:, 2], axis=1)
    gives(checks, "Gather", 13, [x, np.array(2)], x[2])
    picked = np.array([[3, -4, 0]])
    gives(checks, "GatherElements", 13, [x, Const(picked)], np.take_along_axis(x[:1], picked % 4, 1), axis=1)
    gives(checks, "GatherND", 13, [x, Const([[2, -1], [0, 0]])], x[[2, 0], [3, 0]])
    gives(checks, "GatherND", 12, [x, Const([[-1], [0], [1]])], x[[0, 1, 2], [3, 0, 1]], batch_dims=1)
    keep = np.array([0, 1, 1, 0, 1], "?")
    gives(checks, "Compress", 11, [x, Const(keep, "?")], x.reshape(-1)[:5][keep])
    gives(checks, "Compress", 11, [x, Const([1, 0, 1], "?")], x[:, [0, 2]], axis=1)
    reversed_rows = np.array([[2, 1, 3, 4], [5, 6, 7, 8], [11, 10, 9, 12]], "f4")
    gives(checks, "ReverseSequence", 10, [x, Const([2, 1, 3])], reversed_rows, batch_axis=0, time_axis=1)
    reversed_columns = np.array([[1, 6, 11, 4], [5, 2, 7, 8], [9, 10, 3, 12]], "f4")
    gives(checks, "ReverseSequence", 10, [x, Const([1, 2, 3, 0])], reversed_columns, batch_axis=1, time_axis=0)
    refuses(checks, "index 3 is outside an axis of 3", "Gather", 13, [x, Const([3])])
    refuses(checks, "index -5 is outside an axis of 4", "GatherND", 13, [x, Const([[0, -5]])])
    refuses(checks, "coordinates of 3 values", "GatherND", 13, [x, Const([[0, 0, 0]])])
    refuses(checks, "not the first two axes", "ReverseSequence", 10, [x, Const([1, 1, 1])], batch_axis=2**63 - 1, time_axis=1)
    refuses(checks, "the length 5 is outside", "ReverseSequence", 10, [x, Const([5, 1, 1])], batch_axis=0, time_axis=1)


def test_tables_too_large(checks):
    """A few bytes that ask for a huge constant: an error at the node, not a lack of memory."""
    x, many = ramp(3, 4), 1 << 40
    wide = np.broadcast_to(np.float32(0), (1 << 20, 1 << 20))
    for message, op, opset, inputs, attributes in (
            (f"{many + 3} elements would have", "Pad", 13, [x, Const([0, 0, many, 0])], {"mode": "reflect"}),
            (f"{1 << 30} elements would have", "Range", 13, [Const(0), Const(1 << 30), Const(1)], {}),
            (f"{1 << 30} elements would have", "Range", 13, [Const(0, "f4"), Const(1 << 30, "f4"), Const(1, "f4")], {}),
            (f"{many} elements would have", "EyeLike", 13, [wide], {}),
            (f"{many} elements would have", "Trilu", 14, [wide], {})):
        refuses(checks, message, op, opset, inputs, **attributes)


def test_scatters(checks):
    x = np.array([5, 1, 4, 2], "f4")
    where, values = Const([1, -1, 1]), np.array([3, 9, -2], "f4")
    gives(checks, "Scatter", 9, [x, Const([3, 0]), values[:2]], np.array([9, 1, 4, 3], "f4"))
    gives(checks, "ScatterElements", 16, [x, where, values], np.array([5, 2, 4, 11], "f4"), reduction="add")
    gives(checks, "ScatterElements", 16, [x, where, values], np.array([5, -6, 4, 18], "f4"), reduction="mul")
    gives(checks, "ScatterElements", 18, [x, where, values], np.array([5, 3, 4, 9], "f4"), reduction="max")
    gives(checks, "ScatterElements", 18, [x, where, values], np.array([5, -2, 4, 2], "f4"), reduction="min")
    m, rows = ramp(3, 2), Const([[2], [-3], [2]])
    updates = np.array([[7, 0], [-1, 9], [5, 50]], "f4")
    gives(checks, "ScatterND", 11, [m, Const([[0, 1], [2, 0]]), values[:2]], np.array([[1, 3], [3, 4], [9, 6]], "f4"))
    gives(checks, "ScatterND", 16, [m, rows, updates], np.array([[0, 11], [3, 4], [17, 56]], "f4"), reduction="add")
    gives(checks, "ScatterND", 18, [m, rows, updates], np.array([[1, 9], [3, 4], [7, 50]], "f4"), reduction="max")
    gives(checks, "ScatterND", 18, [m, rows, updates], np.array([[-1, 2], [3, 4], [5, 0]], "f4"), reduction="min")
    refuses(checks, "unknown reduction mean", "ScatterND", 18, [m, rows, updates], reduction="mean")
    gives(checks, "ScatterND", 18, [m, rows.array, updates], np.array([[1, 9], [3, 4], [7, 50]], "f4"), reduction="max")
    gives(checks, "ScatterND", 18, [m, rows.array, updates], np.array([[-1, 2], [3, 4], [5, 0]], "f4"), reduction="min")
    empty = np.zeros((0, 2), "i8")
    gives(checks, "ScatterND", 11, [m, Const(empty), Const(np.zeros((0, 3, 4)), "f4")], np.array([[1, 2], [3, 4], [5, 6]], "f4"))
    low = np.array([-2**31, 5], "i4")
    gives(checks, "ScatterElements", 18, [low, Const([1, 0]), np.array([-7, 2**31 - 1], "i4")],
          np.array([-2**31, -7], "i4"), reduction="min")
    gives(checks, "ScatterElements", 18, [np.array([0, 255], "u1"), Const([1, 0]), np.array([7, 255], "u1")],
          np.array([0, 7], "u1"), reduction="min")


def test_one_hot_and_top_k(checks):
    classes = np.array([[1, -1], [7, 0]])
    eye = np.eye(3, dtype="f4")
    hot = np.stack([eye[[1, 2]], [[0, 0, 0], eye[0]]]).astype("f4")
    gives(checks, "OneHot", 11, [classes, Const(3), Const([0, 1], "f4")], hot)
    gives(checks, "OneHot", 11, [classes, Const([3]), Const([-1, 4])], (hot * 5 - 1).astype("i8").transpose(0, 2, 1),
          axis=1)
    gives(checks, "OneHot", 11, [np.array(2), Const(3), Const([0, 1], "f4")], eye[2])
    gives(checks, "OneHot", 11, [np.array([2.0, 0.0], "f4"), Const(3), Const([0, 1], "f4")], eye[[2, 0]])
    x = np.array([[3, 9, -1], [9, 0, 2]], "f4")
    gives(checks, "TopK", 9, [x], [np.array([[9, 3], [9, 2]], "f4"), np.array([[1, 0], [0, 2]])], k=2)
    gives(checks, "TopK", 10, [x, Const([1])], [np.array([[9, 9, 2]], "f4"), np.array([[1, 0, 1]])], axis=0)
    gives(checks, "TopK", 11, [x, Const([1])], [np.array([[-1], [0]], "f4"), np.array([[2], [1]])], largest=0)
    refuses(checks, "K is not a number from 1 to the 3", "TopK", 11, [x, Const([4])], n_outputs=2)
    refuses(checks, "depth is not one positive number", "OneHot", 11, [classes, Const(0), Const([0, 1], "f4")])


def with_constant(checks, op, opset, inputs, expected, **attributes):
    """A node whose result is known: it is added to a graph input, so that the graph has something to do."""
    zeros = np.zeros_like(expected)
    with tempfile.TemporaryDirectory() as temporary:
        folder, model = pathlib.Path(temporary), Model(opset=opset)
        names = []
        for i, value in enumerate(inputs):
            names.append(f"in{i}")
            if isinstance(value, Const):
                model.tensor(names[i], code_of(value.array), value.array.shape, raw=value.array.tobytes())
            else:
                model.input(names[i], code_of(value), value.shape)
        attributes = {key: onnx_tensor(v) if isinstance(v, np.ndarray) else v for key, v in attributes.items()}
        model.input("zero", code_of(zeros), zeros.shape)
        model.node(op, names, ["known"], name="node", **attributes)
        model.node("Add", ["known", "zero"], ["out"])
        model.output("out", code_of(expected), expected.shape)
        model.save(folder / "model.onnx")
        given = {f"in{i}": value for i, value in enumerate(inputs) if not isinstance(value, Const)}
        case = Case(op, folder / "model.onnx", {**given, "zero": zeros}, {"out": expected})
        done, dlc = convert(case, folder)
        if not checks.check(f"convert {op} {attributes}", done.returncode == 0, done.stderr):
            return
        done, container = execute(case, dlc, folder)
        if checks.check(f"execute {op} {attributes}", done.returncode == 0, done.stderr):
            found = result(folder, container, "out")
            stored = as_stored(expected, container.tensors["out"])
            checks.check(f"{op} {attributes}", same(found, stored), f"found {found.tolist()}")


def test_constants(checks):
    x = ramp(2, 3, 4)
    with_constant(checks, "Constant", 9, [], ramp(2, 3), value=ramp(2, 3))
    with_constant(checks, "Constant", 12, [], np.array([1.5, 2], "f4"), value_floats=[1.5, 2.0])
    with_constant(checks, "Constant", 12, [], np.array([7, -7]), value_ints=[7, -7])
    with_constant(checks, "Constant", 13, [], np.array(0.5, "f4"), value_float=0.5)
    with_constant(checks, "Constant", 13, [], np.array(3), value_int=3)
    with_constant(checks, "ConstantOfShape", 9, [Const([2, 2])], np.full((2, 2), 7, "i4"), value=np.array([7], "i4"))
    with_constant(checks, "ConstantOfShape", 9, [Const([3])], np.zeros(3, "f4"))
    with_constant(checks, "Shape", 13, [x], np.array([2, 3, 4]))
    with_constant(checks, "Shape", 15, [x], np.array([3]), start=-2, end=-1)
    with_constant(checks, "Shape", 15, [x], np.array([2, 3, 4]), start=-9, end=9)
    with_constant(checks, "Size", 13, [x], np.array(24))
    with_constant(checks, "Range", 11, [Const(7), Const(0), Const(-3)], np.arange(7, 0, -3))
    with_constant(checks, "Range", 11, [Const(v, "f4") for v in (0, 1, 0.25)], np.arange(0, 1, 0.25, "f4"))
    with_constant(checks, "EyeLike", 9, [x[0]], np.eye(3, 4, 1, "f4"), k=1)
    with_constant(checks, "EyeLike", 9, [x[0]], np.eye(3, 4, -2, "i4"), k=-2, dtype=INT32)
    with_constant(checks, "NonZero", 13, [Const([[0, 2], [3, 0]])], np.array([[0, 1], [1, 0]]))
    square = np.array([[1, np.nan, 3], [INF, 5, -INF]], "f4")
    mask = np.triu(np.ones((2, 3), "?"), 1)
    gives(checks, "Trilu", 14, [square, Const(1)], np.where(mask, square, 0).astype("f4"))
    gives(checks, "Trilu", 14, [x], np.tril(x), upper=0)
    refuses(checks, "has no end", "Range", 11, [Const(0), Const(5), Const(0)])
    refuses(checks, "not a matrix", "EyeLike", 9, [x])
    refuses(checks, "the shape [2,-1] is not possible", "ConstantOfShape", 9, [Const([2, -1])])


def main():
    checks = Checks()
    if np is None:
        checks.skip("shape operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_reshapes, test_order, test_slices, test_pads, test_tables_too_large, test_gathers,
                 test_scatters, test_one_hot_and_top_k, test_constants):
        test(checks)
    checks.finish()


main()
