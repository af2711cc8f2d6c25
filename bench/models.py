#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models that bench measures: the structure and weight sizes of real networks, with made-up numbers, and
graphs of many nodes.
usage: models.py NAME FOLDER [DIVISOR]   (DIVISOR: of channels, or of the number of nodes)

FOLDER gets model.onnx or model.pb, and weights.bin or ops.json where the model has external data or user-defined ops. Payloads are
written as they are made: 3 GB take no more memory than 100 MB, and a few seconds."""

import array
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
import tf_models  # noqa: E402
from onnx_writer import FLOAT, INT64, Message, Model, Repeated, attribute  # noqa: E402

# Numbers of noise; by how many of them a tensor starts after the one before it; bytes.
BLOCK, STRIDE, ALIGNMENT = 1 << 18, 977, 4096


def make_noise():
    source = random.Random(1)
    return array.array("f", (source.uniform(-0.05, 0.05) for _ in range(BLOCK))).tobytes()


class Weights:
    """Adds float tensors of repeated noise to a model, inside of the file or, in order, in another one. No two tensors
    are equal: there are converters that store equal ones once."""

    def __init__(self, model, noise, file=None):
        self.model = model
        self.noise = noise
        self.file = file
        self.count = 0
        self.external = []
        self.offset = 0

    def add(self, name, dims):
        """Adds a tensor; returns its name."""
        size = 4
        for dim in dims:
            size *= dim
        payload = Repeated(self.noise, size, self.count * STRIDE % BLOCK * 4)
        self.count += 1
        if not self.file:
            return self.model.tensor(name, FLOAT, dims, raw=payload)
        self.model.tensor(name, FLOAT, dims, external=(self.file, self.offset, size))
        self.external.append(payload)
        self.offset += -(-size // ALIGNMENT) * ALIGNMENT
        return name

    def batch_statistics(self, name, channels):
        """Adds scale, shift, mean and variance of a batch normalization, all positive; returns their names."""
        names = []
        for part in ("scale", "shift", "mean", "variance"):
            values = [1.0 + (i + self.count) / 256 for i in range(channels)]
            names.append(self.model.tensor(f"{name}.{part}", FLOAT, [channels], values))
            self.count += 1
        return names

    def save(self, folder):
        """Writes the other file, if there is one."""
        if not self.file:
            return
        with open(os.path.join(folder, self.file), "wb") as out:
            for payload in self.external:
                out.writelines(payload.chunks())
                out.seek(-payload.size % ALIGNMENT, os.SEEK_CUR)
            out.truncate(self.offset)


class Holes(Weights):
    """Weights of zeros in a file without blocks: as large as one likes, made at once."""

    def save(self, folder):
        with open(os.path.join(folder, self.file), "wb") as out:
            out.truncate(self.offset)


class ConvNet:
    """A network of convolutions, each with a BatchNormalization of its own and perhaps an activation."""

    def __init__(self, model=Model, weights=Weights):
        self.m = model(opset=13)
        self.w = weights(self.m, make_noise())
        self.count = 0

    def conv(self, source, channels_in, channels_out, kernel, stride, activation="Relu", group=1):
        self.count += 1
        name = f"conv{self.count}"
        m = self.m
        w = self.w.add(f"{name}.weight", [channels_out, channels_in // group, kernel, kernel])
        grouped = {"group": group} if group > 1 else {}
        m.node("Conv", [source, w], [f"{name}.y"], name=name, kernel_shape=[kernel] * 2, strides=[stride] * 2,
               pads=[kernel // 2] * 4, **grouped)
        m.node("BatchNormalization", [f"{name}.y", *self.w.batch_statistics(name, channels_out)], [f"{name}.n"])
        return self.activate(activation, f"{name}.n", f"{name}.r") if activation else f"{name}.n"

    def activate(self, activation, source, name):
        self.m.node(activation, [source], [name])
        return name

    def classify(self, x, channels, classes=1000):
        m = self.m
        m.node("GlobalAveragePool", [x], ["average"])
        m.node("Flatten", ["average"], ["features"])
        self.w.add("fc.weight", [classes, channels])
        self.w.add("fc.bias", [classes])
        m.node("Gemm", ["features", "fc.weight", "fc.bias"], ["scores"], transB=1)
        m.output("scores", FLOAT, [1, classes])


class Resnet50(ConvNet):
    """ResNet-50 v1 as exported with separate BatchNormalization: 53 convolutions, 25.5 million weights."""

    def __init__(self, divisor, **kinds):
        super().__init__(**kinds)
        self.channels = 64 // divisor

    def block(self, x, channels_in, channels, stride):
        y = self.conv(x, channels_in, channels, 1, 1)
        y = self.conv(y, channels, channels, 3, stride)
        y = self.conv(y, channels, channels * 4, 1, 1, activation=None)
        if stride != 1 or channels_in != channels * 4:
            x = self.conv(x, channels_in, channels * 4, 1, stride, activation=None)
        out = f"block{self.count}"
        self.m.node("Add", [x, y], [f"{out}.sum"])
        self.m.node("Relu", [f"{out}.sum"], [out])
        return out

    def save(self, folder):
        m = self.m
        m.input("image", FLOAT, [1, 3, 224, 224])
        channels = channels_in = self.channels
        x = self.conv("image", 3, channels, 7, 2)
        m.node("MaxPool", [x], ["pool"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        x = "pool"
        for stage, blocks in enumerate([3, 4, 6, 3]):
            for i in range(blocks):
                x = self.block(x, channels_in, channels, 2 if stage and i == 0 else 1)
                channels_in = channels * 4
            channels *= 2
        self.classify(x, channels_in)
        m.save(os.path.join(folder, "model.onnx"))


class Transformer:
    """Encoder layers and a projection to a vocabulary."""

    HEADS, TOKENS = 16, 128

    def __init__(self, width, layers, vocabulary, divisor=1, weights=Weights, file=None, model=Model):
        self.m = model(opset=17)
        self.w = weights(self.m, make_noise(), file)
        self.width, self.layers, self.vocabulary = width // divisor, layers, vocabulary // divisor

    def linear(self, source, name, inputs, outputs):
        m = self.m
        m.node("MatMul", [source, self.w.add(f"{name}.weight", [inputs, outputs])], [f"{name}.product"])
        m.node("Add", [f"{name}.product", self.w.add(f"{name}.bias", [outputs])], [name])
        return name

    def norm(self, source, name):
        operands = [source, self.w.add(f"{name}.scale", [self.width]), self.w.add(f"{name}.shift", [self.width])]
        self.m.node("LayerNormalization", operands, [name], axis=-1, epsilon=1e-5)
        return name

    def heads(self, source, name, perm):
        self.m.node("Reshape", [source, "split"], [f"{name}.split"])
        self.m.node("Transpose", [f"{name}.split"], [f"{name}.heads"], perm=perm)
        return f"{name}.heads"

    def attention(self, x, name):
        m, width = self.m, self.width
        q = self.heads(self.linear(x, f"{name}.q", width, width), f"{name}.q", [0, 2, 1, 3])
        k = self.heads(self.linear(x, f"{name}.k", width, width), f"{name}.k", [0, 2, 3, 1])
        v = self.heads(self.linear(x, f"{name}.v", width, width), f"{name}.v", [0, 2, 1, 3])
        m.node("MatMul", [q, k], [f"{name}.scores"])
        m.node("Mul", [f"{name}.scores", "scale"], [f"{name}.scaled"])
        m.node("Softmax", [f"{name}.scaled"], [f"{name}.p"], axis=-1)
        m.node("MatMul", [f"{name}.p", v], [f"{name}.mixed"])
        m.node("Transpose", [f"{name}.mixed"], [f"{name}.back"], perm=[0, 2, 1, 3])
        m.node("Reshape", [f"{name}.back", "join"], [f"{name}.joined"])
        return self.linear(f"{name}.joined", f"{name}.out", width, width)

    def layer(self, x, name):
        m, width = self.m, self.width
        m.node("Add", [x, self.attention(self.norm(x, f"{name}.norm1"), f"{name}.attention")], [f"{name}.mid"])
        up = self.linear(self.norm(f"{name}.mid", f"{name}.norm2"), f"{name}.up", width, width * 4)
        m.node("Relu", [up], [f"{name}.active"])
        m.node("Add", [f"{name}.mid", self.linear(f"{name}.active", f"{name}.down", width * 4, width)], [name])
        return name

    def save(self, folder):
        m, width = self.m, self.width
        m.input("tokens", FLOAT, [1, self.TOKENS, width])
        m.tensor("split", INT64, [4], [1, self.TOKENS, self.HEADS, width // self.HEADS])
        m.tensor("join", INT64, [3], [1, self.TOKENS, width])
        m.tensor("scale", FLOAT, [], [(width / self.HEADS) ** -0.5])
        x = "tokens"
        for layer in range(self.layers):
            x = self.layer(x, f"layer{layer}")
        m.output(self.linear(x, "scores", width, self.vocabulary), FLOAT, [1, self.TOKENS, self.vocabulary])
        m.save(os.path.join(folder, "model.onnx"))
        self.w.save(folder)


def short(text):
    """A string of less than 128 bytes behind its length."""
    return bytes([len(text)]) + text.encode()


def encode_node(op_type, operands, result, name, tail=b""):
    """A node as a field of its graph: what Model.node writes, ten times as fast. Strings are short; tail holds
    further fields."""
    body = b"".join([b"\n" + short(operand) for operand in operands])
    body += b"\x12" + short(result) + b"\x1a" + short(name) + b"\x22" + short(op_type) + tail
    return Message().data(1, body).parts


class Chain:
    """Nodes one after another on [1,8]: blocks of ten, of which four have a second operand, three times one constant
    that all blocks share, once the block's input. Names are like an exporter's, 12 to 18 bytes: node /block17/Mul_3,
    tensor /block17/Mul_3_y."""

    OPS = ("Add", "Relu", "Mul", "Sigmoid", "Neg", "Sub", "Tanh", "Abs", "Add", "Relu")
    SHARED, SKIP = ("Add", "Mul", "Sub"), 8

    def __init__(self, nodes, domains=()):
        self.m = Model(opset=13, domains=domains)
        self.nodes = nodes

    def node(self, i, operands):
        """(type, operands, further fields) of node i whose operands would be these."""
        return self.OPS[i % len(self.OPS)], operands, b""

    def encode(self):
        """All nodes; the name of the last result."""
        fields, last, start, count = bytearray(), "x", "x", len(self.OPS)
        for i in range(self.nodes):
            block, place = divmod(i, count)
            op_type = self.OPS[place]
            start = last if place == 0 else start
            second = [start] if place == self.SKIP else ["shared"] if op_type in self.SHARED else []
            op_type, operands, tail = self.node(i, [last, *second])
            name = f"/block{block}/{op_type}_{place}"
            last = f"{name}_y"
            fields += b"".join(encode_node(op_type, operands, last, name, tail))
        self.m.graph.encoded(fields)
        return last

    def save(self, folder):
        self.m.input("x", FLOAT, [1, 8])
        self.m.tensor("shared", FLOAT, [1, 8], [i / 8 for i in range(8)])
        self.m.output(self.encode(), FLOAT, [1, 8])
        self.m.save(os.path.join(folder, "model.onnx"))


class Replaced(Chain):
    """A chain of which every 20th node has a slope: a native LeakyRelu, or a user-defined op of one of ten types."""

    EVERY, TYPES, DOMAIN = 20, 10, "com.example"

    def __init__(self, nodes, user_defined):
        super().__init__(nodes, [self.DOMAIN] if user_defined else [])
        self.user_defined = user_defined
        slope = Message().message(5, attribute("alpha", 0.25))
        self.fields = b"".join(slope.parts + (Message().data(7, self.DOMAIN).parts if user_defined else []))

    def node(self, i, operands):
        if i % self.EVERY != 1:
            return super().node(i, operands)
        return f"Slope{i // self.EVERY % self.TYPES}" if self.user_defined else "LeakyRelu", operands[:1], self.fields

    def save(self, folder):
        super().save(folder)
        if self.user_defined:
            operand = {"name": "x", "data_type": "FLOAT_32"}
            result = {"name": "y", "data_type": "FLOAT_32", "shape": "same_as in0"}
            alpha = {"name": "alpha", "data_type": "FLOAT_32", "default_value": 0.01}
            package = {"UDO_PACKAGE_NAME": "SlopeOps",
                       "Operators": [{"type": f"Slope{i}", "domain": self.DOMAIN, "inputs": [operand],
                                      "outputs": [result], "scalar_params": [alpha]} for i in range(self.TYPES)]}
            config = json.dumps({"UdoPackage_0": package}, indent=1)
            pathlib.Path(folder, "ops.json").write_text(config + "\n", encoding="utf-8")


class Convolutions:
    """Convolution, batch normalization and Relu, one after another, 8 channels of 4 × 4 with 1 × 1 kernels: the small
    tensors of a large graph."""

    CHANNELS, SIDE, PER_BLOCK = 8, 4, 3

    def __init__(self, nodes, group=1):
        self.m = Model(opset=13)
        self.w = Weights(self.m, make_noise())
        self.blocks = nodes // self.PER_BLOCK
        self.group = group

    def save(self, folder):
        m, channels = self.m, self.CHANNELS
        grouped = {"group": self.group} if self.group > 1 else {}
        m.input("x", FLOAT, [1, channels, self.SIDE, self.SIDE])
        last = "x"
        for i in range(self.blocks):
            name = f"/block{i}/conv"
            weight = self.w.add(f"{name}.weight", [channels, channels // self.group, 1, 1])
            m.node("Conv", [last, weight], [f"{name}.y"], name=name, kernel_shape=[1, 1], **grouped)
            m.node("BatchNormalization", [f"{name}.y", *self.w.batch_statistics(name, channels)], [f"{name}.n"])
            last = f"{name}.r"
            m.node("Relu", [f"{name}.n"], [last])
        m.output(last, FLOAT, [1, channels, self.SIDE, self.SIDE])
        m.save(os.path.join(folder, "model.onnx"))


class Products:
    """Matrix product with a small factor, bias and Relu, one after another, of 8 features."""

    FEATURES, PER_BLOCK = 8, 3

    def __init__(self, nodes):
        self.m = Model(opset=13)
        self.w = Weights(self.m, make_noise())
        self.blocks = nodes // self.PER_BLOCK

    def save(self, folder):
        m, features, last = self.m, self.FEATURES, "x"
        m.input("x", FLOAT, [1, features])
        for i in range(self.blocks):
            name = f"/block{i}/dense"
            factor, bias = self.w.add(f"{name}.weight", [features] * 2), self.w.add(f"{name}.bias", [features])
            m.node("MatMul", [last, factor], [f"{name}.y"], name=name)
            m.node("Add", [f"{name}.y", bias], [f"{name}.n"])
            last = f"{name}.r"
            m.node("Relu", [f"{name}.n"], [last])
        m.output(last, FLOAT, [1, features])
        m.save(os.path.join(folder, "model.onnx"))


# Of the models whose size is their graph.
NODES = {"chain10k": 10_000, "chain100k": 100_000, "chain1m": 1_000_000, "native": 100_000, "udo": 100_000,
         "conv20k": 20_000, "depthwise20k": 20_000, "dense20k": 20_000, "tfchain100k": 100_000, "tfconv20k": 20_000}


def large(divisor, **place):
    """3 GB of weights."""
    return Transformer(2048, 14, 22000, divisor, **place)


MODELS = {
    "tfchain100k": lambda divisor: tf_models.Chain(NODES["tfchain100k"] // divisor),
    "tfconv20k": lambda divisor: tf_models.Convolutions(NODES["tfconv20k"] // divisor),
    "resnet50": Resnet50,
    "transformer": lambda divisor, **kinds: Transformer(1024, 8, 9000, divisor, **kinds),
    "single1.9": lambda divisor: Transformer(2048, 9, 10500, divisor),
    "single3": large,
    "external3": lambda divisor: large(divisor, file="weights.bin"),
    "external5": lambda divisor: Transformer(2048, 24, 22000, divisor, weights=Holes, file="weights.bin"),
    "chain10k": lambda divisor: Chain(NODES["chain10k"] // divisor),
    "chain100k": lambda divisor: Chain(NODES["chain100k"] // divisor),
    "chain1m": lambda divisor: Chain(NODES["chain1m"] // divisor),
    "native": lambda divisor: Replaced(NODES["native"] // divisor, user_defined=False),
    "udo": lambda divisor: Replaced(NODES["udo"] // divisor, user_defined=True),
    "conv20k": lambda divisor: Convolutions(NODES["conv20k"] // divisor),
    "depthwise20k": lambda divisor: Convolutions(NODES["depthwise20k"] // divisor, Convolutions.CHANNELS),
    "dense20k": lambda divisor: Products(NODES["dense20k"] // divisor),
}


def write_model(name, folder, divisor=1):
    os.makedirs(folder, exist_ok=True)
    MODELS[name](divisor).save(folder)


def main():
    if not 3 <= len(sys.argv) <= 4 or sys.argv[1] not in MODELS:
        sys.exit(f"{__doc__}\n\nNAME: {' '.join(MODELS)}")
    write_model(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)


if __name__ == "__main__":
    main()
