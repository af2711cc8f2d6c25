#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of how many inputs and outputs, and which attributes, nodes of an operator may have.

usage: make-onnx-signatures.py onnx-ops.tsv > converters/onnx/schema/signatures.def
       make-onnx-signatures.py --contrib onnx_rows.def > converters/onnx/schema/contrib_signatures.def

The first has ONNX's default domain: the table has a line per operator and version, with the columns inputs and outputs, such as
"X:T; min?:T; inputs...:T", and attributes, such as "epsilon:float (=1e-05); axis:int (required)". The second has the operators
of other domains that are converted, and needs onnxruntime, which defines them. A row holds for a range of versions.
"""
import csv
import re
import sys

LATEST = "LATEST"
LETTERS = {"int": "i", "float": "f", "string": "s", "tensor": "t", "graph": "g", "list of ints": "I", "list of floats": "F",
           "list of strings": "S", "sparse_tensor": "x", "type_proto": "o"}
# As ONNX Runtime numbers the kinds.
NUMBERED = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "F", 7: "I", 8: "S"}
DOMAINS = {"com.microsoft", "ai.onnx.ml"}
# Versions that are newer than the table, as it has lines.
NEWER = [{"domain": "ai.onnx", "op": "SpaceToDepth", "since_version": "28", "deprecated": "", "inputs": "input:T",
          "outputs": "output:T", "attributes": "blocksize:int (required); mode:string (=DCR)"}]


def most(cell):
    operands = [operand.strip() for operand in cell.split(";") if operand.strip()]
    return "MANY" if operands and "..." in operands[-1] else len(operands)


def signature(line):
    attributes = re.findall(r"(\w+):([a-z_ ]+?)(?: \(|;|$)", line["attributes"])
    return most(line["inputs"]), most(line["outputs"]), "".join(f" {name}:{LETTERS[kind]}" for name, kind in sorted(attributes))


def joined(domain, op, history):
    """Rows of an operator, of (version, signature), where the signature is None from a version on that gives the operator up."""
    history.sort(key=lambda version: version[0])
    ends = [since - 1 for since, _ in history[1:]] + [LATEST]
    found = []
    for (since, made), end in zip(history, ends):
        if made and found and found[-1][1] == since - 1 and found[-1][2] == made:
            found[-1][1] = end
        elif made:
            found.append([since, end, made])
    for since, end, made in found:
        yield domain, op, since, end, made


def of_table(path):
    versions = {}
    with open(path, encoding="utf-8", newline="") as table:
        for line in [*csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE), *NEWER]:
            if line["domain"] == "ai.onnx":
                made = None if line["deprecated"] else signature(line)
                versions.setdefault(line["op"], []).append((int(line["since_version"]), made))
    for op, history in sorted(versions.items()):
        yield from joined("", op, history)


def of_runtime(path):
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime  # pylint: disable=import-outside-toplevel
    with open(path, encoding="utf-8") as rows:
        wanted = set(re.findall(r'^ONNX_ROW\("([^"]+)", "(\w+)"', rows.read(), re.M))
    versions = {}
    for schema in runtime.get_all_operator_schema():
        if (schema.domain, schema.name) in wanted and schema.domain in DOMAINS:
            counts = [count if count < 1000 else "MANY" for count in (schema.max_input, schema.max_output)]
            kinds = sorted((name, NUMBERED[int(a.type)]) for name, a in schema.attributes.items())
            made = None if schema.deprecated else (*counts, "".join(f" {name}:{kind}" for name, kind in kinds))
            versions.setdefault((schema.domain, schema.name), []).append((schema.since_version, made))
    for (domain, op), history in sorted(versions.items()):
        yield from joined(domain, op, history)


def main():
    contrib = sys.argv[1:2] == ["--contrib"]
    if len(sys.argv) != 2 + contrib:
        sys.exit(__doc__)
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/make-onnx-signatures.py; sorted by domain, operator and version.")
    print(" * ONNX_SIGNATURE(domain, operator, first version, last version, most inputs, most outputs, attributes): a letter")
    print(" * behind each name says what the attribute is, as in signatures.c. */")
    for domain, op, since, end, (inputs, outputs, attributes) in (of_runtime if contrib else of_table)(sys.argv[-1]):
        attributes += " " * bool(attributes)
        print(f'ONNX_SIGNATURE("{domain}", "{op}", {since}, {end}, {inputs}, {outputs}, "{attributes}")')


if __name__ == "__main__":
    main()
