#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the templates as C: an array of names and texts, sorted by name.
usage: embed.py OUT.c TEMPLATES"""

import pathlib
import sys


def array(data):
    """The elements of a C array of chars; string literals may not be as long as a template."""
    codes = [str(code) for code in data + b"\0"]
    return ",\n".join("    " + ", ".join(codes[i:i + 24]) for i in range(0, len(codes), 24))


def main():
    out, folder = map(pathlib.Path, sys.argv[1:])
    texts, rows = [], []
    for i, path in enumerate(sorted(folder.rglob("*.in"))):
        name = path.relative_to(folder).with_suffix("").as_posix()
        texts.append(f"static const char text{i}[] = {{\n{array(path.read_text(encoding='ascii').encode())}}};\n")
        rows.append(f'    {{"{name}", text{i}}},\n')
    out.write_text('/* Made by embed.py. */\n#include "gen/templates.h"\n\n' + "".join(texts) +
                   "\nconst struct gen_template gen_templates[] = {\n" + "".join(rows) + "    {NULL, NULL},\n};\n",
                   encoding="ascii")


main()
