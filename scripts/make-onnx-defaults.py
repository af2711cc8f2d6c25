#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes converters/onnx/schema/onnx_schema_defaults.def: the attribute defaults of ONNX's default-domain operators.

usage: make-onnx-defaults.py onnx-ops.tsv > converters/onnx/schema/onnx_schema_defaults.def

The table has a line per operator and version, with the columns domain, op, since_version, … and attributes, such as
"epsilon:float (=1e-05); axis:int (required)". A row of the result holds for a range of opset versions.
"""
import csv
import re
import sys

LATEST = "LATEST"

# Integers that say yes or no, 1 or 0. (is_test is not among them: it may be anything but 0.)
FLAGS = set("""
align_corners allowzero antialias broadcast ceil_mode center_point_box count_include_pad detect_negative detect_positive
exclude_outside exclusive fmod input_forget interleaved inverse is_case_sensitive is_causal keepdims largest
linear_before_reset new_axis noop_with_empty_axes onesided output_sequence periodic reverse saturate select_last_index sorted
spatial storage_order training_mode transA transB upper
""".split())

# The table prints floats with six digits. Since opset 6 these have more in the specification; before, Selu's gamma really
# was as short as this.
EXACT = {
    "3.402823e+38": "FLT_MAX",
    "-3.402823e+38": "-FLT_MAX",
    "1.67326": "1.67326319217681884765625f",
    "1.0507": "1.05070102214813232421875f",
}

# The table prints these with five places, as 0.
SMALL = {("Adagrad", "epsilon"): "1e-06f", ("Adam", "epsilon"): "1e-06f"}


def literal(kind, value, since):
    """(kind, C tokens) of a default; lists as comma-separated elements."""
    value = value.strip("()")
    if kind == "int":
        return "INT", value
    if kind == "float":
        return "FLOAT", since >= 6 and EXACT.get(value) or value + "f"
    if kind == "string":
        return "STRING", '"' + {"foward": "forward"}.get(value, value) + '"'
    elements = re.findall(r"'([^']*)'", value)
    if kind == "list of ints":
        return "INTS", ", ".join(elements)
    if kind == "list of strings":
        return "STRINGS", ", ".join('"' + e + '"' for e in elements)
    raise ValueError(f"a default of kind {kind}")


def defaults(op, attributes, since):
    """{attribute: (kind, tokens)} of one table cell."""
    found = {}
    for attribute in filter(None, (a.strip() for a in attributes.split(";"))):
        match = re.fullmatch(r"(\w+):([a-z ]+?) \(=(.*)\)", attribute)
        if match:
            small = SMALL.get((op, match[1]))
            kind, tokens = ("FLOAT", small) if small else literal(match[2], match[3], since)
            found[match[1]] = "FLAG" if match[1] in FLAGS and kind == "INT" else kind, tokens
    return found


def rows(table):
    versions = {}
    for line in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
        if line["domain"] == "ai.onnx":
            cell, since = "" if line["deprecated"] else line["attributes"], int(line["since_version"])
            versions.setdefault(line["op"], []).append((since, defaults(line["op"], cell, since)))
    for op, history in versions.items():
        history.sort()
        ends = [since - 1 for since, _ in history[1:]] + [LATEST]
        ranges = {}
        for (since, attributes), end in zip(history, ends):
            for name, value in attributes.items():
                known = ranges.setdefault(name, [])
                if known and known[-1][1] == since - 1 and known[-1][2] == value:
                    known[-1][1] = end
                else:
                    known.append([since, end, value])
        for name, known in ranges.items():
            for since, end, (kind, tokens) in known:
                yield op, name, since, end, kind, tokens


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/make-onnx-defaults.py; sorted by operator, attribute and opset version.")
    print(" * ONNX_DEFAULT(operator, attribute, first version, last version, kind, value) */")
    with open(sys.argv[1], encoding="utf-8", newline="") as table:
        for op, name, since, end, kind, tokens in sorted(rows(table), key=lambda r: (r[0], r[1], r[2])):
            print(f'ONNX_DEFAULT("{op}", "{name}", {since}, {end}, {kind}, {tokens})')


if __name__ == "__main__":
    main()
