# SPDX-License-Identifier: Apache-2.0
"""The numbers, names and codes in docs/limits.md are those in the code, and each limit of what models grow to is in it."""

import os
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from checks import Checks  # noqa: E402

ROOT = pathlib.Path(os.environ.get("ODLC_SOURCE_ROOT", pathlib.Path(__file__).resolve().parents[2]))
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, None: 1}


def rows(page):
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) >= 4 and "`" in cells[2]:
            yield cells


def numbers(cell):
    return [int(number.replace(",", "")) * UNITS[unit] for number, unit in
            re.findall(r"(\d[\d,]*\d|\d)\s*([KMG]iB)?", cell.replace("×", " "))
            for unit in [unit or None]]


def value_of(text, name):
    """Of a constant or the length of an array, by the C text that defines it; None when there is no such thing."""
    found = re.search(rf"#define {name} (.+)|\b{name} = ([^,;}}]+)|\b{name}\[(\w+)\]", text)
    if not found:
        return None
    expression = next(group for group in found.groups() if group)
    expression = re.sub(r"/\*.*", "", expression)
    expression = re.sub(r"UINT64_C\((\w+)\)|\(\(?u?int\d+_t\)|\(size_t\)", r"\1", expression)
    expression = re.sub(r"\b(\d+)u?ll\b", r"\1", expression)
    for other in set(re.findall(r"\b[A-Z_]{2,}\b", expression)):
        expression = expression.replace(other, str(value_of(text, other)))
    if not re.fullmatch(r"[\d\s()<*+/-]+", expression):
        return None
    opened = expression.count("(") - expression.count(")")
    return eval("(" * -opened + expression + ")" * opened, {"__builtins__": {}})  # pylint: disable=eval-used


def defined(cell):
    """The values of a row's constants, each in the file before it; a number stands for itself."""
    text, values = "", []
    for word in re.findall(r"`([^`]+)`", cell):
        if "/" in word:
            text = (ROOT / word).read_text()
        else:
            values.append(int(word) if word.isdigit() else value_of(text, word))
    return values


def main():
    checks = Checks()
    page = (ROOT / "docs" / "limits.md").read_text()
    sources = "".join(path.read_text() for folder in ("src", "converters") for path in (ROOT / folder).rglob("*.[ch]"))
    for name, value, where, codes, *_ in rows(page):
        checks.equal(f"{name}: {where}", defined(where), numbers(value))
        for code in re.findall(r"`([^`]+)`", codes):
            checks.check(f"{name}: the code {code}", f'"{code}"' in sources)
    names = re.findall(r"#define ([A-Z_]+) .", (ROOT / "src" / "ir" / "growth.h").read_text())
    checks.check("constants of growth.h are found", len(names) >= 11, names)
    for name in names:
        checks.check(f"{name} is in the page", f"`{name}`" in page or name == "GIB")
    checks.check("rows are found", checks.passed > 100, checks.passed)
    checks.finish()


if __name__ == "__main__":
    main()
