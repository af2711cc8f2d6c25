# SPDX-License-Identifier: Apache-2.0
"""udo-package-generator --reference: which ops call reference kernels, what notes say of the others, what the makefiles need,
and what a user reads where a node does not fit its operator. What such packages compute: test_kernels.py."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from workshop import HOST_LIBS, SDK, generate, make, registration  # noqa: E402
from checks import BUILD, Checks, run  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402


def op_of(name, scalars=(), tensors=(), inputs=1, layout=None, **more):
    operand = {"data_type": "FLOAT_32", **({"tensor_layout": layout} if layout else {})}
    return {"type": name, "inputs": [{"name": f"x{i}", **operand} for i in range(inputs)], "outputs": [{"name": "y", **operand}],
            "scalar_params": [{"name": param, "data_type": dtype} for param, dtype in scalars],
            "tensor_params": [{"name": param, "data_type": "INT_32"} for param in tensors], "core_types": ["CPU"], **more}


AXIS = [("axis", "INT_32")]
# Name → (op of a config, words of the note; None: it calls the kernel).
OPS = {
    "all that is optional left out": (op_of("Softmax"), None),
    "a param": (op_of("Softmax", AXIS), None),
    "a required param": (op_of("LogSoftmax", AXIS), None),
    "elements in channels-first order": (op_of("Relu", layout="NCHW"), None),
    "elements in channels-last order": (op_of("HardSigmoid", [("alpha", "FLOAT_32")], layout="NHWC"), None),
    "an axis in the model's order": (op_of("Softmax", AXIS, layout="NCHW"), None),
    "a repeated input": (op_of("Concat", AXIS) | {"inputs": [{"name": "x"}, {"name": "more", "repeated": True}]}, None),
    "an image": (op_of("PoolMax2d", tensors=["filter_size", "stride", "pad_amount"], layout="NHWC"), None),
    "what becomes several": (op_of("Selu", [("alpha", "FLOAT_32"), ("gamma", "FLOAT_32")]), None),
    "a pool": (op_of("MaxPool", [("ceil_mode", "INT_32")], ["kernel_shape", "strides", "pads"], layout="NHWC"), None),
    "no such operator": (op_of("SoftClamp"), "has the name of no native operator"),
    "too many inputs": (op_of("Softmax", inputs=2), "has another number of inputs than the native operator"),
    "a param that is none": (op_of("Softmax", [("axes", "INT_32")]), "has a param axes, and the native operator none"),
    "a supplemental param": (op_of("PoolMax2d", [("padding_size_strategy", "INT_32")],
                                   ["filter_size", "stride", "pad_amount"], layout="NHWC"),
                             "has a param padding_size_strategy, and the native operator none"),
    "another kind of param": (op_of("Softmax", [("axis", "STRING")]), "has another kind of param axis than the native operator"),
    "a list for a number": (op_of("Softmax", tensors=["axis"]), "has another kind of param axis"),
    "no required param": (op_of("LogSoftmax"), "does not always have the param axis, without which"),
    "an image in another order": (op_of("PoolMax2d", tensors=["filter_size", "stride", "pad_amount"], layout="NCHW"),
                                  "does not declare the layout NHWC, in which the native operator takes images"),
    "an axis in another order": (op_of("Softmax", AXIS, layout="NHWC"),
                                 "has the layout NHWC, in whose order the native operator would count axes"),
    "a pool in no order": (op_of("MaxPool", tensors=["kernel_shape"]), "declares no layout"),
    "a dilated pool": (op_of("MaxPool", tensors=["kernel_shape", "dilations"], layout="NCHW"), "has a param dilations, and"),
    "two orders": (op_of("Relu", layout="NCHW") | {"outputs": [{"name": "y", "tensor_layout": "NHWC"}]}, "declares several layouts"),
    "weights in fixed point": (op_of("ElementWiseAdd", inputs=2) | {"inputs": [{"name": "x"}, {
        "name": "w", "static": True, "per_core_data_types": {"CPU": "FIXED_8"}}]}, "has a static input in fixed point"),
    "weights in floats": (op_of("ElementWiseAdd", inputs=2) | {"inputs": [{"name": "x"}, {"name": "w", "static": True}]}, None),
    "an input that may be absent": (op_of("Softmax") | {"inputs": [{"name": "x", "optional": True}]},
                                    "has another number of inputs than the native operator"),
    "no input at all": (op_of("Concat", AXIS) | {"inputs": [{"name": "x", "repeated": True}]},
                        "has another number of inputs than the native operator"),
}
NOT_ON_CPU = op_of("Relu") | {"core_types": ["GPU"]}


def write_config(folder, name, ops):
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": name, "Operators": ops}}))
    return path


def signatures(checks, folder):
    for number, (label, (op, words)) in enumerate(OPS.items()):
        config = write_config(folder, f"Made{number}", [op])
        for language in ("cpp", "c"):
            out = folder / language
            done = generate([config], out, "--reference", "--language", language)
            checks.equal(f"{label}: status", done.returncode, 0)
            source = (out / f"Made{number}/jni/src/CPU/src/ops/{op['type']}.{language}").read_text()
            helper = out / f"Made{number}/jni/src/CPU/src/utils/ReferenceOp.h"
            checks.equal(f"{label}, {language}: calls", ("odlc_reference_execute(" in source, helper.exists()),
                         (words is None, words is None))
            if words is None:
                checks.equal(f"{label}, {language}: no note", done.stderr, "")
                continue
            note = f"note: op {op['type']} of package Made{number} {words}"
            checks.check(f"{label}, {language}: note", note in done.stderr and "no reference kernel is called" in done.stderr,
                         done.stderr)


def without_option(checks, folder):
    generate([write_config(folder, "Plain", [op_of("Softmax")])], folder)
    checks.check("nothing without the option", not any(
        "odlc_reference" in path.read_text() for path in (folder / "Plain").rglob("*") if path.is_file()))
    done = generate([write_config(folder, "Other", [NOT_ON_CPU])], folder, "--reference")
    checks.equal("only ops of the CPU", (done.returncode, done.stderr), (0, ""))
    done = generate([write_config(folder, "Mixed", [op_of("Softmax"), op_of("SoftClamp")])], folder, "--reference")
    sources = folder / "Mixed/jni/src/CPU/src/ops"
    checks.check("both in a package", "odlc_reference" in (sources / "Softmax.cpp").read_text() and
                 "odlc_reference" not in (sources / "SoftClamp.cpp").read_text() and "op SoftClamp of" in done.stderr)
    done = make(folder / "Mixed", "cpu_x86", flags="-O1 -Werror -Wpedantic")
    checks.check("both in a package: compiles", done.returncode == 0, done.stderr[-1500:])


def makefiles(checks, folder):
    """The library is found by pkg-config, or named; without it nothing starts."""
    config = write_config(folder, "Linked", [op_of("Softmax")])
    for language in ("cpp", "c"):
        generate([config], folder / language, "--reference", "--gen_cmakelists", "--language", language)
        package = folder / language / "Linked"
        (folder / "none").mkdir(exist_ok=True)
        nowhere = {"PKG_CONFIG_LIBDIR": str(folder / "none"), "ODLC_LIBS": ""}
        done = make(package, "cpu_x86", **nowhere)
        checks.check(f"{language}: no libopendlc", done.returncode != 0 and not (package / HOST_LIBS).exists() and
                     "ODLC_LIBS is not set: what links libopendlc: pkg-config does not find opendlc" in done.stderr, done.stderr)
        (folder / "pc").mkdir(exist_ok=True)
        (folder / "pc" / "opendlc.pc").write_text(
            f"Name: opendlc\nDescription: it\nVersion: 1\nCflags: -I{SDK.parent}\nLibs: -L{BUILD} -lopendlc -Wl,-rpath,{BUILD}\n"
            f"sdkdir={SDK}\n")
        found = {**os.environ, "PKG_CONFIG_PATH": str(folder / "pc")}
        done = subprocess.run(["make", "-C", package, "cpu_x86"], capture_output=True, text=True, check=False, env=found)
        checks.check(f"{language}: found by pkg-config", done.returncode == 0, done.stderr[-1500:])
        if not shutil.which("cmake"):
            checks.skip("cmake", "there is no cmake")
            continue
        (package / HOST_LIBS / "libUdoLinkedImplCpu.so").unlink()
        for command in (["-S", package, "-B", folder / f"build-{language}"], ["--build", folder / f"build-{language}"]):
            done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False, env=found)
            checks.check(f"{language}: cmake {command[0]}", done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:])
        checks.check(f"{language}: cmake's library", (package / HOST_LIBS / "libUdoLinkedImplCpu.so").exists())


def misfits(checks, folder):
    """A node that does not fit: its config was judged, the node's values were not known then."""
    m = Model(opset=13)
    m.input("x", FLOAT, [2, 5])
    m.node("Softmax", ["x"], ["y"], axis=7)
    m.output("y", FLOAT, [2, 5])
    m.save(folder / "m.onnx")
    (folder / "x.raw").write_bytes(bytes(40))
    (folder / "list.txt").write_text(f"{folder}/x.raw\n")
    op = op_of("Softmax", AXIS)
    op["outputs"][0]["shape"] = "same_as in0"
    config = write_config(folder, "Soft", [op])
    done = run("onnx-to-dlc", "-i", folder / "m.onnx", "--udo_config_paths", config, "-o", folder / "m.dlc")
    checks.check("misfits: converts", done.returncode == 0, done.stderr)
    for language in ("cpp", "c"):
        generate([config], folder / language, "--reference", "--language", language)
        make(folder / language / "Soft", "cpu_x86")
        done = run("net-run", "--container", folder / "m.dlc", "--input_list", folder / "list.txt", "--output_dir",
                   folder / "out", "--udo_package_path", registration(folder / language / "Soft"))
        checks.check(f"misfits, {language}: the error", done.returncode == 1 and "createOpImpl of op Softmax" in done.stderr and
                     "Softmax: axis is not one of [2,5]" in done.stderr, (done.returncode, done.stderr))


def behaviour(checks, folder):
    """As udo-check tries kernels: no memory is asked for, threads and repeated calls give the same."""
    config = write_config(folder, "Tried", [op_of("Softmax"), op_of("Relu"), op_of("Selu")])
    for language in ("cpp", "c"):
        generate([config], folder / language, "--reference", "--language", language)
        make(folder / language / "Tried", "cpu_x86")
        done = run("udo-check", config, "--udo_package_path", registration(folder / language / "Tried"), "--against",
                   "Softmax=Softmax", "--against", "Relu=Relu", "--json")
        report = json.loads(done.stdout) if done.stdout else {"kernels": []}
        found = {op["type"]: op["findings"] for op in report["kernels"]}
        checks.equal(f"behaviour, {language}", (done.returncode, found), (0, {"Softmax": [], "Relu": [], "Selu": []}))


def main():
    checks = Checks()
    for test in (signatures, without_option, makefiles, misfits, behaviour):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
