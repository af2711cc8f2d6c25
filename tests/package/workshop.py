"""Packages that tests generate, fill in and compile as a user does."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, run  # noqa: E402

SDK = SOURCE / "include" / "sdk"
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


def make(package, target, compiler=COMPILERS[0], flags="-O1 -Werror", **environment):
    env = {**{name: value for name, value in os.environ.items() if not name.startswith(("LD_PRELOAD", "ASAN_"))},
           "ODLC_SDK_ROOT": str(SDK), "X86_CXX": compiler, "CXXFLAGS": flags, **environment}
    return subprocess.run(["make", "-C", package, target], capture_output=True, text=True, env=env, check=False)


def registration(package):
    return package / HOST_LIBS / f"libUdo{package.name}Reg.so"
