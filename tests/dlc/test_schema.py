#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The field list that the program is made from says the same as proto/dlc.fbs, by which flatc reads containers."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

# What flatc shows and the program does not ask for.
NOT_READ = {("v3_network", "external_inputs"), ("v3_network", "external_outputs"), ("v4_tensor", "permutation_to_source")}
SCALARS = {"ubyte": "U8", "bool": "BOOL", "uint": "U32", "int": "I32", "float": "F32", "ulong": "U64", "long": "I64",
           "double": "F64", "ArgType": "U8"}
OFFSETS = {("v4_buffer", "offset")}
ROW = re.compile(r"^(FIELD|READ)\((\w+), (\w+), (\d+), (\w+), ([^,)]+)", re.MULTILINE)


def snake(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def read_fbs():
    """{table: [(field, type)]} with the tables' names as in the list: dlc.v4.OpParams is v4_op_params."""
    text = re.sub(r"//.*", "", (SOURCE / "proto" / "dlc.fbs").read_text())
    tables, version = {}, None
    for match in re.finditer(r"namespace dlc\.(\w+);|table (\w+) \{(.*?)\}", text, re.DOTALL):
        version = match[1] or version
        if match[2]:
            fields = re.findall(r"(\w+):\s*([\[\]\w]+);", match[3])
            tables[f"{version}_{snake(match[2])}"] = fields
    return tables


def kind_and_type(table, field, declared):
    """What a row has to say for a field of flatc's schema."""
    version = table.split("_")[0]
    if (table, field) in OFFSETS:
        return "OFFSET64", "NULL"
    if declared in SCALARS:
        return SCALARS[declared], "NULL"
    if declared == "string":
        return "STRING", "NULL"
    if declared.startswith("["):
        element = declared[1:-1]
        if element == "ubyte":
            return "BYTES", None
        if element in ("int", "uint", "float"):
            return "WORDS", None
        return ("STRINGS", "NULL") if element == "string" else ("TABLES", f"&{version}_{snake(element)}")
    return "TABLE", f"&{version}_{snake(declared)}"


def main():
    checks = Checks()
    fbs = read_fbs()
    rows = {}
    for version in ("v3", "v4"):
        for _, table, field, slot, kind, target in ROW.findall((SOURCE / "src/dlc" / f"schema_{version}.def").read_text()):
            rows.setdefault(table, []).append((field, int(slot), kind, target))
    checks.equal("the same tables", sorted(rows), sorted(fbs))
    for table, fields in sorted(rows.items()):
        slots = [slot for _, slot, _, _ in fields]
        checks.equal(f"{table}: slots rise", slots, sorted(set(slots)))
        for field, slot, kind, target in fields:
            declared = fbs.get(table, [])[slot:slot + 1] or [("", "")]
            checks.equal(f"{table}.{field} is field {slot}", field, declared[0][0])
            expected, of = kind_and_type(table, field, declared[0][1])
            checks.equal(f"{table}.{field} kind", kind, expected)
            checks.check(f"{table}.{field} type", target == of or (of is None and target in ("NULL", "FB_PAYLOAD")), target)
        left_out = {name for name, _ in fbs.get(table, ()) if not name.startswith("unused_")} - {row[0] for row in fields}
        checks.equal(f"{table}: what is not read", left_out, {name for of, name in NOT_READ if of == table})
    checks.check("there are rows", sum(map(len, rows.values())) > 80)
    checks.finish()


main()
