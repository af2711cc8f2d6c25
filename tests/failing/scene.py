# SPDX-License-Identifier: Apache-2.0
"""What the tests of failing machines share: a model with every kind of input file, and commands run with faults."""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import BUILD, Checks, command, patient, share_of  # noqa: E402, F401

LIBRARY = BUILD / "tests" / "failing" / "faults.so"
OLDER = b"older container"
ARGUMENTS = ["-i", "model.onnx", "-o", "out.dlc", "-udo", "ops.json", "--freeze_input", "shape=shape.raw",
             "--copyright_file", "notice.txt"]
INPUTS = ["model.onnx", "weights.bin", "ops.json", "shape.raw", "notice.txt"]
CHANNELS, SIDE = 96, 512


def sanitized():
    """Whether the commands are built with AddressSanitizer, which needs an address space of terabytes."""
    return b"__asan_" in pathlib.Path(command("onnx-to-dlc")).read_bytes()


def external(m, name, dims, location):
    t = onnx.Message()
    for dim in dims:
        t.integer(1, dim)
    t.integer(2, onnx.FLOAT).data(8, name).integer(14, 1)
    t.message(13, onnx.Message().data(1, "location").data(2, location))
    m.graph.message(5, t)


def make_inputs(folder):
    """A convolution whose weights are permuted, a user-defined op, a Reshape by a frozen input, and a matrix that is
    kept in a file of its own."""
    noise = random.Random("inputs")
    (folder / "weights.bin").write_bytes(noise.randbytes(4 * SIDE * SIDE))
    (folder / "shape.raw").write_bytes(struct.pack("<2q", 1, SIDE))
    (folder / "notice.txt").write_text("Copyright of the model's author\n")
    tensor = {"data_type": "FLOAT_32"}
    thing = {"type": "Thing", "inputs": [tensor], "outputs": [{**tensor, "shape": "same_as in0"}], "core_types": ["CPU"]}
    (folder / "ops.json").write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "P", "Operators": [thing]}}))
    m = onnx.Model(domains=["test"])
    m.input("x", onnx.FLOAT, [1, CHANNELS, 1, 1])
    m.input("shape", onnx.INT64, [2])
    m.tensor("filter", onnx.FLOAT, [SIDE, CHANNELS, 3, 3], raw=noise.randbytes(4 * SIDE * CHANNELS * 9))
    m.node("Conv", ["x", "filter"], ["a"], pads=[1, 1, 1, 1])
    m.node("Thing", ["a"], ["b"], domain="test")
    m.node("Reshape", ["b", "shape"], ["c"])
    external(m, "matrix", [SIDE, SIDE], "weights.bin")
    m.node("MatMul", ["c", "matrix"], ["y"])
    m.output("y", onnx.FLOAT, [1, SIDE])
    m.save(folder / "model.onnx")


def run(folder, name, *args, faults=None, prefix=(), **more):
    """Runs a command in the folder with faults: {"AT": 3, "DO": "errno:5"} is FAULT_AT=3 and so on."""
    env = dict(os.environ)
    if faults:
        env["LD_PRELOAD"] = str(LIBRARY)
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        env.update({f"FAULT_{key}": str(value) for key, value in faults.items()})
    more = {"capture_output": True, "text": True, "errors": "replace", **more}
    return subprocess.run([*prefix, command(name), *map(str, args)], cwd=folder, env=env, check=False, **more)


class Scene:
    """A folder with the inputs, and what a conversion without faults makes of them."""

    def __init__(self, checks, folder):
        self.checks, self.folder = checks, pathlib.Path(folder)
        self.inputs, self.spare = self.folder / "inputs", self.folder / "spare"
        self.inputs.mkdir()
        make_inputs(self.inputs)
        shutil.copytree(self.inputs, self.spare)
        done = run(self.inputs, "onnx-to-dlc", *ARGUMENTS)
        checks.equal(f"without faults: {done.stderr}", done.returncode, 0)
        self.out = self.inputs / "out.dlc"
        self.container = self.out.read_bytes()
        self.out.unlink()

    def convert(self, faults=None, args=(), **more):
        return run(self.inputs, "onnx-to-dlc", *ARGUMENTS, *args, faults=faults, **more)

    def calls(self, faults=None, older=False, args=()):
        """[(name, file)] of the calls of a conversion that goes well."""
        report = self.folder / "calls.txt"
        self.set_older(older)
        done = self.convert({**(faults or {}), "REPORT": report}, args)
        self.checks.equal(f"calls are counted: {done.stderr}", done.returncode, 0)
        return [tuple(line.split(" ", 1)) for line in report.read_text().splitlines()]

    def set_older(self, older):
        for path in self.inputs.iterdir():
            if path.name not in INPUTS:
                path.unlink()
        if older:
            self.out.write_bytes(OLDER)

    def check_folder(self, label, succeeded, older, extra=()):
        """The output is complete, as it was before, or not there; nothing else is left. True when it is complete."""
        found = self.out.read_bytes() if self.out.exists() else None
        if succeeded is None:
            succeeded = found == self.container
        before = OLDER if older else None
        self.checks.check(f"{label}: output", found == (self.container if succeeded else before),
                          f"{'nothing' if found is None else len(found)} bytes")
        names = {path.name for path in self.inputs.iterdir()} - {*INPUTS, "out.dlc", *extra}
        self.checks.equal(f"{label}: nothing is left", names, set())
        return succeeded

    def restore(self, name):
        """A fresh copy of an input: another file, with another time."""
        (self.inputs / name).unlink(missing_ok=True)
        shutil.copyfile(self.spare / name, self.inputs / name)
