# SPDX-License-Identifier: Apache-2.0
"""Reads v4.0 containers with nothing but the standard library, and shares no code with the product.

    container = read_container(path)
    container.ops[0].params["axis"].value
    container.tensors["w"].data        # bytes of a STATIC tensor

Layouts are those of docs/dlc-format.md.
"""

import struct
import zipfile

STATIC = 4
TYPE_NAMES = {0: "APP_WRITE", 1: "APP_READ", 3: "NATIVE", STATIC: "STATIC", 5: "NULL"}
DTYPES = {
    0x0008: "INT_8", 0x0016: "INT_16", 0x0032: "INT_32", 0x0064: "INT_64",
    0x0108: "UINT_8", 0x0116: "UINT_16", 0x0132: "UINT_32", 0x0164: "UINT_64",
    0x0004: "INT_4", 0x0104: "UINT_4", 0x0304: "SFXP_4", 0x0308: "SFXP_8", 0x0316: "SFXP_16", 0x0332: "SFXP_32",
    0x0404: "UFXP_4", 0x0408: "UFXP_8", 0x0416: "UFXP_16", 0x0432: "UFXP_32",
    0x0216: "FLOAT_16", 0x0232: "FLOAT_32", 0x0264: "FLOAT_64", 0x0508: "BOOL_8", 0x0608: "STRING", 0x7FFFFFFF: "STRING",
}


class Table:
    """A flatbuffer table; fields are read by slot."""

    def __init__(self, data, pos):
        self.data, self.pos = data, pos
        self.vtable = pos - struct.unpack_from("<i", data, pos)[0]
        self.vtable_size = struct.unpack_from("<H", data, self.vtable)[0]

    def at(self, slot):
        """Position of a field, or None when it is absent."""
        entry = 4 + 2 * slot
        if entry + 2 > self.vtable_size:
            return None
        offset = struct.unpack_from("<H", self.data, self.vtable + entry)[0]
        return self.pos + offset if offset else None

    def scalar(self, slot, form, default=0):
        at = self.at(slot)
        return default if at is None else struct.unpack_from("<" + form, self.data, at)[0]

    def target(self, slot):
        at = self.at(slot)
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, slot):
        target = self.target(slot)
        return None if target is None else Table(self.data, target)

    def bytes(self, slot):
        target = self.target(slot)
        if target is None:
            return None
        size = struct.unpack_from("<I", self.data, target)[0]
        return bytes(self.data[target + 4:target + 4 + size])

    def string(self, slot):
        value = self.bytes(slot)
        return None if value is None else value.decode()

    def numbers(self, slot, form):
        target = self.target(slot)
        if target is None:
            return []
        count = struct.unpack_from("<I", self.data, target)[0]
        return list(struct.unpack_from(f"<{count}{form}", self.data, target + 4))

    def _places(self, slot):
        target = self.target(slot)
        if target is None:
            return []
        count = struct.unpack_from("<I", self.data, target)[0]
        starts = (target + 4 + 4 * i for i in range(count))
        return [start + struct.unpack_from("<I", self.data, start)[0] for start in starts]

    def tables(self, slot):
        return [Table(self.data, place) for place in self._places(slot)]

    def strings(self, slot):
        places = self._places(slot)
        sizes = [struct.unpack_from("<I", self.data, place)[0] for place in places]
        return [bytes(self.data[place + 4:place + 4 + size]).decode() for place, size in zip(places, sizes)]


class Tensor:
    def __init__(self, table):
        self.id = table.scalar(0, "I")
        self.name = table.string(1)
        self.kind = TYPE_NAMES[table.scalar(2, "I")]
        self.dims = table.numbers(3, "I")
        self.axis_format = table.scalar(4, "I")
        self.encoding = table.table(5).scalar(0, "I")
        pairs = {0: lambda q: [q.table(2)], 1: lambda q: q.table(3).tables(1)}.get(self.encoding, lambda q: [])
        entries = pairs(table.table(5))
        self.encodings = [(e.scalar(3, "f"), e.scalar(4, "i")) for e in entries]  # (scale, offset)
        self.encoding_forms = [(e.scalar(0, "I"), bool(e.scalar(5, "B"))) for e in entries]  # (bit width, symmetric)
        self.encoding_ranges = [(e.scalar(1, "f"), e.scalar(2, "f")) for e in entries]  # (least, greatest)
        self.overridden = bool(table.table(5).scalar(1, "B"))
        self.axis = table.table(5).table(3).scalar(0, "i") if self.encoding == 1 else None  # of the encodings
        self.dtype = DTYPES[table.scalar(6, "I")]
        self.data = None


class Param:
    """A scalar param has `value` (a number or a string), a tensor param has `tensor`."""

    def __init__(self, table):
        self.name = table.string(0)
        self.usage = table.scalar(2, "B")
        self.tensor = self.value = None
        if table.scalar(1, "I") == 1:
            self.tensor = Tensor(table.table(4))
            self.dtype = self.tensor.dtype
            return
        scalar = table.table(3)
        self.dtype = DTYPES[scalar.scalar(0, "I")]
        if self.dtype == "STRING":
            self.value = scalar.string(3)
        elif self.dtype.startswith("FLOAT"):
            self.value = scalar.scalar(2, "d")
        else:
            self.value = scalar.scalar(1, "q")


class Op:
    def __init__(self, table):
        self.name, self.type = table.string(0), table.string(1)
        self.inputs, self.outputs = table.strings(2), table.strings(3)
        self.param_order = [attribute.string(0) for attribute in table.tables(4)]
        self.params = {param.name: param for param in map(Param, table.tables(4))}
        self.package = self.params["packageName"].value


class Container:
    pass


def _stream(entry, identifier):
    magic, major, minor, patch = struct.unpack_from("<4H", entry)
    assert (magic, major, minor, patch) == (0x0AD5, 4, 0, 0), "stream header"
    assert entry[12:16] == identifier, f"identifier {entry[12:16]!r}"
    return entry[8:]


def _root(data):
    return Table(data, struct.unpack_from("<I", data)[0])


def _nr64(entry):
    """(buffers, NETP root) of a model.params entry."""
    data = memoryview(_stream(entry, b"NR64"))
    root = _root(data)
    buffers = []
    for buffer in root.tables(0):
        at = buffer.at(0)
        start = at + struct.unpack_from("<Q", data, at)[0]
        size = struct.unpack_from("<Q", data, start)[0]
        assert start + 8 + size <= len(data), "buffer past the end"
        buffers.append(data[start + 8:start + 8 + size])
    nested = root.bytes(1)
    assert nested[4:8] == b"NETP", "nested identifier"
    return buffers, _root(nested)


def _fill(params, buffers, tensors, in_order):
    """Gives each tensor of a list its bytes; names must agree, one by one or in any order."""
    names = [p.string(0) for p in params]
    if not in_order:
        tensors = sorted(tensors, key=lambda t: names.index(t.name))
    assert names == [t.name for t in tensors], "names of params and model differ"
    for param, tensor in zip(params, tensors):
        inline = param.bytes(1)
        tensor.data = bytes(buffers[param.scalar(2, "Q")]) if inline is None else inline


def read_container(path, data=True, in_order=True):
    """data=False leaves out the bytes of tensors, and the check of the zip's CRCs. in_order=False: tensors of an op may have their
    bytes in another order than the model names them in, as in the vendor's quantized containers."""
    c = Container()
    with zipfile.ZipFile(path) as archive:
        assert not data or archive.testzip() is None, "CRC"
        c.entries = archive.namelist()
        c.metadata = dict(line.split("=", 1) for line in archive.read("dlc.metadata").decode().splitlines())
        model = _stream(archive.read("model"), b"NETD")
        params = archive.read("model.params") if data else None
    graph = _root(model).tables(0)[0]
    c.name = graph.string(0)
    c.ops = [Op(table) for table in graph.tables(1)]
    c.tensors = {tensor.name: tensor for tensor in map(Tensor, graph.tables(2))}
    if data:
        _read_data(c, params, in_order)
    return c


def _read_data(c, params, in_order):
    """Gives the STATIC tensors and the tensor params their bytes."""
    if params[12:16] == b"NR64":
        buffers, root = _nr64(params)
    else:
        buffers, root = [], _root(_stream(params, b"NETP"))
    graph_params = root.tables(0)[0]
    assert graph_params.string(0) == c.name, "graph name in params"
    static = sorted((t for t in c.tensors.values() if t.kind == "STATIC"), key=lambda t: t.name.encode())
    _fill(graph_params.tables(1), buffers, static, in_order)
    op_params = graph_params.tables(2)
    assert len(op_params) == len(c.ops), "ops in params"
    for op, entry in zip(c.ops, op_params):
        tensors = [op.params[name].tensor for name in op.param_order if op.params[name].tensor]
        _fill(entry.tables(0), buffers, tensors, in_order)
