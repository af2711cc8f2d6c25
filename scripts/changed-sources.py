#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the product's sources that a change can make a difference to, one a line: those that differ from the last landed
commit, and those that were built with a header or a table that does.
usage: scripts/changed-sources.py BUILD   (BUILD is built: ninja knows there what each source includes)

The last landed commit is ODLC_BASE, or where the branch left origin's default branch, origin/main or main; on that branch
itself the one before. All sources are printed when none of these is there, and when what all of them depend on has changed.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("src", "converters")
# What every analysis depends on: the checks, the options, the schemas.
EVERYTHING = re.compile(r"^(\.clang-tidy|scripts/(analyze\.sh|changed-sources\.py)|meson.*|proto/.*)$")
TRUNKS = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


def git(*arguments):
    """What git prints, or None."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def landed():
    """The last landed commit, or None."""
    if os.environ.get("ODLC_BASE"):
        return git("rev-parse", "--verify", os.environ["ODLC_BASE"] + "^{commit}")
    head = git("rev-parse", "HEAD")
    for trunk in TRUNKS:
        base = git("merge-base", "HEAD", trunk)
        if base:
            return git("rev-parse", "--verify", "HEAD^1") if base == head else base
    return None


def changed_files(base):
    """Paths from the root on, with what is not committed yet."""
    return set((git("diff", "--name-only", base) or "").splitlines()) | set(
        (git("ls-files", "--others", "--exclude-standard") or "").splitlines())


def readers(build):
    """{source: paths that were read to build it}"""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found = {}
    for block in re.split(r"\n(?=\S)", listing):
        paths = [os.path.relpath(os.path.join(build, line.strip()), ROOT) for line in block.splitlines()[1:]]
        if paths:
            found.setdefault(paths[0], set()).update(paths)
    return found


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    sources = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.c"))
    base = landed()
    changed = changed_files(base) if base else set()
    if not base or any(map(EVERYTHING.match, changed)):
        chosen = sources
    else:
        read = readers(build)
        chosen = [source for source in sources if changed & {source, *read.get(source, ())}]
    print(f"{len(chosen)} of {len(sources)} sources{f' differ from {base[:12]}' if base else ': no landed commit is known'}",
          file=sys.stderr)
    print("\n".join(chosen))


if __name__ == "__main__":
    main()
