# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX models with nothing but the standard library: as much of the protobuf wire format as models need.

    m = Model(opset=13)
    m.input("x", FLOAT, [1, 3, 8, 8])
    m.tensor("w", FLOAT, [4, 3, 3, 3], floats=weights)
    m.node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    m.output("y", FLOAT, [1, 4, 8, 8])
    m.save(path)

A message is a list of byte strings, so large payloads are never joined; a Repeated payload is not even held. Field
numbers are those of the public ONNX specification.
"""

import struct

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64 = range(1, 14)
PACKING = {FLOAT: "f", UINT8: "B", INT8: "b", UINT16: "H", INT16: "h", INT32: "i", INT64: "q", BOOL: "?", FLOAT16: "e",
           DOUBLE: "d", UINT32: "I", UINT64: "Q"}


BYTES = [bytes([value]) for value in range(0x80)]


def varint(value):
    if 0 <= value < 0x80:
        return BYTES[value]
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Repeated:
    """Bytes of any size that repeat a block, from a place inside of it on; they exist only while they are written."""

    def __init__(self, block, size, start=0):
        self.block = block
        self.size = size
        self.start = start

    def __len__(self):
        return self.size

    def chunks(self):
        start, left = self.start, self.size
        while left:
            chunk = self.block[start:start + left]
            yield chunk
            start, left = 0, left - len(chunk)


def chunks(parts):
    """The byte strings of parts, among them Repeated ones."""
    for part in parts:
        if isinstance(part, Repeated):
            yield from part.chunks()
        else:
            yield part


class Message:
    """A protobuf message under construction."""

    def __init__(self):
        self.parts = []
        self.size = 0

    def _add(self, part):
        self.parts.append(part)
        self.size += len(part)

    def integer(self, field, value):
        self._add(varint(field << 3) + varint(value))
        return self

    def float32(self, field, value):
        self._add(varint(field << 3 | 5) + struct.pack("<f", value))
        return self

    def data(self, field, value):
        value = value.encode() if isinstance(value, str) else value
        self._add(varint(field << 3 | 2) + varint(len(value)))
        self._add(value)
        return self

    def encoded(self, fields):
        """Adds fields that are encoded already."""
        self._add(fields)
        return self

    def message(self, field, other):
        self._add(varint(field << 3 | 2) + varint(other.size))
        self.parts += other.parts
        self.size += other.size
        return self


def tensor(name, data_type, dims, values=None, raw=None, strings=None, external=None):
    """TensorProto from a flat list of numbers, from raw little-endian bytes (also Repeated), from strings, or with its
    bytes elsewhere: external is (file, offset, length)."""
    t = Message()
    for dim in dims:
        t.integer(1, dim)
    t.integer(2, data_type).data(8, name)
    if external is not None:
        for key, value in zip(("location", "offset", "length"), external):
            t.message(13, Message().data(1, key).data(2, str(value)))
        t.integer(14, 1)
    elif strings is not None:
        for string in strings:
            t.data(6, string)
    else:
        t.data(9, raw if raw is not None else struct.pack(f"<{len(values)}{PACKING[data_type]}", *values))
    return t


class Sparse(Message):
    """SparseTensorProto; values by their place in the tensor, as a dict."""

    def __init__(self, name, data_type, dims, values):
        super().__init__()
        places = sorted(values)
        self.message(1, tensor(name, data_type, [len(places)], [values[place] for place in places]))
        self.message(2, tensor("", INT64, [len(places)], places))
        for dim in dims:
            self.integer(3, dim)


def attribute(name, value):
    """AttributeProto of the kind that the Python value suggests; a Message is a tensor, a Model gives its graph."""
    a = Message().data(1, name)
    if isinstance(value, Sparse):
        return a.message(22, value).integer(20, 11)
    if isinstance(value, Model):
        return a.message(6, value.graph).integer(20, 5)
    if isinstance(value, Message):
        return a.message(5, value).integer(20, 4)
    if isinstance(value, float):
        return a.float32(2, value).integer(20, 1)
    if isinstance(value, int):
        return a.integer(3, value).integer(20, 2)
    if isinstance(value, str):
        return a.data(4, value).integer(20, 3)
    if all(isinstance(v, int) for v in value):
        for v in value:
            a.integer(8, v)
        return a.integer(20, 7)
    if all(isinstance(v, str) for v in value):
        for v in value:
            a.data(9, v)
        return a.integer(20, 8)
    for v in value:
        a.float32(7, v)
    return a.integer(20, 6)


def value_info(name, data_type, dims):
    """ValueInfoProto; a dim is a number, or a string for a symbol. dims None: nothing is said about the shape."""
    tensor_type = Message().integer(1, data_type)
    if dims is not None:
        shape = Message()
        for dim in dims:
            shape.message(1, Message().data(2, dim) if isinstance(dim, str) else Message().integer(1, dim))
        tensor_type.message(2, shape)
    return Message().data(1, name).message(2, Message().message(1, tensor_type))


class Model:
    """A model with one graph."""

    def __init__(self, opset=13, ir_version=8, domains=()):
        self.opsets = [("", opset)] + [(domain, 1) for domain in domains]
        self.ir_version = ir_version
        self.functions = []
        self.graph = Message()
        self.graph.data(2, "graph")

    def node(self, op_type, inputs, outputs, name="", domain="", **attributes):
        n = Message()
        for value in inputs:
            n.data(1, value)
        for value in outputs:
            n.data(2, value)
        n.data(3, name or outputs[0]).data(4, op_type)
        for key, value in attributes.items():
            n.message(5, attribute(key, value))
        if domain:
            n.data(7, domain)
        self.graph.message(1, n)

    def tensor(self, name, data_type, dims, values=None, raw=None, strings=None, external=None):
        self.graph.message(5, tensor(name, data_type, dims, values, raw, strings, external))
        return name

    def input(self, name, data_type, dims):
        self.graph.message(11, value_info(name, data_type, dims))

    def output(self, name, data_type, dims):
        self.graph.message(12, value_info(name, data_type, dims))

    def value(self, name, data_type, dims):
        self.graph.message(13, value_info(name, data_type, dims))

    def save(self, path):
        model = Message().integer(1, self.ir_version)
        for domain, version in self.opsets:
            model.message(8, Message().data(1, domain).integer(2, version))
        model.message(7, self.graph)
        for function in self.functions:
            model.message(25, function)
        with open(path, "wb") as out:
            out.writelines(chunks(model.parts))
