# SPDX-License-Identifier: Apache-2.0
"""Structs here are those of the C headers, and options those that the documentation lists."""

import ctypes
import re
import subprocess

from opendlc import _structs
from opendlc._options import Options


def test_layouts(root, tmp_path):
    lines = []
    for name, struct in _structs.BY_NAME.items():
        lines.append(f'printf("%zu\\n", sizeof(struct {name}));')
        lines += [f'printf("%zu\\n", offsetof(struct {name}, {field[0]}));' for field in struct._fields_]
    headers = "".join(f'#include "opendlc/{h}.h"\n' for h in ("convert", "container", "diff", "run"))
    source = tmp_path / "layout.c"
    source.write_text(f"#include <stdio.h>\n{headers}int main(void)\n{{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run(["cc", "-I", root / "include", "-o", tmp_path / "layout", source], check=True)
    said = iter(subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout.split())
    for name, struct in _structs.BY_NAME.items():
        assert int(next(said)) == ctypes.sizeof(struct), name
        for field, *_ in struct._fields_:
            assert int(next(said)) == getattr(struct, field).offset, (name, field)


def test_options_are_documented(root):
    page = (root / "docs" / "python.md").read_text()
    for what, heading in (("convert", "## Options of a conversion"), ("quantize", "## Options of a quantization")):
        listed = page.split(heading)[1].split("\n## ")[0]
        assert set(re.findall(r"^\| `(\w+)`", listed, re.MULTILINE)) == \
            set(Options(what, {}).names()) - {"buffers", "in_memory", "command_words", "input", "output"}, what
