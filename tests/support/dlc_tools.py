# SPDX-License-Identifier: Apache-2.0
"""Shows containers to programs of others: unzip, and flatc with the schema in proto/dlc.fbs."""

import itertools
import json
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import zipfile

from checks import LONG, SOURCE, leave_out

FLATC = shutil.which("flatc")
UNZIP = shutil.which("unzip")
STEP = 5  # of containers that are shown to others without ODLC_LONG=1
NUMBERS = itertools.count()


def unzip_accepts(path):
    """None when `unzip -t` finds nothing wrong, else what it says."""
    done = subprocess.run([UNZIP, "-tqq", path], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


def decode(folder, table, data):
    """What flatc makes of a flatbuffer whose root is that table, as JSON."""
    binary = pathlib.Path(folder) / "data.bin"
    binary.write_bytes(data)
    arguments = ["--json", "--strict-json", "--raw-binary", "--root-type", table, "-o", folder]
    done = subprocess.run([FLATC, *arguments, SOURCE / "proto" / "dlc.fbs", "--", binary],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{table}: {done.stdout}{done.stderr}")
    text = (pathlib.Path(folder) / "data.json").read_text()
    # flatc writes floats as C does, Python's reader has names of its own for the special ones.
    return json.loads(re.sub(r": (-?)inf\b", r": \1Infinity", re.sub(r": -?nan\b", ": NaN", text)))


def nested_params(entry):
    """The NETP flatbuffer of a model.params entry: the entry itself, or nested in NR64 (second field of its root)."""
    data = entry[8:]
    if data[4:8] == b"NETP":
        return data
    root = struct.unpack_from("<I", data)[0]
    vtable = root - struct.unpack_from("<i", data, root)[0]
    field = root + struct.unpack_from("<H", data, vtable + 6)[0]
    start = field + struct.unpack_from("<I", data, field)[0]
    size = struct.unpack_from("<I", data, start)[0]
    return data[start + 4:start + 4 + size]


def flatc_decodes(path):
    """None when flatc decodes `model` and the NETP of `model.params`, and they are about the same graph and as many
    ops, else what is wrong."""
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        try:
            model = decode(folder, "dlc.v4.Network", archive.read("model")[8:])["graphs"][0]
            params = decode(folder, "dlc.v4.Params", nested_params(archive.read("model.params")))["graphs"][0]
        except (ValueError, KeyError, IndexError) as error:
            return repr(error)
    found = [(graph["name"], len(graph["ops"])) for graph in (model, params)]
    return None if found[0] == found[1] else f"model and params differ: {found}"


def refusal(path):
    """None when unzip and flatc (those that are there) accept the container, else what they say."""
    programs = ((UNZIP, unzip_accepts), (FLATC, flatc_decodes))
    said = (accepts(path) for program, accepts in programs if program)
    return next((words for words in said if words), None)


def refusal_of_some(path):
    """As refusal, of each STEP-th container alone without ODLC_LONG=1."""
    chosen = LONG or next(NUMBERS) % STEP == 0
    leave_out(0 if chosen else 1, 1, "containers for unzip and flatc to read")
    return refusal(path) if chosen else None
