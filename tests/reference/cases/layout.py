# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, between convolutions: what they do to axes is right in whatever order tensors are stored."""

import numpy as np
from case import Cases

CASES = Cases()


def ints(c, values):
    return c.const(np.array(values, np.int32))


def conv(c, x, inputs, outputs, data_format="NHWC"):
    return c.node("Conv2D", [x, c.random_const([3, 3, inputs, outputs])], strides=[1, 1, 1, 1], padding="SAME", data_format=data_format)


def sliced(c, x, begin, end, **masks):
    return c.node("StridedSlice", [x, ints(c, begin), ints(c, end), ints(c, [1] * len(begin))], **masks)


# What stands between two convolutions: from [1, 5, 4, 6] to another rank 4 shape, as NHWC.
def reshaped(c, x):
    return c.node("Reshape", [x, ints(c, [1, 4, 5, 6])])


def regrouped(c, x):
    return c.node("Reshape", [x, ints(c, [1, 10, 2, 6])])


def transposed(c, x):
    return c.node("Transpose", [x, ints(c, [0, 3, 1, 2])])


def swapped(c, x):
    return c.node("Transpose", [x, ints(c, [0, 2, 1, 3])])


def there_and_back(c, x):
    y = c.node("Relu", [c.node("Transpose", [x, ints(c, [0, 3, 1, 2])])])
    return c.node("Transpose", [y, ints(c, [0, 2, 3, 1])])


def shuffled(c, x):
    y = c.node("Reshape", [x, ints(c, [1, 5, 4, 2, 3])])
    return c.node("Reshape", [c.node("Transpose", [y, ints(c, [0, 1, 2, 4, 3])]), ints(c, [1, 5, 4, 6])])


def joined(axis):
    return lambda c, x: c.node("ConcatV2", [x, c.node("Relu", [x]), ints(c, axis)])


def split(axis, parts):
    def made(c, x):
        y = c.node("Split", [ints(c, axis), x], num_split=parts)
        return c.node("ConcatV2", [y[parts - 1], c.node("Relu", [y]), ints(c, axis)])
    return made


def squeezed(c, x):
    y = c.node("Relu", [c.node("Squeeze", [x], squeeze_dims=[0])])
    return c.node("ExpandDims", [y, ints(c, 0)])


def added_axis(c, x):
    y = c.node("Squeeze", [c.node("ExpandDims", [x, ints(c, 1)])], squeeze_dims=[0])
    return c.node("Tile", [y, ints(c, [1, 1, 1, 2])])


def unpacked(axis):
    def made(c, x):
        number = [1, 5, 4, 6][axis]
        y = c.node("Unpack", [x], num=number, axis=axis)
        return c.node("Pack", [y[number - 1], y, y[number - 1]], axis=axis)
    return made


def cut(c, x):
    return sliced(c, x, [0, 1, 0, 1], [0, -1, 3, 5], begin_mask=1, end_mask=1)


def without_axis(c, x):
    y = sliced(c, x, [0, 2, 0, 0], [0, 3, 0, 0], begin_mask=13, end_mask=13, shrink_axis_mask=2)
    return c.node("ExpandDims", [y, ints(c, 2)])


def new_axis(c, x):
    return c.node("Reshape", [sliced(c, x, [0, 0, 1], [0, 0, 4], begin_mask=1, end_mask=1, ellipsis_mask=1, new_axis_mask=2),
                              ints(c, [1, 5, 4, 3])])


def padded(operator, paddings, **more):
    return lambda c, x: c.node(operator, [x, ints(c, paddings)], **more)


def turned(c, x):
    return c.node("Roll", [c.node("ReverseV2", [x, ints(c, [1, 3])]), ints(c, [1, 2]), ints(c, [2, 3])])


def gathered(axis):
    return lambda c, x: c.node("GatherV2", [x, ints(c, [3, 0, 2]), ints(c, axis)])


def gathered_matrix(c, x):
    return c.node("Reshape", [c.node("GatherV2", [x, ints(c, [[3, 0], [2, 1]]), ints(c, 2)]), ints(c, [1, 5, 4, 6])])


def best(c, x):
    return c.node("TopKV2", [x, ints(c, 3)])


def coordinates(c, x):
    y = c.node("GatherNd", [x, ints(c, [[0, 1], [0, 4], [0, 0]])])
    return c.node("ExpandDims", [y, ints(c, 0)])


def scattered(c, x):
    return c.node("TensorScatterUpdate", [x, ints(c, [[0, 1], [0, 4]]), c.random_const([2, 4, 6])])


def reversed_starts(c, x):
    return c.node("ReverseSequence", [x, ints(c, [4, 0, 2, 3, 1])], seq_dim=2, batch_dim=1)


def stitched(c, x):
    y = c.node("Squeeze", [x], squeeze_dims=[0])
    parts = c.node("DynamicPartition", [y, ints(c, [0, 1, 0, 1, 1])], num_partitions=2)
    z = c.node("DynamicStitch", [ints(c, [4, 0]), ints(c, [2, 1, 3]), parts, parts[1]], N=2)
    return c.node("ExpandDims", [z, ints(c, 0)])


BETWEEN = {
    "reshape": (reshaped, 6), "reshape of height and width": (regrouped, 6), "transpose": (transposed, 4), "swap": (swapped, 6),
    "there and back": (there_and_back, 6), "channel shuffle": (shuffled, 6), "concat of channels": (joined(3), 12),
    "concat of rows": (joined(1), 6), "split of channels": (split(3, 2), 6), "split of columns": (split(2, 4), 6), "squeeze": (squeezed, 6),
    "another batch axis": (added_axis, 12), "unpack of rows": (unpacked(1), 6), "unpack of channels": (unpacked(3), 3), "slice": (cut, 4),
    "a row": (without_axis, 6), "new axis": (new_axis, 3), "pad": (padded("Pad", [[0, 0], [1, 0], [0, 2], [1, 1]]), 8),
    "reflect": (padded("MirrorPad", [[0, 0], [1, 2], [3, 0], [0, 1]], mode="REFLECT"), 7),
    "symmetric": (padded("MirrorPad", [[0, 0], [1, 2], [4, 0], [0, 1]], mode="SYMMETRIC"), 7), "reverse and roll": (turned, 6),
    "gather of channels": (gathered(3), 3), "gather of rows": (gathered(1), 6), "gather by a matrix": (gathered_matrix, 6), "top k": (best, 3),
    "coordinates": (coordinates, 6), "scatter": (scattered, 6), "reverse sequence": (reversed_starts, 6), "stitch": (stitched, 6)}


def between():
    for name, (what, channels) in BETWEEN.items():
        c = CASES.new(f"{name} between convolutions")
        y = what(c, conv(c, c.input([1, 5, 4, 3]), 3, 6))
        c.gives(y, conv(c, y, channels, 2))


def channels_first():
    """The same operators count axes in the graph's order, where channels come first."""
    for name, what, channels in (
            ("concat", joined(1), 12), ("split", split(1, 2), 6), ("pad", padded("Pad", [[0, 0], [1, 1], [2, 0], [0, 1]]), 8),
            ("reflect", padded("MirrorPad", [[0, 0], [0, 1], [1, 2], [3, 0]], mode="REFLECT"), 7), ("gather", gathered(1), 3),
            ("slice", lambda c, x: sliced(c, x, [0, 1, 1, 0], [0, 5, -1, 3], begin_mask=1, end_mask=1), 4),
            ("reshape", lambda c, x: c.node("Reshape", [x, ints(c, [1, 6, 4, 5])]), 6),
            ("transpose", lambda c, x: c.node("Transpose", [x, ints(c, [0, 1, 3, 2])]), 6)):
        c = CASES.new(f"{name} between convolutions, channels first")
        y = what(c, conv(c, c.input([1, 3, 5, 4]), 3, 6, "NCHW"))
        c.gives(conv(c, y, channels, 2, "NCHW"))
    c = CASES.new("from channels first to channels last")
    y = conv(c, c.input([1, 3, 5, 4]), 3, 6, "NCHW")
    c.gives(conv(c, c.node("Transpose", [y, ints(c, [0, 2, 3, 1])]), 6, 2))
    c = CASES.new("the end of a network")
    y = conv(c, c.input([1, 5, 4, 3]), 3, 6)
    flat = c.node("Reshape", [y, c.node("Pack", [sliced(c, c.node("Shape", [y]), [0], [1], shrink_axis_mask=1), ints(c, -1)])])
    c.gives(c.node("MatMul", [flat, c.random_const([120, 7])]))


between()
channels_first()
