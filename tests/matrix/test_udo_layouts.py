# SPDX-License-Identifier: Apache-2.0
"""User-defined ops between convolutions, whose activations the container keeps channels-last: which permutes appear,
how they are called, and that each is reported."""

import json
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import Checks  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from prestarted import run  # noqa: E402

TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]


def udo(op_type, layout, inputs=1):
    tensor = {"data_type": "FLOAT_32"}
    if layout:
        tensor["tensor_layout"] = layout
    return {
        "type": op_type,
        "inputs": [tensor] * inputs,
        "outputs": [dict(tensor, shape="same_as in0")],
        "core_types": ["CPU"],
    }


def conv(m, source, target):
    """A 1x1 convolution of 4 channels that keeps the shape."""
    m.tensor(f"{target}.w", onnx.FLOAT, [4, 4, 1, 1], [i / 16 for i in range(16)])
    m.node("Conv", [source, f"{target}.w"], [target], name=f"{target}_conv", kernel_shape=[1, 1])


def convert(checks, label, m, ops):
    """(container, messages) of a conversion."""
    with tempfile.TemporaryDirectory() as folder:
        model, config, out = (os.path.join(folder, name) for name in ("m.onnx", "ops.json", "m.dlc"))
        m.save(model)
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"UdoPackage_0": {"UDO_PACKAGE_NAME": "P", "Operators": ops}}, f)
        done = run("onnx-to-dlc", "-i", model, "-udo", config, "-o", out)
        if not checks.check(f"{label}: converts", done.returncode == 0, done.stderr):
            return None, done.stderr
        return read_container(out), done.stderr


def model_between(nodes):
    """conv -> nodes(m) -> conv; nodes adds what leads from "a" to "b"."""
    m = onnx.Model(opset=13, domains=["test"])
    m.input("x", onnx.FLOAT, [1, 4, 6, 8])
    conv(m, "x", "a")
    nodes(m)
    conv(m, "b", "y")
    m.output("y", onnx.FLOAT, [1, 4, 6, 8])
    return m


def perm_of(op):
    data = op.params["perm"].tensor.data
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def types(container):
    return [op.type for op in container.ops]


def check_single(checks, layout):
    label = f"one op, {layout}"
    m = model_between(lambda m: m.node("Thing", ["a"], ["b"], domain="test"))
    container, messages = convert(checks, label, m, [udo("Thing", layout)])
    if not container:
        return
    thing = next(op for op in container.ops if op.type == "Thing")
    seen = [container.tensors[name].dims for name in (thing.inputs[0], thing.outputs[0])]
    if layout != "NCHW":
        checks.equal(f"{label}: ops", types(container), ["Conv2d", "Thing", "Conv2d"])
        checks.equal(f"{label}: dims", seen, [[1, 6, 8, 4]] * 2)
        return
    checks.equal(f"{label}: ops", types(container), ["Conv2d", "Transpose", "Thing", "Transpose", "Conv2d"])
    checks.equal(f"{label}: dims", seen, [[1, 4, 6, 8]] * 2)
    before, after = container.ops[1], container.ops[3]
    checks.equal(f"{label}: perms", [perm_of(before), perm_of(after)], [TO_NCHW, TO_NHWC])
    checks.equal(f"{label}: names", [before.name, after.name], ["a.nchw", "b.nhwc"])
    checks.equal(f"{label}: tensor names", [before.outputs, after.outputs], [["a.nchw"], ["b.nhwc"]])
    for name in ("a", "b"):
        lines = [line for line in messages.splitlines() if "warning" in line and f" tensor {name} " in line]
        checks.equal(f"{label}: warnings about {name}", len(lines), 1)
        checks.check(f"{label}: both layouts named", lines and "NCHW" in lines[0] and "NHWC" in lines[0], messages)


def check_chain(checks):
    def nodes(m):
        m.node("Thing", ["a"], ["t"], domain="test")
        m.node("Thing", ["t"], ["b"], domain="test")

    container, _ = convert(checks, "chain", model_between(nodes), [udo("Thing", "NCHW")])
    if container:
        # The pair between the two ops cancels out.
        expected = ["Conv2d", "Transpose", "Thing", "Thing", "Transpose", "Conv2d"]
        checks.equal("chain: ops", types(container), expected)


def check_shared(checks):
    def nodes(m):
        m.node("Thing", ["a"], ["t"], domain="test")
        m.node("Other", ["a"], ["u"], domain="test")
        m.node("Both", ["t", "u"], ["b"], domain="test")

    ops = [udo("Thing", "NCHW"), udo("Other", "NCHW"), udo("Both", "NCHW", inputs=2)]
    container, _ = convert(checks, "shared", model_between(nodes), ops)
    if container:
        transposes = [op for op in container.ops if op.type == "Transpose"]
        checks.equal("shared: one permute in, one out", [perm_of(op) for op in transposes], [TO_NCHW, TO_NHWC])
        inputs = {op.type: op.inputs for op in container.ops}
        checks.equal("shared: both read the same tensor", inputs["Thing"], inputs["Other"])


def check_static(checks):
    """Static data beside an activation: permuted for NHWC alone."""
    for layout, dims in (("NCHW", [1, 4, 2, 3]), ("NHWC", [1, 2, 3, 4]), (None, [1, 4, 2, 3])):
        label = f"static {layout}"
        op = udo("Thing", layout, inputs=2)
        op["inputs"] = [op["inputs"][0], dict(op["inputs"][1], static=True)]

        def nodes(m):
            m.tensor("c", onnx.FLOAT, [1, 4, 2, 3], [float(i) for i in range(24)])
            m.node("Thing", ["a", "c"], ["b"], domain="test")

        container, _ = convert(checks, label, model_between(nodes), [op])
        if not container:
            continue
        thing = next(op for op in container.ops if op.type == "Thing")
        tensor = container.tensors[thing.inputs[1]]
        values = [float(i) for i in range(24)]
        if layout == "NHWC":
            values = [float(c * 6 + h * 3 + w) for h in range(2) for w in range(3) for c in range(4)]
        checks.equal(f"{label}: dims", tensor.dims, dims)
        checks.equal(f"{label}: data", tensor.data, struct.pack("<24f", *values))


def main():
    checks = Checks()
    for layout in ("NCHW", "NHWC", None):
        check_single(checks, layout)
    check_chain(checks)
    check_shared(checks)
    check_static(checks)
    checks.finish()


main()
