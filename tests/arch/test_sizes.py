# SPDX-License-Identifier: Apache-2.0
"""No source file over 800 lines, no function over 80, no line over 120 characters, no tab, no two files of one name."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

MAX_FILE, MAX_FUNCTION, MAX_LINE = 800, 80, 120
FUNCTION_HEAD = re.compile(r"^[A-Za-z_].*\b(\w+)\(|^(\w+)\(")


def functions(lines):
    """(name, first line, number of lines) of each function; its braces stand alone in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            head = next((lines[i] for i in range(start - 2, max(start - 8, -1), -1) if re.match(r"^\w", lines[i])), "")
            match = FUNCTION_HEAD.match(head)
            name = (match.group(1) or match.group(2)) if match else "?"
            yield name, start, number - start + 1
            start = None


def check_names(checks):
    """In messages, stack traces and editors a file goes by its name alone; NAME.c and NAME.h lie in one folder."""
    folders = {}
    for folder in ("src", "converters"):
        for path in (SOURCE / folder).rglob("*.[chd]*"):
            if path.suffix in (".c", ".h", ".def"):
                folders.setdefault(path.stem, set()).add(path.parent.relative_to(SOURCE).as_posix())
    for name, places in sorted(folders.items()):
        checks.check(f"files of the name {name}", len(places) == 1, f"are in {', '.join(sorted(places))}")


def main():
    checks = Checks()
    check_names(checks)
    for folder in ("include", "src", "converters", "tests", "bench"):
        for path in sorted((SOURCE / folder).rglob("*.[ch]")):
            name = path.relative_to(SOURCE).as_posix()
            lines = path.read_text().splitlines()
            checks.check(f"{name} length", len(lines) <= MAX_FILE, f"{len(lines)} lines")
            wide = [str(i) for i, line in enumerate(lines, 1) if len(line) > MAX_LINE or "\t" in line]
            checks.check(f"{name} line width", not wide, "lines " + ", ".join(wide))
            # A test case is prose; a function of the product is not.
            if folder == "tests":
                continue
            for function, line, length in functions(lines):
                checks.check(f"{name}:{line} {function}", length <= MAX_FUNCTION, f"{length} lines")
    checks.finish()


if __name__ == "__main__":
    main()
