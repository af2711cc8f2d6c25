#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes converters/onnx/schema/operand_types.def: the element types of operands of ONNX's default-domain operators.

usage: make-onnx-types.py onnx-ops.tsv > converters/onnx/schema/operand_types.def

The table has a line per operator and version, with the columns inputs and outputs, such as "X:T; min?:T; inputs...:T",
and type_constraints: "T=float16|float; Tind=int32|int64". A row of the result holds for a range of opset versions.
"""
import csv
import sys

LATEST = "LATEST"
LETTERS = {"float": "f", "double": "d", "float16": "h", "int32": "i", "int64": "l", "bool": "b", "uint8": "u",
           "string": "s"}
FLOATS = {"float16", "float", "double", "bfloat16"}
# Their operands of many places are of different types.
MIXED = {"If", "Loop", "Scan", "SequenceMap"}


def constraints(cell):
    """{variable: list of types}"""
    pairs = (part.strip().partition("=") for part in cell.split(";") if part)
    return {name: types.split("|") for name, _, types in pairs}


def letters(line):
    """(inputs, outputs): a letter an operand."""
    known, given = constraints(line["type_constraints"]), {}
    free = {True: iter("NOPQRSTUVWXYZ"), False: iter("ABCDEFGHIJKLM")}

    def letter(operand):
        name, _, kind = operand.strip().partition(":")
        if kind.startswith("tensor(") and "|" not in kind:
            return LETTERS.get(kind[len("tensor("):-1], ".")
        types = known.get(kind)
        if types is None or types[0].startswith(("seq(", "optional", "map")):
            return "."
        if name.endswith("...") and line["op"] in MIXED:
            return "."
        if len(types) == 1:
            return LETTERS.get(types[0], ".")
        if kind not in given:
            given[kind] = next(free[set(types) <= FLOATS])
        return given[kind]

    sides = []
    for cell in (line["inputs"], line["outputs"]):
        operands = [operand for operand in cell.split(";") if operand.strip()]
        many = "+" if operands and "..." in operands[-1] else ""
        sides.append("".join(map(letter, operands)) + many)
    return tuple(sides)


def rows(table):
    versions = {}
    for line in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
        if line["domain"] == "ai.onnx":
            versions.setdefault(line["op"], []).append((int(line["since_version"]), line))
    for op, history in sorted(versions.items()):
        history.sort(key=lambda version: version[0])
        ends = [since - 1 for since, _ in history[1:]] + [LATEST]
        found = []
        for (since, line), end in zip(history, ends):
            types = None if line["deprecated"] else letters(line)
            if types and found and found[-1][1] == since - 1 and found[-1][2] == types:
                found[-1][1] = end
            elif types:
                found.append([since, end, types])
        for since, end, types in found:
            yield op, since, end, *types


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/make-onnx-types.py; sorted by operator and opset version.")
    print(" * ONNX_TYPES(operator, first version, last version, inputs, outputs): a letter an operand, the last one with +")
    print(" * for all that follow. Small letters are types: f(loat), d(ouble), h(alf), i(nt32), l(ong), b(ool), u(int8),")
    print(" * s(tring).")
    print(" * Operands with one capital have one type, which is a float from N on. A dot is anything. */")
    with open(sys.argv[1], encoding="utf-8", newline="") as table:
        for op, since, end, inputs, outputs in rows(table):
            print(f'ONNX_TYPES("{op}", {since}, {end}, "{inputs}", "{outputs}")')


if __name__ == "__main__":
    main()
