# SPDX-License-Identifier: Apache-2.0
"""Random nodes of integers with scales."""

import contrib_by_hand as by_hand
from contrib_draw import attributes, extent, known, rows, trimmed
from contrib_node import HALF, Node, floats
from one_node import Const, Const4, np


def draw_gather(r):
    four, block = r.rand() < 0.5, [16, 32][r.randint(2)]
    bits = [2, 4, 8][r.randint(3)]
    if four:
        kind = ["u1", "i1"][r.randint(2)]
        low = 0 if kind == "u1" else -8
        dims = rows(r, extent(r, 2, 3))
        gathered, quantized = r.permutation(len(dims))[:2].tolist()
        dims[quantized] = extent(r, 1, 40)
        data = Const4(r.randint(low, low + 16, dims), kind)
        scales = [*dims]
        scales[quantized] = -(-dims[quantized] // block)
        zeros = Const4(r.randint(low, low + 16, scales), kind)
        more = {"gather_axis": gathered, "quantize_axis": quantized - (len(dims) if r.rand() < 0.3 else 0)}
    else:
        dims = [*rows(r, extent(r, 1, 2)), extent(r, 1, 20)]
        data, gathered = Const(r.randint(0, 256, dims), "u1"), 0
        blocks = -(-dims[-1] * 8 // bits // block)
        scales = [*dims[:-1], blocks]
        zeros = Const(r.randint(0, 256, [*dims[:-1], -(-blocks * bits // 8)]), "u1")
        more = {"bits": bits, "quantize_axis": -1}
    code = ["f4", "f4", "f2"][r.randint(3)]
    size = dims[gathered]
    ids = r.randint(-size, size, rows(r, extent(r, 1, 2)) if r.rand() < 0.8 else ()).astype(["i4", "i8"][r.randint(2)])
    inputs = [data, known(r, np.array(ids)), Const(floats(r, *scales, low=0.25, high=1), code), *([zeros] if r.rand() < 0.5 else [])]
    return Node("GatherBlockQuantized", "GatherBlockQuantized", inputs, (code,), HALF if code == "f2" else 2e-5, opset=21,
                block_size=block, **more)


def draw_nbits(r):
    bits, block, k, n = [2, 4, 8][r.randint(3)], [16, 32, 64][r.randint(3)], extent(r, 1, 70), extent(r, 1, 9)
    blocks = -(-k // block)
    code = "f2" if r.rand() < 0.2 else "f4"
    packed = Const(r.randint(0, 256, [n, blocks, block * bits // 8]), "u1")
    zeros = [None, Const(r.randint(0, 256, [n, -(-blocks * bits // 8)]), "u1"),
             Const(floats(r, n, blocks, low=0, high=2), code)][r.randint(3 if bits == 4 else 2)]
    scales = Const(floats(r, *([n * blocks] if r.rand() < 0.3 else [n, blocks]), low=0.25, high=1), code)
    bias = Const(floats(r, n), code) if r.rand() < 0.4 else None
    groups = Const(r.randint(0, blocks, k), "i4") if bits == 4 and code == "f4" and r.rand() < 0.3 else None
    inputs = [floats(r, *rows(r, extent(r, 1, 2)), k, dtype=code), packed, scales, zeros, groups, bias]
    return Node("MatMulNBits", "MatMulNBits", trimmed(inputs),
                (code,), HALF if code == "f2" else 2e-5, K=k, N=n, bits=bits, block_size=block)


def draw_bnb4(r):
    block, k, n = [16, 32, 64][r.randint(3)], extent(r, 1, 70), extent(r, 1, 9)
    k += k % 2 * (n % 2)  # ONNX Runtime wants whole bytes
    largest = Const(floats(r, -(-n * k // block), low=0.25, high=2), "f4")
    return Node("MatMulBnb4", "MatMulBnb4", [floats(r, *rows(r, extent(r, 1, 2)), k), Const(r.randint(0, 256, -(-n * k // 2)), "u1"), largest],
                K=k, N=n, block_size=block, quant_type=int(r.randint(2)))


def quantizer(r):
    """x and a scale that fits"""
    dims = rows(r, extent(r, 1, 4))
    scale = [1] * extent(r, 0, len(dims)) if r.rand() < 0.5 else [n if r.rand() < 0.5 else 1 for n in dims]
    powers = 2.0**r.randint(-4, 1, scale)
    return known(r, floats(r, *dims, low=-4, high=4)), known(r, np.array(powers * (1 if r.rand() < 0.5 else 0.7), "f4"))


def domain(r):
    return ["qonnx.custom_op.general::", "onnx.brevitas::"][r.randint(2)]


def draw_quant(r):
    x, scale = quantizer(r)
    zero = Const(int(r.randint(-3, 4)) if r.rand() < 0.4 else 0, "f4")
    return Node("Quant", domain(r) + "Quant", [x, scale, zero, Const(extent(r, 1, 18), "f4")], by_hand=by_hand.quant,
                signed=int(r.randint(2)), narrow=int(r.randint(2)), **attributes(r, rounding_mode=list(by_hand.ROUNDINGS)))


def draw_bipolar(r):
    return Node("BipolarQuant", domain(r) + "BipolarQuant", list(quantizer(r)), by_hand=by_hand.bipolar_quant)


def draw_trunc(r):
    x, scale = quantizer(r)
    bits = extent(r, 2, 10)
    return Node("Trunc", domain(r) + "Trunc", [x, scale, Const(int(r.randint(-3, 4)), "f4"), Const(bits, "f4"),
                                               Const(extent(r, 1, bits), "f4")], by_hand=by_hand.trunc,
                **attributes(r, rounding_mode=list(by_hand.ROUNDINGS)))


def draw_trunc_2(r):
    x, _ = quantizer(r)
    scale = 2.0**int(r.randint(-4, 1))
    inputs = [Const(v, "f4") for v in (scale, int(r.randint(-3, 4)), 8, scale * 2.0**int(r.randint(0, 4)) * (1 + 0.2 * r.rand()),
                                       extent(r, 1, 10))]
    return Node("Trunc 2", "qonnx.custom_op.general@2::Trunc", [x, *inputs], by_hand=by_hand.trunc_2,
                **attributes(r, rounding_mode=list(by_hand.ROUNDINGS), signed=[0, 1], narrow=[0, 1]))


def draw_binarizer(r):
    return Node("Binarizer", "ai.onnx.ml::Binarizer", [floats(r, *rows(r))], **attributes(r, threshold=[0.5, -1.0, 0.0]))


DRAWS = {"Binarizer": draw_binarizer, "BipolarQuant": draw_bipolar, "GatherBlockQuantized": draw_gather, "MatMulBnb4": draw_bnb4, "MatMulNBits": draw_nbits, "Quant": draw_quant,
         "Trunc": draw_trunc, "Trunc 2": draw_trunc_2}
