# SPDX-License-Identifier: Apache-2.0
"""Operators that cut a part out of a tensor or put it into a larger one, and that turn it around."""

import numpy as np
from case import Cases

CASES = Cases()
DTYPES = (np.float32, np.float16, np.int32, np.int64, np.bool_)


def ints(c, values, dtype=np.int32):
    return c.const(np.array(values, dtype))


def slices():
    for given, begin, size in (([4, 5], [1, 2], [2, 3]), ([4, 5], [1, 2], [-1, -1]), ([4, 5], [0, 0], [4, 5]), ([4, 5], [4, 1], [0, 2]),
                               ([4, 5], [4, 5], [-1, -1]), ([], [], []), ([6], [2], [1]), ([1, 4, 4, 3], [0, 1, 0, 1], [1, 2, -1, 2])):
        for constant in (False, True):
            c = CASES.new(f"slice {given} from {begin} on, {size}, {constant=}")
            c.gives(c.node("Slice", [c.either(constant, given), ints(c, begin), ints(c, size)]), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"slice of {np.dtype(dtype).name}, int64 indices")
        c.gives(c.node("Slice", [c.input([4, 5], dtype), ints(c, [1, 0], np.int64), ints(c, [2, -1], np.int64)]))
    for begin, size, part in (([1, 3], [2, 3], "3 elements from 3 on are outside axis 1"), ([-1, 0], [1, 1], "outside axis 0"),
                              ([0, 0], [-2, 1], "outside axis 0"), ([0], [1], "1 begins and 1 sizes"), ([6, 0], [-1, 1], "outside axis 0")):
        c = CASES.new(f"slice from {begin} on, {size}")
        c.node("Slice", [c.input([4, 5]), ints(c, begin), ints(c, size)])
        c.refused(part)


# A slice as numpy writes it: the specification is made of the entries.
def entries_of(key):
    spec = {"begin": [], "end": [], "strides": [], "begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0,
            "shrink_axis_mask": 0}
    for i, entry in enumerate(key):
        begin, end, stride = 0, 0, 1
        if entry is Ellipsis:
            spec["ellipsis_mask"] |= 1 << i
        elif entry is None:
            spec["new_axis_mask"] |= 1 << i
        elif isinstance(entry, int):
            begin, end = entry, entry + 1
            spec["shrink_axis_mask"] |= 1 << i
        else:
            stride = 1 if entry.step is None else entry.step
            begin, end = entry.start or 0, entry.stop or 0
            spec["begin_mask"] |= (entry.start is None) << i
            spec["end_mask"] |= (entry.stop is None) << i
        for name, value in (("begin", begin), ("end", end), ("strides", stride)):
            spec[name].append(value)
    return spec


def strided(c, x, spec, dtype=np.int32):
    masks = {name: value for name, value in spec.items() if name.endswith("mask") and value}
    return c.node("StridedSlice", [x, *(ints(c, spec[name], dtype) for name in ("begin", "end", "strides"))], **masks)


def text(key):
    return ",".join("..." if entry is Ellipsis else "new" if entry is None else str(entry) if isinstance(entry, int) else
                    ":".join("" if part is None else str(part) for part in (entry.start, entry.stop, entry.step)) for entry in key)


def strided_slices():
    s = np.s_
    keys = (s[1:3, 0:2], s[:, 1:], s[:2], s[...], s[1], s[-1], s[1, 2, 3], s[-4, -1, 0], s[::2, ::-1], s[::-2], s[3:0:-1], s[-1:-3:-1],
            s[2:1], s[1:2:-1], s[100:], s[:100], s[-100:2], s[:-100], s[5::-1], s[-100::-1], s[:-100:-1], s[100::-3, ::3],
            s[None], s[None, ..., None], s[..., None, 1], s[..., 1], s[1, ..., 2], s[1:3, None, ..., 0:2], s[0, None, 1, None, 2],
            s[..., -1:, None], s[:, :, ::-1], s[::7], s[::-7], s[1:, ..., :-1], s[..., :2, :], s[None, None, None, 1:3, 0, None])
    for key in keys:
        key = key if isinstance(key, tuple) else (key,)
        for constant in (False, True):
            c = CASES.new(f"[{text(key)}], {constant=}")
            c.gives(strided(c, c.either(constant, [4, 3, 5]), entries_of(key)), within=0)
    for dtype in DTYPES:
        c = CASES.new(f"strided slice of {np.dtype(dtype).name}, int64 indices")
        c.gives(strided(c, c.input([4, 3, 5], dtype), entries_of(s[1, ::-1, None, 1:4:2]), np.int64))


def odd_masks():
    """Specifications that no slice of numpy makes."""
    plain = {"begin": [1, 1], "end": [3, 3], "strides": [1, 1]}
    for name, spec in (
            ("shrink and begin mask", {**plain, "begin_mask": 1, "shrink_axis_mask": 1}),
            ("shrink and end mask", {**plain, "end_mask": 1, "shrink_axis_mask": 1}),
            ("shrink and new axis", {**plain, "new_axis_mask": 1, "shrink_axis_mask": 1}),
            ("ellipsis and shrink", {**plain, "ellipsis_mask": 1, "shrink_axis_mask": 1}),
            ("ellipsis and new axis", {**plain, "ellipsis_mask": 1, "new_axis_mask": 1}),
            ("ellipsis for no axis", {"begin": [1, 0, 1, 1], "end": [3, 0, 2, 2], "strides": [1, 1, 1, 1], "ellipsis_mask": 2}),
            ("masks beyond the entries", {**plain, "begin_mask": 255, "end_mask": 4}),
            ("shrink with an odd end", {"begin": [2, 0], "end": [0, 3], "strides": [1, 2], "shrink_axis_mask": 1}),
            ("shrink with a stride", {"begin": [2, 0], "end": [3, 3], "strides": [2, 2], "shrink_axis_mask": 1}),
            ("new axis with numbers", {"begin": [2, 1], "end": [3, 3], "strides": [2, 1], "new_axis_mask": 1}),
            ("no entries", {"begin": [], "end": [], "strides": []})):
        c = CASES.new(name)
        c.gives(strided(c, c.input([4, 3, 5]), spec), within=0)
    for name, given, key in (("a scalar from a list", [5], np.s_[2:3]), ("of a scalar", [], np.s_[..., None]),
                             ("of nothing", [0, 3], np.s_[::-1, 1]), ("to rank 8", [2, 2, 2, 2], np.s_[..., None, None, None, None])):
        c = CASES.new(f"strided slice: {name}")
        c.gives(strided(c, c.input(given), entries_of(key if isinstance(key, tuple) else (key,))), within=0)
    for name, spec, part in (
            ("two ellipses", {**plain, "ellipsis_mask": 3}, "more than one ellipsis"),
            ("stride 0", {"begin": [0], "end": [1], "strides": [0]}, "the stride of entry 0 is 0"),
            ("shrink backwards", {"begin": [1], "end": [0], "strides": [-1], "shrink_axis_mask": 1}, "the stride of entry 0 is -1"),
            ("an index outside", {"begin": [4], "end": [5], "strides": [1], "shrink_axis_mask": 1}, "index 4 is outside axis 0"),
            ("an index outside the other end", {"begin": [-5], "end": [-4], "strides": [1], "shrink_axis_mask": 1},
             "index -5 is outside axis 0"),
            ("too many entries", {"begin": [0] * 4, "end": [1] * 4, "strides": [1] * 4}, "more entries than [4,3,5] has axes"),
            ("different lengths", {"begin": [0, 0], "end": [1], "strides": [1]}, "differ in length"),
            ("rank 9", {"begin": [0] * 6, "end": [0] * 6, "strides": [1] * 6, "new_axis_mask": 63}, "more than 8 axes")):
        c = CASES.new(f"strided slice with {name}")
        strided(c, c.input([4, 3, 5]), spec)
        c.refused(part)


def shape_chains():
    """What models compute of shapes is known at conversion: a Reshape takes it."""
    for dtype in (np.int32, np.int64):
        c = CASES.new(f"reshape to a computed shape of {np.dtype(dtype).name}")
        x = c.input([2, 3, 4, 5])
        shape = c.node("Shape", [x], out_type=dtype)
        batch = strided(c, shape, entries_of((0,)))
        rest = c.node("Reshape", [strided(c, shape, entries_of((slice(1, None),))), ints(c, [-1])])
        last = c.node("Unpack", [rest], num=3)[2]
        count = c.node("Slice", [rest, ints(c, [0]), ints(c, [2])])
        first, second = (c.node("Reshape", [y, ints(c, [])]) for y in (strided(c, count, entries_of((0,))),
                                                                     strided(c, count, entries_of((1,)))))
        wanted = c.node("Pack", [last, second, first, batch])
        c.gives(c.node("Reshape", [x, wanted]), within=0)
    c = CASES.new("fill of a computed shape")
    x = c.input([2, 3, 4])
    shape = c.node("Shape", [x])
    dims = c.node("ConcatV2", [strided(c, shape, entries_of((slice(0, 2),))), ints(c, [5]), ints(c, 0)])
    c.gives(c.node("Fill", [dims, c.const(np.float32(1.5))]), c.node("Tile", [x, c.node("Pack", [
        strided(c, shape, entries_of((0,))), ints(c, 1), c.node("Rank", [x])])]), within=0)


def moving():
    """What begins at a place that is not known."""
    for dtype in (np.int32, np.int64):
        for given, begin, size in (([6], [2], [3]), ([6], [0], [6]), ([4, 5, 3], [1, 2, 0], [2, 3, 3]), ([4, 5], [3, 4], [1, 1]),
                                   ([4, 5], [4, 0], [0, 5])):
            c = CASES.new(f"slice of {given} from {begin} of {np.dtype(dtype).name}, not known, by {size}")
            c.gives(c.node("Slice", [c.input(given), c.input(np.array(begin, dtype)), ints(c, size, dtype)]), within=0)
    c = CASES.new("slice from places of which one is not known")
    begin = c.node("Pack", [ints(c, 1), c.input(np.array(2, np.int32)), ints(c, 0)])
    c.gives(c.node("Slice", [c.input([4, 6, 3]), begin, ints(c, [-1, 3, -1])]), within=0)
    c = CASES.new("slice from joined places")
    begin = c.node("ConcatV2", [c.node("ConcatV2", [ints(c, [1, 2]), c.input(np.array([3], np.int32)), ints(c, 0)]), ints(c, [1]), ints(c, 0)])
    c.gives(c.node("Slice", [c.input([4, 6, 5, 3]), begin, ints(c, [-1, 3, 2, 1])]), within=0)
    c = CASES.new("slice of the rest from a place that is not known")
    c.node("Slice", [c.input([6]), c.input(np.array([2], np.int32), name="begin"), ints(c, [-1])])
    c.refused("input 1 (begin) is not a constant")
    c = CASES.new("slice of more than there is from a place that is not known")
    c.node("Slice", [c.input([6]), c.input(np.array([2], np.int32)), ints(c, [7])])
    c.refused("7 elements from 0 on are outside axis 0 of [6]")
    c = CASES.new("slice from a list of the wrong rank")
    c.node("Slice", [c.input([6]), c.input(np.array([[2]], np.int32)), ints(c, [1])])
    c.refused("input 1 (begin) is no list of integers")


def moving_elements():
    """x[..., i] where i is not known."""
    for at in (2, 0, -1, -4):
        c = CASES.new(f"element {at} of an axis, not known")
        i = c.input(np.array(at, np.int32))
        begin, end = (c.node("Pack", [ints(c, 1), value]) for value in (i, c.node("AddV2", [i, ints(c, 1)])))
        c.gives(c.node("StridedSlice", [c.input([3, 4, 2]), begin, end, ints(c, [1, 1])], end_mask=1, shrink_axis_mask=2), within=0)
        c = CASES.new(f"element {at} behind an ellipsis and a new axis, not known")
        begin = c.node("ConcatV2", [ints(c, [0, 0], np.int64), c.input(np.array([at], np.int64)), ints(c, 0)])
        c.gives(c.node("StridedSlice", [c.input([3, 2, 4]), begin, begin, ints(c, [1, 1, 1], np.int64)], ellipsis_mask=1, new_axis_mask=2,
                       shrink_axis_mask=4), within=0)
    c = CASES.new("element of a list, not known")
    c.gives(c.node("StridedSlice", [c.input([5], np.int32), c.input(np.array([3], np.int32)), c.input(np.array([4], np.int32)), ints(c, [1])],
                   shrink_axis_mask=1))
    c = CASES.new("elements of two axes, not known")
    at = c.input(np.array([3, -2], np.int32))
    c.gives(c.node("StridedSlice", [c.input([5, 4, 3]), at, at, ints(c, [1, 1])], shrink_axis_mask=3), within=0)
    for begin, end, name in ((False, True, "begin"), (True, False, "end")):
        c = CASES.new(f"range whose {name} is not known")
        c.node("StridedSlice", [c.input([5]), c.either(begin, np.array([1], np.int32)), c.either(end, np.array([3], np.int32)), ints(c, [1])])
        c.refused(f"({name}) is not a constant")


def pads():
    for given, paddings in (([2, 3], [[1, 2], [0, 3]]), ([2, 3], [[0, 0], [0, 0]]), ([], np.zeros([0, 2])), ([0, 2], [[1, 1], [0, 1]]),
                            ([1, 4, 4, 3], [[0, 0], [1, 2], [2, 1], [0, 0]])):
        for constant in (False, True):
            c = CASES.new(f"pad {given} by {np.array(paddings).tolist()}, {constant=}")
            c.gives(c.node("Pad", [c.either(constant, given), ints(c, paddings)]), within=0)
    for dtype in (*DTYPES, np.uint8):
        c = CASES.new(f"pad of {np.dtype(dtype).name}, int64 paddings")
        c.gives(c.node("Pad", [c.input([2, 3], dtype), ints(c, [[1, 0], [2, 1]], np.int64)], Tpaddings=np.int64))
        c = CASES.new(f"pad of {np.dtype(dtype).name} with a value")
        c.gives(c.node("PadV2", [c.input([2, 3], dtype), ints(c, [[1, 0], [2, 1]]), c.const(np.array(3, dtype))]))
    for mode, given, paddings in (("REFLECT", [3, 4], [[2, 1], [0, 3]]), ("SYMMETRIC", [3, 4], [[3, 1], [0, 4]]),
                                  ("REFLECT", [1, 5, 4, 2], [[0, 0], [1, 2], [2, 1], [0, 1]]),
                                  ("SYMMETRIC", [1, 5, 4, 2], [[1, 0], [1, 2], [2, 1], [0, 1]]), ("REFLECT", [2], [[0, 0]])):
        for constant in (False, True):
            c = CASES.new(f"{mode} of {given} by {paddings}, {constant=}")
            c.gives(c.node("MirrorPad", [c.either(constant, given), ints(c, paddings)], mode=mode), within=0)
    for dtype in (np.float16, np.int32, np.int64):
        c = CASES.new(f"mirror pad of {np.dtype(dtype).name}, int64 paddings")
        c.gives(c.node("MirrorPad", [c.input([4, 3], dtype), ints(c, [[2, 1], [0, 2]], np.int64)], mode="REFLECT"))
    for mode, paddings, part in (("REFLECT", [[3, 0], [0, 0]], "mirrored beyond its 3 elements"),
                                 ("SYMMETRIC", [[0, 0], [0, 5]], "mirrored beyond its 4 elements"),
                                 ("EDGE", [[0, 0], [0, 0]], "unknown mode EDGE")):
        c = CASES.new(f"{mode} by {paddings}")
        c.node("MirrorPad", [c.input([3, 4]), ints(c, paddings)], mode=mode)
        c.refused(part)
    for paddings, part in (([[1, -1], [0, 0]], "axis 0 has a negative padding"), ([[1, 1]], "2 paddings for a tensor of rank 2")):
        c = CASES.new(f"pad by {paddings}")
        c.node("Pad", [c.input([3, 4]), ints(c, paddings)])
        c.refused(part)
    for given, paddings, dtype in (([3], [[1, 1]], np.float32), ([2, 3], [[0, 2], [1, 0]], np.int32), ([2, 3], [[0, 0], [0, 0]], np.float32),
                                   ([1, 3, 3, 2], [[0, 0], [1, 2], [2, 1], [0, 0]], np.float16)):
        for constant in (False, True):
            c = CASES.new(f"pad {given} by {paddings} with a computed {np.dtype(dtype).name}, {constant=}")
            c.gives(c.node("PadV2", [c.either(constant, given, dtype), ints(c, paddings), c.input([], dtype)]), within=0)


def turns():
    for given, axes in (([2, 3], [0]), ([2, 3], [1, 0]), ([2, 3], [-1]), ([2, 3], []), ([1, 4, 3, 2], [1, 2]), ([0, 2], [0])):
        for constant in (False, True):
            c = CASES.new(f"reverse {axes} of {given}, {constant=}")
            c.gives(c.node("ReverseV2", [c.either(constant, given), ints(c, axes)]), within=0)
    c = CASES.new("reverse said by booleans")
    c.gives(c.node("Reverse", [c.input([2, 3, 4]), c.const(np.array([True, False, True]))]), within=0)
    c = CASES.new("reverse said by too few booleans")
    c.node("Reverse", [c.input([2, 3, 4]), c.const(np.array([True, False]))])
    c.refused("2 values for a tensor of rank 3")
    for dtype in DTYPES:
        c = CASES.new(f"reverse and roll of {np.dtype(dtype).name}, int64 axes")
        x = c.input([4, 3], dtype)
        c.gives(c.node("ReverseV2", [x, ints(c, [0], np.int64)], Tidx=np.int64),
                c.node("Roll", [x, ints(c, 1, np.int64), ints(c, 0, np.int64)]))
    for given, shift, axis in (([5], 2, 0), ([5], -2, -1), ([4, 3], [1, 1], [0, 1]), ([4, 3], [1, 2], [0, 0]), ([4, 3], 8, 0),
                               ([1, 4, 3, 2], [2, -1], [1, 2]), ([0, 2], 1, 0)):
        for constant in (False, True):
            c = CASES.new(f"roll {given} by {shift} along {axis}, {constant=}")
            c.gives(c.node("Roll", [c.either(constant, given), ints(c, shift), ints(c, axis)]), within=0)
    for given, shift, axis in (([5], [2], [0]), ([5], -7, -1), ([4, 3], [1, -1], [0, 1]), ([4, 3], [1, 2], [0, 0]), ([4, 1], [8, 3], [0, 1]),
                               ([1, 4, 3, 2], [-2147483648, -1], [1, 2])):
        for dtype in (np.int32, np.int64):
            c = CASES.new(f"roll {given} by {shift} along {axis}, shifts of {np.dtype(dtype).name} that are not known")
            c.gives(c.node("Roll", [c.input(given), c.input(np.array(shift, dtype)), ints(c, axis)]), within=0)
    c = CASES.new("roll of more shifts than axes")
    c.node("Roll", [c.input([4]), ints(c, [1, 2]), ints(c, [0])])
    c.refused("2 shifts for 1 axes")


slices()
strided_slices()
odd_masks()
shape_chains()
moving()
moving_elements()
pads()
turns()
