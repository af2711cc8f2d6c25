# SPDX-License-Identifier: Apache-2.0
"""Operators that find as much as they find: NonMaxSuppression in all its forms, Where of one operand. What is known at
conversion has TensorFlow's shape, what is not the shape of the most that there can be."""

import numpy as np
from case import Cases

CASES = Cases()
FORMS = ("", "V2", "V3", "V4", "V5")
LOWEST = float(np.finfo(np.float32).min)


def suppress(c, form, boxes, scores, most, iou=0.5, threshold=0.0, sigma=0.0, **attributes):
    """The node; forms differ in what they take as inputs, and whether they take it."""
    inputs = [boxes, scores, c.const(np.int32(most))]
    if form:
        inputs.append(c.const(np.float32(iou)))
    else:
        attributes["iou_threshold"] = iou
    if form in ("V3", "V4", "V5"):
        inputs.append(c.const(np.float32(threshold)))
    if form == "V5":
        inputs.append(c.const(np.float32(sigma)))
    return c.node(f"NonMaxSuppression{form}", inputs, **attributes)


def outputs(form, y):
    return [y] if form in ("", "V2", "V3") else [y[0], y[1]] if form == "V4" else [y[0], y[1], y[2]]


def grid(c, dims):
    """Boxes on a grid, whose areas meet thresholds exactly, by any two corners."""
    return np.round(c.random([*dims, 4], np.float32, 0, 4)) / 2


def boxes():
    for form in FORMS:
        for constant in (False, True):
            for most, iou, threshold in ((3, 0.5, 0.0), (20, 0.25, 0.3), (20, 0.0, -np.inf), (9, 1.0, LOWEST), (4, 0.5, 9.0)):
                c = CASES.new(f"suppression {form} {most} {iou} {threshold}, {constant=}")
                at, of = c.either(constant, grid(c, [14])), c.either(constant, c.random([14], np.float32, -1, 1))
                found = outputs(form, suppress(c, form, at, of, most, iou, threshold))
                if threshold == 9 and not constant:  # the score of filler is that of box 0
                    found = [found[0], *found[2:]] if form == "V5" else found
                c.gives(*found, if_none=0)
        c = CASES.new(f"suppression {form} of equal scores")
        of = c.input(np.round(c.random([14], np.float32, 0, 1) * 2) / 2)
        c.gives(*outputs(form, suppress(c, form, c.input(grid(c, [14])), of, 9)), if_none=0)
        c = CASES.new(f"suppression {form} of odd scores")
        of = c.input(np.array([np.nan, -np.inf, 1, np.inf, LOWEST, 0], np.float32))
        c.gives(*outputs(form, suppress(c, form, c.input(grid(c, [6])), of, 6, 1.0, LOWEST)), if_none=0)
    c = CASES.new("suppression above -infinity")
    of = c.input(np.array([-np.inf, 1, -np.inf, 0], np.float32))
    c.gives(suppress(c, "V3", c.input(grid(c, [4])), of, 4, 1.0, -np.inf), if_none=0)
    for attributes, part in (({"most": -1}, "max_output_size is -1"), ({"iou": 1.5}, "iou_threshold 1.5 is not in [0, 1]")):
        c = CASES.new(f"suppression {attributes}")
        suppress(c, "V3", c.input([6, 4]), c.input([6]), **{"most": 2, **attributes})
        c.refused(part)
    c = CASES.new("suppression of other scores")
    suppress(c, "V3", c.input([6, 4]), c.input([5]), 2)
    c.refused("boxes [6,4] and scores [5] do not match")
    c = CASES.new("suppression of unknown thresholds")
    c.node("NonMaxSuppressionV3", [c.input([6, 4]), c.input([6]), c.const(np.int32(2)), c.input([], name="iou"), c.const(np.float32(0))])
    c.refused("--freeze_input iou:0=FILE")


def soft_boxes():
    """Scores that fall: of boxes that overlap, that are equal, that have no area, and some that are below 0 and never found."""
    for sigma in (0.5, 0.1):
        for most, threshold in ((3, 0.0), (20, 0.3), (20, 0.0), (4, 9.0)):
            for pads in (False, True):
                for constant in (False, True):
                    c = CASES.new(f"soft suppression {sigma} {most} {threshold}, {pads=}, {constant=}")
                    at, of = c.either(constant, grid(c, [9])), c.either(constant, c.random([9], np.float32, -1, 1))
                    y = suppress(c, "V5", at, of, most, 0.5, threshold, sigma, pad_to_max_output_size=pads)
                    c.gives(*outputs("V5", y), if_none=None if pads else 0)
    c = CASES.new("soft suppression of equal scores and boxes")
    at = np.repeat(np.array([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 4, 4], [1, 1, 1, 3]], np.float32), 2, axis=0)
    of = c.input(np.array([1, 1, 0.5, 1, 0.5, 0.25, 0.75, 0.75], np.float32))
    c.gives(*outputs("V5", suppress(c, "V5", c.input(at), of, 8, 0.5, 0.0, 0.5)), if_none=0)
    c = CASES.new("soft suppression with a sigma below 0")
    suppress(c, "V5", c.input([6, 4]), c.input([6]), 2, 0.5, 0.0, -1)
    c.refused("soft_nms_sigma is -1")
    c = CASES.new("soft suppression of scores below 0")
    suppress(c, "V5", c.input([6, 4]), c.input([6]), 2, 0.5, -np.inf, 0.5)
    c.refused("score_threshold is below 0, and soft suppression raises scores below 0")
    c = CASES.new("soft suppression of many boxes")
    suppress(c, "V5", c.input([300, 4]), c.input([300]), 257, 0.5, 0.0, 0.5)
    c.refused("257 boxes of a soft suppression are more than 256")


def padded_boxes():
    """With zeros up to the size that is asked for: shapes are the model's."""
    for form in ("V4", "V5"):
        for constant in (False, True):
            for most, threshold in ((3, 0.0), (20, 0.3), (20, 9.0), (1, 0.0)):
                c = CASES.new(f"padded suppression {form} {most} {threshold}, {constant=}")
                at, of = c.either(constant, grid(c, [14])), c.either(constant, c.random([14], np.float32, -1, 1))
                c.gives(*outputs(form, suppress(c, form, at, of, most, 0.3, threshold, pad_to_max_output_size=True)))
        c = CASES.new(f"sum of padded suppression {form}")
        y = suppress(c, form, c.input(grid(c, [14])), c.input(c.random([14], np.float32, -1, 1)), 20, pad_to_max_output_size=True)
        c.gives(c.node("Sum", [y[0], c.const(np.array([0], np.int32))]), c.node("Shape", [y[0]]))


def combine(c, boxes, scores, per_class, most, iou=0.5, threshold=0.0, **attributes):
    numbers = [np.int32(per_class), np.int32(most), np.float32(iou), np.float32(threshold)]
    y = c.node("CombinedNonMaxSuppression", [boxes, scores, *map(c.const, numbers)], **attributes)
    return [y[i] for i in range(4)]


def combined():
    """Of several classes: with boxes of their own or not, more and fewer than are asked for, of several batch elements."""
    for constant in (False, True):
        for own in (1, 3):
            for per_class, most, more in ((4, 5, {}), (2, 20, {}), (9, 30, {"pad_per_class": True}), (3, 30, {"pad_per_class": True}),
                                          (3, 4, {"pad_per_class": True, "clip_boxes": False}), (1, 1, {"clip_boxes": False})):
                for batches in (1, 2):
                    c = CASES.new(f"combined suppression {per_class} {most} {own} {batches} {more}, {constant=}")
                    at = c.random([batches, 9, own, 4], np.float32, -0.5, 1.5)
                    of = np.stack([c.source.permutation(27).reshape(9, 3) for _ in range(batches)]).astype(np.float32) / 16 - 0.25
                    c.gives(*combine(c, c.either(constant, at), c.either(constant, of), per_class, most, 0.3, **more), within=0)
    for threshold, iou in ((9.0, 0.5), (-np.inf, 1.0), (0.5, 0.0)):
        for constant in (False, True):
            c = CASES.new(f"combined suppression above {threshold} of overlaps {iou}, {constant=}")
            of = (c.source.permutation(12).reshape(1, 6, 2) / 8 - 0.25).astype(np.float32)
            c.gives(*combine(c, c.either(constant, [1, 6, 1, 4], low=0, high=1), c.either(constant, of), 5, 8, iou, threshold), within=0)
    c = CASES.new("combined suppression of other classes")
    combine(c, c.input([1, 6, 2, 4]), c.input([1, 6, 3]), 2, 4)
    c.refused("boxes [1,6,2,4] and scores [1,6,3] do not match")
    c = CASES.new("combined suppression that keeps nothing")
    combine(c, c.input([1, 6, 1, 4]), c.input([1, 6, 3]), 0, 4)
    c.refused("max_output_size_per_class is 0 and max_total_size 4")
    c = CASES.new("combined suppression of no boxes")
    combine(c, c.input([1, 0, 1, 4]), c.input([1, 0, 3]), 2, 4)
    c.refused("there are no boxes")


def in_top():
    """With ties, with numbers that are none, and with targets that are no class."""
    for op in ("InTopK", "InTopKV2"):
        for k in (1, 2, 4, 9, 0):
            for dtype in (np.int32, np.int64):
                c = CASES.new(f"{op} {k} {np.dtype(dtype).name}")
                x = np.round(c.random([12, 4], np.float32, -2, 2))
                x[3, 1], x[4, 2], x[5, 0] = np.nan, np.inf, -np.inf
                targets = c.source.randint(0, 4, 12).astype(dtype)
                targets[6:9] = [-1, 4, 77]
                x, at = c.input(x), c.input(targets)
                c.gives(c.node(op, [x, at], k=k) if op == "InTopK" else c.node(op, [x, at, c.const(dtype(k))]))
    c = CASES.new("InTopKV2 of a k that is not known")
    c.gives(c.node("InTopKV2", [c.input([5, 6]), c.input([5], np.int32, 0, 5), c.input(np.array(2, np.int32))]))
    c = CASES.new("InTopK of no classes and of no rows")
    c.gives(c.node("InTopK", [c.input([3, 0]), c.input([3], np.int32, 0, 5)], k=2), c.node("InTopK", [c.input([0, 3]), c.input([0], np.int32)], k=2))
    c = CASES.new("InTopK of other targets")
    c.node("InTopK", [c.input([3, 4]), c.input([2], np.int32)], k=2)
    c.refused("predictions [3,4] and targets [2] do not match")


def positions():
    for given in ([5], [2, 3], [2, 2, 2], [1]):
        for dtype in (np.bool_, np.float32, np.int32, np.uint8):
            for high in (0, 1):
                c = CASES.new(f"where of {given} {np.dtype(dtype).name} up to {high}")
                values = np.round(c.random(given, np.float32, 0, 1)) * high
                c.gives(c.node("Where", [c.input(values.astype(dtype))]), if_none=-1)
    c = CASES.new("rows that a mask keeps")
    mask = c.input(np.array([True, False, True, False, False, True]))
    rows = c.node("Squeeze", [c.node("Where", [mask])], squeeze_dims=[1])
    c.gives(c.node("GatherV2", [c.input([6, 3]), rows, c.const(np.int32(0))]), if_none=0)
    for op, node in (("Size", "Size"), ("Shape", "Shape")):
        c = CASES.new(f"{op} of what a mask keeps")
        kept = c.node("Where", [c.input([6], np.bool_)])
        c.node("Cast", [c.node(node, [kept])], SrcT=np.int32, DstT=np.float32)
        c.refused("is a size that depends on how much an op finds")


def pad(c, *values, **form):
    c.options += ["--pad_dynamic"]
    c.gives(*values, **form)


def different():
    """--pad_dynamic: what is different in values that are not known."""
    for dtype in (np.float32, np.int32, np.uint8, np.int64):
        for count in (1, 4, 9):
            c = CASES.new(f"unique of {count} unknown {np.dtype(dtype).name}")
            x = c.input([count], dtype, 0, 3)
            y, counted = c.node("Unique", [x], out_idx=np.int64), c.node("UniqueWithCounts", [x])
            pad(c, y, y[1], counted, counted[1], counted[2], if_none=0)
    for axis in (0, 1, -1):
        for form, outputs_of in (("UniqueV2", 2), ("UniqueWithCountsV2", 3)):
            c = CASES.new(f"{form} of unknown slices along {axis}")
            x = c.input(np.round(c.random([3, 4], np.float32, 0, 1))[[0, 2, 0, 1]][:, [3, 1, 1, 0]])
            y = c.node(form, [x, c.const(np.array([axis], np.int32))])
            pad(c, *[y[i] for i in range(outputs_of)], if_none=0)
    c = CASES.new("UniqueV2 of an unknown list, no axis")
    y = c.node("UniqueV2", [c.input([5], np.int32, 0, 2), c.const(np.array([], np.int32))])
    pad(c, y, y[1], if_none=0)
    c = CASES.new("what to do for unknown values")
    c.node("UniqueWithCounts", [c.input([3])])
    c.refused("--pad_dynamic makes room for all")


def masked():
    """--pad_dynamic: positions, and what a mask keeps, where nothing is found as well."""
    for kept in ([1, 0, 1, 0, 0, 1], [0] * 6, [1] * 6):
        c = CASES.new(f"padded rows that {kept} keeps")
        mask = c.input(np.array(kept, bool))
        found = c.node("Where", [mask])
        rows = c.node("GatherV2", [c.input([6, 3]), c.node("Squeeze", [found], squeeze_dims=[1]), c.const(np.int32(0))])
        pad(c, found, *([rows] if any(kept) else []), if_none=0)
        c = CASES.new(f"padded elements that {kept} keeps")
        mask = c.input(np.array(kept, bool).reshape(2, 3))
        found = c.node("Where", [mask])
        pad(c, found, *([c.node("GatherNd", [c.input([2, 3]), found])] if any(kept) else []), if_none=0)


boxes()
soft_boxes()
padded_boxes()
combined()
in_top()
positions()
different()
masked()
