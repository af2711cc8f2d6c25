# SPDX-License-Identifier: Apache-2.0
"""Containers of more than 4 GiB: entries, offsets and constants that 32 bits cannot count, in all forms that zips have
for them. The files are mostly holes; where the file system has none, the test is skipped."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import dlc_writer as w  # noqa: E402
from checks import SKIPPED, Checks, command, run  # noqa: E402

HUGE_DIMS = [3, 1450000000]  # one constant of more than 4 GiB, and another one behind it
HUGE = HUGE_DIMS[0] * HUGE_DIMS[1]
FAR = struct.pack("<4f", 1.5, -2.0, 0.25, 1024.0)
MEBIBYTES = 32
SENTINEL = 0xFFFFFFFF


def headers(version_minor):
    return struct.pack("<4H", 0x0AD5, 4, version_minor, 0)


def model_stream(minor):
    graph = w.Graph("large")
    graph.tensor("x", w.APP_WRITE, w.FLOAT_32, [1, 4])
    graph.tensor("far", w.STATIC, w.FLOAT_32, [4], data=b"")
    graph.tensor("huge", w.STATIC, w.UINT_8, HUGE_DIMS, data=b"")
    graph.tensor("y", w.APP_READ, w.FLOAT_32, [1, 4])
    graph.op("add", "Eltwise_Binary", ["x", "far"], ["y"],
             [w.text("eltwise_type", "ElementWiseAdd"), w.text("packageName", "qti.aisw")])
    model = {0: [{0: graph.name, 1: graph.ops, 2: graph.tensors, 4: graph.name}]}
    return headers(minor) + bytes(w.Buffer(b"NETD", model).data)


def params_stream(minor):
    """Pieces (position, bytes) and the size of an NR64 stream: huge first, then far."""
    netp = {0: [{0: "large", 1: [{0: "far", 2: ("Q", 0)}, {0: "huge", 2: ("Q", 1)}], 2: [{0: []}]}]}
    nested = bytes(w.Buffer(b"NETP", netp).data)
    marks = [0x1122334455667788, 0x1122334455667789]  # found and replaced: the builder does not tell positions
    head = bytearray(w.Buffer(b"NR64", {0: [{0: ("Q", mark)} for mark in marks], 1: nested}).data)
    huge = -(-(len(head) + 16) // 64) * 64 - 8  # of the payload in the buffer: 64-byte aligned in the stream
    far = -(-(huge + HUGE + 16) // 64) * 64 - 8
    for mark, place in zip(marks, (far, huge)):
        at = head.index(struct.pack("<Q", mark))
        struct.pack_into("<Q", head, at, place - 8 - at)
    pieces = [(0, headers(minor) + head), (huge, struct.pack("<Q", HUGE)), (far, struct.pack("<Q", len(FAR)) + FAR)]
    return pieces, 8 + far + len(FAR)


# ---- CRC-32 over holes ----

def times(matrix, vector):
    total, row = 0, 0
    while vector:
        if vector & 1:
            total ^= matrix[row]
        vector >>= 1
        row += 1
    return total


def crc_of_hole(crc, size):
    """The CRC after `size` zeros more: the step for one zero bit, as a matrix over bits, to the power of their number."""
    power, state, bits = [0xEDB88320] + [1 << i for i in range(31)], crc ^ SENTINEL, 8 * size
    while bits:
        if bits & 1:
            state = times(power, state)
        power = [times(power, row) for row in power]
        bits >>= 1
    return state ^ SENTINEL


def crc_of(pieces, size):
    crc = at = 0
    for position, raw in pieces:
        crc = zlib.crc32(raw, crc_of_hole(crc, position - at))
        at = position + len(raw)
    return crc_of_hole(crc, size - at)


# ---- the zip ----

class Zip:
    """form: 'always' (every field is wide, as the vendor's files are), 'needed' (only what does not fit 32 bits), 'later'
    (sizes and CRC follow the data), 'second' (the wide fields stand behind another extra field)."""

    def __init__(self, path, form):
        self.file, self.form, self.directory, self.count = open(path, "wb"), form, b"", 0

    def extra(self, *fields):
        """The narrow fields, and the extra field with those that are wide."""
        wide = [f for f in fields if self.form == "always" or f >= SENTINEL]
        raw = struct.pack("<HH", 1, 8 * len(wide)) + struct.pack(f"<{len(wide)}Q", *wide) if wide else b""
        if self.form == "second":
            raw = struct.pack("<HHI", 0x7855, 4, 7) + raw
        return [SENTINEL if f in wide else f for f in fields], raw

    def add(self, name, pieces, size, crc, aligned=False):
        header, later = self.file.tell(), self.form == "later"
        (narrow, _), extra = self.extra(*((0, 0) if later else (size, size)))
        if aligned:
            padding = -(header + 30 + len(name) + len(extra) + 4) % 64
            extra += struct.pack("<HH", 0xD935, padding) + bytes(padding)
        self.file.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 8 * later, 0, 0, 33, 0 if later else crc, narrow,
                                    narrow, len(name), len(extra)) + name.encode() + extra)
        start = self.file.tell()
        for position, raw in pieces:
            self.file.seek(start + position)
            self.file.write(raw)
        self.file.seek(start + size)
        if later:
            self.file.write(struct.pack("<IIQQ", 0x08074B50, crc, size, size))
        (unpacked, packed, offset), extra = self.extra(size, size, header)
        self.directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 8 * later, 0, 0, 33, crc, packed,
                                      unpacked, len(name), len(extra), 0, 0, 0, 0, offset) + name.encode() + extra
        self.count += 1

    def close(self):
        at = self.file.tell()
        self.file.write(self.directory)
        end64 = self.file.tell()
        self.file.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, self.count, self.count,
                                    len(self.directory), at))
        self.file.write(struct.pack("<IIQI", 0x07064B50, 0, end64, 1))
        wide = self.form == "always"
        count, size, offset = (0xFFFF if wide else self.count), (SENTINEL if wide else len(self.directory)), SENTINEL
        self.file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, size, offset, 0))
        self.file.close()


def write_container(path, form, params_first, minor, params_crc):
    """A CRC of 0 is not compared, as in files of 4.1."""
    archive, (pieces, size) = Zip(path, form), params_stream(minor)
    model, metadata = model_stream(minor), w.METADATA.encode()
    steps = [lambda: archive.add("dlc.metadata", [(0, metadata)], len(metadata), zlib.crc32(metadata)),
             lambda: archive.add("model", [(0, model)], len(model), zlib.crc32(model)),
             lambda: archive.add("model.params", pieces, size, params_crc, aligned=form != "second")]
    for step in reversed(steps) if params_first else steps:
        step()
    archive.close()


# ---- checks ----

def peak_of(*arguments):
    """Mebibytes that a command had resident."""
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / 1024


def check_reports(checks, label, path):
    listing = run("dlc-info", "-i", path, "--json")
    if not checks.equal(f"{label}: status", (listing.returncode, listing.stderr), (0, "")):
        return
    report = json.loads(listing.stdout)
    params = next(e for e in report["entries"] if e["name"] == "model.params")
    checks.equal(f"{label}: size of the entry", params["size"], params_stream(0)[1])
    sizes = {t["name"]: t["data_size"] for t in report["graphs"][0]["tensors"]}
    checks.equal(f"{label}: sizes of constants", (sizes["huge"], sizes["far"]), (HUGE, len(FAR)))
    far = json.loads(run("dlc-info", "-i", path, "--tensor", "far", "--json").stdout)
    checks.equal(f"{label}: values", far["tensor"]["values"], [1.5, -2.0, 0.25, 1024.0])


def check_run(checks, label, path, folder):
    (folder / "x.raw").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
    (folder / "list.txt").write_text(f"{folder}/x.raw\n")
    done = run("net-run", "--container", path, "--input_list", folder / "list.txt", "--output_dir", folder / "out")
    checks.equal(f"{label}: net-run", (done.returncode, done.stderr), (0, ""))
    if done.returncode == 0:
        result = struct.unpack("<4f", (folder / "out" / "Result_0" / "y.raw").read_bytes())
        checks.equal(f"{label}: result", result, (2.5, 0.0, 3.25, 1028.0))


def check_memory(checks, label, path):
    small = peak_of(command("dlc-info"), "--version")
    if small > MEBIBYTES / 2:
        checks.skip(f"{label}: memory", "sanitizers have memory of their own")
        return
    for arguments in (["dlc-info", "-i", path], ["dlc-diff", "-i1", path, "-i2", path, "-d"],
                      ["dlc-viewer", "-i", path, "--dot"]):
        peak = peak_of(command(arguments[0]), *map(str, arguments[1:]))
        checks.check(f"{label}: memory of {arguments[0]}", peak < MEBIBYTES, f"{peak:.0f} MiB")


def check_verification(checks, folder):
    path = folder / "whole.dlc"
    crc = crc_of(*params_stream(0))
    write_container(path, "always", False, 0, crc)
    done = run("dlc-info", "-i", path, "--verify")
    checks.equal("right CRC of a large entry", (done.returncode, "nothing found" in done.stdout), (0, True))
    with open(path, "r+b") as file:  # one bit of the last byte but a few
        place = path.stat().st_size - 1000
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 4]))
    checks.equal("what is not read is not checked", run("dlc-info", "-i", path).returncode, 0)
    path.unlink()


def has_holes(folder):
    probe = folder / "probe"
    with open(probe, "wb") as file:
        file.truncate(1 << 30)
    blocks = probe.stat().st_blocks
    probe.unlink()
    return blocks * 512 < 1 << 20


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not has_holes(folder):
            print("skipped: the file system has no holes")
            sys.exit(SKIPPED)
        checks.equal("CRC of a hole", crc_of_hole(zlib.crc32(b"seed"), 1000), zlib.crc32(b"seed" + bytes(1000)))
        path = folder / "large.dlc"
        for form in ("always", "needed", "later", "second"):
            for params_first in (False, True):
                label = f"{form}, params {'first' if params_first else 'last'}"
                write_container(path, form, params_first, 1, 0)
                check_reports(checks, label, path)
                check_run(checks, label, path, folder)
        check_memory(checks, "large", path)
        path.unlink()
        if os.environ.get("ODLC_LONG"):
            check_verification(checks, folder)
        else:
            checks.skip("CRC of a large entry", "reading 4 GiB takes long; ODLC_LONG=1 asks for it")
    checks.finish()


if __name__ == "__main__":
    main()
