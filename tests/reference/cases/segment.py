# SPDX-License-Identifier: Apache-2.0
"""Reductions of rows by a list of ids."""

import numpy as np
from case import Cases

CASES = Cases()
F32, F16, I32, I64 = np.float32, np.float16, np.int32, np.int64


def ascending():
    for method in ("Sum", "Mean", "Prod", "Max", "Min"):
        for dtype in (F32, F16, I32):
            if method == "Mean" and dtype == I32:
                continue
            for ids in ([0, 0, 1, 1, 1], [0, 2, 2, 4, 4], [1, 1, 1, 1, 1]):
                for constant in (False, True):
                    c = CASES.new(f"Segment{method} {np.dtype(dtype).name} {ids}{', constant' * constant}")
                    c.gives(c.node(f"Segment{method}", [c.either(constant, [5, 3], dtype), c.const(np.array(ids, I32))]),
                            within=2e-3 if dtype == F16 else 1e-6)
        c = CASES.new(f"Segment{method} of vectors, ids of int64")
        c.gives(c.node(f"Segment{method}", [c.input([4]), c.const(np.array([0, 0, 1, 1], I64))]))
        c = CASES.new(f"Segment{method} of images")
        c.gives(c.node(f"Segment{method}", [c.input([3, 2, 4, 3]), c.const(np.array([0, 1, 1], I32))]))


def unsorted():
    for method in ("Sum", "Prod", "Max", "Min"):
        for dtype in (F32, I32):
            for ids in ([2, 0, 2, 0], [3, -1, 0, 3], [[1, 0], [0, 1], [2, 2], [-1, 1]]):
                for computed in (False, True):
                    c = CASES.new(f"UnsortedSegment{method} {np.dtype(dtype).name} {ids}{', computed' * computed}")
                    ids_array = np.array(ids, I32)
                    inputs = [c.input([4, 2, 3], dtype), c.either(not computed, ids_array), c.const(np.array(5, I32))]
                    c.gives(c.node(f"UnsortedSegment{method}", inputs), within=1e-6)
    values = np.array([[-np.inf, 1], [-np.inf, np.nan], [np.inf, 2]], F32)
    for method in ("Max", "Min"):
        c = CASES.new(f"UnsortedSegment{method} of special values")
        inputs = [c.input(values), c.const(np.array([0, 0, 1], I32)), c.const(np.array(2, I32))]
        c.gives(c.node(f"UnsortedSegment{method}", inputs))


def refusals():
    c = CASES.new("ids that do not ascend")
    c.node("SegmentSum", [c.input([3, 2]), c.const(np.array([0, 2, 1], I32))])
    c.refused("the ids do not ascend from 0 at element 2")
    c = CASES.new("ids of other rows")
    c.node("SegmentSum", [c.input([3, 2]), c.const(np.array([0, 2], I32))])
    c.refused("2 ids for [3,2]")
    c = CASES.new("an id beyond the segments")
    c.node("UnsortedSegmentSum", [c.input([2, 2]), c.const(np.array([0, 2], I32)), c.const(np.array(2, I32))])
    c.refused("the id 2 is not below the number of segments, 2")


ascending()
unsorted()
refusals()
