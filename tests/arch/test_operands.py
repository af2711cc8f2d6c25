# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes, producers and the graph's outputs are written by src/ir/graph.c alone: who did it elsewhere could forget one
side of it (docs/architecture.md)."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

FOLDERS = ("build", "kernel", "op", "pass")
OPERAND = r"(->|\.)(in|out)puts(\.data)?\[[^][]*(\[[^][]*\])?[^][]*\]"
WRITE = re.compile(rf"{OPERAND} = |->producer = |&[\w>.-]*{OPERAND}")


def main():
    checks = Checks()
    for text in ("n->inputs[0] = x;", "n->inputs[at[i]] = x;", "g->outputs.data[i] = x;", "f(&n.inputs[i]);", "t->producer = n;"):
        checks.check(f"found: {text}", WRITE.search(text))
    for path in (path for folder in FOLDERS for path in sorted((SOURCE / "src" / folder).rglob("*.c"))):
        written = [line.strip() for line in path.read_text().splitlines() if WRITE.search(line)]
        checks.equal(path.relative_to(SOURCE).as_posix(), written, [])
    checks.finish()


main()
