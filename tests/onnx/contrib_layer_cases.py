# SPDX-License-Identifier: Apache-2.0
"""Layers that ONNX Runtime joins with others, and its variants of ONNX's operators: cases for each attribute and optional
operand."""

import contrib_by_hand as by_hand
from contrib_node import HALF, Node, floats, source
from one_node import Const, np


def products():
    r = source("products")
    a, b = floats(r, 2, 3, 4), floats(r, 2, 4, 5)
    for op in ("FusedMatMul", "TransposeMatMul"):
        for label, weights in (("", b), (", known", Const(b, "f4"))):
            turned = Const(b.transpose(0, 2, 1), "f4") if label else b.transpose(0, 2, 1)
            yield Node(f"{op}{label}", op, [a, weights], alpha=0.25)
            yield Node(f"{op}{label}, turned", op, [a.transpose(0, 2, 1), turned], transA=1, transB=1)
    for label, weights in (("", b[0]), (", known", Const(b[0], "f4"))):
        yield Node(f"FusedMatMul of a vector{label}", "FusedMatMul", [a[0, 0], weights], transA=1, alpha=2.0)
        yield Node(f"FusedMatMul of a batch and a matrix{label}", "FusedMatMul", [a, weights], alpha=-1.0)
    yield Node("FusedMatMul with a vector", "FusedMatMul", [a, b[0, :, 0]], transB=1, alpha=3.0)
    yield Node("FusedMatMul of doubles", "FusedMatMul", [a.astype("f8"), b.astype("f8")], ("f8",), alpha=0.5)
    c, d = floats(r, 3, 2, 6, 4), floats(r, 4, 2, 6, 5)
    yield Node("FusedMatMul, batches turned", "FusedMatMul", [c, d], transBatchA=1, transBatchB=1)
    yield Node("FusedMatMul, all turned", "FusedMatMul", [c.transpose(3, 1, 2, 0), Const(d.transpose(3, 1, 2, 0), "f4")],
               transBatchA=1, transBatchB=1, transA=1, transB=1, alpha=0.5)
    yield Node("FusedMatMul, one batch turned", "FusedMatMul", [floats(r, 3, 2, 4), b], transBatchA=1)


def gemms():
    r = source("gemms")
    a, b, c = floats(r, 3, 4), floats(r, 4, 5), floats(r, 5)
    known = Const(b, "f4")
    numbers = {"LeakyRelu": (0.25,), "HardSigmoid": (0.25, 0.5), "Elu": (0.75,), "ThresholdedRelu": (0.5,)}
    for activation in ("Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", *numbers):
        given = dict(zip(("activation_alpha", "activation_beta"), numbers.get(activation, ())))
        yield Node(f"FusedGemm with {activation}", "FusedGemm", [a, known, Const(c, "f4")], activation=activation, **given)
    yield Node("FusedGemm of computed matrices", "FusedGemm", [a, b, floats(r, 3, 1)], activation="Relu", alpha=0.5, beta=2.0)
    yield Node("FusedGemm, turned", "FusedGemm", [a.T.copy(), Const(b.T.copy(), "f4")], activation="Tanh", transA=1, transB=1)


def convolutions():
    r = source("convolutions")
    x, w, b = floats(r, 2, 4, 5, 6), floats(r, 6, 2, 3, 3), floats(r, 6)
    numbers = {"LeakyRelu": [0.25], "Clip": [-0.5, 1.5], "HardSigmoid": [0.25, 0.5]}
    for activation in ("Relu", "Tanh", "Sigmoid", "HardSwish", *numbers):
        given = {"activation_params": numbers[activation]} if activation in numbers else {}
        yield Node(f"FusedConv with {activation}", "FusedConv", [x, Const(w, "f4"), Const(b, "f4")], group=2,
                   activation=activation, **given)
    more = {"group": 2, "strides": [2, 1], "pads": [1, 0, 0, 2], "dilations": [1, 2]}
    z = floats(r, 2, 6, 2, 4)
    yield Node("FusedConv and a sum", "FusedConv", [x, Const(w, "f4"), b, z], activation="Relu", **more)
    yield Node("FusedConv and a sum without bias", "FusedConv", [x, w, None, z], kernel_shape=[3, 3], **more)
    yield Node("FusedConv alone", "FusedConv", [x, w, b], auto_pad="SAME_UPPER", group=2)
    yield Node("FusedConv of lines", "FusedConv", [x[:, :, 0], Const(w[:, :, 0], "f4"), None, floats(r, 2, 6, 4)], group=2,
               activation="Tanh")
    yield Node("FusedConv of volumes", "FusedConv", [floats(r, 1, 2, 3, 4, 5), Const(floats(r, 3, 2, 2, 2, 2), "f4")],
               activation="Relu")
    last = x.transpose(0, 2, 3, 1)
    for label, weights in (("", w), (", known", Const(w, "f4"))):
        yield Node(f"NhwcConv{label}", "NhwcConv", [last, weights, Const(b, "f4")], by_hand=by_hand.nhwc_conv, **more)
    yield Node("NhwcConv, depthwise", "NhwcConv", [last, Const(floats(r, 4, 1, 2, 3), "f4")], by_hand=by_hand.nhwc_conv, group=4)


def pools():
    r = source("pools")
    for code, low in (("u1", 0), ("i1", -128)):
        x = r.randint(low, low + 256, (2, 5, 6, 3)).astype(code)
        for label, more in (("", {}), (", padded", {"pads": [1, 0, 1, 1], "strides": [2, 1]}), (", spread", {"dilations": [2, 1]}),
                            (", rounded up", {"strides": [2, 2], "ceil_mode": 1}), (", same", {"auto_pad": "SAME_LOWER"})):
            yield Node(f"NhwcMaxPool of {code}{label}", "NhwcMaxPool", [x], (code,), kernel_shape=[2, 3], **more)


def inverses():
    r = source("inverses")
    for shape in ((1, 1), (2, 2), (5, 5), (2, 3, 4, 4)):
        x = floats(r, *shape) + 4 * np.eye(shape[-1], dtype="f4")[r.permutation(shape[-1])]
        yield Node(f"Inverse of {shape}", "Inverse", [x])
    yield Node("Inverse of doubles", "Inverse", [x.astype("f8")], ("f8",))
    yield Node("Inverse, pivots elsewhere", "Inverse", [np.array([[0, 2, 1], [1, 0, 0], [3, 0, 1]], "f4")])


def variants():
    r = source("variants")
    x, image = floats(r, 3, 4), floats(r, 1, 2, 4, 5)
    grid = floats(r, 1, 3, 2, 2, low=-1.25, high=1.25)
    for axis in (0, 2, -1, -3):
        yield Node(f"ExpandDims {axis}", "ExpandDims", [x, Const(axis, "i4")])
    yield Node("ExpandDims [1]", "ExpandDims", [x, Const([1], "i4")])
    for mode, padding, align in (("bilinear", "zeros", 0), ("nearest", "border", 1), ("bicubic", "reflection", 1)):
        yield Node(f"GridSample {mode}", "GridSample", [image, grid], mode=mode, padding_mode=padding, align_corners=align)
    yield Node("GridSample", "GridSample", [image, grid])
    yield Node("Trilu", "Trilu", [x])
    yield Node("Trilu, lower", "Trilu", [floats(r, 2, 4, 4), Const(1)], upper=0)
    yield Node("Trilu, upper", "Trilu", [x.astype("f8"), Const(-1)], ("f8",), upper=1)
    yield Node("Pad", "Pad", [x, Const([0, 1, 2, 0])])
    yield Node("Pad with a number", "Pad", [x, Const([[0, 1, 2, 0]]), Const(0.5, "f4")], mode="constant")
    yield Node("Pad and crop", "Pad", [x, Const([-1, 1, 1, -2]), Const([0.5], "f4")])
    for mode in ("reflect", "edge"):
        yield Node(f"Pad by {mode}", "Pad", [x, Const([1, 2, 0, 1])], mode=mode)
    for code in ("f4", "f8", "i2", "i4", "i8"):
        yield Node(f"Range of {code}", "Range", [Const(1, code), Const([6], code)], (code,))
    yield Node("Range by steps", "Range", [Const(6, "i8"), Const(1, "i8"), Const(-2, "i8")], ("i8",))
    yield Node("Unique", "Unique", [Const([2, 1, 1, 3, 4, 3], "f4")], ("f4", "i8", "i8"))


CASES = [*products(), *gemms(), *convolutions(), *pools(), *inverses(), *variants()]
