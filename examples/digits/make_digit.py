#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes digit.raw, one image of digits.npz, and digit-onnxruntime.txt, the scores that ONNX Runtime computes for it.
usage: make_digit.py [FOLDER]   (needs the package onnxruntime; default: the folder of this script)"""

import pathlib
import sys

import numpy as np
import onnxruntime

from digits import HERE, load

NUMBER = 70  # an image that was not calibrated on


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    images, labels = load()
    image = images[NUMBER]
    image.tofile(folder / "digit.raw")
    session = onnxruntime.InferenceSession(HERE / "digits.onnx", providers=["CPUExecutionProvider"])
    scores = session.run(None, {session.get_inputs()[0].name: image.reshape(1, 1, *image.shape)})[0].ravel()
    (folder / "digit-onnxruntime.txt").write_text("".join(f"{score:16.8g}\n" for score in scores))
    print(f"the image is a {labels[NUMBER]}, and read as a {np.argmax(scores)} (onnxruntime {onnxruntime.__version__})")


main()
