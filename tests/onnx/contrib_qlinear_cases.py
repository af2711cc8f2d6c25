# SPDX-License-Identifier: Apache-2.0
"""Operators on quantized integers: a few of the random ones, as ONNX Runtime computes them."""

from contrib_node import Node, source
from qlinear_draw import DRAWS

STEP = 1.01 / 64  # of the largest value: an integer more or less
ROUNDS = ("QLinearAdd", "QLinearAveragePool", "QLinearMul", "QLinearSoftmax")  # in between, as ONNX Runtime has it
WITHOUT_KERNEL = ("QLinearReduceMean",)
PRODUCTS = ("QGemm", "QLinearConv", "QLinearMatMul")


def case(op, name):
    drawn = DRAWS[op](source(name))
    node = Node(name, drawn.op if "::" in drawn.op else "::" + drawn.op, drawn.inputs, (drawn.expected[0].dtype.str[1:],),
                STEP if op in ROUNDS else 0, opset=drawn.opset)
    node.attributes.update(drawn.attributes)
    return node


def has_kernel(node):
    """There are no products of signed and unsigned bytes; results of all but QGemm have the first operand's type."""
    if node.op.split("::")[-1] not in PRODUCTS:
        return True
    first, second = (node.arrays()[i].dtype.kind for i in (0, 3))
    return (first, second) != ("i", "u") and (node.op.endswith("QGemm") or node.outputs[0][0] == first)


CASES = [node for op in DRAWS if op not in WITHOUT_KERNEL for node in (case(op, f"{op} {i}") for i in range(9 if op in PRODUCTS else 3))
         if has_kernel(node)]
