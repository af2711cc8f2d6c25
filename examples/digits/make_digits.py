#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes digits.onnx and digits.npz: a network that reads drawn digits, of separable convolutions with batch normalizations, trained
with TensorFlow 2, and images to calibrate and to test it with. Numbers depend on TensorFlow's version and on the processor: the
files are checked in, and nothing but this script needs TensorFlow.

    python3 make_digits.py FOLDER
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))
from onnx_writer import FLOAT, INT64, Model  # noqa: E402

SIZE = 16
CALIBRATION, TEST, TRAINING = 64, 400, 12000


def arc(x, y, rx, ry, first, last):
    """Points of an ellipse's arc, in degrees clockwise from the right."""
    angle = np.radians(np.linspace(first, last, 13))
    return np.stack([x + rx * np.cos(angle), y + ry * np.sin(angle)], axis=-1)


def line(*points):
    return np.array(points, float)


# The strokes of each digit in a square from (0, 0) to (1, 1), y downwards; people write some in more than one way.
FORMS = {
    0: [[arc(.5, .5, .28, .45, 0, 360)], [arc(.5, .5, .38, .45, 0, 360)]],
    1: [[line((.5, .05), (.5, .95))], [line((.3, .3), (.55, .05), (.55, .95))],
        [line((.35, .25), (.52, .05), (.52, .95)), line((.3, .95), (.75, .95))]],
    2: [[arc(.5, .3, .3, .25, 180, 390), line((.76, .43), (.2, .95), (.82, .95))]],
    3: [[arc(.45, .28, .3, .23, 200, 450), arc(.45, .73, .33, .22, 270, 520)],
        [line((.2, .05), (.75, .05), (.45, .42)), arc(.45, .68, .32, .26, 270, 510)]],
    4: [[line((.6, .95), (.6, .05), (.15, .65), (.85, .65))], [line((.25, .05), (.2, .5), (.8, .5)), line((.72, .1), (.68, .95))]],
    5: [[line((.78, .05), (.28, .05), (.25, .45)), arc(.47, .66, .31, .28, 225, 500)]],
    6: [[line((.68, .05), (.3, .5)), arc(.5, .68, .27, .26, 0, 360)], [arc(.75, .6, .52, .55, 180, 260), arc(.5, .7, .27, .24, 0, 360)]],
    7: [[line((.18, .05), (.82, .05), (.4, .95))], [line((.18, .05), (.82, .05), (.45, .95)), line((.35, .5), (.72, .5))]],
    8: [[arc(.5, .27, .23, .22, 0, 360), arc(.5, .72, .29, .23, 0, 360)]],
    9: [[arc(.48, .3, .27, .25, 0, 360), line((.75, .3), (.68, .95))], [arc(.48, .3, .27, .25, 0, 360), arc(.25, .4, .5, .55, -5, 80)]],
}


def distances(points, segments):
    """From each point to the nearest of the segments [n, 2, 2]."""
    start, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    from_start = points[:, None] - start
    share = np.clip((from_start * along).sum(-1) / np.maximum((along ** 2).sum(-1), 1e-9), 0, 1)
    return np.linalg.norm(from_start - share[..., None] * along, axis=-1).min(axis=1)


def draw(rng, digit):
    forms = FORMS[digit]
    strokes = [stroke + rng.normal(0, .025, stroke.shape) for stroke in forms[rng.integers(len(forms))]]
    angle, shear = rng.normal(0, .2), rng.normal(0, .2)
    scale = rng.uniform(.55, .88, 2) * SIZE
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.array([[1, shear], [0, 1]])
    middle = SIZE / 2 + rng.normal(0, 1, 2)
    placed = [(stroke - .5) @ turn.T * scale + middle for stroke in strokes]
    segments = np.concatenate([np.stack([stroke[:-1], stroke[1:]], axis=1) for stroke in placed])
    grid = np.stack(np.meshgrid(np.arange(SIZE) + .5, np.arange(SIZE) + .5), axis=-1).reshape(-1, 2)
    ink = np.clip(rng.uniform(.55, 1.15) + .5 - distances(grid, segments), 0, 1) * rng.uniform(.5, 1)
    paper = rng.uniform(0, .15) + rng.normal(0, rng.uniform(.02, .16), ink.shape)
    blot = (rng.integers(0, SIZE - 3, 2), rng.integers(1, 4, 2))
    image = (ink + paper).reshape(SIZE, SIZE)
    image[tuple(slice(first, first + count) for first, count in zip(*blot))] = rng.uniform(0, 1)
    return np.clip(image, 0, 1)


def digits(rng, count):
    """Images of 16 levels, as bytes, and labels."""
    labels = rng.permutation(np.arange(count) % 10)
    return np.stack([np.rint(draw(rng, label) * 15) for label in labels]).astype("u1"), labels.astype("u1")


# (kind, output channels, stride, what follows)
LAYERS = [("conv", 8, 1, "relu"), ("depthwise", 8, 1, "relu"), ("conv1", 16, 1, "relu6"), ("pool",), ("depthwise", 16, 1, "relu"),
          ("conv1", 24, 1, "relu"), ("depthwise", 24, 2, "relu"), ("conv1", 32, 1, "relu"), ("pool",)]


def train(images, labels):
    import tensorflow as tf
    tf.keras.utils.set_random_seed(4)
    tf.config.experimental.enable_op_determinism()
    keras = tf.keras
    x = y = keras.Input((SIZE, SIZE, 1))
    layers = []
    for kind, *rest in LAYERS:
        if kind == "pool":
            y = keras.layers.MaxPooling2D(2)(y)
            continue
        channels, stride, activation = rest
        if kind == "depthwise":
            layer = keras.layers.DepthwiseConv2D(3, stride, padding="same", use_bias=False)
        else:
            layer = keras.layers.Conv2D(channels, 3 if kind == "conv" else 1, stride, padding="same", use_bias=False)
        norm = keras.layers.BatchNormalization(momentum=.95)
        y = keras.layers.Activation(activation)(norm(layer(y)))
        layers.append((layer, norm))
    y = keras.layers.Flatten()(y)
    hidden, last = keras.layers.Dense(24, activation="relu"), keras.layers.Dense(10)
    model = keras.Model(x, last(hidden(y)))
    epochs = 14
    steps = epochs * (len(images) // 64)
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, steps)),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(images[..., None] / np.float32(15), labels, batch_size=64, epochs=epochs, verbose=2)
    return layers, hidden, last


def export(layers, hidden, last, path):
    """Weights of ten significant bits, as float16 has them."""
    m = Model(opset=13)

    def constant(name, array):
        array = np.asarray(array, "f2").astype("<f4")
        m.tensor(name, FLOAT, list(array.shape), array.ravel().tolist())
        return name

    m.input("image", FLOAT, [1, 1, SIZE, SIZE])
    value, layers, size = "image", iter(layers), SIZE
    for i, (kind, *rest) in enumerate(LAYERS):
        after = f"x{i}"
        if kind == "pool":
            m.node("MaxPool", [value], [after], kernel_shape=[2, 2], strides=[2, 2])
            value, size = after, size // 2
            continue
        layer, norm = next(layers)
        kernel = layer.get_weights()[0]
        kernel = kernel.transpose(2, 3, 0, 1) if kind == "depthwise" else kernel.transpose(3, 2, 0, 1)
        side, stride = kernel.shape[2], rest[1]
        out = (size + stride - 1) // stride
        pad = max((out - 1) * stride + side - size, 0)
        m.node("Conv", [value, constant(f"w{i}", kernel)], [f"c{i}"], kernel_shape=[side] * 2, strides=[stride] * 2,
               pads=[pad // 2] * 2 + [pad - pad // 2] * 2, group=rest[0] if kind == "depthwise" else 1)
        names = [constant(f"{part}{i}", array) for part, array in zip(("gamma", "beta", "mean", "variance"), norm.get_weights())]
        m.node("BatchNormalization", [f"c{i}", *names], [f"n{i}"], epsilon=float(norm.epsilon))
        if rest[2] == "relu6":
            m.node("Clip", [f"n{i}", constant("zero", 0), constant("six", 6)], [after])
        else:
            m.node("Relu", [f"n{i}"], [after])
        value, size = after, out
    m.node("Transpose", [value], ["rows"], perm=[0, 2, 3, 1])
    m.tensor("flat", INT64, [2], [1, -1])
    m.node("Reshape", ["rows", "flat"], ["features"])
    m.node("Gemm", ["features", *map(constant, ("wh", "bh"), hidden.get_weights())], ["h"])
    m.node("Relu", ["h"], ["r"])
    m.node("Gemm", ["r", *map(constant, ("wl", "bl"), last.get_weights())], ["scores"])
    m.output("scores", FLOAT, [1, 10])
    m.save(path)


def main():
    folder = pathlib.Path(sys.argv[1])
    rng = np.random.default_rng(16)
    images, labels = digits(rng, CALIBRATION + TEST)
    np.savez_compressed(folder / "digits.npz", images=images[:, :, ::2] * 16 + images[:, :, 1::2], labels=labels)
    export(*train(*digits(rng, TRAINING)), folder / "digits.onnx")


if __name__ == "__main__":
    main()
