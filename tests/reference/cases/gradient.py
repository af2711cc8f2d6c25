# SPDX-License-Identifier: Apache-2.0
"""Gradients of functions, as graphs that were differentiated have them."""

import numpy as np
from case import Cases

CASES = Cases()
F32, F16, I32 = np.float32, np.float16, np.int32
INF, NAN = np.inf, np.nan

# Operators that take the gradient first, and those that take the function's result first.
OF_OPERANDS = ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad", "EluGrad", "SeluGrad")
OF_RESULTS = ("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad")


def operands(op, gradient, other):
    return [gradient, other] if op in OF_OPERANDS else [other, gradient]


def functions():
    for op in (*OF_OPERANDS, *OF_RESULTS):
        for constant in (False, True):
            c = CASES.new(f"{op}, {constant=}")
            c.gives(c.node(op, operands(op, c.either(constant, [3, 4]), c.either(constant, [3, 4], low=-3, high=9))))
        c = CASES.new(f"{op} of float16")
        c.gives(c.node(op, operands(op, c.input([6], F16), c.input(np.array([-2, 0.125, 0.25, 0.5, 2, 3], F16)))))
        c = CASES.new(f"{op} of scalars")
        c.gives(c.node(op, operands(op, c.input([]), c.input([], low=1))))
        c = CASES.new(f"{op} of special values")
        values = [-INF, -1, 0, 0.5, 6, 7, INF, NAN]
        gradients = [1, INF, NAN, 0]
        c.gives(c.node(op, operands(op, c.input(np.repeat(np.array(gradients, F32), len(values))),
                                    c.input(np.tile(np.array(values, F32), len(gradients))))))
        c = CASES.new(f"{op} of shapes that differ")
        c.node(op, operands(op, c.input([2, 3]), c.input([3])))
        c.refused("differ in shape")
    for op in ("ReluGrad", "Relu6Grad"):
        c = CASES.new(f"{op} of integers")
        c.gives(c.node(op, [c.input([9], I32, -9, 9), c.input([9], I32, -9, 9)]))
    c = CASES.new("LeakyReluGrad of another slope")
    c.gives(c.node("LeakyReluGrad", [c.input([9]), c.input([9])], alpha=0.5))


def sums():
    for given, attributes in (([2, 3], {}), ([2, 4, 4, 3], {}), ([2, 3, 4, 4], {"data_format": "NCHW"}), ([5, 1, 2], {}),
                              ([2, 3, 2, 2, 2], {"data_format": "NCHW"})):
        for constant in (False, True):
            c = CASES.new(f"BiasAddGrad of {given} {attributes}, {constant=}")
            c.gives(c.node("BiasAddGrad", [c.either(constant, given)], **attributes))
    c = CASES.new("BiasAddGrad of a vector")
    c.node("BiasAddGrad", [c.input([3])])
    c.refused("an input of rank 1 has no axis of channels and one more")


def of_shapes():
    for dtype in (np.int32, np.int64):
        for a, b in (([2, 1, 3], [4, 1]), ([], [2]), ([2, 3], [2, 3]), ([1, 1], [1, 1]), ([1, 1], [1]), ([1, 2], [1, 1]),
                     ([3, 1, 1, 2], [1, 1, 2]), ([0, 2], [2]), ([1], [0]), ([5, 1, 4, 1], [3, 1, 1])):
            c = CASES.new(f"axes of gradients of {a} and {b} in {np.dtype(dtype).name}")
            axes = c.node("BroadcastGradientArgs", [c.const(np.array(a, dtype)), c.const(np.array(b, dtype))])
            c.gives(axes, axes[1])
    c = CASES.new("the gradient of an operand that was broadcast")
    x = c.input([2, 1, 3])
    y = c.node("AddV2", [x, c.input([4, 3])])
    axes = c.node("BroadcastGradientArgs", [c.node("Shape", [x]), c.node("Shape", [y])])
    c.gives(c.node("Reshape", [c.node("Sum", [y, axes]), c.node("Shape", [x])]))
    c = CASES.new("axes of gradients of shapes that do not match")
    c.node("BroadcastGradientArgs", [c.const(np.array([2, 3], I32)), c.const(np.array([3, 2], I32))])
    c.refused("[2,3] and [3,2] cannot be broadcast")
    for axis, shapes in ((1, ([2, 3], [2, 4], [2, 1])), (-2, ([2, 3], [5, 3])), (0, ([4], [0], [2])), (2, ([1, 2, 3, 4], [1, 2, 1, 4]))):
        c = CASES.new(f"offsets along {axis} of {shapes}")
        offsets = c.node("ConcatOffset", [c.const(I32(axis)), *(c.const(np.array(shape, I32)) for shape in shapes)], N=len(shapes))
        c.gives(*(offsets[i] for i in range(len(shapes))))
    c = CASES.new("the gradient of a part")
    x, y = c.input([2, 3]), c.input([2, 4])
    offsets = c.node("ConcatOffset", [c.const(I32(1)), c.node("Shape", [x]), c.node("Shape", [y])], N=2)
    c.gives(c.node("Slice", [c.node("ConcatV2", [x, y, c.const(I32(1))], N=2), offsets[1], c.node("Shape", [y])]), within=0)
    for axis, shapes, part in ((2, ([2, 3], [2, 4]), "concat_dim"), (1, ([2, 3], [3, 4]), "shape 1 cannot be joined with the first"),
                               (0, ([2, 3], [2]), "shape 1 cannot be joined with the first")):
        c = CASES.new(f"no offsets along {axis} of {shapes}")
        offsets = c.node("ConcatOffset", [c.const(I32(axis)), *(c.const(np.array(shape, I32)) for shape in shapes)], N=len(shapes))
        c.node("Identity", [offsets[1]])
        c.refused(part)


functions()
sums()
of_shapes()
