# SPDX-License-Identifier: Apache-2.0
"""Operators that rearrange elements: Reshape and its relatives, Transpose, Concat, Split, Pack, Tile; and their way through
layouts."""

import numpy as np
from case import Cases
from tf_writer import Shape

CASES = Cases()
DTYPES = (np.float32, np.float16, np.int32, np.int64, np.bool_)


def ints(c, values, dtype=np.int32):
    return c.const(np.array(values, dtype))


def reshapes():
    for given, wanted in (([2, 3, 4], [4, 6]), ([2, 3, 4], [-1]), ([2, 3, 4], [2, -1, 2]), ([6], [2, 3, 1]), ([1, 1], []),
                          ([], [1, 1]), ([0, 3], [3, -1]), ([2, 0], [0, 5]), ([1, 4, 4, 3], [1, 48]),
                          ([2, 1, 3, 1, 2, 1, 2, 1], [1, 2, 3, 2, 1, 2, 1, 1])):
        for constant in (False, True):
            c = CASES.new(f"reshape {given} to {wanted}, {constant=}")
            c.gives(c.node("Reshape", [c.either(constant, given), ints(c, wanted)]), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"reshape of {np.dtype(dtype).name}, int64 shape")
        c.gives(c.node("Reshape", [c.input([2, 6], dtype), ints(c, [3, 4], np.int64)], Tshape=np.int64))
    for wanted, part in (([5, -1], "no value for -1"), ([-1, -1], "-1 twice"), ([7], "cannot be given the shape"),
                         ([-2, 6], "is not possible"), ([1] * 9, "rank 9 is beyond 8")):
        c = CASES.new(f"reshape to {wanted}")
        c.node("Reshape", [c.input([2, 6]), ints(c, wanted)])
        c.refused(part)
    c = CASES.new("reshape to a shape that is not known")
    c.node("Reshape", [c.input([2, 6]), c.input(np.array([3, 4], np.int32), name="dims")])
    c.refused("fix it with --freeze_input dims:0=FILE")


def squeezes():
    for given, dims in (([1, 2, 1, 3], None), ([1, 2, 1, 3], []), ([1, 2, 1, 3], [0]), ([1, 2, 1, 3], [2, -4]), ([1], None),
                        ([2, 3], None), ([1, 0, 1], [0])):
        c = CASES.new(f"squeeze {dims} of {given}")
        c.gives(c.node("Squeeze", [c.input(given)], **({} if dims is None else {"squeeze_dims": dims})), within=0)
    for dims, part in (([1], "axis 1 of [1,2,1,3] is not 1"), ([4], "is outside a tensor of rank 4"), ([0, -4], "twice")):
        c = CASES.new(f"squeeze {dims}")
        c.node("Squeeze", [c.input([1, 2, 1, 3])], squeeze_dims=dims)
        c.refused(part)
    for given in ([2, 3], []):
        for axis in range(-len(given) - 1, len(given) + 1):
            c = CASES.new(f"expand dims of {given} at {axis}")
            c.gives(c.node("ExpandDims", [c.input(given), ints(c, axis)]), within=0)
    c = CASES.new("expand dims, int64 axis in a list")
    c.gives(c.node("ExpandDims", [c.input([2], np.int32), ints(c, [1], np.int64)], Tdim=np.int64))
    for given, axis, part in (([2, 3], 3, "dim 3 is outside a tensor of rank 3"), ([1] * 8, 0, "more than 8 axes")):
        c = CASES.new(f"expand dims of {given} at {axis}")
        c.node("ExpandDims", [c.input(given), ints(c, axis)])
        c.refused(part)
    for shape in ([2, 3], [None, 3], [None, None]):
        c = CASES.new(f"ensure shape {shape}")
        c.gives(c.node("EnsureShape", [c.input([2, 3])], shape=Shape(shape)), within=0)
    c = CASES.new("ensure another shape")
    c.node("EnsureShape", [c.input([2, 3])], shape=Shape([2, 4]))
    c.refused("the input has the shape [2,3]")


def transposes():
    for given, perm in (([2, 3], [1, 0]), ([2, 3, 4], [2, 0, 1]), ([2, 3, 4], [0, 1, 2]), ([], []), ([1, 4, 5, 3], [0, 3, 1, 2]),
                        ([0, 3], [1, 0]), ([2, 1, 2, 3, 1, 2, 1, 2], [7, 0, 6, 1, 5, 2, 4, 3])):
        for constant in (False, True):
            c = CASES.new(f"transpose {given} by {perm}, {constant=}")
            c.gives(c.node("Transpose", [c.either(constant, given), ints(c, perm)]), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"transpose of {np.dtype(dtype).name}, int64 perm")
        c.gives(c.node("Transpose", [c.input([2, 3, 4], dtype), ints(c, [1, 2, 0], np.int64)], Tperm=np.int64))
    c = CASES.new("conjugate transpose of reals")
    c.gives(c.node("ConjugateTranspose", [c.input([2, 3]), ints(c, [1, 0])]), within=0)
    for perm, part in (([0, 0], "has axis 0 twice"), ([0], "perm has 1 axes for a tensor of rank 2")):
        c = CASES.new(f"transpose of a matrix by {perm}")
        c.node("Transpose", [c.input([2, 3]), ints(c, perm)])
        c.refused(part)


def concats():
    for shapes, axis in (([[2, 3], [2, 1]], 1), ([[2, 3], [4, 3], [1, 3]], 0), ([[2], [3]], -1), ([[2, 0, 3], [2, 4, 3]], -2),
                         ([[0, 3], [0, 2]], 1), ([[2, 3, 0], [2, 1, 0]], 1), ([[0, 3], [0, 3]], 0), ([[1, 2, 2, 3], [1, 2, 2, 5]], 3)):
        for constant in (False, True):
            c = CASES.new(f"concat {shapes} along {axis}, {constant=}")
            parts = [c.either(constant and i, shape) for i, shape in enumerate(shapes)]
            c.gives(c.node("ConcatV2", [*parts, ints(c, axis)]), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"concat of {np.dtype(dtype).name}, axis first")
        c.gives(c.node("Concat", [ints(c, 1), c.input([2, 3], dtype), c.input([2, 2], dtype)]))
        c = CASES.new(f"concat of {np.dtype(dtype).name}, int64 axis")
        c.gives(c.node("ConcatV2", [c.input([2, 3], dtype), c.input([2, 2], dtype), ints(c, 1, np.int64)]))
    c = CASES.new("parallel concat")
    c.gives(c.node("ParallelConcat", [c.input([1, 3]), c.input([1, 3])], shape=Shape([2, 3])), within=0)
    for shapes, axis, part in (([[2, 3], [3, 3]], 1, "cannot be joined"), ([[2, 3], [2, 3]], 2, "is outside a tensor of rank 2")):
        c = CASES.new(f"concat {shapes} along {axis}")
        c.node("ConcatV2", [*map(c.input, shapes), ints(c, axis)])
        c.refused(part)


def packs():
    for given in ([2, 3], []):
        for axis in range(-len(given) - 1, len(given) + 1):
            for constant in (False, True):
                c = CASES.new(f"pack of {given} at {axis}, {constant=}")
                c.gives(c.node("Pack", [c.either(constant, given), c.input(given)], axis=axis), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"pack and unpack of {np.dtype(dtype).name}")
        packed = c.node("Pack", [c.input([2, 3], dtype), c.input([2, 3], dtype), c.input([2, 3], dtype)])
        unpacked = c.node("Unpack", [packed], num=3)
        c.gives(packed, unpacked, unpacked[2])
    c = CASES.new("pack of one")
    c.gives(c.node("Pack", [c.input([2])]), within=0)
    c = CASES.new("pack of different shapes")
    c.node("Pack", [c.input([2]), c.input([3])])
    c.refused("cannot be joined")
    for axis in (0, 1, -1):
        c = CASES.new(f"unpack at {axis}")
        y = c.node("Unpack", [c.input([2, 3, 4])], num=[2, 3, 4][axis], axis=axis)
        c.gives(y, y[1], within=0)
        c = CASES.new(f"unpack at {axis}, one of them")
        y = c.node("Unpack", [c.input([2, 3, 4])], num=[2, 3, 4][axis], axis=axis)
        c.gives(y[1], within=0)
    c = CASES.new("unpack of a constant list")
    y = c.node("Unpack", [ints(c, [3, 5])], num=2)
    c.gives(c.node("Pack", [y[1], y, y]))
    c = CASES.new("unpack one")
    c.gives(c.node("Unpack", [c.input([1, 3])], num=1), within=0)
    c = CASES.new("unpack another number")
    c.node("Unpack", [c.input([2, 3])], num=3)
    c.refused("3 parts of an axis of 2 elements")


def splits():
    for axis, parts, reads in ((1, 3, (0, 1, 2)), (-1, 2, (0, 1)), (0, 1, (0,)), (1, 6, (0, 1, 3)), (1, 3, (0,)), (1, 3, (2,))):
        for constant in (False, True):
            c = CASES.new(f"split in {parts} along {axis}, {reads} read, {constant=}")
            y = c.node("Split", [ints(c, axis), c.either(constant, [2, 6])], num_split=parts)
            c.gives(*(y[k] for k in reads), within=0)
    for sizes, reads in (([1, 2, 3], (0, 1, 2)), ([1, -1, 3], (0, 1, 2)), ([0, 6], (0, 1)), ([6], (0,)), ([1, 4, -1], (0,)),
                         ([2, 1, 2, 1], (0, 1))):
        for dtype in (np.int32, np.int64):
            c = CASES.new(f"split in {sizes} of {np.dtype(dtype).name}, {reads} read")
            y = c.node("SplitV", [c.input([2, 6]), ints(c, sizes, dtype), ints(c, 1)], num_split=len(sizes))
            c.gives(*(y[k] for k in reads), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"split of {np.dtype(dtype).name}")
        y = c.node("Split", [ints(c, 0), c.input([4, 2], dtype)], num_split=2)
        c.gives(y, y[1])
    c = CASES.new("split in unequal parts")
    c.node("Split", [ints(c, 1), c.input([2, 6])], num_split=4)
    c.refused("6 elements cannot be split into 4 equal parts")
    for sizes, part in (([1, 2], "the parts leave 3 of 6 elements"), ([5, 2], "part 1 of 2 elements does not fit"),
                        ([-1, -1], "part 1 of -1 elements")):
        c = CASES.new(f"split in {sizes}")
        c.node("SplitV", [c.input([2, 6]), ints(c, sizes), ints(c, 1)], num_split=len(sizes))
        c.refused(part)


def tiles():
    for given, multiples in (([2, 3], [2, 1]), ([2, 3], [1, 1]), ([3], [4]), ([], []), ([2, 3], [0, 1]), ([1, 2, 1, 3], [2, 1, 2, 2])):
        for constant in (False, True):
            c = CASES.new(f"tile {given} by {multiples}, {constant=}")
            c.gives(c.node("Tile", [c.either(constant, given), ints(c, multiples)]), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"tile of {np.dtype(dtype).name}, int64 multiples")
        c.gives(c.node("Tile", [c.input([2, 1], dtype), ints(c, [2, 3], np.int64)], Tmultiples=np.int64))
        c = CASES.new(f"broadcast of {np.dtype(dtype).name}, int64 shape")
        c.gives(c.node("BroadcastTo", [c.input([2, 1], dtype), ints(c, [3, 2, 4], np.int64)], Tidx=np.int64))
    for given, shape in (([], [2, 3]), ([3], [2, 3]), ([1], [0]), ([2, 3], [2, 3]), ([1, 2, 1], [4, 3, 2, 5])):
        for constant in (False, True):
            c = CASES.new(f"broadcast {given} to {shape}, {constant=}")
            c.gives(c.node("BroadcastTo", [c.either(constant, given), ints(c, shape)]), within=0)
    c = CASES.new("tile by too few")
    c.node("Tile", [c.input([2, 3]), ints(c, [2])])
    c.refused("1 multiples for a tensor of rank 2")
    for shape in ([2, 1], [3]):
        c = CASES.new(f"broadcast [2,3] to {shape}")
        c.node("BroadcastTo", [c.input([2, 3]), ints(c, shape)])
        c.refused("cannot be broadcast to")


reshapes()
squeezes()
transposes()
concats()
packs()
splits()
tiles()
