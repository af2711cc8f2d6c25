# SPDX-License-Identifier: Apache-2.0
"""Packages that tests generate, fill in and compile as a user does."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / room) for room in ("support", "tools")]
import schema  # noqa: E402
from checks import BUILD, SOURCE, run  # noqa: E402

SDK = SOURCE / "include" / "sdk"
C_COMPILERS = {"g++": "gcc", "clang++": "clang"}
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
HOST_LIBS = "libs/x86-64_linux_clang"
EXECUTE = """    /* Add code here */
    (void)operation;
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t finalize"""


def generate(configs, folder, *options, **more):
    return run("udo-package-generator", "-p", *configs, "-o", folder, *options, **more)


def fill_in(package, op, body):
    """The body of execute in the op's source, as a user writes it."""
    path = package / f"jni/src/CPU/src/ops/{op}.cpp"
    text = path.read_text()
    assert text.count(EXECUTE) == 1, path
    path.write_text(text.replace(EXECUTE, body.rstrip() + "\n    return QNN_SUCCESS;\n}\n\nQnn_ErrorHandle_t finalize"))


def write_kernel(package, source):
    """A file of tests/package/kernels in the place of the generated functions that it has: execute, or in C all three."""
    path = package / f"jni/src/CPU/src/ops/{source.name}"
    kernel, text = source.read_text(), path.read_text()
    ends = ["\nQnn_ErrorHandle_t finalize", "\n/* Called once"]
    if "_free(" in kernel:
        ends = ["\nstatic const CustomOpParamInfo", "\nconst CustomOpRegistration"]
    end = next(end for end in ends if end in text)
    before, rest = text.split("/* Computes the outputs.", 1)
    path.write_text(before + kernel + end + rest.split(end, 1)[1])


def place(package, source):
    """The op's source that a user wrote, in the place of the generated one."""
    to = package / "jni/src/CPU/src/ops" / source.name
    assert to.is_file(), to
    shutil.copy(source, to)


def make(package, targets, compiler=COMPILERS[0], flags="-O0 -Werror", **environment):
    """Targets, and variables as a user gives them: "cpu_x86 SDK=vendor". What packages have in common is compiled once where all take the
    same flags (tests/meson.build)."""
    env = {**{name: value for name, value in os.environ.items() if not name.startswith(("LD_PRELOAD", "ASAN_"))},
           "ODLC_SDK_ROOT": str(SDK), "X86_CXX": compiler, "CXXFLAGS": flags,
           "X86_CC": C_COMPILERS.get(compiler, compiler), "CFLAGS": flags,
           "ODLC_CFLAGS": f"-I{SOURCE}/include", "ODLC_LIBS": f"-L{BUILD} -lopendlc -Wl,-rpath,{BUILD}", **environment}
    return subprocess.run(["make", "-j2", "-C", package, *targets.split()], capture_output=True, text=True, env=env, check=False)


def checked_report(text):
    """What udo-check --json prints, which must fit its schema."""
    report = json.loads(text)
    found = schema.faults(report, json.loads((SOURCE / "docs" / "udo-check.schema.json").read_text()))
    assert not found, found
    return report


def registration(package):
    return package / HOST_LIBS / f"libUdo{package.name}Reg.so"


def stand_in(path):
    """A compiler that notes its arguments, and makes the file that it is to make."""
    path.parent.mkdir(parents=True)
    path.write_text('#!/bin/sh\necho "$0 $*"\nwhile [ $# -gt 1 ]; do [ "$1" = -o ] && : > "$2"; shift; done\n')
    path.chmod(0o755)
