# SPDX-License-Identifier: Apache-2.0
"""Packages with a fault each: status and words that name what is at fault, in the command's process and in one of its own,
where what comes behind a fault of an execution is still computed."""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import SDK  # noqa: E402
from checks import Checks, run  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

SOURCE = HERE / "kernels" / "faulty.c"
SOUND = {"API_MAJOR": "API_VERSION_MAJOR", "VERSION": "&version", "GET_VERSION": "SNPE_UDO_NO_ERROR",
         "INIT_REG_NAME": "SnpeUdo_initRegLibrary", "INIT_REG": "SNPE_UDO_NO_ERROR", "GET_INFO_NAME": "SnpeUdo_getRegInfo",
         "TERMINATE_REG_NAME": "SnpeUdo_terminateRegLibrary", "CORE": "SNPE_UDO_CORETYPE_CPU", "LIBRARY": '"libother.so"',
         "REG_OP": '"Twice"', "REG_INPUTS": "1", "INPUT_INFOS": "operands", "REG_OUTPUTS": "1", "REG_PARAMS": "1",
         "REG_PACKAGE": '"Pairs"', "REG_INFO": "&info", "GET_REG_INFO": "SNPE_UDO_NO_ERROR", "CHECK": "SNPE_UDO_NO_ERROR",
         "OP_NAME": '"Twice"', "INIT": "QNN_SUCCESS", "PACKAGE": '"Pairs"', "NAMES": "names", "TOLD": "&i", "INFO": "QNN_SUCCESS",
         "VALIDATE": "QNN_SUCCESS", "EXECUTE": "QNN_SUCCESS", "FUNCTION": "execute", "CREATED": "&impl", "CREATE": "QNN_SUCCESS",
         "LOG": "QNN_SUCCESS", "PROVIDER": "PairsInterfaceProvider", "MAJOR": "1", "MINOR": "4", "CHANGE": "(void)0",
         "PROVIDE": "QNN_SUCCESS"}
GENERAL = "QNN_OP_PACKAGE_ERROR_GENERAL"
FAILED = f"error 3006 ({GENERAL})"
MEMORY = "error 4 (SNPE_UDO_MEM_ALLOC_ERROR)"
OF_OP = ["libfault.so", "node 'twice'", "op Twice", "package Pairs"]
LOADING = ["loading package", "libfault.so", "ended the process: "]
CALLING = ["node 'twice': op Twice of package Pairs, library ", "libfault.so, ended the process: "]
EXPECTED = "op->numOfInputs == {} && op->numOfOutputs == {} && op->numOfParams == {} ? 0 : QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE"

# (what is wrong, words of the message, the macros that are not those of SOUND); of registration libraries.
REGISTRATIONS = [
    ("no init symbol", ["this is no registration library", "SnpeUdo_initRegLibrary"], {"INIT_REG_NAME": "none"}),
    ("no getRegInfo symbol", ["does not export SnpeUdo_getRegInfo"], {"GET_INFO_NAME": "none"}),
    ("no terminate symbol", ["does not export SnpeUdo_terminateRegLibrary"], {"TERMINATE_REG_NAME": "none"}),
    ("registration init fails", ["SnpeUdo_initRegLibrary gives", MEMORY], {"INIT_REG": "SNPE_UDO_MEM_ALLOC_ERROR"}),
    ("getVersion fails", ["SnpeUdo_getVersion gives", MEMORY], {"GET_VERSION": "SNPE_UDO_MEM_ALLOC_ERROR"}),
    ("no version", ["version 0.0.0 of the interface"], {"VERSION": "NULL"}),
    ("a later version", ["version 2.6.0 of the interface, and 1.6.0 is known"], {"API_MAJOR": "2"}),
    ("getRegInfo fails", ["SnpeUdo_getRegInfo gives", MEMORY], {"GET_REG_INFO": "SNPE_UDO_MEM_ALLOC_ERROR"}),
    ("no info", ["does not say the package's name"], {"REG_INFO": "NULL"}),
    ("an empty name", ["does not say the package's name"], {"REG_PACKAGE": '""'}),
    ("an op without a type", ["operation 0", "has no type"], {"REG_OP": "NULL"}),
    ("inputs counted, not listed", ["operation 0", "lists less than it counts"], {"INPUT_INFOS": "NULL"}),
    ("a library without a name", ["implementation library 0", "has no name"], {"LIBRARY": "NULL"}),
    ("no core for the CPU", ["package Others has no implementation for the CPU", "core_types"],
     {"CORE": "SNPE_UDO_CORETYPE_GPU", "REG_PACKAGE": '"Others"'}),
    ("no implementation library", ["libother.so", "cannot be loaded", "beside the registration library", "LD_LIBRARY_PATH"],
     {"PROVIDER": "Other"}),
    ("another package registered", ["implements package Pears, and its registration library is that of Pairs"],
     {"PACKAGE": '"Pears"'}),
    ("another op registered", ["does not implement op Thrice, which the registration library announces"],
     {"REG_OP": '"Thrice"'}),
    ("another package than the model's", ["package Pairs, which implements op Twice, is not loaded"],
     {"PACKAGE": '"Pears"', "REG_PACKAGE": '"Pears"', "PROVIDER": "PearsInterfaceProvider"}),
    ("another op than the model's", ["package Pairs is loaded, and has no op Twice"],
     {"OP_NAME": '"Thrice"', "REG_OP": '"Thrice"'}),
    ("fewer inputs registered", [*OF_OP, "is registered with 0 inputs, and the node has 1"], {"REG_INPUTS": "0"}),
    ("fewer outputs registered", [*OF_OP, "is registered with 0 outputs, and the node has 1"], {"REG_OUTPUTS": "0"}),
    ("fewer params registered", [*OF_OP, "is registered with 0 params, and the node has 1"], {"REG_PARAMS": "0"}),
    ("validateOperation refuses", [*OF_OP, "SnpeUdo_validateOperation", "error 2 (SNPE_UDO_INVALID_ARGUMENT)"],
     {"CHECK": "SNPE_UDO_INVALID_ARGUMENT"}),
    ("validateOperation gives another number", [*OF_OP, "SnpeUdo_validateOperation", "error 150"],
     {"CHECK": "(SnpeUdo_ErrorType_t)150"}),
]
# The same of implementations that are loaded before a node is looked at, ...
IMPLEMENTATIONS = [
    *((f"no {name}", ["libfault.so", f"has no function {name}"], {"CHANGE": f"i->v1_4.{name} = NULL"})
      for name in ("init", "terminate", "getInfo", "validateOpConfig", "createOpImpl", "freeOpImpl")),
    ("another provider", ["libfault.so", "does not export PairsInterfaceProvider"], {"PROVIDER": "Other"}),
    ("provider fails", ["PairsInterfaceProvider of the package gives", FAILED], {"PROVIDE": GENERAL}),
    ("version 2.0", ["version 2.0.0", "not published", "1.4"], {"MAJOR": "2", "MINOR": "0"}),
    ("version 1.3", ["version 1.3.0", "1.4.0 is known"], {"MINOR": "3"}),
    ("logInitialize fails", ["logInitialize of the package gives", FAILED], {"LOG": GENERAL}),
    ("init fails", ["init of the package gives", FAILED], {"INIT": GENERAL}),
    ("getInfo fails", ["getInfo of the package gives", FAILED], {"INFO": GENERAL}),
    ("getInfo gives nothing", ["does not say its name"], {"TOLD": "NULL"}),
    ("no name", ["does not say its name"], {"PACKAGE": "NULL"}),
    ("ops counted, not listed", ["which ops it has"], {"NAMES": "NULL"}),
    ("op without a name", ["op 0 of the package has no name"], {"OP_NAME": "NULL"}),
    # ... and of the op of a node.
    ("validateOpConfig refuses", [*OF_OP, "validateOpConfig", FAILED], {"VALIDATE": GENERAL}),
    ("two inputs wanted", [*OF_OP, "validateOpConfig", "QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE"],
     {"VALIDATE": EXPECTED.format(2, 1, 1)}),
    ("two outputs wanted", [*OF_OP, "validateOpConfig", "QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE"],
     {"VALIDATE": EXPECTED.format(1, 2, 1)}),
    ("two params wanted", [*OF_OP, "validateOpConfig", "QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE"],
     {"VALIDATE": EXPECTED.format(1, 1, 2)}),
    ("createOpImpl fails", [*OF_OP, "createOpImpl", FAILED], {"CREATE": GENERAL}),
    ("nothing is created", [*OF_OP, "gives no implementation"], {"CREATED": "NULL"}),
    ("no function is created", [*OF_OP, "gives no implementation"], {"FUNCTION": "NULL"}),
]
# What ends the process: (name, how, code of an expression).
ENDS = [("segfault", "SIGSEGV", "(*(volatile int *)8 = 0, 0)"), ("abort", "SIGABRT", "(abort(), 0)"),
        ("exit", "it called exit", "(exit(0), 0)"), ("exception", "SIGABRT", "(throw 1, 0)")]
PLACES = [("init", "INIT", LOADING), ("getInfo", "INFO", LOADING), ("validateOpConfig", "VALIDATE", CALLING),
          ("createOpImpl", "CREATE", CALLING), ("execute", "EXECUTE", CALLING)]
REGISTRATION_PLACES = [("SnpeUdo_initRegLibrary", "INIT_REG", LOADING), ("SnpeUdo_getRegInfo", "GET_REG_INFO", LOADING),
                       ("SnpeUdo_validateOperation", "CHECK", CALLING)]


def prepare(checks, folder):
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [4])
    m.node("Twice", ["x"], ["t"], name="twice", domain="test", n=3)
    m.node("Relu", ["t"], ["y"], name="relu")
    m.output("y", FLOAT, [4])
    m.save(folder / "m.onnx")
    op = {"type": "Twice", "inputs": [{"name": "x", "data_type": "FLOAT_32"}], "core_types": ["CPU"],
          "outputs": [{"name": "y", "data_type": "FLOAT_32", "shape": "same_as in0"}], "scalar_params": [{"name": "n", "data_type": "INT_32"}]}
    (folder / "ops.json").write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Pairs", "Operators": [op]}}))
    done = run("onnx-to-dlc", "-i", "m.onnx", "--udo_config_paths", "ops.json", "-o", "m.dlc", cwd=folder)
    checks.equal("conversion", done.returncode, 0)
    for i, first in enumerate((0.5, 9, 0.25, -1)):
        (folder / f"x{i}.raw").write_bytes(struct.pack("<4f", first, 1, -2, i))
    (folder / "list.txt").write_text("".join(f"x:=x{i}.raw\n" for i in range(4)))


def build(checks, folder, label, parts, changed):
    thrown = any("throw" in value for value in changed.values())
    compiler = ["c++", "-x", "c++"] if thrown else ["cc"]
    macros = [f"-D{name}={value}" for name, value in {**SOUND, **changed}.items()]
    done = subprocess.run([*compiler, "-shared", "-fPIC", "-I", SDK, "-I", SDK / "QNN", *(f"-D{part}" for part in parts), *macros,
                           SOURCE, "-o", folder / "libfault.so"], check=False, capture_output=True, text=True)
    return checks.check(f"{label}: compiles", done.returncode == 0, done.stderr)


def execute(folder, by_registration, *options):
    """net-run's end, and the results that there are."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    package = ["--udo_package_path", "./libfault.so"] if by_registration else \
        ["--op_packages", "./libfault.so:PairsInterfaceProvider"]
    done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out", "--jobs", "1", *package,
               *options, cwd=folder)
    files = {i: folder / "out" / f"Result_{i}" / "y.raw" for i in range(4)}
    return done, {i: struct.unpack("<4f", file.read_bytes()) for i, file in files.items() if file.exists()}


def results(*indices):
    """Of these inferences, y = relu(2 x)."""
    firsts = (0.5, 9, 0.25, -1)
    return {i: tuple(max(0.0, 2.0 * x) for x in (firsts[i], 1, -2, i)) for i in indices}


def fault(checks, folder, label, words, changed, by_registration=False, status=1, at_work=False):
    """at_work: it is a fault of the second inference alone."""
    parts = ["REGISTERS", "IMPLEMENTS"] if by_registration else ["IMPLEMENTS"]
    if not build(checks, folder, label, parts, changed):
        return
    done, found = execute(folder, by_registration)
    isolated, others = execute(folder, by_registration, "--isolate")
    checks.equal(f"{label}: status", (done.returncode, isolated.returncode), (status, 1))
    checks.equal(f"{label}: results", (found, others), (results(0) if at_work else {}, results(0, 2, 3) if at_work else {}))
    for word in words:
        checks.check(f"{label}: '{word}'", word in done.stderr, done.stderr)
        checks.check(f"{label}, isolated: '{word}'", word in isolated.stderr, isolated.stderr)
    said = "inference 1 has no results" in isolated.stderr and "list.txt:2" in isolated.stderr
    checks.equal(f"{label}: which inference", said, at_work)


def sound(checks, folder):
    for by_registration, parts in ((True, ["REGISTERS", "IMPLEMENTS"]), (False, ["IMPLEMENTS"])):
        for changed in ({}, {"PACKAGE": '"PairsCpu"'}, {"VALIDATE": EXPECTED.format(1, 1, 1)}):
            build(checks, folder, "sound", parts, changed)
            done, found = execute(folder, by_registration)
            checks.equal(f"sound {changed}", (done.returncode, done.stderr), (0, ""))
            checks.equal(f"sound {changed}: results", {i: found.get(i) for i in (0, 2, 3)}, results(0, 2, 3))


def refused(checks, folder):
    checks.check("30 packages at least", len(REGISTRATIONS) + len(IMPLEMENTATIONS) >= 30)
    for label, words, changed in REGISTRATIONS:
        fault(checks, folder, label, words, changed, by_registration=True)
    for label, words, changed in IMPLEMENTATIONS:
        fault(checks, folder, label, words, changed)


def at_work(checks, folder):
    for label, code, words in (("execute fails", GENERAL, ["execute", FAILED]), ("a number without a name", "77", ["error 77"])):
        fault(checks, folder, label, [*OF_OP, *words], {"EXECUTE": code}, at_work=True)


def ends(checks, folder):
    for name, how, code in ENDS:
        for place, macro, words in PLACES:
            fault(checks, folder, f"{name} in {place}", [*words, how], {macro: code}, status=70, at_work=place == "execute")
        for place, macro, words in REGISTRATION_PLACES:
            fault(checks, folder, f"{name} in {place}", [*words, how], {macro: f"(SnpeUdo_ErrorType_t){code}"},
                  by_registration=True, status=70)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prepare(checks, folder)
        for test in (sound, refused, at_work, ends):
            test(checks, folder)
    checks.finish()


main()
