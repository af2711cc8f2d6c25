# SPDX-License-Identifier: Apache-2.0
"""Sessions that documentation shows: their commands, run one after another as a reader types them, and what they print."""

import os
import pathlib
import re
import subprocess
import sys

from checks import BUILD, COMMAND_FOLDERS, SOURCE

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FRACTION = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")
HERE_DOCUMENT = re.compile(r"<<'(\w+)'")
NEAR = 1e-5


def console_commands(block):
    """(command, lines that it prints) of text whose commands stand behind "$ "."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shell_commands(block):
    """The commands of a script, each with its continued lines and the text that it is given."""
    found, end, goes_on = [], None, False
    for line in block.splitlines():
        if not goes_on:
            found.append("")
        found[-1] += line + "\n"
        document = HERE_DOCUMENT.search(line)
        if end is not None:
            end = None if line == end else end
        elif document:
            end = document.group(1)
        goes_on = end is not None or line.endswith("\\")
    return found


def environment(folder):
    """The built commands, the headers of packages, and as python3 the one that runs this."""
    binaries = pathlib.Path(folder) / "bin"
    binaries.mkdir()
    (binaries / "python3").symlink_to(sys.executable)
    places = [binaries, *(BUILD / room for room in sorted(set(COMMAND_FOLDERS.values())))]
    return {**os.environ, "PATH": os.pathsep.join([*map(str, places), os.environ["PATH"]]), "OPENDLC": str(SOURCE),
            "ODLC_SDK_ROOT": str(SOURCE / "include/sdk")}


def printed(command, cwd, env):
    """(status, what it prints, whatever the stream) of a command line."""
    done = subprocess.run(["sh", "-c", command], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.returncode, done.stdout.rstrip("\n")


def same(found, expected):
    """Equal lines, but for the last digits of fractions, which depend on the processor's mathematical functions."""
    if FRACTION.sub("#", found).split() != FRACTION.sub("#", expected).split():
        return False
    pairs = zip(FRACTION.findall(found), FRACTION.findall(expected))
    return all(abs(float(a) - float(b)) <= NEAR * max(1e-3, abs(float(b))) for a, b in pairs)
