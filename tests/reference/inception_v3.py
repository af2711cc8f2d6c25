#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A network of the shape of Inception v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision"), frozen,
with the node names of its well-known TensorFlow form and with random weights that are the same each time.
usage: inception_v3.py FILE [WIDTH]      WIDTH: part of the channels; 1 (23.8 million weights) unless it is given"""

import pathlib
import sys

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import numpy as np  # noqa: E402
from tf_writer import Graph  # noqa: E402

SIZE, CLASSES = 299, 1001
SCOPE = "InceptionV3/InceptionV3/"
LOGITS, PREDICTIONS = "InceptionV3/Logits/SpatialSqueeze", "InceptionV3/Predictions/Reshape_1"
MAX, AVERAGE = "MaxPool", "AvgPool"

# A step is (filter rows, columns, channels), with stride 2 and without padding where "/2" stands behind; a pool; or a list of
# steps that all take the same and are concatenated. A block is a list of branches, each a list of steps.
STEM = [("Conv2d_1a_3x3", (3, 3, 32, "/2")), ("Conv2d_2a_3x3", (3, 3, 32, "VALID")), ("Conv2d_2b_3x3", (3, 3, 64)),
        ("MaxPool_3a_3x3", (MAX, "/2")), ("Conv2d_3b_1x1", (1, 1, 80, "VALID")), ("Conv2d_4a_3x3", (3, 3, 192, "VALID")),
        ("MaxPool_5a_3x3", (MAX, "/2"))]


def block_5(pooled):
    return [[(1, 1, 64)], [(1, 1, 48), (5, 5, 64)], [(1, 1, 64), (3, 3, 96), (3, 3, 96)], [(AVERAGE,), (1, 1, pooled)]]


def block_6(inner):
    return [[(1, 1, 192)], [(1, 1, inner), (1, 7, inner), (7, 1, 192)],
            [(1, 1, inner), (7, 1, inner), (1, 7, inner), (7, 1, inner), (1, 7, 192)], [(AVERAGE,), (1, 1, 192)]]


FORK = [(1, 3, 384), (3, 1, 384)]
BLOCK_7 = [[(1, 1, 320)], [(1, 1, 384), FORK], [(1, 1, 448), (3, 3, 384), FORK], [(AVERAGE,), (1, 1, 192)]]
BLOCKS = {
    "Mixed_5b": block_5(32), "Mixed_5c": block_5(64), "Mixed_5d": block_5(64),
    "Mixed_6a": [[(3, 3, 384, "/2")], [(1, 1, 64), (3, 3, 96), (3, 3, 96, "/2")], [(MAX, "/2")]],
    "Mixed_6b": block_6(128), "Mixed_6c": block_6(160), "Mixed_6d": block_6(160), "Mixed_6e": block_6(192),
    "Mixed_7a": [[(1, 1, 192), (3, 3, 320, "/2")], [(1, 1, 192), (1, 7, 192), (7, 1, 192), (3, 3, 192, "/2")], [(MAX, "/2")]],
    "Mixed_7b": BLOCK_7, "Mixed_7c": BLOCK_7,
}


class Network:
    """Adds layers to a graph; a layer is given as (value, channels)."""

    def __init__(self, graph, width):
        self.graph, self.width = graph, width
        self.source = np.random.RandomState(3)

    def numbers(self, shape, low, high):
        """As floats with 1024 steps, which every library makes alike."""
        return (low + (high - low) * self.source.randint(0, 1025, shape) / 1024).astype(np.float32)

    def weights(self, name, values):
        """A constant as freezing a variable leaves it."""
        return self.graph.node("Identity", [self.graph.const(name, values)], name=name + "/read")

    def filters(self, name, rows, columns, taken, given):
        largest = (6 / (rows * columns * taken)) ** 0.5  # keeps the size of activations behind Relu
        return self.weights(name, self.numbers([rows, columns, taken, given], -largest, largest))

    def convolution(self, name, layer, step):
        value, taken = layer
        rows, columns, channels, *how = step
        given = max(1, round(channels * self.width))
        stride = 2 if how == ["/2"] else 1
        filters = self.filters(name + "/weights", rows, columns, taken, given)
        value = self.graph.node("Conv2D", [value, filters], name=name + "/Conv2D", strides=[1, stride, stride, 1],
                                padding="VALID" if how else "SAME")
        scale = self.graph.const(name + "/BatchNorm/Const", np.ones(given, np.float32))
        form = {"beta": (-0.2, 0.2), "moving_mean": (-0.2, 0.2), "moving_variance": (0.5, 1.5)}
        parts = [self.weights(f"{name}/BatchNorm/{key}", self.numbers([given], *bounds)) for key, bounds in form.items()]
        value = self.graph.node("FusedBatchNorm", [value, scale, *parts], name=name + "/BatchNorm/FusedBatchNorm",
                                epsilon=0.001, is_training=False)
        return self.graph.node("Relu", [value], name=name + "/Relu"), given

    def pool(self, name, layer, step):
        value, channels = layer
        stride = 2 if step[1:] == ("/2",) else 1
        value = self.graph.node(step[0], [value], name=f"{name}/{step[0]}", ksize=[1, 3, 3, 1],
                                strides=[1, stride, stride, 1], padding="VALID" if step[1:] else "SAME")
        return value, channels

    def concat(self, name, layers):
        axis = self.graph.const(name + "/axis", np.int32(3))
        value = self.graph.node("ConcatV2", [*(value for value, _ in layers), axis], name=name)
        return value, sum(channels for _, channels in layers)

    def step(self, name, layer, step):
        if isinstance(step, list):
            return self.concat(name + "/concat", [self.step(f"{name}_{i}", layer, one) for i, one in enumerate(step)])
        return (self.pool if step[0] in (MAX, AVERAGE) else self.convolution)(name, layer, step)

    def block(self, name, layer, branches):
        ends = []
        for i, steps in enumerate(branches):
            end = layer
            for letter, step in zip("abcde", steps):
                shape = "x".join(map(str, step[:2])) if isinstance(step, tuple) and len(step) > 2 else "3x3"
                end = self.step(f"{SCOPE}{name}/Branch_{i}/Conv2d_0{letter}_{shape}", end, step)
            ends.append(end)
        return self.concat(f"{SCOPE}{name}/concat", ends)

    def head(self, layer):
        g, scope, (value, channels) = self.graph, "InceptionV3/Logits/", layer
        value = g.node("AvgPool", [value], name=scope + "AvgPool_1a_8x8/AvgPool", ksize=[1, 8, 8, 1], strides=[1, 2, 2, 1],
                       padding="VALID")
        name = scope + "Conv2d_1c_1x1"
        filters = self.filters(name + "/weights", 1, 1, channels, CLASSES)
        value = g.node("Conv2D", [value, filters], name=name + "/Conv2D", strides=[1, 1, 1, 1], padding="SAME")
        biases = self.weights(name + "/biases", self.numbers([CLASSES], -0.5, 0.5))
        value = g.node("BiasAdd", [value, biases], name=name + "/BiasAdd")
        logits = g.node("Squeeze", [value], name=LOGITS, squeeze_dims=[1, 2])
        scope = "InceptionV3/Predictions/"
        flat = g.node("Reshape", [logits, g.const(scope + "Reshape/shape", np.array([-1, CLASSES], np.int32))],
                      name=scope + "Reshape")
        softmax = g.node("Softmax", [flat], name=scope + "Softmax")
        shape = g.node("Shape", [logits], name=scope + "Shape")
        return logits, g.node("Reshape", [softmax, shape], name=PREDICTIONS)


def build(graph, image, width):
    """Adds the network to a graph; image: 1 x 299 x 299 x 3. Returns the logits and the predictions."""
    network = Network(graph, width)
    layer = image, 3
    for name, step in STEM:
        layer = network.step(SCOPE + name, layer, step)
    for name, branches in BLOCKS.items():
        layer = network.block(name, layer, branches)
    return network.head(layer)


def main():
    graph = Graph()
    image = graph.placeholder("input", np.float32, [None, SIZE, SIZE, 3])
    build(graph, image, float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
    graph.save(sys.argv[1])


if __name__ == "__main__":
    main()
