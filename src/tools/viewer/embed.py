#!/usr/bin/env python3
"""Joins the viewer's files to one page and writes it as C: what stands before the model and what stands after it.
usage: embed.py OUT.c page.html style.css SCRIPT.js..."""

import pathlib
import sys

STYLE, SCRIPTS, MODEL = "/* style.css */", "/* scripts */", "@MODEL@"


def as_c(name, text):
    data = text.encode()
    lines = [", ".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
    return (f"const char {name}[] = {{\n" + ",\n".join(lines) + "};\n"
            f"const size_t {name}_size = {len(data)};\n")


def main():
    out, page, style, *scripts = map(pathlib.Path, sys.argv[1:])
    text = page.read_text(encoding="utf-8")
    joined = "\n".join(script.read_text(encoding="utf-8") for script in scripts)
    for marker, content in ((STYLE, style.read_text(encoding="utf-8")), (SCRIPTS, joined)):
        if text.count(marker) != 1:
            sys.exit(f"embed.py: {page} must have one '{marker}'")
        text = text.replace(marker, content)
    head, tail = text.split(MODEL)
    code = ["/* Made by embed.py. */", '#include "tools/viewer/viewer.h"', ""]
    code += [as_c("viewer_page_head", head), as_c("viewer_page_tail", tail)]
    # A char may be unsigned or signed; bytes over 127 would not fit the latter.
    if not text.isascii():
        sys.exit("embed.py: the page's files must be ASCII; write \\u2026 or &hellip;")
    out.write_text("\n".join(code), encoding="utf-8")


main()
