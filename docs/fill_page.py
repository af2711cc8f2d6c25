#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the options of a command into its man page, as the command's own table has them.
usage: fill_page.py PAGE OUT [COMMAND]; without COMMAND, which cannot run here then, the page refers to --help."""

import pathlib
import subprocess
import sys

MARKER = '.\\" @OPTIONS@\n'


def options_of(command):
    # The page is UTF-8 whatever the locale of the build is.
    return subprocess.run([command, "--completion", "man"], stdout=subprocess.PIPE, check=True).stdout.decode()


def main():
    page, out = map(pathlib.Path, sys.argv[1:3])
    text = page.read_text(encoding="utf-8")
    if text.count(MARKER) != 1:
        sys.exit(f"fill_page.py: {page} must have one line {MARKER.strip()}")
    options = options_of(sys.argv[3]) if len(sys.argv) > 3 else f".B {page.stem} \\-\\-help\nlists them.\n"
    out.write_text(text.replace(MARKER, options), encoding="utf-8")


main()
