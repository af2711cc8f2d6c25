#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Containers in the eyes of programs that others wrote: unzip, Python's zipfile, flatc with proto/dlc.fbs.
usage: test_other_programs.py WRITE_SAMPLE"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import checks
import dlc_tools

NAMES = ["dlc.metadata", "model", "model.params"]
STATICS = ["empty", "ones", "table", "words"]  # sorted by name
PARAMS = ["blend_modes", "blend_offsets", "blend_weights", "turn_perm"]
TABLE = bytes.fromhex("003e004400c0004500424046")  # halves of 1.5 4 -2 5 3 6.25
WORDS = "\0a\0zwei Wörter\0".encode()
OFFSETS = b"\xff\xff\xff\xff\0\0\0\0\7\0\0\0\xff\xff\xff\x7f"


def check_zip(test, path):
    with zipfile.ZipFile(path) as archive:
        test.equal("zipfile finds no wrong CRC", archive.testzip(), None)
        test.equal("entries", archive.namelist(), NAMES)
        for info in archive.infolist():
            test.equal(f"{info.filename} is stored, version 4.5, without flags or a time",
                       (info.compress_type, info.extract_version, info.flag_bits, info.date_time),
                       (0, 45, 0, (1980, 1, 1, 0, 0, 0)))


def check_model(test, model):
    graph = model["graphs"][0]
    test.equal("graph names", (graph["name"], graph["name_again"]), ("sample", "sample"))
    blend, turn = graph["ops"]
    test.equal("op", (blend["name"], blend["type"], blend["outputs"]), ("blend", "Blend", ["y", "spare"]))
    test.equal("inputs", blend["inputs"], ["x", "table", "", "words", "ones", "empty"])
    test.equal("attributes by name", [a["name"] for a in blend["attributes"]],
               ["alpha", "count", "flag", "label", "modes", "offsets", "packageName", "weights"])
    scalars = {a["name"]: a.get("scalar") for a in blend["attributes"]}
    test.equal("float scalar", scalars["alpha"], {"dtype": 0x232, "float_value": 0.2})
    test.equal("int scalar", scalars["count"], {"dtype": 0x64, "int_value": -5000000000})
    test.equal("bool scalar", scalars["flag"], {"dtype": 0x508, "int_value": 1})
    test.equal("package", scalars["packageName"], {"dtype": 0x7FFFFFFF, "string_value": "MyPack"})
    offsets = next(a["tensor"] for a in blend["attributes"] if a["name"] == "offsets")
    test.equal("tensor attribute", offsets, {
        "id": 7, "name": "blend_offsets", "kind": 4, "dims": [2, 2], "axis_format": 8,
        "quantization": {"encoding": 0x7FFFFFFF}, "dtype": 0x32, "source_dtype": 0x32})
    test.equal("Transpose", [a["name"] for a in turn["attributes"]], ["packageName", "perm"])
    tensors = {t["name"]: t for t in graph["tensors"]}
    test.equal("unquantized input", tensors["x"], {
        "id": 1, "name": "x", "dims": [1, 2, 3], "axis_format": 5, "quantization": {"encoding": 0x7FFFFFFF},
        "dtype": 0x232, "source_dtype": 0x232, "is_quantizable": True})
    test.equal("encoding", tensors["y"]["quantization"]["scale_offset"],
               {"bitwidth": 8, "min": -32.0, "max": 31.75, "scale": 0.25, "offset": -128})


def data_of(params):
    graph = params["graphs"][0]
    return graph["tensors"] + [data for op in graph["ops"] for data in op["tensors"]]


def buffer_at(entry, index):
    """Bytes of NR64 buffer `index`: Buffers.buffers is the first field of the root, Buffer.offset the only one of its own."""
    def u(pos, size):
        return int.from_bytes(entry[pos:pos + size], "little")

    def field(table, slot):
        vtable = table - int.from_bytes(entry[table:table + 4], "little", signed=True)
        return table + u(vtable + 4 + 2 * slot, 2)
    at = field(u(0, 4), 0)
    at += u(at, 4) + 4 + 4 * index
    at = field(at + u(at, 4), 0)
    start = at + u(at, 8)
    return start + 8, entry[start + 8:start + 8 + u(start, 8)]


def check_params(test, params, entry):
    data = data_of(params)
    test.equal("order of the payloads", [d["name"] for d in data], STATICS + PARAMS)
    if entry[4:8] == b"NR64":
        test.equal("indices", [d["buffer_index"] for d in data], list(range(8)))
        places, payloads = zip(*(buffer_at(entry, i) for i in range(8)))
        test.check("payloads are aligned", all((place + 8) % 16 == 0 for place in places))
    else:
        payloads = [bytes(d["bytes"]) for d in data]
    found = dict(zip(STATICS + PARAMS, payloads))
    test.equal("permuted halves", found["table"], TABLE)
    test.equal("strings", found["words"], WORDS)
    test.equal("no elements", found["empty"], b"")
    test.equal("offsets", found["blend_offsets"], OFFSETS)


def main():
    test = checks.Checks()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        for name in ("nr64", "netp"):
            path = pathlib.Path(folder) / f"{name}.dlc"
            check_zip(test, path)
            if dlc_tools.UNZIP:
                test.equal("unzip -t", dlc_tools.unzip_accepts(path), None)
            else:
                test.skip("unzip -t", "unzip is not installed")
            if not dlc_tools.FLATC:
                test.skip("flatc", "flatc is not installed")
                continue
            with zipfile.ZipFile(path) as archive:
                model, params = archive.read("model"), archive.read("model.params")
            test.equal("stream headers", (model[:8], params[:8]), (b"\xd5\x0a\4\0\0\0\0\0",) * 2)
            check_model(test, dlc_tools.decode(folder, "dlc.v4.Network", model[8:]))
            check_params(test, dlc_tools.decode(folder, "dlc.v4.Params", dlc_tools.nested_params(params)), params[8:])
    test.finish()


main()
