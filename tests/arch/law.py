# SPDX-License-Identifier: Apache-2.0
"""The law of dependencies (docs/architecture.md): which room may use which."""

import pathlib

# The law, a room a line: what a room may include beside itself, include/opendlc, and what the named rooms may include.
# Rooms of src go by their folder, those of converters by theirs: onnx.decode is converters/onnx/decode.
LAW = """
base
text                    base
ir                      base
encoding                text ir
op                      ir
kernel                  op
build                   kernel
pass                    build
udo                     text build
dlc                     text build
runtime                 build
backend                 runtime text
quantize                runtime dlc encoding
package                 runtime udo sdk
plugin                  package
gen                     udo
trial                   plugin encoding
api                     pass udo dlc runtime backend quantize package plugin

frontend                ir
lowering                frontend build
onnx.schema             frontend
onnx.decode             onnx.schema
onnx.lower              onnx.schema lowering
onnx                    onnx.decode onnx.lower
tensorflow.schema       frontend
tensorflow.source       tensorflow.schema
tensorflow.decode       tensorflow.schema
tensorflow.normalize    tensorflow.decode tensorflow.source
tensorflow.lower        tensorflow.schema lowering
tensorflow              tensorflow.normalize tensorflow.lower
driver                  lowering pass udo dlc package encoding
converters              driver onnx tensorflow
"""
# Rooms that may include the named ones alone, and not what these may.
NARROW = """
opendlc
sdk
report                  base text api opendlc
tools                   base text ir op udo dlc runtime gen trial quantize api report opendlc
web                     base dlc api report
commands                tools base text opendlc frontend driver onnx tensorflow
"""
# The command of a front end is a tool that happens to live beside it.
COMMANDS = {f"converters/{framework}/{framework}-to-dlc.c" for framework in ("onnx", "tensorflow")}


def parse(law):
    """{room: set of the rooms that its line names}."""
    return {words[0]: set(words[1:]) for words in map(str.split, law.strip().splitlines()) if words}


def closed(rooms):
    """{room: all rooms that it may include}, of a law whose lines name rooms of lines before them."""
    found = {}
    for room, named in rooms.items():
        found[room] = {room, "opendlc"} | named
        for other in named:
            found[room] |= found.get(other, set())
    return found


ALLOWED = closed(parse(LAW)) | {room: {room} | named for room, named in parse(NARROW).items()}


def room_of(path):
    """Room of a file, given its path from the root: "src/ir/graph.h" is of room "ir"."""
    parts = pathlib.PurePath(path).parts
    if path in COMMANDS:
        return "commands"
    if parts[0] in ("src", "include"):
        return parts[1]
    inner = parts[1:-1]
    return ".".join(inner) if inner else parts[0]


def is_lawful(room, other):
    return other in ALLOWED[room]
