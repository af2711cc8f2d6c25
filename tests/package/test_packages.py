# SPDX-License-Identifier: Apache-2.0
"""Packages of kernels, from config to numbers: generated, filled in, compiled, executed by net-run; and libraries that are
no packages."""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import COMPILERS, HOST_LIBS, fill_in, generate, make, place, registration  # noqa: E402
from checks import BUILD, SOURCE, Checks, run  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from onnx_writer import FLOAT, INT64, Model  # noqa: E402

EXAMPLES = SOURCE / "examples"
# Every kind of operand and param comes out again as floats.
COPY = """
    float *out = getTensorDataRef<float>(operation->getOutput(0));
    const int32_t *ints = getTensorData<int32_t>(operation->getInput(1));
    for (uint32_t i = 0; i < numTensorSize(operation->getInput(0)); i++)
        out[i] = getTensorData<float>(operation->getInput(0))[i] + (float)ints[i];
    float *told = getTensorDataRef<float>(operation->getOutput(1));
    const CustomOpTensorPtr_t list = backend_utils::getTensorParam(operation->getParam("list"));
    told[0] = (float)operation->getInput(0)->rank;
    told[1] = (float)operation->getInput(0)->currentDimensions[1];
    told[2] = (float)backend_utils::getScalarParam(operation->getParam("whole"));
    told[3] = (float)backend_utils::getScalarParam(operation->getParam("yes"));
    told[4] = getTensorData<float>(list)[2];
    told[5] = (float)list->currentDimensions[0];
    told[6] = (float)strlen(backend_utils::getStringParam(operation->getParam("word")));
    told[7] = (float)operation->getInput(0)->dataType;
"""


def floats(path):
    data = path.read_bytes()
    return struct.unpack(f"<{len(data) // 4}f", data)


def same(found, expected):
    return len(found) == len(expected) and all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(found, expected))


def net_run(container, inputs, out, *options, cwd):
    return run("net-run", "--container", container, "--input_list", inputs, "--output_dir", out, *options, cwd=cwd)


def example(checks, folder):
    """The README's op gets a kernel; its results are computed anew from what goes into it."""
    container = folder / "example.dlc"
    run("onnx-to-dlc", "-i", "example.onnx", "--udo_config_paths", "ops.json", "-o", container, cwd=EXAMPLES)
    limit = struct.unpack("<8f", read_container(container).tensors["clamp/limit.nhwc"].data)
    for compiler in COMPILERS:
        package = folder / compiler / "ExampleOps"
        generate([EXAMPLES / "ops.json"], folder / compiler)
        place(package, EXAMPLES / "SoftClamp.cpp")
        done = make(package, "cpu_x86", compiler, "-O2 -Werror")
        if not checks.check(f"{compiler}: compiles", done.returncode == 0, done.stderr[-1500:]):
            continue
        out = folder / f"out-{compiler}"
        done = net_run(container, "inputs.txt", out, "--udo_package_path", registration(package), "--set_output_tensors",
                       "features,clamped,scores", cwd=EXAMPLES)
        checks.equal(f"{compiler}: net-run", (done.returncode, done.stderr), (0, ""))
        features, clamped = floats(out / "Result_0/features.raw"), floats(out / "Result_0/clamped.raw")
        expected = [limit[i % 8] * math.tanh(4.0 * x) for i, x in enumerate(features)]
        checks.check(f"{compiler}: numbers", same(clamped, expected) and any(expected), clamped[:4])
        scores = floats(out / "Result_0/scores.raw")
        checks.check(f"{compiler}: scores", len(scores) == 5 and abs(sum(scores) - 1) < 1e-6, scores)
        implementation = package / HOST_LIBS / "libUdoExampleOpsImplCpu.so"
        done = net_run(container, "inputs.txt", out, "--op_packages", f"{implementation}:ExampleOpsInterfaceProvider:CPU",
                       "--explain", cwd=EXAMPLES)
        checks.check(f"{compiler}: by provider", done.returncode == 0 and "package      SoftClamp" in done.stdout, done.stderr)
        done = net_run(container, "inputs.txt", out, "--udo_package_path", registration(package), "--backend", "reference",
                       cwd=EXAMPLES)
        checks.check(f"{compiler}: the reference alone", done.returncode != 0 and "no implementation of op SoftClamp (package "
                     "ExampleOps) here: backend reference leaves out kernels of packages" in done.stderr, done.stderr)


def kinds(checks, folder):
    """Several inputs and outputs, params of each kind, in the order and number that the config declares."""
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [2, 3])
    m.input("i", INT64, [2, 3])
    m.node("Kinds", ["x", "i"], ["y", "told"], name="kinds", domain="test", whole=-7, yes=1, list=[0.5, 1.5, 2.5], word="abc")
    m.output("y", FLOAT, [2, 3])
    m.output("told", FLOAT, [8])
    m.save(folder / "kinds.onnx")
    tensor = [{"name": "x", "data_type": "FLOAT_32"}, {"name": "i", "data_type": "INT_32"}]
    op = {"type": "Kinds", "inputs": tensor, "core_types": ["CPU"],
          "outputs": [{"name": "y", "data_type": "FLOAT_32"}, {"name": "told", "data_type": "FLOAT_32"}],
          "scalar_params": [{"name": "whole", "data_type": "INT_32"}, {"name": "yes", "data_type": "BOOL_8"},
                            {"name": "word", "data_type": "STRING"},
                            {"name": "left", "data_type": "FLOAT_32", "default_value": 0.25}],
          "tensor_params": [{"name": "list", "data_type": "FLOAT_32"}]}
    config = folder / "kinds.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Kinds", "Operators": [op]}}))
    done = run("onnx-to-dlc", "-i", folder / "kinds.onnx", "--udo_config_paths", config, "-o", folder / "kinds.dlc")
    checks.check("kinds: converts", done.returncode == 0, done.stderr)
    generate([config], folder)
    fill_in(folder / "Kinds", "Kinds", COPY)
    done = make(folder / "Kinds", "cpu_x86")
    checks.check("kinds: compiles", done.returncode == 0, done.stderr[-1500:])
    (folder / "x.raw").write_bytes(struct.pack("<6f", 0.5, 1, 2, 3, 4, 5))
    (folder / "i.raw").write_bytes(struct.pack("<6i", 10, 20, 30, 40, 50, -60))
    (folder / "list.txt").write_text("x:=x.raw i:=i.raw\n")
    done = net_run("kinds.dlc", "list.txt", "out", "--use_native_input_files", "--udo_package_path",
                   registration(folder / "Kinds"), cwd=folder)
    if checks.equal("kinds: net-run", (done.returncode, done.stderr), (0, "")):
        checks.equal("kinds: sums", floats(folder / "out/Result_0/y.raw"), (10.5, 21, 32, 43, 54, -55))
        checks.equal("kinds: told", floats(folder / "out/Result_0/told.raw"), (2, 3, -7, 1, 2.5, 3, 3, 0x232))


def libraries(checks, folder):
    """What is no package at all; all that are named are reported."""
    container = folder / "example.dlc"
    run("onnx-to-dlc", "-i", "example.onnx", "--udo_config_paths", "ops.json", "-o", container, cwd=EXAMPLES)
    text = folder / "text.so"
    text.write_text("no library")
    other = folder / "libs" / "other.so"
    other.parent.mkdir()
    source = folder / "other.c"
    source.write_text("#include <stdlib.h>\n__attribute__((constructor)) static void run(void) { exit(3); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", other], check=True)
    named = ",".join(map(str, (folder / "none.so", text, other, "libnone-of-that-name.so")))
    done = net_run(container, "inputs.txt", folder / "out", "--udo_package_path", named, cwd=EXAMPLES)
    checks.equal("libraries: status", done.returncode, 1)
    for words in (f"{folder}/none.so: error: there is no such library", f"{text}: error: the library cannot be loaded",
                  f"{other}: error: the library was compiled with other headers", f"make -C {folder} cpu_x86",
                  "libnone-of-that-name.so: error: the library cannot be loaded", "LD_LIBRARY_PATH"):
        checks.check(f"libraries: {words}", words in done.stderr, done.stderr)
    for value, words in (("lib.so", "names no function that provides the package"),
                         ("lib.so:P:GPU", "the library cannot be loaded"),
                         ("lib.so:P:NPU", "packages for target NPU cannot be executed here")):
        done = net_run(container, "inputs.txt", folder / "out", "--op_packages", value, cwd=EXAMPLES)
        checks.check(f"--op_packages {value}", done.returncode != 0 and words in done.stderr, done.stderr)
    checks.check("nothing is written", not (folder / "out").exists())


DOUBLE = """    const CustomOpTensorPtr_t x = operation->getInput(0);
    for (uint32_t i = 0; i < numTensorSize(x); i++)
        getTensorDataRef<float>(operation->getOutput(0))[i] = 2 * getTensorData<float>(x)[i];
"""


def shared(checks, folder):
    """64 runs in 8 threads, 1,000 loads of each kind, and a package for all runs, of a C++ package and by its registration library."""
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [50, 20])
    m.node("Twice", ["x"], ["y"], name="twice", domain="test")
    m.output("y", FLOAT, [50, 20])
    m.save(folder / "twice.onnx")
    op = {"type": "Twice", "inputs": [{"name": "x"}], "outputs": [{"name": "y"}], "core_types": ["CPU"]}
    config = folder / "twice.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Twice", "Operators": [op]}}))
    run("onnx-to-dlc", "-i", folder / "twice.onnx", "--udo_config_paths", config, "-o", folder / "twice.dlc")
    generate([config], folder)
    fill_in(folder / "Twice", "Twice", DOUBLE)
    done = make(folder / "Twice", "cpu_x86")
    checks.check("shared: compiles", done.returncode == 0, done.stderr[-1500:])
    (folder / "x.raw").write_bytes(struct.pack("<1000f", *(i / 7 for i in range(1000))))
    library = folder / "Twice" / HOST_LIBS / "libUdoTwiceImplCpu.so"
    done = subprocess.run([BUILD / "tests" / "package" / "share_package", folder / "twice.dlc", library, "TwiceInterfaceProvider",
                           folder / "x.raw", registration(folder / "Twice")], capture_output=True, text=True, check=False)
    checks.equal("shared: runs", (done.returncode, done.stdout, done.stderr),
                 (0, "same\n", "threads 0, loads 0, for all 0\n"))


def main():
    checks = Checks()
    for test in (example, kinds, libraries, shared):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
