# SPDX-License-Identifier: Apache-2.0
"""Networks that are generated: float ones of bench's models.py and a MobileNet and a YOLO, and 8-bit ones of the same.

Numbers stay of one magnitude through a network, so that results say whether it was computed right."""

import array
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import models  # noqa: E402
from onnx_writer import FLOAT, INT8, INT32, INT64, UINT8, Model, Repeated  # noqa: E402

LARGEST, SPREAD = 0.05, 0.05 / math.sqrt(3)  # Of the noise that weights are made of.
BYTE = 127


def shifts(channels):
    """What is added to the channels of a convolution: results of small ones would vanish in a deep network."""
    return [(i * 37 % 64 - 32) / 64 for i in range(channels)]


class LiveWeights(models.Weights):
    """Weights whose batch statistics give results of a convolution the magnitude of its input."""

    last = ()

    def add(self, name, dims):
        self.last = dims
        return super().add(name, dims)

    def gain(self):
        return math.sqrt(2 / math.prod(self.last[1:])) / SPREAD

    def batch_statistics(self, name, channels):
        values = {"scale": [self.gain()] * channels, "shift": shifts(channels), "mean": [0.0] * channels,
                  "variance": [1.0] * channels}
        return [self.model.tensor(f"{name}.{part}", FLOAT, [channels], numbers) for part, numbers in values.items()]


class ByteWeights(LiveWeights):
    """The same in 8 bits and dequantized, but what norms and a Gemm add; those of convolutions have the factors of their
    batch normalization in them."""

    REAL = ("scale", "shift")

    def __init__(self, model, noise, file=None):
        numbers = array.array("f", noise)
        super().__init__(model, noise, file)
        self.bytes = array.array("b", (round(x / LARGEST * BYTE) for x in numbers)).tobytes()

    def add(self, name, dims):
        if len(dims) == 1 and name.split(".")[-1] in self.REAL or name == "fc.bias":
            return super().add(name, dims)
        self.last, m = dims, self.model
        m.tensor(f"{name}.bytes", INT8, dims,
                 raw=Repeated(self.bytes, math.prod(dims), self.count * models.STRIDE % models.BLOCK))
        scale = LARGEST / BYTE * (self.gain() if len(dims) == 4 else 1)
        m.tensor(f"{name}.scale", FLOAT, [], [scale])
        m.tensor(f"{name}.zero", INT8, [], [0])
        m.as_it_is("DequantizeLinear", [f"{name}.bytes", f"{name}.scale", f"{name}.zero"], [name])
        m.kernels[name] = (dims[0], scale)
        self.count += 1
        return name

    def batch_statistics(self, name, channels):
        return []


class ByteModel(Model):
    """Nodes as they come; what the float network computes is quantized and dequantized where its range is known. ranges:
    {tensor: (least, most)} of the float network."""

    ACTIVATIONS, MOVES = ("Relu", "Clip"), ("MaxPool", "Reshape", "Transpose", "Flatten", "Resize")

    def __init__(self, ranges, **kinds):
        super().__init__(**kinds)
        self.ranges, self.names, self.encodings, self.scales, self.kernels = ranges, {}, {}, {}, {}
        self.waiting = None

    def as_it_is(self, *node, **attributes):
        super().node(*node, **attributes)

    def encoding(self, name, scale, zero):
        self.scales[f"{name}.step"] = scale
        return [self.tensor(f"{name}.step", FLOAT, [], [scale]), self.tensor(f"{name}.zero", UINT8, [], [zero])]

    def bias(self, source, kernel):
        """The shifts of a convolution's batch normalization, in steps of its products."""
        channels, scale = self.kernels[kernel]
        scale *= self.scales[self.encodings[source][0]]
        steps = [round(shift / scale) for shift in shifts(channels)]
        operands = [self.tensor(f"{kernel}.shift", INT32, [channels], steps),
                    self.tensor(f"{kernel}.shift.step", FLOAT, [], [scale])]
        self.as_it_is("DequantizeLinear", operands, [f"{kernel}.bias"])
        return f"{kernel}.bias"

    def encoding_of(self, name):
        least, most = (f(0.0, bound) for f, bound in zip((min, max), self.ranges[name]))
        scale = (most - least) / 255 or 1.0
        return self.encoding(name, scale, round(-least / scale))

    def pair(self, real, name, encoding):
        self.as_it_is("QuantizeLinear", [real, *encoding], [f"{name}.quantized"])
        self.as_it_is("DequantizeLinear", [f"{name}.quantized", *encoding], [name])
        self.encodings[name] = encoding

    def settle(self):
        """Quantizes the result that waited for an activation."""
        name, self.waiting = self.waiting, None
        if name and self.ranges.get(name):
            self.pair(f"{name}.real", name, self.encoding_of(name))
        elif name:
            self.names[name] = f"{name}.real"

    def input(self, name, data_type, dims):
        super().input(name, data_type, dims)
        self.names[name] = f"{name}.8bit"
        self.ranges[f"{name}.8bit"] = self.ranges[name]
        self.pair(name, f"{name}.8bit", self.encoding_of(f"{name}.8bit"))

    def node(self, op_type, inputs, outputs, name="", domain="", **attributes):
        inputs = [self.names.get(value, value) for value in inputs]
        output, = outputs
        if op_type == "BatchNormalization":  # is in the weights
            self.names[output] = inputs[0]
            self.ranges[inputs[0]] = self.ranges.get(output)
            return
        if op_type in self.ACTIVATIONS and inputs[0] == self.waiting:  # as quantizers do: saturation does it
            self.waiting = None
            self.pair(f"{inputs[0]}.real", output, self.encoding_of(output))
            return
        self.settle()
        inputs = [self.names.get(value, value) for value in inputs]
        if op_type in self.MOVES and inputs[0] in self.encodings:
            self.as_it_is(op_type, inputs, [f"{output}.real"], name, **attributes)
            self.pair(f"{output}.real", output, self.encodings[inputs[0]])
        elif op_type in ("Conv", "Add"):
            inputs += [self.bias(*inputs)] if op_type == "Conv" else []
            self.as_it_is(op_type, inputs, [f"{output}.real"], name, **attributes)
            self.waiting = output
        elif self.ranges.get(output):
            self.as_it_is(op_type, inputs, [f"{output}.real"], name, **attributes)
            self.pair(f"{output}.real", output, self.encoding_of(output))
        else:
            self.as_it_is(op_type, inputs, outputs, name, **attributes)

    def save(self, path):
        self.settle()
        super().save(path)


class MobileNet(models.ConvNet):
    """Inverted residuals with depthwise convolutions, as MobileNet v2 has them: (factor, channels, blocks, stride)."""

    STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))

    def __init__(self, divisor, **kinds):
        super().__init__(**kinds)
        self.divisor = divisor

    def activate(self, activation, source, name):
        self.m.node("Clip", [source, "zero", "six"], [name])
        return name

    def block(self, x, channels_in, channels, factor, stride):
        wide = channels_in * factor
        y = self.conv(x, channels_in, wide, 1, 1) if factor > 1 else x
        y = self.conv(y, wide, wide, 3, stride, group=wide)
        y = self.conv(y, wide, channels, 1, 1, activation=None)
        if stride > 1 or channels != channels_in:
            return y
        self.m.node("Add", [x, y], [f"block{self.count}"])
        return f"block{self.count}"

    def save(self, folder):
        m, side, channels_in = self.m, 224 // self.divisor, 32
        m.tensor("zero", FLOAT, [], [0.0])
        m.tensor("six", FLOAT, [], [6.0])
        m.input("image", FLOAT, [1, 3, side, side])
        x = self.conv("image", 3, channels_in, 3, 2)
        for factor, channels, blocks, stride in self.STAGES:
            for i in range(blocks):
                x = self.block(x, channels_in, channels, factor, 1 if i else stride)
                channels_in = channels
        self.classify(self.conv(x, channels_in, 1280, 1, 1), 1280)
        m.save(pathlib.Path(folder, "model.onnx"))


class Yolo(models.ConvNet):
    """A backbone, a pyramid and three heads, as YOLO v5 has them in its small size; 320 x 320 pixels."""

    DEPTHS, HEAD = (1, 2, 3, 1), 255

    def __init__(self, divisor, **kinds):
        super().__init__(**kinds)
        self.width, self.side = 32 // divisor, 320 // divisor

    def activate(self, activation, source, name):
        self.m.node("Sigmoid", [source], [f"{name}.gate"])
        self.m.node("Mul", [source, f"{name}.gate"], [name])
        return name

    def concat(self, *sources):
        name = f"concat{self.count}"
        self.m.node("Concat", sources, [name], axis=1)
        return name

    def stage(self, x, channels_in, channels, depth, shortcut=True):
        half = channels // 2
        y, z = self.conv(x, channels_in, half, 1, 1), self.conv(x, channels_in, half, 1, 1)
        for _ in range(depth):
            inner = self.conv(self.conv(y, half, half, 1, 1), half, half, 3, 1)
            if shortcut:
                self.m.node("Add", [y, inner], [f"sum{self.count}"])
            y = f"sum{self.count}" if shortcut else inner
        return self.conv(self.concat(y, z), channels, channels, 1, 1)

    def pyramid_pool(self, x, channels):
        x = self.conv(x, channels, channels // 2, 1, 1)
        pools = [x]
        for i in range(3):
            self.m.node("MaxPool", pools[-1:], [f"pool{i}"], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4)
            pools.append(f"pool{i}")
        return self.conv(self.concat(*pools), channels * 2, channels, 1, 1)

    def larger(self, x):
        self.m.node("Resize", [x, "", "twice"], [f"up{self.count}"], mode="nearest", nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")
        return f"up{self.count}"

    def head(self, x, channels, number):
        m, side = self.m, self.side // (8 << number)
        y = self.conv(x, channels, self.HEAD, 1, 1, activation=None)
        m.tensor(f"boxes{number}", INT64, [4], [1, self.HEAD // 3, 3, side * side])
        m.node("Reshape", [y, f"boxes{number}"], [f"reshaped{number}"])
        m.node("Transpose", [f"reshaped{number}"], [f"transposed{number}"], perm=[0, 2, 3, 1])
        m.node("Sigmoid", [f"transposed{number}"], [f"found{number}"])
        m.output(f"found{number}", FLOAT, [1, 3, side * side, self.HEAD // 3])

    def save(self, folder):
        m, c = self.m, self.width
        m.tensor("twice", FLOAT, [4], [1.0, 1.0, 2.0, 2.0])
        m.input("image", FLOAT, [1, 3, self.side, self.side])
        x, kept = self.conv("image", 3, c, 3, 2), []
        for i, depth in enumerate(self.DEPTHS):
            x = self.stage(self.conv(x, c << i, c << i + 1, 3, 2), c << i + 1, c << i + 1, depth)
            kept.append(x)
        top = self.conv(self.pyramid_pool(kept[3], c * 16), c * 16, c * 8, 1, 1)
        middle = self.stage(self.concat(self.larger(top), kept[2]), c * 16, c * 8, 1, False)
        middle = self.conv(middle, c * 8, c * 4, 1, 1)
        fine = self.stage(self.concat(self.larger(middle), kept[1]), c * 8, c * 4, 1, False)
        coarse = self.stage(self.concat(self.conv(fine, c * 4, c * 4, 3, 2), middle), c * 8, c * 8, 1, False)
        last = self.stage(self.concat(self.conv(coarse, c * 8, c * 8, 3, 2), top), c * 16, c * 16, 1, False)
        for number, (x, channels) in enumerate(((fine, c * 4), (coarse, c * 8), (last, c * 16))):
            self.head(x, channels, number)
        m.save(pathlib.Path(folder, "model.onnx"))


GENERATED = {"resnet50": models.Resnet50, "mobilenet": MobileNet, "yolo": Yolo,
             "transformer": models.MODELS["transformer"]}


def write_float(name, folder, divisor):
    GENERATED[name](divisor, weights=LiveWeights).save(folder)


def completed(ranges):
    """With those of products, which the float network adds a bias to at once, and of sums that it only reshapes."""
    found = {name.removesuffix(".split"): bounds for name, bounds in ranges.items()} | ranges
    return {f"{name}.product": bounds for name, bounds in found.items()} | found


def write_bytes(name, folder, divisor, ranges):
    ranges = completed(ranges)
    GENERATED[name](divisor, weights=ByteWeights, model=lambda **kinds: ByteModel(ranges, **kinds)).save(folder)
