# SPDX-License-Identifier: Apache-2.0
"""Runs the pytest suite of the folder cases on src/python and the library of this build."""

import importlib.util
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, patient  # noqa: E402
from python_library import environment  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def main():
    checks = Checks()
    missing = [name for name in ("numpy", "pytest") if not importlib.util.find_spec(name)]
    if missing:
        checks.skip("the Python package", f"{', '.join(missing)} not installed (python3-numpy, python3-pytest)")
        checks.finish()
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "cases"], capture_output=True, text=True,
                          env=environment(PYTHONPATH=str(SOURCE / "src" / "python")), timeout=patient(60), check=False)
    counted = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", done.stdout)}
    print(done.stdout, done.stderr)
    checks.check("tests were run", counted.get("passed", 0) > 0)
    checks.check("pytest", done.returncode == 0, f"status {done.returncode}")
    checks.finish()


main()
