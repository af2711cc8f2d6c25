# SPDX-License-Identifier: Apache-2.0
"""udo-package-generator --language c: the files of the tree; packages of all published configs compile strictly with each
compiler, and register what their configs say; the README's op has a kernel, and gives numbers computed by hand."""

import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from workshop import HOST_LIBS, SDK, generate, make, registration  # noqa: E402
from checks import LONG, SHARED, SOURCE, Checks, run, share_of  # noqa: E402
from dlc_reader import read_container  # noqa: E402

EXAMPLES = SOURCE / "examples"
STRICT = "-O1 -Wpedantic -Werror"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
TREE = """Makefile common.mk config/ops.json jni/Android.mk jni/Application.mk include/utils/UdoMacros.h
jni/src/CPU/Makefile jni/src/CPU/makefiles/Android.mk jni/src/CPU/makefiles/Application.mk
jni/src/CPU/makefiles/Makefile.linux-x86_64 jni/src/CPU/src/ExampleOpsInterface.c jni/src/CPU/src/ops/SoftClamp.c
jni/src/CPU/src/utils/CustomOpUtils.c jni/src/CPU/src/utils/CustomOpUtils.h
jni/src/DSP_V68/Makefile jni/src/DSP_V68/src/ExampleOpsInterface.cpp jni/src/DSP_V68/src/ops/SoftClamp.cpp
jni/src/reg/Makefile jni/src/reg/ExampleOpsRegLib.c"""
STUB = "    /* Add code here */\n    (void)op;\n    return QNN_SUCCESS;\n"
KERNEL = """    const CustomOpTensor *x = customOpInput(op, 0);
    const int32_t *axes = customOpTensor(op, "axes")->data;
    const double sharpness = customOpScalar(op, "sharpness");
    CUSTOM_OP_ENSURE(strcmp(customOpString(op, "mode"), "smooth") == 0, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT);
    CUSTOM_OP_ENSURE(axes[0] == 2 && axes[1] == 3, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT);
    CUSTOM_OP_ENSURE(!customOpInput(op, 2) && !customOpParam(op, "Mode") && !customOpString(op, "axes") &&
                     isnan(customOpScalar(op, "mode")), QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT);
    const float *in = x->data, *limit = customOpInput(op, 1)->data;
    float *out = customOpOutput(op, 0)->data;
    const uint32_t channels = x->currentDimensions[x->rank - 1];
    for (uint64_t i = 0; i < customOpCount(x); i++)
        out[i] = (float)((double)limit[i % channels] * tanh(sharpness * (double)in[i]));
    return QNN_SUCCESS;
"""


def without_cxx(package, target, compiler, **more):
    """Of a machine that has no C++ compiler."""
    return make(package, target, flags=STRICT, **{"X86_CXX": "no-such-compiler", "CXX": "no-such-compiler", "X86_CC": compiler,
                                                  **more})


def floats(path):
    return [value for value, in struct.iter_unpack("<f", path.read_bytes())]


def tree(checks, folder):
    done = generate([EXAMPLES / "ops.json"], folder, "--language", "c")
    checks.equal("tree: status", (done.returncode, done.stderr), (0, ""))
    package = folder / "ExampleOps"
    found = sorted(str(path.relative_to(package)) for path in package.rglob("*") if path.is_file())
    checks.equal("tree: files", found, sorted(TREE.split()))
    text = (package / "jni/src/CPU/src/ops/SoftClamp.c").read_text()
    for words in ("input 0, x: FLOAT_32, NHWC", "input 1, limit: FLOAT_32, NHWC, static", 'customOpScalar(op, "sharpness")',
                  'customOpString(op, "mode")', 'customOpTensor(op, "axes")->data', "softclamp_execute(CustomOp *op)",
                  "softclamp_finalize(CustomOp *op)", "softclamp_free(CustomOp *op)"):
        checks.check(f"tree: {words}", words in text, text)
    generate([EXAMPLES / "ops.json"], folder / "cpp")
    generate([EXAMPLES / "ops.json"], folder / "said", "--language", "cpp")
    checks.check("tree: C++ is what is written without the option", all(
        path.read_bytes() == (folder / "said" / path.relative_to(folder / "cpp")).read_bytes()
        for path in (folder / "cpp").rglob("*") if path.is_file()))


def unknown(checks, folder):
    done = generate([EXAMPLES / "ops.json"], folder / "none", "--language", "cobol")
    checks.check("unknown language", done.returncode == 2 and "'cobol'" in done.stderr, (done.returncode, done.stderr))
    checks.check("unknown language: nothing written", not (folder / "none").exists())


def kernel(checks, folder):
    container = folder / "example.dlc"
    run("onnx-to-dlc", "-i", "example.onnx", "--udo_config_paths", "ops.json", "-o", container, cwd=EXAMPLES)
    limit = struct.unpack("<8f", read_container(container).tensors["clamp/limit.nhwc"].data)
    for compiler in COMPILERS:
        package = folder / compiler / "ExampleOps"
        generate([EXAMPLES / "ops.json"], folder / compiler, "--language", "c")
        source = package / "jni/src/CPU/src/ops/SoftClamp.c"
        source.write_text(source.read_text().replace(STUB, KERNEL, 1))
        done = without_cxx(package, "all_x86", compiler)
        if not checks.check(f"{compiler}: compiles", done.returncode == 0, done.stderr[-1500:]):
            continue
        checks.check(f"{compiler}: up to date", "-c " not in without_cxx(package, "cpu_x86", compiler).stdout)
        out = folder / f"out-{compiler}"
        done = run("net-run", "--container", container, "--input_list", "inputs.txt", "--output_dir", out,
                   "--udo_package_path", registration(package), "--set_output_tensors", "features,clamped", cwd=EXAMPLES)
        if not checks.equal(f"{compiler}: net-run", (done.returncode, done.stderr), (0, "")):
            continue
        x, y = (floats(out / f"Result_0/{name}.raw") for name in ("features", "clamped"))
        worst = max(abs(b - limit[i % 8] * math.tanh(4.0 * a)) for i, (a, b) in enumerate(zip(x, y)))
        checks.check(f"{compiler}: numbers", len(x) == len(y) > 0 and any(y) and worst <= 1e-6, worst)


def targets(checks, folder):
    """What each target needs of compilers."""
    generate([EXAMPLES / "ops.json"], folder, "--language", "c")
    package = folder / "ExampleOps"
    done = make(package, "cpu_x86", X86_CC="no-such-compiler")
    checks.check("no C compiler", done.returncode != 0 and "there is no command no-such-compiler" in done.stderr, done.stderr)
    done = without_cxx(package, "reg_x86", COMPILERS[0])
    built = sorted(path.name for path in (package / HOST_LIBS).iterdir())
    checks.equal("reg_x86", (done.returncode, built), (0, ["libUdoExampleOpsReg.so"]))
    done = without_cxx(package, "dsp_x86", COMPILERS[0], QNN_SDK_ROOT=str(folder))
    checks.check("the DSP's part is C++", done.returncode != 0 and "no command no-such-compiler" in done.stderr, done.stderr)


def android(checks, folder):
    """What ndk-build is given, by a script in its place."""
    generate([EXAMPLES / "ops.json"], folder, "--language", "c")
    (folder / "ndk-build").write_text('#!/bin/sh\nfor word; do echo "given: $word"; done\n')
    (folder / "ndk-build").chmod(0o755)
    done = without_cxx(folder / "ExampleOps", "cpu_android", COMPILERS[0], ANDROID_NDK_ROOT=str(folder))
    given = [line for line in done.stdout.splitlines() if line.startswith("given: PACKAGE_C_FLAGS=-std=c11")]
    checks.check("android: flags of C for both libraries", done.returncode == 0 and len(given) == 2, done.stdout + done.stderr)
    for path, source in (("jni", "src/reg/ExampleOpsRegLib.c"), ("jni/src/CPU/makefiles", "ops/*.c")):
        text = (folder / "ExampleOps" / path / "Android.mk").read_text()
        checks.check(f"android: {path}", source in text and ".cpp" not in text and "LOCAL_CFLAGS := $(PACKAGE_C_FLAGS)" in text,
                     text)


def cmake(checks, folder):
    if not shutil.which("cmake"):
        return checks.skip("cmake", "there is no cmake")
    generate([EXAMPLES / "ops.json"], folder, "--language", "c", "--gen_cmakelists")
    environment = {**os.environ, "CXX": "no-such-compiler"}
    for command in (["-S", folder / "ExampleOps", "-B", folder / "build", f"-DODLC_SDK_ROOT={SDK}", "-DCMAKE_C_FLAGS=-Werror"],
                    ["--build", folder / "build"]):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False, env=environment)
        checks.check(f"cmake {command[0]}", done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:])
    libraries = sorted(path.name for path in (folder / "ExampleOps" / HOST_LIBS).iterdir())
    checks.equal("cmake: libraries", libraries, ["libUdoExampleOpsImplCpu.so", "libUdoExampleOpsReg.so"])


def registers(checks, label, config, package):
    """What the library tells is what the config says; kernels of skeletons run, and write nothing."""
    done = run("udo-check", config, "--udo_package_path", registration(package), "--json")
    report = json.loads(done.stdout) if done.stdout else {}
    ops = {op["type"]: sorted({found["code"] for found in op["findings"]}) for op in report.get("kernels", ())}
    found = {line["code"] for line in map(json.loads, done.stderr.splitlines()) if line["severity"] == "error"}
    checks.check(f"{label}: registers and runs",
                 ops and found <= {"kernel-output-unwritten", "kernel-untried", "package-undescribed"} and
                 all(codes in (["kernel-output-unwritten"], ["kernel-untried"]) for codes in ops.values()),
                 (ops, found, done.stderr[-600:]))


def published(checks, folder):
    configs = [path for name in ("udo-configs", "udo-cases") for path in sorted((SHARED / "corpus" / name).rglob("*"))
               if path.suffix in (".json", ".xml")]
    if not configs:
        return checks.skip("published configs", "the corpus is not there")
    compiled = 0
    for number, config in enumerate(share_of(configs, 3, "configs")):
        label, out = config.name, folder / str(number)
        done = generate([config], out, "--language", "c")
        if not checks.check(f"{label}: generates", done.returncode == 0, done.stderr):
            continue
        for package in sorted(path for path in out.iterdir() if (path / "jni/src/CPU").is_dir()):
            for compiler in COMPILERS if LONG else [COMPILERS[number % len(COMPILERS)]]:
                without_cxx(package, "clean", compiler)
                done = without_cxx(package, "all_x86", compiler)
                checks.check(f"{label}: {package.name}, {compiler}", done.returncode == 0, done.stderr[-1500:])
            registers(checks, f"{label}: {package.name}", config, package)
            compiled += 1
    checks.check("there are packages for the CPU", compiled > 2, compiled)


def main():
    checks = Checks()
    for name in ("gcc", "clang"):
        if name not in COMPILERS:
            checks.skip(name, "it is not installed")
    for test in (tree, unknown, kernel, targets, android, cmake, published) if COMPILERS else (tree, unknown):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
