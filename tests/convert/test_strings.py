# SPDX-License-Identifier: Apache-2.0
"""Strings: what only moves constants of them is computed at conversion; a container holds none, and nothing computes on them."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, run  # noqa: E402
from onnx_writer import FLOAT, INT64, STRING, Model  # noqa: E402


def model_of(op, constants, inputs=(), output=(FLOAT, None), **attributes):
    """One node on constants (type, dims, strings or numbers) and then graph inputs (type, dims)."""
    model, names = Model(opset=13), []
    for i, (data_type, dims, values) in enumerate(constants):
        given = {"strings": values} if data_type == STRING else {"values": values}
        names.append(model.tensor(f"c{i}", data_type, dims, **given))
    for i, (data_type, dims) in enumerate(inputs):
        model.input(f"x{i}", data_type, dims)
        names.append(f"x{i}")
    model.node(op, names, ["y"], name="node", **attributes)
    model.output("y", *output)
    return model


def refuses(checks, message, *model, **more):
    with tempfile.TemporaryDirectory() as folder:
        model_of(*model, **more).save(f"{folder}/m.onnx")
        done = run("onnx-to-dlc", "-i", f"{folder}/m.onnx", "-o", f"{folder}/m.dlc")
        checks.equal(f"status of {model[0]}", done.returncode, 1)
        checks.check(f"reason of {model[0]}", message in done.stderr, f"{message!r} not in {done.stderr!r}")


def main():
    checks = Checks()
    words = (STRING, [2], ["a", "b"])
    refuses(checks, "graph input x0 holds strings", "Identity", [], [(STRING, [2])], output=(STRING, None))
    refuses(checks, "the graph output y holds strings", "Identity", [words], output=(STRING, None))
    refuses(checks, "input 0 holds strings, which the operator does not take", "LeakyRelu", [words])
    refuses(checks, "input 1 (axes) holds strings, not numbers", "Squeeze", [(FLOAT, [1, 2], [1.0, 2.0]), words])
    refuses(checks, "the indices are strings", "OneHot",
            [words, (INT64, [], [3]), (FLOAT, [2], [0.0, 1.0])])
    with tempfile.TemporaryDirectory() as folder:
        model_of("Shape", [words], output=(INT64, [1])).save(f"{folder}/m.onnx")
        done = run("onnx-to-dlc", "-i", f"{folder}/m.onnx", "-o", f"{folder}/m.dlc")
        checks.equal("the shape of strings is a number", done.returncode, 0)
    checks.finish()


main()
