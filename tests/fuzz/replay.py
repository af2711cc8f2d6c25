#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tries what was found once (tests/regressions) and the seeds of a fuzz target, without an engine: replay.py TARGET"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    target = pathlib.Path(sys.argv[1])
    found = HERE.parent / "regressions" / target.name
    with tempfile.TemporaryDirectory(prefix="seeds") as seeds:
        subprocess.run([sys.executable, HERE / "make_seeds.py", target.name, seeds], check=True)
        sys.exit(subprocess.run([target, *[found] * found.exists(), seeds], check=False).returncode)


main()
