# SPDX-License-Identifier: Apache-2.0
"""Plugin packages that tests compile, and containers with their ops."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "support"))
from checks import BUILD, SOURCE, Checks  # noqa: E402, F401
from onnx_writer import FLOAT, Model  # noqa: E402
from prestarted import run  # noqa: E402

PACKAGES = HERE / "packages"
SDK = SOURCE / "include" / "sdk" / "QNN"
COMPILER = shutil.which("gcc") or shutil.which("clang") or "cc"
# type: (inputs, outputs, params)
GUIDE = {"Asin": (1, 1, ()), "Relu": (1, 1, ()), "Clip6": (1, 1, ()), "Highest": (1, 1, ()), "Scale": (2, 1, ()),
         "Square": (1, 1, ()), "Affine": (1, 1, ("factor", "summand")), "Negate": (1, 1, ()), "Weigh": (1, 1, ()),
         "SumDiff": (2, 2, ())}


def compile_package(source, library, *flags, sdk=SDK):
    """A shared library of a C source, without sanitizers: it is the user's code."""
    command = [COMPILER, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-ffp-contract=off", f"-I{sdk}",
               f"-I{PACKAGES}", *flags, str(source), "-o", str(library), "-lm"]
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return library


def package(name):
    """The library of one of PACKAGES, which is compiled once for all tests (meson.build)."""
    return BUILD / "tests/plugin" / f"lib{name}.so"


def plant(folder, defect):
    """What packages that run in the folder do wrongly (package.h)."""
    (folder / "defect.txt").write_text(f"{defect}\n" if defect else "none\n")


def config(folder, package, ops, shapes=None, static=(("Scale", 1),)):
    """Describes ops of one package: {type: (inputs, outputs, params)}; outputs have the first input's shape, or `shapes`'."""
    operators = []
    for op, (inputs, outputs, params) in ops.items():
        rule = {"shape": "same_as in0"} if not (shapes or {}).get(op) else {"shape": shapes[op]}
        operators.append({"type": op, "domain": "test", "core_types": ["CPU", "DSP"], "dsp_arch_types": ["v68"],
                          "inputs": [{"name": f"in{i}", "data_type": "FLOAT_32", "static": (op, i) in static} for i in range(inputs)],
                          "outputs": [{"name": f"out{i}", "data_type": "FLOAT_32", **rule} for i in range(outputs)],
                          "scalar_params": [{"name": name, "data_type": "FLOAT_32"} for name in params]})
    path = folder / f"{package}.json"
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": package, "Operators": operators}}))
    return path


def convert(folder, model, configs, *options):
    model.save(folder / "m.onnx")
    return run("onnx-to-dlc", "-i", "m.onnx", "--udo_config_paths", *map(str, configs), "-o", "m.dlc", "--io_layout", "model",
               *options, cwd=folder)


def execute(folder, libraries, inputs, *options, native=False, env=None, target=":HTP"):
    """net-run with plugins (library: package) on arrays by name: the process and {output: array of floats}."""
    line = []
    for name, array in inputs.items():
        (folder / f"{name}.raw").write_bytes(array.tobytes() if native else array.astype("<f4").tobytes())
        line.append(f"{name}:={name}.raw")
    (folder / "list.txt").write_text(" ".join(line) + "\n")
    packages = ",".join(f"{library}:{package}InterfaceProvider{target}" for library, package in libraries.items())
    shutil.rmtree(folder / "out", ignore_errors=True)
    extra = ["--use_native_input_files", "--use_native_output_files"] if native else []
    done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out", "--op_packages", packages,
               *extra, *options, cwd=folder, **({"env": {**os.environ, **env}} if env else {}))
    found = {}
    for path in sorted((folder / "out/Result_0").glob("*.raw")) if done.returncode == 0 else []:
        found[path.stem] = path.read_bytes() if native else np.frombuffer(path.read_bytes(), "<f4")
    return done, found


def explained(folder, libraries, inputs, *options, **more):
    """The object of --explain=json, and the outputs."""
    done, found = execute(folder, libraries, inputs, "--explain=json", *options, **more)
    if done.returncode != 0:
        return done, None, found
    return done, json.JSONDecoder().raw_decode(done.stdout)[0], found


def plugin_steps(document):
    return [step["plugin"] for step in document["steps"] if "plugin" in step]


def model_of(nodes, inputs, outputs, constants=()):
    """A model of float tensors; nodes: (type, inputs, outputs, attributes), of domain test where the type is not ONNX's."""
    m = Model(opset=13, domains=["test"])
    for name, dims, values in constants:
        m.tensor(name, FLOAT, dims, values)
    for name, dims in inputs:
        m.input(name, FLOAT, dims)
    for op, ins, outs, attributes in nodes:
        plugin = op.startswith("+")
        m.node(op.lstrip("+"), ins, outs, name=outs[0], domain="test" if plugin else "", **attributes)
    for name, dims in outputs:
        m.output(name, FLOAT, dims)
    return m
