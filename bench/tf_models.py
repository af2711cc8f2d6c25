# SPDX-License-Identifier: Apache-2.0
"""TensorFlow graphs of many nodes: what the chains and convolutions of models.py are in a frozen GraphDef."""

import os
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
from onnx_writer import Message  # noqa: E402

FLOAT = 1


def attribute(name, field, value):
    """An entry of a node's attributes, whose AttrValue has that field."""
    held = Message()
    add = {int: held.integer, bytes: held.data, float: held.float32, Message: held.message}[type(value)]
    add(field, value)
    return b"".join(Message().message(5, Message().data(1, name).message(2, held)).parts)


def integers(*values):
    return Message().data(3, bytes(values))


TYPE = attribute("T", 6, FLOAT)
DTYPE = attribute("dtype", 6, FLOAT)


def shape(*dims):
    message = Message()
    for dim in dims:
        message.message(2, Message().integer(1, dim))
    return message


class Graph:
    """Nodes, encoded one by one."""

    def __init__(self):
        self.parts = []

    def node(self, op_type, inputs, name, attributes=TYPE):
        """Adds a node; returns its name."""
        body = Message().data(1, name).data(2, op_type)
        for operand in inputs:
            body.data(3, operand)
        self.parts += Message().data(1, b"".join(body.parts) + attributes).parts
        return name

    def placeholder(self, name, *dims):
        return self.node("Placeholder", [], name, DTYPE + attribute("shape", 7, shape(*dims)))

    def const(self, name, values, *dims):
        content = struct.pack(f"<{len(values)}f", *values)
        tensor = Message().integer(1, FLOAT).message(2, shape(*dims)).data(4, content)
        return self.node("Const", [], name, DTYPE + attribute("value", 8, tensor))

    def save(self, folder):
        with open(os.path.join(folder, "model.pb"), "wb") as out:
            out.writelines(self.parts)


class Chain:
    """Blocks of ten nodes on [1,8], as models.Chain has them."""

    OPS = ("AddV2", "Relu", "Mul", "Sigmoid", "Neg", "Sub", "Tanh", "Abs", "AddV2", "Relu")
    SHARED, SKIP = ("AddV2", "Mul", "Sub"), 8

    def __init__(self, nodes):
        self.nodes = nodes

    def save(self, folder):
        g = Graph()
        last = start = g.placeholder("x", 1, 8)
        shared = g.const("shared", [i / 8 for i in range(8)], 1, 8)
        for i in range(self.nodes):
            block, place = divmod(i, len(self.OPS))
            op_type = self.OPS[place]
            start = last if place == 0 else start
            second = [start] if place == self.SKIP else [shared] if op_type in self.SHARED else []
            last = g.node(op_type, [last, *second], f"block{block}/{op_type}_{place}")
        g.save(folder)


class Convolutions:
    """Convolution, batch normalization and Relu of 8 channels, as models.Convolutions has them; the constants are nodes,
    too, which are not counted."""

    CHANNELS, SIDE, PER_BLOCK = 8, 4, 3

    def __init__(self, nodes):
        self.blocks = nodes // self.PER_BLOCK

    def save(self, folder):
        g, channels, noise = Graph(), self.CHANNELS, random.Random(1)
        conv = TYPE + attribute("strides", 1, integers(1, 1, 1, 1)) + attribute("padding", 2, b"VALID")
        norm = (TYPE + attribute("U", 6, FLOAT) + attribute("epsilon", 4, 1e-5) + attribute("is_training", 5, 0))
        last = g.placeholder("x", 1, self.SIDE, self.SIDE, channels)
        for i in range(self.blocks):
            name = f"block{i}/conv"
            weights = [noise.uniform(-0.05, 0.05) for _ in range(channels * channels)]
            weight = g.const(f"{name}/weight", weights, 1, 1, channels, channels)
            statistics = [g.const(f"{name}/{part}", [1 + (k + i) / 256 for k in range(channels)], channels)
                          for part in ("scale", "shift", "mean", "variance")]
            y = g.node("Conv2D", [last, weight], name, conv)
            n = g.node("FusedBatchNormV3", [y, *statistics], f"{name}/norm", norm)
            last = g.node("Relu", [n], f"{name}/relu")
        g.save(folder)
