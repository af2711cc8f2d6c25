# SPDX-License-Identifier: Apache-2.0
"""Reals rounded to those of a quantized type. Inputs keep away from the middle between two of them, where TensorFlow rounds
up, and fixed-point tensors to the even one; constants, which the converter rounds, need not."""

import numpy as np
from case import Cases
from tf_writer import BFLOAT16, DType, Tensor

CASES = Cases()
F32, I32 = np.float32, np.int32

RANGES = ((-6, 6), (0, 6), (-1, 2.5), (-0.3, 0.7), (-1, 1), (0.5, 3), (-3, -1), (-127, 127))


def grid(low, high, bits, narrow):
    """The steps of TensorFlow's grid as computed in double."""
    return (high - low) / (2**bits - 1 - narrow)


def away_from_middles(c, low, high, step, dims):
    """Numbers within and around the range, a tenth of a step or more from the middle of two neighbours."""
    ks = c.source.randint(int(low / step) - 4, int(high / step) + 5, dims)
    return ((ks + c.source.uniform(-0.4, 0.4, dims)) * step).astype(F32)


def anything(c, low, high, dims, step=1 / 128):
    """Also the middle between two neighbours."""
    values = c.source.uniform(low - 0.2, high * 1.3, dims).astype(F32)
    values.reshape(-1)[:8] = [low, high, (low + high) / 2, *((np.array([-3, 0, 1, 2, 5]) + 0.5) * step)]
    return values


def fake_quant_args():
    for low, high in RANGES:
        for bits in (2, 4, 7, 8, 12, 16):
            for narrow in (False, True):
                name = f"FakeQuantWithMinMaxArgs {low} to {high}, {bits} bits{', narrow' * narrow}"
                attributes = {"min": float(low), "max": float(high), "num_bits": bits, "narrow_range": narrow}
                c = CASES.new(name)
                x = c.input(away_from_middles(c, low, high, grid(low, high, bits, narrow), [4, 5]))
                c.gives(c.node("FakeQuantWithMinMaxArgs", [x], **attributes), within=1e-6)
                c = CASES.new(name + ", constant")
                x = c.const(anything(c, low, high, [4, 5], grid(low, high, bits, narrow)))
                c.gives(c.node("FakeQuantWithMinMaxArgs", [x], **attributes), within=0)
    c = CASES.new("FakeQuantWithMinMaxArgs without attributes")
    c.gives(c.node("FakeQuantWithMinMaxArgs", [c.input(away_from_middles(c, -6, 6, 12 / 255, [20]))]), within=1e-6)


def fake_quant_vars():
    for low, high in RANGES:
        for constant in (False, True):
            c = CASES.new(f"FakeQuantWithMinMaxVars {low} to {high}{', constant' * constant}")
            step = grid(low, high, 8, False)
            values = anything(c, low, high, [2, 9], step) if constant else away_from_middles(c, low, high, step, [2, 9])
            bounds = [c.const(np.array(bound, F32)) for bound in (low, high)]
            c.gives(c.node("FakeQuantWithMinMaxVars", [c.either(constant, values), *bounds]), within=1e-6)
    for constant in (False, True):
        c = CASES.new(f"FakeQuantWithMinMaxVars of an empty range{', constant' * constant}")
        bounds = [c.const(np.array(0, F32)) for _ in range(2)]
        c.gives(c.node("FakeQuantWithMinMaxVars", [c.either(constant, [3, 3]), *bounds]))


def per_channel():
    low, high = np.array([-1, -0.5, -3, 0], F32), np.array([1, 2, 0.1, 4], F32)
    for dims in ([4], [3, 4], [2, 2, 3, 4]):
        for bits in (8, 4):
            for narrow in (False, True):
                for constant in (False, True):
                    c = CASES.new(f"FakeQuantWithMinMaxVarsPerChannel {dims} {bits} {narrow}{', constant' * constant}")
                    x = c.either(constant, dims, low=-4, high=4)
                    c.gives(c.node("FakeQuantWithMinMaxVarsPerChannel", [x, c.const(low), c.const(high)], num_bits=bits,
                                   narrow_range=narrow), within=1e-6)
    for constant in (False, True):
        c = CASES.new(f"FakeQuantWithMinMaxVarsPerChannel with a channel of zeros{', constant' * constant}")
        bounds = [c.const(np.array(values, F32)) for values in ([-1, 0, -2], [1, 0, 2])]
        c.gives(c.node("FakeQuantWithMinMaxVarsPerChannel", [c.either(constant, [2, 3]), *bounds]), within=1e-6)


def fake_quant_refused():
    c = CASES.new("FakeQuantWithMinMaxVars of computed bounds")
    c.node("FakeQuantWithMinMaxVars", [c.input([3]), c.input(np.array(-1, F32), name="low"), c.const(np.array(1, F32))])
    c.refused("--freeze_input low:0=FILE")
    c = CASES.new("FakeQuantWithMinMaxVars of a range that is none")
    c.node("FakeQuantWithMinMaxVars", [c.input([3]), c.const(np.array(2, F32)), c.const(np.array(1, F32))])
    c.refused("the range from 2 to 1 is none")
    for name, low, high in (("near", 0, 1e-44), ("far", -3e38, 3e38)):
        c = CASES.new(f"FakeQuantWithMinMaxVars of bounds that are too {name}")
        c.node("FakeQuantWithMinMaxVars", [c.input([3]), c.const(np.array(low, F32)), c.const(np.array(high, F32))])
        c.refused("has no steps that are numbers of float32")
    c = CASES.new("FakeQuantWithMinMaxArgs of too many bits")
    c.node("FakeQuantWithMinMaxArgs", [c.input([3])], num_bits=17)
    c.refused("num_bits is 17, not between 2 and 16")
    c = CASES.new("FakeQuantWithMinMaxVarsPerChannel of the wrong length")
    bounds = [c.const(np.array([bound] * 2, F32)) for bound in (-1, 1)]
    c.node("FakeQuantWithMinMaxVarsPerChannel", [c.input([4, 3]), *bounds])
    c.refused("min and max have 2 and 2 elements instead of 3")


def quantize_and_dequantize():
    for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"):
        for low, high in ((-1, 1), (-3, 1), (-1, 4), (0, 2)):
            for signed in (True, False):
                if op == "QuantizeAndDequantizeV3" and low < 0 and not signed:
                    continue
                for narrow in (False, True):
                    for mode in (None, "HALF_TO_EVEN", "HALF_UP"):
                        for constant in (False, True):
                            name = f"{op} {low} to {high} {signed} {narrow} {mode}{', constant' * constant}"
                            one_case(op, name, (low, high), signed, narrow, mode, constant)


def one_case(op, name, bounds, signed, narrow, mode, constant):
    low, high = bounds
    if not signed and low < 0:
        low = 0
    c = CASES.new(name)
    half = 128 - narrow
    step = max(-low / half, high / 127) if signed else high / 255
    values = anything(c, low, high, [4, 4], step) if constant else away_from_middles(c, low, high, step, [4, 4])
    inputs = [c.either(constant, values), c.const(np.array(low, F32)), c.const(np.array(high, F32))]
    attributes = {"signed_input": signed, "narrow_range": narrow, "range_given": True}
    if op == "QuantizeAndDequantizeV3":
        inputs.append(c.const(np.array(8, I32)))
    elif mode:
        attributes["round_mode"] = mode
    c.gives(c.node(op, inputs, **attributes), within=1e-6)


def quantize_and_dequantize_refused():
    c = CASES.new("QuantizeAndDequantizeV2 by the range of the values")
    c.node("QuantizeAndDequantizeV2", [c.input([3]), c.const(np.array(0, F32)), c.const(np.array(0, F32))])
    c.refused("the range would be that of the values")
    c = CASES.new("QuantizeAndDequantizeV2 of float64")
    bounds = [c.const(np.array(bound, np.float64)) for bound in (-1, 1)]
    c.node("QuantizeAndDequantizeV2", [c.input([3], np.float64), *bounds], range_given=True)
    c.refused("an input of type float64, not float32, is not supported")


def convolutions():
    """As networks that were trained for quantization have them: the bias is float, so the layer computes in float."""
    for op in ("Conv2D", "DepthwiseConv2dNative"):
        for per_channel in (False, True):
            c = CASES.new(f"{op} of fake-quantized data and weights{', per channel' * per_channel}")
            outputs = 4 if op == "Conv2D" else 1
            x = c.input(away_from_middles(c, -1, 1.5, grid(-1, 1.5, 8, False), [1, 5, 5, 3]))
            x = c.node("FakeQuantWithMinMaxVars", [x, c.const(np.array(-1, F32)), c.const(np.array(1.5, F32))])
            w = c.random_const([3, 3, 3, outputs], low=-1, high=1)
            bounds = c.random([outputs], low=0.3, high=1) if per_channel else np.array(0.7, F32)
            quantize = "FakeQuantWithMinMaxVarsPerChannel" if per_channel else "FakeQuantWithMinMaxVars"
            w = c.node(quantize, [w, c.const(-bounds), c.const(bounds)], narrow_range=True)
            y = c.node(op, [x, w], strides=[1, 1, 1, 1], padding="SAME")
            bias = c.random_const([y_channels(op, outputs)])
            c.gives(c.node("Relu6", [c.node("BiasAdd", [y, bias])]))


def y_channels(op, outputs):
    return outputs if op == "Conv2D" else 3 * outputs


def quantized(c, dtype, dims, form=None):
    """Integers of a quantized type, its ends among them."""
    kind = np.iinfo(dtype[1:])
    values = c.source.randint(kind.min, kind.max + 1, dims).astype(kind.dtype)
    values.reshape(-1)[:2] = [kind.min, kind.max]
    return c.const(Tensor(values, form=form, dtype=DType(dtype)))


def dequantize():
    """Weights that were quantized for the size of the file."""
    for dtype in ("quint8", "qint8", "quint16", "qint16"):
        for mode in (None, "MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for low, high in ((-1, 1), (-0.3, 2.5), (0, 6), (0.5, 3), (-3, -1), (2, 2), (0, 0)):
                for narrow in (False, True):
                    if narrow and mode != "SCALED":
                        continue
                    c = CASES.new(f"Dequantize {dtype} {mode} {low} to {high}{', narrow' * narrow}")
                    bounds = [c.const(np.array(bound, F32)) for bound in (low, high)]
                    attributes = {**({"mode": mode} if mode else {}), **({"narrow_range": True} if narrow else {})}
                    c.gives(c.node("Dequantize", [quantized(c, dtype, [3, 4]), *bounds], **attributes), within=1e-6)
    for dtype in ("quint8", "qint8"):
        for mode in ("MIN_COMBINED", "SCALED"):
            for axis, dims in ((0, [3, 4]), (1, [2, 3, 2]), (2, [2, 2, 3])):
                c = CASES.new(f"Dequantize {dtype} {mode} along axis {axis}")
                low, high = np.array([-1, -0.5, -3], F32), np.array([1, 2, 0.1], F32)
                c.gives(c.node("Dequantize", [quantized(c, dtype, dims), c.const(low), c.const(high)], mode=mode,
                               axis=axis), within=1e-6)
    for form in ("values", "splat"):
        c = CASES.new(f"Dequantize of listed integers: {form}")
        q = c.const(Tensor(np.array([[7, 7], [7, 7]], np.uint8), form=form, dtype=DType("quint8")))
        c.gives(c.node("Dequantize", [q, c.const(np.array(-1, F32)), c.const(np.array(2, F32))], mode="MIN_FIRST"),
                within=1e-6)
    c = CASES.new("Dequantize of the weights of a convolution, behind an Identity")
    bounds = [c.const(np.array(bound, F32)) for bound in (-0.8, 0.9)]
    w = c.node("Dequantize", [c.node("Identity", [quantized(c, "quint8", [3, 3, 2, 4])]), *bounds], mode="MIN_FIRST")
    x = c.input([1, 5, 6, 2])
    c.gives(c.node("Relu", [c.node("Conv2D", [x, w], strides=[1, 1, 1, 1], padding="SAME")]))


def dequantize_refused():
    bounds = (-1, 1)
    c = CASES.new("Dequantize to bfloat16")
    c.node("Dequantize", [quantized(c, "quint8", [3]), *(c.const(np.array(bound, F32)) for bound in bounds)], dtype=BFLOAT16)
    c.refused("a result of type bfloat16, not float32, is not supported")
    c = CASES.new("Dequantize MIN_FIRST along an axis")
    bounds = [c.const(np.array([bound] * 3, F32)) for bound in bounds]
    c.node("Dequantize", [quantized(c, "quint8", [3]), *bounds], mode="MIN_FIRST", axis=0)
    c.refused("mode MIN_FIRST with one range per index of an axis is not supported")
    c = CASES.new("Dequantize of a computed range")
    c.node("Dequantize", [quantized(c, "quint8", [3]), c.input(np.array(-1, F32), name="low"), c.const(np.array(1, F32))],
           mode="SCALED")
    c.refused("--freeze_input low:0=FILE")
    c = CASES.new("a constant of complex numbers")
    c.node("Neg", [c.const(np.array([1j, 2], np.complex64))])
    c.refused("input 0 is made of complex numbers instead of a tensor")


fake_quant_args()
fake_quant_vars()
dequantize()
dequantize_refused()
convolutions()
per_channel()
fake_quant_refused()
quantize_and_dequantize()
quantize_and_dequantize_refused()
