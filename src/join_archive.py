#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one static library of those of the rooms, in which only the names that a version script exports can be seen.
usage: join_archive.py OUT.a EXPORTED.map AR OBJCOPY ROOM.a... -- LINKER [ARG...]

A static library has no version script: whatever several of its objects share is a name that its users could collide with. So all
objects become one by a partial link, after which what they share may be local."""

import pathlib
import re
import subprocess
import sys


def exported(version_script):
    """The patterns of the section `global`."""
    text = re.sub(r"/\*.*?\*/", "", version_script.read_text(), flags=re.DOTALL)
    return re.findall(r"[\w*]+(?=;)", text.split("global:", 1)[1].split("local:", 1)[0])


def main():
    split = sys.argv.index("--")
    out, version_script, ar, objcopy, *rooms = sys.argv[1:split]
    out = pathlib.Path(out)
    joined = out.with_suffix(".o")
    subprocess.run([*sys.argv[split + 1:], "-o", joined, "-Wl,--whole-archive", *rooms, "-Wl,--no-whole-archive"], check=True)
    keep = [f"--keep-global-symbol={name}" for name in exported(pathlib.Path(version_script))]
    subprocess.run([objcopy, "--wildcard", "--localize-hidden", *keep, joined], check=True)
    out.unlink(missing_ok=True)  # what is in an archive stays there
    subprocess.run([ar, "rcsD", out, joined], check=True)
    joined.unlink()


main()
