#!/usr/bin/python3
"""Each command's man page lists the options that --help lists, with the same spellings and values, and no others; and
it is clean for man, groff and mandoc, those that are installed."""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import COMMAND_FOLDERS, SOURCE, Checks, run

FORMATTERS = (
    ("man", ["man", "--warnings", "-E", "UTF-8", "-l", "{page}"]),
    ("groff", ["groff", "-ww", "-man", "-Kutf8", "-z", "{page}"]),
    # A page without a date is meant to be: the same sources give the same bytes.
    ("mandoc", ["mandoc", "-T", "lint", "-W", "warning", "{page}"]),
)
HARMLESS = re.compile(r"missing date")


def options_of_help(name):
    """{long name: (all spellings, values)}; names of values and their punctuation count, white space does not."""
    found = {}
    for line in run(name, "--help").stdout.splitlines():
        match = re.match(r"  (?=-)((?:-\w+, )*--(\w+))(?: (\S.*?))?(?:\s{2,}.*)?$", line)
        if match:
            found[match[2]] = (set(match[1].split(", ")), "".join((match[3] or "").split()))
    return found


def plain(line):
    """A line of a man page without its macro, fonts and quotes."""
    line = re.sub(r"^\.(?:B|BR|RB|I|IR|BI) ", "", line)
    words = re.findall(r'"([^"]*)"|(\S+)', line)
    text = "".join(quoted or bare for quoted, bare in words)
    return re.sub(r"\\f[RIBP]", "", text).replace(r"\-", "-")


def options_of_page(text):
    """The same of the tags in the section OPTIONS; aliases stand among the spellings."""
    section = re.search(r"^\.SH OPTIONS\n(.*?)^\.SH ", text, re.MULTILINE | re.DOTALL)[1]
    found = {}
    for tag in re.findall(r"^\.TP\n(\.B.*)$", section, re.MULTILINE):
        match = re.match(r"((?:-+\w+, )*-+\w+)(.*)$", plain(tag))
        spellings = match[1].split(", ")
        longs = [spelling[2:] for spelling in spellings if spelling.startswith("--")]
        found[longs[0]] = (set(spellings), "".join(match[2].split()), set(longs[1:]))
    return found


def check_options(checks, name, text):
    listed, written = options_of_help(name), options_of_page(text)
    checks.check(f"{name} lists options", len(listed) > 5, listed)
    checks.equal(f"{name}: options in the page", sorted(written), sorted(listed))
    for option in sorted(set(listed) & set(written)):
        spellings, values, aliases = written[option]
        shown = spellings - {"--" + alias for alias in aliases}
        checks.equal(f"{name} --{option}: spellings", shown, listed[option][0])
        checks.equal(f"{name} --{option}: values", values, listed[option][1])
        for alias in aliases:
            # A known option without its values, or with an unknown name, are different complaints.
            said = run(name, "--" + alias).stderr
            checks.check(f"{name} --{alias} is known", "unknown option" not in said and "ambiguous" not in said, said)


def main():
    checks = Checks()
    for name in COMMAND_FOLDERS:
        page = SOURCE / "docs" / f"{name}.1"
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
