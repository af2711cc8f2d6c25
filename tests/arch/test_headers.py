# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone, as C11, and the public ones as C++ too; and what asks for backends as it is without them.
usage: test_headers.py CC [ARG...]"""

import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, SOURCE, Checks  # noqa: E402

STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
INTERNAL = ["-D_GNU_SOURCE", f"-I{SOURCE}", f"-I{SOURCE}/include", f"-I{SOURCE}/src", f"-I{BUILD}"]


def compiles(checks, label, command, header):
    # Included twice, so that a missing include guard shows.
    text = f'#include "{header}"\n#include "{header}"\ntypedef int not_empty;\n'
    done = subprocess.run(command + ["-"], input=text, capture_output=True, text=True, check=False)
    checks.check(label, done.returncode == 0, done.stderr)


def compile_without_backends(checks, cc):
    for path in sorted((SOURCE / "src" / "api").glob("*.c")):
        if "ODLC_BACKEND_" not in path.read_text():
            continue
        done = subprocess.run([*cc, "-xc", "-std=c11", *STRICT, *INTERNAL, str(path)], capture_output=True, text=True, check=False)
        checks.check(f"{path.name} without backends", done.returncode == 0, done.stderr)


def main():
    checks = Checks()
    cc = sys.argv[1:] or ["cc"]
    cxx = shutil.which("g++") or shutil.which("clang++")
    for header in sorted((SOURCE / "include" / "opendlc").glob("*.h")):
        public = [f"-I{SOURCE}/include"]
        name = f"opendlc/{header.name}"
        compiles(checks, f"{name} as C11", cc + ["-xc", "-std=c11"] + STRICT + public, name)
        if cxx:
            compiles(checks, f"{name} as C++11", [cxx, "-xc++", "-std=c++11"] + STRICT + public, name)
        else:
            checks.skip(f"{name} as C++11", "there is no C++ compiler")
    packages = [f"-I{SOURCE}/include/sdk/QNN", f"-I{SOURCE}/include/sdk"]
    for compiler, language in (("gcc", "c11"), ("clang", "c11"), ("g++", "c++11"), ("g++", "c++20"), ("clang++", "c++11"),
                               ("clang++", "c++20")):
        if not shutil.which(compiler):
            checks.skip(f"headers of packages as {language}, {compiler}", "it is not installed")
            continue
        command = [compiler, "-xc++" if "++" in language else "-xc", f"-std={language}", *STRICT, *packages]
        for header in sorted((SOURCE / "include" / "sdk").rglob("*.h")):
            compiles(checks, f"{header.name} as {language}, {compiler}", command, header)
    for folder in ("src", "converters"):
        for header in sorted((SOURCE / folder).rglob("*.h")):
            name = header.relative_to(SOURCE).as_posix()
            compiles(checks, f"{name} alone", cc + ["-xc", "-std=c11"] + STRICT + INTERNAL, name)
    compile_without_backends(checks, cc)
    checks.finish()


main()
