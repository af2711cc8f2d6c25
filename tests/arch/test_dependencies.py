"""Reads every #include and fails on one that goes against the direction of dependencies (docs/architecture.md)."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

# What a room may include beside itself and include/opendlc.
OP_AND_BELOW = {"base", "ir", "op"}
BUILD_AND_BELOW = OP_AND_BELOW | {"kernel", "build"}
ALLOWED = {
    "base": set(),
    "ir": {"base"},
    "op": {"base", "ir"},
    "kernel": OP_AND_BELOW,
    "build": OP_AND_BELOW | {"kernel"},
    "pass": BUILD_AND_BELOW,
    "udo": BUILD_AND_BELOW,
    "dlc": BUILD_AND_BELOW,
    "runtime": BUILD_AND_BELOW,
    "backend": BUILD_AND_BELOW | {"runtime"},
    "gen": BUILD_AND_BELOW | {"udo"},
    "api": BUILD_AND_BELOW | {"pass", "udo", "dlc", "runtime", "backend"},
    "converters": BUILD_AND_BELOW | {"pass", "udo", "dlc"},
    "tools": OP_AND_BELOW | {"udo", "dlc", "runtime", "api"},
}
# The command of a front end is a tool that happens to live beside it.
COMMAND = ALLOWED["converters"] | ALLOWED["tools"] | {"tools", "converters"}
COMMANDS = {f"converters/{framework}/{framework}-to-dlc.c": COMMAND for framework in ("onnx", "tensorflow")}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def room_of(path):
    """Room of a file, given its path from the root: "src/ir/graph.h" is of room "ir"."""
    parts = pathlib.PurePath(path).parts
    if parts[0] == "src":
        return parts[1]
    return "opendlc" if parts[0] == "include" else parts[0]


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
    headers = {}
    rooms = {}
    for path in project_files():
        name = path.relative_to(SOURCE).as_posix()
        room = room_of(name)
        if room not in ALLOWED and room != "opendlc":
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
            if name not in COMMANDS:
                rooms.setdefault(room, set()).update({other} - {room})
            allowed = COMMANDS.get(name, ALLOWED.get(room, set()) | {room}) | {"opendlc"}
            if room == "opendlc":
                allowed = {"opendlc"}
            if other not in allowed:
                wrong.append(f"{include} is of room '{other}'")
        checks.check(name, not wrong, "; ".join(wrong))
    checks.check("there are sources", headers)
    checks.equal("no cycle of rooms", find_cycle(rooms), None)
    checks.equal("no cycle of files", find_cycle(headers), None)
    checks.finish()


main()
