# SPDX-License-Identifier: Apache-2.0
"""What lowering functions take for an attribute that a node leaves out is what the operator's schema says. The functions
that each row of onnx_rows.def leads to are found in the sources, with the defaults that they write down; onnx_schema_defaults.def
has the schemas'."""

import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

CONVERTERS = SOURCE / "converters"
NEWEST = 28
LATEST = 1 << 30
ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), (\w+), (.+)\)$', re.MULTILINE)
SCHEMA = re.compile(r'^ONNX_DEFAULT\("([^"]+)", "([^"]+)", (\d+), (\d+|LATEST), (INT|FLAG|FLOAT|STRING), (.+)\)$', re.MULTILINE)
FUNCTION = re.compile(r"^(?:[a-z][^\n]*[ *])?(\w+)\([^;{}]*?\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
READ = re.compile(r'lower_attr_(?:int|bool|float|string)\([\w.>-]+,\s*"(\w+)",\s*(.*?),\s*[^,]*\)\)?;', re.DOTALL)
DOMAINS = ("", "ai.onnx.preview.training")


def functions():
    """{name: [(file, body)]}: a static function may have its name in several files."""
    found = {}
    for path in [*sorted((CONVERTERS / "onnx" / "lower").glob("*.c")), *sorted((CONVERTERS / "lowering").glob("*.c"))]:
        for match in FUNCTION.finditer(path.read_text()):
            found.setdefault(match[1], []).append((path, match[2]))
    return found


def meant(known, path, name):
    """The functions of that name that a file's calls may mean: its own, else those of others."""
    own = [found for found in known[name] if found[0] == path]
    return own or known[name]


def reached(known, name):
    """{(file, name): body} of the function and of all that it names."""
    done, to_do = {}, [(None, name)]
    while to_do:
        near, name = to_do.pop()
        for path, body in meant(known, near, name) if name in known else ():
            if (path, name) not in done:
                done[path, name] = body
                to_do += [(path, word) for word in set(re.findall(r"\b[a-z]\w+\b", body)) if word in known]
    return done


def number(text, kind):
    """The value of a literal as a schema or a function has it; None: it is none."""
    text = text.strip().removeprefix("(double)")
    if kind == "STRING":
        return text[1:-1] if text.startswith('"') else None
    if text in ("FLT_MAX", "-FLT_MAX"):
        return struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0] * (-1 if text[0] == "-" else 1)
    if not re.fullmatch(r"-?[\d.]+(e-?\d+)?f?", text):
        return None
    value = float(text.removesuffix("f"))
    return struct.unpack("<f", struct.pack("<f", value))[0] if text.endswith("f") else value


def chosen(expression, body, version):
    """The branch of a choice that the opset takes; other expressions as they are."""
    flag = re.match(r"(\w+) \?", expression)
    if flag:
        meaning = re.search(rf"bool {flag[1]} = (l->version [<>=]+ \d+);", body)
        expression = expression.replace(flag[1], meaning[1], 1) if meaning else expression
    match = re.fullmatch(r"(?:s->)?l->version (<|>=|<=|>) (\d+)(?: \? (.+) : (.+))?", expression)
    if not match:
        return expression
    limit = int(match[2])
    holds = {"<": version < limit, ">=": version >= limit, "<=": version <= limit, ">": version > limit}[match[1]]
    return (match[3] or "1") if holds else (match[4] or "0")


def schemas():
    found = {}
    for op, attribute, first, last, kind, value in SCHEMA.findall((CONVERTERS / "onnx" / "schema" / "onnx_schema_defaults.def").read_text()):
        found.setdefault((op, attribute), []).append((int(first), LATEST if last == "LATEST" else int(last), kind, value))
    return found


def compare(checks, known, schema, row, compared):
    domain, op, first, last, function, _ = row
    for (path, name), body in reached(known, function).items():
        for attribute, expression in READ.findall(body):
            for lo, hi, kind, value in schema.get((op, attribute), ()):
                for version in range(max(lo, int(first)), min(hi, NEWEST, NEWEST if last == "LATEST" else int(last)) + 1):
                    found = number(chosen(expression, body, version), kind)
                    if found is None:
                        continue
                    compared.add((op, attribute))
                    checks.equal(f"{op}-{version}: {attribute} of {path.name}: {name}", found, number(value, kind))


def defaults_are_the_schemas(checks):
    known, schema, compared = functions(), schemas(), set()
    for row in ROW.findall((CONVERTERS / "onnx" / "lower" / "onnx_rows.def").read_text()):
        checks.check(f"{row[4]} is found", row[4] in known)
        if row[0] in DOMAINS:
            compare(checks, known, schema, row, compared)
    print(f"{len(compared)} of {len(schema)} attributes with a default")
    checks.check("most defaults are compared", len(compared) > 150, sorted(set(schema) - compared))


def main():
    checks = Checks()
    defaults_are_the_schemas(checks)
    checks.finish()


main()
