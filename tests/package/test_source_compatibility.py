# SPDX-License-Identifier: Apache-2.0
"""Op sources as users write them for the documented skeletons: they and what is generated compile in each C++ standard with
each compiler, without warnings of ours, with and without a semicolon behind the macros, and compute."""

import concurrent.futures
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import COMPILERS, SDK, generate, make, place, registration, write_kernel  # noqa: E402
from checks import LONG, Checks, leave_out, run  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

STANDARDS = ("c++11", "c++14", "c++17", "c++20")
STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
USERS_OWN = ["-Wno-sign-compare", "-Wno-unused-parameter", "-Wno-unused-variable"]  # what users' sources are left
MACROS = r"(?:QNN_CUSTOM_BE_ENSURE\w*|REGISTER_OP|REGISTER_PACKAGE_OP|INIT_BE_OP_PACKAGE)"
CALL = re.compile(rf"(?m)^([ ]*{MACROS}\((?:[^;\n]|\n)*?\));?$")
KERNELS = sorted((HERE / "kernels").glob("*.cpp"))


def write_package(folder):
    """An op that is written wholly by a user, skeletons with names of all forms, and the kernels that other tests compute."""
    def op(name):
        return {"type": name, "inputs": [{"name": "x"}], "outputs": [{"name": "y"}], "core_types": ["CPU"]}

    survey = {**op("MyCamelOp"), "inputs": [{"name": "x"}, {"name": "w", "static": True}],
              "scalar_params": [{"name": "axis", "data_type": "INT_32"}, {"name": "mode", "data_type": "STRING"}],
              "tensor_params": [{"name": "perm", "data_type": "INT_32"}]}
    ops = [survey, op("my_op"), op("op6"), *(op(kernel.stem) for kernel in KERNELS)]
    config = folder / "survey.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Survey", "Operators": ops}}))
    generate([config], folder)
    package = folder / "Survey"
    place(package, HERE / "survey" / "MyCamelOp.cpp")
    for kernel in KERNELS:
        write_kernel(package, kernel)
    return package


def in_form(package, folder, semicolon):
    """All sources of the package's libraries in one, with the macros in one form; how often these stand there."""
    shutil.copytree(package / "jni/src", folder)
    sources = sorted([*(folder / "CPU").rglob("*.cpp"), *(folder / "reg").rglob("*.cpp"), *(folder / "utils").glob("*.cpp")])
    count = 0
    for source in sources:
        text, found = CALL.subn(r"\1;" if semicolon else r"\1", source.read_text())
        source.write_text(text)
        count += found
    (folder / "all.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
    return count


def standards(checks, package, folder):
    jobs = []
    counts = {form: in_form(package, folder / form, form == "with") for form in ("with", "without")}
    checks.check("there are macros", counts["with"] == counts["without"] > 80, counts)
    for form in counts:
        own = [folder / form / "CPU/src" / part for part in ("", "utils", "utils/CPU")]
        paths = [f"-I{path}" for path in (SDK, SDK / "QNN", SDK / "CustomOp", package / "include/utils", *own)]
        jobs += [(form, [compiler, f"-std={standard}", *STRICT, *USERS_OWN, *paths, folder / form / "all.cpp"])
                 for number, compiler in enumerate(COMPILERS) for standard in STANDARDS
                 if LONG or (number + STANDARDS.index(standard)) % 2 == (form == "with")]
    total = len(counts) * len(COMPILERS) * len(STANDARDS)
    leave_out(total - len(jobs), total, "compilers in each C++ standard, with and without semicolons")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda job: subprocess.run(job[1], capture_output=True, text=True, check=False), jobs)
        for (form, command), result in zip(jobs, done):
            checks.check(f"{command[0]} {command[1]}, {form} semicolons", result.returncode == 0, result.stderr[:1500])


def computes(checks, package, folder):
    """The user's source unchanged, by the generated makefile."""
    done = make(package, "cpu_x86", flags="-O0")
    ours = [line for line in done.stderr.splitlines() if "warning:" in line and "/MyCamelOp.cpp:" not in line]
    checks.equal("compiles unchanged", (done.returncode, ours), (0, []))
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [2, 3, 4])
    m.tensor("w", FLOAT, [4], [1, 2, -3, 0.5])
    m.node("MyCamelOp", ["x", "w"], ["y"], name="n", domain="test", axis=-2, mode="square", perm=[7, 1])
    m.output("y", FLOAT, [2, 3, 4])
    m.save(folder / "m.onnx")
    x = [i / 4 - 3 for i in range(24)]
    (folder / "x.raw").write_bytes(struct.pack("<24f", *x))
    (folder / "list.txt").write_text("x:=x.raw\n")
    done = run("onnx-to-dlc", "-i", "m.onnx", "--udo_config_paths", "survey.json", "-o", "m.dlc", "--io_layout", "model", cwd=folder)
    checks.check("converts", done.returncode == 0, done.stderr)
    done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out", "--udo_package_path",
               registration(package), cwd=folder)
    checks.equal("net-run", (done.returncode, done.stderr), (0, ""))
    result = folder / "out/Result_0/y.raw"
    expected = tuple((1, 2, -3, 0.5)[i % 4] * value * value + 5 for i, value in enumerate(x))
    checks.equal("numbers", struct.unpack("<24f", result.read_bytes()) if result.exists() else None, expected)


QHPI = """<OpDefCollection PackageName="Plug" Domain="" Version="1.0" UseQHPI="true"><OpDefList><OpDef><Name>Copy</Name>
<Input><Name>x</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape></Input>
<Output><Name>y</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape></Output>
<SupportedBackend>HTP</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""
QHPI_BODY = """    const QHPI_Shape in = qhpi_tensor_shape(inputs[0]), out = qhpi_tensor_shape(outputs[0]);
    const float *from = (const float *)qhpi_tensor_raw_data(inputs[0]);
    float *to = (float *)qhpi_tensor_raw_data(outputs[0]);
    if (num_outputs != 1 || num_inputs != 1 || in.dims[in.rank - 1] != out.dims[out.rank - 1])
        return QHPI_ErrorFatal;
    for (uint32_t i = 0; i < out.dims[0]; i++)
        to[i] = from[i];
    (void)handle;
"""


def plugin(checks, folder):
    """An execute function as those that were surveyed."""
    (folder / "plug.xml").write_text(QHPI)
    run("qnn-op-package-generator", "-p", folder / "plug.xml", "-o", folder)
    source = folder / "PlugHtp/src/ops/Copy.cpp"
    before, after = source.read_text().split("    /* Add code here */\n", 1)
    source.write_text(before + QHPI_BODY + after[after.index("    return QHPI_Success;"):])
    for compiler in COMPILERS:
        for standard in ("", "-std=c++20 "):
            make(folder / "PlugHtp", "clean")
            done = make(folder / "PlugHtp", "htp_x86", compiler, standard + "-O0 -Werror")
            checks.check(f"{compiler}: QHPI {standard}", done.returncode == 0, done.stderr[-1500:])


def old_dsp(checks):
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            checks.skip(f"the older C interface with {compiler}", "it is not installed")
            continue
        for standard in ("c11", "c17"):
            command = [compiler, f"-std={standard}", *STRICT, f"-I{SDK}", HERE / "survey" / "old_dsp.c"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            checks.check(f"{compiler} {standard}: the older C interface", done.returncode == 0, done.stderr[:1500])


def main():
    checks = Checks()
    for compiler in ("g++", "clang++"):
        if compiler not in COMPILERS:
            checks.skip(compiler, "it is not installed")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        package = write_package(folder)
        standards(checks, package, folder)
        computes(checks, package, folder)
        plugin(checks, folder)
    old_dsp(checks)
    checks.finish()


main()
