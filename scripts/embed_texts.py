#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the texts of a folder as C: an array of structures of a name and a text, sorted by name.
usage: embed_texts.py OUT.c FOLDER HEADER STRUCT ARRAY SUFFIX..."""

import pathlib
import sys


def array(data):
    """The elements of a C array of chars; string literals may not be as long as a template."""
    codes = [str(code) for code in data + b"\0"]
    return ",\n".join("    " + ", ".join(codes[i:i + 24]) for i in range(0, len(codes), 24))


def main():
    out, folder = map(pathlib.Path, sys.argv[1:3])
    header, struct, name_of_array, *suffixes = sys.argv[3:]
    texts, rows = [], []
    for i, path in enumerate(sorted(path for path in folder.rglob("*") if path.suffix in suffixes)):
        name = path.relative_to(folder).with_suffix("").as_posix()
        texts.append(f"static const char text{i}[] = {{\n{array(path.read_text(encoding='ascii').encode())}}};\n")
        rows.append(f'    {{"{name}", text{i}}},\n')
    out.write_text(f'/* Made by embed_texts.py. */\n#include "{header}"\n\n' + "".join(texts) +
                   f"\nconst struct {struct} {name_of_array}[] = {{\n" + "".join(rows) + "    {NULL, NULL},\n};\n",
                   encoding="ascii")


main()
