# SPDX-License-Identifier: Apache-2.0
"""Definitions that use what both forms of a config can say: JSON and XML give the same bytes, and the container holds
what was meant."""

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
from opdef_writer import opdef_xml  # noqa: E402
from prestarted import run  # noqa: E402

X = {"name": "x", "data_type": "FLOAT_32"}
Y = {"name": "y", "data_type": "FLOAT_32"}


def operator(inputs=(X,), outputs=(Y,), **more):
    return {"type": "Thing", "inputs": list(inputs), "outputs": list(outputs), **more}


# Name → (operator, attributes of the node, params that the container must hold: name → (type, value or list)).
CASES = {
    "defaults": (operator(scalar_params=[{"name": "a", "data_type": "FLOAT_32", "default_value": 0.25},
                                         {"name": "n", "data_type": "INT_32", "default_value": -7},
                                         {"name": "on", "data_type": "BOOL_8", "default_value": True},
                                         {"name": "mode", "data_type": "STRING", "default_value": "a <b> & {c}"}],
                          tensor_params=[{"name": "t", "data_type": "INT_32", "default_value": [[1, 2, 3], [4, 5, 6]]},
                                         {"name": "one", "data_type": "FLOAT_32", "default_value": 2.5},
                                         {"name": "none", "data_type": "UINT_8", "default_value": []}]),
                 {}, {"a": ("FLOAT_32", 0.25), "n": ("INT_32", -7), "on": ("BOOL_8", 1), "mode": ("STRING", "a <b> & {c}"),
                      "t": ("INT_32", [1, 2, 3, 4, 5, 6]), "one": ("FLOAT_32", [2.5]), "none": ("UINT_8", [])}),
    "given": (operator(scalar_params=[{"name": "a", "data_type": "FLOAT_16", "default_value": 0.25}],
                       tensor_params=[{"name": "t", "data_type": "UINT_8", "default_value": [9]}]),
              {"a": 0.5, "t": [3, 255]}, {"a": ("FLOAT_16", 0.5), "t": ("UINT_8", [3, 255])}),
    "cores": (operator(inputs=[{"name": "x", "per_core_data_types": {"CPU": "FLOAT_32", "DSP": "FIXED_8"}}],
                       outputs=[{"name": "y", "per_core_data_types": {"CPU": "FLOAT_32", "DSP": "FIXED_8"}}],
                       core_types=["CPU", "DSP"]),
              {}, {"udo_core_types": ("STRING", "CPU,DSP"),
                   "udo_per_core_data_types": ("STRING", "in0: CPU=FLOAT_32,DSP=FIXED_8; out0: CPU=FLOAT_32,DSP=FIXED_8")}),
    "one core": (operator(core_types=["GPU"]), {}, {"udo_core_types": ("STRING", "GPU")}),
    "fixed": (operator(inputs=[{"name": "x", "data_type": "FIXED_16"}]), {}, {}),
    "layouts": (operator(inputs=[dict(X, tensor_layout="NHWC")], outputs=[dict(Y, tensor_layout="NCHW")]), {}, {}),
    "repeated": (operator(inputs=[dict(X, repeated=True)]), {"inputs": ["x", "x", "x"]}, {}),
    "optional": (operator(inputs=[X, dict(X, name="o", optional=True),
                                  dict(X, name="d", static=True, default_value=[[1.5, 2.5]])]), {}, {}),
}


def write_model(path, attributes):
    m = onnx.Model(opset=13, domains=["test"])
    m.input("x", onnx.FLOAT, [1, 3, 4, 5])
    attributes = dict(attributes)
    m.node("Thing", attributes.pop("inputs", ["x"]), ["y"], name="thing", domain="test", **attributes)
    m.output("y", onnx.FLOAT, [1, 3, 4, 5])
    m.save(path)


def check_param(checks, label, op, name, expected):
    dtype, value = expected
    param = op.params.get(name)
    if not checks.check(f"{label}: {name} is there", param is not None, sorted(op.params)):
        return
    checks.equal(f"{label}: {name}'s type", param.dtype, dtype)
    if isinstance(value, list):
        code = {"INT_32": "i", "FLOAT_32": "f", "UINT_8": "B"}[dtype]
        checks.equal(f"{label}: {name}'s data", param.tensor.data, struct.pack(f"<{len(value)}{code}", *value))
    else:
        checks.equal(f"{label}: {name}'s value", param.value, value)


def convert(folder, config_text):
    model, config, out = (os.path.join(folder, name) for name in ("m.onnx", "ops.config", "m.dlc"))
    with open(config, "w", encoding="utf-8") as f:
        f.write(config_text)
    return run("onnx-to-dlc", "-i", model, "--udo_config_paths", config, "-o", out), out


def check_case(checks, label):
    op, attributes, params = CASES[label]
    package = {"UDO_PACKAGE_NAME": "FormsPackage", "Operators": [op]}
    with tempfile.TemporaryDirectory() as folder:
        write_model(os.path.join(folder, "m.onnx"), attributes)
        contents = []
        for form, text in (("JSON", json.dumps({"P": package})), ("XML", opdef_xml(package))):
            done, out = convert(folder, text)
            if not checks.check(f"{label}: {form} converts", done.returncode == 0, done.stderr):
                return
            contents.append(pathlib.Path(out).read_bytes())
        checks.check(f"{label}: JSON and XML give the same bytes", contents[0] == contents[1])
        found = next(o for o in read_container(out).ops if o.type == "Thing")
        checks.equal(f"{label}: package", found.package, "FormsPackage")
        for name, expected in params.items():
            check_param(checks, label, found, name, expected)


def check_command(checks):
    """Both options take both forms at once; a definition given in both is one; an error shows the other place."""
    package = {"UDO_PACKAGE_NAME": "FormsPackage", "Operators": [operator()]}
    other = {"UDO_PACKAGE_NAME": "OtherPackage", "Operators": [operator()]}
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("m.onnx", "a", "b", "c", "m.dlc")]
        model, a, b, c, out = paths
        write_model(model, {})
        for path, text in ((a, json.dumps({"P": package})), (b, opdef_xml(package)), (c, opdef_xml(other))):
            pathlib.Path(path).write_text(text, encoding="utf-8")
        for options in (["-udo", b], ["-opc", b], ["--op_package_config", a, b], ["-udo", a, "-opc", b]):
            done = run("onnx-to-dlc", "-i", model, *options, "-o", out)
            checks.check(f"{options[0]}: converts", done.returncode == 0 and "1 of them UDOs" in done.stdout + done.stderr,
                         done.stderr)
        done = run("onnx-to-dlc", "-i", model, "-udo", a, "-opc", c, "-o", os.path.join(folder, "none.dlc"))
        checks.equal("two packages: status", done.returncode, 1)
        checks.check("two packages: the second", f"{c}:3:12: error: second, different definition of 'Thing'" in done.stderr,
                     done.stderr)
        checks.check("two packages: the first", f"{a}:1:" in done.stderr and "note: the first definition" in done.stderr,
                     done.stderr)


def main():
    checks = Checks()
    check_command(checks)
    for label in CASES:
        check_case(checks, label)
    checks.finish()


main()
