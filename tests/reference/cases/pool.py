# SPDX-License-Identifier: Apache-2.0
"""Pools."""

import numpy as np
from case import Cases

CASES = Cases()


def pool(c, op, x, size=2, step=2, **attributes):
    axes = 3 if "3D" in op else 2
    window = [[1, *(value if isinstance(value, tuple) else [value] * axes), 1] for value in (size, step)]
    return c.node(op, [x], **{"ksize": window[0], "strides": window[1], "padding": "SAME", **attributes})


def images():
    for op in ("MaxPool", "AvgPool"):
        for padding in ("SAME", "VALID"):
            for ksize, strides in ((2, 2), (3, 2), ((3, 2), (1, 2)), (1, 2), (2, 3)):
                c = CASES.new(f"{op} {padding} windows {ksize} strides {strides}")
                c.gives(pool(c, op, c.input([2, 7, 8, 3]), ksize, strides, padding=padding))
        c = CASES.new(f"{op} of float16")
        c.gives(pool(c, op, c.input([1, 5, 6, 3], np.float16), 3))
        c = CASES.new(f"{op} of an open batch")
        c.gives(pool(c, op, c.input([2, 5, 6, 3], shape=[None, None, None, 3]), 3, data_format="NHWC"))
        c = CASES.new(f"{op} of a constant")
        c.gives(c.node("Relu", [pool(c, op, c.random_const([1, 5, 6, 3]), 3)]))
    for dtype in (np.float64, np.int32, np.int64, np.uint8, np.int8):
        c = CASES.new(f"MaxPool of {np.dtype(dtype).name}")
        c.gives(pool(c, "MaxPool", c.input([1, 5, 6, 3], dtype, -100, 100), 3))
    c = CASES.new("MaxPool of negative numbers with padding")
    c.gives(pool(c, "MaxPool", c.input([1, 5, 6, 3], low=-9, high=-1), 4, 1))
    c = CASES.new("MaxPool with explicit padding")
    c.gives(pool(c, "MaxPool", c.input([1, 5, 6, 3]), 3, padding="EXPLICIT",
                 explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]))
    c = CASES.new("MaxPoolV2")
    c.gives(c.node("MaxPoolV2", [c.input([1, 5, 6, 3]), c.const(np.array([1, 3, 2, 1], np.int32)),
                                 c.const(np.array([1, 2, 1, 1], np.int32))], padding="SAME"))


def volumes():
    for op in ("MaxPool3D", "AvgPool3D"):
        for padding in ("SAME", "VALID"):
            c = CASES.new(f"{op} {padding}")
            c.gives(pool(c, op, c.input([1, 4, 5, 6, 2]), (2, 3, 2), (2, 1, 2), padding=padding))
        c = CASES.new(f"{op} with data_format")
        c.gives(pool(c, op, c.input([1, 4, 5, 6, 2]), data_format="NDHWC"))


def channels_first():
    for op in ("MaxPool", "AvgPool"):
        c = CASES.new(f"{op} with channels first")
        c.gives(c.node(op, [c.input([2, 3, 7, 8])], ksize=[1, 1, 3, 2], strides=[1, 1, 2, 1], padding="SAME",
                       data_format="NCHW"))
        c = CASES.new(f"{op}3D with channels first")
        c.gives(c.node(op + "3D", [c.input([1, 2, 4, 5, 6])], ksize=[1, 1, 2, 2, 3], strides=[1, 1, 1, 2, 2],
                       padding="VALID", data_format="NCDHW"))


def positions():
    for name, attributes in (("by default", {}), ("in the batch", {"include_batch_in_index": True}),
                             ("as int32", {"Targmax": np.int32}), ("without padding", {"padding": "VALID"})):
        c = CASES.new(f"positions of maxima {name}")
        y = pool(c, "MaxPoolWithArgmax", c.input([2, 5, 7, 3]), (3, 2), 2, **attributes)
        c.gives(y, y[1])
    c = CASES.new("positions of equal maxima")
    y = pool(c, "MaxPoolWithArgmax", c.input([1, 4, 6, 2], np.float32, -1, 1), 2)
    c.given["in0"] = np.round(c.given["in0"]).astype(np.float32)
    c.gives(y[1])
    c = CASES.new("maxima alone")
    c.gives(pool(c, "MaxPoolWithArgmax", c.input([2, 5, 7, 3]), 2))


def refusals():
    for name, part, op, attributes in (
            ("windows over channels", "windows over those are not supported", "MaxPool", {"ksize": [1, 1, 1, 3]}),
            ("windows over the batch", "ksize has 2 for the batch", "AvgPool", {"ksize": [2, 1, 1, 1]}),
            ("windows that are too large", "is larger than the input", "AvgPool",
             {"ksize": [1, 9, 1, 1], "padding": "VALID"}),
            ("channels in blocks", "channels in blocks", "MaxPool", {"data_format": "NCHW_VECT_C"})):
        c = CASES.new(f"pool with {name}")
        pool(c, op, c.input([1, 5, 6, 3]), **attributes)
        c.refused(part)
    c = CASES.new("MaxPoolV2 with computed windows")
    c.node("MaxPoolV2", [c.input([1, 5, 6, 3]), c.input([4], np.int32), c.const(np.array([1, 2, 1, 1], np.int32))],
           padding="SAME")
    c.refused("ksize")
    c = CASES.new("fractional pool")
    c.node("FractionalAvgPool", [c.input([1, 5, 6, 3])], pooling_ratio=[1.0, 1.5, 1.5, 1.0])
    c.refused("its windows are drawn at random")


images()
volumes()
channels_first()
positions()
refusals()
