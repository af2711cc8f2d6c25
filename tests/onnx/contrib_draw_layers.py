# SPDX-License-Identifier: Apache-2.0
"""Random nodes of layers that ONNX Runtime joins with others, and of its variants of ONNX's operators."""

import contrib_by_hand as by_hand
from contrib_draw import attributes, extent, known, maybe, node, rows
from contrib_node import Node, floats
from one_node import Const, np


def draw_product(op):
    def draw(r):
        batch, m, k, n = rows(r, extent(r, 0, 2)) if r.rand() < 0.8 else [], extent(r), extent(r), extent(r)
        turn = {name: int(r.rand() < 0.4) for name in ("transA", "transB")}
        a, b = [*batch, m, k], [*batch, k, n]
        if batch and op == "FusedMatMul" and r.rand() < 0.4:
            turn |= {name: int(r.rand() < 0.5) for name in ("transBatchA", "transBatchB")}
        elif r.rand() < 0.3:
            b = b[-2:] if r.rand() < 0.5 else [*(1 for _ in batch), *b[-2:]]
        if turn["transA"]:
            a[-2:] = a[:-3:-1]
        if turn["transB"]:
            b[-2:] = b[:-3:-1]
        for dims, name in ((a, "transBatchA"), (b, "transBatchB")):
            if turn.get(name):
                dims[:-1] = [dims[-2], *dims[:-2]]
        if r.rand() < 0.1 and not turn.get("transBatchA") and not turn.get("transBatchB"):
            a = [k]
        return Node(op, op, [floats(r, *a), known(r, floats(r, *b))], **turn, **attributes(r, alpha=[0.5, -2.0]))
    return draw


GEMM = {"Relu": 0, "Tanh": 0, "Sigmoid": 0, "Softplus": 0, "Softsign": 0, "LeakyRelu": 1, "HardSigmoid": 2, "Elu": 1,
        "ThresholdedRelu": 1}
CONV = {"Relu": 0, "Tanh": 0, "Sigmoid": 0, "HardSwish": 0, "LeakyRelu": 1, "Clip": 2, "HardSigmoid": 2}


def activation(r, known_ones):
    name = list(known_ones)[r.randint(len(known_ones))]
    return name, sorted(float(x) for x in floats(r, known_ones[name], low=0.1, high=1.0))


def draw_gemm(r):
    m, k, n = extent(r), extent(r), extent(r)
    turn = {name: int(r.rand() < 0.5) for name in ("transA", "transB")}
    c = [[n], [1, n], [m, 1], [m, n], [1]][r.randint(5)]
    name, numbers = activation(r, GEMM)
    return Node("FusedGemm", "FusedGemm", [floats(r, *([k, m] if turn["transA"] else [m, k])),
                                           known(r, floats(r, *([n, k] if turn["transB"] else [k, n]))),
                                           *([known(r, floats(r, *c))] if r.rand() < 0.7 else [])],
                activation=name, **dict(zip(("activation_alpha", "activation_beta"), numbers)), **turn,
                **attributes(r, alpha=[0.5, 2.0], beta=[0.25, -1.0]))


def windows(r, axes):
    """(attributes, extents of the kernel, of the input, of the output)"""
    kernel, stride, dilation = [extent(r, 1, 3) for _ in range(axes)], [extent(r, 1, 2) for _ in range(axes)], \
        [extent(r, 1, 2) for _ in range(axes)]
    pads = [extent(r, 0, 2) for _ in range(2 * axes)]
    size = [extent(r, 5, 7) for _ in range(axes)]
    out = [(size[i] + pads[i] + pads[i + axes] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(axes)]
    return {"strides": stride, "dilations": dilation, "pads": pads}, kernel, size, out


def draw_conv(r):
    more, kernel, size, out = windows(r, extent(r, 1, 2))
    group, ins, outs = extent(r, 1, 3), extent(r, 1, 3), extent(r, 1, 3)
    name, numbers = activation(r, CONV)
    used = r.rand() < 0.85
    if used:
        more |= {"activation": name, **({"activation_params": numbers} if numbers else {})}
    inputs = [floats(r, 2, group * ins, *size), known(r, floats(r, group * outs, ins, *kernel)),
              maybe(r, known(r, floats(r, group * outs))), maybe(r, floats(r, 2, group * outs, *out))]
    while inputs[-1] is None:
        inputs.pop()
    return Node("FusedConv", "FusedConv", inputs, group=group, **more)


def draw_nhwc_conv(r):
    more, kernel, size, _ = windows(r, 2)
    group, ins, outs = extent(r, 1, 3), extent(r, 1, 3), extent(r, 1, 3)
    return Node("NhwcConv", "NhwcConv", [floats(r, 2, *size, group * ins), known(r, floats(r, group * outs, ins, *kernel)),
                                         *([known(r, floats(r, group * outs))] if r.rand() < 0.5 else [])],
                by_hand=by_hand.nhwc_conv, group=group, **more)


def draw_nhwc_max_pool(r):
    more, kernel, size, _ = windows(r, 2)
    more["pads"] = [min(pad, kernel[i % 2] - 1) for i, pad in enumerate(more["pads"])]  # no window of padding alone
    code, low = (("u1", 0), ("i1", -128))[r.randint(2)]
    return Node("NhwcMaxPool", "NhwcMaxPool", [r.randint(low, low + 256, (2, *size, extent(r, 1, 4))).astype(code)], (code,),
                kernel_shape=kernel, **more)


def draw_inverse(r):
    n, batch = extent(r, 1, 6), rows(r, extent(r, 0, 1)) if r.rand() < 0.7 else []
    batch = [b + (b == n) for b in batch]  # dims tell axes apart
    x = floats(r, *batch, n, n) + 5 * np.eye(n, dtype="f4")[r.permutation(n)]
    return Node("Inverse", "Inverse", [x], within=1e-4)


def draw_grid_sample(r):
    return node(r, "GridSample", [floats(r, 2, extent(r), *rows(r, 2)), floats(r, 2, *rows(r, 2), 2, low=-1.5, high=1.5)], half=0,
                **attributes(r, mode=["bilinear", "nearest", "bicubic"], padding_mode=["zeros", "border", "reflection"],
                             align_corners=[0, 1]))


def draw_expand_dims(r):
    dims = rows(r)
    return Node("ExpandDims", "ExpandDims", [floats(r, *dims), Const(int(r.randint(-len(dims) - 1, len(dims) + 1)), "i4")])


def draw_trilu(r):
    return Node("Trilu", "Trilu", [floats(r, *rows(r)), *([Const(int(r.randint(-4, 5)))] if r.rand() < 0.7 else [])],
                **attributes(r, upper=[0, 1]))


def draw_pad(r):
    dims = [extent(r, 3, 6) for _ in range(extent(r, 1, 4))]
    mode = ["constant", "reflect", "edge", None][r.randint(4)]
    pads = Const([int(r.randint(-1, 3)) for _ in range(2 * len(dims))])
    fills = mode in ("constant", None) and r.rand() < 0.6
    return Node("Pad", "Pad", [floats(r, *dims), pads, *([Const(1.5, "f4")] if fills else [])], **({"mode": mode} if mode else {}))


def draw_range(r):
    code = ["f4", "i4", "i8", "i2"][r.randint(4)]
    delta = int(r.randint(1, 4)) * (1 if r.rand() < 0.5 else -1)
    start = int(r.randint(-5, 5))
    inputs = [start, start + delta * extent(r) + int(r.randint(2)), delta]
    return Node("Range", "Range", [Const(v, code) for v in (inputs if delta != 1 or r.rand() < 0.5 else inputs[:2])], (code,))


def draw_unique(r):
    return Node("Unique", "Unique", [Const(r.randint(0, 5, extent(r, 1, 12)), "f4")], ("f4", "i8", "i8"))


DRAWS = {
    "ExpandDims": draw_expand_dims,
    "FusedConv": draw_conv,
    "FusedGemm": draw_gemm,
    "FusedMatMul": draw_product("FusedMatMul"),
    "GridSample": draw_grid_sample,
    "Inverse": draw_inverse,
    "NhwcConv": draw_nhwc_conv,
    "NhwcMaxPool": draw_nhwc_max_pool,
    "Pad": draw_pad,
    "Range": draw_range,
    "TransposeMatMul": draw_product("TransposeMatMul"),
    "Trilu": draw_trilu,
    "Unique": draw_unique,
}
