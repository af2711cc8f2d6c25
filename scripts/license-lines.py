#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives every file of the project a line that names its licence, or looks whether each has one.
usage: license-lines.py [--check]

The line is a comment near the beginning, in the form that the kind of the file knows. Files that have no comments (JSON, data,
templates of what users own) are listed in REUSE.toml. A pattern there that no such file needs is a mistake, too."""

import fnmatch
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
TAG = "SPDX-License-Identifier: "
LINE = TAG + "Apache-2.0"
NEAR = 5  # lines from the beginning

C, SLASHES, HASH, HTML = "/* {} */", "// {}", "# {}", "<!-- {} -->"
BY_SUFFIX = {
    **dict.fromkeys((".c", ".cl", ".h", ".def", ".css", ".map"), C),
    **dict.fromkeys((".cpp", ".hpp", ".js", ".proto", ".fbs"), SLASHES),
    **dict.fromkeys((".py", ".sh", ".supp", ".dict", ".toml", ".cmake", ".yml"), HASH),
    **dict.fromkeys((".md", ".html"), HTML),
    ".1": ".\\\" {}",
}
BY_NAME = dict.fromkeys(
    (".ci/run", ".clang-format", ".clang-tidy", ".gitignore", "meson_options.txt", "scripts/packages.txt", "tests/unreached.txt",
     "debian/rules", "debian/control", "debian/tests/control"), HASH)


def style_of(name):
    name = name.removesuffix(".in")
    if pathlib.PurePath(name).name == "meson.build":
        return HASH
    return BY_NAME.get(name) or BY_SUFFIX.get(pathlib.PurePath(name).suffix)


def patterns():
    listed = tomllib.loads((ROOT / "REUSE.toml").read_text())["annotations"]
    return [pattern for entry in listed for pattern in entry["path"]]


def has_line(path):
    with path.open("rb") as file:
        return any(TAG.encode() in file.readline() for _ in range(NEAR))


def place_of(lines):
    """Behind what must stand first: the name of an interpreter, the type of a document, a preprocessor of man pages."""
    return 1 if lines and lines[0].startswith(("#!", "<!DOCTYPE", "'\\\"")) else 0


def add_line(path, style):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(place_of(lines), style.format(LINE) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def main():
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True, check=False)
    if listing.returncode:
        print("skipped: this is no git checkout\n0 passed, 0 failed, 1 skipped")
        sys.exit(77)
    names = sorted(name for name in set(listing.stdout.split("\0")) if name and (ROOT / name).is_file())
    unused, missing = set(patterns()), []
    for name in names:
        if has_line(ROOT / name):
            continue
        matching = {pattern for pattern in patterns() if fnmatch.fnmatchcase(name, pattern)}
        unused -= matching
        if not matching:
            missing.append(name)
    if sys.argv[1:] == ["--check"]:
        for name in missing:
            print(f"FAILED: {name} has no line '{LINE}' (scripts/license-lines.py adds it), and REUSE.toml does not list it")
        for pattern in sorted(unused):
            print(f"FAILED: REUSE.toml: no file without a line of its own matches {pattern}")
        print(f"{len(names) - len(missing)} passed, {len(missing) + len(unused)} failed, 0 skipped")
        sys.exit(1 if missing or unused else 0)
    for name in missing:
        style = style_of(name)
        if style is None:
            sys.exit(f"license-lines.py: {name}: this kind of file has no known form of comments: list it in REUSE.toml")
        add_line(ROOT / name, style)


main()
