# SPDX-License-Identifier: Apache-2.0
"""Random nodes of quantized layers that oneDNN joins with others, and of quantized normalizations and images.
Importing this makes makers of random_nodes.py."""

import numpy as np
from random_nodes import maker, maybe, pick
from random_quantized import BYTE, F32, I32, SUM, bytes_of, sizes
from tf_writer import DType, Tensor

SIGNED = DType("qint8")


def scalar(c, number):
    return c.const(np.array(number, F32))


def rounded(r, low, high):
    return float(np.round(r.uniform(low, high), 2))


def unsigned(c, r, dims):
    """Bytes of a range from 0 on."""
    c.by_onednn = True
    high = rounded(r, 0.5, 6)
    x = c.input(dims, low=0, high=high)
    return c.node("QuantizeV2", [x, scalar(c, 0), scalar(c, high)], T=BYTE, mode="SCALED", round_mode="HALF_TO_EVEN")


def content(c, array, dtype):
    return c.node("Const", [], value=Tensor(array, "content", dtype), dtype=dtype)


def filters(c, r, dims):
    return content(c, c.random(dims, np.int8, -127, 127), SIGNED)


def ranges(c, r, channels, by_channel):
    """Bounds of a filter: one of each, or one for each channel."""
    count = [channels] if by_channel else []
    return [c.const(np.round(r.uniform(*ends, count), 2).astype(F32)) for ends in ((-1, -0.1), (0.1, 1))]


def bias_of(c, r, channels, integers):
    if integers:
        return content(c, c.random([channels], I32, -9000, 9000), SUM)
    return c.const(c.random([channels], low=-1, high=1))


def gives(c, y, dtype, bias=False):
    """Within a step: oneDNN adds a bias of floats to sums of floats, which may lie beside a half."""
    c.gives(c.node("Cast", [y], SrcT=dtype, DstT=F32), y[1], y[2], within=0.01 if dtype != SUM else 1e-4 if bias else 1e-6)


def window(r):
    """Attributes of a convolution, the size of its input and of its output, by its kernel."""
    kernel, stride, padding = sizes(r, 2, 4), int(r.randint(1, 3)), pick(r, "SAME", "VALID")
    size = [k + int(r.randint(0, 4)) for k in kernel]
    out = [-(-s // stride) if padding == "SAME" else (s - k) // stride + 1 for s, k in zip(size, kernel)]
    return {"strides": [1, stride, stride, 1], "padding": padding}, kernel, size, out


CONV = "QuantizedConv2D"
DEPTHWISE = "QuantizedDepthwiseConv2D"


@maker(*(CONV + rest for rest in """AndRelu AndReluAndRequantize AndRequantize PerChannel WithBias WithBiasAndRelu
       WithBiasAndReluAndRequantize WithBiasAndRequantize WithBiasSignedSumAndReluAndRequantize
       WithBiasSumAndReluAndRequantize""".split()),
       *(DEPTHWISE + rest for rest in ("", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize")))
def layer(c, r, op):
    more, kernel, size, out = window(r)
    taken, given, count = int(r.randint(1, 5)), int(r.randint(1, 6)), int(r.randint(1, 3))
    dims = [*kernel, taken, 1 if op.startswith(DEPTHWISE) else given]
    channels = taken if op.startswith(DEPTHWISE) else given
    to_bytes = "Requantize" in op
    by_channel = to_bytes and maybe(r) and op != CONV + "AndRequantize" and not op.startswith(DEPTHWISE)
    x = unsigned(c, r, [count, *size, taken])
    inputs = [x[0], filters(c, r, dims)]
    integers = "Bias" in op and to_bytes and maybe(r)
    if "Bias" in op:
        inputs.append(bias_of(c, r, channels, integers))
        more |= {"Tbias": SUM if integers else F32} if to_bytes else {}
    inputs += [x[1], x[2], *ranges(c, r, channels, by_channel)]
    relu = "Relu" in op
    to = SUM if not to_bytes else BYTE if relu else SIGNED
    if to_bytes:
        inputs += [scalar(c, 0 if relu else rounded(r, -4, -0.5)), scalar(c, rounded(r, 0.5, 4))]
    if "Sum" in op:
        added = signed(c, r, [count, *out, given]) if "Signed" in op else unsigned(c, r, [count, *out, given])
        inputs += [added[0], added[1], added[2]]
        more |= {"Tsummand": SIGNED if "Signed" in op else BYTE}
    gives(c, c.node(op, inputs, Tinput=BYTE, Tfilter=SIGNED, out_type=to, **more), to, "Bias" in op)


def signed(c, r, dims):
    """Bytes with signs: of a layer, because QuantizeV2 of oneDNN gives those in steps of another size."""
    x = unsigned(c, r, dims)
    inputs = [x[0], filters(c, r, [1, 1, dims[-1], dims[-1]]), x[1], x[2], *ranges(c, r, dims[-1], False), scalar(c, -2.1), scalar(c, 1.5)]
    return c.node(CONV + "AndRequantize", inputs, Tinput=BYTE, Tfilter=SIGNED, out_type=SIGNED, strides=[1, 1, 1, 1], padding="VALID")


MATRICES = "QuantizedMatMulWithBias"


@maker(*(MATRICES + rest for rest in ("", "AndDequantize", "AndRelu", "AndReluAndRequantize", "AndRequantize")))
def product(c, r, op):
    rows, inner, columns = sizes(r, 3, 9)
    x = unsigned(c, r, [rows, inner])
    bounds = [scalar(c, 0), scalar(c, rounded(r, 0.5, 4))] if "equantize" in op else []
    integers = op.endswith("Requantize") and maybe(r)
    types = {"Tbias": SUM if integers else F32} if bounds else {}
    to = F32 if "AndDequantize" in op else BYTE if bounds else SUM
    inputs = [x[0], filters(c, r, [inner, columns]), bias_of(c, r, columns, integers), x[1], x[2], *ranges(c, r, columns, False), *bounds]
    y = c.node(op, inputs, T1=BYTE, T2=SIGNED, Toutput=to, **types)
    if to == F32:
        c.gives(y, within=1e-5)
    else:
        gives(c, y, to, True)


@maker("RequantizePerChannel", "RequantizationRangePerChannel")
def by_channel(c, r, op):
    """Of sums whose bounds are others than the layer's, one of each for each channel."""
    taken, channels = sizes(r, 2)
    x = unsigned(c, r, [1, *sizes(r, 2), taken])
    y = c.node(CONV, [x[0], filters(c, r, [1, 1, taken, channels]), x[1], x[2], scalar(c, -1), scalar(c, 1)], Tinput=BYTE, Tfilter=SIGNED,
               out_type=SUM, strides=[1, 1, 1, 1], padding="SAME")
    bounds = [c.const((r.uniform(0.5, 3, channels) * end).astype(F32)) for end in (-40000, 30000)]
    if op == "RequantizationRangePerChannel":
        y = c.node(op, [y, *bounds], T=SUM, clip_value_max=pick(r, 100.0, 1.25))
        c.gives(y, y[1], within=1e-6)
        return
    to = pick(r, BYTE, SIGNED)
    ends = [scalar(c, 0 if to == BYTE else rounded(r, -2, -0.5)), scalar(c, rounded(r, 0.5, 2))]
    gives(c, c.node(op, [y, *bounds, *ends], T=SUM, out_type=to), to)


@maker("QuantizedInstanceNorm")
def instance_norm(c, r, op):
    """Within a step."""
    q = bytes_of(c, r, [int(r.randint(1, 3)), *sizes(r, 2), int(r.randint(1, 5))])
    more = {"output_range_given": True, "given_y_min": rounded(r, -3, -0.5), "given_y_max": rounded(r, 0.5, 3)} if maybe(r) else {}
    more |= {"variance_epsilon": rounded(r, 0.01, 1)} if maybe(r) else {}
    more |= {"min_separation": rounded(r, 0.01, 9)} if maybe(r) else {}
    y = c.node(op, [q, q[1], q[2]], T=BYTE, **more)
    c.gives(c.node("Dequantize", [y, y[1], y[2]], T=BYTE, mode="MIN_FIRST"), y[1], y[2], within=1 / 200)


@maker("QuantizedBatchNormWithGlobalNormalization")
def batch_norm(c, r, op):
    channels = int(r.randint(1, 6))
    parts = [bytes_of(c, r, [int(r.randint(1, 3)), *sizes(r, 2), channels])]
    for low, high in ((-1, 1), (0.25, 4), (-2, 3), (0.5, 2)):
        ends = scalar(c, low), scalar(c, high)
        parts.append(c.node("QuantizeV2", [c.random_const([channels], low=low, high=high), *ends], T=BYTE, mode="MIN_FIRST"))
    inputs = [tensor for q in parts for tensor in (q[0], q[1], q[2])]
    gives(c, c.node(op, inputs, Tinput=BYTE, out_type=SUM, variance_epsilon=rounded(r, 0.01, 0.5), scale_after_normalization=maybe(r)), SUM)


@maker("QuantizedResizeBilinear")
def resized(c, r, op):
    q = bytes_of(c, r, [int(r.randint(1, 3)), *sizes(r, 2), int(r.randint(1, 4))])
    how = pick(r, {}, {"align_corners": True}, {"half_pixel_centers": True})
    y = c.node(op, [q, c.const(np.array(sizes(r, 2, 12), I32)), q[1], q[2]], T=BYTE, **how)
    c.gives(c.node("Cast", [y], SrcT=BYTE, DstT=F32), y[1], y[2], within=1 / 255)


@maker("QuantizedRelu", "QuantizedRelu6")
def relu(c, r, op):
    q = bytes_of(c, r, sizes(r, int(r.randint(1, 4))))
    y = c.node(op, [q, q[1], q[2]], Tinput=BYTE, out_type=BYTE)
    c.gives(c.node("Cast", [y], SrcT=BYTE, DstT=F32), y[1], y[2])


@maker("QuantizedReshape")
def reshaped(c, r, op):
    dims = sizes(r, 3)
    q = bytes_of(c, r, dims)
    y = c.node(op, [q, c.const(np.array([dims[2], -1], I32)), q[1], q[2]], T=BYTE)
    c.gives(c.node("Cast", [y], SrcT=BYTE, DstT=F32), y[1], y[2])


@maker("QuantizedConcatV2")
def joined(c, r, op):
    dims, axis = sizes(r, 3), int(r.randint(-3, 3))
    at = axis % 3
    parts = [unsigned(c, r, dims[:at] + [int(r.randint(1, 4))] + dims[at + 1:]) for _ in range(r.randint(2, 5))]
    y = c.node(op, [*parts, c.const(np.array(axis, I32)), *(p[1] for p in parts), *(p[2] for p in parts)], N=len(parts), T=BYTE)
    gives(c, y, BYTE)
