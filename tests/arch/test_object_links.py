# SPDX-License-Identifier: Apache-2.0
"""The rooms' objects use functions and tables of rooms that the law allows them alone: a declaration of one's own, or a symbol
that another header happens to declare, is no way around the includes."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, SOURCE, Checks  # noqa: E402
from law import is_lawful, room_of  # noqa: E402


def sources():
    """{file name: room}; no two files have one name."""
    paths = [path for folder in ("src", "converters") for path in (SOURCE / folder).rglob("*.c")]
    return {path.name: room_of(path.relative_to(SOURCE).as_posix()) for path in paths}


def source_of(object_file, rooms):
    """The source of an object, whose name has the folders in it where the source is in another one: .._kernel_conv.c.o"""
    words = object_file.name.removesuffix(".o").split("_")
    names = ("_".join(words[i:]) for i in range(len(words)))
    return next((name for name in names if name in rooms), None)


def symbols(objects):
    """{object: (symbols that it defines, symbols that it needs)}."""
    done = subprocess.run(["nm", "-g", "-P", "-A", *objects], capture_output=True, text=True, check=True)
    found = {path: (set(), set()) for path in objects}
    for line in done.stdout.splitlines():
        place, name, kind = line.split()[:3]
        found[pathlib.Path(place.rstrip(":"))][kind == "U"].add(name)
    return found


def main():
    checks = Checks()
    rooms = sources()
    objects = [path for folder in ("src", "converters") for path in sorted((BUILD / folder).rglob("libodlc-*.a.p/*.o"))]
    of_object = {path: source_of(path, rooms) for path in objects}
    found = symbols([path for path in objects if of_object[path]])
    owner = {name: rooms[of_object[path]] for path, (defined, _) in found.items() for name in defined}
    if not owner:
        checks.skip("symbols", "the objects hold none: they are compiled when they are linked")
        checks.finish()
    for path, (_, needed) in found.items():
        room = rooms[of_object[path]]
        wrong = sorted(f"{name} is of room '{owner[name]}'" for name in needed & owner.keys() if not is_lawful(room, owner[name]))
        checks.check(of_object[path], not wrong, "; ".join(wrong))
    checks.check("there are objects of all kinds of rooms", {"base", "op", "frontend", "lowering", "driver"} <= set(owner.values()))
    checks.finish()


main()
