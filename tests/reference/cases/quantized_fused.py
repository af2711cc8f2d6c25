# SPDX-License-Identifier: Apache-2.0
"""Quantized layers with a bias, Relu and the way to bytes in one operator. TensorFlow has kernels of them by oneDNN alone, which
sums in floats: see `by_onednn` of case.py."""

import numpy as np
from case import Cases
from tf_writer import DType, Tensor

CASES = Cases()
F32, I32 = np.float32, np.int32
BYTE, SIGNED, SUM = DType("quint8"), DType("qint8"), DType("qint32")


def scalar(c, value):
    return c.const(np.array(value, F32))


def quantized(c, dims, low, high, dtype):
    return c.node("QuantizeV2", [c.input(dims, low=low, high=high), scalar(c, low), scalar(c, high)], T=dtype, mode="SCALED",
                  round_mode="HALF_TO_EVEN")


def filters_of(c, dims, dtype, low=-0.7, high=0.5):
    """oneDNN wants to know them."""
    x = c.random(dims, np.int8 if dtype == SIGNED else np.uint8, -127 if dtype == SIGNED else 0, 127)
    return c.node("Const", [], value=Tensor(x, "content", dtype), dtype=dtype), scalar(c, low), scalar(c, high)


def layer(op, name, dims, w_dims, words, by_channel=False, bias_type=F32, **attributes):
    """The bounds of results cut off some of them."""
    c = CASES.new(f"{op} {name}")
    c.by_onednn = True
    x = quantized(c, dims, 0, 2, BYTE)
    w = filters_of(c, w_dims, SIGNED)
    channels = w_dims[2] * w_dims[3] if "Depthwise" in op else w_dims[-1]
    filters = [w[1], w[2]]
    if by_channel:
        filters = [c.const(np.linspace(-0.7, -0.2, channels).astype(F32)), c.const(np.linspace(0.3, 0.8, channels).astype(F32))]
    bias = []
    if "Bias" in op:
        values = c.random([channels], low=-1, high=1)
        bias = [c.const(values)]
        if bias_type == SUM:
            bias = [c.node("Const", [], value=Tensor(np.round(values * 9000).astype(I32), "content", SUM), dtype=SUM)]
        attributes["Tbias"] = bias_type
    bounds = [scalar(c, 0 if "relu" in words or words == "bytes of matrices" else -1.5), scalar(c, 1.5)] if "bytes" in words else []
    to = DType(attributes.pop("to", "qint32"))
    result = {"Toutput" if "MatMul" in op else "out_type": to}
    kinds = {"T1": BYTE, "T2": SIGNED} if "MatMul" in op else {"Tinput": BYTE, "Tfilter": SIGNED}
    if "Tbias" in attributes and not ("Requantize" in op or "MatMul" in op):
        del attributes["Tbias"]
    y = c.node(op, [x[0], w[0], *bias, x[1], x[2], *filters, *bounds], **kinds, **result, **attributes)
    if "reals" in words:
        c.gives(y)
    else:
        c.gives(c.node("Cast", [y], SrcT=to, DstT=F32), c.node("Pack", [y[1], y[2]], N=2), within=1e-6)


def convolutions():
    spatial = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    for op, words, to in (("AndRelu", "relu", "qint32"), ("AndRequantize", "bytes", "qint8"), ("WithBias", "", "qint32"),
                          ("AndReluAndRequantize", "relu bytes", "quint8"),
                          ("WithBiasAndRelu", "relu", "qint32"), ("WithBiasAndReluAndRequantize", "relu bytes", "quint8"),
                          ("WithBiasAndRequantize", "bytes", "qint8"), ("PerChannel", "", "qint32")):
        op = "QuantizedConv2D" + op
        layer(op, "of bytes", [1, 5, 4, 3], [3, 2, 3, 4], words, to=to, **spatial)
        layer(op, "valid, in steps of two", [1, 5, 6, 3], [3, 2, 3, 4], words, to=to, strides=[1, 2, 2, 1], padding="VALID")
        if words.endswith("bytes") and op != "QuantizedConv2DAndRequantize":
            layer(op, "with a range per channel", [1, 5, 4, 3], [3, 2, 3, 4], words, by_channel=True, to=to, **spatial)
    layer("QuantizedConv2D", "of bytes by a filter with signs", [1, 5, 4, 3], [3, 2, 3, 4], "", **spatial)
    layer("QuantizedConv2DWithBiasAndRequantize", "with a bias of integers", [1, 5, 4, 3], [3, 2, 3, 4], "bytes", bias_type=SUM,
          to="qint8", **spatial)
    for op, words, to in (("", "", "qint32"), ("WithBias", "", "qint32"), ("WithBiasAndRelu", "relu", "qint32"),
                          ("WithBiasAndReluAndRequantize", "relu bytes", "quint8")):
        layer("QuantizedDepthwiseConv2D" + op, "of bytes", [1, 5, 4, 3], [3, 2, 3, 1], words, to=to, **spatial)


def matrices():
    for op, words, to in (("WithBias", "", "qint32"), ("WithBiasAndRelu", "relu", "qint32"),
                          ("WithBiasAndReluAndRequantize", "relu bytes", "quint8"), ("WithBiasAndRequantize", "bytes of matrices", "quint8"),
                          ("WithBiasAndDequantize", "reals", "float32")):
        bounds = "bytes " * ("reals" in words) + words
        layer("QuantizedMatMul" + op, "of bytes", [3, 5], [5, 4], bounds, to=to)


def signed_layer(c, dims):
    """Signed bytes of a layer: QuantizeV2 of oneDNN gives those in steps of another size."""
    x, w = quantized(c, dims, 0, 2, BYTE), filters_of(c, [1, 1, dims[-1], dims[-1]], SIGNED)
    return c.node("QuantizedConv2DAndRequantize", [x[0], w[0], x[1], x[2], w[1], w[2], scalar(c, -2.1), scalar(c, 1.5)], Tinput=BYTE,
                  Tfilter=SIGNED, out_type=SIGNED, strides=[1, 1, 1, 1], padding="VALID")


def with_summand():
    """What is added is bytes, with or without a sign."""
    for name, summand in (("SumAndReluAndRequantize", BYTE), ("SignedSumAndReluAndRequantize", SIGNED)):
        for padding, stride, channels in (("SAME", 1, False), ("VALID", 2, True)):
            c = CASES.new(f"QuantizedConv2DWithBias{name} {padding}")
            c.by_onednn = True
            x, w = quantized(c, [1, 5, 6, 3], 0, 2, BYTE), filters_of(c, [3, 2, 3, 4], SIGNED)
            ranges = [w[1], w[2]]
            if channels:
                ranges = [c.const(np.linspace(*ends, 4).astype(F32)) for ends in ((-0.7, -0.2), (0.3, 0.8))]
            dims = [1, 5, 6, 4] if padding == "SAME" else [1, 2, 3, 4]
            added = quantized(c, dims, 0, 1.5, BYTE) if summand == BYTE else signed_layer(c, dims)
            y = c.node("QuantizedConv2DWithBias" + name,
                       [x[0], w[0], c.const(c.random([4], low=-1, high=1)), x[1], x[2], *ranges, scalar(c, 0), scalar(c, 2.5),
                        added[0], added[1], added[2]], Tinput=BYTE, Tfilter=SIGNED, Tsummand=summand, Tbias=F32, out_type=BYTE,
                       strides=[1, stride, stride, 1], padding=padding)
            c.gives(c.node("Cast", [y], SrcT=BYTE, DstT=F32), c.node("Pack", [y[1], y[2]], N=2), within=1e-6)


def by_channel():
    """Sums with a range per channel."""
    def sums(c, low):
        x = quantized(c, [1, 3, 4, 2], 0, 2, BYTE)
        w = c.node("Const", [], value=Tensor(c.random([2, 2, 2, 3], np.int8, low, 120), "content", SIGNED), dtype=SIGNED)
        y = c.node("QuantizedConv2D", [x[0], w, x[1], x[2], scalar(c, -1), scalar(c, 1)], Tinput=BYTE, Tfilter=SIGNED, out_type=SUM,
                   strides=[1, 1, 1, 1], padding="SAME")
        return [y, *(c.const((np.array([1, 3, 0.5]) * end).astype(F32)) for end in (-40000, 30000))]

    for low, clip in ((-120, 100.0), (0, 100.0), (-120, 1.25)):
        c = CASES.new(f"RequantizationRangePerChannel from {low}, at most {clip}")
        c.by_onednn = True
        y = c.node("RequantizationRangePerChannel", sums(c, low), T=SUM, clip_value_max=clip)
        c.gives(y, y[1], within=1e-6)
    for to, low, high in ((SIGNED, -1.5, 1.25), (BYTE, 0, 2)):
        c = CASES.new(f"RequantizePerChannel to {to}")
        c.by_onednn = True
        y = c.node("RequantizePerChannel", [*sums(c, -120), scalar(c, low), scalar(c, high)], T=SUM, out_type=to)
        c.gives(c.node("Cast", [y], SrcT=to, DstT=F32), c.node("Pack", [y[1], y[2]], N=2), within=1e-6)


def refused():
    def refuse(name, message, x=None, w=None, **attributes):
        c = CASES.new(name)
        x = x(c) if x else quantized(c, [1, 3, 3, 2], 0, 2, BYTE)
        w = w(c) if w else filters_of(c, [1, 1, 2, 3], SIGNED)
        c.node("QuantizedConv2DAndRelu", [x[0], w[0], x[1], x[2], w[1], w[2]],
               **{"Tinput": BYTE, "Tfilter": SIGNED, "strides": [1, 1, 1, 1], "padding": "SAME", **attributes})
        c.refused(message)

    refuse("a fused layer whose filter has no sign", "the filter is of uint8",
           w=lambda c: filters_of(c, [1, 1, 2, 3], BYTE), Tfilter=BYTE)
    refuse("a fused layer of bytes with signs", "the input is of int8", x=lambda c: quantized(c, [1, 3, 3, 2], -2, 2, SIGNED), Tinput=SIGNED)
    refuse("a fused layer of bytes below 0", "quint8 of a range whose least number is below 0",
           x=lambda c: c.node("QuantizeV2", [c.input([1, 3, 3, 2]), scalar(c, -1), scalar(c, 1)], T=BYTE, mode="MIN_FIRST"))
    refuse("a fused layer of sums with a range per channel", "sums of a filter with a range per channel",
           w=lambda c: [filters_of(c, [1, 1, 2, 3], SIGNED)[0], c.const(-np.ones(3, F32)), c.const(np.ones(3, F32))])
    refuse("a fused layer with another result", "a result of qint8", out_type=SIGNED)


def joined():
    """What has no form without oneDNN."""
    c = CASES.new("QuantizedConcatV2")
    c.by_onednn = True
    parts = [quantized(c, [2, 1 + k, 3], 0, 2, BYTE) for k in range(3)]
    y = c.node("QuantizedConcatV2", [*parts, c.const(np.array(1, I32)), *(p[1] for p in parts), *(p[2] for p in parts)], N=3, T=BYTE)
    c.gives(c.node("Cast", [y], SrcT=BYTE, DstT=F32), c.node("Pack", [y[1], y[2]], N=2), within=1e-6)


convolutions()
matrices()
with_summand()
by_channel()
joined()
refused()
