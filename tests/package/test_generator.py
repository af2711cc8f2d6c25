# SPDX-License-Identifier: Apache-2.0
"""udo-package-generator: the files of the tree, what is kept and what is written anew, names that C++ does not take; all
published configs give packages that compile without edits and without warnings, and run."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import COMPILERS, HOST_LIBS, SDK, generate, make  # noqa: E402
from checks import SHARED, SOURCE, Checks, share_of  # noqa: E402

EXAMPLE = SOURCE / "examples" / "ops.json"
TREE = """Makefile common.mk config/ops.json jni/Android.mk jni/Application.mk
jni/src/CPU/makefiles/Android.mk jni/src/CPU/makefiles/Application.mk
include/utils/IUdoOpDefinition.hpp include/utils/UdoMacros.hpp include/utils/UdoUtil.hpp
jni/src/CPU/Makefile jni/src/CPU/makefiles/Makefile.linux-x86_64
jni/src/CPU/src/CpuCustomOpPackage.cpp jni/src/CPU/src/{P}Interface.cpp
jni/src/CPU/src/utils/BackendUtils.hpp jni/src/CPU/src/utils/CPU/CpuBackendUtils.cpp
jni/src/CPU/src/utils/CPU/CpuBackendUtils.hpp jni/src/CPU/src/utils/CustomOpUtils.hpp
jni/src/DSP_V68/Makefile jni/src/DSP_V68/src/{P}Interface.cpp
jni/src/reg/Makefile jni/src/reg/{P}RegLib.cpp jni/src/utils/UdoUtil.cpp"""


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def config_of(ops, name="Made"):
    return json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": name, "Operators": ops}})


def op_of(name, **more):
    return {"type": name, "inputs": [{"name": "x"}], "outputs": [{"name": "y"}], "core_types": ["CPU"], **more}


def tree(checks, folder):
    done = generate([EXAMPLE], folder)
    checks.equal("status", (done.returncode, done.stderr), (0, ""))
    checks.check("says where", f"package ExampleOps is in {folder}/ExampleOps" in done.stdout, done.stdout)
    expected = sorted(TREE.format(P="ExampleOps").split() +
                      [f"jni/src/{core}/src/ops/SoftClamp.cpp" for core in ("CPU", "DSP_V68")])
    checks.equal("tree", files_of(folder / "ExampleOps"), expected)
    checks.equal("the config", (folder / "ExampleOps/config/ops.json").read_bytes(), EXAMPLE.read_bytes())
    op = (folder / "ExampleOps/jni/src/CPU/src/ops/SoftClamp.cpp").read_text()
    for words in ("Auto Generated Code for ExampleOps", "Add code here", "input 0, x: FLOAT_32, NHWC",
                  "input 1, limit: FLOAT_32, NHWC, static", 'getScalarParam(operation->getParam("sharpness"))',
                  'getStringParam(operation->getParam("mode"))', 'getTensorParam(operation->getParam("axes"))->data',
                  "register_SoftclampCustomOp", "REGISTER_OP(SoftClamp, register_SoftclampCustomOp);"):
        checks.check(f"the op's source has {words}", words in op, op[:1500])


def kept(checks, folder):
    """Edited files stay, missing ones come back; -f writes all anew."""
    generate([EXAMPLE], folder)
    op = folder / "ExampleOps/jni/src/CPU/src/ops/SoftClamp.cpp"
    common = folder / "ExampleOps/common.mk"
    fresh = op.read_text()
    op.write_text("edited")
    common.unlink()
    done = generate([EXAMPLE], folder, "--debug")
    checks.equal("kept: status", done.returncode, 0)
    checks.equal("kept: the edited file", op.read_text(), "edited")
    checks.equal("kept: what is said", [line for line in done.stdout.splitlines() if "package" not in line.split()[0]],
                 [str(common), f"{op} is kept as it is"])
    checks.check("kept: the missing file", common.is_file())
    done = generate([EXAMPLE], folder, "-f")
    checks.equal("forced", (done.returncode, op.read_text()), (0, fresh))


def places(checks, folder):
    """UDO_PACKAGE_PATH, several packages in a config, several configs."""
    two = {f"UdoPackage_{i}": {"UDO_PACKAGE_NAME": name, "Operators": [op_of(name)]} for i, name in enumerate(("One", "Two"))}
    config = folder / "two.json"
    config.write_text(json.dumps(two))
    more = folder / "more.json"
    more.write_text(config_of([op_of("Third")], "Three"))
    done = generate([config, more], folder / "out" / "deep")
    checks.equal("several", (done.returncode, sorted(path.name for path in (folder / "out" / "deep").iterdir())),
                 (0, ["One", "Three", "Two"]))


def names(checks, folder):
    config = folder / "names.json"
    config.write_text(config_of([op_of("Good"), op_of("a-b"), op_of("1st"), op_of("for")]))
    done = generate([config], folder / "names")
    checks.equal("names: status", done.returncode, 1)
    for name in ("a-b", "1st"):
        checks.check(f"names: {name}", f"op type '{name}' cannot be a name in the package's sources" in done.stderr, done.stderr)
    checks.check("names: nothing is written", not (folder / "names").exists())
    done = generate([folder / "none.json"], folder / "none")
    checks.equal("no config", done.returncode, 1)
    done = generate([config], "/proc/nothing")
    checks.equal("no folder can be made", done.returncode, 1)


def operators(checks, folder):
    """No operator of the frameworks gives a namespace that C++ or its headers have for something else."""
    tables = [path.read_text() for path in sorted((SOURCE / "converters").rglob("*.def"))]
    types = sorted({name for table in tables for name in re.findall(r'"([A-Z][A-Za-z0-9]*)"', table)})
    config = folder / "all.json"
    config.write_text(config_of([op_of(name) for name in types]))
    checks.equal("operators: status", generate([config], folder).returncode, 0)
    sources = [(folder / f"Made/jni/src/CPU/src/ops/{name}.cpp").read_text() for name in types]
    found = {name: re.search(r"^namespace (\w+) {$", text, re.M).group(1) for name, text in zip(types, sources)}
    checks.check("operators: in lower case", len(types) > 900 and all(
        space.removesuffix("_op") == name.lower() for name, space in found.items()), found)
    headers = sources[0][:sources[0].index("using namespace")] + "#include <thread>\n#include <unistd.h>\n"
    lines = [f"namespace {space} {{ }}\n" for space in found.values()]
    (folder / "all.cpp").write_text(headers + "".join(lines))
    utils = folder / "Made/jni/src/CPU/src/utils"
    for compiler in COMPILERS:
        done = subprocess.run([compiler, "-std=c++11", "-fsyntax-only", "-I", SDK / "QNN", "-I", SDK / "CustomOp", "-I", utils,
                               "-I", utils / "CPU", folder / "all.cpp"], capture_output=True, text=True, check=False)
        checks.check(f"{compiler}: namespaces of operators", done.returncode == 0, done.stderr[:1500])


def compiles(checks, folder):
    """As generated: with all compilers, without warnings; the second make does nothing."""
    for compiler in COMPILERS:
        generate([EXAMPLE], folder / compiler)
        package = folder / compiler / "ExampleOps"
        for standard in ("", " -std=c++20"):
            done = make(package, "clean") and make(package, "cpu_x86", compiler, "-O0 -Werror" + standard)
            checks.check(f"{compiler}{standard}: compiles", done.returncode == 0, done.stderr[-1500:])
        built = files_of(package / HOST_LIBS)
        checks.equal(f"{compiler}: libraries", built, ["libUdoExampleOpsImplCpu.so", "libUdoExampleOpsReg.so"])
        checks.check(f"{compiler}: up to date", "-c " not in make(package, "all_x86", compiler).stdout)


def missing(checks, folder):
    """Targets say what they need before they start."""
    generate([EXAMPLE], folder)
    package = folder / "ExampleOps"
    for target, words, environment in (
            ("cpu_android", "ANDROID_NDK_ROOT is not set: the folder of the Android NDK", {}),
            ("reg_android", "ANDROID_NDK_ROOT is not set", {}),
            ("gpu", "package ExampleOps has no op for the GPU", {}),
            ("cpu_x86", "SNPE_UDO_ROOT is not set: the folder of the SnpeUdo headers", {"SDK": "vendor"}),
            ("cpu_aarch64-linux", "there is no command no-such-compiler", {"AARCH64_CXX": "no-such-compiler"})):
        done = make(package, target, **environment)
        checks.check(f"{target} {environment}", done.returncode != 0 and words in done.stderr, done.stderr[-600:])


def android(checks, folder):
    """ndk-build is told where the package's files are, and which flags they are compiled with."""
    generate([EXAMPLE], folder)
    package, ndk = folder / "ExampleOps", folder / "ndk"
    ndk.mkdir()
    (ndk / "ndk-build").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (ndk / "ndk-build").chmod(0o755)
    done = make(package, "cpu_android", ANDROID_NDK_ROOT=str(ndk))
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith(("APP_BUILD", "NDK_", "PACKAGE_FLAGS")))
    checks.equal("android: status", (done.returncode, done.stderr), (0, ""))
    scripts = [line.split("=", 1)[1] for line in done.stdout.splitlines() if line.startswith("APP_BUILD_SCRIPT=")]
    expected = [package / "jni/Android.mk", package / "jni/src/CPU/makefiles/Android.mk"]
    checks.equal("android: scripts", scripts, [str(path) for path in expected])
    checks.equal("android: libraries", told["NDK_LIBS_OUT"], str(package / "libs"))
    for flag in ("-std=c++11", "-fvisibility=hidden", f"-I{SDK}/QNN"):
        checks.check(f"android: {flag}", flag in told["PACKAGE_FLAGS"].split(), told["PACKAGE_FLAGS"])


def published(checks, folder):
    """Published configs: each package compiles as generated."""
    configs = sorted((SHARED / "corpus" / "udo-configs").rglob("*.json")) if (SHARED / "corpus" / "udo-configs").is_dir() else []
    configs += sorted((SHARED / "corpus" / "udo-cases").rglob("*.json")) if configs else []
    if not configs:
        checks.skip("published configs", "the corpus is not there")
    for number, config in enumerate(share_of(configs, 5, "published configs")):
        if "UdoPackage" not in config.read_text() and "UDO_PACKAGE_NAME" not in config.read_text():
            continue
        out = folder / str(number)
        done = generate([config], out)
        if not checks.check(f"{config.name}: generates", done.returncode == 0, done.stderr):
            continue
        for package in sorted(out.iterdir()):
            if not (package / "jni/src/CPU").is_dir():
                continue
            done = make(package, "cpu_x86", COMPILERS[number % len(COMPILERS)], "-O0 -Werror")
            checks.check(f"{config.name}: {package.name} compiles", done.returncode == 0, done.stderr[-1500:])


def main():
    checks = Checks()
    for test in (tree, kept, places, names, operators, missing, android, compiles, published):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
