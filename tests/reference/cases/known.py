# SPDX-License-Identifier: Apache-2.0
"""Operators whose result is known at conversion: Shape and its relatives, Fill, Range, LinSpace; Where, Unique, ListDiff; and
diagonals."""

import numpy as np
from case import Cases

CASES = Cases()
DTYPES = (np.float32, np.float16, np.int32, np.int64, np.bool_)


def ints(c, values, dtype=np.int32):
    return c.const(np.array(values, dtype))


def shapes():
    for given in ([2, 3, 4], [5], [], [0, 2], [1] * 8):
        c = CASES.new(f"shape, size and rank of {given}")
        x = c.input(given)
        c.gives(c.node("Shape", [x]), c.node("Size", [x]), c.node("Rank", [x]))
    for dtype in (np.int32, np.int64):
        c = CASES.new(f"shapes in {np.dtype(dtype).name}")
        x, y = c.input([2, 3]), c.input([4])
        both = c.node("ShapeN", [x, y], out_type=dtype)
        c.gives(c.node("Shape", [x], out_type=dtype), c.node("Size", [x], out_type=dtype), both, both[1])
        c = CASES.new(f"broadcast arguments in {np.dtype(dtype).name}")
        c.gives(c.node("BroadcastArgs", [ints(c, [2, 1, 3], dtype), ints(c, [4, 1], dtype)]),
                c.node("BroadcastArgs", [ints(c, [], dtype), ints(c, [2], dtype)]))
    c = CASES.new("broadcast arguments that do not match")
    c.node("BroadcastArgs", [ints(c, [2, 3]), ints(c, [2])])
    c.refused("[2,3] and [2] cannot be broadcast")


def strings():
    """What holds no numbers has a shape, which is known, and may be moved until then."""
    c = CASES.new("shapes of strings")
    words = c.const(np.array([b"a", b"few", b"words"], object))
    pair = c.node("Pack", [words, c.node("ReverseV2", [words, ints(c, [0])])])
    joined = c.node("ConcatV2", [pair, c.node("Tile", [c.node("Slice", [pair, ints(c, [0, 1]), ints(c, [1, -1])]), ints(c, [2, 1])]),
                                 ints(c, 1)])
    column = c.node("ExpandDims", [c.node("Transpose", [joined, ints(c, [1, 0])]), ints(c, 1)])
    picked = c.node("GatherV2", [c.node("Reshape", [column, ints(c, [-1])]), ints(c, [[0, 3]]), ints(c, 0)])
    c.gives(c.node("Shape", [column]), c.node("Size", [joined]), c.node("Rank", [picked]), c.node("Shape", [picked]))
    c = CASES.new("zeros like strings")
    c.node("ZerosLike", [c.const(np.array([b"a"], object))])
    c.refused("input 0 holds strings, which the operator does not take")


def fills():
    for dims in ([2, 3], [], [0], [1, 1]):
        for dtype in DTYPES:
            c = CASES.new(f"fill {dims} with {np.dtype(dtype).name}")
            c.gives(c.node("Fill", [ints(c, dims), c.const(np.array(1.5, dtype))]))
    c = CASES.new("fill with any number, int64 dims")
    c.gives(c.node("Fill", [ints(c, [2, 3], np.int64), c.input([])], index_type=np.int64), within=0)
    c = CASES.new("fill with a list")
    c.node("Fill", [ints(c, [2]), c.input([2])])
    c.refused("value is not one element")
    c = CASES.new("fill of a negative dim")
    c.node("Fill", [ints(c, [2, -1]), c.const(np.float32(0))])
    c.refused("is not possible")
    for dtype in DTYPES:
        c = CASES.new(f"zeros and ones like {np.dtype(dtype).name}")
        x = c.input([2, 3], dtype)
        c.gives(c.node("ZerosLike", [x]), c.node("OnesLike", [x]), c.node("Empty", [ints(c, [3])], dtype=dtype, init=True))
    c = CASES.new("ones like an empty one and a scalar")
    c.gives(c.node("OnesLike", [c.input([0, 2])]), c.node("ZerosLike", [c.input([])]))


def ranges():
    for start, limit, delta in ((0, 5, 1), (2, 11, 3), (5, 0, -2), (3, 3, 1), (-3, 3, 1)):
        for dtype in (np.int32, np.int64, np.float32, np.float64):
            c = CASES.new(f"range {start} {limit} {delta} of {np.dtype(dtype).name}")
            c.gives(c.node("Range", [c.const(np.array(v, dtype)) for v in (start, limit, delta)]))
    for start, limit, delta in ((0, 0.3, 0.1), (0, 1, 0.1), (1, 0, -0.3), (0.5, 0.5, 1), (0, 0.9, 0.3), (1e6, 1e6 + 1, 0.1)):
        c = CASES.new(f"range {start} {limit} {delta}")
        c.gives(c.node("Range", [c.const(np.float32(v)) for v in (start, limit, delta)]))
    for start, limit, delta in ((0, 5, 0), (0, 5, -1), (5, 0, 1)):
        for dtype in (np.int32, np.float32):
            c = CASES.new(f"no range {start} {limit} {delta} of {np.dtype(dtype).name}")
            c.node("Range", [c.const(np.array(v, dtype)) for v in (start, limit, delta)])
            c.refused("there is no range from")
    c = CASES.new("range of a number that is not known")
    c.node("Range", [ints(c, 0), c.input([], np.int32, name="limit"), ints(c, 1)])
    c.refused("fix it with --freeze_input limit:0=FILE")
    for start, stop, num in ((0, 1, 5), (2, -2, 3), (1, 1, 4), (3, 7, 1), (0, 1, 7)):
        for dtype in (np.float32, np.float64):
            c = CASES.new(f"{num} numbers from {start} to {stop} of {np.dtype(dtype).name}")
            c.gives(c.node("LinSpace", [c.const(np.array(start, dtype)), c.const(np.array(stop, dtype)), ints(c, num)]))
    c = CASES.new("no numbers")
    c.node("LinSpace", [c.const(np.float32(0)), c.const(np.float32(1)), ints(c, 0)])
    c.refused("num is 0")


def diagonals():
    for given in ([3], [2, 3], [1], [2, 1, 2]):
        for constant in (False, True):
            c = CASES.new(f"diagonal of {given}, {constant=}")
            c.gives(c.node("Diag", [c.either(constant, given)]), within=0)
            c = CASES.new(f"diagonal part of {given + given}, {constant=}")
            c.gives(c.node("DiagPart", [c.either(constant, given + given)]), within=0)
    for dtype in (np.float16, np.int32, np.int64):
        c = CASES.new(f"diagonals of {np.dtype(dtype).name}")
        c.gives(c.node("Diag", [c.input([3], dtype)]), c.node("DiagPart", [c.input([3, 3], dtype)]))
    c = CASES.new("diagonal part of no square")
    c.node("DiagPart", [c.input([2, 3])])
    c.refused("[2,3] is not the shape of a square")
    c = CASES.new("diagonal of rank 10")
    c.node("Diag", [c.input([1] * 5)])
    c.refused("more than 8 axes")


def positions():
    for given in ([5], [2, 3], [2, 2, 2], [0]):
        for dtype in (np.bool_, np.float32, np.int32):
            c = CASES.new(f"where of {given} {np.dtype(dtype).name}")
            c.gives(c.node("Where", [c.random_const(given, dtype, 0, 1)]))
    c = CASES.new("where of a scalar")
    c.node("Where", [c.const(np.array(True))])
    c.refused("the input has no axis")
    for dtype in (np.int32, np.int64):
        c = CASES.new(f"unravel {np.dtype(dtype).name}")
        dims = ints(c, [3, 4, 5], dtype)
        c.gives(c.node("UnravelIndex", [ints(c, [0, 59, 21], dtype), dims]), c.node("UnravelIndex", [ints(c, 33, dtype), dims]))
    c = CASES.new("unravel an index outside")
    c.node("UnravelIndex", [ints(c, [12]), ints(c, [3, 4])])
    c.refused("index 12 is outside 12 elements")


def uniques():
    for dtype in (np.float32, np.float16, np.int32, np.int64, np.uint8):
        for index in (np.int32, np.int64):
            c = CASES.new(f"unique of {np.dtype(dtype).name}, {np.dtype(index).name} indices")
            x = ints(c, [3, 1, 3, 2, 1, 7], dtype)
            y, counted = c.node("Unique", [x], out_idx=index), c.node("UniqueWithCounts", [x], out_idx=index)
            c.gives(y, y[1], counted, counted[1], counted[2])
            c = CASES.new(f"difference of {np.dtype(dtype).name}, {np.dtype(index).name} indices")
            y = c.node("ListDiff", [x := ints(c, [3, 1, 3, 2, 1, 7], dtype), ints(c, [1, 9, 2], dtype)], out_idx=index)
            c.gives(y, y[1])
    rows = [[1, 2, 1], [3, 2, 3], [1, 2, 1]]
    for axis in ([0], [1], [-1]):
        c = CASES.new(f"unique slices along {axis}")
        x = ints(c, rows, np.float32)
        y, counted = c.node("UniqueV2", [x, ints(c, axis)]), c.node("UniqueWithCountsV2", [x, ints(c, axis, np.int64)])
        c.gives(y, y[1], counted, counted[1], counted[2])
    c = CASES.new("unique, no axis")
    y = c.node("UniqueV2", [ints(c, [4, 4, 2]), ints(c, [])])
    c.gives(y, y[1])
    c = CASES.new("nothing is different")
    y = c.node("ListDiff", [ints(c, [1, 2]), ints(c, [2, 1])])
    c.gives(y, y[1])
    c = CASES.new("unique of any")
    c.node("Unique", [c.input([3], name="x")])
    c.refused("the shapes of the results depend on its values")
    c = CASES.new("unique of a matrix")
    c.node("Unique", [ints(c, rows)])
    c.refused("0 axes for a tensor of rank 2")
    c = CASES.new("difference of any")
    c.node("ListDiff", [c.input([3], name="x"), c.const(np.float32([1]))])
    c.refused("the shapes of the results depend on its values")


shapes()
strings()
fills()
ranges()
diagonals()
positions()
uniques()
