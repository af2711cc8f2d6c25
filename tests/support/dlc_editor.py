# SPDX-License-Identifier: Apache-2.0
"""Changes containers of version 4.0 as flatc shows them, to plant what no conversion would write.

    container = Container(path)             # written with --params_format netp
    container.network["graphs"][0]["ops"][0]["type"] = "Other"
    container.data("w")[0:4] = [0, 0, 128, 63]
    container.save(path)
"""

import json
import pathlib
import struct
import subprocess
import tempfile
import zipfile

from checks import SOURCE
from dlc_tools import decode

HEADER = struct.pack("<HHHH", 0x0AD5, 4, 0, 0)


def encode(table, identifier, value):
    """A stream: the header, and the flatbuffer that flatc makes of JSON."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        schema = (SOURCE / "proto" / "dlc.fbs").read_text()
        (folder / "root.fbs").write_text(f'{schema}\nroot_type {table};\nfile_identifier "{identifier}";\n')
        (folder / "data.json").write_text(json.dumps(value))
        subprocess.run(["flatc", "--binary", "-o", folder, folder / "root.fbs", folder / "data.json"], check=True,
                       capture_output=True)
        return HEADER + (folder / "data.bin").read_bytes()


class Container:
    def __init__(self, path):
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
            self.entries = {name: archive.read(name) for name in archive.namelist()}
            self.network = decode(folder, "dlc.v4.Network", self.entries["model"][8:])
            self.params = decode(folder, "dlc.v4.Params", self.entries["model.params"][8:])

    @property
    def graph(self):
        return self.network["graphs"][0]

    def op(self, name):
        return next(op for op in self.graph["ops"] if op["name"] == name)

    def attribute(self, op, name):
        return next(a for a in self.op(op)["attributes"] if a["name"] == name)

    def tensor(self, name):
        return next(t for t in self.graph["tensors"] if t["name"] == name)

    def data(self, name):
        """The bytes, as a list of numbers, of a constant of the graph or of a tensor attribute."""
        graph = self.params["graphs"][0]
        lists = [graph.get("tensors", []), *(op.get("tensors", []) for op in graph["ops"])]
        return next(data["bytes"] for tensors in lists for data in tensors if data["name"] == name)

    def save(self, path):
        entries = dict(self.entries)
        entries["model"] = encode("dlc.v4.Network", "NETD", self.network)
        entries["model.params"] = encode("dlc.v4.Params", "NETP", self.params)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in entries.items():
                archive.writestr(name, content)
        return path
