#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins files to one page and writes it as C: a struct html_page (text/html_page.h) of that name.
usage: embed.py OUT.c NAME HEADER.h FRAME.html PAGE.html PART.html... STYLE.css... SCRIPT.js...

The frame has places for the lines of PAGE.html before its <body>, for those after it, for styles, for scripts, and for the JSON that
the page shows. A part stands where the page has its name as a comment."""

import pathlib
import sys

MODEL = "@MODEL@"


def text_of(file):
    """Of the licences that the joined files name, the frame's stays."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if "SPDX-License-Identifier" not in line)


def joined(frame, page, *parts):
    """Of files that are named as above: the frame with all the others in it."""
    frame, page, *parts = map(pathlib.Path, (frame, page, *parts))
    inserted, styles, scripts = ([part for part in parts if part.suffix == end] for end in (".html", ".css", ".js"))
    head, body = text_of(page).split("<body>\n")
    text = frame.read_text(encoding="utf-8")
    for marker, content in (("@HEAD@", head), ("@BODY@", body), *((f"<!-- {part.name} -->\n", text_of(part)) for part in inserted),
                            ("/* style.css */", "\n".join(map(text_of, styles))), ("/* scripts */", "\n".join(map(text_of, scripts)))):
        if text.count(marker) != 1:
            sys.exit(f"embed.py: {frame} must have one '{marker}'")
        text = text.replace(marker, content)
    # A char may be unsigned or signed; bytes over 127 would not fit the latter.
    if not text.isascii():
        sys.exit("embed.py: the page's files must be ASCII; write \\u2026 or &hellip;")
    return text


def as_c(name, text):
    data = text.encode()
    lines = [", ".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
    return f"static const char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main():
    out, name, header, *parts = sys.argv[1:]
    text = joined(*parts)
    head, tail = text.split(MODEL)
    code = ["/* Made by embed.py. */", f'#include "{header}"', "", as_c("head", head), as_c("tail", tail),
            f"const struct html_page {name} = {{head, sizeof head, tail, sizeof tail}};", ""]
    pathlib.Path(out).write_text("\n".join(code), encoding="utf-8")


if __name__ == "__main__":
    main()
