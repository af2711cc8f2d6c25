# SPDX-License-Identifier: Apache-2.0
"""Small models for tests of build systems: one of each kind of dependency."""

import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402


def plain_model(path, op_type="Relu"):
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, 2])
    m.node(op_type, ["x"], ["y"])
    m.output("y", onnx.FLOAT, [1, 2])
    m.save(path)


def external_model(path, location):
    """x + c, with c in a file beside the model."""
    (path.parent / location).write_bytes(struct.pack("<2f", 1, 2))
    constant = onnx.Message().integer(1, 2).integer(2, onnx.FLOAT).data(8, "c").integer(14, 1)
    constant.message(13, onnx.Message().data(1, "location").data(2, location))
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2])
    m.graph.message(5, constant)
    m.node("Add", ["x", "c"], ["y"])
    m.output("y", onnx.FLOAT, [2])
    m.save(path)


def clamp_model(path):
    """An op that a config has to describe."""
    m = onnx.Model(domains=["com.example"])
    m.input("x", onnx.FLOAT, [1, 2])
    m.node("Clamp", ["x"], ["y"], domain="com.example")
    m.output("y", onnx.FLOAT, [1, 2])
    m.save(path)


def clamp_config(path, limit):
    tensor = {"data_type": "FLOAT_32"}
    op = {"type": "Clamp", "inputs": [tensor], "outputs": [{**tensor, "shape": "same_as in0"}], "core_types": ["CPU"],
          "scalar_params": [{"name": "limit", "data_type": "FLOAT_32", "default_value": limit}]}
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Example", "Operators": [op]}}))


def open_model(path):
    """Its input's dimensions have to be given."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, ["N", "C"])
    m.node("Relu", ["x"], ["y"])
    m.output("y", onnx.FLOAT, ["N", "C"])
    m.save(path)


def large_model(path, megabytes):
    """Matrices that keep the converter busy for a moment: all different, so that each of them is written."""
    side = 1024
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, side])
    values = ["x", *(f"t{i}" for i in range(megabytes // 4))]
    for number, (source, target) in enumerate(zip(values, values[1:])):
        m.tensor(f"{target}.w", onnx.FLOAT, [side, side], raw=struct.pack("<f", number) * side * side)
        m.node("MatMul", [source, f"{target}.w"], [target])
    m.output(values[-1], onnx.FLOAT, [1, side])
    m.save(path)
