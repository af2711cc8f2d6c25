# SPDX-License-Identifier: Apache-2.0
"""Integers with scales: GatherBlockQuantized, Binarizer, and the fake quantization of QONNX and Brevitas."""

import contrib_by_hand as by_hand
from contrib_draw_quant import draw_bnb4, draw_nbits
from contrib_node import HALF, Node, floats, source
from one_node import Const, Const4, np

QONNX, BREVITAS = "qonnx.custom_op.general::", "onnx.brevitas::"


def gathers():
    r, op = source("GatherBlockQuantized"), "GatherBlockQuantized"
    data, ids = r.randint(0, 256, (5, 24)).astype("u1"), np.array([[4, 0, -1], [2, 2, -5]])
    for bits in (2, 4, 8):
        blocks = -(-24 * 8 // bits // 32)
        scales = floats(r, 5, blocks, low=0.25, high=1)
        zeros = r.randint(0, 256, (5, -(-blocks * bits // 8))).astype("u1")
        more = {"bits": bits, "block_size": 32}
        table = Const(data, "u1")
        yield Node(f"{op}, {bits} bits", op, [table, ids, Const(scales, "f4")], **more)
        yield Node(f"{op}, {bits} bits, zero points", op, [table, Const(ids), Const(scales, "f4"), Const(zeros, "u1")], **more)
        yield Node(f"{op}, {bits} bits, one row", op, [table, np.array(3), Const(scales, "f4"), Const(zeros, "u1")], **more)
    yield Node(f"{op} by default", op, [Const(data, "u1"), ids, Const(floats(r, 5, 1), "f4")])
    half = Const(floats(r, 5, 2, low=0.25, high=1), "f2")
    yield Node(f"{op} of halves", op, [Const(data, "u1"), ids.astype("i4"), half], ("f2",), HALF, block_size=32, quantize_axis=-1)
    for kind, low in (("u1", 0), ("i1", -8)):
        four = r.randint(low, low + 16, (3, 20, 4)).astype(kind)
        scales, zeros = floats(r, 3, 2, 4), r.randint(low, low + 16, (3, 2, 4)).astype(kind)
        for gathered, shape in ((0, (2, 2)), (2, (3,))):
            place = r.randint(0, 3, shape)
            more = {"gather_axis": gathered, "quantize_axis": 1, "block_size": 16, "opset": 21}
            yield Node(f"{op}, {kind}, rows of {gathered}", op, [Const4(four, kind), place, Const(scales, "f4")], **more)
            yield Node(f"{op}, {kind}, rows of {gathered}, zero points", op,
                       [Const4(four, kind), place, Const(scales, "f4"), Const4(zeros, kind)], **more)


def binarizers():
    x = np.array([[-1, 0, 0.5], [1, 1.5, 2]], "f4")
    yield Node("Binarizer", "ai.onnx.ml::Binarizer", [x])
    yield Node("Binarizer, threshold", "ai.onnx.ml::Binarizer", [x], threshold=1.0)


def binarized_integers():
    x = np.arange(-2, 4).reshape(2, 3)
    for code in ("i4", "i8"):
        yield Node(f"Binarizer of {code}", "ai.onnx.ml::Binarizer", [x.astype(code)], (code,),
                   by_hand=lambda node: [node.inputs[0] > node.attributes["threshold"]], threshold=-0.5)


def quants():
    r = source("Quant")
    x, scale, line = floats(r, 2, 3, 4, low=-3, high=3), Const(0.25, "f4"), Const([[0.25], [0.5], [0.125]], "f4")
    ties = np.arange(-7, 8).astype("f4") / 8
    zero = Const(0, "f4")
    for domain in (QONNX, BREVITAS):
        for label, tensor in (("", x), (", known", Const(x, "f4"))):
            for bits, signed, narrow in ((8, 1, 0), (8, 0, 1), (4, 1, 1), (3, 0, 0), (1, 1, 0), (1, 0, 0), (12, 1, 1), (20, 1, 0)):
                yield Node(f"{domain} Quant to {bits} bits, signed {signed}, narrow {narrow}{label}", f"{domain}Quant",
                           [tensor, scale, zero, Const(bits, "f4")], by_hand=by_hand.quant, signed=signed, narrow=narrow)
            yield Node(f"{domain} Quant by axis{label}", f"{domain}Quant", [tensor, line, zero, Const(4, "f4")],
                       by_hand=by_hand.quant, signed=1, narrow=1)
            yield Node(f"{domain} Quant with a zero point{label}", f"{domain}Quant", [tensor, scale, Const(3, "f4"), Const(4, "f4")],
                       by_hand=by_hand.quant, signed=0, narrow=0, rounding_mode="ROUND")
            yield Node(f"{domain} BipolarQuant{label}", f"{domain}BipolarQuant", [tensor, line], by_hand=by_hand.bipolar_quant)
            yield Node(f"{domain} Trunc{label}", f"{domain}Trunc", [tensor, scale, zero, Const(8, "f4"), Const(6, "f4")],
                       by_hand=by_hand.trunc)
        for mode in by_hand.ROUNDINGS:
            given = {"signed": 1, "narrow": 0, "rounding_mode": mode.lower() if domain == QONNX else mode}
            yield Node(f"{domain} Quant by {mode}", f"{domain}Quant", [ties, scale, zero, Const(6, "f4")], by_hand=by_hand.quant, **given)
            yield Node(f"{domain} Trunc by {mode}", f"{domain}Trunc", [ties * 8, scale, Const(2, "f4"), Const(8, "f4"), Const(5, "f4")],
                       by_hand=by_hand.trunc, rounding_mode=mode)
    for mode in by_hand.ROUNDINGS:
        yield Node(f"Trunc 2 by {mode}", "qonnx.custom_op.general@2::Trunc",
                   [ties * 16, scale, Const(4, "f4"), Const(8, "f4"), Const(1, "f4"), Const(5, "f4")], by_hand=by_hand.trunc_2,
                   rounding_mode=mode)
    for signed, narrow in ((1, 1), (0, 0), (0, 1)):
        yield Node(f"Trunc 2, signed {signed}, narrow {narrow}", "qonnx.custom_op.general@2::Trunc",
                   [x, scale, zero, Const(8, "f4"), Const(0.6, "f4"), Const(3, "f4")], by_hand=by_hand.trunc_2, signed=signed,
                   narrow=narrow)
    yield Node("IntQuant", f"{QONNX}IntQuant", [x, scale, zero, Const(8, "f4")], by_hand=by_hand.quant, signed=1, narrow=0)
    yield Node("Quant by computed scales", f"{QONNX}Quant", [x, np.array([0.5, 0.25, 0.125, 1], "f4"), np.array(1, "f4"), Const(5, "f4")],
               by_hand=by_hand.quant, signed=1, narrow=0)


def nbits():
    for i in range(8):
        node = draw_nbits(source(f"MatMulNBits {i}"))
        node.name = f"MatMulNBits {i}"
        yield node


def tables_of_4_bits():
    for i in range(6):
        node = draw_bnb4(source(f"MatMulBnb4 {i}"))
        node.name = f"MatMulBnb4 {i}"
        yield node
    every = Const([2 * i << 4 | 2 * i + 1 for i in range(8)], "u1")
    for kind in (0, 1):
        yield Node(f"MatMulBnb4, all entries of table {kind}", "MatMulBnb4", [np.eye(16, dtype="f4"), every, Const([0.75], "f4")],
                   within=0, K=16, N=1, block_size=16, quant_type=kind)


CASES = [*nbits(), *tables_of_4_bits(), *gathers(), *binarizers(), *binarized_integers(), *quants()]
