#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the binary interface of libopendlc with the recorded one, src/opendlc.abi: functions, and the types that they use.
usage: abi.py BUILD            prints what differs; status 1 when anything does
       abi.py BUILD --record   records the interface as it is, for abidiff and (names alone) for Debian's packages

Types are in debugging information only. So the few sources that define public functions are compiled once more, with it, by the
commands of the build."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORDED = ROOT / "src" / "opendlc.abi"
SYMBOLS = ROOT / "debian" / "libopendlc0.symbols"
EXPORTED = ROOT / "src" / "opendlc.map"
PLUGIN = ROOT / "src" / "plugin" / "exports.c"  # all of libopendlc-plugin
FUNCTION = re.compile(r"\b((?:odlc|Snpe)_\w+)\(")
DROPPED = re.compile(r"-(?:O\w*|g\w*|flto\S*|fsanitize\S*|fno-sanitize\S*|ffat-lto-objects|fprofile\S*|ftest-coverage|MD|M[FQ].*"
                     r"|W\S*|\S*FORTIFY_SOURCE\S*)|--coverage")
TOOLS = ("abidw", "abidiff")


def declared():
    """Functions that a public header marks ODLC_API."""
    text = "".join(path.read_text() for path in sorted((ROOT / "include" / "opendlc").glob("*.h")))
    marked = re.findall(r"^ODLC_API[^;]*?;", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), re.MULTILINE | re.DOTALL)
    return {FUNCTION.search(one).group(1) for one in marked}


def compile_commands(build):
    """(folder, source, command) of the sources of the product that define a public function."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if source.is_relative_to(ROOT) and source.relative_to(ROOT).parts[0] in ("src", "converters") and source.suffix == ".c":
            heads = re.findall(r"^\w[^;={}]*?\b((?:odlc|Snpe)_\w+)\([^;]*?\)\n\{", source.read_text(), re.MULTILINE)
            if declared() & set(heads):
                yield entry["directory"], source, shlex.split(entry["command"])


def compile_with_types(build, folder):
    objects, seen = [], set()
    for directory, source, command in compile_commands(build):
        if source in seen:
            continue
        seen.add(source)
        objects.append(folder / f"{len(objects)}.o")
        kept, words = [], iter(command)
        for word in words:
            if word in ("-MF", "-MQ", "-o"):
                next(words)
            elif not DROPPED.fullmatch(word):
                kept.append(word)
        subprocess.run([*kept, "-g", "-O0", "-fPIC", "-o", objects[-1]], cwd=directory, check=True)
    library = folder / "libopendlc.so.0"
    subprocess.run(["cc", "-shared", "-o", library, "-Wl,-soname,libopendlc.so.0", f"-Wl,--version-script={EXPORTED}", *objects],
                   check=True)
    return library


def describe(library, folder):
    """The interface as abidw writes it, without what depends on this machine."""
    out = folder / "opendlc.abi"
    subprocess.run(["abidw", "--headers-dir", ROOT / "include", "--drop-private-types", "--no-corpus-path", "--no-comp-dir-path",
                    "--no-show-locs", "--type-id-style", "hash", "--exported-interfaces-only", "--out-file", out, library],
                   check=True)
    return out


def version():
    header = (ROOT / "include" / "opendlc" / "version.h").read_text()
    return ".".join(re.search(rf"_{part} (\d+)$", header, re.MULTILINE)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def symbols(known):
    """Debian's list, of both libraries; a name keeps the version that it came with."""
    lines = ["# SPDX-License-Identifier: Apache-2.0"]
    plugin = re.findall(r"^\w[^;={}]*?\b(qhpi_\w+)\([^;]*?\)\n\{", PLUGIN.read_text(), re.MULTILINE)
    for library, tag, names in (("libopendlc.so.0", "OPENDLC_0", declared()), ("libopendlc-plugin.so.1", "OPENDLC_PLUGIN_1", plugin)):
        since = dict(re.findall(rf"^ (\w+)@{tag} (\S+)$", known, re.MULTILINE))
        lines.append(f"{library} libopendlc0 #MINVER#")
        lines += [f" {name}@{tag} {since.get(name, version())}" for name in [tag, *sorted(names)]]
    return "\n".join(lines) + "\n"


def main():
    build = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else sys.exit(__doc__)
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (abigail-tools)\n0 passed, 0 failed, 1 skipped")
        sys.exit(77)
    known = SYMBOLS.read_text() if SYMBOLS.exists() else ""
    with tempfile.TemporaryDirectory() as temporary:
        found = describe(compile_with_types(build, pathlib.Path(temporary)), pathlib.Path(temporary))
        if sys.argv[2:] == ["--record"]:
            shutil.copyfile(found, RECORDED)
            SYMBOLS.write_text(symbols(known))
            return
        differs = subprocess.run(["abidiff", "--drop-private-types", RECORDED, found], check=False).returncode != 0
    if known != symbols(known):
        print(f"{SYMBOLS.relative_to(ROOT)} does not list what the headers declare")
        differs = True
    if differs:
        print("FAILED: the interface is another than the recorded one. docs/releasing.md says what that means for versions;\n"
              f"  scripts/abi.py {build} --record   records it")
    print(f"{int(not differs)} passed, {int(differs)} failed, 0 skipped")
    sys.exit(int(differs))


main()
