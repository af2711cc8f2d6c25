# SPDX-License-Identifier: Apache-2.0
"""What the model of examples gives, computed by NumPy from the container's weights.
usage: soft_clamp.py CONTAINER IMAGE SCORES     exits with 1 unless the scores are those"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from dlc_reader import read_container  # noqa: E402

import numpy as np  # noqa: E402


def floats(data, *dims):
    return np.frombuffer(data, "f4").astype("f8").reshape(dims)


def features_of(image, weight, bias):
    """Relu(Conv 3x3, stride 2, padding 1), channels last."""
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)))
    windows = [[np.tensordot(padded[2 * y:2 * y + 3, 2 * x:2 * x + 3], weight, 3) for x in range(8)] for y in range(8)]
    return np.maximum(np.array(windows) + bias, 0)


def computed(container, image, clamp):
    """(what the op gives, the scores) with the function that clamps."""
    container = read_container(container)
    weight, bias, full, add = (floats(container.tensors[name].data, *dims) for op, dims in
                               (("Conv2d", ((3, 3, 3, 8), (8,))), ("FullyConnected", ((5, 8), (5,))))
                               for name, dims in zip(next(o for o in container.ops if o.type == op).inputs[1:], dims))
    image = floats(image.read_bytes(), 16, 16, 3)
    clamped = (0.5 + 0.25 * np.arange(8)) * clamp(4 * features_of(image, weight, bias))
    powers = np.exp(full @ clamped.mean((0, 1)) + add)
    return clamped, powers / powers.sum()


def main():
    container, image, scores = map(pathlib.Path, sys.argv[1:])
    _, expected = computed(container, image, np.tanh)
    worst = np.abs(floats(scores.read_bytes(), 5) - expected).max()
    print(f"scores are off by {worst:.1e}")
    sys.exit(not worst < 1e-6)


if __name__ == "__main__":
    main()
