#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The images of digits.npz as raw inputs, and how many of them are read right.

    python3 digits.py unpack              writes images/NNN.raw, calibration.txt (64 images) and test.txt (400 others)
    python3 digits.py score FOLDER...     of net-run's --output_dir for test.txt
"""

import pathlib
import sys

import numpy as np

CALIBRATION = 64
HERE = pathlib.Path(__file__).resolve().parent


def load():
    """Images [n, 16, 16] from 0 to 1, which the file has as four bits each, and labels."""
    data = np.load(HERE / "digits.npz")
    pairs = data["images"]
    images = np.stack([pairs >> 4, pairs & 15], axis=-1).reshape(len(pairs), 16, 16)
    return images.astype("<f4") / np.float32(15), data["labels"]


def unpack():
    images, _ = load()
    pathlib.Path("images").mkdir(exist_ok=True)
    names = [f"images/{i:03}.raw" for i in range(len(images))]
    for name, image in zip(names, images):
        image.tofile(name)
    for file, some in (("calibration.txt", names[:CALIBRATION]), ("test.txt", names[CALIBRATION:])):
        pathlib.Path(file).write_text("".join(f"{name}\n" for name in some))


def score(folder):
    """The share of test images whose highest score is that of the label."""
    labels = load()[1][CALIBRATION:]
    scores = [np.fromfile(pathlib.Path(folder) / f"Result_{i}" / "scores.raw", "<f4") for i in range(len(labels))]
    return float(np.mean(np.argmax(scores, axis=1) == labels))


def main():
    if sys.argv[1:] == ["unpack"]:
        unpack()
    elif len(sys.argv) > 2 and sys.argv[1] == "score":
        for folder in sys.argv[2:]:
            print(f"{folder}: {100 * score(folder):.2f} %")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
