# SPDX-License-Identifier: Apache-2.0
"""Containers at the limits of docs/limits.md, and one beyond."""

import json
import pathlib
import sys
import tempfile
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / part) for part in ("support", "tools")]
from checks import Checks, run  # noqa: E402
import dlc_writer as w  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

MIB = 1 << 20
METADATA = "dlc.metadata"


def container(folder):
    """The entries of a container that was written here."""
    m = Model()
    m.input("x", FLOAT, [1])
    m.node("Relu", ["x"], ["y"])
    m.output("y", FLOAT, None)
    m.save(folder / "model.onnx")
    done = run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", folder / "model.dlc")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(folder / "model.dlc") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class Reader:
    def __init__(self, checks, folder):
        self.checks, self.path = checks, folder / "changed.dlc"
        self.entries = container(folder)

    def read(self, changes, packed=()):
        with zipfile.ZipFile(self.path, "w") as archive:
            for name, data in {**self.entries, **changes}.items():
                archive.writestr(name, data, zipfile.ZIP_DEFLATED if name in packed else zipfile.ZIP_STORED)
        return run("dlc-info", "-i", self.path)

    def takes(self, name, changes, packed=()):
        done = self.read(changes, packed)
        self.checks.check(name, done.returncode == 0, done.stderr[-500:])

    def refuses(self, name, changes, message, packed=()):
        done = self.read(changes, packed)
        self.checks.equal(f"status of {name}", done.returncode, 1)
        self.checks.check(f"message of {name}", message in done.stderr, f"{message!r} not in {done.stderr[-500:]!r}")


def entries(r):
    most = 4096 - len(r.entries)
    r.takes("4096 entries", {f"e{i}": b"" for i in range(most)})
    r.refuses("4097 entries", {f"e{i}": b"" for i in range(most + 1)}, "more than 4096 entries")


def lines(size):
    head = b"converter-command=none\nmodel-copyright="
    return head + b"c" * (size - len(head) - 1) + b"\n"


def metadata(r):
    r.takes("metadata of 4 MiB", {METADATA: lines(4 * MIB)})
    r.refuses("metadata of 4 MiB and a byte", {METADATA: lines(4 * MIB + 1)}, "the metadata is larger than 4 MiB")


def tree(depth, leaves):
    return ('{"a":' * depth + "[" + ",".join("1" * leaves) + "]" + "}" * depth).encode()


def long_keys(size):
    """A list of 127 items under a long key, and a short key for the rest; each key counts a byte more than it has."""
    length, items = 524_000, 127
    rest = size - (length + 1) - sum(length + len(str(i)) + 1 for i in range(items))
    return json.dumps({"k" * length: [1] * items, "r" * (rest - 1): 1}).encode()


def json_metadata(r):
    del r.entries[METADATA]
    name = "dlc.metadata2.json"
    r.takes("JSON of 31 levels and a list", {name: tree(31, 2)})
    r.refuses("JSON of 33 levels", {name: tree(32, 2)}, "the metadata is nested more than 32 levels deep")
    r.takes("keys of 64 MiB", {name: long_keys(64 * MIB)})
    r.refuses("keys of 64 MiB and a byte", {name: long_keys(64 * MIB + 1)}, "the metadata's keys take more than 64 MiB")


def inflated(r):
    """Twice the file and 32 MiB."""
    r.takes("a packed model", {}, packed=("model",))
    r.refuses("a bomb", {"model": r.entries["model"] + bytes(34 * MIB)}, "over twice the file and 32 MiB", packed=("model",))
    done = r.read({"model": r.entries["model"] + bytes(30 * MIB)}, packed=("model",))
    r.checks.check("less than a bomb", "over twice the file" not in done.stderr, done.stderr)


def graph(rank=1, unwritten=0):
    """A Relu, and tensors that no op writes."""
    g = w.Graph("g")
    for name, kind in (("x", w.APP_WRITE), ("y", w.APP_READ)):
        g.tensor(name, kind, w.FLOAT_32, [1] * rank)
    g.op("relu", "Neuron", ["x"], ["y"], [w.text("neuron_type", "Relu"), w.text("packageName", "qti.aisw")])
    for i in range(unwritten):
        g.tensor(f"t{i}", w.NATIVE, w.FLOAT_32, [1])
    return g


def ranks(r):
    w.write_container(r.path, graph(8))
    r.checks.equal("8 dimensions", run("dlc-info", "-i", r.path).returncode, 0)
    w.write_container(r.path, graph(9))
    done = run("dlc-info", "-i", r.path)
    r.checks.equal("status of 9 dimensions", done.returncode, 1)
    r.checks.check("message of 9 dimensions", "tensor x has 9 dimensions, more than 8" in done.stderr, done.stderr)


def findings(r):
    for count, listed in ((999, 999), (1000, 1000), (1001, 1000)):
        w.write_container(r.path, graph(unwritten=count))
        report = json.loads(run("dlc-info", "-i", r.path, "--verify", "--json").stdout)
        found = [finding for finding in report["findings"] if finding["severity"] == "error"]
        r.checks.equal(f"listed of {count} findings", len(found), listed)
        r.checks.equal(f"the last of {count}", found[-1]["message"], f"no op writes tensor t{listed - 1}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        r = Reader(checks, pathlib.Path(temporary))
        for part in (entries, metadata, inflated, json_metadata, ranks, findings):
            part(r)
    checks.finish()


if __name__ == "__main__":
    main()
