# SPDX-License-Identifier: Apache-2.0
"""The wheel is built by Debian's setuptools and installed in a fresh environment with the system's packages, where it converts."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, LONG, SOURCE, Checks, patient  # noqa: E402
from python_library import environment  # noqa: E402

USE = """
import opendlc, sys
made = opendlc.convert(sys.argv[1])
print(opendlc.__file__, opendlc.__version__, made.summary["ops"])
"""


def run(*command, **more):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=patient(60), check=False, **more)


def check_wheel(checks, folder):
    # pip builds where the sources are: that must not be in the repository.
    for name in ("src/python", "include/opendlc"):
        shutil.copytree(SOURCE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    python = folder / "venv" / "bin" / "python3"
    run(sys.executable, "-m", "venv", "--system-site-packages", folder / "venv")
    installed = run(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", folder / "src" / "python")
    checks.check("the wheel is built and installed", installed.returncode == 0, installed.stdout + installed.stderr)
    used = run(python, "-c", USE, SOURCE / "examples" / "digits" / "digits.onnx", cwd=folder,
               env=environment())
    version = run(BUILD / "src" / "tools" / "dlc-info", "--version").stdout.split()[-1]
    checks.check("it converts", used.stdout.split()[1:] == [version, "20"], used.stdout + used.stderr)
    checks.check("it is the installed one", str(folder / "venv") in used.stdout, used.stdout)
    files = run(python, "-m", "pip", "show", "-f", "opendlc").stdout
    checks.check("it has its types and its version", "opendlc/py.typed" in files and f"Version: {version}" in files, files)


def main():
    checks = Checks()
    missing = [name for name in ("numpy", "pip", "setuptools", "venv", "wheel") if not importlib.util.find_spec(name)]
    if missing:
        checks.skip("the wheel", f"{', '.join(missing)} not installed (python3-pip, python3-venv, python3-setuptools, python3-wheel)")
    elif not LONG:
        checks.skip("the wheel", "ODLC_LONG=1 builds and installs it")
    else:
        with tempfile.TemporaryDirectory() as folder:
            check_wheel(checks, pathlib.Path(folder))
    checks.finish()


main()
