#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins files to one page and writes it as C: NAME_head, what stands before the model, and NAME_tail, what stands after it.
usage: embed.py OUT.c NAME HEADER.h page.html STYLE.css... SCRIPT.js..."""

import pathlib
import sys

STYLE, SCRIPTS, MODEL = "/* style.css */", "/* scripts */", "@MODEL@"


def text_of(file):
    """Of the licences that the joined files name, the page's stays."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if "SPDX-License-Identifier" not in line)


def as_c(name, text):
    data = text.encode()
    lines = [", ".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
    return (f"const char {name}[] = {{\n" + ",\n".join(lines) + "};\n"
            f"const size_t {name}_size = {len(data)};\n")


def joined(page, parts):
    """The page with its styles and scripts in it."""
    styles, scripts = ([pathlib.Path(part) for part in parts if part.endswith(end)] for end in (".css", ".js"))
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for marker, files in ((STYLE, styles), (SCRIPTS, scripts)):
        content = "\n".join(text_of(file) for file in files)
        if text.count(marker) != 1:
            sys.exit(f"embed.py: {page} must have one '{marker}'")
        text = text.replace(marker, content)
    # A char may be unsigned or signed; bytes over 127 would not fit the latter.
    if not text.isascii():
        sys.exit("embed.py: the page's files must be ASCII; write \\u2026 or &hellip;")
    return text


def main():
    out, name, header, page, *parts = sys.argv[1:]
    text = joined(page, parts)
    head, tail = text.split(MODEL)
    code = ["/* Made by embed.py. */", f'#include "{header}"', ""]
    code += [as_c(f"{name}_head", head), as_c(f"{name}_tail", tail)]
    pathlib.Path(out).write_text("\n".join(code), encoding="utf-8")


if __name__ == "__main__":
    main()
