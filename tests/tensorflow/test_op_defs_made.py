#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of TensorFlow's operators are sorted, say of inputs and outputs what tests/reference/operators.txt says, and, where
TensorFlow is installed, are what their script makes."""

import importlib.util
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

FOLDER = SOURCE / "converters" / "tensorflow" / "decode"
OPERATORS = SOURCE / "tests" / "reference" / "operators.txt"
SCRIPT = SOURCE / "scripts" / "make-tensorflow-defs.py"
TABLES = {"outputs": FOLDER / "op_defs.def", "inputs": FOLDER / "op_inputs.def", "defaults": FOLDER / "tf_schema_defaults.def", "signatures": FOLDER / "tf_signatures.def"}
ROWS = SOURCE / "converters" / "tensorflow" / "lower" / "tf_rows.def"
ARGUMENT = re.compile(r'(ONE|ONE_OF|MANY|MANY_OF|LISTED)\(([^)]*)\)')
TYPES = {"FLOAT": "float32", "DOUBLE": "float64", "HALF": "float16"}


def rows(file, macro):
    """(names, rest) of each line: the operator, and the attribute, if there is one."""
    found = []
    for line in file.read_text().splitlines():
        match = re.fullmatch(macro + r'\("([\w>]+)", (?:"(\w+)", )?(.*)\)', line)
        if match:
            found.append((tuple(filter(None, match.groups()[:2])), match[3]))
    return found


def in_words(argument):
    """An argument as operators.txt writes it."""
    kind, *arguments = [argument[0], *(part.strip().strip('"') for part in argument[1].split(","))]
    name, *rest = arguments
    if kind in ("ONE_OF", "MANY_OF"):
        rest[-1] = TYPES.get(rest[-1], rest[-1].lower())
    return f"{name}:[{rest[0]}]" if kind == "LISTED" else f"{name}:{'*'.join(rest)}"


def check_arguments(checks, kind, table):
    known = dict((names[0], " ".join(map(in_words, ARGUMENT.findall(rest)))) for names, rest in table)
    compared = 0
    for line in OPERATORS.read_text().splitlines():
        name, _, signature = line.partition("; ")[0].partition("(")
        inputs, _, outputs = signature.partition(")")
        listed = inputs if kind == "inputs" else outputs.strip().removeprefix("->").strip()
        if listed:
            checks.equal(f"{kind} of {name}", known.get(name), listed)
            compared += 1
    checks.check("operators were compared", compared > 500, compared)


def check_defaults(checks, table):
    """Defaults of types are in both tables."""
    known = {names: rest.partition(", ") for names, rest in table}
    compared = 0
    for line in OPERATORS.read_text().splitlines():
        for default in line.partition("; ")[2].split():
            attribute, _, value = default.partition("=")
            kind, _, found = known.get((line.split("(")[0], attribute), ("", "", ""))
            checks.equal(f"{attribute} of {line.split('(')[0]}", (kind, TYPES.get(found, found.lower())), ("TYPE", value))
            compared += 1
    checks.check("defaults were compared", compared > 100, compared)


def main():
    checks = Checks()
    macros = {"outputs": "TF_OP", "inputs": "TF_INPUTS", "defaults": "TF_DEFAULT", "signatures": "TF_SIGNATURE"}
    tables = {name: rows(file, macros[name]) for name, file in TABLES.items()}
    for name, table in tables.items():
        lines = TABLES[name].read_text().count("\nTF_")
        checks.equal(f"rows of {name} that are understood", len(table), lines)
        keys = [names for names, _ in table]
        checks.equal(f"order of {name}", keys, sorted(set(keys)))
    check_arguments(checks, "outputs", tables["outputs"])
    check_arguments(checks, "inputs", tables["inputs"])
    check_defaults(checks, tables["defaults"])
    listed = re.findall(r'^TF_ROW\("(\w+)"', ROWS.read_text(), re.MULTILINE)
    checks.equal("operators with a signature", [names[0] for names, _ in tables["signatures"]], sorted(listed))
    for name, file in TABLES.items():
        if importlib.util.find_spec("tensorflow"):
            made = subprocess.run([sys.executable, SCRIPT, name, ROWS if name == "signatures" else OPERATORS], check=True, capture_output=True, text=True)
            checks.check(f"{name} are what the script makes", made.stdout == file.read_text())
        else:
            checks.skip(f"{name} are what the script makes", "TensorFlow is not installed")
    checks.finish()


main()
