# SPDX-License-Identifier: Apache-2.0
"""Makers of random nodes, as in random_nodes.py: layers that graph optimizers join, normalizations, boxes, bytes."""

import numpy as np
from random_quantized import BYTE, SUM, both, bounds, bytes_of, sizes
from tf_writer import DType

from random_nodes import F32, I32, I64, form, image, leave_out, maker, maybe, padding, pick, value, window

FUSED = ("BiasAdd", "BiasAdd+Relu", "BiasAdd+Relu6", "BiasAdd+Elu", "BiasAdd+LeakyRelu", "BiasAdd+Tanh", "BiasAdd+Sigmoid")


def fused(r, *more):
    """The operators that a node is joined with, and the slope of one."""
    ops = pick(r, *FUSED, *more).split("+")
    return ops, {"leakyrelu_alpha": float(r.randint(1, 8) / 8)} if "LeakyRelu" in ops and maybe(r) else {}


def statistics(c, channels):
    """Scale, offset, mean and variance."""
    return [c.random_const([channels], low=low, high=high) for low, high in ((0.5, 2), (-1, 1), (-1, 1), (0.25, 4))]


@maker("_FusedConv2D")
def joined_conv(c, r, op):
    first = r.randint(4) == 0
    ops, more = fused(r, "FusedBatchNorm", "FusedBatchNorm+Relu", "FusedBatchNorm+Relu6")
    taken, given = (int(v) for v in r.randint(1, 5, 2))
    args = statistics(c, given) if ops[0] == "FusedBatchNorm" else [value(c, r, [given])]
    more |= {"epsilon": float(r.randint(1, 9) / 64)} if len(args) == 4 else {}
    inputs = [image(c, r, first, taken), value(c, r, [*map(int, r.randint(1, 4, 2)), taken, given]), *args]
    step = pick(r, (1, 1), (2, 2), (1, 2))
    c.gives(c.node(op, inputs, name="fused", TArgs=[F32] * len(args), num_args=len(args), num_host_args=0, fused_ops=ops,
                   strides=window(r, first, *step), **padding(r, first, True), **form(first, r), **more))


@maker("_FusedMatMul")
def joined_product(c, r, op):
    rows, inner, columns = (int(v) for v in r.randint(1, 7, 3))
    a, b = maybe(r), maybe(r)
    ops, more = fused(r)
    inputs = [value(c, r, [inner, rows] if a else [rows, inner]), value(c, r, [columns, inner] if b else [inner, columns]),
              value(c, r, [columns])]
    c.gives(c.node(op, inputs, name="fused", num_args=1, fused_ops=ops, transpose_a=a, transpose_b=b, **more))


@maker("_FusedBatchNormEx", "BatchNormWithGlobalNormalization")
def normalization(c, r, op):
    first = op == "_FusedBatchNormEx" and maybe(r)
    channels = int(r.randint(1, 6)) if op.startswith("Batch") else int(r.randint(1, 3)) * 4
    x = image(c, r, first, channels)
    scale, offset, mean, variance = statistics(c, channels)
    if op.startswith("Batch"):
        c.producer = 8  # later versions do not have it
        c.gives(c.node(op, [x, mean, variance, offset, scale], variance_epsilon=float(r.randint(1, 9) / 64),
                       scale_after_normalization=maybe(r)))
        return
    side = [c.input(c.random(c.given["in0"].shape))] if maybe(r) else []
    c.gives(c.node(op, [x, scale, offset, mean, variance, *side], name="fused", num_side_inputs=len(side), T=F32, U=F32, is_training=False,
                   activation_mode="Relu" if side or maybe(r) else "Identity", epsilon=float(r.randint(1, 9) / 64), **form(first, r)))


@maker(*(f"NonMaxSuppression{version}" for version in ("", "V2", "V3", "V4")))
def boxes(c, r, op):
    count, version = int(r.randint(1, 12)), op[len("NonMaxSuppression"):]
    places = np.round(c.random([count, 4], F32, 0, 4)) / 2
    iou = float(pick(r, 0, 0.25, 0.5, 1))
    inputs = [value(c, r, places), value(c, r, [count], low=-0.5, high=1), c.const(np.array(r.randint(1, 15), I32))]
    inputs += [c.const(F32(iou))] if version else []
    inputs += [c.const(F32(pick(r, 0, 0.3, -1)))] if version in ("V3", "V4") else []
    more = leave_out(r, pad_to_max_output_size=maybe(r)) if version == "V4" else leave_out(r, iou_threshold=iou) if not version else {}
    y = c.node(op, inputs, **more)
    c.gives(*([y[0], y[1]] if version == "V4" else [y]), if_none=0)


@maker("CombinedNonMaxSuppression")
def combined_boxes(c, r, op):
    batches, count, classes = (int(v) for v in r.randint(1, 7, 3))
    own = pick(r, 1, classes)
    places = np.round(c.random([batches, count, own, 4], F32, -1, 5)) / 4
    of = np.stack([r.permutation(count * classes).reshape(count, classes) for _ in range(batches)]) / 16 - 0.25
    numbers = [np.array(r.randint(1, 9), I32), np.array(r.randint(1, 20), I32), F32(pick(r, 0, 0.25, 0.5, 1)), F32(pick(r, 0, 0.3, -1, -np.inf))]
    y = c.node(op, [value(c, r, places.astype(F32)), value(c, r, of.astype(F32)), *map(c.const, numbers)],
               **leave_out(r, pad_per_class=maybe(r), clip_boxes=maybe(r)))
    c.gives(*(y[i] for i in range(4)), within=0)


@maker("DrawBoundingBoxes", "DrawBoundingBoxesV2")
def frames(c, r, op):
    batches, height, width, count = (int(v) for v in r.randint(1, 9, 4))
    channels = int(pick(r, 1, 3, 4))
    places = np.round(c.random([batches, count, 4], F32, -3, 11)) / 8
    if maybe(r):
        places = np.concatenate([places.min(1, keepdims=True)[..., :2], places.max(1, keepdims=True)[..., 2:]], -1)
    table = [value(c, r, [int(r.randint(0, 4)), int(r.randint(channels, 5))])] if op.endswith("V2") else []
    c.gives(c.node(op, [value(c, r, [batches, height, width, channels]), value(c, r, places.astype(F32)), *table]))


@maker("InTopK", "InTopKV2")
def among_best(c, r, op):
    rows, classes, k = (int(v) for v in r.randint(1, 8, 3))
    x = value(c, r, np.round(c.random([rows, classes])))
    targets = value(c, r, [rows], pick(r, I32, I64), -1, classes)
    dtype = np.dtype(targets.dtype).type
    c.gives(c.node(op, [x, targets], k=k) if op == "InTopK" else c.node(op, [x, targets, value(c, r, np.array(k, dtype))]))


@maker("QuantizeV2", "Dequantize")
def to_bytes(c, r, op):
    """Within a step; numbers beside the middle of two bytes are rounded in other ways."""
    shape, mode, (low, high) = sizes(r, int(r.randint(1, 4))), pick(r, "MIN_FIRST", "MIN_COMBINED", "SCALED"), bounds(r)
    dtype = pick(r, BYTE, BYTE, DType("qint8"))
    if dtype == BYTE and mode == "SCALED":
        low = 0
        high = abs(high) + 0.5
    ends = [c.const(np.array(end, F32)) for end in (low, high)]
    how = {"mode": mode} if mode != "MIN_COMBINED" or maybe(r) else {}
    q = c.node("QuantizeV2", [value(c, r, shape, F32, low - 1, high + 1), *ends], T=dtype, **how, **leave_out(r, ensure_minimum_range=0.5),
               **({"round_mode": "HALF_TO_EVEN"} if mode == "SCALED" and maybe(r) else {}))
    y = c.node("Dequantize", [q, q[1], q[2]], T=dtype, **how)
    c.gives(y, q[1], q[2], within=0.01)


@maker("RequantizationRange")
def range_of_sums(c, r, op):
    rows, inner, columns = sizes(r, 3, 9)
    y = both(c, "QuantizedMatMul", bytes_of(c, r, [rows, inner]), bytes_of(c, r, [inner, columns]), T1=BYTE, T2=BYTE, Toutput=SUM)
    y = c.node(op, [y, y[1], y[2]], Tinput=SUM)
    c.gives(y, y[1], within=1e-6)
