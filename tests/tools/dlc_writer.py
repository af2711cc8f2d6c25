# SPDX-License-Identifier: Apache-2.0
"""Writes v4.0 containers (params inline, NETP) with nothing but the standard library, for tests that need a container
that no converter of ours would write. Layouts are those of docs/dlc-format.md.

    graph = Graph("g")
    graph.tensor("x", APP_WRITE, FLOAT_32, [1, 4])
    graph.tensor("y", APP_READ, FLOAT_32, [1, 4])
    graph.op("relu", "Neuron", ["x"], ["y"], [text("neuron_type", "Relu"), text("packageName", "qti.aisw")])
    write_container(path, graph)
"""

import struct
import zipfile

APP_WRITE, APP_READ, NATIVE, STATIC = 0, 1, 3, 4
UINT_8, UINT_32, INT_32, FLOAT_32, BOOL_8, UFXP_8 = 0x0108, 0x0132, 0x0032, 0x0232, 0x0508, 0x0408
INT_8, INT_16, INT_64, UINT_16, UINT_64, FLOAT_16 = 0x0008, 0x0016, 0x0064, 0x0116, 0x0164, 0x0216
SFXP_8, SFXP_16, UFXP_4, UFXP_16, TEXT = 0x0308, 0x0316, 0x0404, 0x0416, 0x0608
QUANTIZED = (SFXP_8, SFXP_16, UFXP_4, UFXP_8, UFXP_16)
STRING = NO_ENCODING = 0x7FFFFFFF
PARAM, SUPPLEMENTAL = 1, 2
SIZES = {UINT_8: 1, UINT_32: 4, INT_32: 4, FLOAT_32: 4, BOOL_8: 1, UFXP_8: 1}
METADATA = "converter-command=N/A\nconverter-version=N/A\nmodel-copyright=N/A\nmodel-version=N/A\nquantizer-command=N/A\n"


class Words(list):
    """A vector of 32-bit numbers."""


class Buffer:
    """A flatbuffer: parents come first, and references are patched when their targets are placed."""

    def __init__(self, identifier, root):
        self.data = bytearray(4) + identifier
        struct.pack_into("<I", self.data, 0, self.emit(root))

    def emit(self, value):
        """The position of a string, bytes, Words, a table (dict by slot), or a list of those."""
        self.data += bytes(-len(self.data) % 8)
        if isinstance(value, dict):
            return self.emit_table(value)
        at = len(self.data)
        if isinstance(value, (str, bytes)):
            raw = value.encode() if isinstance(value, str) else value
            self.data += struct.pack("<I", len(raw)) + raw + b"\0"
        elif isinstance(value, Words):
            self.data += struct.pack(f"<I{len(value)}I", len(value), *value)
        else:
            self.data += struct.pack("<I", len(value)) + bytes(4 * len(value))
            for i, item in enumerate(value):
                self.refer(at + 4 + 4 * i, item)
        return at

    def refer(self, place, value):
        struct.pack_into("<I", self.data, place, self.emit(value) - place)

    def emit_table(self, fields):
        """(form, number) is a scalar, everything else a reference. The vtable stands before its table."""
        slots = max(fields, default=-1) + 1
        offsets, body, references = [0] * slots, bytearray(4), []
        for slot, value in sorted(fields.items()):
            form, number = value if isinstance(value, tuple) else ("I", 0)
            body += bytes(-len(body) % struct.calcsize(form))
            offsets[slot] = len(body)
            if not isinstance(value, tuple):
                references.append((len(body), value))
            body += struct.pack("<" + form, number)
        vtable = struct.pack(f"<HH{slots}H", 4 + 2 * slots, len(body), *offsets)
        struct.pack_into("<i", body, 0, len(vtable))
        self.data += vtable
        at = len(self.data)
        self.data += body
        for offset, value in references:
            self.refer(at + offset, value)
        return at


def text(name, value, usage=SUPPLEMENTAL):
    return {0: name, 1: ("I", 0), 2: ("B", usage), 3: {0: ("I", STRING), 3: value}}


def whole(name, value, dtype=UINT_32, usage=PARAM):
    return {0: name, 1: ("I", 0), 2: ("B", usage), 3: {0: ("I", dtype), 1: ("q", value)}}


class Numbers:
    """A tensor attribute of 32-bit numbers."""

    def __init__(self, name, dims, values, dtype=UINT_32, usage=PARAM):
        self.name, self.dims, self.dtype, self.usage = name, dims, dtype, usage
        self.bytes = struct.pack(f"<{len(values)}I", *values)


class Graph:
    def __init__(self, name):
        self.name, self.tensors, self.ops, self.data, self.op_data = name, [], [], {}, []
        self.next_id = 1

    def describe(self, name, kind, dtype, dims, encoding=None, axis=None):
        """encoding: (bitwidth, min, max, scale, offset), or with an axis a list of those"""
        quant = {0: ("I", NO_ENCODING)}
        if encoding and axis is None:
            quant = {0: ("I", 0), 2: dict(enumerate(zip("Ifffi", encoding)))}
        elif encoding:
            quant = {0: ("I", 1), 3: {0: ("i", axis), 1: [dict(enumerate(zip("Ifffi", e))) for e in encoding]}}
        self.next_id += 1
        return {0: ("I", self.next_id - 1), 1: name, 2: ("I", kind), 3: Words(dims), 4: ("I", 11), 5: quant,
                6: ("I", dtype), 7: ("I", FLOAT_32 if dtype in QUANTIZED else dtype),
                8: ("B", dtype == FLOAT_32 or dtype in QUANTIZED)}

    def tensor(self, name, kind, dtype, dims, encoding=None, axis=None, data=None):
        """A STATIC one without data holds zeros."""
        self.tensors.append(self.describe(name, kind, dtype, dims, encoding, axis))
        if data is not None:
            self.data[name] = data
        elif kind == STATIC:
            count = 1
            for dim in dims:
                count *= dim
            self.data[name] = bytes(count * SIZES[dtype])

    def op(self, name, kind, inputs, outputs, attributes):
        listed, data = [], []
        for attribute in sorted(attributes, key=lambda a: a.name if isinstance(a, Numbers) else a[0]):
            if isinstance(attribute, Numbers):
                tensor = self.describe(f"{name}_{attribute.name}", STATIC, attribute.dtype, attribute.dims)
                data.append({0: tensor[1], 1: attribute.bytes})
                attribute = {0: attribute.name, 1: ("I", 1), 2: ("B", attribute.usage), 4: tensor}
            listed.append(attribute)
        self.ops.append({0: name, 1: kind, 2: list(inputs), 3: list(outputs), 4: listed})
        self.op_data.append({0: data})


def write_container(path, *graphs, shuffle=None):
    """shuffle is called with each list whose order means nothing, to change it: of data in model.params, of entries."""
    shuffle = shuffle or (lambda items: None)
    header = struct.pack("<4H", 0x0AD5, 4, 0, 0)
    model = {0: [{0: g.name, 1: g.ops, 2: g.tensors, 4: g.name} for g in graphs]}
    params = {0: []}
    for g in graphs:
        data = [{0: name, 1: raw} for name, raw in sorted(g.data.items(), key=lambda item: item[0].encode())]
        op_data = [{0: list(entry[0])} for entry in g.op_data]
        for items in [data, *(entry[0] for entry in op_data)]:
            shuffle(items)
        params[0].append({0: g.name, 1: data, 2: op_data})
    entries = [("dlc.metadata", METADATA), ("model", header + Buffer(b"NETD", model).data),
               ("model.params", header + Buffer(b"NETP", params).data)]
    shuffle(entries)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content)
