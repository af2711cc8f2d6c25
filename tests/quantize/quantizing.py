# SPDX-License-Identifier: Apache-2.0
"""What tests of dlc-quantize share: a folder with models, containers and inputs, and the encodings that public texts define,
computed in NumPy."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import run  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from onnx_writer import FLOAT, INT64, Model  # noqa: E402,F401

INTEGERS = {"UFXP_4": "u1", "UFXP_8": "u1", "UFXP_16": "u2", "SFXP_4": "i1", "SFXP_8": "i1", "SFXP_16": "i2", "SFXP_32": "i4"}


def f32(value):
    return float(np.float32(value))


def whole(bits, low, high):
    """(scale, offset) of the range, which is widened to have zero."""
    low = min(float(low), 0.0)
    high = max(float(high), 0.0, low + 1e-4)
    scale = (high - low) / (2 ** bits - 1)
    return f32(scale), -int(np.floor(-low / scale + 0.5))


def around(bits, most):
    """(scale, offset) of signed integers for channels, and of 32 bits."""
    return f32(max(float(most), 1e-4) / (2 ** (bits - 1) - 1)), 0


def integers(values, bits, scale, offset, signed):
    """rint(x / scale) - offset, saturated; signed ones as far below zero as above."""
    last = 2 ** (bits - 1) - 1
    low, high = (-last, last) if signed else (0, 2 ** bits - 1)
    return np.clip(np.rint(np.asarray(values, "f8") / scale) - offset, low, high)


def chain():
    """x → × k → Sigmoid → × k → y: the constant has two readers."""
    m = Model(opset=13)
    m.tensor("k", FLOAT, [3], [2.0, -1.5, 0.75])
    m.input("x", FLOAT, [2, 3])
    m.node("Mul", ["x", "k"], ["p"], name="first")
    m.node("Sigmoid", ["p"], ["s"], name="middle")
    m.node("Mul", ["s", "k"], ["y"], name="last")
    m.output("y", FLOAT, [2, 3])
    return m


def layers(rng):
    """x → Conv → Relu → Conv → y; 1 × 1."""
    m = Model(opset=13)
    for name, shape in (("v", [4, 3, 1, 1]), ("b", [4]), ("w", [2, 4, 1, 1]), ("c", [2])):
        m.tensor(name, FLOAT, shape, rng.uniform(-1, 1, shape).astype("f4").ravel().tolist())
    m.input("x", FLOAT, [1, 3, 4, 4])
    m.node("Conv", ["x", "v", "b"], ["h"], name="front")
    m.node("Relu", ["h"], ["r"], name="relu")
    m.node("Conv", ["r", "w", "c"], ["y"], name="back")
    m.output("y", FLOAT, [1, 2, 4, 4])
    return m


class Bench:
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, pathlib.Path(folder)

    def path(self, name):
        return self.folder / name

    def convert(self, model, name="m.dlc", *options):
        """A container of the Model, or of the file of that path."""
        if isinstance(model, Model):
            model.save(self.path("m.onnx"))
            model = self.path("m.onnx")
        done = run("onnx-to-dlc", "--quiet", "-i", model, "-o", self.path(name), *options)
        self.checks.equal(f"{name} converts", done.returncode, 0)
        return self.path(name)

    def inputs(self, *lines):
        """A list with a line for each argument: an array, or a dict of arrays by the inputs' names."""
        text = ""
        for i, line in enumerate(lines):
            line = line if isinstance(line, dict) else {None: line}
            for k, (name, array) in enumerate(line.items()):
                array.astype("<f4").tofile(self.path(f"in{i}_{k}.raw"))
                text += (f"{name}:=" if name else "") + f"{self.path(f'in{i}_{k}.raw')} "
            text += "\n"
        self.path("list.txt").write_text(text)
        return self.path("list.txt")

    def run(self, *options, container="m.dlc", listed=True):
        given = ["--input_list", self.path("list.txt")] if listed else []
        return run("dlc-quantize", "--input_dlc", self.path(container), "--output_dlc", self.path("q.dlc"), *given,
                   *options)

    def quantize(self, *options, **more):
        """The container that the command wrote."""
        done = self.run(*options, **more)
        self.checks.equal("quantize status", (done.returncode, done.stderr), (0, ""))
        return read_container(self.path("q.dlc"))

    def results(self, container, *options):
        """[{name of the file: float32 values} by line] of net-run."""
        out = self.path("out")
        done = run("net-run", "--container", container, "--input_list", self.path("list.txt"), "--output_dir", out, *options)
        self.checks.equal("net-run status", (done.returncode, done.stderr), (0, ""))
        folders = sorted(out.iterdir(), key=lambda path: int(path.name.split("_")[1]))
        kind = "u1" if "--use_native_output_files" in options else "<f4"
        found = [{path.relative_to(folder).as_posix(): np.fromfile(path, kind) for path in folder.rglob("*.raw")}
                 for folder in folders]
        for path in sorted(out.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        return found


def stored(tensor):
    """The integers of a constant."""
    return np.frombuffer(tensor.data, INTEGERS[tensor.dtype]).reshape(tensor.dims)
