#!/usr/bin/env python3
"""Writes the models that bench/convert measures: the structure and weight sizes of real networks, with made-up numbers.
usage: models.py (resnet50 | transformer) OUTPUT [DIVISOR]   (channel counts are divided by DIVISOR)"""

import array
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))
from onnx_writer import FLOAT, INT64, Model  # noqa: E402

BLOCK = 1 << 18


def make_noise():
    source = random.Random(1)
    return array.array("f", (source.uniform(-0.05, 0.05) for _ in range(BLOCK))).tobytes()


NOISE = make_noise()


def weights(m, name, dims):
    """Adds a float tensor of repeated noise; returns its name."""
    size = 4
    for dim in dims:
        size *= dim
    return m.tensor(name, FLOAT, dims, raw=(NOISE * (size // len(NOISE) + 1))[:size])


class Resnet50:
    """ResNet-50 v1 as exported with separate BatchNormalization: 53 convolutions, 25.5 million weights."""

    def __init__(self, divisor):
        self.m = Model(opset=13)
        self.divisor = divisor
        self.count = 0

    def conv(self, source, channels_in, channels_out, kernel, stride, relu=True):
        self.count += 1
        name = f"conv{self.count}"
        m = self.m
        w = weights(m, f"{name}.weight", [channels_out, channels_in, kernel, kernel])
        pad = kernel // 2
        m.node("Conv", [source, w], [f"{name}.y"], name=name, kernel_shape=[kernel] * 2, strides=[stride] * 2,
               pads=[pad] * 4)
        values = [1.0 + i / 64 for i in range(channels_out)]
        statistics = [m.tensor(f"{name}.{part}", FLOAT, [channels_out], values)
                      for part in ("scale", "shift", "mean", "variance")]
        m.node("BatchNormalization", [f"{name}.y", *statistics], [f"{name}.n"])
        if relu:
            m.node("Relu", [f"{name}.n"], [f"{name}.r"])
        return f"{name}.r" if relu else f"{name}.n"

    def block(self, x, channels_in, channels, stride):
        y = self.conv(x, channels_in, channels, 1, 1)
        y = self.conv(y, channels, channels, 3, stride)
        y = self.conv(y, channels, channels * 4, 1, 1, relu=False)
        if stride != 1 or channels_in != channels * 4:
            x = self.conv(x, channels_in, channels * 4, 1, stride, relu=False)
        out = f"block{self.count}"
        self.m.node("Add", [x, y], [f"{out}.sum"])
        self.m.node("Relu", [f"{out}.sum"], [out])
        return out

    def save(self, path):
        m = self.m
        m.input("image", FLOAT, [1, 3, 224, 224])
        channels = 64 // self.divisor
        x = self.conv("image", 3, channels, 7, 2)
        m.node("MaxPool", [x], ["pool"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        x, channels_in = "pool", channels
        for stage, blocks in enumerate([3, 4, 6, 3]):
            for i in range(blocks):
                x = self.block(x, channels_in, channels, 2 if stage and i == 0 else 1)
                channels_in = channels * 4
            channels *= 2
        m.node("GlobalAveragePool", [x], ["average"])
        m.node("Flatten", ["average"], ["features"])
        weights(m, "fc.weight", [1000, channels_in])
        weights(m, "fc.bias", [1000])
        m.node("Gemm", ["features", "fc.weight", "fc.bias"], ["scores"], transB=1)
        m.output("scores", FLOAT, [1, 1000])
        m.save(path)


class Transformer:
    """Eight encoder layers of width 1024: 100 million weights."""

    LAYERS, HEADS, TOKENS = 8, 16, 128

    def __init__(self, divisor):
        self.m = Model(opset=17)
        self.width = 1024 // divisor

    def linear(self, source, name, inputs, outputs):
        m = self.m
        m.node("MatMul", [source, weights(m, f"{name}.weight", [inputs, outputs])], [f"{name}.product"])
        m.node("Add", [f"{name}.product", weights(m, f"{name}.bias", [outputs])], [name])
        return name

    def norm(self, source, name):
        m, width = self.m, self.width
        operands = [source, weights(m, f"{name}.scale", [width]), weights(m, f"{name}.shift", [width])]
        m.node("LayerNormalization", operands, [name], axis=-1, epsilon=1e-5)
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

    def save(self, path):
        m, width = self.m, self.width
        m.input("tokens", FLOAT, [1, self.TOKENS, width])
        m.tensor("split", INT64, [4], [1, self.TOKENS, self.HEADS, width // self.HEADS])
        m.tensor("join", INT64, [3], [1, self.TOKENS, width])
        m.tensor("scale", FLOAT, [], [(width / self.HEADS) ** -0.5])
        x = "tokens"
        for layer in range(self.LAYERS):
            name = f"layer{layer}"
            m.node("Add", [x, self.attention(self.norm(x, f"{name}.norm1"), f"{name}.attention")], [f"{name}.mid"])
            up = self.linear(self.norm(f"{name}.mid", f"{name}.norm2"), f"{name}.up", width, width * 4)
            m.node("Relu", [up], [f"{name}.active"])
            m.node("Add", [f"{name}.mid", self.linear(f"{name}.active", f"{name}.down", width * 4, width)], [name])
            x = name
        m.output(x, FLOAT, [1, self.TOKENS, width])
        m.save(path)


MODELS = {"resnet50": Resnet50, "transformer": Transformer}


def main():
    MODELS[sys.argv[1]](int(sys.argv[3]) if len(sys.argv) > 3 else 1).save(sys.argv[2])


main()
