#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the reference of the C API, as HTML, of the public headers by Doxygen. Whatever Doxygen warns of is an error, and so is
a function without a comment.
usage: make_api.py OUT      OUT/index.html is the first page
       make_api.py HEADER   prints a header as Doxygen gets it

The headers' comments are plain C ones, and the options of a conversion stand in a table: Doxygen gets both in its own form."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = ROOT / "include" / "opendlc"
SETTINGS = """
PROJECT_NAME = OpenDLC
PROJECT_BRIEF = "ONNX and TensorFlow models with user-defined ops to DLC containers"
PROJECT_NUMBER = {version}
INPUT = {headers} {page}
FILE_PATTERNS = *.h
EXAMPLE_PATH = {example}
INPUT_FILTER = "{python} {script}"
OUTPUT_DIRECTORY = {out}
HTML_OUTPUT = .
GENERATE_LATEX = NO
OPTIMIZE_OUTPUT_FOR_C = YES
JAVADOC_AUTOBRIEF = YES
AUTOLINK_SUPPORT = YES
TYPEDEF_HIDES_STRUCT = NO
EXTRACT_ALL = YES
SHOW_INCLUDE_FILES = NO
HAVE_DOT = NO
HTML_TIMESTAMP = NO
GENERATE_TREEVIEW = NO
QUIET = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = ODLC_API= ODLC_MUST_USE=
WARN_AS_ERROR = FAIL_ON_WARNINGS
STRIP_FROM_PATH = {root}/include {root}
"""
FIRST_PAGE = """/** @mainpage
This is the reference of libopendlc: every public function, with units, ownership and errors.

- opendlc/convert.h: models become containers
- opendlc/container.h: what is in a container
- opendlc/diff.h: what differs between two containers
- opendlc/quantize.h: quantizing a container
- opendlc/report.h: reports as JSON
- opendlc/run.h: containers are executed
- opendlc/udo.h: descriptions of user-defined ops
- opendlc/package.h: kernels of user-defined ops
- opendlc/reference.h: kernels of native ops, for packages
- opendlc/status.h: outcomes and diagnostics
- opendlc/version.h: versions

A program that converts a model and executes it:

@include convert-and-run.c
*/
"""
COMMENT = re.compile(r"/\*(?!\*).*?\*/", re.DOTALL)
OPTION = re.compile(r"(?P<comment>/\*(?:(?!\*/).)*\*/\n)?ODLC_(?P<kind>FLAG|TEXT|NUMBER|LIST|PAIRS|MEMBER)\("
                    r"(?:(?P<type>[^,()]+), (?P<named>\w+)\)|\w+, (?P<member>\w+))", re.DOTALL)
TYPES = {"FLAG": "int", "TEXT": "const char *", "NUMBER": "int64_t", "LIST": "const char *const *",
         "PAIRS": "const struct odlc_name_value *"}


def options_struct():
    """Members of struct odlc_convert_options, with the comments and help texts of their table."""
    text = (HEADERS / "convert_options.def").read_text().split("/* ---- files ---- */", 1)[1]
    lines = []
    for match in OPTION.finditer(text):
        kind, member = match["kind"], match["member"] or match["named"]
        kind_type = match["type"] if kind == "MEMBER" else TYPES[kind]
        words = re.search(r'\.help = ((?:\s*"(?:[^"\\]|\\.)*")+)', text[match.end():].split("\nODLC_", 1)[0])
        said = re.sub(r"\s*/?\*+/?\s*", " ", match["comment"] or "").strip()
        words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', words[1])) if words else ""
        lines.append((f"    /* {said or words} */\n" if said or words else "") + f"    {kind_type} {member};")
        if kind in ("LIST", "PAIRS"):
            lines.append(f"    /* Length of {member}. */\n    size_t n_{member};")
    return "\n".join(lines)


def escaped(comment):
    """Text in which Doxygen sees no commands; indented lines are code, and stay."""
    return "\n".join(line if re.match(r" \*     ", line) else re.sub(r"([\\@<>#%])", r"\\\1", line) for line in comment.split("\n"))


def for_doxygen(text):
    """A header whose comments are Doxygen's: of the file, of the declaration that follows, of a member before it. A declaration
    that directly follows another one shares its comment."""
    text = re.sub(r"/\* SPDX[^\n]*\n", "", text)
    text = re.sub(r"#define ODLC_DECLARE.*?#include [^\n]*", lambda _: options_struct(), text, flags=re.DOTALL)
    text = COMMENT.sub(lambda found: escaped(found.group()), text)
    text = text.replace("/*", "/** @file\n *", 1)
    text = re.sub(r"^([ \t]*)/\*(?!\*)", r"\1/**", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=\S) /\*(?!\*)", " /**<", text)
    shared = re.compile(r"(^/\*\*(?:(?!\*/).)*\*/\n)(ODLC_API[^;]*;\n)(?=ODLC_API)", re.MULTILINE | re.DOTALL)
    while shared.search(text):
        text = shared.sub(r"\1\2\n\1", text)
    return text


def filtered(path):
    """What Doxygen reads for a file."""
    text = path.read_text()
    return for_doxygen(text) if path.parent == HEADERS else text


def undocumented():
    """Functions whose declaration no comment stands before."""
    texts = (filtered(path) for path in sorted(HEADERS.glob("*.h")))
    return [name for text in texts for end, name in re.findall(r"(\S*)\n+ODLC_API[^;(]*?(\w+)\(", text) if end != "*/"]


def run_doxygen(out):
    header = (HEADERS / "version.h").read_text()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    page = out / "first_page.h"
    page.write_text(FIRST_PAGE)
    version = ".".join(re.findall(r"^#define ODLC_VERSION_[A-Z]+ (\d+)$", header, re.MULTILINE))
    settings = SETTINGS.format(version=version, headers=HEADERS, page=page, example=ROOT / "examples" / "api", python=sys.executable,
                               script=pathlib.Path(__file__).resolve(), out=out, root=ROOT)
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, check=False)
    page.unlink()
    return done.returncode


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    given = pathlib.Path(sys.argv[1])
    if given.suffix in (".h", ".c"):
        print(filtered(given.resolve()))
        return
    if undocumented():
        sys.exit(f"make_api.py: no comment before {', '.join(undocumented())}")
    if not shutil.which("doxygen"):
        sys.exit("make_api.py: doxygen is not installed (scripts/install-packages.sh docs)")
    sys.exit(run_doxygen(given.resolve()))


main()
