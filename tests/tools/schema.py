# SPDX-License-Identifier: Apache-2.0
"""Validates reports against docs/dlc-info.schema.json, or another schema: the part of JSON Schema (2020-12) that they use.

    schema.faults(report)    [] or a list of "place: what is wrong"
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE  # noqa: E402

SCHEMA = json.loads((SOURCE / "docs" / "dlc-info.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
         "null": type(None)}
REMARKS = {"$schema", "$id", "$defs", "title", "description"}


def is_of(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def resolve(reference):
    node = SCHEMA
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def object_faults(value, rule, place):
    found = [f"{place}: {name} is missing" for name in rule.get("required", []) if name not in value]
    properties = rule.get("properties", {})
    for name, member in value.items():
        if name in properties:
            found += check(member, properties[name], f"{place}/{name}")
        elif rule.get("additionalProperties") is False:
            found.append(f"{place}: {name} is not described")
        elif "additionalProperties" in rule:
            found += check(member, rule["additionalProperties"], f"{place}/{name}")
    return found


def check(value, rule, place=""):
    known = {"$ref", "type", "const", "enum", "minimum", "maximum", "items", "properties", "required",
             "additionalProperties", "oneOf", "anyOf"}
    assert set(rule) <= known | REMARKS, f"the validator does not know {set(rule) - known - REMARKS}"
    if "$ref" in rule:
        return check(value, resolve(rule["$ref"]), place)
    found = []
    types = rule.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_of(value, name) for name in types):
        return [f"{place}: {value!r} is not {' or '.join(types)}"]
    if "const" in rule and value != rule["const"]:
        found.append(f"{place}: {value!r} is not {rule['const']!r}")
    if "enum" in rule and value not in rule["enum"]:
        found.append(f"{place}: {value!r} is none of {rule['enum']}")
    if is_of(value, "number") and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        found.append(f"{place}: {value!r} is out of range")
    if isinstance(value, dict):
        found += object_faults(value, rule, place)
    if isinstance(value, list) and "items" in rule:
        for i, item in enumerate(value):
            found += check(item, rule["items"], f"{place}/{i}")
    for key, wanted in (("oneOf", lambda n: n == 1), ("anyOf", lambda n: n > 0)):
        tried = [check(value, option, place) for option in rule.get(key, [])]
        if tried and not wanted(sum(not faults for faults in tried)):
            found.append(f"{place}: fits {sum(not faults for faults in tried)} of {len(tried)}: {min(tried, key=len)[:3]}")
    return found


def faults(report, schema=None):
    global SCHEMA
    before, SCHEMA = SCHEMA, schema or SCHEMA
    found = check(report, SCHEMA)
    SCHEMA = before
    return found
