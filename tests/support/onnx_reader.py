# SPDX-License-Identifier: Apache-2.0
"""Reads as much of ONNX files as tests need: the graph's inputs, outputs and operators, and values of every kind.

    value_of(bytes, input.type) is an Array, or, of a sequence, a list; of an optional, its value or None; of a map, a dict

Element types that NumPy has not are decoded: numbers below 32 bits that are floating are float32, integers below 8 bits
are 8 bits wide. Shares no code with the product."""

import struct

import numpy as np

# TensorProto.data_type.
STRING, BFLOAT16 = 8, 16
NAMES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", STRING: "string",
         9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
         BFLOAT16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz",
         21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2", 27: "float6e2m3",
         28: "float6e3m2"}
# The types that NumPy has.
NUMPY = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8",
         14: "c8", 15: "c16"}
# Bits of those that share bytes, lowest bits first.
BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2, 27: 6, 28: 6}
SIGNED = (22, 26)
# Small floats: exponent bits, mantissa bits, exponent bias, and what has no finite value.
IEEE, ONE_NAN, MINUS_ZERO_NAN, FINITE = range(4)
SMALL_FLOATS = {17: (4, 3, 7, ONE_NAN), 18: (4, 3, 8, MINUS_ZERO_NAN), 19: (5, 2, 15, IEEE),
                20: (5, 2, 16, MINUS_ZERO_NAN), 23: (2, 1, 1, FINITE), 27: (2, 3, 1, FINITE), 28: (3, 2, 3, FINITE)}
POWER_OF_TWO = 24  # float8e8m0: an exponent alone


class Array:
    """A tensor: its decoded elements, and the name of its ONNX type. Strings are bytes in an array of objects."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype


class Typed:
    """A graph input or output: name, the fields of its TypeProto, and a tensor's dims, None where they are open."""

    def __init__(self, data):
        fields = dict(wire_fields(data))
        self.name = fields[1].decode()
        self.type = dict(wire_fields(fields.get(2, b"")))
        shape = dict(wire_fields(self.type.get(1, b""))).get(2)
        dims = None if shape is None else [dict(wire_fields(dim)).get(1) for _, dim in wire_fields(shape)]
        self.dims = dims


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def wire_fields(data):
    """(field number, value) pairs of a message; a value is an int or bytes."""
    pos = 0

    def varint():
        nonlocal pos
        value = shift = 0
        while True:
            byte = data[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while pos < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[pos:pos + size]
            pos += size


# ---- tensors ----


def unpacked(data, bits, count):
    """`count` numbers of so many bits each."""
    stream = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:count * bits].reshape(count, bits)
    return (stream << np.arange(bits)).sum(axis=1).astype(np.uint8)


def small_floats(codes, code):
    """float32 of the bit patterns of a small float type."""
    if code == POWER_OF_TWO:
        return np.where(codes == 255, np.nan, np.exp2(codes.astype(np.float64) - 127)).astype(np.float32)
    exponent_bits, mantissa_bits, bias, special = SMALL_FLOATS[code]
    codes = codes.astype(np.int64)
    mantissa = codes & ((1 << mantissa_bits) - 1)
    exponent = codes >> mantissa_bits & ((1 << exponent_bits) - 1)
    negative = codes >> (mantissa_bits + exponent_bits) & 1
    fraction = mantissa / (1 << mantissa_bits)
    values = np.where(exponent == 0, np.exp2(1.0 - bias) * fraction, np.exp2(exponent - bias) * (1 + fraction))
    all_ones = exponent == (1 << exponent_bits) - 1
    if special == IEEE:
        values = np.where(all_ones, np.where(mantissa == 0, np.inf, np.nan), values)
    elif special == ONE_NAN:
        values = np.where(all_ones & (fraction == 1 - 0.5 ** mantissa_bits), np.nan, values)
    values = np.where(negative == 1, -values, values)
    if special == MINUS_ZERO_NAN:
        values = np.where((negative == 1) & (exponent == 0) & (mantissa == 0), np.nan, values)
    return values.astype(np.float32)


def decoded(data, code, count):
    """Elements of raw bytes."""
    if code in NUMPY:
        return np.frombuffer(data, "<" + NUMPY[code])
    if code == BFLOAT16:
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    codes = unpacked(data, BITS[code], count) if code in BITS else np.frombuffer(data, np.uint8)
    if code in SMALL_FLOATS or code == POWER_OF_TWO:
        return small_floats(codes, code)
    if code in SIGNED:
        return np.where(codes >> (BITS[code] - 1), codes.astype(np.int16) - (1 << BITS[code]), codes).astype(np.int8)
    return codes


def from_numbers(numbers, code):
    """Elements of a tensor's list of integers."""
    if code in (10, BFLOAT16):
        return decoded(np.array(numbers, np.uint64).astype("<u2").tobytes(), code, len(numbers))
    if code in (27, 28):
        return small_floats(np.array(numbers, np.uint64).astype(np.uint8) & 0x3F, code)
    if code not in NUMPY:  # each number is a byte
        data = np.array(numbers, np.uint64).astype(np.uint8).tobytes()
        return decoded(data, code, len(data) * 8 // BITS.get(code, 8))
    signed = np.array([v - (1 << 64) if v >> 63 and code != 13 else v for v in numbers], object)
    return signed.astype(NUMPY[code])


def tensor_of(data):
    """The Array of a serialised TensorProto."""
    dims, code, raw, packed, numbers, strings = [], 0, None, b"", [], []
    for field, value in wire_fields(data):
        if field == 1:
            dims += [value] if isinstance(value, int) else list(varints(value))
        elif field == 2:
            code = value
        elif field == 6:
            strings.append(value)
        elif field == 9:
            raw = value
        elif field in (4, 10):
            packed += value
        elif field in (5, 7, 11):
            numbers += [value] if isinstance(value, int) else list(varints(value))
    count = int(np.prod(dims, dtype=np.int64))
    if code == STRING:
        elements = np.empty(count, object)
        elements[:] = strings
    elif raw is not None or packed:
        elements = decoded(packed if raw is None else raw, code, count)
    else:
        elements = from_numbers(numbers, code)
    return Array(elements[:count].reshape(dims), NAMES[code])


# ---- other values ----

TENSOR, SPARSE, SEQUENCE, MAP, OPTIONAL = range(1, 6)  # SequenceProto.elem_type and OptionalProto.elem_type
KIND_OF_FIELD = {1: TENSOR, 4: SEQUENCE, 5: MAP, 8: SPARSE, 9: OPTIONAL}  # of TypeProto


def sequence_of(data):
    """Items of a SequenceProto."""
    fields = list(wire_fields(data))
    kind = dict(fields).get(2, TENSOR)
    return [READERS[kind](value) for field, value in fields if field == kind + 2]


def optional_of(data):
    """The value of an OptionalProto, or None."""
    fields = dict(wire_fields(data))
    kind = fields.get(2, 0)
    return READERS[kind](fields[kind + 2]) if kind + 2 in fields and kind else None


def map_of(data):
    """A MapProto as a dict."""
    keys, values = [], []
    for field, value in wire_fields(data):
        if field == 3:
            keys += [value] if isinstance(value, int) else list(varints(value))
        elif field == 4:
            keys.append(value)
        elif field == 5:
            values = sequence_of(value)
    if len(values) == 1 and isinstance(values[0], Array):  # all values in one tensor
        values = list(values[0].array)
    return dict(zip(keys, values))


def sparse_of(data):
    fields = dict(wire_fields(data))
    return {"values": tensor_of(fields[1]), "indices": tensor_of(fields[2])}


READERS = {TENSOR: tensor_of, SPARSE: sparse_of, SEQUENCE: sequence_of, MAP: map_of, OPTIONAL: optional_of}


def value_of(data, type_fields):
    """A serialised value of a type given by its TypeProto's fields."""
    kind = next((KIND_OF_FIELD[field] for field in type_fields if field in KIND_OF_FIELD), TENSOR)
    return READERS[kind](data)


# ---- models ----


def graph_of(model):
    """The fields of a model file's graph."""
    return list(wire_fields(next(value for field, value in wire_fields(model.read_bytes()) if field == 7)))


def graph_inputs(graph):
    """A Typed for each graph input that is not an initializer."""
    constant = {dict(wire_fields(value)).get(8, b"").decode() for field, value in graph if field == 5}
    inputs = (Typed(value) for field, value in graph if field == 11)
    return [value for value in inputs if value.name not in constant]


def graph_outputs(graph):
    return [Typed(value) for field, value in graph if field == 12]


def graph_operators(graph):
    """The operators of a graph's nodes, without those of subgraphs."""
    return [dict(wire_fields(value)).get(4, b"").decode() for field, value in graph if field == 1]
