# SPDX-License-Identifier: Apache-2.0
"""Colors: RGBToHSV, HSVToRGB, AdjustHue, AdjustSaturation."""

import itertools

import numpy as np
from case import Cases

CASES = Cases()
# All orders of channels, with equal ones, grey and black, in steps that are numbers of float32.
CORNERS = np.array(list(itertools.product((0, 0.25, 0.75, 1), repeat=3)), np.float32)
OPS = ("RGBToHSV", "HSVToRGB")
ADJUSTED = (("AdjustHue", "delta", (0.0, 0.25, -0.4, 1.0, -1.0, 0.9)), ("AdjustSaturation", "scale", (0.0, 0.5, 1.0, 3.0, -1.0)))


def converted():
    for op in OPS:
        for dims in ([3], [5, 3], [4, 5, 3], [2, 3, 4, 3]):
            c = CASES.new(f"{op} of {dims}")
            c.gives(c.node(op, [c.input(dims, np.float32, 0, 1)]))
        for constant in (False, True):
            c = CASES.new(f"{op} of corners, {constant=}")
            c.gives(c.node(op, [c.either(constant, CORNERS)]))
        c = CASES.new(f"{op} of large and negative numbers")
        c.gives(c.node(op, [c.input([40, 3], np.float32, 0 if op == "HSVToRGB" else -3, 1 if op == "HSVToRGB" else 9)]))
        for dims, part in (([4], "the input [4] is not of 1 axes or more with 3 colors"), ([], "with 3 colors in the last one")):
            c = CASES.new(f"{op} of no colors {dims}")
            c.node(op, [c.input(dims)])
            c.refused(part)


def adjusted():
    for op, what, factors in ADJUSTED:
        for factor in factors:
            for constant in (False, True):
                c = CASES.new(f"{op} by {factor}, {constant=}")
                c.gives(c.node(op, [c.input([2, 4, 5, 3], np.float32, 0, 1), c.either(constant, np.array(factor, np.float32))]))
        c = CASES.new(f"{op} of corners")
        c.gives(c.node(op, [c.input(CORNERS.reshape(8, 8, 3)), c.const(np.float32(0.3))]))
        c = CASES.new(f"{op} of a row")
        c.node(op, [c.input([4, 3]), c.const(np.float32(0.3))])
        c.refused("the input [4,3] is not of 3 axes or more")
        c = CASES.new(f"{op} by two factors")
        c.node(op, [c.input([4, 4, 3]), c.const(np.array([1, 2], np.float32))])
        c.refused(f"input 1 ({what}) is not one number")


converted()
adjusted()
