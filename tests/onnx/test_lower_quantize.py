# SPDX-License-Identifier: Apache-2.0
"""ONNX's quantizing operators and element types: what comes out by NumPy's arithmetic; and models of QuantizeLinear and
DequantizeLinear pairs, which become quantized tensors with the same results, or stay nodes."""

import pathlib
import tempfile

from one_node import Case, Const, convert, gives, np, refuses, run_model
from checks import Checks
from onnx_writer import FLOAT, FLOAT16, INT8, INT32, INT64, UINT8, UINT16, Model
from quantized_models import back_and_forth, f4, pair, quantized, spread

BFLOAT16, FLOAT8, UINT4, INT4, UINT2, INT2 = 16, 17, 21, 22, 25, 26
INF = float("inf")


def test_quantize(checks):
    rng = np.random.default_rng(1)
    x = spread(rng, 2, 3, 4)
    x[0, 0, :3] = 1e9, -1e9, INF
    ties = f4([0.25, 0.75, 1.25, -0.25, -0.75, 2.5])
    gives(checks, "QuantizeLinear", 10, [ties, Const(0.5, "f4"), Const(3, "u1")], np.array([3, 5, 5, 3, 1, 8], "u1"))
    gives(checks, "QuantizeLinear", 13, [x, f4(0.1), np.int8(5)], quantized(x, f4(0.1), 5, "i1"))
    gives(checks, "QuantizeLinear", 13, [x, Const([0.1], "f4")], quantized(x, f4(0.1), 0, "u1"))
    for axis, shape in ((0, (2, 1, 1)), (1, (3, 1)), (-1, (4,))):
        scale, zero = spread(rng, x.shape[axis], low=0.05, high=0.3), rng.integers(0, 255, x.shape[axis]).astype("u1")
        expected = quantized(x, scale.reshape(shape), zero.reshape(shape), "u1")
        gives(checks, "QuantizeLinear", 13, [x, Const(scale, "f4"), Const(zero, "u1")], expected, axis=axis)
        gives(checks, "QuantizeLinear", 19, [x, scale, zero], expected, axis=axis)
    scale, zero = spread(rng, 2, 2, 4, low=0.01, high=0.03), rng.integers(-900, 900, (2, 2, 4)).astype("i2")
    expected = quantized(x, np.repeat(scale, 2, 1)[:, :3], np.repeat(zero, 2, 1)[:, :3], "i2")
    gives(checks, "QuantizeLinear", 21, [x, Const(scale, "f4"), zero], expected, axis=1, block_size=2)
    gives(checks, "QuantizeLinear", 21, [x, f4(0.001)], quantized(x, f4(0.001), 0, "u2"), output_dtype=UINT16)
    with np.errstate(over="ignore"):
        half = x.astype("f2")
    expected = quantized(half, np.float16(0.3), 7, "i1")
    gives(checks, "QuantizeLinear", 19, [half, Const(0.3, "f2"), Const(7, "i1")], expected)
    coarse = quantized(half, np.float16(0.3), 0, "u1")
    gives(checks, "QuantizeLinear", 23, [x, f4(0.3)], coarse, precision=FLOAT16)
    whole = np.array([-7, 3, 100, 10000], "i4")
    gives(checks, "QuantizeLinear", 13, [whole, f4(2.0), np.int8(1)], quantized(whole.astype("f4"), f4(2), 1, "i1"))
    expected = quantized(x, f4(0.1), 9, "u1")
    gives(checks, "com.microsoft::QuantizeLinear", 13, [x, f4(0.1), np.uint8(9)], expected)
    refuses(checks, "the scale [2] does not fit the tensor [2,3,4]", "QuantizeLinear", 13, [x, f4([1, 2])])
    refuses(checks, "the scale is inf", "QuantizeLinear", 13, [x, Const(np.inf, "f4")])
    refuses(checks, "zero point is of type int8", "QuantizeLinear", 21, [x, f4(1), np.int8(1)], output_dtype=UINT8)
    refuses(checks, "float8e8m0 is not supported", "QuantizeLinear", 25, [x, f4(1)], output_dtype=24)
    refuses(checks, "nothing is quantized to int32", "QuantizeLinear", 21, [x, f4(1)], output_dtype=INT32)


def test_ties(checks):
    """Halves go to the even number, whether the scale is a constant or comes from the graph."""
    x = f4([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 126.5])
    to_even = np.array([-2, -2, 0, 0, 2, 2, 4, 126])
    for scale in (1.0, 0.5):
        for given in (f4(scale), Const(scale, "f4")):
            gives(checks, "QuantizeLinear", 13, [x * f4(scale), given, np.int8(0)], to_even.astype("i1"))
            gives(checks, "QuantizeLinear", 13, [x * f4(scale), given, np.uint8(10)], (to_even + 10).astype("u1"))


def test_dequantize(checks):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 255, (2, 3, 4)).astype("u1")
    scale, zero = spread(rng, 3, low=0.1, high=0.9), rng.integers(0, 255, 3).astype("u1")
    expected = (x.astype("f4") - zero.reshape(3, 1)) * scale.reshape(3, 1)
    gives(checks, "DequantizeLinear", 10, [x, f4(0.1), np.uint8(9)], (x.astype("f4") - 9) * f4(0.1))
    gives(checks, "DequantizeLinear", 13, [x, scale, zero], expected)
    gives(checks, "DequantizeLinear", 19, [x, Const(scale, "f4"), Const(zero, "u1")], expected, axis=-2)
    gives(checks, "com.microsoft::DequantizeLinear", 21, [x, scale, zero], expected, axis=1)
    wide = rng.integers(-32768, 32767, (3, 5)).astype("i2")
    blocks = spread(rng, 3, 3, low=0.1, high=0.9)
    gives(checks, "DequantizeLinear", 21, [wide, blocks], wide * np.repeat(blocks, 2, 1)[:, :5], axis=1, block_size=2)
    gives(checks, "DequantizeLinear", 21, [wide[:1, :3], f4([[0.5]])], wide[:1, :3] * f4(0.5), axis=1, block_size=3)
    gives(checks, "DequantizeLinear", 23, [x, np.float16(0.3)], (x * np.float32(np.float16(0.3))), output_dtype=FLOAT)
    gives(checks, "DequantizeLinear", 19, [x, np.float16(0.3)], (x * np.float32(np.float16(0.3))).astype("f2"))
    bias = np.array([-100000, 7, 16777217], "i4")
    gives(checks, "DequantizeLinear", 13, [bias, f4(0.5)], bias.astype("f4") * f4(0.5))
    refuses(checks, "the scale is nan", "DequantizeLinear", 13, [x, Const(np.nan, "f4")])
    refuses(checks, "the zero point is int8, the tensor uint8", "DequantizeLinear", 13, [x, f4(1), np.int8(1)])
    refuses(checks, "nothing is dequantized from float32", "DequantizeLinear", 13, [f4([1]), f4(1)])


def test_dynamic(checks):
    rng = np.random.default_rng(3)
    for low, high in ((-3, 5), (1, 4), (-9, -2), (0, 0)):
        x = spread(rng, 2, 3, 4, low=low, high=high)
        top, bottom = np.maximum(x.max(), f4(0)), np.minimum(x.min(), f4(0))
        scale = (top - bottom if top > bottom else f4(1)) / f4(255)
        zero = np.clip(np.round(0 - bottom / scale), 0, 255).astype("u1")
        gives(checks, "DynamicQuantizeLinear", 11, [x], [quantized(x, scale, zero, "u1"), scale, zero])


def whole_conv(x, w, pad, apart=(1, 1)):
    """Convolution of integers, [N, C, H, W] and [O, C, h, w], padded by zeros; apart: how far the weights lie apart."""
    x = np.pad(x.astype("i8"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    h, v = w.shape[2:]
    out = np.zeros((x.shape[0], w.shape[0], x.shape[2] - (h - 1) * apart[0], x.shape[3] - (v - 1) * apart[1]), "i8")
    for i in range(h):
        for k in range(v):
            part = x[:, :, i * apart[0]:, k * apart[1]:][:, :, :out.shape[2], :out.shape[3]]
            out += np.einsum("nchw,oc->nohw", part, w[:, :, i, k].astype("i8"))
    return out


def test_integers(checks):
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 255, (2, 3, 300)).astype("u1"), rng.integers(-128, 127, (300, 5)).astype("i1")
    wide_a, wide_b = a.astype("i4"), b.astype("i4")
    gives(checks, "MatMulInteger", 10, [a, b], wide_a @ wide_b)
    rows, columns = np.array([[[7], [200], [3]], [[1], [2], [0]]], "u1"), np.array([1, -2, 3, -4, 5], "i1")
    gives(checks, "MatMulInteger", 10, [a, Const(b, "i1"), rows, columns], (wide_a - rows) @ (wide_b - columns))
    zeros = np.array([7, 200, 3], "u1")
    gives(checks, "MatMulInteger", 10, [a[0], b, zeros], (wide_a[0] - zeros[:, None]) @ wide_b)
    gives(checks, "MatMulInteger", 10, [a[0, 0], b, np.uint8(7)], (wide_a[0, 0] - 7) @ wide_b)
    ratio = f4(0.02) * f4(0.003) / f4(0.7)
    expected = np.clip(np.round(((wide_a - 130) @ (wide_b - 2)).astype("f4") * ratio) + 11, -128, 127).astype("i1")
    for opset in (10, 21):
        scales = Const(0.003, "f4"), np.int8(2), Const(0.7, "f4"), np.int8(11)
        gives(checks, "QLinearMatMul", opset, [a, f4(0.02), np.uint8(130), Const(b, "i1"), *scales], expected)
    x, w = rng.integers(0, 255, (2, 3, 6, 5)).astype("u1"), rng.integers(0, 255, (4, 3, 3, 2)).astype("u1")
    centred = w.astype("i8") - np.array([9, 100, 130, 250]).reshape(4, 1, 1, 1)
    gives(checks, "ConvInteger", 10, [x, w], whole_conv(x, w, 0).astype("i4"))
    gives(checks, "ConvInteger", 10, [x, Const(w, "u1"), np.uint8(5), np.array([9, 100, 130, 250], "u1")],
          whole_conv(x.astype("i8") - 5, centred, 1).astype("i4"), pads=[1, 1, 1, 1])
    scale, bias = f4([0.1, 0.02, 0.3, 0.004]), np.array([1000, -50000, 0, 77], "i4")
    total = (whole_conv(x.astype("i8") - 5, centred, 1) + bias.reshape(4, 1, 1)).astype("f4")
    expected = np.round(total * (f4(0.03) * scale / f4(4.0)).reshape(4, 1, 1)) + 128
    gives(checks, "QLinearConv", 10, [x, f4(0.03), np.uint8(5), Const(w, "u1"), Const(scale, "f4"),
                                      Const([9, 100, 130, 250], "u1"), f4(4.0), Const(128, "u1"), Const(bias, "i4")],
          np.clip(expected, 0, 255).astype("u1"), pads=[1, 1, 1, 1])
    refuses(checks, "is of type float32, not of 8-bit integers", "MatMulInteger", 10, [f4([[1]]), f4([[1]])])


def test_dilated_integers(checks):
    rng = np.random.default_rng(14)
    x, w = rng.integers(0, 255, (1, 2, 7, 6)).astype("u1"), rng.integers(-128, 127, (3, 2, 3, 2)).astype("i1")
    for apart in ([2, 3], [3, 1]):
        total = whole_conv(x.astype("i8") - 7, w, 1, apart)
        gives(checks, "ConvInteger", 10, [x, Const(w, "i1"), np.uint8(7)], total.astype("i4"), pads=[1, 1, 1, 1], dilations=apart)
        expected = np.clip(np.round(total.astype("f4") * (f4(0.5) * f4(0.25) / f4(32))) - 3, -128, 127).astype("i1")
        gives(checks, "QLinearConv", 10, [x, f4(0.5), np.uint8(7), Const(w, "i1"), Const(0.25, "f4"), Const(0, "i1"), f4(32),
                                          Const(-3, "i1")], expected, pads=[1, 1, 1, 1], dilations=apart)


# ---- models ----


def rounded_to_bfloat16(x):
    bits = x.view("u4").astype("u8")
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return np.where(np.isnan(x), x, bits.astype("u4").view("f4"))


def test_bfloat16(checks):
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 1 << 32, 400, dtype="u8").astype("u4")
    bits[200:] = bits[200:] & 0xFFFF0000 | 0x8000  # ties
    x = np.concatenate([bits.view("f4"), f4([0.0, -0.0, INF, -INF, np.nan, 3.4e38, -3.4e38, 1e-45, 1.0, 2 - 2e-7])])
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.node("Cast", ["x"], ["half"], to=BFLOAT16)
    m.node("Cast", ["half"], ["y"], to=FLOAT)
    m.output("y", FLOAT, x.shape)
    with np.errstate(all="ignore"):
        run_model(checks, "bfloat16", m, {"x": x}, {"y": rounded_to_bfloat16(x)})


def test_low_bits(checks):
    x = np.arange(-20, 21).astype("i1")
    for code, bits, signed in ((INT4, 4, True), (UINT4, 4, False), (INT2, 2, True), (UINT2, 2, False)):
        m = Model(opset=25, ir_version=13)
        m.input("x", INT8, x.shape)
        m.node("Cast", ["x"], ["low"], to=code)
        m.node("Cast", ["low"], ["y"], to=INT32)
        m.output("y", INT32, x.shape)
        m.output("low", code, x.shape)
        wrapped = x.astype("i4") % (1 << bits)
        wrapped = np.where(wrapped >> (bits - 1), wrapped - (1 << bits), wrapped) if signed else wrapped
        container = run_model(checks, f"cast to type {code}", m, {"x": x}, {"y": wrapped, "low": wrapped})
        names = {INT4: "INT_4", UINT4: "UINT_4", INT2: "INT_8", UINT2: "UINT_8"}
        checks.equal(f"stored type {code}", container and container.tensors["low"].dtype, names[code])
    # A known float8 (1.5, -448, 2^-9) is a number like others.
    m = Model(opset=19, ir_version=10)
    m.input("x", FLOAT, [3])
    m.tensor("w", FLOAT8, [3], raw=b"\x3c\xfe\x01")
    m.tensor("s", FLOAT, [], [2.0])
    m.node("DequantizeLinear", ["w", "s"], ["d"])
    m.node("Mul", ["x", "d"], ["y"])
    m.output("y", FLOAT, [3])
    ones = np.ones(3, "f4")
    run_model(checks, "float8 weights", m, {"x": ones}, {"y": f4([3.0, -896.0, 2.0 ** -8])})


def conv_model(rng, relu, per_axis):
    """x → quantized → Conv (quantized weights and bias) [→ Relu] → quantized → y; and what comes out."""
    x = spread(rng, 1, 3, 6, 5, low=-3, high=3)
    w, bias = rng.integers(-128, 127, (4, 3, 3, 3)).astype("i1"), rng.integers(-3000, 3000, 4).astype("i4")
    scale, zero = (f4([0.01, 0.02, 0.005, 0.03]), [3, -7, 0, 100]) if per_axis else (f4([0.01] * 4), [5] * 4)
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    dims = [4] if per_axis else []
    m.tensor("w", INT8, w.shape, raw=w.tobytes())
    m.tensor("w_scale", FLOAT, dims, scale.tolist() if per_axis else [0.01])
    m.tensor("w_zero", INT8, dims, zero if per_axis else [5])
    m.tensor("b", INT32, [4], bias.tolist())
    m.tensor("b_scale", FLOAT, [], [0.001])
    m.node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["weights"], axis=0)
    m.node("DequantizeLinear", ["b", "b_scale"], ["bias"])
    m.node("Conv", [pair(m, "x", 6 / 255, 128, 0), "weights", "bias"], ["c"], pads=[1, 1, 1, 1])
    if relu:
        m.node("Relu", ["c"], ["r"])
    result_scale, result_zero = (0.1, 0) if relu else (0.15, 120)
    m.output(pair(m, "r" if relu else "c", result_scale, result_zero, 1), FLOAT, [1, 4, 6, 5])
    real = (w.astype("f8") - np.reshape(zero, (4, 1, 1, 1))) * scale.reshape(4, 1, 1, 1).astype("f8")
    inner = np.pad(back_and_forth(x, 6 / 255, 128).astype("f8"), ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.zeros((1, 4, 6, 5)) + (bias * 0.001).reshape(4, 1, 1)
    for i in range(3):
        for k in range(3):
            y += np.einsum("nchw,oc->nohw", inner[:, :, i:i + 6, k:k + 5], real[:, :, i, k])
    return m, {"x": x}, {"d1": back_and_forth(y.astype("f4"), result_scale, result_zero)}, result_scale


def test_clamps_within_the_range(checks):
    """A zero point above the least integer leaves room for negative numbers, which a Relu takes away."""
    x = f4([-9, -4, -0.5, 0, 0.5, 3, 9])
    for zero, clamp, attributes, low, high in ((100, "Relu", {}, 0, None), (0, "Clip", {"min": 1.0, "max": 4.0}, 1, 4),
                                               (128, "Clip", {"min": -20.0, "max": 2.0}, -20, 2),
                                               (128, "Clip", {"min": -2.0, "max": 50.0}, -2, 50)):
        m = Model(opset=10)
        m.input("x", FLOAT, x.shape)
        m.node(clamp, [pair(m, "x", 0.1, 128, 0)], ["c"], **attributes)
        m.output(pair(m, "c", 0.1, zero, 1), FLOAT, x.shape)
        expected = back_and_forth(np.clip(back_and_forth(x, 0.1, 128), low, high), 0.1, zero)
        run_model(checks, f"{clamp} {attributes} before zero point {zero}", m, {"x": x}, {"d1": expected}, step=1e-5)


def test_ties_of_pairs(checks):
    """A pair is one Quantize and one Dequantize, which round halves to even as well."""
    x = f4([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 60.5])
    for scale in (0.5, 1.0):
        m = Model(opset=13)
        m.input("x", FLOAT, x.shape)
        m.output(pair(m, "x", scale, 100, 0), FLOAT, x.shape)
        expected = f4([-2, -2, 0, 0, 2, 2, 4, 60]) * f4(scale)
        c = run_model(checks, f"pair of scale {scale}", m, {"x": x * f4(scale)}, {"d0": expected})
        checks.equal("ops of a pair", c and [o.type for o in c.ops], ["Quantize", "Dequantize"])


def test_ties_between_quantized(checks):
    """What a node on fixed-point tensors gives is rounded to even, too."""
    x = f4([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 60.5])
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.node("Abs", [pair(m, "x", 0.5, 128, 0)], ["a"])
    m.output(pair(m, "a", 1.0, 10, 1), FLOAT, x.shape)
    c = run_model(checks, "ties", m, {"x": x}, {"d1": f4([2, 2, 0, 0, 2, 2, 4, 60])})
    checks.check("the node is on fixed-point tensors", c and [o.type for o in c.ops][1:2] != ["Dequantize"], c and c.ops)


def dtypes(container, op):
    """Types of the operands of the container's op of that type."""
    found = next(o for o in container.ops if o.type == op)
    return [container.tensors[name].dtype for name in found.inputs + found.outputs]


def test_quantized_models(checks):
    rng = np.random.default_rng(6)
    for relu in (False, True):
        for per_axis in (False, True):
            m, inputs, expected, step = conv_model(rng, relu, per_axis)
            label = f"quantized conv, relu {relu}, per axis {per_axis}"
            c = run_model(checks, label, m, inputs, expected, step=step)
            if c:
                checks.equal(f"{label}: ops", [o.type for o in c.ops], ["Quantize", "Conv2d", "Dequantize"])
                checks.equal(f"{label}: types", dtypes(c, "Conv2d"), ["UFXP_8", "SFXP_8", "SFXP_32", "UFXP_8"])
                weights = c.tensors[next(o for o in c.ops if o.type == "Conv2d").inputs[1]]
                checks.equal(f"{label}: weights", (weights.dims, weights.encoding), ([3, 3, 3, 4], int(per_axis)))
            c = run_model(checks, f"{label}, kept", m, inputs, expected, ["--keep_quant_nodes"], step)
            if c:
                checks.equal(f"{label}, kept: nodes", sorted(o.type for o in c.ops if "uantize" in o.type),
                             ["Dequantize"] * 2 + ["Quantize"] * 2)
                checks.equal(f"{label}, kept: types", dtypes(c, "Conv2d"), ["FLOAT_32"] * 4)


def test_pairs_apart(checks):
    """Readers of the integers, of other scales and of the real value itself get what the model says."""
    rng = np.random.default_rng(7)
    x = spread(rng, 2, 3, low=-4, high=4)
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.node("Neg", ["x"], ["n"])
    m.node("Sigmoid", [pair(m, "n", 0.03, 100, 0)], ["s"])
    m.tensor("other", FLOAT, [], [0.5])
    m.node("DequantizeLinear", ["q0", "other", "zero0"], ["half"])
    m.node("Add", ["half", "s"], ["sum"])
    for name, code in (("n", FLOAT), ("q0", UINT8), ("d0", FLOAT), ("sum", FLOAT)):
        m.output(name, code, x.shape)
    real, q = back_and_forth(-x, 0.03, 100), quantized(-x, f4(0.03), 100, "u1")
    expected = {"n": -x, "q0": q, "d0": real}
    c = run_model(checks, "one value, four readers", m, {"x": x}, expected)
    checks.equal("integers stay integers", c and c.tensors["q0"].dtype, "UINT_8")
    other = (q.astype("f4") - 100) * f4(0.5) + 1 / (1 + np.exp(-real))
    run_model(checks, "one value, another scale", m, {"x": x}, {"sum": other}, step=1e-6)


def test_moved(checks):
    """Transposes of quantized tensors move integers; a Concat joins parts of different encodings."""
    rng = np.random.default_rng(8)
    x = spread(rng, 2, 3, 4, low=-2, high=2)
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.node("Transpose", [pair(m, "x", 0.02, 90, 0)], ["t"], perm=[0, 2, 1])
    m.node("Sigmoid", ["t"], ["s"])
    m.node("Concat", [pair(m, "s", 1 / 255, 0, 1), "t"], ["y"], axis=1)
    m.output(pair(m, "y", 0.02, 90, 2), FLOAT, [2, 8, 3])
    real = back_and_forth(x, 0.02, 90).transpose(0, 2, 1)
    gate = back_and_forth((1 / (1 + np.exp(-real))).astype("f4"), 1 / 255, 0)
    expected = back_and_forth(np.concatenate([gate, real], 1), 0.02, 90)
    c = run_model(checks, "moved", m, {"x": x}, {"d2": expected}, ("--io_layout", "model"), step=0.02)
    if c:
        checks.equal("moved: types", [dtypes(c, "Transpose"), dtypes(c, "Neuron")], [["UFXP_8"] * 2] * 2)
        checks.equal("moved: concat", dtypes(c, "Concat"), ["UFXP_8"] * 3)
    # The input comes in the order that the model's Transpose makes.
    c = run_model(checks, "moved already", m, {"x": x}, {"d2": expected}, step=0.02)
    checks.equal("moved already: Transposes", c and [o.name for o in c.ops if o.type == "Transpose"], [])


def test_wide_types(checks):
    m = Model(opset=13)
    m.input("x", INT64, [3])
    m.node("Add", ["x", "x"], ["y"])
    m.output("y", INT64, [3])
    x = np.array([1, -5, 1 << 20])
    for options, dtype in (((), "INT_32"), (("--keep_int64_inputs",), "INT_64")):
        c = run_model(checks, f"int64 {options}", m, {"x": x}, {"y": x + x}, options)
        checks.equal(f"int64 input {options}", c and c.tensors["x"].dtype, dtype)
    m = Model(opset=13)
    m.input("x", 11, [2])
    m.node("Add", ["x", "x"], ["y"])
    m.node("Mul", ["x", "y"], ["z"])
    m.output("z", 11, [2])
    with tempfile.TemporaryDirectory() as folder:
        m.save(f"{folder}/model.onnx")
        done, _ = convert(Case("doubles", pathlib.Path(folder, "model.onnx"), {}, {}), pathlib.Path(folder))
    checks.equal("one warning about float64", done.stderr.count("float64 becomes float32"), 1)


def table_model(rows, pick_first, tied):
    """Rows of a table of integers, picked before or behind DequantizeLinear, and the table as weights, too."""
    m = Model(opset=13)
    q = np.random.default_rng(4).integers(-128, 128, (rows, 40)).astype("i1")
    m.tensor("q", INT8, q.shape, raw=q.tobytes())
    m.tensor("scale", FLOAT, [], [0.0625])
    m.tensor("zero", INT8, [], raw=np.int8(3).tobytes())
    m.input("ids", INT64, [2, 3])
    m.node("DequantizeLinear", ["q", "scale", "zero"], ["t"])
    if pick_first:
        m.node("Gather", ["q", "ids"], ["picked"])
        m.node("DequantizeLinear", ["picked", "scale", "zero"], ["h"])
    else:
        m.node("Gather", ["t", "ids"], ["h"])
    m.output("h", FLOAT, [2, 3, 40])
    real = (q.astype("f4") - 3) * f4(0.0625)
    if tied:
        m.node("Transpose", ["t"], ["w"], perm=[1, 0])
        m.node("MatMul", ["h", "w"], ["y"])
        m.output("y", FLOAT, [2, 3, rows])
    return m, real


def test_tables(checks):
    """A table of integers stays one, and so does one that a layer is tied to; sums are exact."""
    ids = np.array([[1, 4, 0], [2, 2, 3]])
    for pick_first in (False, True):
        for tied in (False, True):
            m, real = table_model(300, pick_first, tied)
            expected = {"h": real[ids], **({"y": real[ids] @ real.T} if tied else {})}
            c = run_model(checks, f"table {pick_first} {tied}", m, {"ids": ids}, expected, ("--io_layout", "model"))
            tables = c and [t.dtype for t in c.tensors.values() if t.kind == "STATIC" and np.prod(t.dims) >= 12000]
            checks.equal(f"constants {pick_first} {tied}", tables, ["SFXP_8"])
    m, real = table_model(300, False, False)
    c = run_model(checks, "table of floats", m, {"ids": ids}, {"h": real[ids]}, ("--io_layout", "model", "--dequantize_weights"))
    checks.equal("ops of floats", c and [o.type for o in c.ops], ["Gather"])
    m, real = table_model(8, False, False)  # an op would be larger than what is saved
    c = run_model(checks, "small table", m, {"ids": ids}, {"h": real[ids]}, ("--io_layout", "model"))
    checks.equal("ops of a small table", c and [o.type for o in c.ops], ["Gather"])


def test_reshaped_channels(checks):
    """Scales of channels stay with their axis, whichever it becomes."""
    q, scale = np.random.default_rng(5).integers(-128, 128, (1, 6, 40)).astype("i1"), f4(2.0 ** np.arange(-6, 0))
    m = Model(opset=13)
    m.tensor("q", INT8, q.shape, raw=q.tobytes())
    m.tensor("scale", FLOAT, [6], scale.tolist())
    m.tensor("zero", INT8, [6], raw=bytes(6))
    m.tensor("dims", INT64, [2], raw=np.array([6, 40]).tobytes())
    m.input("x", FLOAT, [3, 40])
    m.node("DequantizeLinear", ["q", "scale", "zero"], ["d"], axis=1)
    m.node("Reshape", ["d", "dims"], ["w"])
    m.node("Gemm", ["x", "w"], ["y"], transB=1)
    m.output("y", FLOAT, [3, 6])
    x = f4(np.arange(120).reshape(3, 40) % 17 - 8)
    c = run_model(checks, "reshaped channels", m, {"x": x}, {"y": x @ (q[0] * scale[:, None]).T})
    weights = c and c.tensors[c.ops[0].inputs[1]]
    checks.equal("reshaped channels: weights", c and (weights.dtype, weights.encodings), ("SFXP_8", [(float(s), 0) for s in scale]))


def main():
    checks = Checks()
    if np is None:
        checks.skip("quantizing operators", "python3-numpy is not there")
    else:
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                test(checks)
    checks.finish()


main()
