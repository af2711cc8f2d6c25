# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/udo-packages.md, one after another, with the files that its reader has by then; and the numbers that
they come to."""

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
from workshop import make  # noqa: E402
from checks import BUILD, SOURCE, Checks, run  # noqa: E402
from onnx_writer import FLOAT, INT32, Model  # noqa: E402
from session import BLOCK, environment, printed, shell_commands  # noqa: E402

EXAMPLES = SOURCE / "examples"
GUIDE = (SOURCE / "docs" / "udo-packages.md").read_text()
COMMAND = re.compile(r"(?:    (?:\$EDITOR|[a-z][-a-z]*) .*\n(?:        .*\n)*)+")
LIBRARY = "ExampleOps/libs/x86-64_linux_clang/libUdoExampleOpsReg.so"
ELU = """    const double alpha = backend_utils::getScalarParam(operation->getParam("alpha"));
    const float *from = getTensorData<float>(operation->getInput(0));
    for (uint32_t i = 0; i < numTensorSize(operation->getInput(0)); i++)
        getTensorDataRef<float>(operation->getOutput(0))[i] =
            from[i] > 0 ? from[i] : static_cast<float>(alpha * (exp(static_cast<double>(from[i])) - 1));
    return QNN_SUCCESS;
"""


def blocks():
    """The guide's blocks of commands, as a reader types them: with placeholders replaced."""
    prose = BLOCK.sub("", GUIDE)
    found = ["".join(line[4:] for line in block.splitlines(True)) for block in COMMAND.findall(prose)]
    for written, typed in ((",LIB", ""), ("SECONDS", "60"), ("[", ""), ("]", ""), ("LIB", LIBRARY)):
        found = [block if "$(" in block and written == "LIB" else block.replace(written, typed) for block in found]
    return found


def config_of(path, package, op, inputs, **params):
    operands = [{"name": name, "data_type": "FLOAT_32", **more} for name, more in inputs.items()]
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": package, "Operators": [
        {"type": op, "inputs": operands, "outputs": [{"name": "y", "data_type": "FLOAT_32"}], "core_types": ["CPU"],
         "scalar_params": [{"name": name, "data_type": kind, "default_value": 1} for name, kind in params.items()]}]}}))


def model_of(path, op, second=None):
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [2, 3])
    if second:
        m.tensor("dims", INT32, [len(second)], raw=struct.pack(f"<{len(second)}i", *second))
    m.node(op, ["x", "dims"] if second else ["x"], ["y"], name="n", domain="test")
    m.output("y", FLOAT, None if second else [2, 3])
    m.save(path)


# ---- what the reader has before each block


def has_example(work):
    for name in ("ops.json", "example.onnx", "image.raw", "inputs.txt"):
        shutil.copy(EXAMPLES / name, work)


def has_softmax(work):
    config_of(work / "softmax.json", "SoftmaxUdoPackage", "Softmax", {"x": {}})


def has_cmake_lists(work):
    assert run("udo-package-generator", "-p", "ops.json", "-o", ".", "--gen_cmakelists", cwd=work).returncode == 0
    shutil.rmtree(work / "ExampleOps/libs")


def has_model(work):
    shutil.copy(EXAMPLES / "inputs.txt", work)
    shutil.copy(work / "example.dlc", work / "model.dlc")


def has_elu(work):
    config_of(work / "elu.json", "EluOps", "FastElu", {"x": {}}, alpha="FLOAT_32")
    assert run("udo-package-generator", "-p", "elu.json", "-o", ".", cwd=work).returncode == 0
    source = work / "EluOps/jni/src/CPU/src/ops/FastElu.cpp"
    before, rest = source.read_text().split("    /* Add code here */\n    (void)operation;\n    return QNN_SUCCESS;\n", 1)
    source.write_text(before + ELU + rest)
    assert make(work / "EluOps", "cpu_x86").returncode == 0


def has_xml(work):
    operand = "<{0}><Name>{1}</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype>" \
              "<Shape><Rank>2D</Rank></Shape></{0}>"
    (work / "MyOps.xml").write_text(
        '<OpDefCollection PackageName="MyOps" Domain="test" Version="1.0"><OpDefList><OpDef><Name>Mine</Name>'
        + operand.format("Input", "x") + operand.format("Output", "y")
        + "<SupportedBackend>CPU</SupportedBackend></OpDef></OpDefList></OpDefCollection>")
    model_of(work / "model.onnx", "Mine")
    done = run("onnx-to-dlc", "-i", "model.onnx", "--udo_config_paths", "MyOps.xml", "-o", "model.dlc", cwd=work)
    assert done.returncode == 0, done.stderr
    (work / "x.raw").write_bytes(struct.pack("<6f", *range(6)))
    (work / "inputs.txt").write_text("x.raw\n")


def has_refit(work):
    (work / "refit.c").write_text(next(block for _, block in BLOCK.findall(GUIDE) if "RefitShapeInference" in block))
    config_of(work / "ops.json", "Shapes", "Refit", {"x": {}, "dims": {"static": True, "data_type": "INT_32"}})
    model_of(work / "model.onnx", "Refit", [3, 2, 1])


# ---- what comes of it


def scores(checks, work, _):
    operands = [work / name for name in ("example.dlc", "image.raw", "output/Result_0/scores.raw")]
    done = subprocess.run([sys.executable, HERE / "soft_clamp.py", *operands], capture_output=True, text=True, check=False)
    if "No module named 'numpy'" in done.stderr:
        checks.skip("scores", "python3-numpy is not there")
    else:
        checks.equal("scores", (done.returncode, done.stderr), (0, ""))


def has_library(path):
    return lambda checks, work, _: checks.check(path, (work / path).is_file())


def says(word):
    return lambda checks, _, text: checks.check(f"says {word}", word in text, text)


def clears_output(checks, work, _):
    checks.equal("y, as generated", (work / "output/Result_0/y.raw").read_bytes(), bytes(24))


def tells_shape(checks, work, _):
    text = run("dlc-info", "-i", "model.dlc", cwd=work).stdout
    row = [line for line in text.splitlines() if line.startswith("| y ")]
    checks.check("y is 3x2x1", row and row[0].split("|")[2].strip() == "3,2,1", text)


STEPS = [(has_example, scores), (has_softmax, has_library("SoftmaxUdoPackage/libs/x86-64_linux_clang/libUdoSoftmaxUdoPackageReg.so")),
         (has_cmake_lists, has_library(LIBRARY)), (has_model, says("| C ")), (has_elu, says(": 0 findings on ")),
         (has_xml, clears_output), (has_refit, tells_shape), (has_model, scores)]


def walk_through(checks, work):
    env = environment(work)
    (work / "editor").write_text(f'#!/bin/sh\nexec cp "{EXAMPLES}/$(basename "$1")" "$1"\n')
    (work / "editor").chmod(0o755)
    (work / "opendlc.pc").write_text(f"sdkdir={SOURCE}/include/sdk\nName: opendlc\nDescription: as it is installed\nVersion: 1\n"
                                     f"Cflags: -I{SOURCE}/include\nLibs: -L{BUILD} -lopendlc -Wl,-rpath,{BUILD}\n")
    env.update(EDITOR="./editor", PKG_CONFIG_PATH=str(work))
    found = blocks()
    if not checks.equal("blocks of commands", len(found), len(STEPS)):
        return
    for block, (before, after) in zip(found, STEPS):
        missing = next((tool for tool in ("cmake", "pkg-config") if tool in block and not shutil.which(tool)), None)
        if missing:
            checks.skip(block.splitlines()[0], f"{missing} is not installed")
            continue
        if before:
            before(work)
        said = ""
        for command in shell_commands(block):
            status, text = printed(command, work, env)
            said += text
            checks.check(f"{command.splitlines()[0]}: succeeds", status == 0, text)
        after(checks, work, said)


def main():
    checks = Checks()
    if not shutil.which("make") or not (shutil.which("clang++") or shutil.which("c++")):
        checks.skip("the guide", "make or a C++ compiler is not installed")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        walk_through(checks, pathlib.Path(folder))
    checks.finish()


main()
