# SPDX-License-Identifier: Apache-2.0
"""Runs the pytest suite of the folder cases on src/python and the library of this build."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, SOURCE, Checks, patient  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def sanitizer():
    """The runtime that has to be there before Python loads a library with sanitizers; None: it has none."""
    needed = subprocess.run(["readelf", "-d", BUILD / "libopendlc.so.0"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\[(lib[at]san\.so\.\d+)\]", needed)
    if found:
        return subprocess.run(["cc", f"-print-file-name={found[1]}"], capture_output=True, text=True, check=True).stdout.strip()
    return None


def environment():
    preloaded = sanitizer()
    return {**os.environ, "OPENDLC_LIBRARY": str(BUILD / "libopendlc.so.0"), "PYTHONPATH": str(SOURCE / "src" / "python"),
            "PYTHONDONTWRITEBYTECODE": "1", **({"LD_PRELOAD": preloaded, "ASAN_OPTIONS": "detect_leaks=0"} if preloaded else {})}


def main():
    checks = Checks()
    missing = [name for name in ("numpy", "pytest") if not importlib.util.find_spec(name)]
    if missing:
        checks.skip("the Python package", f"{', '.join(missing)} not installed (python3-numpy, python3-pytest)")
        checks.finish()
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "cases"], capture_output=True, text=True,
                          env=environment(), timeout=patient(60), check=False)
    counted = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", done.stdout)}
    print(done.stdout, done.stderr)
    checks.check("tests were run", counted.get("passed", 0) > 0)
    checks.check("pytest", done.returncode == 0, f"status {done.returncode}")
    checks.finish()


main()
