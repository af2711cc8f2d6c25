#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what it costs that a package computes an op: the time of a step of the package, of the same op by the reference
in the same executions, and of a package's op that does nothing.
usage: run.py [--smoke] [--build FOLDER]   (default: build/release; --smoke: few executions, and no limit)

Prints a row for each number of elements. The status is 0 when the op of the package takes at most 5 µs more than the
reference's up to 1,000 elements, and the op that does nothing, beyond these, no more than that and 0.5 ns an element,
for which outputs are set to zero."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tests" / "support")]
import onnx_writer as onnx  # noqa: E402
from measure import DEFAULT_BUILD  # noqa: E402

COUNTS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]
SMALL, LIMIT, CLEARING = 1000, 5.0, 0.0005  # elements, microseconds, and these an element
RELU = """    const float *x = getTensorData<float>(operation->getInput(0));
    float *y = getTensorDataRef<float>(operation->getOutput(0));
    const uint32_t count = numTensorSize(operation->getInput(0));
    for (uint32_t i = 0; i < count; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
"""
MARK = "    /* Add code here */\n    (void)operation;\n"


def call(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{command[0]} ends with {done.returncode}:\n{done.stderr}")
    return done.stdout


def write_package(build, folder):
    tensors = {"inputs": [{"name": "x"}], "outputs": [{"name": "y", "shape": "same_as in0"}], "core_types": ["CPU"]}
    config = folder / "ops.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Bench",
                                                   "Operators": [{"type": "Mine", **tensors}, {"type": "Nothing", **tensors}]}}))
    call(build / "src/tools/udo-package-generator", "-p", config, "-o", folder)
    source = folder / "Bench/jni/src/CPU/src/ops/Mine.cpp"
    source.write_text(source.read_text().replace(MARK, RELU, 1))
    call("make", "-C", folder / "Bench", "cpu_x86", env={**os.environ, "ODLC_SDK_ROOT": HERE.parents[1] / "include/sdk"})
    return config, folder / "Bench/libs/x86-64_linux_clang/libUdoBenchReg.so"


def write_container(build, folder, config, count):
    m = onnx.Model(opset=13, domains=["test"])
    m.input("x", onnx.FLOAT, [count])
    for kind, domain in (("Mine", "test"), ("Nothing", "test"), ("Relu", "")):
        m.node(kind, ["x"], [kind.lower()], name=kind, domain=domain)
        m.output(kind.lower(), onnx.FLOAT, [count])
    m.save(folder / "m.onnx")
    call(build / "converters/onnx-to-dlc", "-i", folder / "m.onnx", "--udo_config_paths", config, "-o", folder / "m.dlc")


def measure(build, folder, config, library, count, executions):
    """Microseconds, by node."""
    write_container(build, folder, config, count)
    lines = call(build / "bench/overhead", folder / "m.dlc", library, executions).splitlines()
    return {node: int(median) / 1000 for node, _, median, _ in map(str.split, lines)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD)
    options = parser.parse_args()
    build, over = pathlib.Path(options.build), False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        config, library = write_package(build, folder)
        print(f"{'elements':>10} {'package µs':>11} {'native µs':>10} {'more µs':>9} {'nothing µs':>11} {'ns/element':>11}")
        for count in COUNTS[:4] if options.smoke else COUNTS:
            executions = 20 if options.smoke else max(20, min(5000, 100_000_000 // count))
            times = measure(build, folder, config, library, count, executions)
            more = times["Mine"] - times["Relu"]
            print(f"{count:>10} {times['Mine']:>11.2f} {times['Relu']:>10.2f} {more:>9.2f} {times['Nothing']:>11.2f} "
                  f"{1000 * times['Nothing'] / count:>11.3f}")
            over |= more > LIMIT if count <= SMALL else times["Nothing"] > LIMIT + CLEARING * count
    if over and not options.smoke:
        sys.exit("above the limit")


main()
