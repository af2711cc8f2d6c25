#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes example.onnx and its input: a small image classifier with a user-defined op, SoftClamp, in the middle.
usage: make_example.py [FOLDER]   (default: the folder of this script)"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "support"))
from onnx_writer import FLOAT, Model  # noqa: E402


def numbers(count, scale, seed):
    """Small, exactly representable values that look irregular: a linear congruential generator."""
    out = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % (1 << 31)
        out.append(((seed >> 16) % 257 - 128) / 128 * scale)
    return out


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    m = Model(opset=13, domains=["com.example"])
    m.input("image", FLOAT, [1, 3, 16, 16])
    m.tensor("conv/weight", FLOAT, [8, 3, 3, 3], numbers(8 * 3 * 3 * 3, 0.25, 1))
    m.tensor("conv/bias", FLOAT, [8], numbers(8, 0.5, 2))
    m.node("Conv", ["image", "conv/weight", "conv/bias"], ["conv"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    m.node("Relu", ["conv"], ["features"])
    # The op that no target knows: one activation, one constant per channel, three kinds of parameters.
    m.tensor("clamp/limit", FLOAT, [1, 8, 1, 1], [0.5 + 0.25 * i for i in range(8)])
    m.node("SoftClamp", ["features", "clamp/limit"], ["clamped"], domain="com.example",
           sharpness=4.0, mode="smooth", axes=[2, 3])
    m.value("clamped", FLOAT, [1, 8, 8, 8])
    m.node("GlobalAveragePool", ["clamped"], ["pooled"])
    m.node("Flatten", ["pooled"], ["flat"])
    m.tensor("fc/weight", FLOAT, [5, 8], numbers(5 * 8, 0.5, 3))
    m.tensor("fc/bias", FLOAT, [5], numbers(5, 0.5, 4))
    m.node("Gemm", ["flat", "fc/weight", "fc/bias"], ["logits"], transB=1)
    m.node("Softmax", ["logits"], ["scores"], axis=1)
    m.output("scores", FLOAT, [1, 5])
    m.save(folder / "example.onnx")

    # net-run takes inputs as the container has them: channels last.
    image = numbers(16 * 16 * 3, 1.0, 5)
    (folder / "image.raw").write_bytes(struct.pack(f"<{len(image)}f", *image))
    (folder / "inputs.txt").write_text("image:=image.raw\n")


main()
