# SPDX-License-Identifier: Apache-2.0
"""Reads every #include and fails on one that goes against the direction of dependencies (docs/architecture.md)."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402
from law import ALLOWED, is_lawful, room_of  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def resolve(including, name):
    """The path from the root that an include means, or None when it is not a file of the project."""
    for folder in (including.parent, SOURCE, SOURCE / "include", SOURCE / "src"):
        path = folder / name
        if path.is_file():
            return path.resolve().relative_to(SOURCE.resolve()).as_posix()
    return None


def project_files():
    for folder in ("include", "src", "converters"):
        for suffix in ("*.h", "*.c", "*.def"):
            yield from sorted((SOURCE / folder).rglob(suffix))


def find_cycle(graph):
    """One cycle of a dict name → set of names, as a list, or None."""
    state, stack = {}, []

    def visit(name):
        state[name] = "open"
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if state.get(other) == "open":
                return stack[stack.index(other):] + [other]
            if other not in state:
                cycle = visit(other)
                if cycle:
                    return cycle
        stack.pop()
        state[name] = "done"
        return None

    for name in sorted(graph):
        if name not in state:
            cycle = visit(name)
            if cycle:
                return cycle
    return None


def main():
    checks = Checks()
    headers, rooms = {}, {}
    for path in project_files():
        name = path.relative_to(SOURCE).as_posix()
        room = room_of(name)
        if room not in ALLOWED:
            checks.check(name, False, f"room '{room}' is not in the dependency rules")
            continue
        wrong = []
        for include in INCLUDE.findall(path.read_text()):
            target = resolve(path, include)
            if target is None:
                if not include.endswith(".pb-c.h"):
                    wrong.append(f"{include} is no file of the project")
                continue
            other = room_of(target)
            headers.setdefault(name, set()).add(target)
            rooms.setdefault(room, set()).update({other} - {room})
            if not is_lawful(room, other):
                wrong.append(f"{include} is of room '{other}'")
        checks.check(name, not wrong, "; ".join(wrong))
    checks.check("there are sources", headers)
    checks.equal("no cycle of rooms", find_cycle(rooms), None)
    checks.equal("no cycle of files", find_cycle(headers), None)
    checks.finish()


main()
