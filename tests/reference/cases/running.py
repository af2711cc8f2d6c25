# SPDX-License-Identifier: Apache-2.0
"""CumulativeLogsumexp."""

import numpy as np
from case import Cases

CASES = Cases()
INFINITE = np.array([-np.inf, -np.inf, 1, 0, np.inf, 2, np.inf, -1], np.float32)
FAR = np.array([0, -20, 88, -100, 90, 3e38, -3e38, 1], np.float32)

for exclusive in (False, True):
    for reverse in (False, True):
        attributes = {"exclusive": exclusive, "reverse": reverse}
        for dims, axis in (([7], 0), ([3, 8], 1), ([2, 5, 3], -2), ([1], 0), ([2, 1], 1), ([2], 0)):
            for constant in (False, True):
                c = CASES.new(f"of {dims} along {axis}, {exclusive=}, {reverse=}, {constant=}")
                c.gives(c.node("CumulativeLogsumexp", [c.either(constant, dims), c.const(np.int32(axis))], **attributes))
        for name, values in (("infinite", INFINITE), ("far", FAR), ("near", np.array([0, -9, -12, -10], np.float32))):
            c = CASES.new(f"of {name} numbers, {exclusive=}, {reverse=}")
            c.gives(c.node("CumulativeLogsumexp", [c.input(values), c.const(np.int32(0))], **attributes))
c = CASES.new("along an axis that is not there")
c.node("CumulativeLogsumexp", [c.input([3]), c.const(np.int32(1))])
c.refused("axis")
c = CASES.new("along an axis that is not known")
c.node("CumulativeLogsumexp", [c.input([3]), c.input(np.array(0, np.int32))])
c.refused("axis")
