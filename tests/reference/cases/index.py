# SPDX-License-Identifier: Apache-2.0
"""Operators that read and write at positions: Gather, Scatter, OneHot, TopK, ReverseSequence, DynamicStitch, DynamicPartition."""

import numpy as np
from case import Cases

CASES = Cases()
DTYPES = (np.float32, np.float16, np.int32, np.int64, np.bool_)


def ints(c, values, dtype=np.int32):
    return c.const(np.array(values, dtype))


def where(constant):
    return "constant indices" if constant else "any indices"


def gathers():
    for given, shape, axis in (([5, 3], [4], 0), ([5, 3], [], 0), ([5, 3], [2, 2], 0), ([5, 3], [4], 1), ([2, 3, 4], [3], -1),
                               ([2, 3, 4], [], 1), ([2, 3, 4], [2, 2], 1), ([5, 3], [0], 0), ([1, 4, 4, 6], [3], 3)):
        for constant in (False, True):
            c = CASES.new(f"gather {shape} of {given} along {axis}, {where(constant)}")
            at = c.either(constant, shape, np.int32, 0, given[axis] - 1)
            c.gives(c.node("GatherV2", [c.input(given), at, ints(c, axis)]), within=0)
    for given, shape, axis, batch in (([2, 5, 3], [2, 4], 1, 1), ([2, 5, 3], [2, 4], 2, 1), ([2, 5, 3], [2], 1, 1),
                                      ([2, 3, 4, 5], [2, 3, 2], 2, 2), ([2, 3, 4, 5], [2, 3], 3, 2), ([2, 5], [2, 3, 4], 1, -2),
                                      ([2, 5, 3, 2], [2, 2, 2], -1, 1)):
        for constant in (False, True):
            c = CASES.new(f"gather {shape} of {given} along {axis}, {batch} batch axes, {where(constant)}")
            at = c.either(constant, shape, np.int32, 0, given[axis] - 1)
            c.gives(c.node("GatherV2", [c.input(given), at, ints(c, axis)], batch_dims=batch), within=0)
    for dtype in DTYPES:
        for index in (np.int32, np.int64):
            c = CASES.new(f"gather of {np.dtype(dtype).name} by {np.dtype(index).name}")
            x, at = c.input([5, 3], dtype), c.input([4], index, 0, 4)
            c.gives(c.node("Gather", [x, at]), c.node("GatherV2", [x, at, ints(c, 0, np.int64)]))
    for at, batch in (([3, 0], None), (3, 0), ([[1, 0]], None), ([[1, 0], [2, 2], [0, 3], [1, 1], [2, 0]], 1)):
        c = CASES.new(f"gather {at} of a variable, {batch} batch axes")
        more = {} if batch is None else {"batch_dims": batch}
        c.gives(c.node("ResourceGather", [c.variable(c.random([5, 4])), ints(c, at)], dtype=np.float32, **more), within=0)
    c = CASES.new("gather coordinates of a variable, and its shape")
    table = c.variable(c.random([5, 4]))
    c.gives(c.node("ResourceGatherNd", [table, c.input(np.array([[3, 1], [0, 2]], np.int32))], dtype=np.float32),
            c.node("VariableShape", [table], out_type=np.int64), within=0)
    for given, rows in (([5, 4], [3]), ([2], [1]), ([2, 3], [])):
        for constant in (False, True):
            c = CASES.new(f"gather {given} at {rows} coordinates of no axis, {constant=}")
            at = ints(c, np.zeros([*rows, 0]))
            c.gives(c.node("GatherNd", [c.either(constant, given), at]), within=0)
    c = CASES.new("gather of a constant")
    c.gives(c.node("GatherV2", [c.random_const([5, 3]), ints(c, [4, 0]), ints(c, 0)]),
            c.node("GatherV2", [ints(c, [7, 8, 9]), ints(c, 2), ints(c, 0)]))
    for given, at, axis, batch, part in (([5, 3], [5], 0, 0, "index 5 is outside an axis of 5 elements"),
                                         ([5, 3], [-1], 0, 0, "index -1 is outside an axis of 5 elements"),
                                         ([5, 3], [0], 2, 0, "axis 2 is outside a tensor of rank 2"),
                                         ([5, 3], [0], 1, 2, "batch_dims 2 does not fit indices of rank 1"),
                                         ([5, 3], [0, 0], 1, 1, "1 common axes of [5,3] and [2] before axis 1"),
                                         ([5, 3], [0] * 5, 0, 1, "before axis 0")):
        c = CASES.new(f"gather {at} of {given} along {axis}, {batch} batch axes")
        c.node("GatherV2", [c.input(given), ints(c, at), ints(c, axis)], batch_dims=batch)
        c.refused(part)


def coordinates():
    for given, shape in (([4, 5, 3], [2, 1]), ([4, 5, 3], [2, 2]), ([4, 5, 3], [6, 3]), ([4, 5, 3], [3]), ([4, 5], [2, 3, 2]),
                         ([4], [1]), ([4, 5], [0, 2])):
        for constant in (False, True):
            c = CASES.new(f"gather {shape} coordinates of {given}, {where(constant)}")
            at = np.minimum(c.random(shape, np.int32, 0, 9), np.array(given[:shape[-1]]) - 1).astype(np.int32)
            c.gives(c.node("GatherNd", [c.input(given), c.either(constant, at)]), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"coordinates of {np.dtype(dtype).name} by int64")
        c.gives(c.node("GatherNd", [c.input([4, 5], dtype), c.input([3, 1], np.int64, 0, 3)]))
    for at, part in (([[4, 0]], "index 4 is outside an axis of 4"), ([[0, -1]], "index -1 is outside an axis of 5"),
                     ([[0, 0, 0]], "coordinates of 3 values do not fit [4,5]")):
        c = CASES.new(f"gather {at}")
        c.node("GatherNd", [c.input([4, 5]), ints(c, at)])
        c.refused(part)


def scatters():
    for shape, at in (([5, 3], [[1], [3]]), ([5, 3], [[1], [3], [1]]), ([5, 3], [[0, 1], [4, 2], [0, 1]]), ([6], [[5]]),
                      ([2, 2, 2], [[[1], [0]], [[0], [0]]]), ([4, 2], np.zeros([0, 1]))):
        at = np.array(at, np.int32)
        updates = [*at.shape[:-1], *shape[at.shape[-1]:]]
        for constant in (False, True):
            c = CASES.new(f"scatter at {at.tolist()} of {shape}, {where(constant)}")
            c.gives(c.node("ScatterNd", [c.either(constant, at), c.input(updates), ints(c, shape)]))
            if len(np.unique(at.reshape(-1, at.shape[-1]), axis=0)) < at.size // at.shape[-1]:
                operators = ("Add", "Sub", "Max", "Min")
            else:
                operators = ("Add", "Sub", "Max", "Min", "Update")  # of several updates of one place any may win
            c = CASES.new(f"tensor scatters at {at.tolist()} of {shape}, {where(constant)}")
            x, w, at_ = c.input(shape), c.input(updates), c.either(constant, at)
            c.gives(*(c.node(f"TensorScatter{operator}", [x, at_, w]) for operator in operators))
    for dtype in (np.float16, np.int32, np.int64, np.uint8):
        c = CASES.new(f"scatters of {np.dtype(dtype).name} by int64")
        x, w, at = c.input([5, 3], dtype), c.input([2, 3], dtype), ints(c, [[4], [1]], np.int64)
        operators = ("Add", "Sub", "Max", "Min", "Update")
        c.gives(c.node("ScatterNd", [at, w, ints(c, [5, 3], np.int64)]),
                *(c.node(f"TensorScatter{operator}", [x, at, w]) for operator in operators))
    c = CASES.new("scatters of bool")
    at, w = ints(c, [[4], [1]]), c.input([2, 3], np.bool_)
    c.gives(c.node("TensorScatterUpdate", [c.input([5, 3], np.bool_), at, w]))
    c = CASES.new("sums that wrap")
    c.gives(c.node("TensorScatterSub", [c.input(np.array([1, 2], np.int8)), ints(c, [[0]]), c.input(np.array([-128], np.int8))]))
    for at, part in (([[5]], "index 5 is outside an axis of 5"), ([[-1]], "index -1 is outside an axis of 5")):
        for operator in ("ScatterNd", "TensorScatterAdd"):
            c = CASES.new(f"{operator} at {at}")
            c.node(operator, [ints(c, at), c.input([1, 3]), ints(c, [5, 3])] if operator == "ScatterNd" else
                   [c.input([5, 3]), ints(c, at), c.input([1, 3])])
            c.refused(part)
    for at, shape in ((2, [5]), ([0, 3], [5]), ([[0, 1], [2, 0]], [3, 2]), ([[1], [4]], [5])):
        for one in (False, True):
            for constant in (False, True):
                c = CASES.new(f"sparse {at} of {shape}, {one=}, {where(constant)}")
                at = np.array(at, np.int32)
                values = c.input([] if one or at.ndim == 0 else [len(at)])
                c.gives(c.node("SparseToDense", [c.either(constant, at), ints(c, shape), values, c.const(np.float32(-1))]), within=0)
    c = CASES.new("sparse of integers, any default")
    c.gives(c.node("SparseToDense", [ints(c, [1, 2], np.int64), ints(c, [4], np.int64), c.input([2], np.int32), c.input([], np.int32)],
                   validate_indices=False))
    for at, shape, part in (([5], [5], "index 5 is outside an axis of 5"), ([[0, 1]], [5], "indices [1,2] are none of [5]")):
        c = CASES.new(f"sparse {at} of {shape}")
        c.node("SparseToDense", [ints(c, at), ints(c, shape), c.input([len(at)]), c.const(np.float32(0))])
        c.refused(part)
    c = CASES.new("scatter of too few updates")
    c.node("ScatterNd", [ints(c, [[1], [2]]), c.input([1, 3]), ints(c, [5, 3])])
    c.refused("updates are float32 [1,3] where float32 [2,3] is needed")
    for constant in (False, True):
        for dtype in (np.int32, np.int64):
            c = CASES.new(f"invert permutation of {np.dtype(dtype).name}, {constant=}")
            c.gives(c.node("InvertPermutation", [c.either(constant, np.array([3, 0, 4, 1, 2], dtype))]))
    for values, part in (([0, 0], "0 is there twice"), ([0, 2], "index 2 is outside an axis of 2"), ([[0]], "is no list")):
        c = CASES.new(f"invert permutation {values}")
        c.node("InvertPermutation", [ints(c, values)])
        c.refused(part)


def one_hots():
    for given, axis in (([4], -1), ([4], 0), ([2, 3], 1), ([2, 3], -1), ([2, 3], 0), ([], -1), ([], 0)):
        for constant in (False, True):
            c = CASES.new(f"one hot of {given} along {axis}, {where(constant)}")
            at = c.either(constant, given, np.int32, -2, 5)  # those outside have no 1
            c.gives(c.node("OneHot", [at, ints(c, 4), c.const(np.float32(2.5)), c.const(np.float32(-1))], axis=axis), within=0)
    for index in (np.int32, np.int64, np.uint8):
        for dtype in DTYPES:
            c = CASES.new(f"one hot of {np.dtype(dtype).name} by {np.dtype(index).name}")
            at = c.input(np.array([0, 2, 3, 5], index))
            c.gives(c.node("OneHot", [at, ints(c, 4), c.const(np.array(1, dtype)), c.const(np.array(0, dtype))]))
    for given, axis in (([3, 2], -1), ([3, 2], 0), ([3, 2], 1), ([], -1), ([4], 0)):
        for known in (None, "on", "off"):
            for dtype in (np.float32, np.int32):
                c = CASES.new(f"one hot of {given} along {axis}, {known} known, {np.dtype(dtype).name}")
                values = [c.either(known == name, np.array(number, dtype)) for name, number in (("on", 3), ("off", -2))]
                c.gives(c.node("OneHot", [c.input(given, np.int64, -1, 5), ints(c, 4), *values], axis=axis), within=0)
    for depth, on, part in ((0, 1, "the depth is 0"), (3, 2**24 + 1, "beyond float32")):
        c = CASES.new(f"one hot of depth {depth}, {on}")
        c.node("OneHot", [c.input([3], np.int32), ints(c, depth), ints(c, on), ints(c, 0)])
        c.refused(part)


def top_ks():
    for given, k in (([7], 3), ([2, 7], 1), ([2, 3, 7], 7), ([1, 2, 2, 6], 2)):
        for constant in (False, True):
            c = CASES.new(f"top {k} of {given}, {constant=}")
            x = c.either(constant, given)
            y = c.node("TopKV2", [x, ints(c, k)])
            c.gives(y, y[1], within=0)
    for dtype in (np.float16, np.int32, np.int64, np.uint8):
        c = CASES.new(f"top 2 of {np.dtype(dtype).name}, int64 k and indices")
        y = c.node("TopKV2", [c.input([3, 6], dtype, -100, 100), ints(c, 2, np.int64)], index_type=np.int64, sorted=True)
        c.gives(y, y[1])
    c = CASES.new("top 1, unsorted, indices alone")
    c.gives(c.node("TopKV2", [c.input([3, 6]), ints(c, 1)], sorted=False)[1])
    c = CASES.new("top 3 with equal ones")
    y = c.node("TopKV2", [c.input(np.array([1, 3, 3, 0, 3, 1], np.float32)), ints(c, 4)])
    c.gives(y, y[1])
    for given, k, part in (([3], 4, "K is not a number from 1 to the 3 elements"), ([3], 0, "K is not a number"),
                           ([], 1, "is outside a tensor of rank 0")):
        c = CASES.new(f"top {k} of {given}, refused")
        c.node("TopKV2", [c.input(given), ints(c, k)])
        c.refused(part)
        c = CASES.new(f"top {k} of {given}, k an attribute, refused")  # which TensorFlow itself does not compute any more
        c.node("TopK", [c.input(given)], k=k)
        c.refused(part)


def nth_elements():
    for given, n in (([7], 0), ([7], 6), ([2, 5], 2), ([2, 3, 1], 0)):
        for reverse in (False, True):
            c = CASES.new(f"element {n} of {given}, {reverse=}")
            c.gives(c.node("NthElement", [c.input(given), ints(c, n)], **({"reverse": True} if reverse else {})), within=0)
    c = CASES.new("element of integers")
    c.gives(c.node("NthElement", [c.input([2, 6], np.int32, -50, 50), ints(c, 3)]))
    for given, n in (([3], 3), ([], 0), ([3], -1)):
        c = CASES.new(f"element {n} of {given}")
        c.node("NthElement", [c.input(given), ints(c, n)])
        c.refused(f"n is {n} in")


def sequences():
    for given, seq, batch in (([2, 4, 3], 1, None), ([4, 2, 3], 0, 1), ([3, 2, 4], 2, 1), ([3, 2, 4], 2, 0), ([4, 3, 2], 0, 2), ([2, 4], 1, 0),
                              ([2, 3, 4, 2], 2, 3)):
        for constant in (False, True):
            c = CASES.new(f"reverse sequences {seq} by {batch} of {given}, {constant=}")
            count = given[batch or 0]
            lengths = ints(c, np.linspace(0, given[seq], count, dtype=int))
            more = {} if batch is None else {"batch_dim": batch}
            c.gives(c.node("ReverseSequence", [c.either(constant, given), lengths], seq_dim=seq, **more), within=0)
        for dtype in (np.int32, np.int64):
            c = CASES.new(f"reverse sequences {seq} by {batch} of {given}, any lengths of {np.dtype(dtype).name}")
            lengths = c.input([count], dtype, 0, given[seq])
            c.gives(c.node("ReverseSequence", [c.input(given), lengths], seq_dim=seq, **more), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"reverse sequences of {np.dtype(dtype).name}, int64 lengths")
        c.gives(c.node("ReverseSequence", [c.input([2, 4], dtype), ints(c, [4, 1], np.int64)], seq_dim=1))
    for lengths, seq, part in (([5, 1], 1, "the length 5 is outside 0 to 4"), ([1], 1, "lengths [1] for a batch of 2"),
                               ([1, 1], 0, "seq_dim and batch_dim are both 0")):
        c = CASES.new(f"reverse sequences {seq} by {lengths}")
        c.node("ReverseSequence", [c.input([2, 4]), ints(c, lengths)], seq_dim=seq)
        c.refused(part)


def stitches():
    for operator in ("DynamicStitch", "ParallelDynamicStitch"):
        for name, indices, rest in (("lists", [[0, 3], [2, 1, 4]], [2]), ("numbers", [1, 0], []), ("in order", [[0, 1], [2]], [3]),
                                    ("of rank 2", [[[0, 3], [2, 5]], [1, 4]], [2])):
            for constant in (False, True):
                c = CASES.new(f"{operator} {name}, {constant=}")
                indices = [np.array(at, np.int32) for at in indices]
                data = [c.either(constant, [*at.shape, *rest]) for at in indices]
                c.gives(c.node(operator, [*map(c.const, indices), *data], N=len(indices)), within=0)
    c = CASES.new("stitch with one index twice")
    c.gives(c.node("DynamicStitch", [ints(c, [0, 1]), ints(c, [1, 2, 2]), c.input([2, 2]), c.input([3, 2])], N=2), within=0)
    for indices, part in (([0, 2], "2 is"), ([0, 0, 2], "no index is 1"), ([-1], "index -1 is not possible")):
        c = CASES.new(f"stitch {indices}")
        c.node("DynamicStitch", [ints(c, indices), c.input([len(indices), 2])], N=1)
        c.refused(part if part != "2 is" else "3 rows are made of 2")
    c = CASES.new("stitch by indices that are not known")
    c.node("DynamicStitch", [c.input([2], np.int32, name="at"), c.input([2, 2])], N=1)
    c.refused("fix it with --freeze_input at:0=FILE")
    for given, parts, number in (([5, 2], [0, 1, 0, 1, 1], 2), ([5], [2, 0, 2, 2, 0], 4), ([2, 2, 3], [[0, 1], [1, 0]], 2)):
        for constant in (False, True):
            c = CASES.new(f"partition {given} by {parts}, {constant=}")
            y = c.node("DynamicPartition", [c.either(constant, given), ints(c, parts)], num_partitions=number)
            c.gives(*(y[k] for k in range(number)), within=0)
    c = CASES.new("partition, one part of it")
    c.gives(c.node("DynamicPartition", [c.input([5, 2]), ints(c, [0, 1, 2, 1, 0])], num_partitions=3)[1], within=0)
    for parts, part in (([0, 3], "partition 3 is not one of 2"), ([0, 0, 0], "does not begin with the axes of")):
        c = CASES.new(f"partition by {parts}")
        c.node("DynamicPartition", [c.input([2, 2]), ints(c, parts)], num_partitions=2)
        c.refused(part)


gathers()
coordinates()
scatters()
one_hots()
top_ks()
nth_elements()
sequences()
stitches()
