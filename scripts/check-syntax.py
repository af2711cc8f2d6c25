#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has a compiler read sources that another one built, for its warnings, which are errors; nothing is built.
usage: scripts/check-syntax.py BUILD CC FOLDER...   (BUILD is built; the sources below these folders)"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT = ("-I", "-D", "-U", "-std", "-W")  # what decides what a source says, and is warned of


def commands(build, cc, folders):
    """(source, command) of each source once."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(os.path.normpath(build / entry["file"]))
        if any(source.is_relative_to(ROOT / folder) for folder in folders):
            kept = [word for word in shlex.split(entry["command"]) if word.startswith(KEPT)]
            found[source] = [cc, "-fsyntax-only", "-Werror", *kept, "-Wno-unknown-warning-option", str(source)]
    return found


def main():
    build, cc, folders = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    found = commands(build, cc, folders)

    def read(source):
        return subprocess.run(found[source], cwd=build, capture_output=True, text=True, check=False)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [done.stderr for done in pool.map(read, sorted(found)) if done.returncode]
    print("".join(failed), end="", file=sys.stderr)
    print(f"{len(found)} sources read by {cc}, {len(failed)} with warnings")
    sys.exit(bool(failed) or not found)


main()
