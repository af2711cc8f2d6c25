# SPDX-License-Identifier: Apache-2.0
"""The GPU backend's kernels themselves: which operators have none; compiled for arithmetic in half, which no device at hand has;
and, with ODLC_LONG=1, run by Oclgrind, which sees accesses outside of buffers and races."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, LONG, SOURCE, Checks  # noqa: E402

KERNELS = SOURCE / "src" / "backend" / "gpu" / "kernels"
# Options beside those of types that a file needs.
OPTIONS = {
    "depthwise": "RUN=4 PIXELS=2 FILTER_X=3 FILTER_Y=3",
    "pack": "PANEL=16",
    "panels": "R=4 PANEL=16 VECTOR=8 BIAS",
    "reduce": "GROUP=64",
    "tiles": "ROWS=64 COLUMNS=64 DEPTH=16 R=4 C=4 SLICES=2 LANES=16 X_ALONG=1 X_RUN=4 Y_ALONG=0 Y_RUN=4 OUT_RUN=4 GATHER BIAS",
}
TYPES = [f"{operand}=half" for operand in "XYBOSPQ"]


def operators_are_documented(checks):
    """docs/gpu.md names the operators that the reference has a kernel for, and this backend none."""
    def rows(path, macro):
        return set(re.findall(rf"^{macro}\((\w+),", (SOURCE / "src" / path).read_text(), re.MULTILINE))
    left = re.search(r"^Left to the reference are (.*?), whose", (SOURCE / "docs" / "gpu.md").read_text(), re.MULTILINE).group(1)
    without = sorted(rows("kernel/kernels.def", "KERNEL") - rows("backend/gpu/gpu_ops.def", "GPU_OP"))
    checks.equal("operators without a kernel", re.split(r", | and ", left), without)


def compile_in_half(checks, clang, name, folder):
    text = "".join((KERNELS / part).read_text() for part in ("codes.h", "common.cl", f"{name}.cl"))
    path = folder / f"{name}.cl"
    path.write_text(text)
    all_kernels = sorted(set(re.findall(r"KERNEL_[a-z_]+", text)))
    defines = [f"-D{option}" for option in ["HALF_MATH", *TYPES, *all_kernels, *OPTIONS.get(name, "").split()]]
    done = subprocess.run([clang, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", *defines, "-fsyntax-only",
                           str(path)], capture_output=True, text=True, check=False)
    checks.equal(f"{name} in half", (done.returncode, done.stderr), (0, ""))


def kernels_compile_in_half(checks):
    clang = shutil.which("clang")
    if not clang:
        checks.skip("kernels in half", "clang is not installed")
        return
    names = sorted(path.stem for path in KERNELS.glob("*.cl") if path.stem != "common")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            compile_in_half(checks, clang, name, pathlib.Path(folder))


def oclgrind_finds_nothing(checks):
    """Oclgrind does not know some functions that its compiler makes of others, such as llvm.abs: so it compiles as written."""
    if not LONG:
        return
    if not shutil.which("oclgrind"):
        checks.skip("kernels under Oclgrind", "oclgrind is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        done = subprocess.run(["oclgrind", "--check-api", "--data-races", "--build-options", "-cl-opt-disable", "--log", str(log),
                               str(BUILD / "tests" / "backend" / "test_random_gpu"), "2"],
                              capture_output=True, text=True, check=False,
                              env={key: value for key, value in os.environ.items() if key != "ODLC_LONG"})
        checks.equal("kernels under Oclgrind", done.returncode, 0)
        checks.check("nodes were executed", " 0 failed" in done.stdout, done.stdout[-300:])
        checks.equal("findings of Oclgrind", log.read_text()[:2000], "")


def main():
    checks = Checks()
    operators_are_documented(checks)
    kernels_compile_in_half(checks)
    oclgrind_finds_nothing(checks)
    checks.finish()


main()
