#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints circles of files in a room: units of one folder that all lead to each other.
usage: scripts/circles.py BUILD [--max N] [--verbose]   (BUILD is built; status 1 when a circle has more than N units, default 2)

A unit is NAME.c, NAME.h and NAME.def together. There are two ways from one to another of its folder, each with circles of its
own: a file of the one includes a file of the other ("includes"), or the object of the one uses a symbol that the other's
defines ("symbols"): one header may declare what several files define.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("include", "src", "converters")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
HEADER_ROOTS = (ROOT, ROOT / "include", ROOT / "src")


def unit_of(path):
    """(folder, name) of a source file."""
    return path.parent, path.stem


def includes():
    """Pairs of units: one includes the other. An include is looked for beside the file, then along the build's -I."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for name in INCLUDE.findall(path.read_text()):
                found = next((p for p in (path.parent / name, *(root / name for root in HEADER_ROOTS)) if p.exists()), None)
                if found:
                    yield unit_of(path), unit_of(pathlib.Path(os.path.normpath(found)))


def objects(build):
    """{source file: object} of the product; a file that several programs compile counts once."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(os.path.normpath(build / entry["file"]))
        if any(source.is_relative_to(ROOT / folder) for folder in FOLDERS):
            found.setdefault(source, build / entry["output"])
    return {source: path for source, path in found.items() if path.exists()}


def symbols(paths):
    """{object: (defined, undefined) global names}"""
    listing = subprocess.run(["nm", "-A", "-g", "-P", *paths], capture_output=True, text=True, check=True).stdout
    found = {str(path): (set(), set()) for path in paths}
    for line in listing.splitlines():
        path, _, rest = line.rpartition(": ")
        name, kind = rest.split()[:2]
        found[path][kind in "Uvw"].add(name)
    return found


def uses(build):
    """Pairs of units: the object of one uses a symbol that the other's defines."""
    units = {str(path): unit_of(source) for source, path in sorted(objects(build).items())}
    tables = symbols(list(units))
    owner = {name: units[path] for path, (defined, _) in tables.items() for name in defined if name != "main"}
    for path, (_, used) in tables.items():
        for name in sorted(used & owner.keys()):
            yield units[path], owner[name]


def edges_within_rooms(pairs):
    edges = collections.defaultdict(set)
    for user, used in pairs:
        if user != used and user[0] == used[0]:
            edges[user].add(used)
    return edges


def reachable(edges, start):
    seen, left = set(), [start]
    while left:
        for unit in edges.get(left.pop(), ()):
            if unit not in seen:
                seen.add(unit)
                left.append(unit)
    return seen


def circles(edges):
    """Sets of two units or more, each of which leads to all of its set."""
    reach = {unit: reachable(edges, unit) for unit in list(edges)}
    found = {frozenset(other for other in reach[unit] if unit in reach.get(other, ())) for unit in reach}
    return sorted((sorted(circle) for circle in found if len(circle) > 1), key=lambda circle: (-len(circle), circle))


def circles_by_way(build):
    """{"includes" or "symbols": (circles, edges)}"""
    ways = {"includes": includes(), "symbols": uses(build.resolve())}
    edges = {way: edges_within_rooms(pairs) for way, pairs in ways.items()}
    return {way: (circles(edges[way]), edges[way]) for way in ways}


def label(way, circle):
    """As "src/ir: 2 units by symbols: tiles, view"."""
    return f"{circle[0][0].relative_to(ROOT)}: {len(circle)} units by {way}: {', '.join(name for _, name in circle)}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[1].removeprefix("usage: "))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--max", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    longest = 0
    for way, (found, edges) in circles_by_way(arguments.build).items():
        for circle in found:
            print(label(way, circle))
            for unit in circle if arguments.verbose else ():
                print(f"    {unit[1]} -> {', '.join(sorted(name for _, name in edges[unit] & set(circle)))}")
        longest = max(longest, *map(len, found), 0)
        print(f"{way}: {len(found)} circles")
    sys.exit(longest > arguments.max)


if __name__ == "__main__":
    main()
