#!/usr/bin/env python3
"""Writes docs/operators.md: the ONNX operators, their versions, what they become in a container, and their limits.
usage: make-operators-doc.py [--check]     (--check: only says whether the file is up to date)

Operators and versions are those of converters/onnx/rows.def. What an operator becomes, and when it is refused, is read from
the function that its row names and the functions that this one calls: names of container ops there, and the messages of
lower_unsupported."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ONNX = ROOT / "converters" / "onnx"
ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), (\w+), (.+)\)$')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
TYPE = re.compile(r'"([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)"')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FUNCTION = re.compile(r"^(?:[\w*]+ )+\*?(\w+)\([^;{}]*?\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^(?:[\w*]+ )+\*?(?:const )?(\w+)\[[^;={}]*\] = (\{.*?\});", re.MULTILINE | re.DOTALL)
LISTED = re.compile(r"\bX\((\w+), ")
MACRO = re.compile(r"^#define (\w+) (\"\w+\")$", re.MULTILINE)
# What builders of the common library add to a graph.
BUILDERS = {"build_cast": '"Cast"', "build_reshape": '"Reshape"', "build_transpose": '"Transpose"'}
HEAD = """# ONNX operators

What `onnx-to-dlc` makes of ONNX's operators, for the opset versions of their domain. An operator becomes one or several of
the container's ops that are named, as its attributes and operands need; what depends on constants alone is computed at
conversion. A form that the container cannot express exactly is refused with a message that names node and attribute: the
last column has the reasons that an operator has of its own. `onnx-to-dlc --dry_run` says what holds for a given model.
Everything else can be described as a [user-defined op](udo-config.md).

This file is made by `scripts/make-operators-doc.py` from `converters/onnx/rows.def` and the functions that it names.

| Operator | Opset versions | May become | Is refused when |
|---|---|---|---|
"""


class Source:
    """The definitions of the lowering functions' files: text by name."""

    def __init__(self):
        self.texts, self.files = dict(BUILDERS), {}
        for path in sorted(ONNX.glob("*.c")):
            text = COMMENT.sub("", path.read_text())
            local = dict(MACRO.findall(text))
            text = re.sub(r"\b(\w+)\b", lambda match: local.get(match.group(1), match.group(1)), text)
            for name, body in FUNCTION.findall(text) + TABLE.findall(text):
                self.texts[name] = body
                self.files[name] = path
        self.types = set()
        for path in (ROOT / "src" / "op").glob("op_*.c"):
            text = path.read_text()
            self.types |= set(TYPE.findall(text))
            # Rows of a family that differ in a word are lists of X(word, …).
            self.types |= {prefix + name for name in LISTED.findall(text) for prefix in ("", "ElementWise")}

    def reached(self, name, same_file):
        """Texts of a function and of all that it names, in the order in which they are met."""
        found, queue = {}, [name]
        while queue:
            name = queue.pop(0)
            if name in found or name not in self.texts:
                continue
            if same_file and found and self.files.get(name) != self.files[next(iter(found))]:
                continue
            found[name] = self.texts[name]
            queue += re.findall(r"\b[a-z]\w+\b", STRING.sub('""', self.texts[name]))
        return list(found.values())

    def becomes(self, function, arg):
        texts = [arg] + self.reached(function, False)
        return sorted({name for text in texts for name in TYPE.findall(text)} & self.types)

    def limits(self, function):
        return [limit for text in self.reached(function, True) for limit in limits_in(text)]


def arguments_of(text):
    """The arguments of a call whose parenthesis has just been opened."""
    arguments, depth, start, in_string = [], 0, 0, False
    for i, character in enumerate(text):
        if character == '"' and text[i - 1] != "\\":
            in_string = not in_string
        elif in_string:
            continue
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth < 0 or (character == "," and depth == 0):
            arguments.append(text[start:i].strip())
            start = i + 1
        if depth < 0:
            break
    return arguments


def limits_in(text):
    """The reasons that a function gives for refusing: attribute or input, and the message with … for what differs."""
    for match in re.finditer(r"\blower_unsupported\(", text):
        arguments = arguments_of(text[match.end():])
        message = "".join(STRING.findall(arguments[3]))
        message = re.sub(r"%(?:\.\d+|\.\*)?(?:l+|z)?[a-z]", "…", message)
        attribute = STRING.findall(arguments[1])
        yield f"`{attribute[0]}`: {message}" if attribute and attribute[0] not in message else message


def spans(ranges):
    """Versions as text; ranges that follow on each other are one: that two functions serve them is of no interest."""
    merged = []
    for lo, hi in sorted(ranges):
        if merged and merged[-1][1] != "LATEST" and int(merged[-1][1]) + 1 >= lo:
            merged[-1] = (merged[-1][0], hi)
        else:
            merged.append((lo, hi))
    return ", ".join(f"{lo} to {hi}".replace("LATEST", "newest") for lo, hi in merged)


def unique(values):
    return list(dict.fromkeys(values))


def document():
    source, operators = Source(), {}
    for line in (ONNX / "rows.def").read_text().splitlines():
        match = ROW.match(line)
        if match:
            domain, op, lo, hi, function, arg = match.groups()
            operators.setdefault(f"{domain}::{op}" if domain else op, []).append((int(lo), hi, function, arg))
    lines = []
    for op, rows in operators.items():
        becomes = sorted({name for row in rows for name in source.becomes(*row[2:])})
        limits = unique(limit for row in rows for limit in source.limits(row[2]))
        lines.append(f"| {op} | {spans([row[:2] for row in rows])} | {', '.join(becomes) or 'no op: a constant, or an input'} | "
                     f"{'; '.join(limits).replace('|', '/')} |\n")
    return HEAD + "".join(lines)


def main():
    path = ROOT / "docs" / "operators.md"
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if path.is_file() and path.read_text() == document() else f"{path} is not up to date")
    path.write_text(document())


main()
