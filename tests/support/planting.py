# SPDX-License-Identifier: Apache-2.0
"""Bugs in a copy of the sources: what the scripts that plant them have in common."""

import contextlib
import filecmp
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def copy_sources(work):
    """Files that are under version control, or would be. One that is the same keeps its time, which ninja goes by."""
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-coz", "--exclude-standard"], capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        same = (work / name).exists() and filecmp.cmp(SOURCE / name, work / name, shallow=False)
        if not same and (SOURCE / name).exists():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, work / name)


def misplaced(root, file, text):
    """Why the text of that file cannot be replaced, or None: it must be there once."""
    path = root / file
    count = path.read_text().count(text) if path.exists() else 0
    if count == 1:
        return None
    return f"{file} has the text {text!r} {count} times, not once" if path.exists() else f"there is no {file}"


@contextlib.contextmanager
def planted(work, file, text, replacement):
    """The copy with a replaced text, until the end of the block."""
    path = work / file
    whole = path.read_text()
    path.write_text(whole.replace(text, replacement))
    try:
        yield
    finally:
        path.write_text(whole)
