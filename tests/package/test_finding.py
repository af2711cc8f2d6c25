# SPDX-License-Identifier: Apache-2.0
"""Where libraries of packages are found: beside the registration library, by the system's loader, and in one library with
it; what is said where they are not; and every tensor of a graph whose ops are a package's."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import HOST_LIBS, fill_in, generate, make, registration  # noqa: E402
from checks import Checks, run  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

DOUBLE = """    const CustomOpTensorPtr_t x = operation->getInput(0);
    for (uint32_t i = 0; i < numTensorSize(x); i++)
        getTensorDataRef<float>(operation->getOutput(0))[i] = 2 * getTensorData<float>(x)[i];
"""
IMPLEMENTATION, REGISTRATION = "libUdoTwiceImplCpu.so", "libUdoTwiceReg.so"
X = (1.0, -2.0, 0.25, 3.0)


def prepare(checks, folder):
    """Twice, Relu, Twice; the package's two libraries."""
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [4])
    m.node("Twice", ["x"], ["first"], name="a", domain="test")
    m.node("Relu", ["first"], ["second"], name="b")
    m.node("Twice", ["second"], ["third"], name="c", domain="test")
    m.output("third", FLOAT, [4])
    m.save(folder / "m.onnx")
    op = {"type": "Twice", "inputs": [{"name": "x"}], "outputs": [{"name": "y"}], "core_types": ["CPU"]}
    config = folder / "twice.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Twice", "Operators": [op]}}))
    run("onnx-to-dlc", "-i", folder / "m.onnx", "--udo_config_paths", config, "-o", folder / "m.dlc")
    generate([config], folder)
    fill_in(folder / "Twice", "Twice", DOUBLE)
    done = make(folder / "Twice", "cpu_x86")
    checks.check("compiles", done.returncode == 0, done.stderr[-1500:])
    (folder / "x.raw").write_bytes(struct.pack("<4f", *X))
    (folder / "list.txt").write_text("x:=x.raw\n")


def execute(folder, package, *options, path=None):
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    if path:
        environment["LD_LIBRARY_PATH"] = str(path)
    shutil.rmtree(folder / "out", ignore_errors=True)
    return run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out", "--udo_package_path", package,
               *options, cwd=folder, env=environment)


def numbers(checks, label, folder, done):
    if checks.equal(f"{label}: net-run", (done.returncode, done.stderr), (0, "")):
        found = struct.unpack("<4f", (folder / "out/Result_0/third.raw").read_bytes())
        checks.equal(f"{label}: numbers", found, tuple(4 * max(0, x) for x in X))


def sonames(checks, folder):
    for name in (REGISTRATION, IMPLEMENTATION):
        done = subprocess.run(["readelf", "-d", folder / "Twice" / HOST_LIBS / name], capture_output=True, text=True, check=True)
        checks.check(f"SONAME of {name}", f"Library soname: [{name}]" in done.stdout, done.stdout)


def places(checks, folder):
    libs = folder / "Twice" / HOST_LIBS
    apart, other = folder / "apart", folder / "other"
    for place, name in ((apart, REGISTRATION), (other, IMPLEMENTATION)):
        place.mkdir()
        shutil.copy(libs / name, place / name)
    numbers(checks, "beside", folder, execute(folder, libs / REGISTRATION))
    numbers(checks, "by the loader", folder, execute(folder, apart / REGISTRATION, path=other))
    numbers(checks, "both by the loader", folder, execute(folder, REGISTRATION, path=f"{other}:{apart}"))
    numbers(checks, "a name, and beside it", folder, execute(folder, REGISTRATION, path=libs))
    shutil.copy(other / IMPLEMENTATION, folder / IMPLEMENTATION)
    shutil.copy(libs / REGISTRATION, folder / REGISTRATION)
    numbers(checks, "by a name, then by the file", folder, execute(folder, f"{REGISTRATION},{libs}/{REGISTRATION}", path=libs))
    done = execute(folder, REGISTRATION)
    checks.check("a name of this folder", done.returncode == 1 and f"; that of this folder is ./{REGISTRATION}\n" in done.stderr,
                 done.stderr)
    done = execute(folder, apart / REGISTRATION)
    checks.equal("nowhere: status", done.returncode, 1)
    for words in (f"{IMPLEMENTATION}: error: the library cannot be loaded",
                  f"it was looked for in {apart} beside the registration library, LD_LIBRARY_PATH (not set)"):
        checks.check(f"nowhere: {words}", words in done.stderr, done.stderr)
    done = execute(folder, "libUdoNoneReg.so", path=other)
    checks.equal("no such name: status", done.returncode, 1)
    checks.check("no such name: path", f"it was looked for in LD_LIBRARY_PATH ({other}) and" in done.stderr, done.stderr)
    (apart / IMPLEMENTATION).write_text("no library")
    done = execute(folder, apart / REGISTRATION, path=other)
    checks.check("what lies beside is taken", done.returncode == 1 and f"{apart}/{IMPLEMENTATION}: error" in done.stderr,
                 done.stderr)


def one_library(checks, folder):
    """Registration and implementation, linked to one library."""
    objects = sorted((folder / "Twice" / "obj").rglob("*.o"))
    both = folder / "libboth.so"
    done = subprocess.run(["c++", "-shared", *objects, "-o", both], capture_output=True, text=True, check=False)
    if checks.check("one: links", done.returncode == 0, done.stderr[-1500:]):
        numbers(checks, "one library", folder, execute(folder, "./libboth.so"))


def every_tensor(checks, folder):
    done = execute(folder, registration(folder / "Twice"), "--debug")
    checks.equal("debug: net-run", (done.returncode, done.stderr), (0, ""))
    expected = {"x.raw": X, "first.raw": tuple(2 * x for x in X), "second.raw": tuple(max(0, 2 * x) for x in X),
                "third.raw": tuple(max(0, 4 * x) for x in X)}
    found = {file.name: struct.unpack("<4f", file.read_bytes()) for file in (folder / "out/Result_0").iterdir()}
    inner = {name: values for name, values in expected.items() if name != "x.raw" or name in found}
    checks.equal("debug: every tensor", found, inner)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prepare(checks, folder)
        for test in (sonames, every_tensor, places, one_library):
            test(checks, folder)
    checks.finish()


main()
