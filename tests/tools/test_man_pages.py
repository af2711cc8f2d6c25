#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each command's man page lists the options that --help lists, with the same headings, spellings, values and sentences,
in the same order, and no others; and it is clean for man, groff and mandoc, those that are installed."""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, COMMAND_FOLDERS, Checks, run
from help_options import options_of_help

FORMATTERS = (
    ("man", ["man", "--warnings", "-E", "UTF-8", "-l", "{page}"]),
    ("groff", ["groff", "-ww", "-man", "-Kutf8", "-z", "{page}"]),
    # A page without a date is meant to be: the same sources give the same bytes.
    ("mandoc", ["mandoc", "-T", "lint", "-W", "warning", "{page}"]),
)
HARMLESS = re.compile(r"missing date")


def plain(text):
    """Text of a man page without fonts and escapes."""
    text = re.sub(r"\\f[RIB]", "", text)
    for escape, meant in ((r"\&", ""), (r"\-", "-"), (r"\(ha", "^"), (r"\e", "\\")):
        text = text.replace(escape, meant)
    return text


def options_of_page(text):
    """{long name: (all spellings, values, text)} of the section OPTIONS; aliases stand among the spellings, behind."""
    section = re.search(r"^\.SH OPTIONS\n(.*?)^\.SH ", text, re.MULTILINE | re.DOTALL)[1]
    found = {}
    for tag, body in re.findall(r"^\.TP\n(.*)\n((?:(?!\.(?:TP|SS)).*\n)*)", section, re.MULTILINE):
        match = re.match(r"((?:-+[\w-]+, )*-+[\w-]+)(?: (.*))?$", plain(tag))
        spellings = match[1].split(", ")
        first = next(spelling[2:] for spelling in spellings if spelling.startswith("--"))
        found[first] = (spellings, match[2] or "", " ".join(plain(body).split()))
    return found


def check_options(checks, name, text):
    listed, written = options_of_help(name), options_of_page(text)
    checks.check(f"{name} lists options", len(listed) > 5, listed)
    checks.equal(f"{name}: options in the page", list(written), list(listed))
    for option in sorted(set(listed) & set(written)):
        shown, (spellings, values, said) = listed[option], written[option]
        checks.equal(f"{name} --{option}: spellings", spellings[:len(shown.spellings)], shown.spellings)
        checks.equal(f"{name} --{option}: values", values, shown.values)
        sentence = shown.text[0].upper() + shown.text[1:] + "."
        checks.equal(f"{name} --{option}: sentence", said[:len(sentence)], sentence)
        for alias in spellings[len(shown.spellings):]:
            # A known option without its values, or with an unknown name, are different complaints.
            said = run(name, alias).stderr
            checks.check(f"{name} {alias} is known", "unknown option" not in said and "ambiguous" not in said, said)
    headings = re.findall(r"^(\S.*):$", run(name, "--help").stdout, re.MULTILINE)
    checks.equal(f"{name}: headings", re.findall(r"^\.SS (.*)$", text, re.MULTILINE),
                 [heading for heading in headings if heading != "Options"])


def main():
    checks = Checks()
    for name in COMMAND_FOLDERS:
        page = BUILD / "docs" / f"{name}.1"
        if not checks.check(f"{name} has a page", page.exists()):
            continue
        check_options(checks, name, page.read_text())
        for formatter, words in FORMATTERS:
            if not shutil.which(formatter):
                checks.skip(f"{formatter} of {name}", "not installed")
                continue
            words = [word.format(page=page) for word in words]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            said = done.stderr if formatter != "mandoc" else done.stdout
            wrong = [line for line in said.splitlines() if line and not HARMLESS.search(line)]
            checks.check(f"{formatter} of {name}", not wrong, "\n".join(wrong))
    checks.finish()


main()
